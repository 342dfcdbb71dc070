/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Any accesses to any device, built in or copied from the template, and the promises of its
 * table of registers (devices/register.h):
 *
 * - a load of a register without a `load` function answers the value of peek(), and changes nothing but
 *   counters;
 * - showing the state changes nothing;
 * - after power-on each register is as it was when the device was made.
 *
 * The first byte chooses the kind; then a step is: a flag byte, the page, the offset (two
 * bytes), the value (eight). scripts/print-dictionary.c makes a dictionary of all registers in
 * this form, so that a new device needs no line here.
 */
#include <string.h>

#include "devices/kind.h"
#include "devices/register.h"
#include "libmimic/base/kinds.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/memory_port.h"
#include "tests/fuzz/registers_step.h"

extern const struct mimic_kind mimic_kind_template;

#define STEPS_MAX 400u
#define OWNERS 4u
#define REGISTERS_MAX 4096u
#define TICKS 64u

static struct {
	const struct mimic_kind *kind;
	struct mimic_model *model;
	uint64_t now;
	bool is_parked[OWNERS];
	unsigned char *before, *after;	/* images */
	size_t image_size;
	uint64_t at_first[REGISTERS_MAX];	/* values of registers when the device was made */
} side;

/* --- the host ------------------------------------------------------------------------------ */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)data;
	CHECK(owner < OWNERS && side.is_parked[owner]);
	side.is_parked[owner] = false;
}

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	(void)context;
	return address_space ? &fuzz_memory_port : NULL;
}

/* --- promises of the table ----------------------------------------------------------------- */

/* Without counters: some count accesses of programs. */
static size_t image(unsigned char **where)
{
	size_t size;

	side.model->ops->clear_counters(side.model);
	size = side.model->ops->save(side.model, NULL, 0);
	if (size > side.image_size) {
		side.before = realloc(side.before, size);
		side.after = realloc(side.after, size);
		CHECK(side.before && side.after);
		side.image_size = size;
	}
	CHECK(side.model->ops->save(side.model, *where, size) == size);
	return size;
}

static void check_nothing_changed(size_t size, const char *by)
{
	CHECK(image(&side.after) == size);
	for (size_t i = 0; i < size; i++) {
		if (side.before[i] == side.after[i])
			continue;
		fprintf(stderr, "%s: %s changes byte %zu of the image\n", side.kind->name, by, i);
		abort();
	}
}

static const struct mimic_register *row_of(const struct mimic_access *access, struct mimic_register_place *place)
{
	for (size_t i = 0; i < side.kind->block_count; i++) {
		const struct mimic_register_block *block = side.kind->blocks[i];

		if (!(block->access & (access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R)) ||
		    access->page < block->page || access->page - block->page >= block->pages)
			continue;
		return mimic_register_at(block, access->page - block->page, (uint32_t)access->offset, place);
	}
	return NULL;
}

static void step_access(struct mimic_access *access)
{
	struct mimic_register_place place = { 0 };
	const struct mimic_register *row = row_of(access, &place);
	bool is_plain = row && !access->is_write && row->access & MIMIC_REGISTER_R && !row->load && row->peek &&
			access->size == 8 && access->offset % 8 == 0;
	/* The image first: without counters, which peek() may show, too. */
	size_t size = is_plain ? image(&side.before) : 0;
	uint64_t peeked = 0, owner = access->owner;
	bool is_known = is_plain && row->peek(side.model, place, side.now, &peeked) == MIMIC_PEEK_VALUE;

	side.is_parked[owner] = true;
	if (side.model->ops->access(side.model, access, side.now) == MIMIC_DONE)
		side.is_parked[owner] = false;
	if (!is_known)
		return;
	CHECK(!side.is_parked[owner]);
	CHECK(access->data == peeked);
	check_nothing_changed(size, row->name);
}

static void count_folder(void *context, const char *name)
{
	CHECK(name && *name);
	++*(unsigned int *)context;
}

static void count_number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
			 const char *meaning)
{
	(void)value;
	(void)meaning;
	CHECK(name && format <= MIMIC_STATE_BOOLEAN);
	++*(unsigned int *)context;
}

static void count_text(void *context, const char *name, const char *value, const char *meaning)
{
	(void)meaning;
	CHECK(name && value);
	++*(unsigned int *)context;
}

static void count_bytes(void *context, const char *name, const void *values, size_t size, const char *meaning)
{
	(void)meaning;
	CHECK(name && (values || !size));
	++*(unsigned int *)context;
}

static void step_show(void)
{
	unsigned int shown = 0;
	struct mimic_state_visitor visitor = {
		.context = &shown, .enter = count_folder, .leave = count_folder, .number = count_number,
		.text = count_text, .bytes = count_bytes,
	};
	size_t size = image(&side.before);

	side.kind->state(side.model, side.now, &visitor);
	CHECK(shown);
	check_nothing_changed(size, "showing the state");
}

