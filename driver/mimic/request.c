// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to a daemon: into a slot, waiting for the answer, taken back.
 *
 * A request lies in a slot of the shared memory; its pending bit says that
 * nobody has taken it. The side that clears the bit has it: the daemon, to serve it, or
 * the kernel, to take it back. The daemon may write any byte there at any time,
 * so everything that matters to us (which slots are in use, by whom) is kept in
 * struct mimic_connection, and an answer is data, nothing else.
 */
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

#include "internal.h"

static unsigned int spin_us = 100;
module_param(spin_us, uint, 0644);
MODULE_PARM_DESC(spin_us, "how long an access spins for its answer while the daemon runs on another CPU");

/* A bit has been set. connection->lock is held. */
static void mimic_request_notify(struct mimic_connection *connection, u32 slot)
{
	WRITE_ONCE(connection->header->doorbell, ++connection->doorbell);
	/* Pairs with the daemon's fence between its flag and its last read of the doorbell. */
	smp_mb();
	if (!READ_ONCE(connection->header->sleeping))
		return;
	mimic_uring_notify(connection, slot);
	wake_up_interruptible_poll(&connection->poll_wait, EPOLLIN | EPOLLRDNORM);
}

/* A slot more or less for accesses that `limit` counts. connection->lock is held. */
static void mimic_slot_count(struct mimic_connection *connection, u32 limit, bool is_taken)
{
	u16 *slots = &connection->limited_slots[limit];

	if (is_taken)
		++*slots;
	/* Only devices have more than their share. */
	if (limit && *slots > MIMIC_BUS_DEVICE_SLOTS)
		connection->spare_slots += is_taken ? 1 : -1;
	if (!is_taken)
		--*slots;
}

/* connection->lock is held, the slot is free. */
static void mimic_slot_put(struct mimic_connection *connection, struct mimic_request *request,
			   u32 number)
{
	struct mimic_bus_slot *slot = &connection->slots[number];

	__set_bit(number, connection->used);
	connection->in_slot[number] = request;
	connection->limited_by[number] = request->limit;
	mimic_slot_count(connection, request->limit, true);
	request->slot = number;
	request->body.slot = number;
	request->state = MIMIC_REQUEST_IN_SLOT;
	slot->request = request->body;
	slot->serial = ++connection->serial;
	WRITE_ONCE(slot->answered, 0);
	WRITE_ONCE(slot->waiter_sleeps, request->needs_commit);
	__clear_bit(number, connection->redelivered);
	__clear_bit(number, connection->taken_back);
	clear_bit(number, mimic_cancelled_bits(connection));
	/* The request is there before its bit. */
	smp_mb__before_atomic();
	set_bit(number, mimic_pending_bits(connection));
	mimic_request_notify(connection, number);
}

/* No daemon has seen the request in it, also not one that died. connection->lock is held. */
static bool mimic_slot_is_untouched(struct mimic_connection *connection, u32 number)
{
	return test_bit(number, mimic_pending_bits(connection)) &&
	       !test_bit(number, connection->redelivered);
}

static bool mimic_slot_is_allowed(const struct mimic_connection *connection,
				  const struct mimic_request *request)
{
	u32 in_use = connection->limited_slots[request->limit];

	return in_use < request->slots_max ||
	       (in_use < request->slots_wanted && connection->spare_slots < MIMIC_BUS_SPARE_SLOTS);
}

/* A slot for the request, or MIMIC_BUS_SLOTS. */
static u32 mimic_slot_find(struct mimic_connection *connection, const struct mimic_request *request)
{
	u32 end = MIMIC_BUS_SLOTS, number;

	if (request->limit) {
		if (!mimic_slot_is_allowed(connection, request))
			return MIMIC_BUS_SLOTS;
		/* The driver, which resolves the faults that they wait for, always finds one. */
		end -= MIMIC_BUS_FREE_SLOTS;
	}
	number = find_first_zero_bit(connection->used, end);
	return number < end ? number : MIMIC_BUS_SLOTS;
}

