/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Lanes in a BAR (mimic/pci.h): the machine's programs are clients of the engine, one for each
 * address space, as programs at mimicd's socket are. Their commands are checked where they are executed
 * (daemon/engine/execute.c); this file serves the driver.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/explain.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/lane.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"
#include "libmimic/base/memory.h"

#define COMMAND_WORDS 4096u
#define RESPONSE_WORDS 2048u
#define STATE_SHIFT 60
#define NUMBER_SHIFT 32

_Static_assert(offsetof(struct mimic_lane, client_sleeping) == MIMIC_PCI_LANE_SLEEPING, "drivers know where it is");
_Static_assert(offsetof(struct mimic_lane, lost) == MIMIC_PCI_LANE_LOST &&
	       sizeof(((struct mimic_lane *)0)->lost) == MIMIC_PCI_LANE_LOST_SIZE, "and these");
_Static_assert(MIMIC_PCI_LANE_LEVELS == MIMIC_LANE_LEVELS, "as at the socket");
_Static_assert(MIMIC_PCI_LANES == 64, "a bit for each");

/* A program of the machine: all that one address space has. */
struct program {
	struct mimicd_client client;	/* first: the engine knows only this part */
	struct mimicd_rings *rings;
	unsigned int space;		/* its index */
};

struct ring_lane {
	uint32_t opened;		/* MIMIC_PCI_LANE_OPEN() */
	unsigned int state;		/* MIMIC_PCI_LANE_IS_... */
	struct mimicd_lane *lane;	/* OPEN, CLOSING */
};

struct mimicd_rings {
	struct mimicd_machine *machine;
	void (*flush)(struct mimicd_machine *machine);
	int fd;
	char *base;
	uint64_t done;			/* LANES_DONE */
	struct mimicd_process *processes;	/* of the programs */
	struct program *programs[MIMIC_PCI_SPACES];
	struct ring_lane lanes[MIMIC_PCI_LANES];
};

static size_t lane_size(void)
{
	return mimic_lane_size(COMMAND_WORDS, RESPONSE_WORDS);
}

size_t mimicd_rings_size(void)
{
	size_t size = MIMIC_PAGE_SIZE;

	while (size < MIMIC_PCI_LANES * lane_size())
		size *= 2;
	return size;
}

uint64_t mimicd_rings_layout(void)
{
	return lane_size() / MIMIC_PAGE_SIZE | COMMAND_WORDS << 16 | (uint64_t)RESPONSE_WORDS << 32;
}

static struct program *program_of(struct mimicd_client *client)
{
	return (struct program *)client;
}

static unsigned int number_of(const struct mimicd_lane *lane)
{
	const struct mimicd_rings *rings = program_of(lane->client)->rings;

	return (unsigned int)((size_t)((const char *)lane->memory - rings->base) / lane_size());
}

static unsigned int space_of(uint32_t opened)
{
	return opened >> 16 & 0xff;
}

static struct mimic_lane *memory_of(const struct mimicd_rings *rings, unsigned int number)
{
	return (struct mimic_lane *)(void *)(rings->base + number * lane_size());
}

/* --- calls of the engine ------------------------------------------------------------------ */

static void wake(struct mimicd_lane *lane)
{
	struct mimicd_rings *rings = program_of(lane->client)->rings;

	rings->done |= 1ull << number_of(lane);
	mimicd_interrupt_raise(rings->machine, MIMIC_PCI_STATUS_LANES, MIMIC_PCI_VECTOR_SLOTS);
}

static void lane_gone(struct mimicd_lane *lane)
{
	struct ring_lane *at = &program_of(lane->client)->rings->lanes[number_of(lane)];

	at->lane = NULL;
	at->state = MIMIC_PCI_LANE_IS_CLOSED;
}

static void flushed(struct mimicd_client *client)
{
	struct mimicd_rings *rings = program_of(client)->rings;

	rings->flush(rings->machine);
}

