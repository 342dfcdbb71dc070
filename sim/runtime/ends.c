/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How a run ends that cannot go on. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/runtime/internal.h"

#define EXIT_BAD_INPUT 2
#define EXIT_CYCLE_LIMIT 124	/* as timeout(1) ends */

void sim_say(const char *format, ...)
{
	va_list list;

	fputs("mimic: sim: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

void sim_end_with(enum sim_end end)
{
	sim_phases_end();
	atomic_store(&sim.setup->end, end);
	fflush(NULL);
	_exit(end == SIM_CYCLE_LIMIT ? EXIT_CYCLE_LIMIT : EXIT_BAD_INPUT);
}

static void say_wait(const struct sim_thread *thread)
{
	static const char *const texts[] = {
#define _(NAME, text) [SIM_WAIT_##NAME] = text,
		SIM_WAITS(_)
#undef _
	};
	char what[224] = "";

	if (thread->wait == SIM_WAIT_MMIO || thread->wait == SIM_WAIT_MMIO_ROOM)
		sim_device_describe(thread->core, what, sizeof(what));
	else if (thread->wait == SIM_WAIT_JOIN)
		snprintf(what, sizeof(what), "%llu", (unsigned long long)thread->wait_number);
	else if (thread->object)
		snprintf(what, sizeof(what), "at %p", thread->object);
	sim_say("  thread %u, in %s() on core %u: waits for %s%s%s, since cycle %llu", thread->number,
		sim_function_name(thread->call->function),
		thread->core, texts[thread->wait], what[0] ? " " : "", what, (unsigned long long)thread->since);
}

void sim_deadlock(void)
{
	sim_say("deadlock: every thread waits, and nothing is on its way");
	for (unsigned int core = 0; core < sim.cores; core++)
		if (sim.on_core[core])
			say_wait(sim.on_core[core]);
	sim_end_with(SIM_DEADLOCK);
}
