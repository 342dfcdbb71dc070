/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Streams of instructions on a DARE with two contexts, and the plain interpreter
 * beside it: registers, CSRs, memory, errors, counters, the queue and the waiters
 * must be the same after every step. The first byte chooses the configuration.
 *
 * Which NaN a sum is is not defined. If a step has executed one instruction, its
 * NaNs are compared as such, and the interpreter takes over the model's. After a
 * step with more, a NaN may have gone anywhere, an address included: then the
 * context is reset, and both go on with the same memory.
 */
#include <string.h>

#include "tests/fuzz/dare_input.h"
#include "tests/fuzz/dare_side.h"

#define BATCH 24u
#define STEPS_MAX 2000u

static struct side side;
static struct expected expected[CONTEXTS];

/* --- comparison ---------------------------------------------------------------------------- */

static uint64_t load(unsigned int page, unsigned int offset)
{
	struct mimic_access access = { .page = page, .offset = offset, .size = 8, .owner = OWNERS - 1 };

	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	return access.data;
}

static void compare_register(unsigned int context, unsigned int offset, uint64_t value)
{
	uint64_t answer = load(DARE_PAGE_CONTEXT(context), offset);

	if (answer == value)
		return;
	fprintf(stderr, "context %u register 0x%x: 0x%llx, expected 0x%llx\n", context, offset,
		(unsigned long long)answer, (unsigned long long)value);
	abort();
}

static void compare_registers(unsigned int context)
{
	const struct expected *e = &expected[context];

	compare_register(context, DARE_RS1, e->rs1);
	compare_register(context, DARE_RS2, e->rs2);
	compare_register(context, DARE_STATUS, expected_status(e));
	compare_register(context, DARE_MATRIX_M, e->oracle.matrix_m);
	compare_register(context, DARE_MATRIX_K, e->oracle.matrix_k);
	compare_register(context, DARE_MATRIX_N, e->oracle.matrix_n);
	compare_register(context, DARE_DISPATCHED, e->oracle.dispatched + e->level);
	compare_register(context, DARE_COMPLETED, e->oracle.completed);
	compare_register(context, DARE_ERROR, e->oracle.error);
	compare_register(context, DARE_ERROR_INSTRUCTION, e->oracle.error_instruction);
	compare_register(context, DARE_ERROR_POSITION, e->oracle.error_position);
	compare_register(context, DARE_ERROR_ADDRESS, e->oracle.error_address);
	compare_register(context, DARE_ERROR_ROW, e->oracle.error_row);
}

static void compare_counter(unsigned int context, enum dare_counter counter, uint64_t value)
{
	compare_register(context, DARE_COUNTER_OFFSET + 8 * counter, value);
}

static void compare_counters(unsigned int context)
{
	const struct expected *e = &expected[context];

#define ORACLES(_) \
	_(instructions) _(mcfg) _(mld) _(mst) _(mma) _(mgather) _(mscatter) _(rows_loaded) _(rows_stored) \
	_(bytes_loaded) _(bytes_stored) _(macs_used) _(macs_offered) _(errors) _(dropped)
#define OURS(_) _(queue_waits) _(page_faults) _(resolves) _(faults) _(illegal)
#define _(name) compare_counter(context, DARE_COUNTER_##name, e->oracle.counters.name);
	ORACLES(_)
#undef _
#define _(name) compare_counter(context, DARE_COUNTER_##name, e->name);
	OURS(_)
#undef _
}

static bool is_nan(const uint8_t *element)
{
	uint32_t pattern;

	memcpy(&pattern, element, 4);
	return (pattern & 0x7fffffff) > 0x7f800000;
}