/* connection->lock is held, also for the next one. */
static void mimic_line_join(struct mimic_connection *connection, struct mimic_request *request)
{
	struct mimic_line *line = &connection->lines_of[request->limit];

	if (list_empty(&line->requests))
		list_add_tail(&line->link, &connection->lines);
	list_add_tail(&request->link, &line->requests);
	request->state = MIMIC_REQUEST_WAITING;
}

static void mimic_line_leave(struct mimic_connection *connection, struct mimic_request *request)
{
	struct mimic_line *line = &connection->lines_of[request->limit];

	list_del_init(&request->link);
	if (list_empty(&line->requests))
		list_del_init(&line->link);
}

/* A slot has become free: the first of a line has it, and the line goes behind the others. */
static void mimic_slot_fill(struct mimic_connection *connection)
{
	struct mimic_request *request;
	struct mimic_line *line;

	list_for_each_entry(line, &connection->lines, link) {
		u32 number;

		request = list_first_entry(&line->requests, struct mimic_request, link);
		number = mimic_slot_find(connection, request);
		if (number >= MIMIC_BUS_SLOTS)
			continue;
		list_move_tail(&line->link, &connection->lines);
		mimic_line_leave(connection, request);
		mimic_slot_put(connection, request, number);
		return;
	}
}

static int mimic_request_send(struct mimic_connection *connection, struct mimic_request *request);

/* connection->lock is held. */
static void mimic_request_note_posts(struct mimic_request *request, unsigned long done)
{
	if (!request->posts_wait)
		return;
	WRITE_ONCE(request->posts_done, done);
	wake_up_all(request->posts_wait);
}

/* The request is over. connection->lock is held. */
static void mimic_request_finish(struct mimic_connection *connection, struct mimic_request *request,
				 int status)
{
	request->status = status;
	request->state = MIMIC_REQUEST_ANSWERED;
	if (!request->release) {
		complete(&request->done);
		return;
	}
	mimic_request_note_posts(request, request->posts_sent);
	if (request->again) {
		request->again = false;
		request->posts_sent = request->posts;
		if (!mimic_request_send(connection, request))
			return;
		mimic_request_note_posts(request, request->posts);
	}
	request->release(request);
}

/* connection->lock is held. The slot is free after it. */
void mimic_slot_finish(struct mimic_connection *connection, u32 number, int status, u64 data,
		       struct file *file)
{
	struct mimic_request *request = connection->in_slot[number];

	connection->in_slot[number] = NULL;
	if (__test_and_clear_bit(number, connection->used))
		mimic_slot_count(connection, connection->limited_by[number], false);
	clear_bit(number, mimic_pending_bits(connection));
	if (request) {
		request->data = data;
		request->file = file;
		mimic_request_finish(connection, request, status);
	}
	mimic_slot_fill(connection);
}

void mimic_request_init(struct mimic_request *request, u32 kind, const struct mimic_device *device)
{
	memset(request, 0, sizeof(*request));
	request->body.kind = kind;
	request->body.device = device->id;
	INIT_LIST_HEAD(&request->link);
	init_completion(&request->done);
	/* A descriptor means something in the daemon's own system call only. */
	request->needs_commit = kind == MIMIC_BUS_REQUEST_CONNECT;
}

/* connection->lock is held. */
static int mimic_request_send(struct mimic_connection *connection, struct mimic_request *request)
{
	u32 number;

	if (connection->dead)
		return -EIO;
	request->file = NULL;
	request->again = false;
	reinit_completion(&request->done);
	number = mimic_slot_find(connection, request);
	if (number < MIMIC_BUS_SLOTS) {
		mimic_slot_put(connection, request, number);
		return 0;
	}
	mimic_line_join(connection, request);
	return 0;
}

static int mimic_request_submit(struct mimic_connection *connection, struct mimic_request *request)
{
	int error;

	spin_lock(&connection->lock);
	error = mimic_request_send(connection, request);
	spin_unlock(&connection->lock);
	return error;
}

