/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Libraries that are closed after their instructions have been replaced, and others that come to lie at their
 * addresses, in whole or in part.
 *
 *   closing FOLDER     where adder-11.so, adder-22.so and the larger adder-33.so lie
 */
#include "contract.h"

#include <dlfcn.h>
#include <string.h>

#define ROUNDS 10
#define ACCESSES 20
#define TEXT_BYTES 1024

typedef uint32_t (*exchange_function)(volatile char *store_to, volatile char *load_from, uint32_t value);

static volatile char *device;
static char folder[1024];

struct library {
	void *handle;
	exchange_function exchange;
	uintptr_t start, end; /* of its text */
	uint32_t adds;
};

static struct library open_library(uint32_t adds)
{
	struct library library = { .adds = adds };
	char path[1100];

	snprintf(path, sizeof(path), "%s/adder-%u.so", folder, adds);
	library.handle = dlopen(path, RTLD_NOW);
	if (!library.handle)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(library.handle);
	library.exchange = (exchange_function)dlsym(library.handle, "adder_exchange");
	CHECK(library.exchange);
	library.start = (uintptr_t)library.exchange & ~(uintptr_t)(PAGE - 1);
	library.end = library.start + PAGE;
	return library;
}

static void check_library(const struct library *library)
{
	volatile uint32_t memory;
	uint32_t i;

	for (i = 0; i < ACCESSES; i++) {
		CHECK(library->exchange(device + (PRODUCE << 3), device + (CONSUME << 3), i) ==
		      i + library->adds);
		CHECK(library->exchange((volatile char *)&memory, (volatile char *)&memory, i) ==
		      i + library->adds);
	}
}

/* The program takes its text back to change it: it finds the file's bytes, and no other library's. */
static void check_text(const struct library *library, const uint8_t *text)
{
	CHECK(!mprotect((void *)library->start, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	CHECK(!memcmp((void *)library->start, text, TEXT_BYTES));
	CHECK(!mprotect((void *)library->start, PAGE, PROT_READ | PROT_EXEC));
	check_library(library);
}

/* One after the other. Returns whether the second lay where the first had been. */
static int check_pair(uint32_t first_adds, uint32_t second_adds, int takes_back)
{
	struct library first = open_library(first_adds), second;
	uint8_t text[TEXT_BYTES];

	check_library(&first);
	CHECK(!dlclose(first.handle));
	second = open_library(second_adds);
	memcpy(text, (void *)second.start, sizeof(text));
	/* The other library's jumps are gone before the first access, and none comes later. */
	if (takes_back)
		check_text(&second, text);
	else
		check_library(&second);
	CHECK(!dlclose(second.handle));
	return second.start < first.end && second.end > first.start;
}

/* Gaps that only a smaller library fits in are filled: then each lies at the end of the same large gap. */
static void fill_gaps(void)
{
	const size_t size = 8 * PAGE;
	char *before = NULL, *chunk = NULL;
	unsigned int run = 0;

	while (run < 64) {
		chunk = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(chunk != MAP_FAILED);
		run = chunk + size == before ? run + 1 : 0;
		before = chunk;
	}
	CHECK(!munmap(chunk, 64 * size));
}

int main(int argc, char **argv)
{
	int overlaps = 0, overlaps_larger = 0;
	int round;

	CHECK(argc == 2);
	snprintf(folder, sizeof(folder), "%s", argv[1]);
	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	fill_gaps();
	for (round = 0; round < ROUNDS; round++) {
		overlaps += check_pair(11, 22, round & 1);
		overlaps += check_pair(22, 11, round & 1);
		overlaps_larger += check_pair(11, 33, round & 1);
		overlaps_larger += check_pair(33, 22, round & 1);
		/* The same one again: its text is the one before the change. */
		overlaps += check_pair(22, 22, 0);
	}
	CHECK(overlaps >= ROUNDS && overlaps_larger >= ROUNDS);
	return 0;
}
