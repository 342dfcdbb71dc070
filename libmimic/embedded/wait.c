/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Waiting on the embedded transport: parked accesses, and rings without room. */
#include "libmimic/embedded/embedded.h"

/* Waits for an answer are the model's to tell. */
static void trace_begin(const struct embedded_instance *instance, struct embedded_lane *lane,
			enum embedded_wait waiting)
{
	lane->trace = (struct mimic_trace_source){ .trace = NULL };
	if (waiting == EMBEDDED_WAIT_ANSWER)
		return;
	lane->trace = instance->model->trace;
	MIMIC_TRACE(&lane->trace, ring_block, lane->holder, 0, 0ull, 0u, waiting, 0ull);
}

static void trace_end(struct embedded_lane *lane, int waiting)
{
	if (waiting != EMBEDDED_WAIT_ANSWER)
		MIMIC_TRACE(&lane->trace, ring_wake, lane->holder, 0, 0ull, 0u, 0ull, 0ull);
}

uint64_t mimic_embedded_park(struct embedded_instance *instance, struct embedded_lane *lane,
			     enum embedded_wait waiting, uint64_t wanted)
{
	uint64_t ticket = atomic_load_explicit(&lane->ticket, memory_order_relaxed) + 1;

	atomic_store_explicit(&lane->ticket, ticket, memory_order_relaxed);
	atomic_store_explicit(&lane->state, EMBEDDED_AWAKE, memory_order_relaxed);
	lane->wanted = wanted;
	lane->answer = 0;
	trace_begin(instance, lane, waiting);
	atomic_store_explicit(&lane->waiting, waiting, memory_order_relaxed);
	return ticket;
}

void mimic_embedded_settle(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint32_t state;

	/* release: the answer is there before the state that announces it */
	state = atomic_exchange_explicit(&lane->state, EMBEDDED_SETTLED, memory_order_acq_rel);
	if (state != EMBEDDED_ASLEEP)
		return;
	if (instance->wake_count < EMBEDDED_WAKES)
		instance->wakes[instance->wake_count++] = &lane->state;
	else
		mimic_futex_wake(&lane->state, 1, MIMIC_FUTEX_PRIVATE);
}

void mimic_embedded_abandon(struct embedded_instance *instance, struct embedded_lane *lane)
{
	int waiting = atomic_load_explicit(&lane->waiting, memory_order_relaxed);
	uint64_t ticket = atomic_load_explicit(&lane->ticket, memory_order_relaxed);
	bool settled = atomic_load_explicit(&lane->state, memory_order_relaxed) == EMBEDDED_SETTLED;

	if (waiting == EMBEDDED_WAIT_NONE)
		return;
	if (waiting == EMBEDDED_WAIT_ANSWER && settled)
		lane->kept[ticket % EMBEDDED_KEPT_ANSWERS] =
			(struct embedded_answer) { ticket, lane->answer };
	if (waiting == EMBEDDED_WAIT_ANSWER && !settled && instance->open)
		instance->model->ops->cancel(instance->model, lane->holder, instance->clock.now);
	trace_end(lane, waiting);
	atomic_store_explicit(&lane->waiting, EMBEDDED_WAIT_NONE, memory_order_relaxed);
	atomic_store_explicit(&lane->state, EMBEDDED_AWAKE, memory_order_relaxed);
	/* The interrupted access must not take this state for its own. */
	atomic_store_explicit(&lane->ticket, ticket + 1, memory_order_relaxed);
}

bool mimic_embedded_has_news(struct embedded_instance *instance)
{
	struct embedded_lane *lane;

	if (atomic_load_explicit(&instance->busy, memory_order_relaxed))
		return true;
	for (lane = atomic_load_explicit(&instance->lanes, memory_order_acquire); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (atomic_load_explicit(&lane->in_use, memory_order_relaxed) &&
		    !atomic_load_explicit(&lane->blocked, memory_order_relaxed) &&
		    !mimic_ring_is_empty(&lane->ring))
			return true;
	}
	return false;
}

/* The same for a thread of the program. */
static bool has_news(struct embedded_instance *instance)
{
	return mimic_embedded_has_news(instance) || mimic_embedded_jobs_need_help(instance);
}

static bool worker_is_elsewhere(struct embedded_jobs *jobs)
{
	for (unsigned int i = 0; i < jobs->most; i++) {
		struct embedded_worker *worker = &jobs->worker[i];

		if (atomic_load_explicit(&worker->state, memory_order_relaxed) == EMBEDDED_AWAKE &&
		    mimic_cpu_is_elsewhere(atomic_load_explicit(&worker->cpu, memory_order_relaxed)))
			return true;
	}
	return false;
}

bool mimic_embedded_peer_is_elsewhere(struct embedded_instance *instance, struct embedded_lane *self)
{
	struct embedded_lane *lane;

	/* CPUs that are all at work have none for a thread that spins. */
	if (instance->jobs.kind &&
	    atomic_load_explicit(&instance->jobs.out, memory_order_relaxed) >= instance->jobs.cpus)
		return false;
	/* A worker (which has no lane) is no peer of itself. */
	if (self && instance->jobs.kind && worker_is_elsewhere(&instance->jobs))
		return true;
	for (lane = atomic_load_explicit(&instance->lanes, memory_order_acquire); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (lane != self && atomic_load_explicit(&lane->in_use, memory_order_relaxed) &&
		    mimic_cpu_is_elsewhere(atomic_load_explicit(&lane->cpu, memory_order_relaxed)))
			return true;
	}
	return false;
}

