/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A Virgo model, its jobs, and memory whose pages behave in every way that a page can. */
#include <errno.h>
#include <string.h>

#include "devices/virgo/kernels.h"
#include "tests/fuzz/virgo_side.h"

#define MOVED_BY 0x100000000000ull	/* a frame's distance from its page */

struct side side;

/* --- the memory port -------------------------------------------------------------------- */

int virgo_page_of(uint64_t address)
{
	uint64_t offset = address - ARENA_ADDRESS;

	return offset < ARENA_BYTES ? (int)(offset / PAGE_BYTES) : -1;
}

static bool is_reachable(int page, bool writes)
{
	if (page < 0)
		return false;
	if (side.state[page] == PRESENT)
		return true;
	return !writes && (side.state[page] == READ_ONLY || side.state[page] == COPY_ON_WRITE);
}

static unsigned char *bytes_at(uint64_t address, size_t size, bool writes)
{
	uint64_t last;

	if (side.port == PORT_MOVED)
		address -= MOVED_BY;
	last = address + size - 1;
	if (last < address || !is_reachable(virgo_page_of(address), writes) || !is_reachable(virgo_page_of(last), writes))
		return NULL;
	for (int page = virgo_page_of(address); page < virgo_page_of(last); page++) {
		if (!is_reachable(page, writes))
			return NULL;
	}
	return side.arena + (address - ARENA_ADDRESS);
}

static int walk(void *context, uint64_t address, uint64_t *frame)
{
	int page = virgo_page_of(address);

	(void)context;
	if (page < 0 || (side.state[page] != PRESENT && side.state[page] != READ_ONLY &&
			 side.state[page] != COPY_ON_WRITE))
		return -EFAULT;
	*frame = (address & ~(uint64_t)(PAGE_BYTES - 1)) + (side.port == PORT_MOVED ? MOVED_BY : 0);
	return 0;
}

static long read_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
		       void *buffer, size_t buffer_stride)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		const unsigned char *from = bytes_at(address + i * stride, size, false);

		if (!from)
			return (long)i;
		memcpy((char *)buffer + i * buffer_stride, from, size);
	}
	return (long)count;
}

static long write_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			const void *buffer, size_t buffer_stride)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		unsigned char *to = bytes_at(address + i * stride, size, true);

		if (!to)
			return (long)i;
		memcpy(to, (const char *)buffer + i * buffer_stride, size);
	}
	return (long)count;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	CHECK(size <= 64);
	for (size_t i = 0; i < count; i++) {
		if (read_block(context, addresses[i], 0, size, 1, (char *)rows + 64 * i, 64) != 1)
			return (long)i;
	}
	return (long)count;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
		       const void *rows)
{
	CHECK(size <= 64);
	for (size_t i = 0; i < count; i++) {
		if (write_block(context, addresses[i], 0, size, 1, (const char *)rows + 64 * i, 64) != 1)
			return (long)i;
	}
	return (long)count;
}

/* --- the model's host ---------------------------------------------------------------------- */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	CHECK(owner < OWNERS && side.is_parked[owner]);
	side.is_parked[owner] = false;
	virgo_expected_complete((unsigned int)owner, data);
}

static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	bool writes = source & VIRGO_FAULT_WRITES;
	int page = virgo_page_of(address);

	(void)context;
	CHECK((source & 0xff) < side.config.units);
	if (page < 0)
		return MIMIC_FAULT_BAD;
	switch (side.state[page]) {
	case LAZY:
		side.state[page] = PRESENT;
		return MIMIC_FAULT_RETRY;
	case STUBBORN:
		return MIMIC_FAULT_RETRY;
	case ABSENT:
	case COPY_ON_WRITE:
		CHECK(side.state[page] == ABSENT || writes);
		return MIMIC_FAULT_STALL;
	case READ_ONLY:
		CHECK(writes);
		return MIMIC_FAULT_BAD;
	default:
		CHECK(side.state[page] == BAD);
		return MIMIC_FAULT_BAD;
	}
}

/* An input makes and frees megabytes: kept for long they cost a page fault for each page. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

/* --- life -------------------------------------------------------------------------------------- */

static struct mimic_model *create(void *shared)
{
	struct mimic_host host = {
		.complete = complete, .page_fault = page_fault,
		.memory = { .read_rows = read_rows, .write_rows = write_rows },
	};
	struct mimic_model *model;

	if (side.port != PORT_ROWS) {
		host.memory.read_block = read_block;
		host.memory.write_block = write_block;
	}
	if (side.port >= PORT_WALKS)
		host.memory.walk = walk;
	model = virgo_model_create(&side.config, &host, shared);
	CHECK(model);
	return model;
}

/*
 * To make two models takes longer than most inputs, and inputs that follow each other often have one
 * configuration. So those of the last ones are kept, and made anew by their image of then. The spare
 * one is not: all of it is restored before it is used.
 */
#define KEPT 24
#define IMAGE_MAX (1u << 20)

struct kept {
	struct virgo_config config;
	enum port port;
	struct mimic_model *model[2];
	unsigned char *shared[2];
	void *image;
	size_t size;
};

static struct kept kept[KEPT], *used;

