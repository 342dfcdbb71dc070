// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to a daemon and their answers.
 *
 * A request lies in a slot of the shared memory; its pending bit says that
 * nobody has taken it. Who clears the bit has it: the daemon, to serve it, or
 * the kernel, to take it back. The daemon may write any byte there at any time,
 * so everything that matters to us (which slots are in use, by whom) is kept in
 * struct mimic_connection, and an answer is data, nothing else.
 */
#include <linux/file.h>
#include <linux/pid_namespace.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "internal.h"

static unsigned int spin_us = 100;
module_param(spin_us, uint, 0644);
MODULE_PARM_DESC(spin_us, "how long an access spins for its answer while the daemon runs on another CPU");

struct mimic_connection *mimic_connection_create(struct file *file)
{
	struct mimic_connection *connection = kzalloc(sizeof(*connection), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!connection)
		return NULL;
	connection->header = vmalloc_user(PAGE_ALIGN(MIMIC_BUS_SLOTS_SIZE));
	if (!connection->header) {
		kfree(connection);
		return NULL;
	}
	connection->slots = (void *)connection->header + MIMIC_BUS_HEADER_SIZE;
	connection->header->sleeping = 1;
	connection->header->cpu = -1;
	kref_init(&connection->kref);
	connection->mm = current->mm;
	mmgrab(connection->mm);
	connection->inode = file_inode(file);
	ihold(connection->inode);
	connection->pid_namespace = get_pid_ns(task_active_pid_ns(current));
	connection->user_namespace = get_user_ns(current_user_ns());
	spin_lock_init(&connection->lock);
	INIT_LIST_HEAD(&connection->waiting);
	INIT_LIST_HEAD(&connection->link);
	init_waitqueue_head(&connection->poll_wait);
	for (i = 0; i < MIMIC_BUS_SLOTS; i++)
		connection->slots[i].fd = -1;
	return connection;
}

static void connection_free(struct kref *kref)
{
	struct mimic_connection *connection = container_of(kref, struct mimic_connection, kref);

	iput(connection->inode);
	vfree(connection->header);
	mmdrop(connection->mm);
	put_pid_ns(connection->pid_namespace);
	put_user_ns(connection->user_namespace);
	kfree(connection);
}

void mimic_connection_put(struct mimic_connection *connection)
{
	kref_put(&connection->kref, connection_free);
}

static unsigned long *pending_bits(struct mimic_connection *connection)
{
	return (unsigned long *)connection->header->pending;
}

static unsigned long *cancelled_bits(struct mimic_connection *connection)
{
	return (unsigned long *)connection->header->cancelled;
}

/* A bit has been set. connection->lock is held. */
static void notify(struct mimic_connection *connection, u32 slot)
{
	WRITE_ONCE(connection->header->doorbell, ++connection->doorbell);
	/* Pairs with the daemon's fence between its flag and its last look at the bits. */
	smp_mb__after_atomic();
	if (!READ_ONCE(connection->header->sleeping))
		return;
	mimic_uring_notify(connection, slot);
	wake_up_interruptible_poll(&connection->poll_wait, EPOLLIN | EPOLLRDNORM);
}

/* connection->lock is held, the slot is free. */
static void put_into_slot(struct mimic_connection *connection, struct mimic_request *request,
			  u32 number)
{
	struct mimic_bus_slot *slot = &connection->slots[number];

	__set_bit(number, connection->used);
	connection->in_slot[number] = request;
	connection->limited_by[number] = request->limited ? request->body.device : 0;
	connection->device_slots[connection->limited_by[number]]++;
	request->slot = number;
	request->body.slot = number;
	request->state = MIMIC_REQUEST_IN_SLOT;
	slot->request = request->body;
	WRITE_ONCE(slot->answered, 0);
	WRITE_ONCE(slot->waiter_sleeps, request->needs_commit);
	clear_bit(number, cancelled_bits(connection));
	/* The request is there before its bit. */
	smp_mb__before_atomic();
	set_bit(number, pending_bits(connection));
	notify(connection, number);
}

