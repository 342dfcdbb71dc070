/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/messages.h"
#include "daemon/clients/session.h"
#include "daemon/clients/socket.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/inspection.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/placement.h"
#include "daemon/engine/shards.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/listen.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

#define KEPT_LISTENER 1	/* its number in the store */

/* No descriptor left: a client that stays in the queue would keep us awake for ever. */
static void open_spare(struct mimicd_clients *clients)
{
	if (clients->spare_fd < 0)
		clients->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void refuse_for_want_of_descriptors(struct mimicd_clients *clients)
{
	int fd;

	mimicd_log_of(UINT32_MAX, MIMICD_LOG_WARNING, "a client was refused: no descriptors left");
	if (clients->spare_fd >= 0)
		close(clients->spare_fd);
	clients->spare_fd = -1;
	fd = accept4(clients->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	/* Not here: messages that the client has sent already end with it. */
	if (fd >= 0)
		mimicd_closer_hang_up(clients->engine->loop->closer, UINT32_MAX, fd, NULL, 0);
}

static void accept_client(struct mimicd_clients *clients)
{
	int fd;

	open_spare(clients);
	fd = accept4(clients->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		mimicd_session_create(clients, fd);
	else if (errno == EMFILE || errno == ENFILE)
		refuse_for_want_of_descriptors(clients);
}

/* A client that only inspects connects for each question. */
static void serve_listener(void *context)
{
	struct mimicd_clients *clients = context;
	uint64_t begun = mimic_now();

	/* Those that are refused faster than they are closed would take all descriptors. */
	if (mimicd_closer_is_busy(clients->engine->loop->closer) || !mimicd_inspection_may_begin(clients->engine, begun))
		return;
	accept_client(clients);
	mimicd_inspection_ended(clients->engine, begun);
}

/* The socket's file is the predecessor's, and ours from now on. */
static int adopt_socket(struct mimicd_clients *clients, int fd)
{
	struct stat status;

	clients->listen_fd = fd;
	clients->socket_path = realpath(clients->options.socket_path, NULL);
	if (!clients->socket_path || lstat(clients->socket_path, &status)) {
		mimicd_log(MIMICD_LOG_WARNING,
			   "%s has been removed: programs that are connected go on, others cannot connect (a unit of systemd with RuntimeDirectory= wants RuntimeDirectoryPreserve=restart)",
			   clients->options.socket_path);
		return 0;
	}
	clients->socket_device = status.st_dev;
	clients->socket_inode = status.st_ino;
	return 0;
}

static int open_socket(struct mimicd_clients *clients)
{
	struct stat status;
	int kept;

	if (clients->options.listen_fd >= 0) {
		clients->listen_fd = clients->options.listen_fd;
		return 0;
	}
	kept = mimicd_keep_find(MIMICD_KEEP_LISTEN, KEPT_LISTENER, 0);
	if (kept >= 0)
		return adopt_socket(clients, kept);
	clients->listen_fd = mimicd_listen(clients->options.socket_path, SOCK_SEQPACKET,
					   clients->options.allow_users && !clients->options.has_group, &status);
	if (clients->listen_fd < 0)
		return clients->listen_fd;
	if (clients->options.has_group) {
		int error = mimicd_socket_give_to_group(clients->options.socket_path, clients->options.group);

		if (error)
			return error;
	}
	/* Absolute: the daemon may change its directory. */
	clients->socket_path = realpath(clients->options.socket_path, NULL);
	clients->socket_device = status.st_dev;
	clients->socket_inode = status.st_ino;
	return clients->socket_path ? 0 : -ENOMEM;
}

/* Programs that connect while the daemon is away wait for the next one. */
static int keep_listener(struct mimicd_clients *clients, bool is_kept)
{
	uint64_t number = KEPT_LISTENER;

	if (is_kept || clients->options.listen_fd >= 0)
		return 0;
	return mimicd_keep(MIMICD_KEEP_LISTEN, &number, 0, clients->listen_fd);
}

static int listen_for_clients(struct mimicd_clients *clients)
{
	bool is_kept = mimicd_keep_has(MIMICD_KEEP_LISTEN, KEPT_LISTENER, 0);
	int error;

	open_spare(clients);
	if (clients->spare_fd < 0) {
		mimicd_log(MIMICD_LOG_ERROR, "no descriptors: %s", strerror(errno));
		return -EMFILE;
	}
	if (!clients->options.socket_path && clients->options.listen_fd < 0)
		return 0;
	error = open_socket(clients);
	if (!error)
		error = keep_listener(clients, is_kept);
	if (error)
		return error;
	clients->listen_source = (struct mimicd_source){ serve_listener, clients };
	return mimicd_loop_watch(clients->engine->loop, clients->listen_fd, EPOLLIN,
				 &clients->listen_source);
}

static int connect_process(void *context, const struct mimicd_binding *binding, int *fd)
{
	return mimicd_session_connect(context, binding, fd);
}

static bool is_due(const struct mimicd_session *session)
{
	struct mimicd_engine *engine = session->clients->engine;

	if (!session->due || (session->waits_for_job && session->returns != atomic_load(&engine->jobs.returns)))
		return true;
	return mimicd_wakes_is_due(engine, session->due);
}

/* May the message that is put off be tried again? */
static bool may_go_on(const struct mimicd_session *session)
{
	return !session->client.broken && !mimicd_memory_fix_waits(&session->client.memory) &&
	       !mimicd_wakes_throttled(session->client.user, MIMICD_WAKE_MESSAGE) && is_due(session);
}

/* Of the messages that are put off, the one whose user has waited longest. NULL: there is none. */
static struct mimicd_session *find_put_off(const struct mimicd_clients *clients)
{
	struct mimicd_session *found = NULL;

	for (struct mimicd_session *session = clients->sessions; session; session = session->next) {
		if (!session->is_put_off || !may_go_on(session))
			continue;
		if (!found || session->client.user->home->message_turn < found->client.user->home->message_turn ||
		    (session->client.user->home == found->client.user->home && session->turn < found->turn))
			found = session;
	}
	return found;
}

/* One message in a round: it takes a turn. */
static bool go_on(void *context, bool is_idle)
{
	struct mimicd_clients *clients = context;
	struct mimicd_session *session = clients->put_off ? find_put_off(clients) : NULL;

	(void)is_idle;
	if (!session)
		return false;
	session->turn = session->client.user->home->message_turn = ++clients->last_turn;
	mimicd_shards_hold(clients->engine);
	mimicd_session_go_on(session);
	mimicd_placement_update(clients->engine);
	mimicd_shards_release(clients->engine);
	return true;
}

static bool has_work(void *context)
{
	const struct mimicd_clients *clients = context;

	return clients->put_off && find_put_off(clients);
}

static bool must_pause(const struct mimicd_session *session)
{
	return session->client.broken || mimicd_wakes_throttled(session->client.user, MIMICD_WAKE_MESSAGE) ||
	       (session->is_put_off && !may_go_on(session));
}

/* Those whose users are no longer throttled, and whose messages are answered. */
static void listen_again(void *context)
{
	struct mimicd_clients *clients = context;
	struct mimicd_session *session = clients->paused ? clients->sessions : NULL;

	if (!session)
		return;
	mimicd_shards_hold(clients->engine);
	for (; session; session = session->next) {
		if (session->is_paused && !must_pause(session))
			mimicd_session_resume(session);
	}
	mimicd_shards_release(clients->engine);
}

static const struct mimicd_front_end_ops front_end_ops = {
	.transport = "daemon",
	.poll = go_on,
	.has_work = has_work,
	.prepare = listen_again,
	.connect = connect_process,
};

int mimicd_clients_create(struct mimicd_clients **created, struct mimicd_engine *engine,
			  const struct mimicd_clients_options *options)
{
	struct mimicd_clients *clients = calloc(1, sizeof(*clients));
	int error;

	if (!clients)
		return -ENOMEM;
	clients->engine = engine;
	clients->options = *options;
	clients->greeting_timer.fd = -1;
	clients->listen_fd = clients->spare_fd = -1;
	clients->front_end = (struct mimicd_front_end){ .ops = &front_end_ops, .context = clients };
	if (options->quotas)
		engine->quotas = *options->quotas;
	if (options->allow_users || mimicd_front_ends_have_bus(engine))
		mimicd_memory_fixes_begin(&engine->memory_fixes);
	mimicd_front_end_add(engine, &clients->front_end);
	clients->greeting_timer.expired = mimicd_sessions_end_mute;
	clients->greeting_timer.context = clients;
	error = mimicd_timer_create(&clients->greeting_timer, engine->loop);
	if (!error)
		error = listen_for_clients(clients);
	if (error)
		mimicd_clients_destroy(clients);
	else
		*created = clients;
	return error;
}

static void remove_socket(struct mimicd_clients *clients)
{
	struct stat status;

	if (!clients->socket_path)
		return;
	/* Another daemon may have put its own there. */
	if (!lstat(clients->socket_path, &status) && status.st_dev == clients->socket_device &&
	    status.st_ino == clients->socket_inode)
		unlink(clients->socket_path);
	free(clients->socket_path);
}

void mimicd_clients_destroy(struct mimicd_clients *clients)
{
	if (!clients)
		return;
	remove_socket(clients);
	while (clients->sessions)
		mimicd_session_destroy(clients->sessions);
	mimicd_front_end_remove(clients->engine, &clients->front_end);
	if (clients->listen_fd >= 0)
		close(clients->listen_fd);
	if (clients->spare_fd >= 0)
		close(clients->spare_fd);
	mimicd_timer_destroy(&clients->greeting_timer);
	free(clients);
}