void mimic_request_post(struct mimic_connection *connection, struct mimic_request *request)
{
	request->body.posted = 1;
	request->needs_commit = true;
	spin_lock(&connection->lock);
	if (mimic_request_send(connection, request))
		mimic_request_finish(connection, request, -EIO);
	spin_unlock(&connection->lock);
}

void mimic_request_post_again(struct mimic_connection *connection, struct mimic_request *request,
			      const struct mimic_bus_request *body)
{
	bool is_taken;

	spin_lock(&connection->lock);
	WRITE_ONCE(request->posts, request->posts + 1);
	/* The daemon has it, and may have looked before this post: once more. */
	is_taken = request->state == MIMIC_REQUEST_IN_SLOT &&
		   !mimic_slot_is_untouched(connection, request->slot);
	if (is_taken)
		request->again = true;
	else
		request->posts_sent = request->posts;
	if (request->state == MIMIC_REQUEST_IDLE || request->state == MIMIC_REQUEST_ANSWERED) {
		request->body = *body;
		request->body.posted = 1;
		request->needs_commit = true;
		if (mimic_request_send(connection, request))
			mimic_request_finish(connection, request, -EIO);
	}
	spin_unlock(&connection->lock);
}

void mimic_request_forget(struct mimic_connection *connection, struct mimic_request *request)
{
	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_WAITING)
		mimic_line_leave(connection, request);
	else if (request->state == MIMIC_REQUEST_IN_SLOT)
		connection->in_slot[request->slot] = NULL;
	request->state = MIMIC_REQUEST_IDLE;
	mimic_request_note_posts(request, request->posts);
	spin_unlock(&connection->lock);
}

/* Served or not, no thread is to wait for it. connection->lock is held. */
static void mimic_slot_fail(struct mimic_connection *connection, u32 number, int status)
{
	struct mimic_request *request = connection->in_slot[number];

	if (test_bit(number, mimic_pending_bits(connection))) {
		mimic_slot_finish(connection, number, status, 0, NULL);
		return;
	}
	/* The daemon has it: the slot stays in use until it answers. */
	connection->in_slot[number] = NULL;
	WRITE_ONCE(connection->slots[number].waiter_sleeps, 1);
	mimic_request_finish(connection, request, status);
}

/* Those of all devices, if `device` is 0. connection->lock is held. */
static void mimic_lines_fail(struct mimic_connection *connection, u32 device, int status)
{
	struct mimic_request *request, *next;
	struct mimic_line *line, *next_line;

	list_for_each_entry_safe(line, next_line, &connection->lines, link) {
		list_for_each_entry_safe(request, next, &line->requests, link) {
			if (device && request->body.device != device)
				continue;
			mimic_line_leave(connection, request);
			mimic_request_finish(connection, request, status);
		}
	}
}

void mimic_requests_fail(struct mimic_connection *connection, u32 device, int status)
{
	u32 i;

	spin_lock(&connection->lock);
	mimic_lines_fail(connection, device, status);
	for (i = 0; i < MIMIC_BUS_SLOTS; i++) {
		if (connection->in_slot[i] && connection->in_slot[i]->body.device == device)
			mimic_slot_fail(connection, i, status);
	}
	spin_unlock(&connection->lock);
}

/* Takes an answer over that the daemon has put into the shared memory. connection->lock is held. */
bool mimic_slot_take_answer(struct mimic_connection *connection, u32 number, struct file *file)
{
	struct mimic_bus_slot *slot = &connection->slots[number];

	/* Pairs with the daemon's release store: status and data are there. */
	if (!smp_load_acquire(&slot->answered))
		return false;
	WRITE_ONCE(connection->is_starting, false);
	mimic_slot_finish(connection, number, READ_ONCE(slot->status), READ_ONCE(slot->data), file);
	return true;
}

static bool mimic_request_is_answered(struct mimic_connection *connection,
				      struct mimic_request *request)
{
	bool is_answered;

	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_IN_SLOT && !request->needs_commit)
		mimic_slot_take_answer(connection, request->slot, NULL);
	is_answered = request->state == MIMIC_REQUEST_ANSWERED;
	spin_unlock(&connection->lock);
	return is_answered;
}

