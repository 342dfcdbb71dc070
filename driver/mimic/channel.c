// SPDX-License-Identifier: GPL-2.0
/*
 * A daemon's end of the channel: how it learns of requests and answers them by system calls.
 * connection.c has the life of a daemon, request.c that of a request.
 */
#include <linux/file.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "internal.h"

/* Does a program wait in this slot for a file? connection->lock is held. */
static bool mimic_channel_awaits_file(const struct mimic_connection *connection, u32 slot)
{
	return connection->in_slot[slot] &&
	       connection->in_slot[slot]->body.kind == MIMIC_BUS_REQUEST_CONNECT;
}

void mimic_channel_answer(struct mimic_connection *connection, u32 slot, int status, u64 data,
			  struct file *file)
{
	bool handed_over;

	spin_lock(&connection->lock);
	handed_over = mimic_channel_awaits_file(connection, slot);
	WRITE_ONCE(connection->is_starting, false);
	if (test_bit(slot, connection->used))
		mimic_slot_finish(connection, slot, status, data, handed_over ? file : NULL);
	spin_unlock(&connection->lock);
	if (file && !handed_over)
		fput(file);
}

/* The file that a CONNECT's answer names; NULL: none. Only in the daemon's context. */
static struct file *mimic_channel_answer_file(struct mimic_connection *connection, u32 slot, s32 fd)
{
	bool is_connect;

	spin_lock(&connection->lock);
	is_connect = mimic_channel_awaits_file(connection, slot);
	spin_unlock(&connection->lock);
	return is_connect && fd >= 0 ? fget(fd) : NULL;
}

int mimic_channel_commit(struct mimic_connection *connection, u32 slot)
{
	struct mimic_bus_slot *shared;
	struct file *file;
	bool handed_over;

	if (slot >= MIMIC_BUS_SLOTS)
		return -EINVAL;
	shared = &connection->slots[slot];
	file = mimic_channel_answer_file(connection, slot, READ_ONCE(shared->fd));
	spin_lock(&connection->lock);
	/* The program may have died meanwhile: then no process is there to have it. */
	handed_over = mimic_channel_awaits_file(connection, slot);
	if (test_bit(slot, connection->used))
		handed_over &= mimic_slot_take_answer(connection, slot, handed_over ? file : NULL);
	spin_unlock(&connection->lock);
	if (file && !handed_over)
		fput(file);
	return 0;
}

bool mimic_channel_has_pending(struct mimic_connection *connection, u32 *slot)
{
	u32 found = find_first_bit(mimic_pending_bits(connection), MIMIC_BUS_SLOTS);

	if (found >= MIMIC_BUS_SLOTS)
		found = find_first_bit(mimic_cancelled_bits(connection), MIMIC_BUS_SLOTS);
	*slot = found;
	return found < MIMIC_BUS_SLOTS;
}

/*
 * A request that read() takes. One to be cancelled comes again, as it was, with
 * its size 0: the daemon's thread that knows its slot answers it.
 */
static bool mimic_channel_take_request(struct mimic_connection *connection,
				       struct mimic_bus_request *request)
{
	bool taken = false;
	u32 tries, slot;

	spin_lock(&connection->lock);
	/* Bounded: the daemon can set bits as fast as we clear them. */
	for (tries = 0; !taken && tries < MIMIC_BUS_SLOTS; tries++) {
		bool cancelled;

		if (!mimic_channel_has_pending(connection, &slot))
			break;
		cancelled = !test_and_clear_bit(slot, mimic_pending_bits(connection));
		if (cancelled && !test_and_clear_bit(slot, mimic_cancelled_bits(connection)))
			continue;
		if (!connection->in_slot[slot] && !test_bit(slot, connection->used))
			continue;
		if (connection->in_slot[slot]) {
			*request = connection->in_slot[slot]->body;
		} else {
			/* To be cancelled in any case: once. */
			clear_bit(slot, mimic_cancelled_bits(connection));
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

/* Back to where it was: the next read() takes it. */
static void mimic_channel_give_back(struct mimic_connection *connection,
				    const struct mimic_bus_request *request)
{
	if (request->size)
		set_bit(request->slot, mimic_pending_bits(connection));
	else
		set_bit(request->slot, mimic_cancelled_bits(connection));
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
		while (size - done >= sizeof(request) &&
		       mimic_channel_take_request(connection, &request)) {
			if (copy_to_user(buffer + done, &request, sizeof(request))) {
				mimic_channel_give_back(connection, &request);
				return done ? done : -EFAULT;
			}
			done += sizeof(request);
		}
		if (done)
			break;
		/* Reads of another process: the daemon itself does none any more. */
		if (READ_ONCE(connection->dead))
			return -ENODEV;
		if (nonblock)
			break;
		error = wait_event_interruptible(connection->poll_wait,
						 READ_ONCE(connection->dead) ||
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
				     mimic_channel_answer_file(connection, answer.slot, answer.fd));
	}
	return done;
}

__poll_t mimic_channel_poll(struct mimic_connection *connection, struct file *file,
			    poll_table *wait)
{
	u32 slot;

	poll_wait(file, &connection->poll_wait, wait);
	if (READ_ONCE(connection->dead))
		return EPOLLERR | EPOLLHUP;
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
