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

#else

static bool look_for_instruction(void)
{
	return false;
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
		return ~by_instruction(~crc, bytes, size);
#endif
	return ~by_table(~crc, bytes, size);
}

uint32_t mimic_record_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
	return ~by_table(~crc, bytes, size);
}
