/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/closer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_PER_OWNER 2
#define THREADS_MAX 64
/* Thread-local storage of all libraries lies in it, too: plugins may have some, and OpenBLAS has much. */
#define STACK_BYTES (1 << 20)
/* A thread that has found nothing to do for so long ends. */
#define IDLE_SECONDS 2
#define DESTROY_MS 1000

struct item {
	struct item *next;
	int fd;			/* -1: a mapping, or a futex, which has no size */
	void *start;		/* with a descriptor: what is sent by it before, or NULL */
	size_t size;
};

struct owner {
	struct owner *next;
	uint32_t number;
	struct item *first, **end;
	unsigned int count;	/* in the list, or being closed */
	unsigned int threads;	/* that are at it */
};

struct mimicd_closer {
	pthread_mutex_t lock;
	pthread_cond_t called;	/* there is an item, or the threads are to end */
	struct owner *owners;	/* those with items */
	unsigned int threads, idle;
	bool ends;
};

struct mimicd_closer *mimicd_closer_create(void)
{
	struct mimicd_closer *closer = calloc(1, sizeof(*closer));
	pthread_condattr_t attributes;

	if (!closer)
		return NULL;
	pthread_mutex_init(&closer->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&closer->called, &attributes);
	pthread_condattr_destroy(&attributes);
	return closer;
}

/* --- with the lock ------------------------------------------------------------------- */

static struct owner *find_owner(struct mimicd_closer *closer, uint32_t number)
{
	struct owner *owner = closer->owners;

	while (owner && owner->number != number)
		owner = owner->next;
	return owner;
}

static struct owner *get_owner(struct mimicd_closer *closer, uint32_t number)
{
	struct owner *owner = find_owner(closer, number);

	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->number = number;
	owner->end = &owner->first;
	owner->next = closer->owners;
	closer->owners = owner;
	return owner;
}

static void forget_unused(struct mimicd_closer *closer, struct owner *owner)
{
	struct owner **link = &closer->owners;

	if (owner->count)
		return;
	while (*link != owner)
		link = &(*link)->next;
	*link = owner->next;
	free(owner);
}

/* One with items that has not all its threads. NULL: there is none. */
static struct owner *find_waiting(const struct mimicd_closer *closer)
{
	struct owner *owner = closer->owners;

	while (owner && (!owner->first || owner->threads == THREADS_PER_OWNER))
		owner = owner->next;
	return owner;
}

/* The next item of such an owner. NULL: there is none. */
static struct item *take(struct mimicd_closer *closer, struct owner **of)
{
	struct owner *owner = find_waiting(closer);
	struct item *item;

	if (!owner)
		return NULL;
	item = owner->first;
	owner->first = item->next;
	if (!owner->first)
		owner->end = &owner->first;
	owner->threads++;
	*of = owner;
	return item;
}

/* false: nothing came, or the threads are to end. */
static bool wait_for_item(struct mimicd_closer *closer)
{
	struct timespec due;
	int error;

	if (closer->ends)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &due);
	due.tv_sec += IDLE_SECONDS;
	closer->idle++;
	error = pthread_cond_timedwait(&closer->called, &closer->lock, &due);
	closer->idle--;
	/* One may have come when the time was over, and before we had the lock: its signal went to nobody. */
	return !error || find_waiting(closer);
}

/* --- threads ---------------------------------------------------------------------------- */

static void wake(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Without the lock: this is what may take for ever. */
static void finish(struct item *item)
{
	if (item->fd >= 0 && item->start) {
		/* Its program may have gone already; we owe it nothing. */
		(void)!send(item->fd, item->start, item->size, MSG_DONTWAIT | MSG_NOSIGNAL);
		free(item->start);
	}
	if (item->fd >= 0)
		close(item->fd);
	else if (item->size)
		munmap(item->start, item->size);
	else
		wake(item->start);
	free(item);
}

static void *work(void *argument);

/* Without one, items wait for the threads that there are. */
static void start_thread(struct mimicd_closer *closer)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, &attributes, work, closer))
		closer->threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/*
 * With the lock: a thread for an item that one could take. One thread takes items one after the
 * other, but each may be the one that it is lost with: whoever takes one sees to the next.
 */
