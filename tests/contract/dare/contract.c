/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DARE for the contract's harness, and the functions that its cases call. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "devices/dare/dare_model.h"
#include "tests/contract/dare/contract.h"

#define PENDING_MAX 3072
#define ISLAND_ADDRESS 0x38000000ul

/* --- for the harness ----------------------------------------------------------- */

static int node_profiles(int node)
{
	(void)node;
	return EITHER;
}

static void attach(struct mimic_model *model, unsigned int context, uint64_t address_space)
{
	struct mimic_access access = {
		.owner = 99,
		.data = address_space << 8 | context,
		.offset = 0x008,	/* ATTACH of the control page */
		.size = 8,
		.is_write = 1,
	};

	model->ops->access(model, &access, 0);
}

static struct mimic_model *create_model(const char *configuration, const struct mimic_host *host)
{
	struct dare_config config;
	struct mimic_model *model;

	(void)configuration;
	dare_config_default(&config);
	model = dare_model_create(&config, host);
	if (!model)
		return NULL;
	attach(model, 0, 7);
	attach(model, 1, 8);
	return model;
}

/* An access to the node takes long, so each case takes one kind of dispatch. */
static const struct contract_exception exceptions[] = {
	{ .program = "kernel_library", .slow_profile = BY_STREAM },
	{ .program = "kernel_trap", .slow_profile = BY_REGISTERS },
	{ .program = "pci_trap", .slow_profile = BY_REGISTERS },
	{ 0 }
};

const struct contract_device contract_device = {
	.name = "dare0",
	.title = "DARE",
	.ways = dare_ways,
	.exceptions = exceptions,
	.pages = 1,
	.handles = 2,
	.handle_of = { [A] = 0, [B] = 0, [C] = 1 },
	.profiles = { { "stream", "paper" }, { "registers", "paper" } },
	.node_profiles = node_profiles,
	.sanitized_profile = BY_STREAM,
	.create_model = create_model,
	.destroy_model = dare_model_destroy,
	.model_page = { 1, 2 },
};

/* --- the context ----------------------------------------------------------------- */

static enum bus_thread speaker = A;
/* Stores to STREAM that were not made yet. */
static uint64_t pending[PENDING_MAX];
static size_t pending_count;

void flush(void)
{
	if (!pending_count)
		return;
	post_begin(speaker, STREAM, pending, pending_count);
	finish_post(speaker, pending_count);
	pending_count = 0;
}

void as(enum bus_thread who)
{
	if (who != speaker)
		flush();
	speaker = who;
}

uint64_t get(unsigned int offset)
{
	flush();
	return load(speaker, 0, offset, 8);
}

void put(unsigned int offset, uint64_t value)
{
	flush();
	store(speaker, 0, offset, 8, value);
}

/* mcfg, mld and mst; a word that is nearly one of them is illegal, and alone. */
static bool has_values(uint32_t word)
{
	uint32_t transfer = word & 0xfe00707f;	/* without rs2, rs1, size and register */

	if ((word & 0xfe007fff) == 0xfe00002b)
		return true;
	return (transfer == 0x0400002b || transfer == 0x0c00002b) && (word >> 10 & 3) <= WORD;
}

void issue(uint32_t word, uint64_t rs1, uint64_t rs2)
{
	if (profile_is(BY_REGISTERS)) {
		if (has_values(word)) {
			put(RS1, rs1);
			put(RS2, rs2);
		}
		put(INSTRUCTION, word);
		return;
	}
	if (pending_count + 3 > PENDING_MAX)
		flush();
	pending[pending_count++] = word;
	if (!has_values(word))
		return;
	pending[pending_count++] = rs1;
	pending[pending_count++] = rs2;
}

void mcfg(unsigned int csr, uint64_t value)
{
	issue(word_mcfg(), csr, value);
}

void shape(unsigned int m, unsigned int k, unsigned int n)
{
	mcfg(CSR_M, m);
	mcfg(CSR_K, k);
	mcfg(CSR_N, n);
}

void mld(enum element size, unsigned int md, const void *base, int64_t stride)
{
	issue(word_mld(size, md), (uintptr_t)base, (uint64_t)stride);
}

void mst(enum element size, unsigned int ms3, void *base, int64_t stride)
{
	issue(word_mst(size, ms3), (uintptr_t)base, (uint64_t)stride);
}

void mma(enum element size, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	issue(word_mma(size, md, ms1, ms2), 0, 0);
}

void mgather(enum element size, unsigned int md, unsigned int ms1)
{
	issue(word_mgather(size, md, ms1), 0, 0);
}

void mscatter(enum element size, unsigned int ms2, unsigned int ms1)
{
	issue(word_mscatter(size, ms2, ms1), 0, 0);
}

uint64_t fence(void)
{
	return get(FENCE);
}

void dare_expect_complete(const char *file, int line)
{
	uint64_t status = fence();

	if (status & HAS_ERROR)
		contract_fail(file, line, "error %llu: instruction %#llx, number %llu, address %#llx, row %llu",
			      (unsigned long long)get(ERROR), (unsigned long long)get(ERROR_INSTRUCTION),
			      (unsigned long long)get(ERROR_POSITION), (unsigned long long)get(ERROR_ADDRESS),
			      (unsigned long long)get(ERROR_ROW));
	if (status & (IS_BUSY | WAITS_FOR_PAGE) || QUEUE_LEVEL(status))
		contract_fail(file, line, "a fence answers %#llx: something is not complete",
			      (unsigned long long)status);
}

