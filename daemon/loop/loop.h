/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The loop of the daemon's main thread: it waits for descriptors (epoll) and calls the
 * function that is registered for each. It knows nothing of devices. The work that goes on beside
 * the descriptors is registered too (struct mimicd_loop_work).
 */
#ifndef MIMICD_LOOP_H
#define MIMICD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* The function that is called when a descriptor is ready. */
struct mimicd_source {
	void (*ready)(void *context);	/* NULL: it wakes the loop, that is all */
	void *context;
};

/* The work beside the descriptors. All calls come from the loop's thread. */
struct mimicd_loop_work {
	/*
	 * Works until nothing has come for so long that the loop should sleep (true), or
	 * until the descriptors have waited long enough (false).
	 */
	bool (*run)(void *context);
	/* Each time before the descriptors are polled: the place to free objects that have ended. */
	void (*prepare)(void *context);
	/* The loop is about to sleep. false: there is work after all, and wake() does not come. */
	bool (*sleep)(void *context);
	/* It has slept. The descriptors are handled after this. */
	void (*wake)(void *context);
	/* Before a source is called, and after all of those that had something were. */
	void (*begin)(void *context);
	void (*end)(void *context);
};

struct mimicd_closer;

struct mimicd_loop {
	struct mimicd_closer *closer;	/* of descriptors that clients made */
	int epoll_fd;
	int stop_fd;	/* eventfd */
	struct mimicd_source stop_source;
	bool is_stopping;
	uint64_t events;	/* of descriptors, handled so far */
	uint64_t polls;		/* how often they were asked for */
	const struct mimicd_loop_work *work;
	void *work_context;
};

/* 0 or -errno. After either, mimicd_loop_destroy(). */
int mimicd_loop_create(struct mimicd_loop *loop);
void mimicd_loop_destroy(struct mimicd_loop *loop);

/* Until mimicd_loop_stop(). There must be work. 0 or -errno. */
int mimicd_loop_run(struct mimicd_loop *loop);
/* From any thread or a signal handler. */
void mimicd_loop_stop(struct mimicd_loop *loop);
/* Serves the descriptors that are ready now, without waiting. Returns how many had something, or -errno. */
int mimicd_loop_poll(struct mimicd_loop *loop);

/* Adds a descriptor, with the events of epoll that are wanted. 0 or -errno. */
int mimicd_loop_watch(struct mimicd_loop *loop, int fd, uint32_t events, struct mimicd_source *source);
/*
 * Takes it out again, before it is closed: while another process holds the same open file (a
 * client its eventfd), closing ours would not. An event of it that is already there may
 * still be handled: a source has to stay until the next prepare().
 */
void mimicd_loop_forget(struct mimicd_loop *loop, int fd);

#endif
