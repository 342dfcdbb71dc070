/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/daemon/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/base/error.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/base/spool.h"
#include "libmimic/base/thread.h"
#include "libmimic/daemon/client.h"
#include "libmimic/daemon/lane.h"
#include "libmimic/daemon/memory.h"

#define NOT_CONNECTED \
	{ .connection = { .socket = -1 }, .socket = MIMIC_DESCRIPTOR_NONE, .event = MIMIC_DESCRIPTOR_NONE }

struct daemon_session mimic_daemon_sessions[DAEMON_SESSION_KINDS] = {
	NOT_CONNECTED, NOT_CONNECTED, NOT_CONNECTED, NOT_CONNECTED, NOT_CONNECTED,
	NOT_CONNECTED, NOT_CONNECTED, NOT_CONNECTED, NOT_CONNECTED, NOT_CONNECTED,
};

_Static_assert(DAEMON_SESSION_KINDS == 10, "as many as are initialized");

/*
 * Never used twice in a process, so that nothing of an old connection is taken
 * for the new one's.
 */
static uint32_t next_generation(enum daemon_session_kind kind)
{
	static uint32_t connections;

	return ++connections * DAEMON_SESSION_STEP + kind;
}

void mimic_daemon_block_signals(sigset_t *before)
{
	const uint64_t all = ~0ull;

	/*
	 * Not pthread_sigmask(): it lets the signal through by which the C library cancels a thread, and that thread would
	 * keep the session's lock.
	 */
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)before, sizeof(all), 0, 0);
}

void mimic_daemon_restore_signals(const sigset_t *before)
{
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)before, 0, sizeof(uint64_t), 0, 0);
}

static void disconnect(struct daemon_session *session)
{
	atomic_store(&session->generation, 0);
	mimic_descriptor_close(&session->socket);
	mimic_descriptor_close(&session->event);
	session->connection.socket = -1;
	session->ops = NULL;
	atomic_store(&session->node, -1);
}

void mimic_daemon_session_set_node(uint32_t generation, int node)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	struct mimic_thread *self = mimic_thread_self();
	sigset_t signals;

	if (!self)
		return;
	mimic_daemon_block_signals(&signals);
	mimic_lock_acquire(&session->lock, self->number);
	atomic_store(&session->node, node);
	mimic_daemon_mappings_move(session, node);
	mimic_lock_release(&session->lock);
	mimic_daemon_restore_signals(&signals);
}

/* No thread uses the old descriptors afterwards: the lock is free, or requests fail. */
void mimic_daemon_session_end(enum daemon_session_kind kind)
{
	struct daemon_session *session = &mimic_daemon_sessions[kind];
	struct mimic_thread *self = mimic_thread_self();
	sigset_t signals;

	if (!self)
		return;
	mimic_daemon_block_signals(&signals);
	mimic_lock_acquire(&session->lock, self->number);
	disconnect(session);
	mimic_daemon_mappings_move(session, -1);
	mimic_lock_release(&session->lock);
	mimic_daemon_restore_signals(&signals);
}

/* In this namespace of processes. */
static bool is_there(uint32_t pid)
{
	return pid && pid <= INT32_MAX && mimic_raw_syscall(SYS_kill, (long)pid, 0, 0, 0, 0, 0) != -ESRCH;
}

static void start_session(enum daemon_session_kind kind, const struct mimic_hello_reply *hello, int event_fd,
			  const char *path)
{
	struct daemon_session *session = &mimic_daemon_sessions[kind];

	session->socket = mimic_descriptor_keep(session->connection.socket);
	session->connection.socket = session->socket.fd;
	session->event = mimic_descriptor_keep(event_fd);
	session->spin_microseconds = hello->spin_microseconds;
	session->daemon_pid = hello->recovery_seconds && is_there(hello->daemon_pid) ? hello->daemon_pid : 0;
	session->devices = 0;
	strcpy(session->path, path);
	atomic_store(&session->dead, false);
	atomic_store(&session->generation, next_generation(kind));
}

void mimic_daemon_session_begin(enum daemon_session_kind kind, const struct daemon_session_ops *ops, int node,
				const char *path)
{
	const struct mimic_hello_reply hello = { .spin_microseconds = MIMIC_SPIN_MICROSECONDS };
	struct daemon_session *session = &mimic_daemon_sessions[kind];

	session->ops = ops;
	atomic_store(&session->node, node);
	start_session(kind, &hello, -1, path);
}

