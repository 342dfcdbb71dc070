/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functions that gcc calls for parallel regions, loops and sections of OpenMP, in place of libgomp. */
#include "sim/runtime/openmp.h"

typedef unsigned long long ull;

/* --- a loop as iterations that are counted ---------------------------------------------------- */

/* `is_up`: to higher values. The step of a loop that goes down is negative, as two's complement. */
static struct sim_openmp_share make_loop(bool has_iterations, bool is_up, uint64_t begin, uint64_t end, uint64_t step)
{
	struct sim_openmp_share share = { .begin = begin, .end = end, .step = step };
	uint64_t distance = is_up ? end - begin : begin - end, size = is_up ? step : -step;

	if (has_iterations && size)
		share.count = (distance - 1) / size + 1;
	return share;
}

static struct sim_openmp_share make_signed(long begin, long end, long step)
{
	return make_loop(step > 0 ? begin < end : begin > end, step > 0, (uint64_t)begin, (uint64_t)end, (uint64_t)step);
}

static struct sim_openmp_share make_unsigned(bool is_up, ull begin, ull end, ull step)
{
	return make_loop(is_up ? begin < end : begin > end, is_up, begin, end, step);
}

static struct sim_openmp_share make_sections(unsigned int count)
{
	struct sim_openmp_share share = make_signed(1, (long)count + 1, 1);

	share.schedule = SIM_OPENMP_DYNAMIC;
	return share;
}

static struct sim_openmp_share with_schedule(struct sim_openmp_share share, enum sim_openmp_schedule schedule, uint64_t chunk)
{
	share.schedule = schedule;
	share.chunk = chunk;
	return share;
}

static struct sim_openmp_share with_runtime_schedule(struct sim_openmp_share share)
{
	share.schedule = sim_openmp_schedule(&share.chunk);
	return share;
}

/* --- a thread in it --------------------------------------------------------------------------------- */

static bool next(struct sim_thread *self, uint64_t *begin, uint64_t *end)
{
	const struct sim_openmp_share *share = self->openmp.share;
	uint64_t first, last;
	bool is_there = sim_openmp_share_take(self, &first, &last);

	if (is_there) {
		*begin = share->begin + first * share->step;
		*end = last == share->count ? share->end : share->begin + last * share->step;
	}
	sim_leave();
	return is_there;
}

static bool start(struct sim_thread *self, struct sim_openmp_share loop, uint64_t *begin, uint64_t *end)
{
	if (sim_openmp_share_begin(self)) {
		loop.number = self->openmp.share->number;
		*self->openmp.share = loop;
	}
	return next(self, begin, end);
}

static void run(struct sim_thread *self, sim_openmp_function function, void *data, unsigned int threads,
		struct sim_openmp_share share)
{
	sim_openmp_run(self, function, data, threads, &share);
	sim_leave();
}

/* --- loops with a schedule of their own ------------------------------------------------------------------- */

#define ENTER(real) \
	struct sim_thread *self = sim_enter(); \
\
	if (!self) \
		return real