/* A slot for the request, or MIMIC_BUS_SLOTS. */
static u32 find_slot(struct mimic_connection *connection, const struct mimic_request *request)
{
	if (request->limited &&
	    connection->device_slots[request->body.device] >= MIMIC_BUS_DEVICE_SLOTS)
		return MIMIC_BUS_SLOTS;
	return find_first_zero_bit(connection->used, MIMIC_BUS_SLOTS);
}

/* A slot has become free. */
static void fill_slot(struct mimic_connection *connection)
{
	struct mimic_request *request;

	list_for_each_entry(request, &connection->waiting, link) {
		u32 number = find_slot(connection, request);

		if (number >= MIMIC_BUS_SLOTS)
			continue;
		list_del_init(&request->link);
		put_into_slot(connection, request, number);
		return;
	}
}

static int send(struct mimic_connection *connection, struct mimic_request *request);

/* The request is over. connection->lock is held. */
static void end_request(struct mimic_connection *connection, struct mimic_request *request,
			int status)
{
	request->status = status;
	request->state = MIMIC_REQUEST_ANSWERED;
	if (!request->release) {
		complete(&request->done);
		return;
	}
	if (request->again) {
		request->again = false;
		if (!send(connection, request))
			return;
	}
	request->release(request);
}

/* connection->lock is held. The slot is free after it. */
static void finish(struct mimic_connection *connection, u32 number, int status, u64 data,
		   struct file *file)
{
	struct mimic_request *request = connection->in_slot[number];

	connection->in_slot[number] = NULL;
	if (__test_and_clear_bit(number, connection->used))
		connection->device_slots[connection->limited_by[number]]--;
	clear_bit(number, pending_bits(connection));
	if (request) {
		request->data = data;
		request->file = file;
		end_request(connection, request, status);
	}
	fill_slot(connection);
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
static int send(struct mimic_connection *connection, struct mimic_request *request)
{
	u32 number;

	if (connection->dead)
		return -EIO;
	request->file = NULL;
	request->again = false;
	reinit_completion(&request->done);
	number = find_slot(connection, request);
	if (number < MIMIC_BUS_SLOTS) {
		put_into_slot(connection, request, number);
		return 0;
	}
	request->state = MIMIC_REQUEST_WAITING;
	list_add_tail(&request->link, &connection->waiting);
	return 0;
}

int mimic_request_send(struct mimic_connection *connection, struct mimic_request *request)
{
	int error;

	spin_lock(&connection->lock);
	error = send(connection, request);
	spin_unlock(&connection->lock);
	return error;
}

void mimic_request_post(struct mimic_connection *connection, struct mimic_request *request)
{
	request->body.posted = 1;
	request->needs_commit = true;
	spin_lock(&connection->lock);
	if (send(connection, request))
		end_request(connection, request, -EIO);
	spin_unlock(&connection->lock);
}

void mimic_request_post_again(struct mimic_connection *connection, struct mimic_request *request,
			      const struct mimic_bus_request *body)
{
	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_IDLE || request->state == MIMIC_REQUEST_ANSWERED) {
		request->body = *body;
		request->body.posted = 1;
		request->needs_commit = true;
		if (send(connection, request))
			end_request(connection, request, -EIO);
	} else if (request->state == MIMIC_REQUEST_IN_SLOT) {
		/* The daemon has it, and may have looked before this post: once more. */
		request->again = !test_bit(request->slot, pending_bits(connection));
	}
	spin_unlock(&connection->lock);
}

void mimic_request_forget(struct mimic_connection *connection, struct mimic_request *request)
{
	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_WAITING)
		list_del_init(&request->link);
	else if (request->state == MIMIC_REQUEST_IN_SLOT)
		connection->in_slot[request->slot] = NULL;
	request->state = MIMIC_REQUEST_IDLE;
	spin_unlock(&connection->lock);
}

/* Served or not, nobody is to wait for it. connection->lock is held. */
static void fail(struct mimic_connection *connection, u32 number, int status)
{
	struct mimic_request *request = connection->in_slot[number];

	if (test_bit(number, pending_bits(connection))) {
		finish(connection, number, status, 0, NULL);
		return;
	}
	/* The daemon has it: the slot stays in use until it answers. */
	connection->in_slot[number] = NULL;
	WRITE_ONCE(connection->slots[number].waiter_sleeps, 1);
	end_request(connection, request, status);
}