/* The interpreter's matrix registers become the model's if they differ in NaNs only. */
static void compare_matrices(unsigned int context)
{
	struct expected *e = &expected[context];
	uint8_t *ours = e->oracle.m[0][0];
	struct dare_context_view view;
	uint8_t theirs[sizeof(e->oracle.m)];

	CHECK(dare_model_context(side.current, context, &view) == 0);
	for (unsigned int i = 0; i < DARE_REGISTERS; i++)
		memcpy(theirs + i * DARE_REGISTER_BYTES, view.registers[i], DARE_REGISTER_BYTES);
	if (!memcmp(ours, theirs, sizeof(e->oracle.m)))
		return;
	for (size_t i = 0; i < sizeof(e->oracle.m); i += 4) {
		if (!memcmp(ours + i, theirs + i, 4))
			continue;
		if (!e->has_nan || !is_nan(ours + i) || !is_nan(theirs + i)) {
			fprintf(stderr, "context %u m%zu row %zu byte %zu differs\n", context, i / 1024,
				i / 64 % 16, i % 64);
			abort();
		}
	}
	memcpy(ours, theirs, sizeof(e->oracle.m));
}

/* After a NaN that may have gone anywhere. */
static void start_again(unsigned int context)
{
	struct mimic_access access = { .page = DARE_PAGE_CONTEXT(context), .offset = DARE_RESET, .size = 8,
				       .is_write = 1, .owner = OWNERS - 1 };
	struct expected *e = &expected[context];
	uint64_t counters[DARE_COUNTER_COUNT];

	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	expected_reset(e);
	memcpy(e->memory->oracle, e->memory->model, sizeof(e->memory->oracle));
	CHECK(dare_model_counters(side.current, context, counters, DARE_COUNTER_COUNT) == DARE_COUNTER_COUNT);
#define _(name) e->oracle.counters.name = counters[DARE_COUNTER_##name];
	ORACLES(_)
#undef _
#define _(name) e->name = counters[DARE_COUNTER_##name];
	OURS(_)
#undef _
}

static void compare_context(unsigned int context)
{
	struct expected *e = &expected[context];

	/* One that waits for a page may have stored some of its rows. */
	if (e->has_nan && e->executed + e->stalled > 1)
		start_again(context);
	compare_registers(context);
	compare_counters(context);
	compare_matrices(context);
	if (e->executed)
		CHECK(!memcmp(e->memory->model, e->memory->oracle, sizeof(e->memory->oracle)));
	e->executed = 0;
	e->has_nan = false;
}

/* Page 0 shows the page that has been waited for longest. */
static void compare_stalls(void)
{
	uint64_t status = load(DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS);
	unsigned int context = status & 0xff;
	bool has_stall = false;

	for (unsigned int i = 0; i < CONTEXTS; i++)
		has_stall |= expected[i].stalled;
	CHECK(!!(status & DARE_FAULT_STALLED) == has_stall);
	if (!has_stall) {
		CHECK(status == 0);
		return;
	}
	CHECK(context < CONTEXTS && expected[context].stalled);
	for (unsigned int i = 0; i < CONTEXTS; i++)
		CHECK(!expected[i].stalled || expected[i].stall_order >= expected[context].stall_order);
	CHECK(status >> 12 == side.memory[context].stalled_address >> 12);
	CHECK(!!(status & DARE_FAULT_WRITES) == side.memory[context].stalled_writes);
}

static void compare(void)
{
	dare_side_settle(&side);
	for (unsigned int i = 0; i < CONTEXTS; i++)
		compare_context(i);
	compare_stalls();
	for (unsigned int owner = 0; owner < OWNERS; owner++) {
		bool waits = expected_is_waiting(&expected[0], owner) || expected_is_waiting(&expected[1], owner);

		CHECK(side.is_parked[owner] == waits);
	}
}

/* --- steps ------------------------------------------------------------------------------------ */

static struct mimic_access access_of(unsigned int context, unsigned int owner, unsigned int offset, uint64_t data)
{
	return (struct mimic_access){
		.page = DARE_PAGE_CONTEXT(context), .offset = offset, .size = 8, .is_write = 1,
		.owner = owner, .data = data,
	};
}

static void set_operands(unsigned int context, uint64_t rs1, uint64_t rs2)
{
	struct mimic_access access = access_of(context, OWNERS - 1, DARE_RS1, rs1);

	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	access = access_of(context, OWNERS - 1, DARE_RS2, rs2);
	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	expected[context].rs1 = rs1;
	expected[context].rs2 = rs2;
}

