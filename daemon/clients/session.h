/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A connected program: its devices, its threads and their lanes, its memory. */
#ifndef MIMICD_SESSION_H
#define MIMICD_SESSION_H

#include "daemon/engine/instance.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/trace.h"
#include "daemon/clients/clients.h"
#include "daemon/engine/engine.h"
#include "mimic/lane.h"
#include "mimic/protocol.h"

/* Owner numbers: serial << OWNER_SHIFT | number of the thread in its session. */
#define MIMICD_OWNER_SHIFT 12
#define MIMICD_OWNER_THREAD ((1u << MIMICD_OWNER_SHIFT) - 1)

struct mimicd_owner;
struct mimicd_process;

struct mimicd_thread {
	uint64_t owner;		/* on devices that the session holds itself */
	struct mimicd_owner *bound;	/* on those of a kernel's binding; NULL: no such session */
	uint32_t number;
	unsigned int lanes;
	struct mimicd_lane *parked;	/* the lane whose access waits in a device; a thread has one at most */
	bool gone;			/* to be freed with its last lane */
};

struct mimicd_lane {
	struct mimicd_session *session;
	struct mimicd_thread *thread;
	struct mimicd_lane *next;	/* of the session */
	uint32_t number;
	uint32_t level;
	struct mimic_lane *memory;	/* shared: the client may change any byte at any time */
	size_t size;
	struct mimic_ring_end commands;
	struct mimic_ring_end responses;

	struct mimic_command command;	/* being executed while remaining != 0 */
	uint32_t remaining;
	uint64_t follows;	/* the order word that the next command waits for, 0: none */
	struct mimicd_device_slot *target;	/* NULL: closed meanwhile, or no such page; stores go nowhere, loads give 0 */
	bool parked;		/* its access waits in the device */
	struct mimicd_waiter waiter;	/* that access */
	bool withdrawn;		/* the command being executed gives no answers, has no effect */
	bool cancel_pending;	/* the same for the next one that has answers */
	bool retired;		/* no more commands come; what is posted is still done */
	bool running;		/* its commands are being executed, further up the stack */
	bool answered;		/* since the client was last notified */
};

/* What a session has open: a device, or one of its contexts. */
struct mimicd_device_slot {
	struct mimicd_instance *instance;
	struct mimic_model *model;	/* the instance's */
	unsigned int context;
	uint8_t first_page;	/* the program's page 0 is this one of the device */
	uint8_t pages;		/* that the program has */
	unsigned int opens;
	bool closed;	/* commands for it may still be in a lane: the number is not given away yet */
};

struct mimicd_session {
	struct mimicd_clients *clients;
	struct mimicd_engine *engine;
	struct mimicd_session *next;
	int socket;
	int event_fd;
	struct mimicd_source socket_source;
	struct mimicd_source kick_source;
	struct mimicd_source process_source;
	pid_t pid;
	uid_t uid;
	char program[16];
	struct mimicd_process *process;	/* it came by CONNECT; NULL: by the socket */
	bool greeted;
	bool reported;	/* a device's report of this session is in the log */
	bool broken;	/* to be ended when the current round is over */
	unsigned int complaints;	/* refused messages, see messages.c */
	bool text_is_out;	/* a reply with a text, that may not be read yet */

	struct mimicd_device_slot devices[MIMIC_SESSION_DEVICES];
	unsigned int private_devices;
	struct mimicd_thread *threads[MIMIC_SESSION_THREADS + 1];	/* by number, from 1 */
	struct mimicd_lane *lanes;
	unsigned int lane_count;
	uint32_t last_lane;
	uint64_t commands;	/* executed, for `mimic list` */
	struct mimicd_memory memory;
	struct mimicd_trace trace;
};

/* Takes the connected socket `fd` over, also when it fails. 0 or -errno, with a log line. */
int mimicd_session_create(struct mimicd_clients *clients, int fd);
/*
 * A session for the process of a kernel's binding; *fd is its end, the caller's
 * to hand on. -EMFILE, -ENOMEM, -ESRCH.
 */
int mimicd_session_connect(struct mimicd_clients *clients, const struct mimicd_binding *binding,
			   int *fd);
void mimicd_session_destroy(struct mimicd_session *session);

/* It has nothing of ours: it only asks, or has not begun. */
bool mimicd_session_is_onlooker(const struct mimicd_session *session);

/* Ends the session when it is safe to do so; says why in one log line. */
void mimicd_session_break(struct mimicd_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* messages.c: the socket has something to say. */
void mimicd_session_receive(struct mimicd_session *session);

/* list.c: JSON text for the session that asks. NULL without memory; free() it. */
char *mimicd_list_text(const struct mimicd_engine *engine, const struct mimicd_session *asking);

/* lane.c */
int mimicd_lane_create(struct mimicd_session *session, uint32_t thread, uint32_t level,
		       uint32_t tid, struct mimicd_lane **lane, int *fd);
/* Who makes the lane's accesses. */
uint64_t mimicd_lane_owner(const struct mimicd_lane *lane);
struct mimicd_lane *mimicd_lane_find(struct mimicd_session *session, uint32_t number);
/* No more commands come. It is freed when what was posted is done. */
void mimicd_lane_retire(struct mimicd_lane *lane);
void mimicd_lane_destroy(struct mimicd_lane *lane);
/* The session ends. Its lanes are gone, its devices are still there. */
void mimicd_threads_leave(struct mimicd_session *session);
/* -ENOENT, or 0; the thread's roles are free when what it posted is done. */
int mimicd_thread_end(struct mimicd_session *session, uint32_t number);
/* Frees what is retired and done. */
void mimicd_lanes_reap(struct mimicd_session *session);

#endif
