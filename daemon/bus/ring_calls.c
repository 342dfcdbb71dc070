/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The only file that knows io_uring. */
#include "daemon/bus/ring_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>

#include "mimic/bus.h"

/* One FETCH is in flight at a time; the rest is room for a commit that follows at once. */
#define RING_ENTRIES 8

struct ring {
	struct io_uring uring;
	int node;
};

int mimicd_ring_create(int fd, void **created, int *poll_fd)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	int error;

	if (!ring)
		return -ENOMEM;
	error = io_uring_queue_init(RING_ENTRIES, &ring->uring, 0);
	if (error) {
		free(ring);
		return error;
	}
	fcntl(ring->uring.ring_fd, F_SETFD, FD_CLOEXEC);
	ring->node = fd;
	*created = ring;
	*poll_fd = ring->uring.ring_fd;
	return 0;
}

int mimicd_ring_fetch(void *context, int slot)
{
	struct ring *ring = context;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
	struct mimic_bus_command *command;
	int submitted;

	if (!sqe)
		return -EBUSY;
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, ring->node, NULL, 0, 0);
	sqe->cmd_op = slot < 0 ? MIMIC_BUS_COMMAND_FETCH : MIMIC_BUS_COMMAND_COMMIT_AND_FETCH;
	command = (struct mimic_bus_command *)sqe->cmd;
	*command = (struct mimic_bus_command){ .slot = slot < 0 ? 0 : (uint32_t)slot };
	submitted = io_uring_submit(&ring->uring);
	return submitted < 0 ? submitted : 0;
}

int mimicd_ring_reap(void *context)
{
	struct ring *ring = context;
	struct io_uring_cqe *cqe;
	int result = 0;

	while (!io_uring_peek_cqe(&ring->uring, &cqe)) {
		if (result >= 0)
			result = cqe->res < 0 ? cqe->res : 1;
		io_uring_cqe_seen(&ring->uring, cqe);
	}
	return result;
}

void mimicd_ring_destroy(void *context)
{
	struct ring *ring = context;

	io_uring_queue_exit(&ring->uring);
	free(ring);
}
