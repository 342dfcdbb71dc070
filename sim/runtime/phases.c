/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sections of a run, and the counts of each: differences of two copies of all counters. */
#include <stdio.h>
#include <string.h>

#include "sim/run.h"
#include "sim/runtime/internal.h"

#define MAIN_CALLS 2	/* main() is the first instrumented function, these are called by it */

/* All of a phase behind its name are counters. */
#define COUNTERS_OFFSET offsetof(struct sim_phase, times)
_Static_assert(COUNTERS_OFFSET % sizeof(uint64_t) == 0, "counters are an array");

static struct sim_phase run_begin, phase_begin;
static uint64_t counted_before[SIM_DEVICES][MIMIC_KIND_COUNTERS_MAX];	/* the counts of each device before its reset */
static uint64_t before_opening[SIM_DEVICES][MIMIC_TIME_VALUES_MAX];	/* a device counts cycles since main() began */
static struct sim_phase *open_phase;
static bool is_automatic;	/* the open one */
static bool is_warming;		/* the open one: it is not counted */
static bool has_own;		/* the program names its phases */
static unsigned int open_depth;

/* A core whose thread waits for others learns only when it is woken that it has slept. Not so one that waits for the device. */
static uint64_t slept_until(const struct sim_thread *thread, uint64_t now)
{
	uint64_t clock = soc_now(sim.soc, thread->core);
	bool is_asleep = thread->wait != SIM_RUNS && thread->wait != SIM_WAIT_MMIO && thread->wait != SIM_WAIT_MMIO_ROOM;

	return is_asleep && now > clock ? now - clock : 0;
}

static void look_at_core(unsigned int core, uint64_t now, struct sim_core_report *report)
{
	const struct sim_thread *thread = sim.on_core[core];

	report->cycles = sim.core_cycles[core];
	report->accesses = sim.core_accesses[core];
	report->uncosted = sim.core_uncosted[core];
	soc_core_counters(sim.soc, core, &report->counters);
	if (!thread)
		return;
	report->cycles += soc_now(sim.soc, core) - thread->started + slept_until(thread, now);
	report->counters.sleeps += slept_until(thread, now);
	report->accesses += thread->accesses;
	report->uncosted += thread->uncosted;
}

static void look_at_counters(unsigned int number, uint64_t *counters)
{
	const struct sim_device *device = &sim.devices[number];
	struct mimic_model *model = device->time->model(device->timed);
	size_t count = model->ops->counters(model, counters, MIMIC_KIND_COUNTERS_MAX);

	for (size_t i = 0; i < count; i++)
		counters[i] += counted_before[number][i];
}

void sim_phases_device_resets(unsigned int number)
{
	uint64_t now[MIMIC_KIND_COUNTERS_MAX] = { 0 };

	look_at_counters(number, now);
	memcpy(counted_before[number], now, sizeof(now));
}

void sim_phases_device_opens(unsigned int number, uint64_t now)
{
	const struct sim_device *device = &sim.devices[number];

	device->time->count(device->timed, now, before_opening[number]);
}

static void look_at_statistics(unsigned int number, uint64_t now, uint64_t *values)
{
	const struct sim_device *device = &sim.devices[number];
	const uint64_t *before = before_opening[number];
	unsigned int value = 0;

	device->time->count(device->timed, now, values);
	for (unsigned int i = 0; i < device->time->statistic_count; i++) {
		const struct mimic_time_statistic *statistic = &device->time->statistics[i];

		/* Another core's clock may be behind that of the one that opened it. */
		for (unsigned int end = value + statistic->values; value < end; value++)
			if (!statistic->is_most)
				values[value] -= values[value] < before[value] ? values[value] : before[value];
	}
}

static void look(struct sim_phase *phase, uint64_t now)
{
	memset(phase, 0, sim_phase_size());
	phase->cycles = now;
	for (unsigned int core = 0; core < sim.cores; core++)
		look_at_core(core, now, &phase->cores[core]);
	soc_counters(sim.soc, &phase->soc);
	for (unsigned int number = 0; number < sim.device_count; number++) {
		if (!sim.devices[number].timed)
			continue;
		look_at_counters(number, phase->devices[number].counters);
		look_at_statistics(number, now, phase->devices[number].statistics);
	}
}

/* The highest so far are no sums. */
static void take_most(const struct mimic_time *time, struct sim_device_report *sum, const struct sim_device_report *end)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < time->statistic_count; i++) {
		const struct mimic_time_statistic *statistic = &time->statistics[i];

		if (statistic->is_most)
			memcpy(&sum->statistics[at], &end->statistics[at], statistic->values * sizeof(uint64_t));
		at += statistic->values;
	}
}

