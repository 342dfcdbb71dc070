/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/messages.h"
#include "daemon/clients/record.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/inspection.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77	/* Linux 6.5 */
#endif

static void read_program_name(struct mimicd_program *program)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)program->pid);
	file = fopen(path, "re");
	if (!file || !fgets(program->name, sizeof(program->name), file))
		strcpy(program->name, "?");
	program->name[strcspn(program->name, "\n")] = 0;
	if (file)
		fclose(file);
}

static int open_process(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	return pidfd < 0 ? -errno : pidfd;
}

/* A handle of the process that cannot come to mean another one. */
static int open_peer(int fd, pid_t pid)
{
	socklen_t length = sizeof(int);
	int pidfd;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length))
		return pidfd;
	return open_process(pid);
}

static void refuse(struct mimicd_clients *clients, uid_t uid, int fd, int error)
{
	struct mimic_hello_reply reply = {
		.header = {
			.size = sizeof(reply),
			.type = MIMIC_MESSAGE_HELLO | MIMIC_MESSAGE_REPLY,
			.error = error,
		},
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
		.daemon_pid = (uint32_t)getpid(),
	};

	/* Not here: how many watch the other end is its program's choice. */
	mimicd_closer_hang_up(clients->engine->loop->closer, uid, fd, &reply, sizeof(reply));
}

static int check_peer(const struct mimicd_clients *clients, int fd, struct ucred *peer)
{
	socklen_t length = sizeof(*peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length) < 0) {
		mimicd_log(MIMICD_LOG_WARNING, "a client was refused: its credentials cannot be read: %s",
			   strerror(errno));
		return -EACCES;
	}
	if (peer->uid != geteuid() && peer->uid != 0 && !clients->options.allow_users) {
		mimicd_log_of(peer->uid, MIMICD_LOG_WARNING,
			   "process %d was refused: it is of user %u, this daemon serves user %u (--allow-users)",
			   (int)peer->pid, (unsigned int)peer->uid, (unsigned int)geteuid());
		return -EACCES;
	}
	return 0;
}

/* The socket has something. */
static void serve_socket(void *context)
{
	struct mimicd_session *session = context;
	struct mimicd_engine *engine = session->client.engine;
	uint64_t begun;

	if (!mimicd_client_only_inspects(&session->client)) {
		mimicd_session_receive(session);
		return;
	}
	begun = mimic_now();
	if (!mimicd_inspection_may_begin(engine, begun))
		return;
	mimicd_session_receive(session);
	mimicd_inspection_ended(engine, begun);
}

/* The process has ended. That counts even while a child holds a copy of the socket. */
static void note_end(void *context)
{
	struct mimicd_session *session = context;

	mimicd_client_leave(&session->client);
}

static int watch_socket(struct mimicd_session *session)
{
	return mimicd_loop_watch(session->clients->engine->loop, session->socket, EPOLLIN | EPOLLRDHUP,
				 &session->socket_source);
}

static int watch(struct mimicd_session *session)
{
	struct mimicd_loop *loop = session->clients->engine->loop;
	int error;

	session->socket_source = (struct mimicd_source){ serve_socket, session };
	session->kick_source = (struct mimicd_source){ 0 };
	session->process_source = (struct mimicd_source){ note_end, session };
	error = watch_socket(session);
	/*
	 * Edge triggered and never read: the client has the same eventfd and could
	 * make a read of ours wait for ever.
	 */
	if (!error)
		error = mimicd_loop_watch(loop, session->event_fd, EPOLLIN | EPOLLET, &session->kick_source);
	/* A process of another pid namespace: its bindings' end is this session's too. */
	if (!error && session->client.memory.pidfd >= 0)
		error = mimicd_loop_watch(loop, session->client.memory.pidfd, EPOLLIN, &session->process_source);
	return error;
}

/* The program at the other end, and how to hear of its end. */
struct peer {
	pid_t pid;
	uid_t uid;
	bool is_visible;	/* in our pid namespace */
	int pidfd;		/* if it is; may be -errno */
	int event_fd;		/* of the daemon before; -1: there is none yet */
	uint64_t number;	/* that it had there; 0: it is new */
};