void mimic_requests_fail(struct mimic_connection *connection, u32 device, int status)
{
	struct mimic_request *request, *next;
	u32 i;

	spin_lock(&connection->lock);
	list_for_each_entry_safe(request, next, &connection->waiting, link) {
		if (request->body.device != device)
			continue;
		list_del_init(&request->link);
		end_request(connection, request, status);
	}
	for (i = 0; i < MIMIC_BUS_SLOTS; i++) {
		if (connection->in_slot[i] && connection->in_slot[i]->body.device == device)
			fail(connection, i, status);
	}
	spin_unlock(&connection->lock);
}

/* Takes an answer over that the daemon has put into the shared memory. connection->lock is held. */
static bool take_answer(struct mimic_connection *connection, u32 number, struct file *file)
{
	struct mimic_bus_slot *slot = &connection->slots[number];

	/* Pairs with the daemon's release store: status and data are there. */
	if (!smp_load_acquire(&slot->answered))
		return false;
	finish(connection, number, READ_ONCE(slot->status), READ_ONCE(slot->data), file);
	return true;
}

static bool answered(struct mimic_connection *connection, struct mimic_request *request)
{
	bool is_answered;

	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_IN_SLOT && !request->needs_commit)
		take_answer(connection, request->slot, NULL);
	is_answered = request->state == MIMIC_REQUEST_ANSWERED;
	spin_unlock(&connection->lock);
	return is_answered;
}

static bool may_spin(struct mimic_connection *connection)
{
	return !READ_ONCE(connection->header->sleeping) &&
	       READ_ONCE(connection->header->cpu) != raw_smp_processor_id() &&
	       !need_resched() && !signal_pending(current);
}

/* true: answered. The slot is ours meanwhile, so its memory may be looked at without the lock. */
static bool spin(struct mimic_connection *connection, struct mimic_request *request)
{
	u64 end = local_clock() + READ_ONCE(spin_us) * (u64)NSEC_PER_USEC;
	struct mimic_bus_slot *slot;

	if (request->needs_commit || READ_ONCE(request->state) != MIMIC_REQUEST_IN_SLOT)
		return false;
	slot = &connection->slots[request->slot];
	/* As in take_answer(). */
	while (!smp_load_acquire(&slot->answered)) {
		if (!may_spin(connection) || local_clock() >= end)
			return false;
		cpu_relax();
	}
	return answered(connection, request);
}

/* From now on the daemon tells us. true: answered meanwhile. */
static bool announce_sleep(struct mimic_connection *connection, struct mimic_request *request)
{
	bool is_answered;

	spin_lock(&connection->lock);
	request->needs_commit |= request->state == MIMIC_REQUEST_WAITING;
	if (request->state == MIMIC_REQUEST_IN_SLOT && !request->needs_commit) {
		WRITE_ONCE(connection->slots[request->slot].waiter_sleeps, 1);
		/* Pairs with the daemon's fence between its answer and its look at the flag. */
		smp_mb();
		take_answer(connection, request->slot, NULL);
	}
	is_answered = request->state == MIMIC_REQUEST_ANSWERED;
	spin_unlock(&connection->lock);
	return is_answered;
}

/*
 * A signal came. true: the request is over, answered or taken back. false: the
 * daemon has it, and was asked to give it back.
 */
static bool take_back(struct mimic_connection *connection, struct mimic_request *request)
{
	bool over = true;

	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_WAITING) {
		list_del_init(&request->link);
		request->state = MIMIC_REQUEST_ANSWERED;
		request->status = MIMIC_BUS_TAKEN_BACK;
	} else if (request->state == MIMIC_REQUEST_IN_SLOT) {
		if (test_and_clear_bit(request->slot, pending_bits(connection))) {
			finish(connection, request->slot, MIMIC_BUS_TAKEN_BACK, 0, NULL);
		} else {
			set_bit(request->slot, cancelled_bits(connection));
			notify(connection, request->slot);
			over = false;
		}
	}
	spin_unlock(&connection->lock);
	return over;
}

