/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The inside of mimic_embedded_enter() and mimic_embedded_leave(), for the function that makes an access: as
 * calls they would store registers for each other, which takes a tenth of an access.
 */
#ifndef LIBMIMIC_EMBEDDED_SECTION_H
#define LIBMIMIC_EMBEDDED_SECTION_H

#include <errno.h>

#include "libmimic/base/hold.h"
#include "libmimic/embedded/embedded.h"

/* After an attempt to take the lock that has failed. */
int mimic_embedded_take_later(struct embedded_instance *instance, uint32_t holder);
/* Releases the lock, and wakes the threads of instance->wakes. */
void mimic_embedded_release_and_wake(struct embedded_instance *instance);

static inline int mimic_embedded_section_take(struct embedded_instance *instance, uint32_t holder)
{
	mimic_hold_begin();
	if (mimic_lock_try(&instance->lock, holder))
		return 0;
	return mimic_embedded_take_later(instance, holder);
}

static inline int mimic_embedded_section_lock_as(struct embedded_instance *instance, uint32_t holder)
{
	int error = mimic_embedded_section_take(instance, holder);

	if (!error && instance->reads_clock)
		mimic_now_recent(&instance->clock);
	return error;
}

static inline int mimic_embedded_section_lock(struct embedded_instance *instance, struct embedded_lane *lane)
{
	int error = mimic_embedded_section_lock_as(instance, lane->holder), cpu;

	if (error)
		return error;
	/* The lock's holder is this thread. */
	cpu = atomic_load_explicit(&instance->lock.cpu, memory_order_relaxed);
	if (atomic_load_explicit(&lane->cpu, memory_order_relaxed) != cpu)
		atomic_store_explicit(&lane->cpu, cpu, memory_order_relaxed);
	return 0;
}

static inline int mimic_embedded_section_enter(struct embedded_instance *instance, struct embedded_lane *lane)
{
	int error = mimic_embedded_section_lock(instance, lane);

	if (error)
		return error;
	if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) != EMBEDDED_WAIT_NONE)
		mimic_embedded_abandon(instance, lane);
	if (!instance->open) {
		mimic_embedded_leave(instance);
		return -ENODEV;
	}
	if (!mimic_embedded_is_quiet(instance))
		mimic_embedded_drain(instance);
	return 0;
}

/* Written only if it is another: threads that wait look at it again and again. */
static inline void mimic_embedded_section_tell_busy(struct embedded_instance *instance)
{
	bool busy = instance->open && instance->model->ops->busy(instance->model);

	if (atomic_load_explicit(&instance->busy, memory_order_relaxed) != busy)
		atomic_store_explicit(&instance->busy, busy, memory_order_relaxed);
}

static inline void mimic_embedded_section_leave(struct embedded_instance *instance)
{
	if (instance->events_raised)
		mimic_embedded_events_signal(instance);
	if (instance->jobs.kind)
		mimic_embedded_jobs_settle(instance, false);
	mimic_embedded_section_tell_busy(instance);
	if (instance->wake_count)
		mimic_embedded_release_and_wake(instance);
	else
		mimic_lock_release(&instance->lock);
	/* Not before: a handler that jumps away would leave them asleep. */
	mimic_hold_end();
}

#endif