/* Drains for a thread that waits. Not mimic_embedded_enter(): that would withdraw the wait. */
static void serve(struct embedded_instance *instance, struct embedded_lane *lane)
{
	if (instance->jobs.kind) {
		mimic_embedded_jobs_help(instance, lane);
		return;
	}
	if (mimic_embedded_lock(instance, lane))
		return;
	if (instance->open)
		mimic_embedded_drain(instance);
	mimic_embedded_leave(instance);
}

bool mimic_embedded_is_over(struct embedded_lane *lane, uint64_t ticket)
{
	return atomic_load_explicit(&lane->ticket, memory_order_relaxed) != ticket ||
	       atomic_load_explicit(&lane->state, memory_order_acquire) == EMBEDDED_SETTLED;
}

static bool take_kept(struct embedded_lane *lane, uint64_t ticket, uint64_t *answer)
{
	const struct embedded_answer *kept = &lane->kept[ticket % EMBEDDED_KEPT_ANSWERS];

	*answer = kept->data;
	return kept->ticket == ticket;
}

static bool take(struct embedded_lane *lane, uint64_t ticket, uint64_t *answer)
{
	*answer = lane->answer;
	/*
	 * A signal handler's access between mimic_embedded_is_over() and here has moved the
	 * answer away. Only this thread changes its ticket, so looking after
	 * reading is enough.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&lane->ticket, memory_order_relaxed) != ticket)
		return take_kept(lane, ticket, answer);
	trace_end(lane, atomic_load_explicit(&lane->waiting, memory_order_relaxed));
	atomic_store_explicit(&lane->waiting, EMBEDDED_WAIT_NONE, memory_order_relaxed);
	return true;
}

static void spin_for(struct embedded_instance *instance, struct embedded_lane *lane, uint64_t ticket,
		     struct mimic_wait *wait)
{
	struct mimic_spin spin;

	mimic_spin_start(&spin, instance->spin_microseconds,
			 mimic_embedded_peer_is_elsewhere(instance, lane));
	do {
		if (mimic_embedded_is_over(lane, ticket))
			return;
		if (!has_news(instance))
			continue;
		serve(instance, lane);
		/* A thread works on it: spin as long again. */
		mimic_spin_start(&spin, instance->spin_microseconds,
				 mimic_embedded_peer_is_elsewhere(instance, lane));
		/* Others may be at work for ever, and never for us. The end of the spin is as good as the
		 * clock. */
		if (spin.end && mimic_wait_is_due(wait, spin.end))
			mimic_embedded_explain(instance, lane, ticket, wait);
	} while (mimic_spin_step(&spin));
}

static void sleep_for(struct embedded_instance *instance, struct embedded_lane *lane, uint64_t ticket,
		      struct mimic_wait *wait)
{
	uint32_t state = EMBEDDED_AWAKE;

	if (mimic_embedded_is_over(lane, ticket) ||
	    !atomic_compare_exchange_strong(&lane->state, &state, EMBEDDED_ASLEEP))
		return;
	atomic_store(&instance->sleepers, 1);
	/*
	 * Pairs with the light fence of mimic_embedded_notify(): either the poster sees
	 * `sleepers`, or we see its words.
	 */
	mimic_fence_heavy();
	if (has_news(instance))
		serve(instance, lane);
	else
		mimic_futex_wait(&lane->state, EMBEDDED_ASLEEP, mimic_wait_limit(wait), MIMIC_FUTEX_PRIVATE);
	state = EMBEDDED_ASLEEP;
	if (atomic_load_explicit(&lane->ticket, memory_order_relaxed) == ticket)
		atomic_compare_exchange_strong(&lane->state, &state, EMBEDDED_AWAKE);
}

bool mimic_embedded_await(struct embedded_instance *instance, struct embedded_lane *lane,
			  uint64_t ticket, uint64_t *answer)
{
	struct mimic_wait wait = { 0 };

	/* Threads that left the lock to this one need not any more. */
	atomic_fetch_add_explicit(&instance->pauses, 1, memory_order_relaxed);
	while (!mimic_embedded_is_over(lane, ticket)) {
		spin_for(instance, lane, ticket, &wait);
		if (mimic_embedded_is_over(lane, ticket))
			break;
		sleep_for(instance, lane, ticket, &wait);
		if (!mimic_embedded_is_over(lane, ticket) && mimic_wait_has_to_tell(&wait))
			mimic_embedded_explain(instance, lane, ticket, &wait);
	}
	return take(lane, ticket, answer);
}

/* With the lock: forget sleepers that are none any more. */
static void count_sleepers(struct embedded_instance *instance)
{
	struct embedded_lane *lane;

	/*
	 * First 0, then look: a thread that falls asleep after we looked says so after
	 * our 0 (both sides sequentially consistent).
	 */
	atomic_store(&instance->sleepers, instance->jobs.asleep > 0);
	for (lane = atomic_load_explicit(&instance->lanes, memory_order_relaxed); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (atomic_load(&lane->state) == EMBEDDED_ASLEEP)
			atomic_store(&instance->sleepers, 1);
	}
}

void mimic_embedded_notify(struct embedded_instance *instance, struct embedded_lane *lane)
{
	mimic_fence_light();
	if (!atomic_load_explicit(&instance->sleepers, memory_order_relaxed))
		return;
	if (mimic_embedded_lock(instance, lane))
		return;
	if (instance->open)
		mimic_embedded_drain(instance);
	count_sleepers(instance);
	mimic_embedded_leave(instance);
}
