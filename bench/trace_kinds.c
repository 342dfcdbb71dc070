/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Steps of a DARE and of a Virgo for the rows of trace: small ones, which have many events for their work. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/trace_side.h"
#include "mimic/dare_registers.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"

#define OWNER 1
#define TILE 16u	/* rows, and 4-byte elements of a row */

static uint8_t memory_a[TILE * 64], memory_b[TILE * 64], memory_c[TILE * 64];

/* --- a host ---------------------------------------------------------------------------------- */

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		memcpy((char *)rows + 64 * i, (const void *)(uintptr_t)addresses[i], size);
	return (long)count;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		memcpy((void *)(uintptr_t)addresses[i], (const char *)rows + 64 * i, size);
	return (long)count;
}

static const struct mimic_memory memory = { .read_rows = read_rows, .write_rows = write_rows };

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	(void)context;
	(void)address_space;
	return &memory;
}

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
}

void bench_side_create(struct side *side, const struct mimic_kind *kind, const struct mimic_host *host,
		       void *device_memory)
{
	struct mimic_own_parameters parameters = { 0 };

	kind->defaults(&parameters);
	*side = (struct side){ .kind = kind, .model = kind->create(&parameters, host, device_memory) };
	if (!side->model)
		bench_fail("no model of a %s", kind->name);
}

static uint64_t address_of(const void *memory_there)
{
	return (uint64_t)(uintptr_t)memory_there;
}

static void store(struct side *side, unsigned int page, unsigned int offset, unsigned int size, uint64_t value)
{
	struct mimic_access access = { .owner = OWNER, .page = (uint8_t)page, .offset = offset,
				       .size = (uint8_t)size, .is_write = true, .data = value };

	if (side->model->ops->access(side->model, &access, ++side->now) != MIMIC_DONE)
		bench_fail("a store waits");
}

static uint64_t load(struct side *side, unsigned int page, unsigned int offset)
{
	struct mimic_access access = { .owner = OWNER, .page = (uint8_t)page, .offset = offset, .size = 8 };

	if (side->model->ops->access(side->model, &access, ++side->now) != MIMIC_DONE)
		bench_fail("a load waits");
	return access.data;
}

static void work(struct side *side)
{
	while (side->model->ops->busy(side->model))
		side->model->ops->tick(side->model, ++side->now);
}

/* --- DARE -------------------------------------------------------------------------------------- */

#define CONTEXT DARE_PAGE_CONTEXT(0)
#define WORD_MLD(md) (0x0400082bu | (uint32_t)(md) << 7)
#define WORD_MST(ms) (0x0c00082bu | (uint32_t)(ms) << 7)
#define WORD_MMA(md, ms1, ms2) \
	(0x0800082bu | (uint32_t)(ms2) << 21 | (uint32_t)(ms1) << 18 | (uint32_t)(md) << 15)

void bench_start_dare(struct side *side, const struct bench_models *models)
{
	const struct mimic_host host = { .complete = complete, .memory_of = memory_of };

	bench_side_create(side, models->dare, &host, NULL);
	store(side, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8, 1u << 8);
}

void bench_step_dare(struct side *side)
{
	const uint64_t words[] = {
		WORD_MLD(1), address_of(memory_a), 64, WORD_MLD(2), address_of(memory_b), 64,
		WORD_MMA(3, 1, 2), WORD_MST(3), address_of(memory_c), 64,
	};
	const struct mimic_access stream = { .owner = OWNER, .page = CONTEXT, .offset = DARE_STREAM, .size = 8,
					     .is_write = true };
	const size_t count = sizeof(words) / sizeof(words[0]);

	for (size_t done = 0; done < count;) {
		done += side->model->ops->store_many(side->model, &stream, words + done, count - done, ++side->now);
		work(side);
	}
	if (load(side, CONTEXT, DARE_FENCE) & DARE_STATUS_ERROR)
		bench_fail("DARE says that something is wrong");
}

/* --- Virgo --------------------------------------------------------------------------------------- */

#define SHARED_BYTES (64u << 20)
#define LOCAL_A 0u	/* a row of the scratchpad */

static void command(struct side *side, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	store(side, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, RS1), 8, rs1);
	store(side, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, RS2), 8, rs2);
	store(side, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, INSTRUCTION), 4, VIRGO_INSTRUCTION_WORD(funct));
}

/* Of one block, for any DIM of the unit: as many rows and columns as it has. */
static uint64_t block(unsigned int dim, uint32_t local)
{
	return (uint64_t)dim << 48 | (uint64_t)dim << 32 | local;
}

void bench_start_virgo(struct side *side, const struct bench_models *models)
{
	const struct mimic_host host = { .complete = complete, .memory = memory };
	static unsigned char *shared;

	if (!shared)
		shared = aligned_alloc(4096, SHARED_BYTES);
	if (!shared)
		bench_fail("no memory");
	memset(shared, 0, 1u << 20);
	bench_side_create(side, models->virgo, &host, shared);
}

/* No product: its loop, the same in both models, takes longer by half where the linker has put it badly. */
void bench_step_virgo(struct side *side)
{
	unsigned int dim = load(side, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, IDENTIFY)) & 0xff;

	if (dim > TILE)
		dim = TILE;
	command(side, VIRGO_FUNCT_MVIN, address_of(memory_a), block(dim, LOCAL_A));
	command(side, VIRGO_FUNCT_MVOUT, address_of(memory_c), block(dim, LOCAL_A));
	work(side);
	if (load(side, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, ERROR)))
		bench_fail("Virgo says that something is wrong");
}
