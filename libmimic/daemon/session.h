/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * This process's connections to mimicd: one by mimicd's own socket, for the
 * daemon transport, and one that the kernel's device nodes gave, for the kernel
 * transport. A process may have both; each has lanes of its own.
 */
#ifndef LIBMIMIC_DAEMON_SESSION_H
#define LIBMIMIC_DAEMON_SESSION_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmimic/base/descriptor.h"
#include "libmimic/base/wait.h"
#include "libmimic/transport.h"
#include "mimic/protocol.h"

struct daemon_connection {
	int socket;
	uint32_t sequence;
	unsigned int late;	/* replies that no thread waits for any more */
	unsigned int recovery_seconds; /* as HELLO's reply said */
};

/* A request and where its reply goes. The header's sequence and size are filled in. */
struct daemon_request {
	struct mimic_message *message;
	size_t size;
	uint16_t type;
	int fd;			/* to send along, or -1 */
	void *reply;
	size_t reply_size;
	int reply_fd;		/* received along, or -1 */
};

enum daemon_session_kind {
	DAEMON_SESSION_SOCKET,
	DAEMON_SESSION_KERNEL,
	/* A device each, whose nodes have lanes of their own: in a virtual machine there is no socket. */
	DAEMON_SESSION_NODES,
	DAEMON_SESSION_KINDS = DAEMON_SESSION_NODES + 8,
};

/* Generations count in steps of this: a power of two above the kinds, as each access divides by it. */
#define DAEMON_SESSION_STEP 16u
_Static_assert((unsigned int)DAEMON_SESSION_KINDS <= DAEMON_SESSION_STEP, "a remainder for each kind");

struct daemon_lane;
struct daemon_session;

/* Where a lane is. */
struct daemon_lane_place {
	int fd;			/* to be closed when it is mapped; -1: none, if the request failed */
	uint64_t offset;
	uint32_t number, thread, command_words, response_words;
};

/* A lane that is memory of a node. */
struct daemon_mapping {
	void *memory;		/* NULL: there is none */
	size_t size;
	uint64_t offset;	/* of the node */
};

/* As many lanes as a device gives. */
#define DAEMON_SESSION_MAPPINGS 64

/* How such a session is spoken to. For signal handlers, too; each 0 or -errno, -ENODEV: it is dead. */
struct daemon_session_ops {
	int (*lane)(struct daemon_session *session, uint32_t thread, uint32_t level, struct daemon_lane_place *place);
	/* MIMIC_MESSAGE_CANCEL, LANE_DROP, THREAD_GONE. */
	int (*tell)(struct daemon_session *session, uint16_t type, uint32_t number);
	int (*kick)(struct daemon_session *session);
	/* Until the lane's client_sleeping is not `value`; -ETIMEDOUT, -EINTR. */
	int (*wait)(struct daemon_session *session, uint32_t lane, uint32_t value, uint64_t nanoseconds);
};

struct daemon_session {
	/*
	 * Which connection of this process; 0: none. Lanes and devices belong to one.
	 * The remainder by DAEMON_SESSION_STEP is the kind, so that a number is
	 * enough to find the session.
	 */
	_Atomic uint32_t generation;
	atomic_bool dead;
	const struct daemon_session_ops *_Atomic ops;	/* NULL: by messages to a socket */
	atomic_int node;			/* the ops' */
	struct daemon_mapping mappings[DAEMON_SESSION_MAPPINGS];	/* of a session with ops; under the lock */
	struct daemon_connection connection;
	struct mimic_descriptor socket, event;	/* may be closed; connection.socket is the first's */
	unsigned int spin_microseconds;
	uint32_t daemon_pid; /* that greeted us; 0: of another namespace, or without recovery */
	unsigned int devices;	/* open ones; under the table lock of device.c */
	char path[108];		/* the socket's, or the node's that gave the connection */
	struct mimic_lock lock;	/* one request at a time; taken with all signals blocked */
};

extern struct daemon_session mimic_daemon_sessions[DAEMON_SESSION_KINDS];

static inline enum daemon_session_kind mimic_daemon_session_kind(uint32_t generation)
{
	return (enum daemon_session_kind)(generation % DAEMON_SESSION_STEP);
}

static inline struct daemon_session *mimic_daemon_session_of(uint32_t generation)
{
	return &mimic_daemon_sessions[mimic_daemon_session_kind(generation)];
}

