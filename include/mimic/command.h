/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The words of a ring: commands from a program's thread to a device.
 *
 * A command is one header word, then `count` payload words for stores and none
 * for loads. The same access as a trap's, `count` times.
 *
 *   [7:0]   kind       enum mimic_command_kind
 *   [15:8]  device     number of the device in its session
 *   [19:16] page
 *   [23:20] size       1, 2, 4 or 8
 *   [35:24] offset     in the page
 *   [63:36] count      at least 1
 */
#ifndef MIMIC_COMMAND_H
#define MIMIC_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "mimic/access.h"

enum mimic_command_kind {
	MIMIC_COMMAND_STORE = 1,	/* posted: no answer */
	MIMIC_COMMAND_STORE_ACKNOWLEDGED = 2,	/* one answer word, 0, when the last is acknowledged */
	MIMIC_COMMAND_LOAD = 3,		/* `count` answer words */
	MIMIC_COMMAND_COUNTERS = 4,	/* `count` answer words: the device's counters */
	/*
	 * One store that is acknowledged when it has taken effect: the answer is how many words of stores by the same
	 * thread to the same part of the device take effect at once, for certain (mimic_kind.credits).
	 */
	MIMIC_COMMAND_STORE_FOR_CREDIT = 5,
};

#define MIMIC_COMMAND_COUNT_MAX ((1u << 28) - 1)

struct mimic_command {
	enum mimic_command_kind kind;
	uint8_t device;
	uint8_t page;
	uint8_t size;
	uint16_t offset;
	uint32_t count;
};

static inline uint64_t mimic_command_pack(const struct mimic_command *command)
{
	return (uint64_t)command->kind | (uint64_t)command->device << 8 |
	       (uint64_t)command->page << 16 | (uint64_t)command->size << 20 |
	       (uint64_t)command->offset << 24 | (uint64_t)command->count << 36;
}

/* false: no command. Only the word itself is judged, not whether the device exists. */
static inline bool mimic_command_unpack(uint64_t word, struct mimic_command *command)
{
	unsigned int kind = word & 0xff;

	command->kind = (enum mimic_command_kind)kind;
	command->device = (word >> 8) & 0xff;
	command->page = (word >> 16) & 0xf;
	command->size = (word >> 20) & 0xf;
	command->offset = (word >> 24) & 0xfff;
	command->count = (uint32_t)(word >> 36);
	if (kind < MIMIC_COMMAND_STORE || kind > MIMIC_COMMAND_STORE_FOR_CREDIT)
		return false;
	if (kind == MIMIC_COMMAND_STORE_FOR_CREDIT && command->count != 1)
		return false;
	if (command->size != 1 && command->size != 2 && command->size != 4 && command->size != 8)
		return false;
	return command->count > 0;
}

#endif
