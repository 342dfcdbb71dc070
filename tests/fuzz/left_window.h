/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The window and the descriptors that a daemon has left which was killed: it had a program with devices of
 * all kinds, a lane and memory. They can be had any number of times.
 */
#ifndef TESTS_FUZZ_LEFT_WINDOW_H
#define TESTS_FUZZ_LEFT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/journal/internal.h"
#include "daemon/recovery/store.h"
#include "daemon/server.h"

#define LEFT_LOGS 2u	/* of two threads */
#define LEFT_LOG_BYTES 65536u
#define LEFT_STORED_MOST 64u

struct left_window {
	union {
		struct mimicd_window window;
		unsigned char header[sizeof(struct mimicd_window)];
	};
	unsigned char *heap;	/* the records there */
	size_t heap_bytes;
	/* Far behind them, where the entries of a log do not come. */
	const unsigned char *models;
	size_t model_bytes;
	unsigned char log[LEFT_LOGS][LEFT_LOG_BYTES];
	uint64_t program;	/* its number */
	/* Of the supervisor's descriptors. */
	size_t stored_count;
	char names[LEFT_STORED_MOST][MIMICD_STORE_NAME_MAX + 1];
	bool is_dropped[LEFT_STORED_MOST];
};

/* Once, before the others: this process is that daemon. */
void left_window_make(void);
void left_window_options(struct mimicd_options *options);
/* A copy, to be changed. left_window_free() */
struct left_window *left_window_copy(void);
void left_window_free(struct left_window *left);
/*
 * The devices' sum is right again, if the records are where they were; and so are the models, of which
 * nothing but the sum says where they lie.
 */
void left_window_sign(struct left_window *copy);
/*
 * Its descriptors as a supervisor gives them to the next daemon. *program: the other end of its program's
 * socket.
 */
struct mimicd_stored *left_window_store(const struct left_window *left, size_t *count, int *program);
/* The supervisor has read all that it was told: descriptors that came along are closed. */
void left_window_settle(void);

#endif