/* Nobody waits for the answer any more. true: it had come. */
static bool abandon(struct mimic_connection *connection, struct mimic_request *request)
{
	bool was_answered = true;

	take_back(connection, request);
	spin_lock(&connection->lock);
	if (request->state == MIMIC_REQUEST_IN_SLOT) {
		/* In use until the daemon answers: that is no answer to the next request. */
		connection->in_slot[request->slot] = NULL;
		WRITE_ONCE(connection->slots[request->slot].waiter_sleeps, 1);
		/* As in announce_sleep(). */
		smp_mb();
		take_answer(connection, request->slot, NULL);
		was_answered = false;
	}
	spin_unlock(&connection->lock);
	return was_answered;
}

static int result(const struct mimic_request *request, bool restartable)
{
	if (request->status == MIMIC_BUS_TAKEN_BACK && restartable)
		return -ERESTARTSYS;
	/* What a daemon may say is an error number, nothing that means more to the kernel. */
	if (request->status > 0 || request->status < -MAX_ERRNO || request->status == -EINTR ||
	    (request->status <= -ERESTARTSYS && request->status >= -ERESTART_RESTARTBLOCK))
		return -EIO;
	return request->status;
}

static long sleep(struct mimic_request *request, bool interruptible, unsigned long timeout)
{
	if (interruptible)
		return wait_for_completion_interruptible_timeout(&request->done, timeout);
	return wait_for_completion_killable_timeout(&request->done, timeout);
}

int mimic_request_wait(struct mimic_connection *connection, struct mimic_request *request,
		       bool restartable, unsigned long timeout)
{
	long left;

	if (spin(connection, request) || announce_sleep(connection, request))
		return result(request, restartable);
	left = sleep(request, restartable, timeout);
	if (left == -ERESTARTSYS && restartable && !fatal_signal_pending(current)) {
		if (take_back(connection, request))
			return result(request, true);
		left = sleep(request, false, timeout);
	}
	if (left > 0)
		return result(request, restartable);
	if (abandon(connection, request) && request->status != MIMIC_BUS_TAKEN_BACK)
		return result(request, restartable);
	return left ? -EINTR : -ETIMEDOUT;
}

int mimic_request_run(struct mimic_connection *connection, struct mimic_request *request,
		      bool restartable, unsigned long timeout)
{
	int error = mimic_request_send(connection, request);

	return error ? error : mimic_request_wait(connection, request, restartable, timeout);
}

void mimic_channel_answer(struct mimic_connection *connection, u32 slot, int status, u64 data,
			  struct file *file)
{
	struct mimic_request *request;
	bool handed_over;

	spin_lock(&connection->lock);
	request = connection->in_slot[slot];
	handed_over = request && request->body.kind == MIMIC_BUS_REQUEST_CONNECT;
	if (test_bit(slot, connection->used))
		finish(connection, slot, status, data, handed_over ? file : NULL);
	spin_unlock(&connection->lock);
	if (file && !handed_over)
		fput(file);
}

/* The file that a CONNECT's answer names; NULL: none. Only in the daemon's context. */
static struct file *answer_file(struct mimic_connection *connection, u32 slot, s32 fd)
{
	bool is_connect;

	spin_lock(&connection->lock);
	is_connect = connection->in_slot[slot] &&
		     connection->in_slot[slot]->body.kind == MIMIC_BUS_REQUEST_CONNECT;
	spin_unlock(&connection->lock);
	return is_connect && fd >= 0 ? fget(fd) : NULL;
}

int mimic_channel_commit(struct mimic_connection *connection, u32 slot)
{
	struct mimic_bus_slot *shared;
	struct file *file;
	bool taken = false;

	if (slot >= MIMIC_BUS_SLOTS)
		return -EINVAL;
	shared = &connection->slots[slot];
	file = answer_file(connection, slot, READ_ONCE(shared->fd));
	spin_lock(&connection->lock);
	if (test_bit(slot, connection->used))
		taken = take_answer(connection, slot, file);
	spin_unlock(&connection->lock);
	if (file && !taken)
		fput(file);
	return 0;
}

bool mimic_channel_has_pending(struct mimic_connection *connection, u32 *slot)
{
	u32 found = find_first_bit(pending_bits(connection), MIMIC_BUS_SLOTS);

	if (found >= MIMIC_BUS_SLOTS)
		found = find_first_bit(cancelled_bits(connection), MIMIC_BUS_SLOTS);
	*slot = found;
	return found < MIMIC_BUS_SLOTS;
}

