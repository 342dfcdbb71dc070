/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program's clocks and sleeps in virtual time: a cycle is a nanosecond. The clock of the
 * day begins at a fixed day, so that a program prints the same times in every run.
 */
#include <errno.h>

#include "sim/runtime/locks.h"
#include "sim/runtime/real.h"

#define SECOND 1000000000u
#define FIRST_DAY 1577836800	/* 2020-01-01, seconds of the Unix epoch */
/* The cost of a call of the scheduler; instructions, an assumption. */
#define YIELD_INSTRUCTIONS 100

static bool is_of_the_day(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static uint64_t to_cycles(const struct timespec *time)
{
	if (time->tv_sec < 0)
		return 0;
	if ((uint64_t)time->tv_sec > UINT64_MAX / SECOND / 2)
		return SIM_NEVER;
	return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
}

uint64_t sim_deadline(clockid_t clock, const struct timespec *time)
{
	struct timespec since = *time;

	/* A day before the first one is none: a condition variable may wait by the other clock. */
	if (is_of_the_day(clock) && since.tv_sec >= FIRST_DAY)
		since.tv_sec -= FIRST_DAY;
	return to_cycles(&since);
}

static struct timespec read_clock(const struct sim_thread *self, clockid_t clock)
{
	uint64_t now = soc_now(sim.soc, self->core);

	return (struct timespec){
		.tv_sec = (time_t)(now / SECOND) + (is_of_the_day(clock) ? FIRST_DAY : 0),
		.tv_nsec = (long)(now % SECOND),
	};
}

SIM_EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return REAL(clock_gettime)(clock, time);
	*time = read_clock(self, clock);
	sim_leave();
	return 0;
}

SIM_EXPORT int gettimeofday(struct timeval *restrict value, void *restrict zone)
{
	struct sim_thread *self = sim_enter();
	struct timespec time;

	if (!self)
		return REAL(gettimeofday)(value, zone);
	time = read_clock(self, CLOCK_REALTIME);
	*value = (struct timeval){ time.tv_sec, time.tv_nsec / 1000 };
	sim_leave();
	return 0;
}

SIM_EXPORT time_t time(time_t *seconds)
{
	struct sim_thread *self = sim_enter();
	struct timespec now;

	if (!self)
		return REAL(time)(seconds);
	now = read_clock(self, CLOCK_REALTIME);
	if (seconds)
		*seconds = now.tv_sec;
	sim_leave();
	return now.tv_sec;
}

static void sleep_until(struct sim_thread *self, uint64_t deadline)
{
	sim_settle(self);
	if (deadline > soc_now(sim.soc, self->core))
		sim_block(self, SIM_WAIT_SLEEP, NULL, deadline);
}

static uint64_t later(const struct sim_thread *self, uint64_t cycles)
{
	uint64_t now = soc_now(sim.soc, self->core);

	return cycles < SIM_NEVER - now ? now + cycles : SIM_NEVER - 1;
}

static bool is_time(const struct timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)SECOND;
}

SIM_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return REAL(clock_nanosleep)(clock, flags, time, left);
	if (!is_time(time)) {
		sim_leave();
		return EINVAL;
	}
	sleep_until(self, flags & TIMER_ABSTIME ? sim_deadline(clock, time) : later(self, to_cycles(time)));
	sim_leave();
	return 0;
}

SIM_EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
	int error;

	if (!sim_self)
		return REAL(nanosleep)(time, left);
	error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
	if (!error)
		return 0;
	errno = error;
	return -1;
}

SIM_EXPORT int usleep(useconds_t microseconds)
{
	const struct timespec time = { microseconds / 1000000, (long)(microseconds % 1000000) * 1000 };

	return sim_self ? nanosleep(&time, NULL) : REAL(usleep)(microseconds);
}

SIM_EXPORT unsigned int sleep(unsigned int seconds)
{
	const struct timespec time = { seconds, 0 };

	if (!sim_self)
		return REAL(sleep)(seconds);
	nanosleep(&time, NULL);
	return 0;
}

SIM_EXPORT int sched_yield(void)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return REAL(sched_yield)();
	soc_execute(sim.soc, self->core, YIELD_INSTRUCTIONS);
	sim_settle(self);
	sim_leave();
	return 0;
}
