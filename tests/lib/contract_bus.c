/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the cases call: accesses on the current bus, and how most cases begin. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/lib/contract_internal.h"

#define PATIENCE_MUST_FINISH 5000
#define PATIENCE_MUST_WAIT 20
#define ARENA_ADDRESS 0x20000000ul
#define HIGH_ADDRESS 0x1234560000ul
#define HOLE_ADDRESS 0x30000000ul

static const struct bus *current;

void contract_use_bus(const struct bus *bus)
{
	current = bus;
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

	if (!current->is_over(who, PATIENCE_MUST_FINISH, &answer))
		contract_fail(__FILE__, __LINE__, "thread %c still waits and should not", "ABC"[who]);
	return answer;
}

uint64_t load(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size)
{
	uint64_t answer = 0;

	begin(who, page, offset, size, false, 0, false);
	if (!current->is_over(who, PATIENCE_MUST_FINISH, &answer))
		contract_fail(__FILE__, __LINE__, "load of %u bytes, page %u, operation %u, [11:9] %u by %c waits and should not",
			      size, page, offset >> 3 & 63, offset >> 9, "ABC"[who]);
	return answer;
}

void store(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
	   uint64_t value)
{
	uint64_t answer;

	begin(who, page, offset, size, true, value, false);
	if (!current->is_over(who, PATIENCE_MUST_FINISH, &answer))
		contract_fail(__FILE__, __LINE__, "store of %u bytes, page %u, operation %u, [11:9] %u by %c waits and should not",
			      size, page, offset >> 3 & 63, offset >> 9, "ABC"[who]);
}

void let_time_pass(unsigned int milliseconds)
{
	current->sleep(milliseconds);
}

void end_thread(enum bus_thread who)
{
	current->end_thread(who);
}

uint64_t command(enum bus_thread who, unsigned int operation, unsigned int queue)
{
	return load(who, PAGE_MAPLE, AT(operation, queue), 4);
}

void request(enum bus_thread who, unsigned int operation, unsigned int queue, uint64_t value)
{
	store(who, PAGE_MAPLE, AT(operation, queue), 8, value);
}

void init(unsigned int size_code)
{
	EXPECT(command(A, INIT, size_code), 2);
}

void open_queue(unsigned int queue)
{
	EXPECT(command(A, OPEN_PRODUCER, queue), 2);
	EXPECT(command(B, OPEN_CONSUMER, queue), 1);
}

void init_and_open(unsigned int size_code, unsigned int queue)
{
	init(size_code);
	open_queue(queue);
}

void produce32(unsigned int queue, uint32_t value)
{
	store(A, PAGE_MAPLE, AT(PRODUCE, queue), 4, value);
}

void produce64(unsigned int queue, uint64_t value)
{
	store(A, PAGE_MAPLE, AT(PRODUCE, queue), 8, value);
}

uint64_t consume32(unsigned int queue)
{
	return load(B, PAGE_MAPLE, AT(CONSUME, queue), 4);
}

uint64_t consume64(unsigned int queue)
{
	return load(B, PAGE_MAPLE, AT(CONSUME, queue), 8);
}

void consume_begin(unsigned int queue)
{
	load_begin(B, PAGE_MAPLE, AT(CONSUME, queue), 4);
}

void expect_empty(unsigned int queue)
{
	produce32(queue, 0x5e75e75e);
	EXPECT(consume32(queue), 0x5e75e75e);
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
