/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the files of the bus share. */
#ifndef MIMICD_BUS_INTERNAL_H
#define MIMICD_BUS_INTERNAL_H

#include <errno.h>
#include <stdbool.h>

#include "daemon/bus/bus.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/function.h"
#include "daemon/engine/trap.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/timer.h"
#include "mimic/bus.h"

struct mimicd_answer_record;
struct mimicd_binding_record;
struct mimicd_bus_binding;
struct mimicd_bus_record;

/* A request that was taken and is not answered yet, by slot. */
enum mimicd_request_state {
	MIMICD_REQUEST_NONE,
	MIMICD_REQUEST_PARKED,	/* in the model */
	MIMICD_REQUEST_HELD,	/* not begun: a person wants the device to misbehave */
};

struct mimicd_request {
	struct mimicd_trap trap;	/* first: the engine knows only this part */
	struct mimicd_bus *bus;
	enum mimicd_request_state state;
	uint64_t due;			/* HELD: when it begins, 0: when the device answers again */
	struct mimic_bus_request body;
};

/* A device on the bus. */
struct mimicd_bus_function {
	struct mimicd_function function;	/* first: the engine knows only this part */
	struct mimicd_bus *bus;
	struct mimicd_bus_function *next;
	uint32_t device;		/* its number there */
};

/* An answer that is shown after the step's commit. */
struct mimicd_late_answer {
	uint32_t slot;
	int status;
	uint64_t data;
	int fd;				/* a copy of ours; -1: none */
};

struct mimicd_bus {
	struct mimicd_engine *engine;
	struct mimicd_front_end front_end;
	struct mimicd_bus_options options;
	const struct mimicd_bus_ops *ops;
	int fd;
	bool is_starting;		/* no program waits for us yet */
	bool is_lost;			/* the node failed: nothing is asked or answered any more */
	bool is_cleared;		/* and its functions are freed */
	struct mimic_bus_header *header;	/* NULL: read() and write() */
	struct mimic_bus_slot *slots;
	size_t slots_size;
	uint32_t doorbell;		/* of the header, when the bits were last looked at */
	void *ring;			/* NULL: read() and write() */
	int ring_fd;
	bool fetch_is_parked;
	bool is_readable;		/* read() may have something */
	bool was_asleep;		/* when the requests of this round came */
	int current;			/* slot of the access that is being begun, or -1 */
	struct mimicd_source source;
	struct mimicd_timer timer;	/* the earliest of the held accesses that are due at a time */

	struct mimicd_request requests[MIMIC_BUS_SLOTS];
	unsigned int held;		/* of these */
	struct mimicd_bus_function *functions;
	struct mimicd_bus_binding *bindings;
	struct mimicd_process *processes;

	/* The rest is of a daemon that can be recovered (keep.c). */
	uint64_t kept;			/* the node's number in the store */
	uint8_t token[MIMIC_BUS_TOKEN_SIZE];
	const struct mimicd_bus_record *before;	/* the predecessor's, until all is taken over; NULL: there is none */
	struct mimicd_bus_record *record;	/* in the window; NULL: it cannot be recovered */
	bool has_other_bindings;	/* than the record's list */
	bool lacks_memory;		/* for records, at the last step */
	uint64_t serials[MIMIC_BUS_SLOTS];	/* of the requests that were taken last */
	struct mimicd_late_answer late[MIMIC_BUS_SLOTS];	/* a slot has one at most */
	unsigned int late_count;
};

static inline int mimicd_bus_ioctl(struct mimicd_bus *bus, unsigned long request, void *argument)
{
	return bus->is_lost ? -ENODEV : bus->ops->ioctl(bus->fd, request, argument);
}

/* --- ring.c ------------------------------------------------------------------------ */

/* By the shared slots where that can be, else by read() and write(). 0 or -errno, with a log line. */
int mimicd_bus_channel_start(struct mimicd_bus *bus, size_t slots_size);
void mimicd_bus_channel_stop(struct mimicd_bus *bus);
/* As those of struct mimicd_front_end_ops; the context is the bus. */
void mimicd_bus_publish_sleep(void *context, bool sleeps);
void mimicd_bus_publish_cpu(void *context, int cpu);

/* --- answer.c ---------------------------------------------------------------------- */