/* An access that waits is withdrawn; if its thread has ended, its half of an instruction is forgotten, too. */
static void withdraw(unsigned int owner, bool is_gone)
{
	const struct mimic_model_ops *ops = side.current->ops;

	(is_gone ? ops->owner_gone : ops->cancel)(side.current, owner, side.now);
	side.is_parked[owner] = false;
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		expected_withdraw(&expected[i], owner, is_gone);
		/* An access that waited behind it may go on now, or with the context's next access. */
		set_operands(i, expected[i].rs1, expected[i].rs2);
	}
}

static void store(unsigned int context, unsigned int owner, enum waiting_kind kind, uint64_t value)
{
	struct mimic_access access = access_of(context, owner, kind == WAITS_STREAM ? DARE_STREAM : DARE_INSTRUCTION,
					       value);

	if (side.is_parked[owner])
		withdraw(owner, false);
	if (dare_side_access(&side, &access) == MIMIC_PARKED)
		CHECK(expected_store(&expected[context], owner, kind, value));
	else
		CHECK(!expected_store(&expected[context], owner, kind, value));
}

static void clear_error(unsigned int context)
{
	struct mimic_access access = access_of(context, OWNERS - 1, DARE_ERROR, 1);

	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	dare_oracle_clear_error(&expected[context].oracle);
}

static void step_instruction(struct input *input, unsigned int context, unsigned int owner, bool by_stream)
{
	struct instruction instruction = next_instruction(input);

	/* Mostly clears an error first: dropped instructions find no defects. */
	if (expected[context].oracle.error && owner > 1)
		clear_error(context);

	if (!by_stream) {
		set_operands(context, instruction.value[1], instruction.value[2]);
		store(context, owner, WAITS_INSTRUCTION, instruction.value[0]);
		return;
	}
	for (unsigned int i = 0; i < instruction.count; i++) {
		/* Owners that wait cannot store: others bring the rest. */
		store(context, owner, WAITS_STREAM, instruction.value[i]);
		compare();
		owner = 1 + owner % (OWNERS - 2);
	}
}

static void step_batch(struct input *input, unsigned int context, unsigned int owner)
{
	struct mimic_access pattern = access_of(context, owner, DARE_STREAM, 0);
	uint64_t values[3 * BATCH];
	size_t count = 0, expected_count = 0, taken;

	if (side.is_parked[owner])
		withdraw(owner, false);
	for (unsigned int i = 1 + byte(input) % BATCH; i; i--) {
		struct instruction instruction = next_instruction(input);

		memcpy(&values[count], instruction.value, instruction.count * sizeof(values[0]));
		count += instruction.count;
	}
	while (expected_count < count &&
	       !expected_would_wait(&expected[context], WAITS_STREAM, values[expected_count]))
		CHECK(!expected_store(&expected[context], owner, WAITS_STREAM, values[expected_count++]));
	taken = side.current->ops->store_many(side.current, &pattern, values, count, side.now);
	/* With a NaN as an address, the two may wait for different pages. */
	CHECK(taken == expected_count || expected[context].has_nan);
}

static uint32_t next_element(struct input *input, unsigned int kind)
{
	float number = (float)(int8_t)byte(input) / 4;
	uint32_t pattern;

	memcpy(&pattern, &number, 4);
	switch (kind % 4) {
	case 0:
		return pattern;
	case 1:
		return pattern >> 16 | (pattern & 0xffff0000);	/* two bf16 */
	case 2:
		return (uint32_t)bytes(input, 4);
	default:
		return (byte(input) << 23 | byte(input)) & 0x7fffffff;	/* any exponent */
	}
}

