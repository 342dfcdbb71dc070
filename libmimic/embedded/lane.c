/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes of the embedded transport: how a thread gets one, enters with it, and leaves it. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/hold.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/base/thread.h"
#include "libmimic/embedded/embedded.h"
#include "libmimic/embedded/section.h"

static size_t lane_size(void)
{
	return sizeof(struct embedded_lane) + EMBEDDED_RING_WORDS * sizeof(uint64_t);
}

static struct embedded_lane *make_lane(struct embedded_instance *instance)
{
	struct embedded_lane *lane;
	int saved = errno;

	/* No malloc(): this may be a signal handler. Only touched pages of the ring cost memory. */
	lane = mmap(NULL, lane_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (lane == MAP_FAILED)
		return NULL;
	mimic_ring_attach(&lane->producer, &lane->ring, EMBEDDED_RING_WORDS);
	mimic_ring_attach(&lane->consumer, &lane->ring, EMBEDDED_RING_WORDS);
	atomic_init(&lane->in_use, false);
	atomic_init(&lane->next, atomic_load_explicit(&instance->lanes, memory_order_relaxed));
	/* release: a thread that walks the list without the lock sees a whole lane */
	atomic_store_explicit(&instance->lanes, lane, memory_order_release);
	return lane;
}

static struct embedded_lane *find_unused(struct embedded_instance *instance)
{
	struct embedded_lane *lane;

	for (lane = atomic_load_explicit(&instance->lanes, memory_order_relaxed); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (!atomic_load_explicit(&lane->in_use, memory_order_relaxed))
			return lane;
	}
	return make_lane(instance);
}

/* With the lock. */
static void trace_thread(struct embedded_instance *instance, const struct embedded_lane *lane)
{
	struct mimic_trace_source *trace;

	if (!instance->open)
		return;
	trace = &instance->model->trace;
	if (mimic_trace_now(trace))
		MIMIC_TRACE(trace, thread, lane->holder, 0, 0ull, 0u,
			    mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0), 0ull);
}

int mimic_embedded_take_later(struct embedded_instance *instance, uint32_t holder)
{
	int error = mimic_lock_wait(&instance->lock, holder, &instance->pauses);

	if (error)
		mimic_hold_end();
	return error;
}

int mimic_embedded_take(struct embedded_instance *instance, uint32_t holder)
{
	return mimic_embedded_section_take(instance, holder);
}

bool mimic_embedded_try(struct embedded_instance *instance, uint32_t holder)
{
	mimic_hold_begin();
	if (mimic_lock_try(&instance->lock, holder))
		return true;
	mimic_hold_end();
	return false;
}

void mimic_embedded_release(struct embedded_instance *instance)
{
	mimic_lock_release(&instance->lock);
	mimic_hold_end();
}

struct embedded_lane *mimic_embedded_lane_make(struct embedded_instance *instance, int *error)
{
	struct mimic_thread *thread = mimic_thread_self();
	struct embedded_lane *lane;

	*error = -ENOMEM;
	if (!thread)
		return NULL;
	*error = mimic_embedded_take(instance, thread->number);
	if (*error)
		return NULL;
	/* Again: a signal handler may have come before us. */
	lane = thread->lanes[instance->slot];
	if (!lane)
		lane = find_unused(instance);
	if (lane) {
		lane->holder = thread->number;
		lane->tid = (uint32_t)mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
		atomic_store_explicit(&lane->cpu, mimic_cpu_current(), memory_order_relaxed);
		atomic_store_explicit(&lane->in_use, true, memory_order_relaxed);
		thread->lanes[instance->slot] = lane;
		trace_thread(instance, lane);
	}
	mimic_embedded_release(instance);
	*error = lane ? 0 : -ENOMEM;
	return lane;
}

int mimic_embedded_lock_as(struct embedded_instance *instance, uint32_t holder)
{
	return mimic_embedded_section_lock_as(instance, holder);
}

int mimic_embedded_lock(struct embedded_instance *instance, struct embedded_lane *lane)
{
	return mimic_embedded_section_lock(instance, lane);
}

int mimic_embedded_enter(struct embedded_instance *instance, struct embedded_lane *lane)
{
	return mimic_embedded_section_enter(instance, lane);
}

void mimic_embedded_release_and_wake(struct embedded_instance *instance)
{
	_Atomic uint32_t *wakes[EMBEDDED_WAKES];
	unsigned int count = instance->wake_count;

	for (unsigned int i = 0; i < count; i++)
		wakes[i] = instance->wakes[i];
	instance->wake_count = 0;
	mimic_lock_release(&instance->lock);
	/* Without the lock, because a wake-up costs its caller microseconds. Lanes never go away. */
	for (unsigned int i = 0; i < count; i++)
		mimic_futex_wake(wakes[i], 1, MIMIC_FUTEX_PRIVATE);
}

void mimic_embedded_leave(struct embedded_instance *instance)
{
	mimic_embedded_section_leave(instance);
}

void mimic_embedded_lane_end(struct embedded_instance *instance, struct embedded_lane *lane)
{
	/* -EDEADLK: the thread was torn out of the section by a longjmp; nothing can be saved. */
	if (mimic_embedded_lock(instance, lane))
		return;
	mimic_embedded_abandon(instance, lane);
	lane->ending = true;
	lane->at_rest = false;
	if (instance->open)
		mimic_embedded_drain(instance);
	else
		mimic_embedded_discard(instance);
	mimic_embedded_leave(instance);
}
