/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/bus.h"
#include "daemon/engine.h"
#include "daemon/filesystem.h"
#include "daemon/log.h"
#include "daemon/look.h"
#include "daemon/session.h"
#include "daemon/socket.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

#define SETTLE_ROUNDS 1000u
#define EVENTS_MAX 32
/* How long a daemon that always has work leaves its sockets alone. */
#define LOOK_NS 50000
/* Empty rounds between two looks at the clock. */
#define ROUNDS_PER_CLOCK 16

int mimicd_server_watch(struct mimicd_server *server, int fd, uint32_t events,
			struct mimicd_source *source)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	return epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void mimicd_server_forget(struct mimicd_server *server, int fd)
{
	epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

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

	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (server->epoll_fd < 0 || server->stop_fd < 0 || server->spare_fd < 0) {
		mimicd_log(MIMICD_LOG_ERROR, "no descriptors: %s", strerror(errno));
		return -EMFILE;
	}
	server->stop_source.kind = MIMICD_SOURCE_STOP;
	error = mimicd_server_watch(server, server->stop_fd, EPOLLIN, &server->stop_source);
	if (!error)
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
	server->listen_source.kind = MIMICD_SOURCE_LISTEN;
	return mimicd_server_watch(server, server->listen_fd, EPOLLIN, &server->listen_source);
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
	server->listen_fd = server->epoll_fd = server->stop_fd = server->spare_fd = -1;
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
	const int fds[] = { server->listen_fd, server->epoll_fd, server->stop_fd, server->spare_fd };

	mimicd_filesystem_destroy(server);
	remove_socket(server);
	while (server->sessions)
		mimicd_session_destroy(server->sessions);
	mimicd_bus_destroy(server);
	mimicd_instances_destroy(server);
	mimicd_jobs_destroy(server);
	mimicd_events_destroy(server);
	for (unsigned int i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(server->lanes);
	free(server);
}

void mimicd_server_stop(struct mimicd_server *server)
{
	const uint64_t one = 1;
	int saved = errno;

	(void)!write(server->stop_fd, &one, sizeof(one));
	errno = saved;
}

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

/* Who only asks connects for each question. */
static void serve_listener(struct mimicd_server *server)
{
	uint64_t begun = mimic_now();

	if (!mimicd_look_may_begin(server, begun))
		return;
	accept_client(server);
	mimicd_look_ended(server, begun);
}

static void serve_socket(struct mimicd_session *session)
{
	struct mimicd_server *server = session->server;
	bool is_look = mimicd_session_is_onlooker(session);
	uint64_t begun;

	if (!is_look) {
		mimicd_session_receive(session);
		return;
	}
	begun = mimic_now();
	if (!mimicd_look_may_begin(server, begun))
		return;
	mimicd_session_receive(session);
	mimicd_look_ended(server, begun);
}

static void handle_event(struct mimicd_server *server, struct mimicd_source *source)
{
	if (server->filesystem && source->kind != MIMICD_SOURCE_FILESYSTEM)
		mimicd_filesystem_note_event(server->filesystem);
	switch (source->kind) {
	case MIMICD_SOURCE_LISTEN:
		serve_listener(server);
		return;
	case MIMICD_SOURCE_STOP:
		server->stopping = true;
		return;
	case MIMICD_SOURCE_SOCKET:
		serve_socket(source->session);
		return;
	case MIMICD_SOURCE_PROCESS:
		/* Its end counts even while a child holds a copy of the socket. */
		source->session->broken = true;
		server->reap = true;
		return;
	case MIMICD_SOURCE_BUS:
		mimicd_bus_wake(server->bus);
		return;
	case MIMICD_SOURCE_FILESYSTEM:
		mimicd_filesystem_serve(server->filesystem);
		return;
	case MIMICD_SOURCE_FILESYSTEM_TIMER:
		mimicd_filesystem_tick(server->filesystem);
		return;
	case MIMICD_SOURCE_KICK:
	case MIMICD_SOURCE_JOBS:
		return;	/* it woke us, that is all */
	}
}

static void handle_list(struct mimicd_server *server, const struct epoll_event *events, int count)
{
	/* Sessions are freed after this loop only: later events may name them. */
	for (int i = 0; i < count; i++)
		handle_event(server, events[i].data.ptr);
}

/* Returns how many events there were. */
static int handle_events(struct mimicd_server *server)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(server->epoll_fd, events, EVENTS_MAX, 0);

	handle_list(server, events, count);
	return count;
}

/* The same, but workers have the baton while nothing comes. */
static int wait_for_events(struct mimicd_server *server, int timeout)
{
	struct epoll_event events[EVENTS_MAX];
	int count = 0, error = 0;

	if (mimicd_jobs_sleep(server)) {
		count = epoll_wait(server->epoll_fd, events, EVENTS_MAX, timeout);
		error = errno;
	}
	mimicd_jobs_wake(server);
	handle_list(server, events, count);
	errno = error;
	return count;
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
static bool serve_lanes(struct mimicd_server *server)
{
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

static int sleep_for_events(struct mimicd_server *server)
{
	int count = 0;

	publish_sleep(server, 1);
	/* Pairs with the fence of a client between its command and its look at the flag. */
	mimic_lane_fence();
	if (!mimicd_engine_has_work(server))
		count = wait_for_events(server, server->bus ? mimicd_bus_timeout(server->bus) : -1);
	publish_sleep(server, 0);
	return count;
}

int mimicd_server_run(struct mimicd_server *server)
{
	while (!server->stopping) {
		bool is_idle = serve_lanes(server);
		int count;

		reap(server);
		if (server->filesystem)
			mimicd_filesystem_prepare(server->filesystem);
		count = is_idle ? sleep_for_events(server) : handle_events(server);
		if (count < 0 && errno != EINTR) {
			int error = -errno;

			mimicd_log(MIMICD_LOG_ERROR, "epoll: %s", strerror(errno));
			return error;
		}
	}
	return 0;
}

void mimicd_server_settle(struct mimicd_server *server)
{
	unsigned int rounds = 0;
	int count;
	bool worked;

	/* A device that goes on by itself may do so for minutes: not here. */
	do {
		count = handle_events(server);
		worked = mimicd_engine_round(server);
		reap(server);
	} while (count > 0 || (worked && rounds++ < SETTLE_ROUNDS));
}
