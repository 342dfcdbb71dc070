/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/errands.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/engine/asleep.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/wait.h"

#define HELPERS_MAX 64
/* Thread-local storage of all libraries lies in it, too: plugins may have some, and OpenBLAS has much. */
#define STACK_BYTES (1 << 20)
/* A helper that has had nothing to do for so long ends. */
#define IDLE_NS 2000000000ull
#define DESTROY_MS 200
/* A helper that has just run one looks for the next so long: they come in runs. */
#define SPIN_MICROSECONDS 20u

enum { SENT, AWAITED, LEFT, OVER };
enum { NOTHING, GO, END, ASLEEP };	/* the last: nothing, and it has to be woken */

struct mimicd_errand_helper {
	struct mimicd_errand_helper *next;	/* of the idle ones */
	struct mimicd_errands *errands;
	struct mimicd_errand *errand;
	_Atomic uint32_t bell;
};

static unsigned int spin_of(const struct mimicd_errands *errands)
{
	return mimic_cpu_count() > 1 && errands->spin_microseconds ? SPIN_MICROSECONDS : 0;
}

/* --- helpers ----------------------------------------------------------------- */

void mimicd_errands_return(struct mimicd_errands *errands, struct mimicd_errand *errand)
{
	const uint64_t one = 1;

	errand->next = NULL;
	*errands->last = errand;
	errands->last = &errand->next;
	(void)!write(errands->wake_fd, &one, sizeof(one));
}

static void end_errand(struct mimicd_errands *errands, struct mimicd_errand *errand)
{
	/* release: its results are there. Afterwards it is not ours, unless its sender has left it. */
	uint32_t state = atomic_exchange_explicit(&errand->state, OVER, memory_order_acq_rel);

	if (state == AWAITED)
		mimic_futex_wake(&errand->state, 1, MIMIC_FUTEX_PRIVATE);
	if (state != LEFT)
		return;
	pthread_mutex_lock(&errands->lock);
	mimicd_errands_return(errands, errand);
	pthread_mutex_unlock(&errands->lock);
}

/* It is among the idle ones no more. false: it was not, and is called now. */
static bool leave_idle(struct mimicd_errand_helper *helper)
{
	struct mimicd_errand_helper **link;

	pthread_mutex_lock(&helper->errands->lock);
	link = &helper->errands->idle;
	while (*link && *link != helper)
		link = &(*link)->next;
	if (*link)
		*link = helper->next;
	pthread_mutex_unlock(&helper->errands->lock);
	return atomic_load(&helper->bell) == ASLEEP;
}

static uint32_t wait_for_bell(struct mimicd_errand_helper *helper)
{
	struct mimic_spin spin;
	uint32_t bell = NOTHING;

	mimic_spin_start(&spin, spin_of(helper->errands), spin_of(helper->errands));
	if (spin.end)
		mimic_yield(&helper->errands->yields);
	while (atomic_load_explicit(&helper->bell, memory_order_acquire) == NOTHING && spin.end &&
	       mimic_spin_step_yielding(&spin, &helper->errands->yields))
		;
	if (!atomic_compare_exchange_strong(&helper->bell, &bell, ASLEEP))
		return bell;
	for (;;) {
		int error = mimic_futex_wait(&helper->bell, ASLEEP, IDLE_NS, MIMIC_FUTEX_PRIVATE);

		bell = atomic_load_explicit(&helper->bell, memory_order_acquire);
		if (bell != ASLEEP)
			return bell;
		if (error == -ETIMEDOUT && leave_idle(helper))
			return END;
	}
}

static void *help(void *context)
{
	struct mimicd_errand_helper *helper = context;
	struct mimicd_errands *errands = helper->errands;
	const int self = (int)gettid();

	while (wait_for_bell(helper) == GO) {
		struct mimicd_errand *errand = helper->errand;

		atomic_store(&errand->helper, self);
		errand->run(errand);
		atomic_store(&errand->helper, 0);
		atomic_store(&helper->bell, NOTHING);
		/* Idle first: the thread that waits for this errand may send the next one. */
		pthread_mutex_lock(&errands->lock);
		helper->next = errands->idle;
		errands->idle = helper;
		if (errands->ends)
			atomic_store(&helper->bell, END);
		pthread_mutex_unlock(&errands->lock);
		end_errand(errands, errand);
	}
	leave_idle(helper);
	pthread_mutex_lock(&errands->lock);
	errands->helpers--;
	pthread_mutex_unlock(&errands->lock);
	free(helper);
	return NULL;
}

/* With the lock. */
static bool start_helper(struct mimicd_errands *errands, struct mimicd_errand *errand)
{
	struct mimicd_errand_helper *helper = malloc(sizeof(*helper));
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	if (!helper)
		return false;
	*helper = (struct mimicd_errand_helper){ .errands = errands, .errand = errand, .bell = GO };
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, help, helper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error)
		free(helper);
	else
		errands->helpers++;
	return !error;
}