/*
 * A request that read() takes. One to be cancelled comes again, as it was, with
 * its size 0: whoever knows its slot answers it.
 */
static bool take_request(struct mimic_connection *connection, struct mimic_bus_request *request)
{
	bool taken = false;
	u32 tries, slot;

	spin_lock(&connection->lock);
	/* Bounded: the daemon can set bits as fast as we clear them. */
	for (tries = 0; !taken && tries < MIMIC_BUS_SLOTS; tries++) {
		bool cancelled;

		if (!mimic_channel_has_pending(connection, &slot))
			break;
		cancelled = !test_and_clear_bit(slot, pending_bits(connection));
		if (cancelled && !test_and_clear_bit(slot, cancelled_bits(connection)))
			continue;
		if (!connection->in_slot[slot] && !test_bit(slot, connection->used))
			continue;
		if (connection->in_slot[slot]) {
			*request = connection->in_slot[slot]->body;
		} else {
			memset(request, 0, sizeof(*request));
			request->slot = slot;
			request->kind = MIMIC_BUS_REQUEST_ACCESS;
		}
		if (cancelled)
			request->size = 0;
		taken = true;
	}
	spin_unlock(&connection->lock);
	return taken;
}

ssize_t mimic_channel_read(struct mimic_connection *connection, char __user *buffer, size_t size,
			   bool nonblock)
{
	struct mimic_bus_request request;
	size_t done = 0;
	u32 slot;
	int error;

	if (size < sizeof(request))
		return -EINVAL;
	while (!done) {
		while (size - done >= sizeof(request) && take_request(connection, &request)) {
			if (copy_to_user(buffer + done, &request, sizeof(request))) {
				/* Back to where it was: the next read() takes it. */
				set_bit(request.slot, request.size ? pending_bits(connection) :
								     cancelled_bits(connection));
				return done ? done : -EFAULT;
			}
			done += sizeof(request);
		}
		if (done || nonblock)
			break;
		error = wait_event_interruptible(connection->poll_wait,
						 mimic_channel_has_pending(connection, &slot));
		if (error)
			return error;
	}
	return done ? done : -EAGAIN;
}

ssize_t mimic_channel_write(struct mimic_connection *connection, const char __user *buffer,
			    size_t size)
{
	struct mimic_bus_answer answer;
	size_t done = 0;

	if (!size || size % sizeof(answer))
		return -EINVAL;
	for (; done < size; done += sizeof(answer)) {
		if (copy_from_user(&answer, buffer + done, sizeof(answer)))
			return done ? done : -EFAULT;
		if (answer.slot >= MIMIC_BUS_SLOTS || answer.reserved)
			return done ? done : -EINVAL;
		mimic_channel_answer(connection, answer.slot, answer.status, answer.data,
				     answer_file(connection, answer.slot, answer.fd));
	}
	return done;
}

__poll_t mimic_channel_poll(struct mimic_connection *connection, struct file *file,
			    poll_table *wait)
{
	u32 slot;

	poll_wait(file, &connection->poll_wait, wait);
	return EPOLLOUT | EPOLLWRNORM |
	       (mimic_channel_has_pending(connection, &slot) ? EPOLLIN | EPOLLRDNORM : 0);
}

int mimic_channel_mmap(struct mimic_connection *connection, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start > PAGE_ALIGN(MIMIC_BUS_SLOTS_SIZE))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	return remap_vmalloc_range(vma, connection->header, 0);
}

void mimic_connection_kill(struct mimic_connection *connection)
{
	struct mimic_request *request, *next;
	u32 i;

	spin_lock(&connection->lock);
	connection->dead = true;
	list_for_each_entry_safe(request, next, &connection->waiting, link) {
		list_del_init(&request->link);
		end_request(connection, request, -EIO);
	}
	for (i = 0; i < MIMIC_BUS_SLOTS; i++)
		finish(connection, i, -EIO, 0, NULL);
	spin_unlock(&connection->lock);
	mimic_uring_flush(connection, NULL);
}