/* The program writes: numbers, or addresses of 8 bytes. Not while the device is in the middle of an instruction. */
static void step_memory(struct input *input, unsigned int context)
{
	struct dare_memory *memory = &side.memory[context];
	unsigned int kind = byte(input), page = byte(input) % PAGES, repeat = 1 + kind / 8 % 8;
	unsigned int at = (byte(input) << 4) % PAGE_BYTES;

	if (expected[context].stalled)
		return;
	for (unsigned int i = 0; i < 16 && at < PAGE_BYTES; i++) {
		uint64_t value = kind & 4 ? next_address(input) : next_element(input, kind);
		unsigned int size = kind & 4 ? 8 : 4;

		for (unsigned int n = 0; n < repeat && at < PAGE_BYTES; n++, at += size) {
			memcpy(&memory->model[page][at], &value, size);
			memcpy(&memory->oracle[page][at], &value, size);
		}
	}
}

static void flush(unsigned int context, bool by_register)
{
	struct mimic_access access = { .page = DARE_PAGE_CONTROL, .offset = DARE_CONTROL_FLUSH, .size = 8,
				       .is_write = 1, .owner = OWNERS - 1, .data = context };

	if (by_register)
		CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	else
		dare_model_invalidate(side.current, context, 0, UINT64_MAX);
}

static void step_page(struct input *input, unsigned int context)
{
	unsigned int choice = byte(input), page = byte(input) % PAGES;

	if (expected[context].stalled)
		return;
	side.memory[context].state[page] = choice & 8 ? PRESENT : choice % PAGE_STATES;
	side.memory[context].has_moved[page] ^= choice >> 5 & 1;
	flush(context, choice & 16);
}

static void step_resolve(unsigned int context, unsigned int choice)
{
	struct mimic_access access = { .page = DARE_PAGE_CONTROL, .offset = DARE_CONTROL_RESOLVE, .size = 8,
				       .is_write = 1, .owner = OWNERS - 1, .data = context };
	int page = page_of(side.memory[context].stalled_address);

	switch (choice % 8) {
	case 0:		/* the address is bad */
		break;
	case 1:		/* the driver says that the page is there, and it is not */
		access.data |= DARE_RESOLVE_PRESENT;
		break;
	case 2:
		access.data |= DARE_RESOLVE_LATER;
		break;
	default:
		access.data |= DARE_RESOLVE_PRESENT;
		if (!expected[context].stalled)
			break;
		side.memory[context].state[page] = PRESENT;
		side.memory[context].has_moved[page] ^= true;
	}
	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	if (access.data & DARE_RESOLVE_LATER)
		expected_resolve_later(&expected[context]);
	else
		expected_resolve(&expected[context], access.data & DARE_RESOLVE_PRESENT);
}

static void step_error_or_reset(unsigned int context, unsigned int choice)
{
	struct mimic_access access = access_of(context, OWNERS - 1, DARE_RESET, choice);

	if (choice % 4) {
		clear_error(context);
		return;
	}
	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	expected_reset(&expected[context]);
}

static void step_fence(unsigned int context, unsigned int owner)
{
	struct mimic_access access = access_of(context, owner, DARE_FENCE, 0);

	access.is_write = 0;
	if (side.is_parked[owner])
		withdraw(owner, false);
	if (dare_side_access(&side, &access) == MIMIC_PARKED) {
		CHECK(expected_fence(&expected[context], owner));
		return;
	}
	CHECK(!expected_fence(&expected[context], owner));
	CHECK(access.data == expected_status(&expected[context]));
}

/* Which loads (1) and stores (2) of 8 bytes a context's page takes. */
static unsigned int accesses_of(unsigned int offset)
{
	enum { R = 1, W = 2, RW = 3 };

	if (offset % 8)
		return 0;
	if (offset >= DARE_COUNTER_OFFSET && offset < DARE_COUNTER_OFFSET + 8 * DARE_COUNTER_COUNT)
		return R;
	switch (offset) {
#define _(register_offset, name, kind, reset, role, format, meaning) \
	case register_offset: return kind;
	DARE_CONTEXT_REGISTERS(_)
#undef _
	default:
		return 0;
	}
}