/*
 * The value of index 0 of each row of each block. The table's reset values do not say it all:
 * some depend on the configuration.
 */
static void note_registers(uint64_t *values)
{
	size_t count = 0;

	memset(values, 0, REGISTERS_MAX * sizeof(*values));
	for (size_t i = 0; i < side.kind->block_count; i++) {
		const struct mimic_register_block *block = side.kind->blocks[i];

		for (size_t k = 0; k < block->count; k++) {
			const struct mimic_register *row = &block->rows[k];
			uint64_t value = 0;

			CHECK(count < REGISTERS_MAX);
			if (row->name && row->peek &&
			    row->peek(side.model, (struct mimic_register_place){ 0 }, side.now, &value) != MIMIC_PEEK_VALUE)
				value = 0;
			values[count++] = value;
		}
	}
}

static void check_power_on(void)
{
	static uint64_t now[REGISTERS_MAX];

	side.model->ops->power_on(side.model, side.now);
	for (unsigned int i = 0; i < OWNERS; i++)
		CHECK(!side.is_parked[i]);
	note_registers(now);
	for (size_t i = 0; i < REGISTERS_MAX; i++) {
		if (now[i] == side.at_first[i])
			continue;
		fprintf(stderr, "%s: row %zu of its blocks is %#llx after power-on, and was %#llx at first\n",
			side.kind->name, i, (unsigned long long)now[i], (unsigned long long)side.at_first[i]);
		abort();
	}
}

/* --- a run --------------------------------------------------------------------------------- */

static void tick(void)
{
	for (unsigned int i = 0; i < TICKS && side.model->ops->busy(side.model); i++)
		side.model->ops->tick(side.model, side.now);
}

static void step_rare(unsigned int choice, unsigned int owner)
{
	switch (choice % 8) {
	case 0:
		check_power_on();
		break;
	case 1:
		side.model->ops->owner_gone(side.model, owner, side.now);
		break;
	case 2:
		side.model->ops->invalidate(side.model, 0, UINT64_MAX);
		break;
	case 3:
		side.model->ops->clear_counters(side.model);
		break;
	default:
		step_show();
	}
}

static void step(struct input *input)
{
	unsigned int flags = byte(input);
	struct mimic_access access = {
		.page = (uint8_t)byte(input),
		.offset = (uint32_t)bytes(input, 2) % 4096,
		.size = (uint8_t)(1u << (flags >> STEP_SIZE & 3)),
		.is_write = flags & STEP_WRITE,
		.owner = flags >> STEP_OWNER & (OWNERS - 1),
	};
	uint64_t value = bytes(input, 8);

	/* Does work that is due by time before an image is taken. */
	side.now += 1 + (flags & STEP_LATER ? 1000 : 0);
	side.model->ops->tick(side.model, side.now);
	/* A thread that waits does nothing else, until a driver withdraws its access. */
	if (side.is_parked[access.owner]) {
		side.is_parked[access.owner] = false;
		side.model->ops->cancel(side.model, access.owner, side.now);
	}
	access.page %= side.kind->device_pages;
	access.offset -= access.offset % access.size;
	if (access.is_write)
		access.data = access.size == 8 ? value : value & ((1ull << 8 * access.size) - 1);
	if ((flags & STEP_RARE) == STEP_RARE)
		step_rare((unsigned int)value, access.owner);
	else
		step_access(&access);
	tick();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char reason[MIMIC_KIND_REASON_MAX];

	(void)argc;
	(void)argv;
	CHECK(!mimic_kind_register(&mimic_kind_template, reason, sizeof(reason)));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct mimic_host host = { .complete = complete, .memory = fuzz_memory_port, .memory_of = memory_of };
	struct mimic_own_parameters parameters;
	void *memory = NULL;

	side.kind = mimic_kinds[byte(&input) % mimic_kind_count()];
	side.now = 0;
	memset(side.is_parked, 0, sizeof(side.is_parked));
	fuzz_memory_reset();
	side.kind->defaults(&parameters);
	if (side.kind->memory_size) {
		memory = aligned_alloc(4096, side.kind->memory_size(&parameters));
		CHECK(memory);
		memset(memory, 0, side.kind->memory_size(&parameters));
	}
	side.model = side.kind->create(&parameters, &host, memory);
	CHECK(side.model);
	note_registers(side.at_first);
	for (unsigned int i = 0; i < STEPS_MAX && input.size; i++)
		step(&input);
	check_power_on();
	side.kind->destroy(side.model);
	free(memory);
	return 0;
}