static void make(struct kept *k)
{
	k->config = side.config;
	k->port = side.port;
	for (unsigned int i = 0; i < 2; i++) {
		k->shared[i] = aligned_alloc(64, (size_t)k->config.shared_kb << 10);
		CHECK(k->shared[i]);
		memset(k->shared[i], 0, (size_t)k->config.shared_kb << 10);
		k->model[i] = create(k->shared[i]);
	}
	k->size = k->model[0]->ops->save(k->model[0], NULL, 0);
	k->image = malloc(k->size);
	CHECK(k->image && k->model[0]->ops->save(k->model[0], k->image, k->size) == k->size);
}

static void make_anew(const struct kept *k)
{
	CHECK(k->model[0]->ops->restore(k->model[0], k->image, k->size) == 0);
	for (unsigned int i = 0; i < 2; i++)
		CHECK(virgo_model_choose_kernel(k->model[i], virgo_kernels_best()->name) == 0);
}

static void unmake(struct kept *k)
{
	for (unsigned int i = 0; i < 2; i++) {
		virgo_model_destroy(k->model[i]);
		free(k->shared[i]);
	}
	free(k->image);
}

static struct kept *find_kept(void)
{
	static unsigned int next;

	for (unsigned int i = 0; i < KEPT; i++) {
		if (kept[i].model[0] && kept[i].port == side.port &&
		    !memcmp(&kept[i].config, &side.config, sizeof(side.config))) {
			make_anew(&kept[i]);
			return &kept[i];
		}
	}
	next = (next + 1) % KEPT;
	if (kept[next].model[0])
		unmake(&kept[next]);
	make(&kept[next]);
	return &kept[next];
}

void virgo_side_start(const struct virgo_config *config, enum port port)
{
	static unsigned char arena[ARENA_BYTES];

	memset(&side, 0, sizeof(side));
	side.config = *config;
	side.port = port;
	side.arena = arena;
	used = find_kept();
	side.current = used->model[0];
	side.spare = used->model[1];
	side.shared[0] = used->shared[0];
	side.shared[1] = used->shared[1];
}

void virgo_side_stop(void)
{
	CHECK(!virgo_side_jobs_are_out());
}

void virgo_side_save_and_restore(void)
{
	struct mimic_model *from = side.current, *to = side.spare;
	unsigned char *shared = side.shared[0];
	static unsigned char image[IMAGE_MAX];
	size_t size = from->ops->save(from, image, sizeof(image));

	CHECK(size <= sizeof(image));
	CHECK(to->ops->restore(to, image, size) == 0);
	side.current = to;
	side.spare = from;
	side.shared[0] = side.shared[1];
	side.shared[1] = shared;
}

/* --- accesses ------------------------------------------------------------------------------------ */

enum mimic_outcome virgo_side_access(struct mimic_access *access)
{
	enum mimic_outcome outcome = side.current->ops->access(side.current, access, side.now);

	if (outcome == MIMIC_PARKED)
		side.is_parked[access->owner] = true;
	return outcome;
}

uint64_t virgo_side_load(unsigned int page, unsigned int offset)
{
	struct mimic_access access = {
		.owner = OBSERVER, .page = (uint8_t)page, .offset = offset, .size = 8,
	};

	CHECK(virgo_side_access(&access) == MIMIC_DONE);
	return access.data;
}

void virgo_side_store(unsigned int page, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.owner = OBSERVER, .page = (uint8_t)page, .offset = offset, .size = 8,
		.is_write = 1, .data = value,
	};

	CHECK(virgo_side_access(&access) == MIMIC_DONE);
}

uint64_t virgo_side_unit(unsigned int unit, unsigned int offset)
{
	return virgo_side_load(VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + offset);
}

uint64_t virgo_side_errors(unsigned int unit)
{
	uint64_t values[VIRGO_COUNTER_COUNT];

	virgo_model_unit_counters(side.current, unit, values, VIRGO_COUNTER_COUNT);
	return values[VIRGO_COUNTER_errors];
}

/* --- jobs ------------------------------------------------------------------------------------------ */

bool virgo_side_take_job(void)
{
	struct virgo_job *job;
	unsigned int unit;

	if (side.config.inline_jobs)
		return false;
	job = virgo_model_take_job(side.current);
	if (!job)
		return false;
	unit = virgo_job_unit(job);
	CHECK(unit < side.config.units && !side.job[unit]);
	side.job[unit] = job;
	side.has_run[unit] = false;
	return true;
}

void virgo_side_run_job(unsigned int unit)
{
	if (!side.job[unit] || side.has_run[unit])
		return;
	virgo_job_run(side.job[unit]);
	side.has_run[unit] = true;
}

void virgo_side_end_job(unsigned int unit)
{
	struct virgo_job *job = side.job[unit];

	if (!job)
		return;
	virgo_side_run_job(unit);
	side.job[unit] = NULL;
	virgo_model_job_done(side.current, job, side.now);
	if (!expected[unit].reset_pending)
		return;
	/* Nobody can say how far it was. */
	expected[unit].reset_pending = false;
	virgo_expected_copy(unit, false);
}

bool virgo_side_jobs_are_out(void)
{
	for (unsigned int i = 0; i < side.config.units; i++) {
		if (side.job[i])
			return true;
	}
	return false;
}

bool virgo_side_work(void)
{
	if (side.config.inline_jobs) {
		if (!side.current->ops->busy(side.current))
			return false;
		side.current->ops->tick(side.current, side.now);
		return true;
	}
	CHECK(!side.current->ops->busy(side.current));
	virgo_side_take_job();
	for (unsigned int i = 0; i < side.config.units; i++) {
		if (!side.job[i])
			continue;
		virgo_side_end_job(i);
		return true;
	}
	return false;
}