static void close_watched(struct mimicd_loop *loop, int fd)
{
	if (fd < 0)
		return;
	mimicd_loop_forget(loop, fd);
	close(fd);
}

static void end(struct mimicd_client *client)
{
	mimicd_session_destroy(mimicd_session_of(client));
}

static void linger(struct mimicd_client *client)
{
	struct mimicd_session *session = mimicd_session_of(client);

	mimicd_packet_pause(session);
	if (client->memory.pidfd >= 0)
		mimicd_loop_forget(session->clients->engine->loop, client->memory.pidfd);
}

static int kick(struct mimicd_client *client, struct mimicd_source **source)
{
	struct mimicd_session *session = mimicd_session_of(client);

	*source = &session->kick_source;
	return session->event_fd;
}

static const struct mimicd_client_ops client_ops = {
	.kick = kick,
	.end = end,
	.linger = linger,
};

/* When the first of those that have not said HELLO must have done so; 0: all have. */
static uint64_t find_greeting(const struct mimicd_clients *clients)
{
	uint64_t due = 0;

	for (const struct mimicd_session *session = clients->sessions; session; session = session->next) {
		if (!session->greeted && !session->is_paused && !session->client.broken &&
		    (!due || session->greet_before < due))
			due = session->greet_before;
	}
	return due;
}

void mimicd_sessions_end_mute(void *context)
{
	struct mimicd_clients *clients = context;
	uint64_t now = mimic_now();

	for (struct mimicd_session *session = clients->sessions; session; session = session->next) {
		if (!session->greeted && !session->is_paused && now >= session->greet_before)
			mimicd_client_break(&session->client, "it has not said HELLO for %llu s",
					    MIMICD_GREETING_NS / 1000000000);
	}
	mimicd_timer_arm(&clients->greeting_timer, find_greeting(clients));
}

void mimicd_session_resume(struct mimicd_session *session)
{
	session->is_paused = false;
	session->clients->paused--;
	if (watch_socket(session))
		mimicd_client_break(&session->client, "there is no memory to listen to it");
	if (session->greeted)
		return;
	session->greet_before = mimic_now() + MIMICD_GREETING_NS;
	mimicd_timer_arm(&session->clients->greeting_timer, find_greeting(session->clients));
}

static void log_refusal(const struct peer *peer, int error)
{
	const char *why = strerror(-error);

	if (error == -ENOSPC)
		why = "too many programs are connected already";
	else if (error == -EDQUOT)
		why = "its user has too many programs that are connected already (--quota)";
	mimicd_log_of(peer->uid, MIMICD_LOG_WARNING, "process %d of user %u was refused: %s", (int)peer->pid,
		      (unsigned int)peer->uid, why);
}

/* Takes the pidfd over, and fd if it works. */
static int create(struct mimicd_clients *clients, int fd, const struct peer *peer,
		  struct mimicd_session **created)
{
	struct mimicd_session *session = calloc(1, sizeof(*session));
	int error;

	if (!session) {
		if (peer->pidfd >= 0)
			close(peer->pidfd);
		return -ENOMEM;
	}
	session->clients = clients;
	session->socket = fd;
	session->greet_before = mimic_now() + MIMICD_GREETING_NS;
	session->event_fd = peer->event_fd >= 0 ? peer->event_fd : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	session->client.program = (struct mimicd_program){ .pid = peer->pid, .uid = peer->uid };
	error = mimicd_client_init(&session->client, clients->engine, &client_ops, peer->pidfd);
	session->client.number = session->client.memory.client = peer->number;
	session->next = clients->sessions;
	clients->sessions = session;
	clients->count++;
	if (!error && peer->is_visible && peer->pidfd < 0)
		error = peer->pidfd;
	else if (!error)
		error = session->event_fd < 0 ? -errno : watch(session);
	if (!error && !peer->number)
		error = mimicd_session_keep(session);
	if (error) {
		log_refusal(peer, error);
		mimicd_loop_forget(clients->engine->loop, session->socket);
		session->socket = -1;
		mimicd_session_destroy(session);
		return error;
	}
	mimicd_timer_arm(&clients->greeting_timer, find_greeting(clients));
	*created = session;
	return 0;
}

