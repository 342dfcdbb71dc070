/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Libraries that the program opens by dlopen(). When their code runs for the first time the program asks
 * for its costs (sim/setup.h), and waits; no virtual time passes. A thread of the command reads the library
 * like those known before, and adds its code to the tables that both share.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tools/sim/sim.h"

static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
	/* The program can write the word, too: we must not wait on it after the program's end. */
	const struct timespec most = { .tv_nsec = 200000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

static void set(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store(word, value);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static enum sim_question answer(struct sim_late *late)
{
	const struct sim_program before = *late->program;
	char path[sizeof(late->shared->theirs->library)];

	memcpy(path, late->shared->theirs->library, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	if (tool_sim_program_add(late->program, path, late->costs))
		return SIM_LIBRARY_REFUSED;
	if (tool_sim_share_more(late->shared, late->program))
		return SIM_NO_QUESTION;
	tool_error(0, "sim: %s: there is no room for the code of another library; LD_PRELOAD may have it from the start", path);
	late->program->object_count = before.object_count;
	late->program->place_count = before.place_count;
	late->program->function_count = before.function_count;
	late->program->source_count = before.source_count;
	late->program->names_size = before.names_size;
	return SIM_NO_QUESTION;
}

static void *run(void *argument)
{
	struct sim_late *late = argument;
	_Atomic uint32_t *question = &late->shared->theirs->question;

	while (!atomic_load(&late->is_over)) {
		uint32_t value = atomic_load(question);

		if (value == SIM_ASKED)
			set(question, answer(late));
		else
			wait_while(question, value);
	}
	return NULL;
}

int tool_sim_late_begin(struct sim_late *late)
{
	sigset_t all, old;
	int error;

	/* Signals are the command's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&late->thread, NULL, run, late);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error ? tool_error(EXIT_FAILURE, "sim: %s", strerror(error)) : 0;
}

void tool_sim_late_end(struct sim_late *late)
{
	atomic_store(&late->is_over, true);
	set(&late->shared->theirs->question, SIM_NO_MORE_ANSWERS);
	pthread_join(late->thread, NULL);
}
