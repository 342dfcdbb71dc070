/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * 700 rows of twelve loads of two bytes: where many instructions compete for places, the library
 * maps no more pages for their trampolines than a half of those that it may have, and replaces other loads.
 */
#include "contract.h"

#include <string.h>

#define ROWS 700u
#define LOADS 12u
#define ROW_BYTES 64u
#define ROWS_BYTES (ROWS * ROW_BYTES)
#define OTHERS 50u
#define OTHER_BYTES 16u
#define TEXT_BYTES ((ROWS_BYTES + OTHERS * OTHER_BYTES + PAGE - 1) / PAGE * PAGE)
#define PAGES_MOST 4096u /* of 8192 */

static uint8_t bytes[TEXT_BYTES];

static void make_code(void)
{
	/* mov (%rdi), %eax; add (%rdi), %eax; xor (%rdi), %eax */
	static const uint8_t opcodes[] = { 0x03, 0x03, 0x33 };
	/* add $0x1020304, %eax; ret */
	static const uint8_t end[] = { 0x05, 4, 3, 2, 1, 0xc3 };
	/* mov 0(%rdi), %eax; ret */
	static const uint8_t other[] = { 0x8b, 0x87, 0, 0, 0, 0, 0xc3 };
	unsigned int row, load, i;

	memset(bytes, 0xcc, sizeof(bytes));
	for (row = 0; row < ROWS; row++) {
		uint8_t *code = bytes + row * ROW_BYTES;

		for (load = 0; load < LOADS; load++) {
			code[2 * load] = opcodes[load % 3];
			code[2 * load + 1] = 0x07;
		}
		code[0] = 0x8b;
		memcpy(code + 2 * LOADS, end, sizeof(end));
	}
	for (i = 0; i < OTHERS; i++)
		memcpy(bytes + ROWS_BYTES + i * OTHER_BYTES, other, sizeof(other));
}

static unsigned long count_pages(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, count = 0;
	char line[512], rights[8];

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && !strcmp(rights, "rwxp"))
			count += (end - start) / PAGE;
	fclose(maps);
	return count;
}

static void call(const uint8_t *function, volatile void *address)
{
	((uint32_t (*)(volatile void *))(uintptr_t)function)(address);
}

int main(void)
{
	volatile char *device = map_node("/dev/maple0", WORDS_16), *place = device + (DEBUG << 3);
	char path[] = "/tmp/mimic-rows-XXXXXX";
	int file = mkstemp(path);
	uint64_t random = 12345;
	unsigned int i;
	uint8_t *text;

	open_both((void *)device, 0);
	make_code();
	CHECK(file >= 0 && write(file, bytes, sizeof(bytes)) == sizeof(bytes));
	text = mmap(NULL, sizeof(bytes), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	CHECK(text != MAP_FAILED);
	for (i = 0; i < 2 * ROWS * LOADS; i++)
		call(text + next_random(&random) % ROWS * ROW_BYTES + 2 * (next_random(&random) % LOADS), place);
	printf("%lu pages\n", count_pages());
	CHECK(count_pages() <= PAGES_MOST);
	for (i = 0; i < OTHERS; i++) {
		const uint8_t *other = text + ROWS_BYTES + i * OTHER_BYTES;

		call(other, place);
		CHECK(*other == 0xe9);
	}
	unlink(path);
	return 0;
}