/* A thread that waits at the lane finds that it has no device any more. */
static void lose_lane(struct mimicd_rings *rings, unsigned int number)
{
	struct mimic_lane *memory = memory_of(rings, number);

	for (unsigned int i = 0; i < MIMIC_LANE_LOST_WORDS; i++)
		atomic_store_explicit(&memory->lost[i], ~0ull, memory_order_relaxed);
	mimic_lane_fence();
	atomic_store_explicit(&memory->client_sleeping, MIMIC_LANE_AWAKE, memory_order_relaxed);
	rings->done |= 1ull << number;
}

static void end_program(struct program *program, unsigned int state)
{
	struct mimicd_rings *rings = program->rings;
	uint64_t lanes = 0;

	for (unsigned int i = 0; i < MIMIC_PCI_LANES; i++) {
		if (rings->lanes[i].lane && rings->lanes[i].lane->client == &program->client)
			lanes |= 1ull << i;
	}
	rings->programs[program->space] = NULL;
	mimicd_client_destroy(&program->client);
	free(program);
	for (unsigned int i = 0; i < MIMIC_PCI_LANES; i++) {
		if (!(lanes >> i & 1))
			continue;
		rings->lanes[i].state = state;
		lose_lane(rings, i);
	}
	if (lanes)
		mimicd_interrupt_raise(rings->machine, MIMIC_PCI_STATUS_LANES, MIMIC_PCI_VECTOR_SLOTS);
}

static void end_broken(struct mimicd_client *client)
{
	end_program(program_of(client), MIMIC_PCI_LANE_IS_BROKEN);
}

static const struct mimicd_client_ops client_ops = {
	.end = end_broken,
	.wake = wake,
	.lane_gone = lane_gone,
	.flushed = flushed,
};

/* --- programs ------------------------------------------------------------------------------- */

/* Devices of the program: the contexts that its space has by now. */
static int give_devices(struct program *program)
{
	struct mimicd_instance *instance = program->rings->machine->instance;
	int error = 0;

	if (!instance->kind->contexts)
		return mimicd_client_give(&program->client, 0, instance, 0);
	for (unsigned int i = 0; i < instance->context_count && !error; i++) {
		if (instance->contexts[i].address_space == program->space + 1)
			error = mimicd_client_give(&program->client, i, instance, i);
	}
	return error;
}

static int init_program(struct program *program)
{
	struct mimicd_rings *rings = program->rings;
	const struct mimicd_machine *machine = rings->machine;
	struct mimicd_client *client = &program->client;
	int error;

	client->program = machine->spaces[program->space].binding.program;
	client->is_shown = true;
	error = mimicd_client_init(client, machine->function->vfio->engine, &client_ops, -1);
	if (error)
		return error;
	client->process = mimicd_process_get(&rings->processes, program->space + 1);
	if (!client->process)
		return -ENOMEM;
	client->process->clients++;
	return give_devices(program);
}

static int get_program(struct mimicd_rings *rings, unsigned int space, struct program **found)
{
	struct program *program = rings->programs[space];
	int error;

	if (program && program->client.broken) {
		end_program(program, MIMIC_PCI_LANE_IS_BROKEN);
		program = NULL;
	}
	*found = program;
	if (program)
		return 0;
	program = calloc(1, sizeof(*program));
	if (!program)
		return -ENOMEM;
	program->rings = rings;
	program->space = space;
	error = init_program(program);
	if (error) {
		mimicd_client_destroy(&program->client);
		free(program);
		return error;
	}
	*found = rings->programs[space] = program;
	return 0;
}

void mimicd_rings_attach(struct mimicd_machine *machine, unsigned int context)
{
	const struct mimicd_instance *instance = machine->instance;
	uint64_t number;
	int error = 0;

	if (!machine->rings || context >= instance->context_count)
		return;
	number = instance->contexts[context].address_space;
	if (number && number <= MIMIC_PCI_SPACES && machine->rings->programs[number - 1])
		error = give_devices(machine->rings->programs[number - 1]);
	if (error)
		mimicd_log_of(machine->connection.uid, MIMICD_LOG_WARNING, "%s: context %u, for lanes: %s",
			      machine->connection.path,
			      context, strerror(-error));
}