static void call_thread(struct mimicd_closer *closer)
{
	if (!find_waiting(closer))
		return;
	if (closer->idle)
		pthread_cond_signal(&closer->called);
	else if (closer->threads < THREADS_MAX)
		start_thread(closer);
}

static void *work(void *argument)
{
	struct mimicd_closer *closer = argument;
	struct owner *owner;

	pthread_mutex_lock(&closer->lock);
	for (;;) {
		struct item *item = take(closer, &owner);

		if (item) {
			call_thread(closer);
			pthread_mutex_unlock(&closer->lock);
			finish(item);
			pthread_mutex_lock(&closer->lock);
			owner->threads--;
			owner->count--;
			forget_unused(closer, owner);
		} else if (!wait_for_item(closer)) {
			break;
		}
	}
	closer->threads--;
	pthread_mutex_unlock(&closer->lock);
	return NULL;
}

/* --- items ------------------------------------------------------------------------------- */

static bool hand_over(struct mimicd_closer *closer, uint32_t number, struct item *item)
{
	struct owner *owner;

	pthread_mutex_lock(&closer->lock);
	owner = get_owner(closer, number);
	if (owner) {
		*owner->end = item;
		owner->end = &item->next;
		owner->count++;
		call_thread(closer);
	}
	pthread_mutex_unlock(&closer->lock);
	return owner;
}

static void add(struct mimicd_closer *closer, uint32_t owner, int fd, void *start, size_t size)
{
	struct item *item = malloc(sizeof(*item));

	if (item)
		*item = (struct item){ .fd = fd, .start = start, .size = size };
	if (item && hand_over(closer, owner, item))
		return;
	free(item);
	if (fd >= 0) {
		free(start);
		close(fd);
	} else if (size) {
		munmap(start, size);
	} else {
		wake(start);
	}
}

void mimicd_closer_close(struct mimicd_closer *closer, uint32_t owner, int fd)
{
	add(closer, owner, fd, NULL, 0);
}

void mimicd_closer_send_last(struct mimicd_closer *closer, uint32_t owner, int fd, const void *message, size_t size)
{
	void *copy = malloc(size);

	if (copy)
		memcpy(copy, message, size);
	add(closer, owner, fd, copy, size);
}

void mimicd_closer_unmap(struct mimicd_closer *closer, uint32_t owner, void *start, size_t size)
{
	add(closer, owner, -1, start, size);
}

void mimicd_closer_wake(struct mimicd_closer *closer, uint32_t owner, void *word)
{
	add(closer, owner, -1, word, 0);
}

unsigned int mimicd_closer_backlog(struct mimicd_closer *closer, uint32_t number)
{
	unsigned int count = 0;
	struct owner *owner;

	pthread_mutex_lock(&closer->lock);
	owner = find_owner(closer, number);
	if (owner)
		count = owner->count;
	pthread_mutex_unlock(&closer->lock);
	return count;
}

/* --- the end ------------------------------------------------------------------------------ */

static bool is_used(struct mimicd_closer *closer)
{
	bool is_used;

	pthread_mutex_lock(&closer->lock);
	closer->ends = true;
	pthread_cond_broadcast(&closer->called);
	is_used = closer->threads;
	pthread_mutex_unlock(&closer->lock);
	return is_used;
}

void mimicd_closer_destroy(struct mimicd_closer *closer)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (!closer)
		return;
	for (unsigned int i = 0; is_used(closer); i++) {
		/* Lost threads use it: it is theirs. */
		if (i == DESTROY_MS)
			return;
		nanosleep(&pause, NULL);
	}
	pthread_mutex_destroy(&closer->lock);
	pthread_cond_destroy(&closer->called);
	free(closer);
}
