/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "ring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mimic/bus.h"

#define ENTRIES 8

static void *map_ring(int fd, size_t size, off_t offset)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

	return memory == MAP_FAILED ? NULL : memory;
}

int ring_create(struct ring *ring)
{
	struct io_uring_params parameters = { 0 };
	char *sq, *cq;

	ring->fd = (int)syscall(__NR_io_uring_setup, ENTRIES, &parameters);
	if (ring->fd < 0)
		return -errno;
	sq = map_ring(ring->fd, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned int),
		      IORING_OFF_SQ_RING);
	cq = map_ring(ring->fd,
		      parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring->entries = map_ring(ring->fd, parameters.sq_entries * sizeof(struct io_uring_sqe),
				 IORING_OFF_SQES);
	if (!sq || !cq || !ring->entries) {
		close(ring->fd);
		return -ENOMEM;
	}
	ring->sq_tail = (unsigned int *)(sq + parameters.sq_off.tail);
	ring->sq_mask = (unsigned int *)(sq + parameters.sq_off.ring_mask);
	ring->sq_array = (unsigned int *)(sq + parameters.sq_off.array);
	ring->cq_head = (unsigned int *)(cq + parameters.cq_off.head);
	ring->cq_tail = (unsigned int *)(cq + parameters.cq_off.tail);
	ring->cq_mask = (unsigned int *)(cq + parameters.cq_off.ring_mask);
	ring->completions = (struct io_uring_cqe *)(cq + parameters.cq_off.cqes);
	return 0;
}

void ring_destroy(struct ring *ring)
{
	close(ring->fd);
}

void ring_prepare(struct ring *ring, int fd, unsigned int operation, unsigned int slot,
		  unsigned int reserved, unsigned long tag)
{
	unsigned int tail = *ring->sq_tail, place = tail & *ring->sq_mask;
	struct mimic_bus_command command = { .slot = slot, .reserved = reserved };
	struct io_uring_sqe *entry = &ring->entries[place];

	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_URING_CMD;
	entry->fd = fd;
	entry->cmd_op = operation;
	entry->user_data = tag;
	memcpy(entry->cmd, &command, sizeof(command));
	ring->sq_array[place] = place;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

int ring_enter(struct ring *ring, unsigned int count, int waits)
{
	for (;;) {
		long submitted = syscall(__NR_io_uring_enter, ring->fd, count, waits,
					 waits ? IORING_ENTER_GETEVENTS : 0, NULL, 0);

		if (submitted < 0 && errno != EINTR)
			return -errno;
		if (submitted > 0)
			count -= (unsigned int)submitted;
		if (!count && (!waits || __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) != *ring->cq_head))
			return 0;
	}
}

int ring_result(struct ring *ring, int *result, unsigned long *tag)
{
	unsigned int head = *ring->cq_head;
	const struct io_uring_cqe *completion = &ring->completions[head & *ring->cq_mask];

	if (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head)
		return 0;
	*result = completion->res;
	if (tag)
		*tag = completion->user_data;
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return 1;
}
