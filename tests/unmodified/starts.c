/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Every byte around a load or store of a device as a place that the program jumps to, with the
 * instruction at each distance from the end of a page, and functions that end where their text ends.
 */
#include "contract.h"

#include <string.h>

#define AROUND 8u /* instructions of one byte (cmc) on each side: a start skips some of them */
#define TAIL 4u

static const struct form {
	uint8_t bytes[8];
	unsigned int length;
	int is_store;
} forms[] = {
	{ { 0x8b, 0x07 }, 2, 0 },			/* mov (%rdi), %eax */
	{ { 0x89, 0x37 }, 2, 1 },			/* mov %esi, (%rdi) */
	{ { 0x8b, 0x47, 0 }, 3, 0 },			/* mov 0(%rdi), %eax */
	{ { 0x44, 0x8b, 0x07 }, 3, 0 },			/* mov (%rdi), %r8d, which the function does not return */
	{ { 0x89, 0x77, 0 }, 3, 1 },
	{ { 0x8b, 0x44, 0x27, 0 }, 4, 0 },		/* mov 0(%rdi,%riz), %eax */
	{ { 0xc7, 0x07, 7, 0, 0, 0 }, 6, 1 },		/* movl $7, (%rdi) */
	{ { 0x8b, 0x87, 0, 0, 0, 0 }, 6, 0 },
	{ { 0x8b, 0x84, 0x27, 0, 0, 0, 0 }, 7, 0 },
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static volatile char *device;
static uint32_t next_word = 1000;

static char path[32];

/* Its name stays until drop(): instructions of files that are gone are left alone. */
static const uint8_t *map_text(const uint8_t *bytes, size_t size)
{
	const uint8_t *text;
	int file;

	strcpy(path, "/tmp/mimic-starts-XXXXXX");
	file = mkstemp(path);
	CHECK(file >= 0 && write(file, bytes, size) == (ssize_t)size);
	text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	CHECK(text != MAP_FAILED && !close(file));
	return text;
}

static void drop(const uint8_t *text, size_t size)
{
	CHECK(!munmap((void *)text, size) && !unlink(path));
}

/* Jumps there with eax 0 and no carry. Returns eax. */
static uint32_t jump(const uint8_t *code, volatile void *address, uint32_t stored)
{
	uint32_t value;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n"
			 "xor %%eax, %%eax\n"
			 "call *%1\n"
			 "lea 128(%%rsp), %%rsp\n"
			 : "=&a"(value), "+r"(code)
			 : "D"(address), "S"(stored)
			 : "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
	return value;
}

/* The result of a start `skipped` instructions from the first one; the access is number AROUND. */
static uint32_t expected(const struct form *form, unsigned int skipped, uint32_t loaded, unsigned int behind)
{
	unsigned int before = skipped < AROUND ? AROUND - skipped : 0;
	unsigned int after = skipped > AROUND ? behind - (skipped - AROUND - 1) : behind;
	int is_returned = !form->is_store && skipped <= AROUND && form->bytes[0] != 0x44;

	return (is_returned ? loaded : 0) + ((before + after) & 1);
}

static uint32_t stored_by(const struct form *form, uint32_t word)
{
	return form->bytes[0] == 0xc7 ? 7 : word;
}

static void check_on_device(const struct form *form, const uint8_t *start, unsigned int skipped)
{
	uint32_t word = next_word++;
	uint32_t wanted = expected(form, skipped, word, AROUND);

	if (form->is_store) {
		CHECK(jump(start, device + (PRODUCE << 3), word) == wanted);
		if (skipped <= AROUND)
			CHECK(load32(device, CONSUME, 0) == stored_by(form, word));
		return;
	}
	if (skipped <= AROUND)
		store32(device, PRODUCE, 0, word);
	CHECK(jump(start, device + (CONSUME << 3), 0) == wanted);
}

static void check_on_memory(const struct form *form, const uint8_t *start, unsigned int skipped)
{
	uint32_t word = next_word++;
	volatile uint32_t memory = form->is_store ? 0 : word;

	CHECK(jump(start, &memory, word) == expected(form, skipped, word, AROUND));
	if (form->is_store)
		CHECK(memory == (skipped <= AROUND ? stored_by(form, word) : 0));
}

/* The access begins `distance` bytes before the end of the first of two pages. */
static void check_every_start(const struct form *form, unsigned int distance)
{
	uint8_t bytes[2 * PAGE];
	unsigned int at = PAGE - distance, round, i;
	const uint8_t *text;

	memset(bytes, 0x90, sizeof(bytes));
	memset(bytes + at - AROUND, 0xf5, AROUND);
	memcpy(bytes + at, form->bytes, form->length);
	memset(bytes + at + form->length, 0xf5, AROUND);
	memcpy(bytes + at + form->length + AROUND, "\x83\xd0\x00\xc3", TAIL); /* adc $0, %eax; ret */
	text = map_text(bytes, sizeof(bytes));
	for (round = 0; round < 2; round++) {
		for (i = 0; i <= 2 * AROUND; i++) {
			unsigned int skipped_bytes = i <= AROUND ? i : i - 1 + form->length;

			check_on_device(form, text + at - AROUND + skipped_bytes, i);
			check_on_memory(form, text + at - AROUND + skipped_bytes, i);
		}
	}
	drop(text, sizeof(bytes));
}

/* An access and a return, and behind that no text: three bytes, if the access has two. */
static void check_function_at_the_end(const struct form *form)
{
	uint8_t bytes[PAGE] = { 0 };
	unsigned int at = PAGE - form->length - 1, i;
	volatile uint32_t memory;
	const uint8_t *text;
	uint32_t word;

	memcpy(bytes + at, form->bytes, form->length);
	bytes[PAGE - 1] = 0xc3;
	text = map_text(bytes, sizeof(bytes));
	for (i = 0; i < 3; i++) {
		word = next_word++;
		memory = word;
		if (form->is_store) {
			jump(text + at, device + (PRODUCE << 3), word);
			CHECK(load32(device, CONSUME, 0) == stored_by(form, word));
			continue;
		}
		store32(device, PRODUCE, 0, word);
		CHECK(jump(text + at, device + (CONSUME << 3), 0) == (form->bytes[0] == 0x44 ? 0 : word));
		CHECK(jump(text + at, &memory, 0) == (form->bytes[0] == 0x44 ? 0 : word));
	}
	drop(text, sizeof(bytes));
}

int main(void)
{
	unsigned int i, distance;

	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	for (i = 0; i < FORMS; i++) {
		for (distance = 0; distance <= 12; distance++)
			check_every_start(&forms[i], distance);
		check_function_at_the_end(&forms[i]);
	}
	return 0;
}
