/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/bus/bus.h"
#include "daemon/clients/session.h"
#include "daemon/clients/socket.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/inspection.h"
#include "daemon/filesystem/filesystem.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

#define SETTLE_ROUNDS 1000u
/* How long a daemon that always has work leaves its sockets alone. */
#define LOOK_NS 50000
/* Empty rounds between two looks at the clock. */
#define ROUNDS_PER_CLOCK 16

/* No descriptor left: a client that stays in the queue would keep us awake for ever. */
static void refuse_for_want_of_descriptors(struct mimicd_server *server)
{
	int fd;

	mimicd_log(MIMICD_LOG_WARNING, "a client was refused: no descriptors left");
	close(server->spare_fd);
	fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_client(struct mimicd_server *server)
{
	int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		mimicd_session_create(server, fd);
	else if (errno == EMFILE || errno == ENFILE)
		refuse_for_want_of_descriptors(server);
}

/* A client that only inspects connects for each question. */
static void serve_listener(void *context)
{
	struct mimicd_server *server = context;
	uint64_t begun = mimic_now();

	if (!mimicd_look_may_begin(server, begun))
		return;
	accept_client(server);
	mimicd_look_ended(server, begun);
}

static void end_session(struct mimicd_session *session)
{
	struct mimicd_server *server = session->server;
	bool is_look = mimicd_session_is_onlooker(session);
	uint64_t begun = mimic_now();

	mimicd_session_destroy(session);
	if (is_look)
		mimicd_look_ended(server, begun);
}

static void reap(struct mimicd_server *server)
{
	struct mimicd_session *session = server->sessions;

	if (!server->reap)
		return;
	if (server->bus)
		mimicd_bus_reap(server->bus);
	server->reap = false;
	while (session) {
		struct mimicd_session *next = session->next;

		if (session->broken)
			end_session(session);
		else
			mimicd_lanes_reap(session);
		session = next;
	}
}

static void publish_cpu(struct mimicd_server *server)
{
	int cpu = mimic_cpu_current();

	if (cpu == server->cpu)
		return;
	server->cpu = cpu;
	if (server->bus)
		mimicd_bus_publish_cpu(server->bus, cpu);
	for (unsigned int i = 0; i < server->lane_count; i++)
		atomic_store_explicit(&server->lanes[i]->memory->daemon_cpu, cpu, memory_order_relaxed);
}

static void publish_sleep(struct mimicd_server *server, uint32_t sleeping)
{
	if (server->bus)
		mimicd_bus_publish_sleep(server->bus, sleeping);
	for (unsigned int i = 0; i < server->lane_count; i++)
		atomic_store_explicit(&server->lanes[i]->memory->daemon_sleeping, sleeping,
				      memory_order_relaxed);
}

/* Serves the lanes until the sockets want a look. true: there was nothing for so long that we should sleep. */
static bool serve_lanes(void *context)
{
	struct mimicd_server *server = context;
	const uint64_t spin_ns = server->options.settings.spin_microseconds * 1000ull;
	uint64_t look = mimic_now() + LOOK_NS;
	unsigned int idle = 0;

	publish_cpu(server);
	while (!server->reap) {
		uint64_t now;

		if (mimicd_engine_round(server)) {
			idle = 0;
			if (server->now >= look)
				return false;
			continue;
		}
		idle++;
		if (server->now < server->crowded_until) {
			/*
			 * A client needs this CPU to go on: spinning would keep it waiting. Nor
			 * do we yield: who yields to programs that compute gets the CPU back a
			 * time slice later, who sleeps gets it when there is work.
			 */
			return true;
		}
		if (mimicd_jobs_need_cpus(&server->jobs))
			return true;
		__builtin_ia32_pause();
		if (idle % ROUNDS_PER_CLOCK)
			continue;
		now = mimic_now();
		if (now - server->now >= spin_ns)
			return true;
		if (now >= look)
			return false;
	}
	return false;
}

static void prepare(void *context)
{
	struct mimicd_server *server = context;

	reap(server);
	if (server->filesystem)
		mimicd_filesystem_prepare(server->filesystem);
}

/* Workers have the baton while nothing comes. */
static bool go_to_sleep(void *context)
{
	struct mimicd_server *server = context;

	publish_sleep(server, 1);
	/* Pairs with the fence of a client between its command and its look at the flag. */
	mimic_lane_fence();
	if (!mimicd_engine_has_work(server)) {
		if (mimicd_jobs_sleep(server))
			return true;
		mimicd_jobs_wake(server);
	}
	publish_sleep(server, 0);
	return false;
}

static void wake_up(void *context)
{
	struct mimicd_server *server = context;

	mimicd_jobs_wake(server);
	publish_sleep(server, 0);
}

static const struct mimicd_loop_work work = {
	.run = serve_lanes,
	.prepare = prepare,
	.sleep = go_to_sleep,
	.wake = wake_up,
};

static int listen_at(struct mimicd_server *server)
{
	struct stat status;

	if (server->options.listen_fd >= 0) {
		server->listen_fd = server->options.listen_fd;
		return 0;
	}
	server->listen_fd = mimicd_socket_listen(server->options.socket_path,
						 server->options.allow_users, &status);
	if (server->listen_fd < 0)
		return server->listen_fd;
	/* Absolute: the daemon may change its directory. */
	server->socket_path = realpath(server->options.socket_path, NULL);
	server->socket_device = status.st_dev;
	server->socket_inode = status.st_ino;
	return server->socket_path ? 0 : -ENOMEM;
}

static int set_up(struct mimicd_server *server)
{
	int error;

	error = mimicd_loop_create(&server->loop);
	if (error)
		return error;
	server->loop.work = &work;
	server->loop.work_context = server;
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (server->spare_fd < 0) {
		mimicd_log(MIMICD_LOG_ERROR, "no descriptors: %s", strerror(errno));
		return -EMFILE;
	}
	error = mimicd_jobs_create(server);
	if (error)
		return error;
	error = mimicd_instances_create(server);
	if (error)
		return error;
	error = mimicd_bus_create(server);
	if (error)
		return error;
	if (!server->options.socket_path && server->options.listen_fd < 0)
		return 0;
	error = listen_at(server);
	if (error)
		return error;
	server->listen_source = (struct mimicd_source){ serve_listener, server };
	return mimicd_loop_watch(&server->loop, server->listen_fd, EPOLLIN, &server->listen_source);
}

static int start(struct mimicd_server *server)
{
	int error = set_up(server);

	/* Last: nothing after it may touch a path that could lie in it. */
	if (!error)
		mimicd_filesystem_create(server);
	return error;
}

int mimicd_server_create(struct mimicd_server **created, const struct mimicd_options *options)
{
	struct mimicd_server *server = calloc(1, sizeof(*server));
	int error;

	if (!server)
		return -ENOMEM;
	server->options = *options;
	server->loop.epoll_fd = server->loop.stop_fd = -1;
	server->listen_fd = server->spare_fd = -1;
	server->jobs.wake_fd = -1;
	server->cpu = mimic_cpu_current();
	error = start(server);
	if (error) {
		mimicd_server_destroy(server);
		return error;
	}
	*created = server;
	return 0;
}

static void remove_socket(struct mimicd_server *server)
{
	struct stat status;

	if (!server->socket_path)
		return;
	/* Somebody may have put another one there. */
	if (!lstat(server->socket_path, &status) && status.st_dev == server->socket_device &&
	    status.st_ino == server->socket_inode)
		unlink(server->socket_path);
	free(server->socket_path);
}

void mimicd_server_destroy(struct mimicd_server *server)
{
	mimicd_filesystem_destroy(server);
	remove_socket(server);
	while (server->sessions)
		mimicd_session_destroy(server->sessions);
	mimicd_bus_destroy(server);
	mimicd_instances_destroy(server);
	mimicd_jobs_destroy(server);
	mimicd_events_destroy(server);
	if (server->listen_fd >= 0)
		close(server->listen_fd);
	if (server->spare_fd >= 0)
		close(server->spare_fd);
	mimicd_loop_destroy(&server->loop);
	free(server->lanes);
	free(server);
}

void mimicd_server_stop(struct mimicd_server *server)
{
	mimicd_loop_stop(&server->loop);
}

int mimicd_server_run(struct mimicd_server *server)
{
	return mimicd_loop_run(&server->loop);
}

void mimicd_server_settle(struct mimicd_server *server)
{
	unsigned int rounds = 0;
	int count;
	bool worked;

	/* A device that goes on by itself may do so for minutes: not here. */
	do {
		count = mimicd_loop_poll(&server->loop);
		worked = mimicd_engine_round(server);
		reap(server);
	} while (count > 0 || (worked && rounds++ < SETTLE_ROUNDS));
}
