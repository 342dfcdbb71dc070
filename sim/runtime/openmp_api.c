/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The functions by which a program asks OpenMP, and the variables of its environment. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "sim/runtime/openmp.h"

#define SECOND 1e9	/* cycles */

SIM_EXPORT int omp_get_thread_num(void);
SIM_EXPORT int omp_get_num_threads(void);
SIM_EXPORT int omp_get_max_threads(void);
SIM_EXPORT void omp_set_num_threads(int threads);
SIM_EXPORT int omp_get_num_procs(void);
SIM_EXPORT int omp_in_parallel(void);
SIM_EXPORT int omp_get_level(void);
SIM_EXPORT int omp_get_active_level(void);
SIM_EXPORT int omp_get_thread_limit(void);
SIM_EXPORT int omp_get_dynamic(void);
SIM_EXPORT void omp_set_dynamic(int is_dynamic);
SIM_EXPORT double omp_get_wtime(void);
SIM_EXPORT double omp_get_wtick(void);

static unsigned int threads_wanted;	/* 0: not set */

/* A program that was linked without -lgomp, because libmimic-sim has all that it needs, loads it when it runs as always. */
void *sim_openmp_real(void **found, const char *name)
{
	void *function = __atomic_load_n(found, __ATOMIC_RELAXED), *library;

	if (function)
		return function;
	function = dlsym(RTLD_NEXT, name);
	if (!function) {
		library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
		function = library ? dlsym(library, name) : NULL;
	}
	if (!function) {
		sim_say("OpenMP's %s() is not there: is libgomp installed?", name);
		abort();
	}
	__atomic_store_n(found, function, __ATOMIC_RELAXED);
	return function;
}

/* --- the environment --------------------------------------------------------------------------------- */

static void refuse(const char *variable, const char *text, const char *must)
{
	sim_say("%s='%s': it must be %s", variable, text, must);
	sim_end_with(SIM_REFUSED);
}

/* From 1 on; behind it is `end`. 0: it is none. */
static uint64_t read_number(const char *text, const char *end)
{
	char *behind;
	unsigned long long number = strtoull(text, &behind, 10);

	return *text >= '0' && *text <= '9' && strchr(end, *behind) && number <= INT32_MAX ? number : 0;
}

unsigned int sim_openmp_threads(void)
{
	const char *text = threads_wanted ? NULL : getenv("OMP_NUM_THREADS");

	if (threads_wanted)
		return threads_wanted;
	/* Behind a comma are numbers for inner regions, which have one. */
	threads_wanted = text ? (unsigned int)read_number(text, ",") : sim.cores;
	if (!threads_wanted)
		refuse("OMP_NUM_THREADS", text, "a number from 1 on");
	return threads_wanted;
}

/* As libgomp without OMP_SCHEDULE: dynamic, one iteration a chunk. */
enum sim_openmp_schedule sim_openmp_schedule(uint64_t *chunk)
{
	static const char must[] = "static, dynamic, guided or auto, perhaps with a comma and a chunk's size";
	static const struct { const char *name; enum sim_openmp_schedule schedule; uint64_t chunk; } known[] = {
		{ "static", SIM_OPENMP_STATIC, 0 }, { "dynamic", SIM_OPENMP_DYNAMIC, 1 },
		{ "guided", SIM_OPENMP_GUIDED, 1 }, { "auto", SIM_OPENMP_STATIC, 0 },
	};
	const char *text = getenv("OMP_SCHEDULE"), *colon = text ? strchr(text, ':') : NULL;
	const char *name = colon ? colon + 1 : text ? text : "dynamic";
	size_t length = strcspn(name, ",");

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) != length || strncasecmp(name, known[i].name, length))
			continue;
		*chunk = name[length] ? read_number(name + length + 1, "") : known[i].chunk;
		if (name[length] && !*chunk)
			break;
		return known[i].schedule;
	}
	refuse("OMP_SCHEDULE", text, must);
	return SIM_OPENMP_STATIC;
}

/* --- the program ----------------------------------------------------------------------------------------- */

/* They take no time, and may be asked for while the run-time is busy. */
#define ANSWER(name, type, answer) \
	type name(void) \
	{ \
		struct sim_thread *self = sim_self; \
\
		return self ? (type)(answer) : OPENMP_REAL(name)(); \
	}

ANSWER(omp_get_thread_num, int, self->openmp.number)
ANSWER(omp_get_num_threads, int, sim_openmp_team(self)->size)
ANSWER(omp_get_max_threads, int, sim_openmp_threads())
ANSWER(omp_get_num_procs, int, sim.cores)
ANSWER(omp_in_parallel, int, sim_openmp_team(self)->active_level > 0)
ANSWER(omp_get_level, int, sim_openmp_team(self)->level)
ANSWER(omp_get_active_level, int, sim_openmp_team(self)->active_level)
ANSWER(omp_get_thread_limit, int, sim.cores)
ANSWER(omp_get_dynamic, int, 0)
ANSWER(omp_get_wtime, double, (double)soc_now(sim.soc, self->core) / SECOND)
ANSWER(omp_get_wtick, double, 1 / SECOND)

void omp_set_num_threads(int threads)
{
	if (!sim_self)
		OPENMP_REAL(omp_set_num_threads)(threads);
	else
		threads_wanted = threads > 0 ? (unsigned int)threads : 1;
}

/* A team has as many threads as were asked for, always. */
void omp_set_dynamic(int is_dynamic)
{
	if (!sim_self)
		OPENMP_REAL(omp_set_dynamic)(is_dynamic);
}
