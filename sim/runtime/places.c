/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* From a place in the code to the loop of a cost table: looked up once for each place. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/runtime/internal.h"
#include "sim/runtime/real.h"

struct sim_place_cost sim_place_cache[SIM_PLACES];

static const struct sim_place *places;
static const struct sim_loop *loops;
static const struct sim_function *functions;
struct sim_source *sim_sources;
static const char *names;
#define OBJECTS_MAX 64

/* Where the code of an object lies. */
static struct text {
	uintptr_t begin, end;
	uintptr_t base;
	const struct sim_object *object;
} texts[OBJECTS_MAX];
static unsigned int text_count, first_count;	/* those that were there when it began come first */

/* The loader tells of the program first, which has no name. */
static const struct sim_object *find_object(const char *name)
{
	const struct sim_object *objects = (const void *)((const char *)sim.setup + sim.setup->objects);

	for (uint64_t i = text_count != 0; i < sim.setup->object_count; i++)
		if (!text_count || !strcmp(name, names + objects[i].path))
			return &objects[i];
	return NULL;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct text *text = &texts[text_count];

	(void)size;
	(void)context;
	text->object = find_object(info->dlpi_name);
	if (!text->object)
		return 0;
	text->base = info->dlpi_addr;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		if (!text->begin)
			text->begin = text->base + segment->p_vaddr;
		text->end = text->base + segment->p_vaddr + segment->p_memsz;
	}
	return ++text_count == OBJECTS_MAX;
}

int sim_places_begin(void)
{
	struct sim_setup *setup = sim.setup;
	char *file = (char *)setup;

	names = file + setup->names;
	places = (const void *)(file + setup->places);
	loops = (const void *)(file + setup->loops);
	functions = (const void *)(file + setup->functions);
	sim_sources = (void *)(file + setup->sources);
	dl_iterate_phdr(on_object, NULL);
	first_count = text_count;
	return 0;
}

static const struct text *find_text(uintptr_t pc)
{
	for (unsigned int i = 0; i < text_count; i++)
		if (pc >= texts[i].begin && pc < texts[i].end)
			return &texts[i];
	return NULL;
}

/* --- libraries that dlopen() has loaded --------------------------------------------------------- */

/* The command reads it meanwhile; no time passes. */
static void ask(const char *path)
{
	struct sim_setup *setup = sim.setup;

	snprintf(setup->library, sizeof(setup->library), "%s", path);
	atomic_store(&setup->question, SIM_ASKED);
	syscall(SYS_futex, &setup->question, FUTEX_WAKE, 1, NULL, NULL, 0);
	/* If the command dies, this process is killed. */
	while (atomic_load(&setup->question) == SIM_ASKED)
		syscall(SYS_futex, &setup->question, FUTEX_WAIT, SIM_ASKED, NULL, NULL, 0);
	if (atomic_load(&setup->question) == SIM_LIBRARY_REFUSED)
		sim_end_with(SIM_REFUSED);
}

/* The loader has it as it was given to dlopen(). false: it is too long. */
static bool absolute_path(const char *name, char *path, size_t size)
{
	char folder[PATH_MAX] = "";

	if (*name != '/' && !getcwd(folder, sizeof(folder)))
		return false;
	return (size_t)snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", name) < size;
}

static const struct sim_object *find_library(const char *name)
{
	static char path[sizeof(sim.setup->library)];
	const struct sim_object *object;

	if (!absolute_path(name, path, sizeof(path)))
		return NULL;
	object = find_object(path);
	if (!object) {
		ask(path);
		object = find_object(path);
	}
	return object;
}

#if __GLIBC_PREREQ(2, 35)

/* The object that the loader has mapped around an address: its name, or NULL, and its place. */
static const char *find_mapped(uintptr_t pc, struct text *text)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)pc, &found))
		return NULL;
	*text = (struct text){ .begin = (uintptr_t)found.dlfo_map_start, .end = (uintptr_t)found.dlfo_map_end,
			       .base = found.dlfo_link_map->l_addr };
	return found.dlfo_link_map->l_name;
}

#else

struct search {
	uintptr_t pc;
	struct text *text;
	const char *name;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	uintptr_t begin = UINTPTR_MAX, end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		begin = from < begin ? from : begin;
		end = to > end ? to : end;
	}
	if (search->pc < begin || search->pc >= end)
		return 0;
	*search->text = (struct text){ .begin = begin, .end = end, .base = info->dlpi_addr };
	search->name = info->dlpi_name;
	return 1;
}