/* The request of the slot is over. A descriptor (else -1) stays ours. */
void mimicd_bus_answer(struct mimicd_bus *bus, uint32_t slot, int status, uint64_t data, int fd);
/* The request that was taken from this slot is one that is done, by us or the daemon before: it is answered so again. */
bool mimicd_bus_answers_again(struct mimicd_bus *bus, uint32_t slot);
/* As those of struct mimicd_front_end_ops; the context is the bus. */
void mimicd_bus_publish(void *context);
/* The node failed. Bindings are closed when it is safe. */
void mimicd_bus_lose(struct mimicd_bus *bus, int error);

/* --- keep.c ------------------------------------------------------------------------ */

/* true: the node is the one that the daemon before had. Else none is open, and a log line says what programs lose. */
bool mimicd_bus_take_over(struct mimicd_bus *bus);
/* Before devices are registered: all waits for a successor when we are killed. 0 or -errno, with a log line. */
int mimicd_bus_keep(struct mimicd_bus *bus);
/* There will be no successor. */
void mimicd_bus_keep_end(struct mimicd_bus *bus);

/* --- record.c, of a daemon that can be recovered ------------------------------------ */

void mimicd_bus_note_answer(struct mimicd_bus *bus, uint32_t slot, int status, uint64_t data, int fd);
/* The access waits in the model from now on. */
void mimicd_bus_note_parked(const struct mimicd_request *request);
/* Of the request that was taken from the slot; NULL: it is not done. */
const struct mimicd_answer_record *mimicd_bus_last_answer(const struct mimicd_bus *bus, uint32_t slot);
/* As that of struct mimicd_front_end_ops; the context is the bus. */
void mimicd_bus_record(void *context);

/* --- recover.c ---------------------------------------------------------------------- */

/* When devices are registered: the bindings of the daemon before. Their models have no state yet. */
void mimicd_bus_recover(struct mimicd_bus *bus);
/* As that of struct mimicd_front_end_ops; the context is the bus. */
void mimicd_bus_recovered(void *context);

/* --- function.c -------------------------------------------------------------------- */

/* Puts a device on the bus. 0 or -errno, with a log line. */
int mimicd_bus_function_add(struct mimicd_bus *bus, struct mimicd_instance *instance);
/* The bus is gone, or we leave it: the kernel keeps the devices. */
void mimicd_bus_functions_forget(struct mimicd_bus *bus);
/* NULL: there is no device of that number. */
struct mimicd_bus_function *mimicd_bus_function_find(struct mimicd_bus *bus, uint32_t device);

/* --- request.c --------------------------------------------------------------------- */

static inline struct mimicd_request *mimicd_request_of(struct mimicd_trap *trap)
{
	return (struct mimicd_request *)trap;
}

/* It is held back, until `due` or (0) until the device answers again. */
void mimicd_request_hold(struct mimicd_request *request, uint64_t due);
/* It is not held back any more. */
void mimicd_request_take(struct mimicd_request *request);
/* A parked or held access is taken back and answered so. */
void mimicd_request_withdraw(struct mimicd_request *request);
/* All those of a binding. */
void mimicd_requests_withdraw(struct mimicd_bus *bus, uint32_t binding);
/* The device goes away: accesses that still wait in it are answered with -ENODEV. */
void mimicd_requests_drop(struct mimicd_bus *bus, const struct mimicd_instance *instance);

/* --- access.c ---------------------------------------------------------------------- */

/* 0: it is answered, or will be; -errno: it is to be answered so. */
int mimicd_bus_access(struct mimicd_bus *bus, const struct mimic_bus_request *body);
/* Begins held accesses that are due, or all of a device that answers again. true: there was one. */
bool mimicd_bus_accesses_release(struct mimicd_bus *bus, uint64_t now);

/* --- serve.c ----------------------------------------------------------------------- */

/* A request that was just taken. */
void mimicd_bus_serve(struct mimicd_bus *bus, const struct mimic_bus_request *body);

/* --- channel.c --------------------------------------------------------------------- */

/*
 * As those of struct mimicd_front_end_ops; the context is the bus. With read() and write()
 * requests are read only if it was woken, or if `is_idle`: that costs a system call.
 */
bool mimicd_bus_poll(void *context, bool is_idle);
bool mimicd_bus_has_work(void *context);

#endif
