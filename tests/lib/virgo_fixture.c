/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOVED_BY 0x100000000000ull	/* a frame's distance from its page */

/* --- the memory port --------------------------------------------------------------------- */

/* The bytes of a physical range; NULL if one of its pages cannot be had. */
static unsigned char *bytes_at(struct virgo_fixture *f, uint64_t address, size_t size, bool writes)
{
	uint64_t offset;

	if (f->options & FIXTURE_MOVED)
		address -= MOVED_BY;
	offset = address - virgo_address(f->arena);
	if (offset >= ARENA_BYTES || size > ARENA_BYTES - offset)
		return NULL;
	for (uint64_t page = offset / 4096; page <= (offset + size - 1) / 4096; page++) {
		if (f->absent[page] || (writes && f->read_only[page]))
			return NULL;
	}
	return f->arena + offset;
}

static int walk(void *context, uint64_t address, uint64_t *frame)
{
	struct virgo_fixture *f = context;
	uint64_t offset = address - virgo_address(f->arena);

	__atomic_add_fetch(&f->walks, 1, __ATOMIC_RELAXED);
	if (offset >= ARENA_BYTES || f->absent[offset / 4096])
		return -EFAULT;
	*frame = (address & ~4095ull) + (f->options & FIXTURE_MOVED ? MOVED_BY : 0);
	return 0;
}

static long read_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
		       void *buffer, size_t buffer_stride)
{
	for (size_t i = 0; i < count; i++) {
		const unsigned char *from = bytes_at(context, address + i * stride, size, false);

		if (!from)
			return (long)i;
		memcpy((char *)buffer + i * buffer_stride, from, size);
	}
	return (long)count;
}

static long write_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			const void *buffer, size_t buffer_stride)
{
	for (size_t i = 0; i < count; i++) {
		unsigned char *to = bytes_at(context, address + i * stride, size, true);

		if (!to)
			return (long)i;
		memcpy(to, (const char *)buffer + i * buffer_stride, size);
	}
	return (long)count;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	if (size > 64)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (read_block(context, addresses[i], 0, size, 1, (char *)rows + 64 * i, 64) != 1)
			return (long)i;
	}
	return (long)count;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
		       const void *rows)
{
	if (size > 64)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (write_block(context, addresses[i], 0, size, 1, (const char *)rows + 64 * i, 64) != 1)
			return (long)i;
	}
	return (long)count;
}

/* --- the host ------------------------------------------------------------------------------ */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct virgo_fixture *f = context;

	if (owner >= FIXTURE_OWNERS || !f->parked[owner]) {
		f->unexpected++;
		return;
	}
	f->parked[owner] = false;
	f->completed[owner] = true;
	f->answer[owner] = data;
}

static void interrupt(void *context)
{
	((struct virgo_fixture *)context)->interrupts++;
}

static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	struct virgo_fixture *f = context;
	uint64_t offset = address - virgo_address(f->arena);

	f->faults++;
	f->fault_address = address;
	f->fault_source = source;
	if (f->fault_brings_page && offset < ARENA_BYTES) {
		f->absent[offset / 4096] = false;
		f->read_only[offset / 4096] = false;
	}
	return f->fault_answer;
}

/* From the heap if it can be: there the sanitizers see accesses beyond its end. */
static void make_shared(struct virgo_fixture *f)
{
	const size_t size = (size_t)f->config.shared_kb << 10;

	f->shared_file = -1;
	if (!(f->options & FIXTURE_FILE)) {
		f->shared = aligned_alloc(4096, size);
		if (!f->shared)
			abort();
		memset(f->shared, 0, size);
		return;
	}
	f->shared_file = memfd_create("shared", MFD_CLOEXEC);
	if (f->shared_file < 0 || ftruncate(f->shared_file, (off_t)size))
		abort();
	f->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->shared_file, 0);
	if (f->shared == MAP_FAILED)
		abort();
}

static void free_shared(struct virgo_fixture *f)
{
	if (f->shared_file < 0) {
		free(f->shared);
		return;
	}
	munmap(f->shared, (size_t)f->config.shared_kb << 10);
	close(f->shared_file);
}