/* A daemon writes only into memory that cannot be taken from under it. */
static void announce_trace(uint32_t generation)
{
	struct mimic_message message = { .flags = 0 }, reply;
	int fd = mimic_process_trace_file();
	struct daemon_request request = {
		.message = &message,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_TRACE,
		.fd = fd,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int seals;

	if (fd < 0)
		return;
	seals = fcntl(fd, F_GET_SEALS);
	/* Without a trace the program runs all the same. */
	if (seals >= 0 && seals & F_SEAL_SHRINK)
		mimic_daemon_session_request(generation, &request);
	close(fd);
}

/* 0: not known. */
static unsigned long parent_of(uint32_t pid)
{
	unsigned long parent = 0;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*u (%*[^)]) %*c %lu", &parent) != 1)
		parent = 0;
	if (file)
		fclose(file);
	return parent;
}

/*
 * Where Yama restricts it, only a declared process and its children may read our memory. Elsewhere this fails, and need
 * not work. A daemon that comes back is another process, of the same supervisor; that of all services is
 * no such one.
 */
static void declare_reader(const struct mimic_hello_reply *hello)
{
	unsigned long reader = hello->recovery_seconds ? parent_of(hello->daemon_pid) : 0;

	prctl(PR_SET_PTRACER, reader > 1 ? reader : (unsigned long)hello->daemon_pid, 0, 0, 0);
}

static int connect_session(struct daemon_session *session, const char *path)
{
	struct mimic_hello_reply hello;
	int event_fd, error = mimic_daemon_connect(&session->connection, path, &hello, &event_fd);

	if (error) {
		session->connection.socket = -1;
		return error;
	}
	declare_reader(&hello);
	start_session(DAEMON_SESSION_SOCKET, &hello, event_fd, path);
	announce_trace(atomic_load(&session->generation));
	return mimic_daemon_memory_announce(atomic_load(&session->generation));
}

int mimic_daemon_session_adopt(int fd, const char *node)
{
	struct daemon_session *session = &mimic_daemon_sessions[DAEMON_SESSION_KERNEL];
	struct mimic_hello_reply hello;
	int event_fd, error;

	mimic_daemon_session_end(DAEMON_SESSION_KERNEL);
	error = mimic_daemon_greet(&session->connection, fd, node, &hello, &event_fd);
	if (error) {
		session->connection.socket = -1;
		return error;
	}
	start_session(DAEMON_SESSION_KERNEL, &hello, event_fd, node);
	return 0;
}

int mimic_daemon_session_get(const char *wanted)
{
	struct daemon_session *session = &mimic_daemon_sessions[DAEMON_SESSION_SOCKET];
	uint32_t generation = atomic_load(&session->generation);
	char path[sizeof(session->path)];
	int error = mimic_daemon_socket_path(wanted, path, sizeof(path));

	if (error)
		return mimic_error(-EINVAL, "the socket's path is too long");
	if (generation && mimic_daemon_session_is_alive(generation)) {
		if (!strcmp(path, session->path))
			return 0;
		if (session->devices)
			return mimic_error(-EINVAL, "this process uses mimicd at %s already", session->path);
	}
	mimic_daemon_session_end(DAEMON_SESSION_SOCKET);
	return connect_session(session, path);
}

/* By the program, which did not know that it was ours: the daemon has ended the session, or will. */
static bool is_closed(const struct daemon_session *session)
{
	return !mimic_descriptor_is_ours(&session->socket);
}

void mimic_daemon_session_kick(uint32_t generation)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	const struct daemon_session_ops *ops = session->ops;
	const uint64_t one = 1;
	int saved = errno;

	if (ops) {
		if (ops->kick(session) == -ENODEV)
			atomic_store(&session->dead, true);
		return;
	}
	if (mimic_descriptor_is_ours(&session->event))
		(void)!write(session->event.fd, &one, sizeof(one));
	errno = saved;
}

/* Another thread may have it for as long as the daemon is away. milliseconds 0: so long, too. */
static bool lock_session(struct daemon_session *session, uint32_t self, unsigned int milliseconds)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	if (!milliseconds)
		return !mimic_lock_acquire(&session->lock, self);
	for (unsigned int i = 0; !mimic_lock_try(&session->lock, self); i++) {
		if (i == milliseconds)
			return false;
		/* nanosleep() would be a cancellation point. */
		mimic_raw_syscall(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
	}
	return true;
}

/* milliseconds 0: as long as any request may take. */
static int request_within(uint32_t generation, struct daemon_request *request, unsigned int milliseconds)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	struct mimic_thread *self = mimic_thread_self();
	sigset_t signals;
	int error = -ENOTCONN;

	request->reply_fd = -1;
	if (!self)
		return -ENOMEM;
	if (session->ops)
		return -EOPNOTSUPP;
	/* A handler that interrupted us here could need the same lock. */
	mimic_daemon_block_signals(&signals);
	if (!lock_session(session, self->number, milliseconds)) {
		mimic_daemon_restore_signals(&signals);
		return -ETIMEDOUT;
	}
	if (mimic_daemon_session_is_current(generation) && is_closed(session)) {
		atomic_store(&session->dead, true);
	} else if (mimic_daemon_session_is_current(generation)) {
		error = milliseconds
				? mimic_daemon_exchange_within(&session->connection, request, milliseconds)
				: mimic_daemon_exchange(&session->connection, request);
		if (error == -ENOTCONN || (error == -ETIMEDOUT && !milliseconds) || error == -EPROTO)
			atomic_store(&session->dead, true);
	}
	mimic_lock_release(&session->lock);
	mimic_daemon_restore_signals(&signals);
	return error;
}

