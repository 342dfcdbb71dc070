/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Text whose next page changes: a row of loads of the device over the end of a page, of which each jump borrows the
 * bytes of the next one, one load that lies over the end of a page, and one whose jump borrows from the next page. That
 * loses its rights, moves, or becomes memory while a thread executes the load.
 */
#include "contract.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define LOADS 12
#define BEHIND 2	/* of them in the second page */

static volatile char *device;

static char path[32];	/* of the file; the text of one that is removed is not replaced */

/* Two pages of a file, private, with these bytes so far before the end of the first. */
static uint8_t *map_code(const uint8_t *code, size_t size, size_t before)
{
	static uint8_t bytes[2 * PAGE];
	uint8_t *text;
	int file;

	strcpy(path, "/tmp/mimic-borders-XXXXXX");
	file = mkstemp(path);
	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes + PAGE - before, code, size);
	CHECK(file >= 0 && write(file, bytes, sizeof(bytes)) == sizeof(bytes));
	text = mmap(NULL, sizeof(bytes), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	CHECK(text != MAP_FAILED);
	close(file);
	return text;
}

static void unmap_code(uint8_t *text)
{
	CHECK(!munmap(text, 2 * PAGE));
	unlink(path);
}

static uint32_t call(const uint8_t *function, volatile void *address)
{
	return ((uint32_t (*)(volatile void *))(uintptr_t)function)(address);
}

/* mov (%rdi), %eax again and again, in 3 or 4 bytes each; sub $0, %rax twice; ret. Begun at each load, the last first or the first first. */
static void check_row(size_t length, int is_last_first)
{
	static const uint8_t forms[][4] = { { 0x8b, 0x47, 0 }, { 0x8b, 0x44, 0x27, 0 } };
	static const uint8_t end[] = { 0x48, 0x83, 0xe8, 0, 0x48, 0x83, 0xe8, 0, 0xc3 };
	uint8_t code[LOADS * 4 + sizeof(end)];
	volatile uint32_t memory = 77;
	uint8_t *text, *row;

	for (size_t i = 0; i < LOADS; i++)
		memcpy(code + i * length, forms[length - 3], length);
	memcpy(code + LOADS * length, end, sizeof(end));
	text = map_code(code, LOADS * length + sizeof(end), (LOADS - BEHIND) * length);
	row = text + PAGE - (LOADS - BEHIND) * length;
	for (size_t i = 0; i < 2 * LOADS; i++) {
		size_t from = is_last_first ? LOADS - 1 - i / 2 : i / 2;

		call(row + from * length, device + (STATISTICS << 3));
	}
	CHECK(!mprotect(text + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	for (size_t i = 0; i < LOADS; i++) {
		call(row + i * length, device + (STATISTICS << 3));
		CHECK(call(row + i * length, &memory) == 77);
	}
	unmap_code(text);
}

/* mov 0(%rdi), %eax of 6 bytes, the half of it in the second page, which then becomes memory. */
static void check_memory_behind_a_load(void)
{
	static const uint8_t code[] = { 0x8b, 0x87, 0, 0, 0, 0, 0xc3 };
	uint8_t *text = map_code(code, sizeof(code), 3), *memory = text + PAGE;
	int i;

	for (i = 0; i < 3; i++)
		call(text + PAGE - 3, device + (STATISTICS << 3));
	CHECK(mmap(memory, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
	for (i = 0; i < 16; i++)
		CHECK(memory[i] == 0);
	memory[100] = 1;
	/* The first bytes of the load, which are left, are unchanged. */
	CHECK(!memcmp(text + PAGE - 3, code, 3));
	unmap_code(text);
}

/* mov 0(%rdi), %eax; ret at the end of a page. NULL: its jump has no place. */
static uint8_t *map_load(void)
{
	static const uint8_t code[] = { 0x8b, 0x47, 0, 0xc3 };
	uint8_t *text = map_code(code, sizeof(code), sizeof(code)), *load = text + PAGE - sizeof(code);
	int i;

	for (i = 0; i < 5; i++)
		call(load, device + (STATISTICS << 3));
	if (*load != code[0])
		return load;
	unmap_code(text);
	return NULL;
}

static void check_rights(int rights)
{
	uint8_t *load = map_load();
	volatile uint32_t memory = 77;
	int i;

	if (!load)
		return;
	CHECK(!mprotect(load + 4, PAGE, rights));
	for (i = 0; i < 3; i++) {
		CHECK(call(load, &memory) == 77);
		call(load, device + (STATISTICS << 3));
	}
	unmap_code(load + 4 - PAGE);
}

static void check_text_that_moves(void)
{
	uint8_t *load = map_load(), *text;
	volatile uint32_t memory = 77;
	void *place = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!load)
		return;
	text = mremap(load + 4 - PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	CHECK(place != MAP_FAILED && text == place);
	CHECK(call(text + PAGE - 4, &memory) == 77);
	call(text + PAGE - 4, device + (STATISTICS << 3));
	CHECK(call(text + PAGE - 4, &memory) == 77);
	unmap_code(text);
}

/* mov $0x078b2211, 8(%rdi), of which the last two bytes are mov (%rdi), %eax; ret. That load begins a page. */
static void check_a_load_within_a_store(void)
{
	static const uint8_t code[] = { 0xc7, 0x47, 8, 0x11, 0x22, 0x8b, 0x07, 0xc3 };
	uint8_t *text = map_code(code, sizeof(code), 5), *store = text + PAGE - 5;
	volatile uint32_t memory[4] = { 0 };
	int i;

	for (i = 0; i < 3; i++) {
		call(store, device + (PRODUCE << 3) - 8);
		call(text + PAGE, device + (STATISTICS << 3));
	}
	CHECK(!mprotect(text, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	call(store, memory);
	CHECK(memory[2] == 0x078b2211);
	unmap_code(text);
}

/* --- a thread that executes the load meanwhile ------------------------------------------- */

static atomic_int is_over, calls;

static void *execute(void *load)
{
	volatile uint32_t memory = 77;

	while (!is_over) {
		CHECK(call(load, &memory) == 77);
		calls++;
	}
	return NULL;
}

static void wait_for_calls(void)
{
	int before = calls;

	while (calls - before < 2000)
		continue;
}

static void check_memory_that_comes_meanwhile(void)
{
	uint8_t *load = map_load();
	pthread_t thread;

	if (!load)
		return;
	is_over = 0;
	CHECK(!pthread_create(&thread, NULL, execute, load));
	wait_for_calls();
	CHECK(mmap(load + 4, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == load + 4);
	wait_for_calls();
	is_over = 1;
	pthread_join(thread, NULL);
	unmap_code(load + 4 - PAGE);
}

int main(void)
{
	int i;

	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	for (size_t length = 3; length <= 4; length++) {
		check_row(length, 0);
		check_row(length, 1);
	}
	check_memory_behind_a_load();
	check_rights(PROT_READ);
	check_rights(PROT_NONE);
	check_text_that_moves();
	check_a_load_within_a_store();
	for (i = 0; i < 100; i++)
		check_memory_that_comes_meanwhile();
	return 0;
}