static bool mimic_request_may_spin(struct mimic_connection *connection)
{
	return !READ_ONCE(connection->header->sleeping) &&
	       READ_ONCE(connection->header->cpu) != raw_smp_processor_id() &&
	       !need_resched() && !signal_pending(current);
}

/* true: answered. The slot is ours meanwhile, so its memory may be looked at without the lock. */
static bool mimic_request_spin(struct mimic_connection *connection, struct mimic_request *request)
{
	u64 end = local_clock() + READ_ONCE(spin_us) * (u64)NSEC_PER_USEC;
	struct mimic_bus_slot *slot;

	if (request->needs_commit || READ_ONCE(request->state) != MIMIC_REQUEST_IN_SLOT)
		return false;
	slot = &connection->slots[request->slot];
	/* As in mimic_slot_take_answer(). */
	while (!smp_load_acquire(&slot->answered)) {
		if (!mimic_request_may_spin(connection) || local_clock() >= end)
			return false;
		cpu_relax();
	}
	return mimic_request_is_answered(connection, request);
}

/* From now on the daemon tells us. true: answered meanwhile. */
static bool mimic_request_announce_sleep(struct mimic_connection *connection,
					 struct mimic_request *request)
{
	bool is_answered;

	spin_lock(&connection->lock);
	request->needs_commit |= request->state == MIMIC_REQUEST_WAITING;
	if (request->state == MIMIC_REQUEST_IN_SLOT && !request->needs_commit) {
		WRITE_ONCE(connection->slots[request->slot].waiter_sleeps, 1);
		/* Pairs with the daemon's fence between its answer and its read of the flag. */
		smp_mb();
		mimic_slot_take_answer(connection, request->slot, NULL);
	}
	is_answered = request->state == MIMIC_REQUEST_ANSWERED;
	spin_unlock(&connection->lock);
	return is_answered;
}

/*
 * A signal came. true: the request is over, answered or taken back. false: the
 * daemon has it, and was asked to give it back.
 */
static bool mimic_request_take_back(struct mimic_connection *connection,
				    struct mimic_request *request)
{
	bool over = true;

	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_WAITING) {
		mimic_line_leave(connection, request);
		request->state = MIMIC_REQUEST_ANSWERED;
		request->status = MIMIC_BUS_TAKEN_BACK;
	} else if (request->state == MIMIC_REQUEST_IN_SLOT) {
		if (mimic_slot_is_untouched(connection, request->slot) &&
		    test_and_clear_bit(request->slot, mimic_pending_bits(connection))) {
			mimic_slot_finish(connection, request->slot, MIMIC_BUS_TAKEN_BACK, 0, NULL);
		} else {
			__set_bit(request->slot, connection->taken_back);
			set_bit(request->slot, mimic_cancelled_bits(connection));
			mimic_request_notify(connection, request->slot);
			over = false;
		}
	}
	spin_unlock(&connection->lock);
	return over;
}

/* No thread waits for the answer any more. true: it had come. */
static bool mimic_request_abandon(struct mimic_connection *connection,
				  struct mimic_request *request)
{
	bool was_answered = true;

	mimic_request_take_back(connection, request);
	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_IN_SLOT) {
		/* In use until the daemon answers: that is no answer to the next request. */
		connection->in_slot[request->slot] = NULL;
		WRITE_ONCE(connection->slots[request->slot].waiter_sleeps, 1);
		/* As in mimic_request_announce_sleep(). */
		smp_mb();
		mimic_slot_take_answer(connection, request->slot, NULL);
		was_answered = false;
	}
	spin_unlock(&connection->lock);
	return was_answered;
}

