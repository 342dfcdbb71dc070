/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The device beside the plain reference. The reference does the commands later, and
 * into the same program memory; the device's output there is kept aside.
 */
#include <string.h>

#include "tests/contract/virgo/internal.h"
#include "tests/lib/virgo_reference.h"

#define COMMANDS_MAX 4096
#define SCALE_KEPT 0xffffffffu

static struct {
	struct virgo_reference *reference;
	struct {
		uint64_t rs1, rs2;
		unsigned int funct;
	} commands[COMMANDS_MAX];
	size_t count;
	uint64_t store_rs1, store_rs2;		/* the store's configuration */
	uint8_t before[OUTPUT_BYTES], written[OUTPUT_BYTES];
	uint8_t accumulator[ACCUMULATOR_BYTES];
} check;

void check_begin(void)
{
	static const unsigned int types[] = {
		[INT8] = REFERENCE_INT8, [FP16] = REFERENCE_FP16, [FP32] = REFERENCE_FP32,
	};

	virgo_reference_destroy(check.reference);
	check.reference = virgo_reference_create(types[unit.type], unit.dim, SHARED_BYTES,
						 ACCUMULATOR_BYTES);
	if (!check.reference)
		contract_fail(__FILE__, __LINE__, "no memory");
	check.count = 0;
	check.store_rs1 = 2;
	check.store_rs2 = 0x3f800000ull << 32;
}

/* The scale of the store stays where a configuration says so. */
static void note_store(uint64_t rs1, uint64_t rs2)
{
	check.store_rs1 = rs1;
	if (rs2 >> 32 == SCALE_KEPT)
		rs2 = (check.store_rs2 & ~0xffffffffull) | (uint32_t)rs2;
	check.store_rs2 = rs2;
}

void check_command(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	if (check.count == COMMANDS_MAX)
		contract_fail(__FILE__, __LINE__, "the case sends too much between its checks");
	if (!check.count) {
		memcpy(check.before, output_at(0), OUTPUT_BYTES);
		/* The program's own stores to the shared memory. */
		memcpy(check.reference->spad, shared_memory(), SHARED_BYTES);
	}
	if (funct == CONFIG && (rs1 & 3) == 2)
		note_store(rs1, rs2);
	check.commands[check.count].funct = funct;
	check.commands[check.count].rs1 = rs1;
	check.commands[check.count++].rs2 = rs2;
}

/*
 * Nothing but mvout shows the accumulator. The configuration of the store, and the
 * third bit of its activation that it clears, are then as they were.
 */
static void read_accumulator(const char *file, int line)
{
	const struct virgo_reference *r = check.reference;

	rocc_unseen(CONFIG, 2, 0x3f800000ull << 32 | unit.dim * 4);
	rocc_unseen(MVOUT, address_of(check.accumulator), pack(unit.accumulator_rows, unit.dim, ACC | FULL));
	rocc_unseen(CONFIG, check.store_rs1, check.store_rs2);
	if (r->activation_high)
		rocc_unseen(CONFIG, (uint64_t)r->qln2.u << 32 | 1u << 16 | r->statistic << 8 | 3,
			    (uint64_t)r->qc.u << 32 | r->qb.u);
	virgo_expect_complete(file, line);
}

static void compare(const char *file, int line, const char *what, unsigned int row_bytes, const void *actual,
		    const void *expected, size_t size)
{
	const uint8_t *got = actual, *want = expected;
	size_t i = 0;

	if (!memcmp(actual, expected, size))
		return;
	while (got[i] == want[i])
		i++;
	contract_fail(file, line, "unit %u, after %zu commands: %s, row %zu, byte %zu is %#x, the contract says %#x",
		      unit.number, check.count, what, i / row_bytes, i % row_bytes, got[i], want[i]);
}

void virgo_check(const char *file, int line)
{
	struct virgo_reference *reference = check.reference;

	virgo_expect_complete(file, line);
	memcpy(check.written, output_at(0), OUTPUT_BYTES);
	memcpy(output_at(0), check.before, OUTPUT_BYTES);
	for (size_t i = 0; i < check.count; i++)
		virgo_reference_command(reference, check.commands[i].funct, check.commands[i].rs1,
					check.commands[i].rs2);
	read_accumulator(file, line);
	compare(file, line, "program memory", 4096, check.written, output_at(0), OUTPUT_BYTES);
	compare(file, line, "scratchpad", unit.dim * unit.size, shared_memory(), reference->spad,
		SHARED_BYTES);
	compare(file, line, "accumulator", unit.dim * 4, check.accumulator, reference->accumulator,
		ACCUMULATOR_BYTES);
	check.count = 0;
}

void fill_unit(void)
{
	fill_elements(shared_memory(), SHARED_BYTES / unit.size);
	fill_values(input_at(0), ACCUMULATOR_BYTES / 4);
	config_ld(2, unit.dim * 4, 1, false);
	mvin3(input_at(0), ACC, unit.accumulator_rows, unit.dim);
	CHECK();
	fill_elements(input_at(0), INPUT_BYTES / unit.size);
}
