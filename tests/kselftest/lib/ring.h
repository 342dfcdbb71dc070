/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* io_uring by plain system calls, for the commands of /dev/mimic. */
#ifndef MIMIC_TESTS_RING_H
#define MIMIC_TESTS_RING_H

struct io_uring_sqe;
struct io_uring_cqe;

struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *completions;
};

/* 0 or -errno. The ring goes with its descriptor. */
int ring_create(struct ring *ring);
void ring_destroy(struct ring *ring);
/* A command of struct mimic_bus_command; `tag` comes back with its completion. */
void ring_prepare(struct ring *ring, int fd, unsigned int operation, unsigned int slot,
		  unsigned int reserved, unsigned long tag);
/* Submits `count` prepared ones; waits for a completion if `waits`. 0 or -errno. */
int ring_enter(struct ring *ring, unsigned int count, int waits);
/* The next completion: 1, or 0 if there is none. */
int ring_result(struct ring *ring, int *result, unsigned long *tag);

#endif