static int mimic_request_result(const struct mimic_request *request, bool restartable)
{
	if (request->status == MIMIC_BUS_TAKEN_BACK && restartable)
		return -ERESTARTSYS;
	/* A daemon may answer with an error number, but none that the kernel gives a meaning. */
	if (request->status > 0 || request->status < -MAX_ERRNO || request->status == -EINTR ||
	    (request->status <= -ERESTARTSYS && request->status >= -ERESTART_RESTARTBLOCK))
		return -EIO;
	return request->status;
}

/*
 * A wait without a limit must not keep the machine from being suspended: the daemon is
 * frozen, too, and answers when it goes on. One of a second (a driver's) need not be frozen.
 */
static long mimic_request_sleep(struct mimic_request *request, bool interruptible,
				unsigned long timeout)
{
	unsigned int state = interruptible ? TASK_INTERRUPTIBLE : TASK_KILLABLE;

	if (timeout != MAX_SCHEDULE_TIMEOUT)
		return wait_for_completion_killable_timeout(&request->done, timeout);
	return wait_for_completion_state(&request->done, state | TASK_FREEZABLE) ?: 1;
}

static int mimic_request_wait(struct mimic_connection *connection, struct mimic_request *request,
			      bool restartable, unsigned long timeout)
{
	long left;

	if (mimic_request_spin(connection, request) ||
	    mimic_request_announce_sleep(connection, request))
		return mimic_request_result(request, restartable);
	left = mimic_request_sleep(request, restartable, timeout);
	if (left == -ERESTARTSYS && restartable && !fatal_signal_pending(current)) {
		if (mimic_request_take_back(connection, request))
			return mimic_request_result(request, true);
		left = mimic_request_sleep(request, false, timeout);
	}
	if (left > 0)
		return mimic_request_result(request, restartable);
	if (mimic_request_abandon(connection, request) && request->status != MIMIC_BUS_TAKEN_BACK)
		return mimic_request_result(request, restartable);
	return left ? -EINTR : -ETIMEDOUT;
}

int mimic_request_run(struct mimic_connection *connection, struct mimic_request *request,
		      bool restartable, unsigned long timeout)
{
	int error = mimic_request_submit(connection, request);

	return error ? error : mimic_request_wait(connection, request, restartable, timeout);
}

void mimic_requests_end(struct mimic_connection *connection)
{
	u32 i;

	spin_lock(&connection->lock);
	WRITE_ONCE(connection->dead, true);
	mimic_lines_fail(connection, 0, -EIO);
	for (i = 0; i < MIMIC_BUS_SLOTS; i++)
		mimic_slot_finish(connection, i, -EIO, 0, NULL);
	spin_unlock(&connection->lock);
}

/* Its daemon is dead: another one is to give the answer. connection->lock is held. */
static void mimic_slot_deliver_again(struct mimic_connection *connection, u32 number)
{
	const struct mimic_request *request = connection->in_slot[number];
	struct mimic_bus_slot *slot = &connection->slots[number];
	bool wants_file = request && request->body.kind == MIMIC_BUS_REQUEST_CONNECT;

	/* Complete, whether committed or not; but a descriptor is gone with its process. */
	if (!wants_file && mimic_slot_take_answer(connection, number, NULL))
		return;
	if (!test_bit(number, mimic_pending_bits(connection)))
		__set_bit(number, connection->redelivered);
	if (request)
		slot->request = request->body;
	WRITE_ONCE(slot->answered, 0);
	/* No thread waits for it any more, or a signal has asked for it: it is not to begin. */
	if (!request || test_bit(number, connection->taken_back))
		set_bit(number, mimic_cancelled_bits(connection));
	/* The request, and that it is cancelled, are there before its bit. */
	smp_mb__before_atomic();
	set_bit(number, mimic_pending_bits(connection));
	mimic_request_notify(connection, number);
}

void mimic_requests_deliver_again(struct mimic_connection *connection)
{
	u32 i;

	/* An answer frees a slot for a request that waits: the lowest, so it is no later one. */
	for (i = 0; i < MIMIC_BUS_SLOTS; i++) {
		if (test_bit(i, connection->used))
			mimic_slot_deliver_again(connection, i);
	}
}
