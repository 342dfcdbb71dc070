/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* CRC-32C (Castagnoli), eight bytes at a time: table n is of a byte that n more bytes follow. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "libmimic/record/format.h"

#define POLYNOMIAL 0x82f63b78u	/* its bits reversed */

static uint32_t table[8][256];
static bool has_instruction;

#ifdef __x86_64__

static bool look_for_instruction(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("sse4.2");
}

/* A register after LANE bytes of 0, by its bytes: a sum of its bits'. */
#define LANE 1024u
static uint32_t over_lane[4][256];

/* The processor's instruction is of the same polynomial. */
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc,
								 const unsigned char *at,
								 size_t size)
{
	uint64_t wide = crc, word;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; size; size--, at++)
		crc = __builtin_ia32_crc32qi(crc, *at);
	return crc;
}

static uint32_t skip_lane(uint32_t crc)
{
	return over_lane[0][crc & 255] ^ over_lane[1][crc >> 8 & 255] ^ over_lane[2][crc >> 16 & 255] ^
	       over_lane[3][crc >> 24];
}

static void make_lanes(void)
{
	static const unsigned char zeros[LANE];

	for (unsigned int bit = 0; has_instruction && bit < 32; bit++) {
		uint32_t after = by_instruction(1u << bit, zeros, LANE), value = 1u << bit % 8;

		for (uint32_t byte = 0; byte < 256; byte++)
			over_lane[bit / 8][byte] ^= byte & value ? after : 0;
	}
}

__attribute__((target("sse4.2"))) static uint64_t take_word(uint64_t crc, const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return __builtin_ia32_crc32di(crc, word);
}

/* Three lanes at once: the instruction takes three cycles, and one can begin in each. */
__attribute__((target("sse4.2"))) static uint32_t by_lanes(uint32_t crc, const unsigned char *at, size_t size)
{
	for (; size >= 3 * LANE; size -= 3 * LANE, at += 3 * LANE) {
		uint64_t a = crc, b = 0, c = 0;

		for (size_t i = 0; i < LANE; i += 8) {
			a = take_word(a, at + i);
			b = take_word(b, at + LANE + i);
			c = take_word(c, at + 2 * LANE + i);
		}
		crc = skip_lane(skip_lane((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
	}
	return by_instruction(crc, at, size);
}

#else

static bool look_for_instruction(void)
{
	return false;
}

static void make_lanes(void)
{
}

#endif

static void make_tables(void)
{
	has_instruction = look_for_instruction();
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][byte] = crc;
	}
	for (uint32_t byte = 0; byte < 256; byte++)
		for (unsigned int n = 1; n < 8; n++)
			table[n][byte] = table[n - 1][byte] >> 8 ^ table[0][table[n - 1][byte] & 255];
	make_lanes();
}

void mimic_record_crc32c_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_tables);
}

static uint32_t by_table(uint32_t crc, const unsigned char *at, size_t size)
{
	for (; size >= 8; size -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		word ^= crc;
		crc = table[7][word & 255] ^ table[6][word >> 8 & 255] ^ table[5][word >> 16 & 255] ^
		      table[4][word >> 24 & 255] ^ table[3][word >> 32 & 255] ^
		      table[2][word >> 40 & 255] ^ table[1][word >> 48 & 255] ^ table[0][word >> 56];
	}
	for (; size; size--, at++)
		crc = crc >> 8 ^ table[0][(crc ^ *at) & 255];
	return crc;
}

uint32_t mimic_record_crc32c(uint32_t crc, const void *bytes, size_t size)
{
#ifdef __x86_64__
	if (has_instruction)
		return ~by_lanes(~crc, bytes, size);
#endif
	return ~by_table(~crc, bytes, size);
}

uint32_t mimic_record_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
	return ~by_table(~crc, bytes, size);
}
