/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/soak/kill_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REFERENCE_RUNS 2	/* which must be equal */
#define BROKEN_ROUND 0	/* each program completes one */

static bool fail(struct kill_programs *programs, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(programs->error, sizeof(programs->error), format, arguments);
	va_end(arguments);
	return false;
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void pause_us(unsigned int microseconds)
{
	const struct timespec time = { .tv_nsec = (long)microseconds * 1000 };

	nanosleep(&time, NULL);
}

/* The part that differs; KILL_PARTS: none. */
static unsigned int find_difference(const struct kill_result *a, const struct kill_result *b)
{
	unsigned int part = 0;

	while (part < KILL_PARTS && a->sums[part] == b->sums[part])
		part++;
	return part;
}

/* --- an undisturbed device ------------------------------------------------------------------ */

static void compute_expected(const struct kill_program *program, struct kill_result *expected)
{
	const struct kill_place place = { .transport = "embedded" };

	kill_use_slot(program->slot);
	for (unsigned int i = 0; i < REFERENCE_RUNS * KILL_VARIANTS; i++) {
		struct kill_result result = { { 0 } };
		unsigned int variant = i % KILL_VARIANTS, part;

		if (program->work->run(&place, variant, &result))
			_exit(1);
		part = i < KILL_VARIANTS ? KILL_PARTS : find_difference(&result, &expected[variant]);
		if (part < KILL_PARTS) {
			kill_fail("'%s' of variant %u differs from run to run", program->work->parts[part], variant);
			_exit(1);
		}
		expected[variant] = result;
	}
	_exit(0);
}

/* By a process of its own: the programs that are started later have used no device. */
static bool make_expected(struct kill_programs *programs, struct kill_program *program)
{
	struct kill_result *expected = share(KILL_VARIANTS * sizeof(*expected));
	int status;
	pid_t pid;

	if (!expected)
		return fail(programs, "no memory");
	program->expected = expected;
	if (program->work->needs_daemon)
		return true;
	pid = fork();
	if (!pid)
		compute_expected(program, expected);
	waitpid(pid, &status, 0);
	return !status || fail(programs, "program %s on an undisturbed device: %s (wait status %#x)", program->work->name,
			       program->slot->error, (unsigned int)status);
}

static bool is_named(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return !list;
}

bool kill_programs_make(struct kill_programs *programs, const char *only, unsigned int kills, unsigned int calm)
{
	struct kill_slot *slots = share(kill_work_count * sizeof(*slots));

	programs->program = calloc(kill_work_count, sizeof(*programs->program));
	if (!slots || !programs->program)
		return fail(programs, "no memory");
	for (unsigned int i = 0; i < kill_work_count; i++) {
		struct kill_program *program = &programs->program[programs->count];

		if (!is_named(only, kill_works[i]->name) || (kill_works[i]->needs_kernel && !programs->transport))
			continue;
		*program = (struct kill_program){ .work = kill_works[i], .slot = &slots[i], .pid = -1 };
		if (kill_times_make(&program->stalls, kills) || kill_times_make(&program->waits, calm))
			return fail(programs, "no memory");
		if (!make_expected(programs, program))
			return false;
		programs->count++;
	}
	return programs->count || fail(programs, "no program is named %s", only);
}

/* --- the programs --------------------------------------------------------------------------- */

static int run_round(const struct kill_program *program, const struct kill_place *place, bool breaks)
{
	uint64_t round = atomic_load(&program->slot->rounds);
	unsigned int variant = (unsigned int)(round % KILL_VARIANTS), part;
	struct kill_result result = { { 0 } };

	if (program->work->run(place, variant, &result))
		return -1;
	if (breaks && round == BROKEN_ROUND)
		result.sums[0] ^= 1;
	part = program->work->needs_daemon ? KILL_PARTS : find_difference(&result, &program->expected[variant]);
	if (part < KILL_PARTS)
		return kill_fail("'%s' of round %llu (variant %u) is %#llx, and %#llx on an undisturbed device",
				 program->work->parts[part], (unsigned long long)round, variant,
				 (unsigned long long)result.sums[part],
				 (unsigned long long)program->expected[variant].sums[part]);
	atomic_fetch_add(&program->slot->rounds, 1);
	return 0;
}

static void be_program(const struct kill_program *program, const struct kill_place *place, bool breaks)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	kill_use_slot(program->slot);
	while (!atomic_load(&program->slot->stops)) {
		/* Other threads may wait for ever. */
		if (run_round(program, place, breaks))
			_exit(1);
	}
	_exit(0);
}