/* As above, of an older C library. */
static const char *find_mapped(uintptr_t pc, struct text *text)
{
	struct search search = { pc, text, NULL };

	dl_iterate_phdr(look_at, &search);
	return search.name;
}

#endif

/* NULL: it is no code of a library with hooks. */
static const struct text *find_late(uintptr_t pc)
{
	int error = errno;
	const struct sim_object *object = NULL;
	struct text text;
	const char *name = text_count < OBJECTS_MAX ? find_mapped(pc, &text) : NULL;

	if (name && *name)
		object = find_library(name);
	errno = error;
	if (!object || !object->place_count)
		return NULL;
	text.object = object;
	texts[text_count] = text;
	return &texts[text_count++];
}

/* The next library may be loaded in the same place. */
SIM_EXPORT int dlclose(void *library)
{
	int error = REAL(dlclose)(library);

	if (sim_self) {
		text_count = first_count;
		memset(sim_place_cache, 0, sizeof(sim_place_cache));
	}
	return error;
}

/* --- costs ------------------------------------------------------------------------------------------ */

bool sim_place_is_program(uintptr_t pc)
{
	return find_text(pc) != NULL;
}

/* NULL: no place begins at or before the address. */
static const struct sim_place *search(const struct sim_object *object, uint64_t address)
{
	const struct sim_place *in = &places[object->first_place];
	uint64_t low = 0, high = object->place_count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (in[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &in[low - 1] : NULL;
}

static void loop_cost(uint32_t loop, uint32_t source, struct sim_place_cost *cost)
{
	uint64_t accesses = loops[loop].accesses ? loops[loop].accesses : 1;
	/* The access itself is one, which the core counts. */
	uint64_t more = loops[loop].instructions > accesses ? loops[loop].instructions - accesses : 0;
	uint64_t longer;

	cost->loop = loop;
	cost->source = source;
	cost->instructions = (uint32_t)(more / accesses);
	cost->part = (uint32_t)(more % accesses);
	cost->parts = (uint32_t)accesses;
	longer = sim_parameters_pipeline(&sim.setup->parameters, loops[loop].taken, loops[loop].missed,
					 loops[loop].multiplies);
	cost->longer = (uint32_t)(longer / accesses);
	cost->longer_part = (uint32_t)(longer % accesses);
}

void sim_place_find(struct sim_place_cost *entry, uintptr_t pc)
{
	const struct text *known = find_text(pc), *text = known ? known : find_late(pc);
	/* A return address may be that of the next line already. */
	const struct sim_place *place = text ? search(text->object, pc - 1 - text->base) : NULL;

	entry->pc = pc;
	entry->function = place ? place->function : SIM_NO_FUNCTION;
	loop_cost(place ? place->loop : 0, place ? place->source : 0, entry);
}

#define RECENT_COSTS 64

/* loop_cost(), which divides, of a loop and a source that are asked for often. */
static const struct sim_place_cost *recent_cost(uint32_t loop, uint32_t source)
{
	static struct sim_place_cost recent[RECENT_COSTS];	/* pc: 1 where it is one */
	struct sim_place_cost *cost = &recent[loop % RECENT_COSTS];

	if (cost->pc && cost->loop == loop && cost->source == source)
		return cost;
	loop_cost(loop, source, cost);
	cost->pc = 1;
	return cost;
}

/* Libraries of devices have no hooks: an operation belongs to the function that called them. */
const struct sim_place_cost *sim_mmio_cost(const struct sim_thread *thread)
{
	const struct sim_function *function = sim_function(thread->call->function);
	uint32_t loop = function ? function->mmio_loop : 0;

	if (loops[thread->call->loop].mmio)
		loop = thread->call->loop;
	return recent_cost(loop, function ? function->source : 0);
}

void sim_forget_uncosted(void)
{
	for (uint64_t i = 0; i < sim.setup->source_count; i++)
		sim_sources[i].uncosted = 0;
}

const struct sim_function *sim_function(uint32_t function)
{
	return function < sim.setup->function_count ? &functions[function] : NULL;
}

const char *sim_function_name(uint32_t function)
{
	return function < sim.setup->function_count ? names + functions[function].name : "?";
}