static void add_difference(struct sim_phase *sum, const struct sim_phase *begin, const struct sim_phase *end)
{
	uint64_t *to = (uint64_t *)((char *)sum + COUNTERS_OFFSET);
	const uint64_t *from = (const uint64_t *)((const char *)begin + COUNTERS_OFFSET);
	const uint64_t *until = (const uint64_t *)((const char *)end + COUNTERS_OFFSET);

	for (size_t i = 0; i < (sim_phase_size() - COUNTERS_OFFSET) / sizeof(uint64_t); i++)
		to[i] += until[i] - from[i];
	sum->times++;
	for (unsigned int number = 0; number < sim.device_count; number++)
		if (sim.devices[number].timed)
			take_most(sim.devices[number].time, &sum->devices[number], &end->devices[number]);
}

void sim_phases_look(struct sim_phase *phase, uint64_t now)
{
	look(phase, now);
}

void sim_phases_add(struct sim_phase *sum, const struct sim_phase *begin, const struct sim_phase *end)
{
	add_difference(sum, begin, end);
}

static void name_phase(struct sim_phase *phase, const char *name)
{
	memset(phase, 0, sim_phase_size());
	snprintf(phase->name, sizeof(phase->name), "%s", name);
}

/* NULL: no room. */
static struct sim_phase *find_phase(const char *name)
{
	struct sim_setup *setup = sim.setup;

	for (uint32_t i = 1; i < setup->phase_count; i++)
		if (!strncmp(setup->phases[i].name, name, SIM_PHASE_NAME - 1))
			return &setup->phases[i];
	if (setup->phase_count == SIM_PHASES) {
		setup->lost_phases++;
		return NULL;
	}
	name_phase(&setup->phases[setup->phase_count], name);
	return &setup->phases[setup->phase_count++];
}

static void begin(struct sim_thread *self, const char *name, bool automatic)
{
	open_phase = find_phase(name);
	is_automatic = automatic;
	if (!open_phase)
		return;
	is_warming = open_phase->warm_times < sim.setup->warm_times;
	look(&phase_begin, sim_time(self));
}

static void close_phase(const struct sim_phase *now)
{
	if (is_warming)
		open_phase->warm_times++;
	else
		add_difference(open_phase, &phase_begin, now);
	open_phase = NULL;
}

static void end(struct sim_thread *self)
{
	static struct sim_phase now;

	if (!open_phase)
		return;
	look(&now, sim_time(self));
	close_phase(&now);
}

bool sim_phases_are_warming(void)
{
	return open_phase && is_warming;
}

void sim_phases_begin(void)
{
	name_phase(&sim.setup->phases[0], "run");
	sim.setup->phase_count = 1;
	look(&run_begin, 0);
	sim_intervals_begin(0);
}

void sim_phases_end(void)
{
	static struct sim_phase now;
	uint64_t clock = sim.now;

	for (unsigned int core = 0; core < sim.cores; core++)
		if (sim.on_core[core] && soc_now(sim.soc, core) > clock)
			clock = soc_now(sim.soc, core);
	look(&now, clock);
	add_difference(&sim.setup->phases[0], &run_begin, &now);
	sim_intervals_end(clock);
	/* A phase that the program did not end, or in which it called exit(). */
	if (open_phase)
		close_phase(&now);
	sim.setup->threads = sim.thread_count;
	sim.setup->frames = sim_frames_count();
	sim.setup->dirty_lines = soc_dirty_lines(sim.soc);
}

void sim_phases_enter(struct sim_thread *self, uint32_t function)
{
	if (self->number || has_own || open_phase || self->depth != MAIN_CALLS)
		return;
	sim_settle(self);
	begin(self, sim_function_name(function), true);
	open_depth = self->depth;
}

void sim_phases_leave(struct sim_thread *self)
{
	if (self->number || !open_phase || !is_automatic || self->depth != open_depth)
		return;
	sim_settle(self);
	end(self);
}

SIM_EXPORT void mimic_sim_phase_begin(const char *name)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_settle(self);
	if (!has_own) {
		has_own = true;
		open_phase = NULL;
		sim.setup->phase_count = 1;
		sim.setup->lost_phases = 0;
	}
	end(self);
	begin(self, name, false);
	sim_leave();
}

SIM_EXPORT void mimic_sim_phase_end(void)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_settle(self);
	if (!is_automatic)
		end(self);
	sim_leave();
}

/* All phases but the open one, which is the first one then. */
static void forget_phases(void)
{
	struct sim_setup *setup = sim.setup;
	char name[SIM_PHASE_NAME];

	setup->lost_phases = 0;
	setup->phase_count = 1;
	if (!open_phase)
		return;
	memcpy(name, open_phase->name, sizeof(name));
	open_phase = &setup->phases[setup->phase_count++];
	name_phase(open_phase, name);
	phase_begin = run_begin;
}

SIM_EXPORT void mimic_sim_reset(void)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_settle(self);
	look(&run_begin, sim_time(self));
	forget_phases();
	sim_forget_uncosted();
	sim_forget_kernels();
	sim_intervals_begin(run_begin.cycles);
	sim_leave();
}

SIM_EXPORT bool mimic_sim_is_on(void)
{
	return sim_self != NULL;
}

SIM_EXPORT uint64_t mimic_sim_cycles(void)
{
	return sim_self ? soc_now(sim.soc, sim_self->core) : 0;
}