int mimic_daemon_session_request(uint32_t generation, struct daemon_request *request)
{
	return request_within(generation, request, 0);
}

int mimic_daemon_session_explain(uint32_t generation, uint32_t lane, char text[MIMIC_EXPLAIN_MAX])
{
	struct mimic_number_request message = { .number = lane };
	struct mimic_explain_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_EXPLAIN,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error = request_within(generation, &request, MIMIC_DAEMON_EXPLAIN_MS);

	if (error)
		return error;
	memcpy(text, reply.text, MIMIC_EXPLAIN_MAX);
	text[MIMIC_EXPLAIN_MAX - 1] = 0;
	return 0;
}

bool mimic_daemon_session_has_lost_its_first(uint32_t generation)
{
	const struct daemon_session *session = mimic_daemon_session_of(generation);

	return session->daemon_pid && !is_there(session->daemon_pid);
}

/* By a call of the session's own, as a request by the socket is. */
static int call(uint32_t generation, uint32_t thread, uint32_t level, struct daemon_lane_place *place,
		uint16_t type, uint32_t number)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	struct mimic_thread *self = mimic_thread_self();
	const struct daemon_session_ops *ops;
	sigset_t signals;
	int error = -ENOTCONN;

	if (!self)
		return -ENOMEM;
	mimic_daemon_block_signals(&signals);
	mimic_lock_acquire(&session->lock, self->number);
	ops = session->ops;
	if (mimic_daemon_session_is_current(generation) && ops)
		error = place ? ops->lane(session, thread, level, place) : ops->tell(session, type, number);
	if (error == -ENODEV) {
		atomic_store(&session->dead, true);
		error = -ENOTCONN;
	}
	mimic_lock_release(&session->lock);
	mimic_daemon_restore_signals(&signals);
	return error;
}

int mimic_daemon_session_lane(uint32_t generation, uint32_t thread, uint32_t level, struct daemon_lane_place *place)
{
	struct mimic_lane_request message = {
		.thread = thread,
		.level = level,
		.tid = (uint32_t)mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0),
	};
	struct mimic_lane_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_LANE,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error;

	if (mimic_daemon_session_of(generation)->ops)
		return call(generation, thread, level, place, 0, 0);
	error = mimic_daemon_session_request(generation, &request);
	if (error)
		return error;
	*place = (struct daemon_lane_place){
		.fd = request.reply_fd, .number = reply.lane, .thread = reply.thread,
		.command_words = reply.command_words, .response_words = reply.response_words,
	};
	return 0;
}

int mimic_daemon_session_wait(uint32_t generation, const struct daemon_lane *lane, uint32_t value,
			      uint64_t nanoseconds)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	const struct daemon_session_ops *ops = session->ops;
	int error;

	if (!ops)
		return mimic_futex_wait(&lane->memory->client_sleeping, value, nanoseconds, MIMIC_FUTEX_SHARED);
	error = ops->wait(session, lane->number, value, nanoseconds);
	if (error == -ENODEV)
		atomic_store(&session->dead, true);
	return error;
}

int mimic_daemon_session_tell(uint32_t generation, uint16_t type, uint32_t number)
{
	struct mimic_number_request message = { .number = number };
	struct mimic_message reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = type,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};

	if (mimic_daemon_session_of(generation)->ops)
		return call(generation, 0, 0, NULL, type, number);
	return mimic_daemon_session_request(generation, &request);
}

bool mimic_daemon_session_is_alive(uint32_t generation)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	struct pollfd entry = { .fd = session->connection.socket, .events = POLLRDHUP };
	int saved = errno;
	bool gone;

	if (!mimic_daemon_session_is_current(generation))
		return false;
	if (session->ops) {
		mimic_daemon_session_kick(generation);
		return mimic_daemon_session_is_current(generation);
	}
	gone = is_closed(session) || (poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)));
	if (gone)
		atomic_store(&session->dead, true);
	errno = saved;
	return !gone;
}

void mimic_daemon_session_after_fork(void)
{
	for (unsigned int kind = 0; kind < DAEMON_SESSION_KINDS; kind++) {
		struct daemon_session *session = &mimic_daemon_sessions[kind];

		/* Our copies would keep the parent's session alive after its end. */
		disconnect(session);
		session->devices = 0;
		/* They are not mapped here. */
		memset(session->mappings, 0, sizeof(session->mappings));
		memset(&session->lock, 0, sizeof(session->lock));
	}
}