bool kill_programs_start(struct kill_programs *programs, const char *socket)
{
	const struct kill_place place = {
		.transport = programs->transport ? programs->transport : "daemon",
		.socket = programs->transport ? NULL : socket,
	};

	for (unsigned int i = 0; i < programs->count; i++) {
		struct kill_program *program = &programs->program[i];
		bool breaks = programs->broken && !strcmp(programs->broken, program->work->name);

		kill_use_slot(program->slot);
		program->pid = fork();
		if (!program->pid)
			be_program(program, &place, breaks);
		if (program->pid < 0)
			return fail(programs, "fork: %s", strerror(errno));
	}
	return true;
}

/* false: it has ended, and not well. */
static bool look_after(struct kill_programs *programs, struct kill_program *program)
{
	int status;

	if (program->pid > 0 && waitpid(program->pid, &status, WNOHANG) == program->pid) {
		program->pid = -1;
		if (status || !atomic_load(&program->slot->stops))
			return fail(programs, "program %s, after '%s': %s (wait status %#x)", program->work->name,
				    atomic_load(&program->slot->step),
				    program->slot->error[0] ? program->slot->error : "it ended",
				    (unsigned int)status);
	}
	return true;
}

bool kill_programs_are_well(struct kill_programs *programs)
{
	for (unsigned int i = 0; i < programs->count; i++) {
		if (!look_after(programs, &programs->program[i]))
			return false;
	}
	return true;
}

static void note_longest(struct kill_programs *programs, const struct kill_program *program, uint64_t stall_ns)
{
	struct kill_stall stall = {
		.program = program->work->name, .step = atomic_load(&program->slot->step), .nanoseconds = stall_ns,
	};

	for (unsigned int i = 0; i < KILL_LONGEST; i++) {
		struct kill_stall *place = &programs->longest[i], shorter = *place;

		if (stall.nanoseconds <= place->nanoseconds)
			continue;
		*place = stall;
		stall = shorter;
	}
}

static void note_answer(struct kill_programs *programs, struct kill_program *program, uint64_t nanoseconds)
{
	if (programs->phase == KILL_CALM)
		kill_times_add(&program->waits, nanoseconds);
	if (programs->phase != KILL_STALLS)
		return;
	kill_times_add(&program->stalls, nanoseconds);
	note_longest(programs, program, nanoseconds);
}

bool kill_programs_await(struct kill_programs *programs, uint64_t when, unsigned int milliseconds)
{
	uint64_t end = kill_now_ns() + milliseconds * 1000000ull;
	unsigned int left = programs->count;
	bool answered[64] = { false };
	unsigned int last = 0;

	while (left && kill_now_ns() < end) {
		if (!kill_programs_are_well(programs))
			return false;
		for (unsigned int i = 0; i < programs->count; i++) {
			uint64_t marked = atomic_load(&programs->program[i].slot->marked_ns);

			if (answered[i])
				continue;
			last = i;
			if (marked <= when)
				continue;
			answered[i] = true;
			left--;
			note_answer(programs, &programs->program[i], marked - when);
		}
		pause_us(200);
	}
	return !left || fail(programs, "program %s hangs: no answer in %u ms, the last was of '%s'",
			     programs->program[last].work->name, milliseconds,
			     atomic_load(&programs->program[last].slot->step));
}

bool kill_programs_stop(struct kill_programs *programs, unsigned int milliseconds)
{
	uint64_t end = kill_now_ns() + milliseconds * 1000000ull;

	for (unsigned int i = 0; i < programs->count; i++)
		atomic_store(&programs->program[i].slot->stops, true);
	for (unsigned int i = 0; i < programs->count; i++) {
		struct kill_program *program = &programs->program[i];

		while (program->pid > 0) {
			if (!kill_programs_are_well(programs))
				return false;
			if (kill_now_ns() > end)
				return fail(programs, "program %s does not end, after '%s'", program->work->name,
					    atomic_load(&program->slot->step));
			pause_us(1000);
		}
		if (!atomic_load(&program->slot->rounds))
			return fail(programs, "program %s completed no round", program->work->name);
	}
	return true;
}

void kill_programs_end(struct kill_programs *programs)
{
	for (unsigned int i = 0; i < programs->count; i++) {
		struct kill_program *program = &programs->program[i];

		if (program->pid > 0) {
			kill(program->pid, SIGKILL);
			waitpid(program->pid, NULL, 0);
		}
		program->pid = -1;
	}
}

uint64_t kill_programs_rounds(const struct kill_programs *programs)
{
	uint64_t rounds = 0;

	for (unsigned int i = 0; i < programs->count; i++)
		rounds += atomic_load(&programs->program[i].slot->rounds);
	return rounds;
}
