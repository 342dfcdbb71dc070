/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The file that mimic sim and the program share (sim/setup.h). The program can write all of it, by mistake or on
 * purpose. So the command keeps a copy of its setup in memory of its own, and of the program's copy it takes
 * numbers only, which it checks against the room.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/sim/sim.h"

/* The members of struct sim_setup that the program writes; phases follow them. */
#define RESULTS_BEGIN offsetof(struct sim_setup, end)
#define RESULTS_SIZE (offsetof(struct sim_setup, phases) - RESULTS_BEGIN)

static int no_memory(void)
{
	return tool_error(EXIT_FAILURE, "sim: no memory to share with the program: %s", strerror(errno));
}

static size_t aligned(size_t offset)
{
	return (offset + 63) & ~(size_t)63;
}

/* At *offset of the file, which then is behind it and the room for more. */
static uint64_t put(struct sim_setup *setup, size_t *offset, const void *bytes, size_t size, size_t room)
{
	uint64_t place = *offset;

	if (size)
		memcpy((char *)setup + place, bytes, size);
	*offset = aligned(place + size + room);
	return place;
}

static void fill(struct sim_setup *setup, const struct sim_program *program, const struct sim_costs *costs)
{
	size_t offset = aligned(sizeof(*setup));

	setup->object_count = program->object_count;
	setup->place_count = program->place_count;
	setup->loop_count = costs->loop_count;
	setup->function_count = program->function_count;
	setup->source_count = program->source_count;
	setup->names_size = program->names_size;
	setup->objects = put(setup, &offset, program->objects, program->object_count * sizeof(*program->objects),
			     SIM_LATE_OBJECTS * sizeof(*program->objects));
	setup->places = put(setup, &offset, program->places, program->place_count * sizeof(*program->places),
			    SIM_LATE_PLACES * sizeof(*program->places));
	setup->loops = put(setup, &offset, costs->loops, costs->loop_count * sizeof(*costs->loops), 0);
	setup->functions = put(setup, &offset, program->functions, program->function_count * sizeof(*program->functions),
			       SIM_LATE_FUNCTIONS * sizeof(*program->functions));
	setup->sources = put(setup, &offset, program->sources, program->source_count * sizeof(*program->sources),
			     SIM_LATE_SOURCES * sizeof(*program->sources));
	setup->names = put(setup, &offset, program->names, program->names_size, SIM_LATE_NAMES);
	setup->intervals = offset;
}

