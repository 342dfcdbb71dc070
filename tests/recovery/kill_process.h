/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs that are started without a copy of this one, and their output, which is read through pipes. */
#ifndef TEST_KILL_PROCESS_H
#define TEST_KILL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The output of a program, or of several. */
struct kill_stream {
	int fd;		/* -1: nobody writes to it any more */
	char *text;	/* ends with a zero; NULL: nothing */
	size_t size;	/* bytes of the text */
};

#define KILL_NO_STREAM { .fd = -1 }

/* Its writer's end is *writer, the caller's to close. 0 or -errno. */
int kill_stream_open(struct kill_stream *stream, int *writer);
void kill_stream_close(struct kill_stream *stream);

/*
 * Starts a program that writes to these descriptors. `variables` ("NAME=VALUE", NULL is the last) stand in
 * front of the environment of this process. 0 or -errno.
 */
int kill_process_start(pid_t *pid, char *const *arguments, char *const *variables, int output, int errors);

enum kill_wait {
	KILL_WAIT_DONE,
	KILL_WAIT_TOO_LONG,
	KILL_WAIT_STOPPED,	/* the descriptor `stop` has become readable, or has lost its writer */
};

/* An event that is waited for. */
struct kill_condition {
	bool (*is_met)(const void *data);
	const void *data;
	unsigned int milliseconds;
	int stop;
};

#define KILL_STREAMS 3u

/* Reads from the streams, KILL_STREAMS at most, until the condition is met. */
enum kill_wait kill_streams_wait(struct kill_stream *const *streams, size_t count,
				 const struct kill_condition *condition);

#endif