struct virgo_config virgo_fixture_config(unsigned int type, unsigned int dim)
{
	struct virgo_config config;

	virgo_config_default(&config);
	config.unit[0].type = type;
	config.unit[0].dim = dim;
	return config;
}

struct virgo_fixture *virgo_fixture_create(const struct virgo_config *config, unsigned int options)
{
	struct virgo_fixture *f = calloc(1, sizeof(*f));
	struct mimic_host host = {
		.context = f, .complete = complete, .interrupt = interrupt,
		.memory = { .context = f, .read_rows = read_rows, .write_rows = write_rows },
	};

	if (!f)
		abort();
	if (config)
		f->config = *config;
	else
		virgo_config_default(&f->config);
	f->options = options;
	make_shared(f);
	f->arena = aligned_alloc(4096, ARENA_BYTES);
	if (!f->arena)
		abort();
	memset(f->arena, 0, ARENA_BYTES);
	if (options & FIXTURE_WALKS)
		host.memory.walk = walk;
	if (!(options & FIXTURE_ROWS)) {
		host.memory.read_block = read_block;
		host.memory.write_block = write_block;
	}
	if (options & FIXTURE_FAULTS)
		host.page_fault = page_fault;
	f->model = virgo_model_create(&f->config, &host, f->shared);
	if (!f->model)
		abort();
	return f;
}

void virgo_fixture_destroy(struct virgo_fixture *f)
{
	if (f->unexpected)
		abort();
	virgo_model_destroy(f->model);
	free_shared(f);
	free(f->arena);
	free(f);
}

/* --- accesses ---------------------------------------------------------------------------------- */

enum mimic_outcome virgo_fixture_access(struct virgo_fixture *f, struct mimic_access *access)
{
	enum mimic_outcome outcome;

	f->completed[access->owner] = false;
	f->parked[access->owner] = true;
	outcome = f->model->ops->access(f->model, access, ++f->now);
	f->parked[access->owner] = outcome == MIMIC_PARKED;
	return outcome;
}

void virgo_run(struct virgo_fixture *f)
{
	while (f->model->ops->busy(f->model))
		f->model->ops->tick(f->model, ++f->now);
}

uint64_t virgo_load(struct virgo_fixture *f, unsigned int page, unsigned int offset, unsigned int size)
{
	struct mimic_access access = {
		.owner = 1, .page = (uint8_t)page, .offset = offset, .size = (uint8_t)size,
	};

	if (virgo_fixture_access(f, &access) == MIMIC_DONE)
		return access.data;
	virgo_run(f);
	if (f->parked[1])
		abort();
	return f->answer[1];
}

bool virgo_store(struct virgo_fixture *f, unsigned int page, unsigned int offset, unsigned int size,
		 uint64_t value)
{
	struct mimic_access access = {
		.owner = 1, .page = (uint8_t)page, .offset = offset, .size = (uint8_t)size,
		.is_write = 1, .data = value,
	};

	return virgo_fixture_access(f, &access) == MIMIC_DONE;
}

uint64_t virgo_unit_load(struct virgo_fixture *f, unsigned int unit, unsigned int offset)
{
	return virgo_load(f, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + offset, 8);
}

void virgo_unit_store(struct virgo_fixture *f, unsigned int unit, unsigned int offset, uint64_t value)
{
	virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + offset, 8, value);
}

void virgo_send(struct virgo_fixture *f, unsigned int unit, unsigned int funct, uint64_t rs1,
		uint64_t rs2)
{
	virgo_unit_store(f, unit, VIRGO_RS1, rs1);
	virgo_unit_store(f, unit, VIRGO_RS2, rs2);
	if (!virgo_store(f, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(unit, INSTRUCTION), 4,
			 VIRGO_INSTRUCTION_WORD(funct)))
		virgo_run(f);
}

uint64_t virgo_counter(struct virgo_fixture *f, unsigned int unit, enum virgo_counter counter)
{
	uint64_t values[VIRGO_COUNTER_COUNT];

	virgo_model_unit_counters(f->model, unit, values, VIRGO_COUNTER_COUNT);
	return values[counter];
}