#define NEXT(name, type) \
	SIM_EXPORT bool GOMP_##name##_next(type *begin, type *end); \
	bool GOMP_##name##_next(type *begin, type *end) \
	{ \
		ENTER(OPENMP_REAL(GOMP_##name##_next)(begin, end)); \
		return next(self, (uint64_t *)begin, (uint64_t *)end); \
	}

#define LOOPS(name, NAME) \
	SIM_EXPORT bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long *begin, long *end); \
	bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long *begin, long *end) \
	{ \
		ENTER(OPENMP_REAL(GOMP_loop_##name##_start)(from, to, step, chunk, begin, end)); \
		return start(self, with_schedule(make_signed(from, to, step), SIM_OPENMP_##NAME, (uint64_t)chunk), \
			     (uint64_t *)begin, (uint64_t *)end); \
	} \
	SIM_EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull from, ull to, ull step, ull chunk, ull *begin, ull *end); \
	bool GOMP_loop_ull_##name##_start(bool up, ull from, ull to, ull step, ull chunk, ull *begin, ull *end) \
	{ \
		ENTER(OPENMP_REAL(GOMP_loop_ull_##name##_start)(up, from, to, step, chunk, begin, end)); \
		return start(self, with_schedule(make_unsigned(up, from, to, step), SIM_OPENMP_##NAME, chunk), \
			     (uint64_t *)begin, (uint64_t *)end); \
	} \
	NEXT(loop_##name, long) \
	NEXT(loop_ull_##name, ull) \
	SIM_EXPORT void GOMP_parallel_loop_##name(sim_openmp_function function, void *data, unsigned int threads, long from, \
						  long to, long step, long chunk, unsigned int flags); \
	void GOMP_parallel_loop_##name(sim_openmp_function function, void *data, unsigned int threads, long from, long to, \
				       long step, long chunk, unsigned int flags) \
	{ \
		ENTER(OPENMP_REAL(GOMP_parallel_loop_##name)(function, data, threads, from, to, step, chunk, flags)); \
		run(self, function, data, threads, with_schedule(make_signed(from, to, step), SIM_OPENMP_##NAME, (uint64_t)chunk)); \
	}

SIM_OPENMP_SCHEDULES(LOOPS)

/* --- loops with the schedule of OMP_SCHEDULE ------------------------------------------------------------ */

#define RUNTIME_LOOPS(name) \
	SIM_EXPORT bool GOMP_loop_##name##_start(long from, long to, long step, long *begin, long *end); \
	bool GOMP_loop_##name##_start(long from, long to, long step, long *begin, long *end) \
	{ \
		ENTER(OPENMP_REAL(GOMP_loop_##name##_start)(from, to, step, begin, end)); \
		return start(self, with_runtime_schedule(make_signed(from, to, step)), (uint64_t *)begin, (uint64_t *)end); \
	} \
	SIM_EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull from, ull to, ull step, ull *begin, ull *end); \
	bool GOMP_loop_ull_##name##_start(bool up, ull from, ull to, ull step, ull *begin, ull *end) \
	{ \
		ENTER(OPENMP_REAL(GOMP_loop_ull_##name##_start)(up, from, to, step, begin, end)); \
		return start(self, with_runtime_schedule(make_unsigned(up, from, to, step)), (uint64_t *)begin, (uint64_t *)end); \
	} \
	NEXT(loop_##name, long) \
	NEXT(loop_ull_##name, ull) \
	SIM_EXPORT void GOMP_parallel_loop_##name(sim_openmp_function function, void *data, unsigned int threads, long from, \
						  long to, long step, unsigned int flags); \
	void GOMP_parallel_loop_##name(sim_openmp_function function, void *data, unsigned int threads, long from, long to, \
				       long step, unsigned int flags) \
	{ \
		ENTER(OPENMP_REAL(GOMP_parallel_loop_##name)(function, data, threads, from, to, step, flags)); \
		run(self, function, data, threads, with_runtime_schedule(make_signed(from, to, step))); \
	}

SIM_OPENMP_RUNTIME_SCHEDULES(RUNTIME_LOOPS)

/* --- the ends of loops; sections, which are numbered from 1 on; regions -------------------------------------- */

SIM_EXPORT void GOMP_loop_end(void);
SIM_EXPORT void GOMP_loop_end_nowait(void);
SIM_EXPORT unsigned int GOMP_sections_start(unsigned int count);
SIM_EXPORT unsigned int GOMP_sections_next(void);
SIM_EXPORT void GOMP_sections_end(void);
SIM_EXPORT void GOMP_sections_end_nowait(void);
SIM_EXPORT void GOMP_parallel_sections(sim_openmp_function function, void *data, unsigned int threads, unsigned int count,
				       unsigned int flags);
SIM_EXPORT void GOMP_parallel(sim_openmp_function function, void *data, unsigned int threads, unsigned int flags);
SIM_EXPORT void GOMP_barrier(void);

static void end(struct sim_thread *self, bool waits)
{
	sim_openmp_share_end(self);
	if (waits)
		sim_openmp_barrier(self);
	sim_leave();
}

void GOMP_loop_end(void)
{
	ENTER(OPENMP_REAL(GOMP_loop_end)());
	end(self, true);
}

void GOMP_loop_end_nowait(void)
{
	ENTER(OPENMP_REAL(GOMP_loop_end_nowait)());
	end(self, false);
}

unsigned int GOMP_sections_start(unsigned int count)
{
	uint64_t section, behind;

	ENTER(OPENMP_REAL(GOMP_sections_start)(count));
	return start(self, make_sections(count), &section, &behind) ? (unsigned int)section : 0;
}

unsigned int GOMP_sections_next(void)
{
	uint64_t section, behind;

	ENTER(OPENMP_REAL(GOMP_sections_next)());
	return next(self, &section, &behind) ? (unsigned int)section : 0;
}

void GOMP_sections_end(void)
{
	ENTER(OPENMP_REAL(GOMP_sections_end)());
	end(self, true);
}

void GOMP_sections_end_nowait(void)
{
	ENTER(OPENMP_REAL(GOMP_sections_end_nowait)());
	end(self, false);
}

void GOMP_parallel_sections(sim_openmp_function function, void *data, unsigned int threads, unsigned int count,
			    unsigned int flags)
{
	ENTER(OPENMP_REAL(GOMP_parallel_sections)(function, data, threads, count, flags));
	run(self, function, data, threads, make_sections(count));
}

void GOMP_parallel(sim_openmp_function function, void *data, unsigned int threads, unsigned int flags)
{
	ENTER(OPENMP_REAL(GOMP_parallel)(function, data, threads, flags));
	sim_openmp_run(self, function, data, threads, NULL);
	sim_leave();
}

void GOMP_barrier(void)
{
	ENTER(OPENMP_REAL(GOMP_barrier)());
	sim_openmp_barrier(self);
	sim_leave();
}
