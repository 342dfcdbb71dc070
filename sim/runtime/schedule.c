/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The thread that goes on is the one whose clock is behind all others', after all events up to then.
 *
 * So every access is made when no earlier event can follow. A thread goes on
 * without coming here while its clock is below sim.limit: the next event and the others'
 * clocks. Where two are at one time, events come first, then the thread that runs, then
 * the lower core.
 */
#include "sim/earliest.h"
#include "sim/runtime/internal.h"

struct sim sim;
__thread struct sim_thread *sim_self __attribute__((tls_model("initial-exec")));

/* Of the threads that are ready, but do not run: when each can go on, by its core. */
static struct soc_earliest ready;
static uint64_t deadlines;	/* a bit for the core of each thread that waits for its deadline, too */

void sim_schedule_begin(void)
{
	soc_earliest_init(&ready, sim.cores);
}

enum event { EVENT_NONE, EVENT_DEVICE, EVENT_ARRIVAL, EVENT_DEADLINE };

struct next_event {
	enum event event;
	uint64_t time;
	uint64_t then;		/* no other event is earlier than this */
	unsigned int number;	/* of the device, else of the core */
};

static bool is_ready(const struct sim_thread *thread)
{
	return thread && thread->wait == SIM_RUNS;
}

static void take_earlier(struct next_event *next, enum event event, uint64_t time, unsigned int number)
{
	if (time < next->time)
		*next = (struct next_event){ event, time, next->time, number };
	else if (time < next->then)
		next->then = time;
}

static struct next_event find_event(void)
{
	struct next_event next = { .event = EVENT_NONE, .time = SIM_NEVER, .then = SIM_NEVER };

	for (unsigned int number = 0; number < sim.device_count; number++) {
		const struct sim_device *device = &sim.devices[number];

		if (device->timed)
			take_earlier(&next, EVENT_DEVICE, device->time->next(device->timed), number);
	}
	for (uint64_t left = sim.arriving | deadlines; left; left &= left - 1) {
		unsigned int core = (unsigned int)__builtin_ctzll(left);

		if (sim.arriving >> core & 1)
			take_earlier(&next, EVENT_ARRIVAL, sim.channels[core].arrival, core);
		if (deadlines >> core & 1)
			take_earlier(&next, EVENT_DEADLINE, sim.on_core[core]->deadline, core);
	}
	return next;
}

static struct sim_thread *find_thread(uint64_t *clock)
{
	struct sim_thread *found = NULL;

	*clock = SIM_NEVER;
	if (is_ready(sim.current)) {
		found = sim.current;
		*clock = core_now(found->on);
	}
	if (soc_earliest_time(&ready) < *clock) {
		*clock = soc_earliest_time(&ready);
		found = sim.on_core[soc_earliest_number(&ready)];
	}
	return found;
}

/* The thread is the one that runs. */
static void make_current(struct sim_thread *thread)
{
	if (thread == sim.current)
		return;
	if (is_ready(sim.current))
		soc_earliest_set(&ready, sim.current->core, core_now(sim.current->on));
	soc_earliest_set(&ready, thread->core, SIM_NEVER);
	sim.current = thread;
}

/*
 * The one that is likely to be next. With many cores its state has left the processor's first cache since it ran, and can come
 * back there while the current one runs.
 */
static void prefetch_next(void)
{
	const struct sim_thread *next;
	const struct soc_core *core;

	if (soc_earliest_time(&ready) == SIM_NEVER)
		return;
	next = sim.on_core[soc_earliest_number(&ready)];
	core = next->on;
	__builtin_prefetch((const char *)next->stack_pointer);
	__builtin_prefetch((const char *)next->stack_pointer + 64);
	__builtin_prefetch(&core->counters);
	__builtin_prefetch(&core->tlb);
	if (next->pending)
		core_prefetch(core, next->pending);
}

static void set_limit(uint64_t event_time)
{
	uint64_t other = soc_earliest_time(&ready);

	sim.limit = event_time;
	if (other < sim.limit)
		sim.limit = other + 1;
	if (sim.cycle_limit < sim.limit)
		sim.limit = sim.cycle_limit;
	if (sim.next_interval < sim.limit)
		sim.limit = sim.next_interval;
}

static void time_out(struct sim_thread *thread)
{
	thread->is_timed_out = true;
	sim_wake(thread, thread->deadline);
}