void mimicd_rings_end_space(struct mimicd_machine *machine, unsigned int space)
{
	if (machine->rings && machine->rings->programs[space])
		end_program(machine->rings->programs[space], MIMIC_PCI_LANE_IS_CLOSED);
}

/* --- lanes ---------------------------------------------------------------------------------- */

/* An open lane of the same thread, but not that one. */
static struct mimicd_lane *find_sibling(const struct mimicd_rings *rings, uint32_t opened, unsigned int number)
{
	for (unsigned int i = 0; i < MIMIC_PCI_LANES; i++) {
		const struct ring_lane *at = &rings->lanes[i];

		if (i != number && at->state == MIMIC_PCI_LANE_IS_OPEN && space_of(at->opened) == space_of(opened) &&
		    (at->opened & 0xff) == (opened & 0xff))
			return at->lane;
	}
	return NULL;
}

static int open_lane(struct mimicd_rings *rings, unsigned int number, uint32_t opened)
{
	const struct mimicd_lane_place place = { memory_of(rings, number), COMMAND_WORDS, RESPONSE_WORDS };
	unsigned int space = space_of(opened) - 1, level = opened >> 8 & 0xff;
	struct mimicd_lane *sibling;
	struct program *program;
	int error;

	if (!(opened & 0xff) || opened >> 24 || level >= MIMIC_PCI_LANE_LEVELS || space >= MIMIC_PCI_SPACES)
		return -EINVAL;
	if (!rings->machine->spaces[space].is_open || rings->machine->spaces[space].mode == MIMIC_PCI_MODE_NONE)
		return -ENOENT;
	error = get_program(rings, space, &program);
	if (error)
		return error;
	/* This program must not see data that another one had there. */
	memset(place.memory, 0, lane_size());
	rings->done &= ~(1ull << number);
	sibling = find_sibling(rings, opened, number);
	return mimicd_lane_create_in(&program->client, sibling ? sibling->thread->number : 0, level, &place,
				     &rings->lanes[number].lane);
}

/* Posts that are not executed yet are dropped. */
static void drop_lane(struct ring_lane *at)
{
	struct mimicd_client *client = at->lane->client;

	mimicd_lane_destroy(at->lane);
	/* Its thread may have no other. */
	mimicd_lanes_reap(client);
}

static void close_lane(struct mimicd_rings *rings, unsigned int number)
{
	struct ring_lane *at = &rings->lanes[number];
	struct mimicd_client *client;

	if (at->state == MIMIC_PCI_LANE_IS_CLOSING) {
		drop_lane(at);
		return;
	}
	if (at->state != MIMIC_PCI_LANE_IS_OPEN) {
		at->state = MIMIC_PCI_LANE_IS_CLOSED;
		return;
	}
	client = at->lane->client;
	at->state = MIMIC_PCI_LANE_IS_CLOSING;
	if (find_sibling(rings, at->opened, number))
		mimicd_lane_retire(at->lane);
	else
		mimicd_thread_end(client, at->lane->thread->number);
	if (client->broken)
		end_program(program_of(client), MIMIC_PCI_LANE_IS_BROKEN);
	else
		mimicd_lanes_reap(client);
}

void mimicd_rings_store(struct mimicd_machine *machine, unsigned int number, uint64_t value)
{
	struct mimicd_rings *rings = machine->rings;
	struct ring_lane *at;
	int error;

	if (!rings)
		return;
	at = &rings->lanes[number];
	if (!(uint32_t)value) {
		close_lane(rings, number);
		return;
	}
	if (at->state == MIMIC_PCI_LANE_IS_OPEN)
		return;
	if (at->lane)
		drop_lane(at);
	error = open_lane(rings, number, (uint32_t)value);
	at->opened = (uint32_t)value;
	at->state = error ? MIMIC_PCI_LANE_IS_REFUSED : MIMIC_PCI_LANE_IS_OPEN;
	if (error)
		mimicd_log_of(machine->connection.uid, MIMICD_LOG_WARNING, "%s: lane %u, %#x: %s",
			      machine->connection.path, number,
			      (unsigned int)value, strerror(-error));
}