/* Connects and says HELLO. -errno with a text. *event_fd may be NULL. */
int mimic_daemon_connect(struct daemon_connection *connection, const char *path,
			 struct mimic_hello_reply *hello, int *event_fd);
/* HELLO on a connected socket, which is closed on failure. `path` is for people. */
int mimic_daemon_greet(struct daemon_connection *connection, int fd, const char *path,
		       struct mimic_hello_reply *hello, int *event_fd);
/* One request on a connection of this thread alone. The reply's error, or -ENOTCONN, -ETIMEDOUT, -EPROTO. */
int mimic_daemon_exchange(struct daemon_connection *connection, struct daemon_request *request);

/*
 * The same, that is given up after so long, and then -ETIMEDOUT; the connection stays. Only for replies
 * without descriptors.
 */
int mimic_daemon_exchange_within(struct daemon_connection *connection, struct daemon_request *request,
				 unsigned int milliseconds);

/* The text in a file that came with a reply; free() it. 0 or -errno. */
int mimic_daemon_read_text(int fd, uint64_t size, char **json);

/* The session by mimicd's socket, connected if it is not. */
int mimic_daemon_session_get(const char *path);
/*
 * Makes a connected socket, which is closed on failure, the session by the
 * kernel. A session that was there before is given up.
 */
int mimic_daemon_session_adopt(int fd, const char *node);
/* Begins one that is spoken to by `ops`, of a kind from DAEMON_SESSION_NODES on that is not in use. */
void mimic_daemon_session_begin(enum daemon_session_kind kind, const struct daemon_session_ops *ops, int node,
				const char *path);
/* A lane of the calling thread. */
int mimic_daemon_session_lane(uint32_t generation, uint32_t thread, uint32_t level, struct daemon_lane_place *place);
/* libmimic/daemon/mapping.c: maps a lane of the session; -ENOMEM. And the end of it. */
int mimic_daemon_mapping_make(uint32_t generation, const struct daemon_lane_place *place, size_t size, void **memory);
void mimic_daemon_mapping_end(uint32_t generation, void *memory, size_t size);
/* All lanes that are mapped are memory of that node now; -1: of the process. The session's lock is held. */
void mimic_daemon_mappings_move(struct daemon_session *session, int node);
/* The session is spoken to by another node. */
void mimic_daemon_session_set_node(uint32_t generation, int node);
/* Sleeps until the lane's futex word is not `value`. 0, -ETIMEDOUT, -EINTR. */
int mimic_daemon_session_wait(uint32_t generation, const struct daemon_lane *lane, uint32_t value,
			      uint64_t nanoseconds);
/* Gives the session of a kind up; its devices and lanes answer -ENOTCONN. Under the table lock of device.c. */
void mimic_daemon_session_end(enum daemon_session_kind kind);
/* A request on the session; for signal handlers too. -ENOTCONN: `generation` is gone. */
int mimic_daemon_session_request(uint32_t generation, struct daemon_request *request);
/* So long: a daemon that is stopped must not hold up the messages of other threads. */
#define MIMIC_DAEMON_EXPLAIN_MS 1000u
/*
 * Asks mimicd for the reason why a lane waits. -ETIMEDOUT: no answer in a second; -EOPNOTSUPP: this session
 * has no such question.
 */
int mimic_daemon_session_explain(uint32_t generation, uint32_t lane, char text[MIMIC_EXPLAIN_MAX]);
/* The daemon that greeted us has ended: the session is a successor's, or will be. */
bool mimic_daemon_session_has_lost_its_first(uint32_t generation);
/* A request without payload in the reply that names one number. */
int mimic_daemon_session_tell(uint32_t generation, uint16_t type, uint32_t number);
/* The daemon sleeps, and has something to do. */
void mimic_daemon_session_kick(uint32_t generation);
/* Polls the socket. false: the daemon is gone, now or since some time. */
bool mimic_daemon_session_is_alive(uint32_t generation);
void mimic_daemon_session_after_fork(void);

static inline bool mimic_daemon_session_is_current(uint32_t generation)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);

	return atomic_load_explicit(&session->generation, memory_order_relaxed) == generation &&
	       !atomic_load_explicit(&session->dead, memory_order_relaxed);
}

void mimic_daemon_block_signals(sigset_t *before);
void mimic_daemon_restore_signals(const sigset_t *before);

#endif