/* Any access; those that are none do nothing. */
static void step_any(struct input *input, unsigned int context)
{
	static const uint8_t sizes[4] = { 1, 2, 4, 8 };
	unsigned int choice = byte(input);
	struct mimic_access access = access_of(context, OWNERS - 1, (unsigned int)bytes(input, 2) % PAGE_BYTES,
					       bytes(input, 2));
	bool is_legal;

	access.is_write = choice & 1;
	access.size = sizes[choice >> 1 & 3];
	if (choice & 8)
		access.offset = access.offset % 0x200;
	is_legal = access.size == 8 || (access.size == 4 && !access.is_write);
	is_legal &= (accesses_of(access.offset) & (access.is_write ? 2u : 1u)) != 0;
	/* The legal ones are for the other steps; only FENCE of these waits. */
	if (is_legal && (access.is_write || access.offset == DARE_FENCE))
		return;
	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	if (is_legal)
		return;
	CHECK(access.data == 0);
	expected[context].illegal++;
}

static void attach(unsigned int context, bool is_attached)
{
	struct mimic_access access = { .page = DARE_PAGE_CONTROL, .offset = DARE_CONTROL_ATTACH, .size = 8,
				       .is_write = 1, .owner = OWNERS - 1,
				       .data = context | (is_attached ? (context + 1) << 8 : 0) };

	CHECK(dare_side_access(&side, &access) == MIMIC_DONE);
	expected_attach(&expected[context], is_attached);
}

static void step(struct input *input)
{
	unsigned int kind = byte(input), context = kind & 1, owner = 1 + (kind >> 5) % (OWNERS - 2);

	side.now += 1 + kind;
	switch (kind >> 1 & 15) {
	case 0: case 1: case 2: case 3: case 4:
		step_instruction(input, context, owner, true);
		break;
	case 5: case 6:
		step_instruction(input, context, owner, false);
		break;
	case 7:
		step_batch(input, context, owner);
		break;
	case 8: case 9:
		step_memory(input, context);
		break;
	case 10:
		step_page(input, context);
		break;
	case 11:
		step_resolve(context, byte(input));
		break;
	case 12:
		step_error_or_reset(context, byte(input));
		break;
	case 13:
		step_fence(context, owner);
		break;
	case 14:
		step_any(input, context);
		break;
	default:
		if (kind < 0x60)
			dare_side_save_and_restore(&side);
		else if (kind < 0xc0)
			withdraw(owner, kind >= 0xa0);
		else if (kind < 0xe0)
			store(context, owner, WAITS_STREAM, bytes(input, 4));
		else
			attach(context, byte(input) % 8);
	}
	compare();
}

/* Numbers that are none of NaN, in three forms, and addresses of our pages. */
static void fill(struct dare_memory *memory)
{
	for (unsigned int i = 0; i < PAGE_BYTES / 8; i++) {
		uint64_t address = page_address(i) + (uint64_t)(i * 68 % 4000);
		float number = (float)((int)(i % 37) - 18) / 4;

		memcpy(&memory->model[0][8 * i], &number, 4);
		number = (float)i;
		memcpy(&memory->model[0][8 * i + 4], &number, 4);
		memcpy(&memory->model[1][8 * i], &address, 8);
		memset(&memory->model[2][8 * i], 0x3f, 8);
		memset(&memory->model[3][8 * i], (int)(i % 251), 8);
		memset(&memory->model[4][8 * i], 0x80, 8);
	}
	memcpy(memory->oracle, memory->model, sizeof(memory->oracle));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int queue_sizes[4] = { 32, 1, 3, DARE_MAX_QUEUE };
	struct input input = { data, size };
	unsigned int flags = byte(&input);
	const struct dare_config config = {
		.contexts = CONTEXTS, .queue_entries = queue_sizes[flags >> 1 & 3],
		.tlb_entries = flags & 8 ? 2 : 32,
	};

	dare_side_start(&side, &config, flags & 1);
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		fill(&side.memory[i]);
		expected_start(&expected[i], &side.memory[i], config.queue_entries);
		if (!(flags & 16))
			attach(i, true);
	}
	for (unsigned int i = 0; input.size && i < STEPS_MAX; i++)
		step(&input);
	dare_side_stop(&side);
	return 0;
}
