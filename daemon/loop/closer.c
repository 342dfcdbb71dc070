/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/closer.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/leaver.h"

#ifndef F_GET_SEALS
#define F_GET_SEALS 1034
#endif

/* Of each kind. */
#define THREADS_PER_OWNER 2
#define THREADS_MAX 64
/* Threads for closes that may not end. The others are for closes that end, some for root and our user. */
#define THREADS_STUCK 48
#define THREADS_STUCK_OF_PRIVILEGED 56
/* Thread-local storage of all libraries lies in it, too: plugins may have some, and OpenBLAS has much. */
#define STACK_BYTES (1 << 20)
/* A thread that has found nothing to do for so long ends. */
#define IDLE_SECONDS 2
#define DESTROY_MS 1000

enum ending {
	ENDS,		/* in a moment, or in 50 ms if many watch it */
	MAY_NOT_END,
	ENDINGS
};

struct item {
	struct item *next;
	int fd;			/* -1: a mapping, or a futex, which has no size */
	void *start;		/* with a descriptor: bytes that are sent by it before, or NULL */
	size_t size;
	bool is_ours;		/* a connection's socket, at which we hang up; or a descriptor that we made */
	bool is_socket;
	enum ending ending;
};

struct queue {
	struct item *first, **end;
	unsigned int threads;	/* that are at it */
};

struct owner {
	struct owner *next;
	uint32_t number;
	struct queue queues[ENDINGS];
	unsigned int count;	/* in the queues, or being closed */
};

struct mimicd_closer {
	pthread_mutex_t lock;
	pthread_cond_t called;	/* there is an item, or the threads are to end */
	struct mimicd_leaver *leaver;
	struct owner *owners;	/* those with items */
	unsigned int threads, idle;
	unsigned int stuck;	/* threads with closes that may not end */
	unsigned int waiting[ENDINGS];	/* of all owners: each may be a descriptor */
	unsigned int most[ENDINGS];
	bool ends;
};

static unsigned int descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > UINT_MAX)
		return UINT_MAX;
	return (unsigned int)limit.rlim_cur;
}

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
	closer->most[MAY_NOT_END] = descriptor_limit() / 2;
	closer->most[ENDS] = descriptor_limit() / 4;
	if (closer->most[ENDS] > MIMICD_CLOSER_BACKLOG)
		closer->most[ENDS] = MIMICD_CLOSER_BACKLOG;
	/* Without one, sockets may not end. */
	closer->leaver = mimicd_leaver_create();
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
	for (unsigned int i = 0; i < ENDINGS; i++)
		owner->queues[i].end = &owner->queues[i].first;
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

static bool is_privileged(uint32_t number)
{
	return number == 0 || number == geteuid();
}

static bool may_begin(const struct mimicd_closer *closer, const struct owner *owner, enum ending ending)
{
	const struct queue *queue = &owner->queues[ending];

	if (!queue->first || queue->threads == THREADS_PER_OWNER)
		return false;
	return ending == ENDS ||
	       closer->stuck < (is_privileged(owner->number) ? THREADS_STUCK_OF_PRIVILEGED : THREADS_STUCK);
}

/* One with items that has not all its threads. NULL: there is none. */
static struct owner *find_waiting(const struct mimicd_closer *closer, enum ending *ending)
{
	for (struct owner *owner = closer->owners; owner; owner = owner->next) {
		for (*ending = ENDS; *ending < ENDINGS; ++*ending) {
			if (may_begin(closer, owner, *ending))
				return owner;
		}
	}
	return NULL;
}

static bool is_waiting(const struct mimicd_closer *closer)
{
	enum ending ending;

	return find_waiting(closer, &ending);
}

static void put(struct mimicd_closer *closer, struct owner *owner, struct item *item)
{
	struct queue *queue = &owner->queues[item->ending];

	item->next = NULL;
	*queue->end = item;
	queue->end = &item->next;
	closer->waiting[item->ending]++;
}

/* The next item of such an owner. NULL: there is none. */
static struct item *take(struct mimicd_closer *closer, struct owner **of)
{
	enum ending ending;
	struct owner *owner = find_waiting(closer, &ending);
	struct queue *queue;
	struct item *item;

	if (!owner)
		return NULL;
	queue = &owner->queues[ending];
	item = queue->first;
	queue->first = item->next;
	if (!queue->first)
		queue->end = &queue->first;
	queue->threads++;
	closer->waiting[ending]--;
	closer->stuck += ending == MAY_NOT_END;
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
	/* One may have come when the time was over, and before we had the lock: its signal reached no thread. */
	return !error || is_waiting(closer);
}

/* --- threads ---------------------------------------------------------------------------- */