static bool call_helper(struct mimicd_errands *errands, struct mimicd_errand *errand)
{
	struct mimicd_errand_helper *helper;
	bool is_called = true;

	pthread_mutex_lock(&errands->lock);
	helper = errands->idle;
	if (helper) {
		errands->idle = helper->next;
		helper->errand = errand;
		/* One that looks for errands has no need of the system call. */
		if (atomic_exchange_explicit(&helper->bell, GO, memory_order_acq_rel) == ASLEEP)
			mimic_futex_wake(&helper->bell, 1, MIMIC_FUTEX_PRIVATE);
	} else {
		is_called = errands->helpers < HELPERS_MAX && start_helper(errands, errand);
	}
	pthread_mutex_unlock(&errands->lock);
	return is_called;
}

/* --- errands ------------------------------------------------------------------ */

/* It takes too long. false: it is over after all. */
static bool leave(struct mimicd_errands *errands, struct mimicd_errand *errand)
{
	uint32_t awaited = AWAITED;
	bool is_left;

	/* With the lock: it cannot come back before leave() has returned. */
	pthread_mutex_lock(&errands->lock);
	is_left = atomic_compare_exchange_strong(&errand->state, &awaited, LEFT);
	if (is_left)
		errand->leave(errand);
	pthread_mutex_unlock(&errands->lock);
	return is_left;
}

static bool is_over(struct mimicd_errand *errand)
{
	return atomic_load_explicit(&errand->state, memory_order_acquire) == OVER;
}

/*
 * On a loaded machine a helper may wait longer for a CPU than a program may make us wait, and that must not look like a
 * fault of the program's.
 */
static bool is_asleep(struct mimicd_errand *errand)
{
	int helper = atomic_load(&errand->helper);

	return helper && mimicd_thread_is_asleep(helper);
}

static int wait_for(struct mimicd_errands *errands, struct mimicd_errand *errand, uint64_t wait_ns)
{
	uint64_t end = mimic_now() + wait_ns, now;
	uint32_t sent = SENT;
	struct mimic_spin spin;

	mimic_spin_start(&spin, spin_of(errands), spin_of(errands));
	if (spin.end)
		mimic_yield(&errands->yields);
	while (!is_over(errand) && spin.end && mimic_spin_step_yielding(&spin, &errands->yields))
		;
	if (!atomic_compare_exchange_strong(&errand->state, &sent, AWAITED))
		return 0;
	while (!is_over(errand)) {
		now = mimic_now();
		if (now >= end && is_asleep(errand))
			return leave(errands, errand) ? -EINPROGRESS : 0;
		if (now >= end)
			end = now + wait_ns;
		mimic_futex_wait(&errand->state, AWAITED, end - now, MIMIC_FUTEX_PRIVATE);
	}
	return 0;
}

int mimicd_errands_send(struct mimicd_errands *errands, struct mimicd_errand *errand, uint64_t wait_ns)
{
	atomic_store(&errand->state, SENT);
	atomic_store(&errand->helper, 0);
	if (!call_helper(errands, errand))
		return -EAGAIN;
	return wait_for(errands, errand, wait_ns);
}

int mimicd_errands_send_away(struct mimicd_errands *errands, struct mimicd_errand *errand)
{
	atomic_store(&errand->state, LEFT);
	atomic_store(&errand->helper, 0);
	return call_helper(errands, errand) ? 0 : -EAGAIN;
}

static void take_back(void *context)
{
	struct mimicd_errands *errands = context;
	struct mimicd_errand *errand;
	uint64_t count;

	(void)!read(errands->wake_fd, &count, sizeof(count));
	pthread_mutex_lock(&errands->lock);
	errand = errands->first;
	errands->first = NULL;
	errands->last = &errands->first;
	pthread_mutex_unlock(&errands->lock);
	while (errand) {
		struct mimicd_errand *next = errand->next;

		errands->came(errands->context, errand);
		errand = next;
	}
}

/* --- their life ----------------------------------------------------------------- */

int mimicd_errands_create(struct mimicd_errands *errands, struct mimicd_loop *loop, unsigned int spin_microseconds)
{
	pthread_mutex_init(&errands->lock, NULL);
	errands->last = &errands->first;
	errands->spin_microseconds = spin_microseconds;
	errands->wake_source = (struct mimicd_source){ take_back, errands };
	errands->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (errands->wake_fd < 0)
		return -errno;
	return mimicd_loop_watch(loop, errands->wake_fd, EPOLLIN, &errands->wake_source);
}

static bool has_helpers(struct mimicd_errands *errands)
{
	unsigned int count;

	pthread_mutex_lock(&errands->lock);
	errands->ends = true;
	for (struct mimicd_errand_helper *helper = errands->idle; helper; helper = helper->next) {
		atomic_store(&helper->bell, END);
		mimic_futex_wake(&helper->bell, 1, MIMIC_FUTEX_PRIVATE);
	}
	count = errands->helpers;
	pthread_mutex_unlock(&errands->lock);
	return count;
}

bool mimicd_errands_destroy(struct mimicd_errands *errands)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	/* It was never made. Not `last`, which helpers change. */
	if (!errands->wake_source.ready)
		return true;
	for (unsigned int i = 0; has_helpers(errands); i++) {
		if (i == DESTROY_MS)
			return false;
		nanosleep(&pause, NULL);
	}
	take_back(errands);
	if (errands->wake_fd >= 0)
		close(errands->wake_fd);
	pthread_mutex_destroy(&errands->lock);
	return true;
}
