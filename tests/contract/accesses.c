/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions that the cases call: accesses on the current bus, and the program's memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/contract/internal.h"

#define PATIENCE_MUST_FINISH 20000
#define PATIENCE_MUST_WAIT 20
#define PATIENCE_FOR_EACH 20	/* value that is posted */
#define ARENA_ADDRESS 0x20000000ul
#define HIGH_ADDRESS 0x1234560000ul
#define HOLE_ADDRESS 0x30000000ul

static const struct bus *current;
static bool stores_may_be_posted;
static bool repeats_loads;

/* MIMIC_TIME_SCALE: how much slower than usual this machine is (the debug kernel in its guest). */
static unsigned int must_finish(size_t values)
{
	const char *text = getenv("MIMIC_TIME_SCALE");
	unsigned int scale = text ? (unsigned int)strtoul(text, NULL, 10) : 1;

	return (PATIENCE_MUST_FINISH + (unsigned int)values * PATIENCE_FOR_EACH) * (scale ? scale : 1);
}

void contract_use_way(const struct contract_way *way)
{
	current = way->bus;
	repeats_loads = way->repeats_loads;
	stores_may_be_posted = way->posts_stores || (way->may_post_stores && contract_device.may_post_stores);
}

bool loads_are_repeated(void)
{
	return repeats_loads;
}

bool device_is_stepped(void)
{
	return current->is_stepped;
}

static void begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
		  bool is_write, uint64_t value, bool watched)
{
	struct mimic_access access = {
		.page = (uint8_t)page,
		.offset = offset,
		.size = (uint8_t)size,
		.is_write = is_write,
		.data = size == 8 ? value : value & ((1ull << 8 * size) - 1),
	};

	current->begin(who, &access, watched);
}

void load_begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size)
{
	begin(who, page, offset, size, false, 0, true);
}

void store_begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
		 uint64_t value)
{
	begin(who, page, offset, size, true, value, true);
}

bool still_waits(enum bus_thread who)
{
	uint64_t answer;

	return !current->is_over(who, PATIENCE_MUST_WAIT, &answer);
}

uint64_t finish(enum bus_thread who)
{
	uint64_t answer = 0;

	if (!current->is_over(who, must_finish(0), &answer))
		contract_fail(__FILE__, __LINE__, "thread %c still waits and should not", "ABC"[who]);
	return answer;
}

bool store_still_waits(enum bus_thread who)
{
	if (!stores_may_be_posted)
		return still_waits(who);
	finish(who);
	return true;
}

void finish_store(enum bus_thread who)
{
	if (!stores_may_be_posted)
		finish(who);
}

uint64_t load(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size)
{
	uint64_t answer = 0;

	begin(who, page, offset, size, false, 0, false);
	if (!current->is_over(who, must_finish(0), &answer))
		contract_fail(__FILE__, __LINE__, "load of %u bytes, page %u, offset %#x, by %c waits and should not",
			      size, page, offset, "ABC"[who]);
	return answer;
}

void store(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
	   uint64_t value)
{
	uint64_t answer;

	begin(who, page, offset, size, true, value, false);
	if (!current->is_over(who, must_finish(0), &answer))
		contract_fail(__FILE__, __LINE__, "store of %u bytes, page %u, offset %#x, by %c waits and should not",
			      size, page, offset, "ABC"[who]);
}

void post_to_page(enum bus_thread who, unsigned int page, unsigned int offset, const uint64_t *values,
		  size_t count)
{
	struct mimic_access pattern = {
		.page = (uint8_t)page, .offset = offset, .size = 8, .is_write = 1,
	};

	current->post(who, &pattern, values, count);
}

void post_begin(enum bus_thread who, unsigned int offset, const uint64_t *values, size_t count)
{
	post_to_page(who, 0, offset, values, count);
}

void finish_post(enum bus_thread who, size_t count)
{
	uint64_t answer;

	if (!current->is_over(who, must_finish(count), &answer))
		contract_fail(__FILE__, __LINE__, "%zu stores by %c wait and should not", count, "ABC"[who]);
}

void call_on(enum bus_thread who, void (*function)(void *), void *argument)
{
	current->call(who, function, argument);
	finish(who);
}

void let_time_pass(unsigned int milliseconds)
{
	current->sleep(milliseconds);
}

void end_thread(enum bus_thread who)
{
	current->end_thread(who);
}

void *device_memory(size_t size)
{
	static void *memory;
	int error;

	if (memory)
		return memory;
	error = current->memory(&memory, size);
	if (error)
		contract_fail(__FILE__, __LINE__, "no device memory of %zu bytes: %s", size, strerror(-error));
	return memory;
}

static void *map_at(uintptr_t address, size_t size)
{
	void *memory = mmap((void *)address, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (memory != (void *)address) {
		munmap(memory, size);
		return NULL;
	}
	return memory;
}

void *arena(void)
{
	static void *memory;

	if (memory)
		return memory;
	memory = map_at(ARENA_ADDRESS, ARENA_SIZE);
	if (!memory)
		contract_fail(__FILE__, __LINE__, "no memory at %#lx: %s", ARENA_ADDRESS, strerror(errno));
	return memory;
}

uint64_t arena_at(unsigned int offset)
{
	return (uintptr_t)arena() + offset;
}

void *map_above_4g(void)
{
	void *memory = map_at(HIGH_ADDRESS, ARENA_SIZE);

	/* AddressSanitizer keeps its shadow there. */
	if (!memory)
		contract_skip("no memory between 2^32 and 2^40 in this build");
	return memory;
}

uint64_t unmapped_page(void)
{
	if (!map_at(HOLE_ADDRESS, 4096))
		contract_fail(__FILE__, __LINE__, "no memory at %#lx: %s", HOLE_ADDRESS, strerror(errno));
	return HOLE_ADDRESS + 4096;
}
