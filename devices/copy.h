/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Copies of a few words, as a queue's. Where an access of `mimic run` comes by, a call of memcpy() makes it keep the
 * program's vector registers (libmimic/base/vectors.h), which takes longer than all the rest.
 */
#ifndef MIMIC_DEVICES_COPY_H
#define MIMIC_DEVICES_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MIMIC_FEW_WORDS 8u

/* Keeps the compiler from making the loop a call of memcpy() or memset() again. */
#define MIMIC_STAYS_A_LOOP() __asm__ volatile("")

/* `count` words of 4 bytes, wherever they lie. */
static inline void mimic_copy_words(void *to, const void *from, size_t count)
{
	typedef uint32_t word __attribute__((may_alias, aligned(1)));
	const word *source = from;
	word *destination = to;

	if (count > MIMIC_FEW_WORDS) {
		memcpy(to, from, count * sizeof(word));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		destination[i] = source[i];
		MIMIC_STAYS_A_LOOP();
	}
}

static inline void mimic_clear_flags(bool *flags, size_t count)
{
	if (count > MIMIC_FEW_WORDS) {
		memset(flags, 0, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		flags[i] = false;
		MIMIC_STAYS_A_LOOP();
	}
}

#endif