static void wake(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A program that waits at the other end sees the end now: the socket itself may be closed later. */
static void hang_up(struct item *item)
{
	/* Its program may have gone already; we owe it nothing. */
	if (item->start)
		(void)!send(item->fd, item->start, item->size, MSG_DONTWAIT | MSG_NOSIGNAL);
	free(item->start);
	item->start = NULL;
	shutdown(item->fd, SHUT_RDWR);
}

/* Without the lock, because this may take for ever. false: it is not done, and may not end. */
static bool finish(struct mimicd_closer *closer, struct item *item)
{
	if (item->is_socket && item->is_ours)
		hang_up(item);
	if (item->is_socket && item->ending == ENDS) {
		if (!mimicd_leaver_take(closer->leaver, item->fd)) {
			item->ending = MAY_NOT_END;
			return false;
		}
	} else if (item->fd >= 0) {
		close(item->fd);
	} else if (item->size) {
		munmap(item->start, item->size);
	} else {
		wake(item->start);
	}
	return true;
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
 * With the lock: gets a thread for the next item, if one can be taken. A thread takes items one after the
 * other, but may be lost with any of them: so a thread that takes an item calls another for the next.
 */
static void call_thread(struct mimicd_closer *closer)
{
	if (!is_waiting(closer))
		return;
	if (closer->idle)
		pthread_cond_signal(&closer->called);
	else if (closer->threads < THREADS_MAX)
		start_thread(closer);
}

static void do_one(struct mimicd_closer *closer, struct owner *owner, struct item *item)
{
	enum ending ending = item->ending;
	bool is_done;

	pthread_mutex_unlock(&closer->lock);
	is_done = finish(closer, item);
	pthread_mutex_lock(&closer->lock);
	owner->queues[ending].threads--;
	closer->stuck -= ending == MAY_NOT_END;
	if (is_done) {
		free(item);
		owner->count--;
		forget_unused(closer, owner);
	} else {
		put(closer, owner, item);
	}
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
			do_one(closer, owner, item);
		} else if (!wait_for_item(closer)) {
			break;
		}
	}
	closer->threads--;
	pthread_mutex_unlock(&closer->lock);
	return NULL;
}

/* --- items ------------------------------------------------------------------------------- */

/* By getsockopt(): fstat() of a file of FUSE would wait for its server. */
static bool is_socket(int fd)
{
	socklen_t size = sizeof(int);
	int type;

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
}

/* Only a file in memory alone can be sealed, or can say that it is not. */
static bool is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

static void classify(const struct mimicd_closer *closer, struct item *item)
{
	bool ends = true;

	item->is_socket = item->fd >= 0 && is_socket(item->fd);
	if (item->is_socket)
		ends = closer->leaver;
	else if (item->fd >= 0)
		ends = item->is_ours || is_memory(item->fd);
	item->ending = ends ? ENDS : MAY_NOT_END;
}

static bool hand_over(struct mimicd_closer *closer, uint32_t number, struct item *item)
{
	struct owner *owner;

	pthread_mutex_lock(&closer->lock);
	owner = get_owner(closer, number);
	if (owner) {
		put(closer, owner, item);
		owner->count++;
		call_thread(closer);
	}
	pthread_mutex_unlock(&closer->lock);
	return owner;
}

static void add(struct mimicd_closer *closer, uint32_t owner, const struct item *wanted)
{
	struct item here = *wanted, *item = malloc(sizeof(*item));

	classify(closer, &here);
	if (item)
		*item = here;
	if (item && hand_over(closer, owner, item))
		return;
	free(item);
	if (!finish(closer, &here))
		close(here.fd);
}

void mimicd_closer_close(struct mimicd_closer *closer, uint32_t owner, int fd)
{
	add(closer, owner, &(struct item){ .fd = fd });
}

void mimicd_closer_close_ours(struct mimicd_closer *closer, uint32_t owner, int fd)
{
	add(closer, owner, &(struct item){ .fd = fd, .is_ours = true });
}

void mimicd_closer_hang_up(struct mimicd_closer *closer, uint32_t owner, int fd, const void *message, size_t size)
{
	void *copy = message ? malloc(size) : NULL;

	if (copy)
		memcpy(copy, message, size);
	add(closer, owner, &(struct item){ .fd = fd, .start = copy, .size = size, .is_ours = true });
}

void mimicd_closer_unmap(struct mimicd_closer *closer, uint32_t owner, void *start, size_t size)
{
	add(closer, owner, &(struct item){ .fd = -1, .start = start, .size = size });
}

void mimicd_closer_wake(struct mimicd_closer *closer, uint32_t owner, void *word)
{
	add(closer, owner, &(struct item){ .fd = -1, .start = word });
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

bool mimicd_closer_is_full(struct mimicd_closer *closer, uint32_t number)
{
	const struct owner *owner;
	bool is_full;

	pthread_mutex_lock(&closer->lock);
	owner = find_owner(closer, number);
	is_full = owner && owner->count > MIMICD_CLOSER_BACKLOG;
	if (closer->waiting[MAY_NOT_END] > closer->most[MAY_NOT_END] && !is_privileged(number))
		is_full = true;
	pthread_mutex_unlock(&closer->lock);
	return is_full;
}

bool mimicd_closer_is_busy(struct mimicd_closer *closer)
{
	bool is_busy;

	pthread_mutex_lock(&closer->lock);
	is_busy = closer->threads && closer->waiting[ENDS] > closer->most[ENDS];
	pthread_mutex_unlock(&closer->lock);
	return is_busy;
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
	mimicd_leaver_destroy(closer->leaver);
	pthread_mutex_destroy(&closer->lock);
	pthread_cond_destroy(&closer->called);
	free(closer);
}