int mimicd_session_create(struct mimicd_clients *clients, int fd)
{
	struct mimicd_session *session;
	struct ucred credentials = { .uid = (uid_t)-1 };
	int error = check_peer(clients, fd, &credentials);

	if (!error && mimicd_closer_is_full(clients->engine->loop->closer, credentials.uid))
		error = -EDQUOT;
	if (!error) {
		struct peer peer = {
			.pid = credentials.pid,
			.uid = credentials.uid,
			.is_visible = true,
			.pidfd = open_peer(fd, credentials.pid),
			.event_fd = -1,
		};

		error = create(clients, fd, &peer, &session);
	}
	if (error) {
		refuse(clients, credentials.uid, fd, error);
		return error;
	}
	read_program_name(&session->client.program);
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) connected", (int)session->client.program.pid,
		   session->client.program.name);
	return 0;
}

int mimicd_session_connect(struct mimicd_clients *clients, const struct mimicd_binding *binding,
			   int *fd)
{
	struct mimicd_session *session;
	struct peer peer = {
		.pid = binding->program.pid,
		.uid = binding->program.uid,
		.is_visible = binding->program.pid > 0,
		.pidfd = -1,
		.event_fd = -1,
	};
	int ends[2];
	int error = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		error = -errno;
	if (!error) {
		/* It waits for our answer, so the number is still its own. */
		if (peer.is_visible)
			peer.pidfd = open_process(peer.pid);
		error = create(clients, ends[0], &peer, &session);
	}
	if (error) {
		close(ends[0]);
		close(ends[1]);
		return error;
	}
	session->client.process = binding->process;
	session->client.process->clients++;
	memcpy(session->client.program.name, binding->program.name, sizeof(session->client.program.name));
	*fd = ends[1];
	return 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

int mimicd_session_adopt(struct mimicd_clients *clients, const struct mimicd_adopted_session *adopted,
			 struct mimicd_session **session)
{
	const struct peer peer = {
		.pid = adopted->pid,
		.uid = adopted->uid,
		.is_visible = adopted->is_visible,
		.pidfd = adopted->pidfd,
		.event_fd = adopted->event_fd,
		.number = adopted->number,
	};

	int error;

	if (adopted->socket >= 0 && adopted->event_fd >= 0 && (!adopted->is_visible || adopted->pidfd >= 0)) {
		error = create(clients, adopted->socket, &peer, session);
	} else {
		close_if_open(adopted->event_fd);
		close_if_open(adopted->pidfd);
		error = -ENOENT;
	}
	/* Its program is not to wait for ever. */
	if (error)
		close_if_open(adopted->socket);
	return error;
}

void mimicd_session_destroy(struct mimicd_session *session)
{
	struct mimicd_session **link = &session->clients->sessions;
	struct mimicd_loop *loop = session->clients->engine->loop;

	/* Before its descriptors: the pidfd says whose memory it is. */
	mimicd_client_destroy(&session->client);
	mimicd_session_keep_drop(session);
	if (session->socket >= 0) {
		mimicd_loop_forget(loop, session->socket);
		/* Messages that were not read end with it, and the descriptors in them. */
		mimicd_closer_hang_up(loop->closer, session->client.program.uid, session->socket, NULL, 0);
	}
	if (session->event_fd >= 0) {
		mimicd_loop_forget(loop, session->event_fd);
		/* The program has it, too, and may have watches of it. */
		mimicd_closer_close_ours(loop->closer, session->client.program.uid, session->event_fd);
	}
	close_watched(loop, session->client.memory.pidfd);
	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	session->clients->count--;
	if (session->is_paused)
		session->clients->paused--;
	if (session->is_put_off) {
		session->clients->put_off--;
		mimicd_packet_close(session, &session->put_off);
		/* It may be a SAVE, for which a device is on hold. */
		mimicd_jobs_release(&session->clients->engine->jobs);
	}
	if (session->greeted)
		mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) is gone", (int)session->client.program.pid,
			   session->client.program.name);
	free(session);
}
