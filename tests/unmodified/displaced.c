/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that maps memory where it likes: where code lies that the library has made, and where a device's
 * page was. The memory keeps what is written to it, and accesses of the device and of memory go on.
 */
#include "contract.h"

#include <stdbool.h>
#include <string.h>

#define RANGES 64
#define PATTERN 0x5a

struct range {
	char *start;
	size_t length;
};

static volatile char *device;
static struct range ranges[RANGES];
static unsigned int range_count, displaced;

/* Six bytes, which a jump fits over, and two with others behind them that it borrows or moves. */
static __attribute__((noinline)) uint32_t load_far(const volatile char *page)
{
	uint32_t value;

	__asm__ volatile("mov %c2(%1), %0" : "=r"(value) : "r"(page - 65536), "i"(65536) : "memory");
	return value;
}

static __attribute__((noinline)) uint32_t load_near(const volatile char *page)
{
	uint32_t value;

	__asm__ volatile("mov (%1), %0\n"
			 "	test %0, %0\n"
			 "	nop"
			 : "=r"(value)
			 : "r"(page)
			 : "memory", "cc");
	return value;
}

/* Each function pops the word that was pushed before. */
static void check_loads(void)
{
	const volatile uint32_t memory = 1000;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		store32(device, PRODUCE, 0, i);
		CHECK(load_far(device + (CONSUME << 3)) == i);
		store32(device, PRODUCE, 0, i + 7);
		CHECK(load_near(device + (CONSUME << 3)) == i + 7);
		CHECK(load_far((const volatile char *)&memory) == 1000);
		CHECK(load_near((const volatile char *)&memory) == 1000);
	}
}

static void find_ranges(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512], rights[8];

	CHECK(maps);
	range_count = 0;
	while (range_count < RANGES && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3 || strcmp(rights, "rwxp"))
			continue;
		ranges[range_count++] = (struct range){ (char *)start, end - start };
	}
	fclose(maps);
}

static bool is_kept(const struct range *range)
{
	size_t i;

	for (i = 0; i < range->length; i++)
		if (range->start[i] != PATTERN)
			return false;
	return true;
}

static void *map_at(const struct range *range, int flags)
{
	return mmap(range->start, range->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void *move_to(const struct range *range)
{
	void *memory = mmap(NULL, range->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return mremap(memory, range->length, range->length, MREMAP_MAYMOVE | MREMAP_FIXED, range->start);
}

/* In each of the ways by which a program chooses an address. */
static void displace(const struct range *range, unsigned int way)
{
	switch (way) {
	case 0:
		CHECK(map_at(range, MAP_FIXED) == range->start);
		break;
	case 1:
		CHECK(map_at(range, MAP_FIXED_NOREPLACE) == range->start);
		break;
	case 2:
		CHECK(!munmap(range->start, range->length));
		CHECK(map_at(range, MAP_FIXED_NOREPLACE) == range->start);
		break;
	default:
		CHECK(move_to(range) == range->start);
	}
	memset(range->start, PATTERN, range->length);
}

static void displace_code(unsigned int way)
{
	unsigned int i;

	find_ranges();
	for (i = 0; i < range_count; i++)
		displace(&ranges[i], way);
	displaced += range_count;
	check_loads();
	for (i = 0; i < range_count; i++)
		CHECK(is_kept(&ranges[i]));
}

/* The program's memory has the place of a device's page that is unmapped; others that come meanwhile have not. */
static void take_place(void)
{
	int fd = open("/dev/maple1", O_RDWR);
	struct range range = { .length = PAGE };
	char *again;

	CHECK(fd >= 0);
	range.start = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(range.start != MAP_FAILED && !munmap(range.start, PAGE));
	CHECK(map_at(&range, MAP_FIXED) == range.start);
	memset(range.start, PATTERN, PAGE);
	again = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(again != MAP_FAILED && again != range.start);
	load64(again, RESET, 0);
	CHECK(load64(again, INIT, WORDS_32));
	CHECK(is_kept(&range));
	/* It gives the place back: a device may come there, or not. */
	CHECK(!munmap(range.start, PAGE) && !munmap(again, PAGE));
	again = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(again != MAP_FAILED);
	load64(again, RESET, 0);
	CHECK(load64(again, INIT, WORDS_32));
	close(fd);
}

int main(void)
{
	int fd = open("/dev/maple0", O_RDWR);
	unsigned int way;

	CHECK(fd >= 0);
	device = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(device != MAP_FAILED);
	load64(device, RESET, 0);
	CHECK(load64(device, INIT, WORDS_32));
	CHECK(load64(device, OPEN_PRODUCER, 0) && load64(device, OPEN_CONSUMER, 0));
	check_loads();
	for (way = 0; way < 4; way++)
		displace_code(way);
	take_place();
	printf("%u ranges of code displaced\n", displaced);
	return 0;
}