uint64_t mimicd_rings_load(const struct mimicd_machine *machine, unsigned int number)
{
	const struct ring_lane *at;
	uint64_t value;

	if (!machine->rings)
		return 0;
	at = &machine->rings->lanes[number];
	if (at->state == MIMIC_PCI_LANE_IS_CLOSED)
		return 0;
	value = at->opened | (uint64_t)at->state << STATE_SHIFT;
	return at->lane ? value | (uint64_t)(at->lane->number & 0xffff) << NUMBER_SHIFT : value;
}

uint64_t mimicd_rings_done(const struct mimicd_machine *machine)
{
	return machine->rings ? machine->rings->done : 0;
}

void mimicd_rings_clear_done(struct mimicd_machine *machine, uint64_t bits)
{
	if (machine->rings)
		machine->rings->done &= ~bits;
}

void mimicd_rings_cancel(struct mimicd_machine *machine, uint64_t number)
{
	struct ring_lane *at;

	if (!machine->rings || number >= MIMIC_PCI_LANES)
		return;
	at = &machine->rings->lanes[number];
	if (at->state == MIMIC_PCI_LANE_IS_OPEN)
		mimicd_lane_cancel(at->lane);
}

void mimicd_rings_explain(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; machine->rings && i < MIMIC_PCI_LANES; i++) {
		struct mimicd_lane *lane = machine->rings->lanes[i].lane;
		struct mimic_lane_note *note;
		char words[MIMIC_EXPLAIN_MAX] = "";
		struct mimic_text text;

		if (!lane)
			continue;
		note = mimic_lane_note(lane->memory, lane_size());
		if (!atomic_load_explicit(&note->asked, memory_order_relaxed))
			continue;
		mimic_text_begin(&text, words, sizeof(words));
		mimicd_lane_explain(lane, &text);
		memcpy(note->text, words, sizeof(words));
		atomic_store_explicit(&note->asked, 0, memory_order_release);
	}
}

/* --- made ----------------------------------------------------------------------------------- */

int mimicd_rings_fd(const struct mimicd_machine *machine)
{
	return machine->rings->fd;
}

char *mimicd_rings_memory(const struct mimicd_machine *machine)
{
	return machine->rings->base;
}

int mimicd_rings_create(struct mimicd_machine *machine, void (*flush)(struct mimicd_machine *machine))
{
	struct mimicd_rings *rings = calloc(1, sizeof(*rings));
	int error;

	if (!rings)
		return -ENOMEM;
	rings->machine = machine;
	rings->flush = flush;
	rings->fd = mimic_memory_file("mimic lanes", mimicd_rings_size());
	if (rings->fd < 0) {
		error = rings->fd;
		free(rings);
		return error;
	}
	/* Made now: a page that is not there when a file system is full would be a SIGBUS later. */
	error = mimic_memory_make_pages(rings->fd, MIMIC_PCI_LANES * lane_size());
	rings->base = error ? MAP_FAILED : mmap(NULL, mimicd_rings_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
						rings->fd, 0);
	if (rings->base == MAP_FAILED) {
		error = error ? error : -errno;
		close(rings->fd);
		free(rings);
		return error;
	}
	machine->rings = rings;
	return 0;
}

void mimicd_rings_reset(struct mimicd_machine *machine)
{
	if (!machine->rings)
		return;
	for (unsigned int i = 0; i < MIMIC_PCI_SPACES; i++)
		mimicd_rings_end_space(machine, i);
	memset(machine->rings->lanes, 0, sizeof(machine->rings->lanes));
	machine->rings->done = 0;
}

void mimicd_rings_destroy(struct mimicd_machine *machine)
{
	struct mimicd_rings *rings = machine->rings;

	if (!rings)
		return;
	mimicd_rings_reset(machine);
	munmap(rings->base, mimicd_rings_size());
	close(rings->fd);
	free(rings);
	machine->rings = NULL;
}
