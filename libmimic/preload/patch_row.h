/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A row: the instruction that is to be replaced, with its neighbours whose jumps hang together with its own. A jump
 * over a short instruction borrows bytes that follow; where these are another jump's, one decides where the other may
 * lead. In front stand jumps that borrow bytes of the instruction, and would lead elsewhere. Behind it stand
 * instructions whose bytes are wanted; each of these gets a jump at its own start.
 */
#ifndef MIMIC_PRELOAD_PATCH_ROW_H
#define MIMIC_PRELOAD_PATCH_ROW_H

#include "libmimic/preload/patch.h"

#define PATCH_ROW_FRONT 12u /* jumps in front */
#define PATCH_ROW_BEHIND 15u /* instructions behind */
#define PATCH_ROW_MAX (PATCH_ROW_FRONT + 1 + PATCH_ROW_BEHIND)
#define PATCH_ROW_PREFIXES 3u
#define PATCH_ROW_ORIGINAL ((PATCH_ROW_BEHIND + 1) * MIMIC_INSTRUCTION_MAX + PATCH_JUMP_MAX)
#define PATCH_ROW_TEXT (PATCH_ROW_FRONT * PATCH_JUMP_MAX + PATCH_ROW_ORIGINAL)

struct patch_member {
	struct patch_target target;
	struct patch_block block;
	struct patch_site *site; /* stands for it; NULL: none yet */
	bool is_moved, is_early;
	/* The jump that the search has found. */
	struct patch_window chosen;
	uintptr_t place;
	struct patch_site *again; /* its trampoline serves once more; NULL: a new one comes to `place` */
	/* Where the search stands. */
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int window_count, window, candidate;
	uintptr_t start;
	uint8_t wanted; /* bytes that decide in front, a bit for each */
	uint32_t deciders; /* members that have a highest byte of its distance, a bit for each */
	uint32_t blame; /* those that could help it to another place */
	bool is_begun, is_reserved;
};

struct patch_row {
	struct patch_member members[PATCH_ROW_MAX]; /* in the order of addresses */
	unsigned int count;
	uintptr_t start; /* the first one's address */
	size_t available; /* bytes of text from there on */
	uint8_t text[PATCH_ROW_TEXT];
	uint8_t prefixes[PATCH_ROW_PREFIXES]; /* that jumps may have */
	unsigned int prefix_count;
	const uint8_t *values; /* of highest bytes of distances */
	uint8_t good; /* one that leads somewhere */
	unsigned int looks; /* jumps that may still be tried */
	bool is_traced; /* no jump may borrow */
	bool has_skipped; /* ... and one was left out therefore */
};

/* patch_room_x86.c: a jump for each member, as chosen, place and again say. false: they have none. */
bool mimic_preload_patch_room(struct patch_row *row);

#endif