int tool_sim_share(struct sim_shared *shared, const struct sim_program *program, const struct sim_costs *costs,
		   const struct sim_parameters *parameters, uint64_t interval)
{
	const uint64_t interval_size = sizeof(struct sim_interval) +
				       sim_parameters_devices(parameters) * sizeof(struct sim_device_report);
	struct sim_setup *setup;

	shared->size = sizeof(*setup) + (program->object_count + SIM_LATE_OBJECTS) * sizeof(*program->objects) +
		       (program->place_count + SIM_LATE_PLACES) * sizeof(*program->places) +
		       costs->loop_count * sizeof(*costs->loops) +
		       (program->function_count + SIM_LATE_FUNCTIONS) * sizeof(*program->functions) +
		       (program->source_count + SIM_LATE_SOURCES) * sizeof(*program->sources) +
		       program->names_size + SIM_LATE_NAMES + 7 * 64;
	shared->room = (struct sim_program){
		.object_count = program->object_count + SIM_LATE_OBJECTS,
		.place_count = program->place_count + SIM_LATE_PLACES,
		.function_count = program->function_count + SIM_LATE_FUNCTIONS,
		.source_count = program->source_count + SIM_LATE_SOURCES,
		.names_size = program->names_size + SIM_LATE_NAMES,
	};
	/* They take memory when they are written. */
	if (interval)
		shared->size += SIM_INTERVALS * interval_size;
	setup = mmap(NULL, shared->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (setup == MAP_FAILED)
		return no_memory();
	setup->magic = SIM_SETUP_MAGIC;
	setup->version = SIM_SETUP_VERSION;
	setup->header_size = sizeof(*setup);
	setup->file_size = shared->size;
	setup->parameters = *parameters;
	setup->interval = interval;
	setup->interval_size = interval_size;
	fill(setup, program, costs);
	shared->setup = setup;
	return 0;
}

static void copy_table(struct sim_shared *shared, uint64_t array, size_t size)
{
	memcpy((char *)shared->theirs + array, (const char *)shared->setup + array, size);
}

/* Not the room between them: no memory is taken for it. */
static void copy_tables(struct sim_shared *shared)
{
	const struct sim_setup *setup = shared->setup;

	copy_table(shared, setup->objects, setup->object_count * sizeof(struct sim_object));
	copy_table(shared, setup->places, setup->place_count * sizeof(struct sim_place));
	copy_table(shared, setup->loops, setup->loop_count * sizeof(struct sim_loop));
	copy_table(shared, setup->functions, setup->function_count * sizeof(struct sim_function));
	copy_table(shared, setup->sources, setup->source_count * sizeof(struct sim_source));
	copy_table(shared, setup->names, setup->names_size);
}

int tool_sim_publish(struct sim_shared *shared)
{
	const struct sim_setup *setup = shared->setup;

	shared->fd = memfd_create("mimic-sim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* Of a file that has become shorter, the end cannot be read. */
	if (shared->fd < 0 || ftruncate(shared->fd, (off_t)shared->size) ||
	    fcntl(shared->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return no_memory();
	shared->theirs = mmap(NULL, shared->size, PROT_READ | PROT_WRITE, MAP_SHARED, shared->fd, 0);
	if (shared->theirs == MAP_FAILED)
		return no_memory();
	memcpy(shared->theirs, setup, offsetof(struct sim_setup, phases));
	copy_tables(shared);
	return 0;
}

/* --- libraries that come later ---------------------------------------------------------- */

static bool has_room(const struct sim_program *program, const struct sim_program *room)
{
	return program->object_count <= room->object_count && program->place_count <= room->place_count &&
	       program->function_count <= room->function_count && program->source_count <= room->source_count &&
	       program->names_size <= room->names_size;
}

/* Elements from `first` on, into both. */
static void add_elements(struct sim_shared *shared, uint64_t array, const void *elements, size_t size, uint64_t first, size_t count)
{
	const char *from = (const char *)elements + first * size;
	uint64_t place = array + first * size;

	memcpy((char *)shared->setup + place, from, (count - first) * size);
	memcpy((char *)shared->theirs + place, from, (count - first) * size);
}

bool tool_sim_share_more(struct sim_shared *shared, const struct sim_program *program)
{
	struct sim_setup *setup = shared->setup, *theirs = shared->theirs;

	if (!has_room(program, &shared->room))
		return false;
	add_elements(shared, setup->objects, program->objects, sizeof(*program->objects), setup->object_count, program->object_count);
	add_elements(shared, setup->places, program->places, sizeof(*program->places), setup->place_count, program->place_count);
	add_elements(shared, setup->functions, program->functions, sizeof(*program->functions), setup->function_count,
		     program->function_count);
	add_elements(shared, setup->sources, program->sources, sizeof(*program->sources), setup->source_count, program->source_count);
	add_elements(shared, setup->names, program->names, 1, setup->names_size, program->names_size);
	theirs->object_count = setup->object_count = program->object_count;
	theirs->place_count = setup->place_count = program->place_count;
	theirs->function_count = setup->function_count = program->function_count;
	theirs->source_count = setup->source_count = program->source_count;
	theirs->names_size = setup->names_size = program->names_size;
	return true;
}

/* --- the program's counts ---------------------------------------------------------------- */

/* Each phase without the devices that the SoC does not have. */
static void collect_phases(struct sim_setup *to, const struct sim_setup *from)
{
	const size_t size = offsetof(struct sim_phase, devices) +
			    sim_parameters_devices(&to->parameters) * sizeof(struct sim_device_report);

	for (uint32_t i = 0; i < to->phase_count; i++) {
		memcpy(&to->phases[i], &from->phases[i], size);
		to->phases[i].name[SIM_PHASE_NAME - 1] = '\0';
	}
}

static void collect_sources(struct sim_setup *to, const struct sim_setup *from)
{
	struct sim_source *sources = (struct sim_source *)((char *)to + to->sources);
	const struct sim_source *theirs = (const struct sim_source *)((const char *)from + to->sources);

	for (uint64_t i = 0; i < to->source_count; i++)
		sources[i].uncosted = theirs[i].uncosted;
}

void tool_sim_collect(struct sim_shared *shared)
{
	struct sim_setup *to = shared->setup;
	const struct sim_setup *from = shared->theirs;

	/* One copy: children of the program may still run, and must not change values checked below. */
	memcpy((char *)to + RESULTS_BEGIN, (const char *)from + RESULTS_BEGIN, RESULTS_SIZE);
	to->kind[sizeof(to->kind) - 1] = '\0';
	if (to->phase_count > SIM_PHASES)
		to->phase_count = SIM_PHASES;
	if (to->interval_count > SIM_INTERVALS)
		to->interval_count = SIM_INTERVALS;
	if (!to->interval)
		to->interval_count = 0;
	collect_phases(to, from);
	collect_sources(to, from);
	memcpy((char *)to + to->intervals, (const char *)from + to->intervals, to->interval_count * to->interval_size);
}