struct saved_shape {
	uint64_t m, k;
};

/* No instruction where there is nothing to change: an access is slow on some ways. */
static void change_shape(uint64_t m, uint64_t k, struct saved_shape from)
{
	if (m != from.m)
		mcfg(CSR_M, m);
	if (k != from.k)
		mcfg(CSR_K, k);
}

static struct saved_shape save_shape(void)
{
	struct saved_shape saved;

	dare_expect_complete(__FILE__, __LINE__);
	saved = (struct saved_shape){ get(MATRIX_M), get(MATRIX_K) };
	change_shape(ROWS, ROW_BYTES, saved);
	return saved;
}

static void restore_shape(struct saved_shape saved)
{
	change_shape(saved.m, saved.k, (struct saved_shape){ ROWS, ROW_BYTES });
	dare_expect_complete(__FILE__, __LINE__);
}

/* The copy is static: a device may read it after the return. */
void set_register(unsigned int number, const struct tile *tile)
{
	struct saved_shape saved = save_shape();
	static struct tile copy;

	copy = *tile;
	mld(BYTE, number, &copy, ROW_BYTES);
	restore_shape(saved);
}

void get_register(unsigned int number, struct tile *tile)
{
	struct saved_shape saved = save_shape();
	static struct tile copy;

	memset(&copy, 0xcc, sizeof(copy));
	mst(BYTE, number, &copy, ROW_BYTES);
	restore_shape(saved);
	*tile = copy;
}

void set_addresses(unsigned int number, const uint64_t addresses[ROWS])
{
	struct tile tile;

	memset(&tile, 0xee, sizeof(tile));
	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int i = 0; i < 8; i++)
			tile.bytes[row][i] = (uint8_t)(addresses[row] >> 8 * i);
	set_register(number, &tile);
}

/* --- expectations -------------------------------------------------------------------- */

void dare_expect_bytes(const char *file, int line, const char *what, const void *actual,
		       const void *expected, size_t size)
{
	const uint8_t *got = actual, *want = expected;

	for (size_t i = 0; i < size; i++)
		if (got[i] != want[i])
			contract_fail(file, line, "%s: byte %zu (row %zu, column %zu of a tile) is %#x, the contract says %#x",
				      what, i, i / ROW_BYTES, i % ROW_BYTES, got[i], want[i]);
}

void dare_expect_register(const char *file, int line, unsigned int number, const struct tile *expected)
{
	struct tile tile;

	get_register(number, &tile);
	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int i = 0; i < ROW_BYTES; i++)
			if (tile.bytes[row][i] != expected->bytes[row][i])
				contract_fail(file, line, "m%u, row %u, byte %u is %#x, the contract says %#x",
					      number, row, i, tile.bytes[row][i], expected->bytes[row][i]);
}

void dare_expect_error(const char *file, int line, unsigned int error, uint32_t word, uint64_t position,
		       uint64_t address, unsigned int row)
{
	uint64_t status = fence();

	contract_expect(file, line, "FENCE's error bit", status & HAS_ERROR, HAS_ERROR);
	contract_expect(file, line, "FENCE's busy bit", status & IS_BUSY, 0);
	contract_expect(file, line, "STATUS's error bit", get(STATUS) & HAS_ERROR, HAS_ERROR);
	contract_expect(file, line, "ERROR", get(ERROR), error);
	contract_expect(file, line, "ERROR_INSTRUCTION", get(ERROR_INSTRUCTION), word);
	contract_expect(file, line, "ERROR_POSITION", get(ERROR_POSITION), position);
	contract_expect(file, line, "ERROR_ADDRESS", get(ERROR_ADDRESS), address);
	contract_expect(file, line, "ERROR_ROW", get(ERROR_ROW), row);
	put(ERROR, 0);
	contract_expect(file, line, "ERROR after a store to it", get(ERROR), NO_ERROR);
	contract_expect(file, line, "STATUS after a store to ERROR", get(STATUS) & HAS_ERROR, 0);
}

/* --- data ---------------------------------------------------------------------------- */

/* Marsaglia's xorshift. */
uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

void fill(void *bytes, size_t size, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		byte[i] = (uint8_t)(next_random(&state) >> 16);
}

void *zeroed(void *bytes, size_t size)
{
	return memset(bytes, 0, size);
}

void tile_of(struct tile *tile, const void *base, int64_t stride, unsigned int rows, unsigned int width)
{
	memset(tile, 0, sizeof(*tile));
	for (unsigned int row = 0; row < rows; row++)
		memcpy(tile->bytes[row], (const uint8_t *)base + row * stride, width);
}

float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

uint8_t *island(void)
{
	static uint8_t *start;
	uint8_t *memory;

	if (start)
		return start;
	memory = mmap((void *)ISLAND_ADDRESS, 4 * DARE_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory != (void *)ISLAND_ADDRESS)
		contract_fail(__FILE__, __LINE__, "no memory at %#lx: %s", ISLAND_ADDRESS, strerror(errno));
	munmap(memory, DARE_PAGE);
	munmap(memory + 3 * DARE_PAGE, DARE_PAGE);
	start = memory + DARE_PAGE;
	return start;
}