static uint64_t smallest(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

/* Runs its events before any other event. `clock`: of the first thread. */
static void do_device(const struct next_event *next, uint64_t clock)
{
	const struct sim_device *device = &sim.devices[next->number];
	uint64_t until = smallest(next->then, clock, smallest(sim.cycle_limit, sim.next_interval, SIM_NEVER));

	if (!device->time->advance_until || until <= next->time)
		device->time->advance(device->timed, next->time);
	else
		sim.now = device->time->advance_until(device->timed, until);
}

static void do_event(const struct next_event *next, uint64_t clock)
{
	if (next->time > sim.now)
		sim.now = next->time;
	switch (next->event) {
	case EVENT_NONE:
		break;
	case EVENT_DEVICE:
		do_device(next, clock);
		break;
	case EVENT_ARRIVAL:
		sim_device_arrive(next->number);
		break;
	case EVENT_DEADLINE:
		time_out(sim.on_core[next->number]);
		break;
	}
}

/* The thread that runs next. */
static struct sim_thread *choose(void)
{
	for (;;) {
		struct next_event next = find_event();
		uint64_t clock;
		struct sim_thread *thread = find_thread(&clock);

		if (!thread && next.event == EVENT_NONE)
			sim_deadlock();
		if ((clock < next.time ? clock : next.time) >= sim.cycle_limit) {
			sim_say("the limit of %llu cycles is reached", (unsigned long long)sim.cycle_limit);
			sim_end_with(SIM_CYCLE_LIMIT);
		}
		if ((clock < next.time ? clock : next.time) >= sim.next_interval)
			sim_intervals_reach(clock < next.time ? clock : next.time);
		if (next.event == EVENT_NONE || clock < next.time) {
			make_current(thread);
			prefetch_next();
			set_limit(next.time);
			return thread;
		}
		do_event(&next, clock);
	}
}

void sim_arrived(void)
{
	struct sim_thread *ended = sim.ended;

	sim.ended = NULL;
	if (ended)
		sim_coroutine_release(ended);
}

static void go_on(struct sim_thread *self, struct sim_thread *next)
{
	if (next == self)
		return;
	sim_coroutine_switch(self, next);
}

void sim_schedule(struct sim_thread *self)
{
	struct sim_thread *next = choose();

	if (next == self)
		return;
	go_on(self, next);
	sim_arrived();
}

bool sim_block(struct sim_thread *self, enum sim_wait wait, const void *object, uint64_t deadline)
{
	self->wait = wait;
	self->object = object;
	self->deadline = deadline;
	self->since = soc_now(sim.soc, self->core);
	self->order = ++sim.order;
	self->is_timed_out = false;
	deadlines |= (uint64_t)(deadline != SIM_NEVER) << self->core;
	sim_schedule(self);
	return !self->is_timed_out;
}

void sim_wake(struct sim_thread *thread, uint64_t time)
{
	uint64_t now;

	thread->wait = SIM_RUNS;
	deadlines &= ~(1ull << thread->core);
	thread->deadline = SIM_NEVER;
	soc_sleep_until(sim.soc, thread->core, time);
	now = soc_now(sim.soc, thread->core) + 1;
	if (thread != sim.current)
		soc_earliest_set(&ready, thread->core, now - 1);
	if (now < sim.limit)
		sim.limit = now;
}

static bool is_alone(const struct sim_thread *self)
{
	for (unsigned int core = 0; core < sim.cores; core++)
		if (sim.on_core[core] && sim.on_core[core] != self)
			return false;
	return true;
}

void sim_spins(struct sim_thread *self)
{
	uint64_t now = core_now(self->on), next = find_event().time;

	self->free_loads = 0;
	if (self->free_since != now || is_alone(self)) {
		self->free_since = now;
		return;
	}
	if (soc_earliest_time(&ready) < next)
		next = soc_earliest_time(&ready);
	/* The time of the next event; if that is now, or there is none, a cycle. */
	soc_sleep_until(sim.soc, self->core, next == SIM_NEVER || next <= now ? now + 1 : next);
	/* If the thread keeps spinning, that is found sooner. */
	self->free_loads = SIM_FREE_LOADS - SIM_FREE_LOADS / 64;
	self->free_since = core_now(self->on);
	sim_settle(self);
}

static struct sim_thread *first_waiter(enum sim_wait wait, const void *object)
{
	struct sim_thread *first = NULL;

	for (unsigned int core = 0; core < sim.cores; core++) {
		struct sim_thread *thread = sim.on_core[core];

		if (!thread || thread->wait != wait || thread->object != object)
			continue;
		if (!first || thread->order < first->order)
			first = thread;
	}
	return first;
}

unsigned int sim_wake_waiters(struct sim_thread *self, enum sim_wait wait, const void *object, unsigned int most)
{
	unsigned int woken = 0;
	struct sim_thread *thread;

	while (woken < most && (thread = first_waiter(wait, object)) != NULL) {
		sim_wake(thread, soc_now(sim.soc, self->core));
		woken++;
	}
	return woken;
}

bool sim_take_core(struct sim_thread *thread, uint64_t now)
{
	for (unsigned int core = 0; core < sim.cores; core++) {
		if (sim.on_core[core])
			continue;
		thread->core = core;
		thread->on = &sim.soc->core[core];
		thread->wait = SIM_RUNS;
		thread->deadline = SIM_NEVER;
		soc_sleep_until(sim.soc, core, now);
		thread->started = soc_now(sim.soc, core);
		sim.on_core[core] = thread;
		sim_channel_arrives(core, SIM_NEVER);
		if (thread != sim.current)
			soc_earliest_set(&ready, core, thread->started);
		if (thread->started + 1 < sim.limit)
			sim.limit = thread->started + 1;
		return true;
	}
	return false;
}

void sim_give_up_core(struct sim_thread *thread)
{
	sim.on_core[thread->core] = NULL;
	soc_earliest_set(&ready, thread->core, SIM_NEVER);
}

void sim_leave_core(struct sim_thread *self)
{
	unsigned int core = self->core;

	sim.core_cycles[core] += soc_now(sim.soc, core) - self->started;
	sim.core_accesses[core] += self->accesses;
	sim.core_uncosted[core] += self->uncosted;
	sim.on_core[core] = NULL;
	sim.current = NULL;
	sim.ended = self;
	go_on(self, choose());
}
