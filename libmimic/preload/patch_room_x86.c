/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Room for a jump whose instruction is too short, and where nothing is free that it could lead to with the
 * bytes that follow: the instruction behind is moved, too. A jump stands in its place then, whose bytes can
 * be chosen: those that the short jump borrows.
 */
#include <string.h>

#include "libmimic/preload/patch.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define JUMP_SIZE 5u
#define TEXT_MAX (MIMIC_INSTRUCTION_MAX + PATCH_JUMP_MAX)
/* System calls that ask for a page, for one instruction: some 100 us at most. */
#define TRIES 48u

struct room {
	const struct patch_target *target; /* whose jump lacks room */
	const struct patch_target *moved;
	const uint8_t *text; /* from the target on */
	size_t available;
};

/* Highest bytes of distances, each another 16 MiB to 128 MiB. Below 2 GiB nothing lies before a program. */
static const uint8_t high_of_low_text[] = { 0x50, 0x58, 0x60, 0x68, 0x70, 0x78, 0x7c, 0x4c };
static const uint8_t high_of_high_text[] = { 0xf0, 0xe0, 0xd0, 0xc0, 0xb0, 0xf8, 0x10, 0x20 };

/* Would the target's jump have a place, with this jump behind it? */
static bool has_place(const struct room *room, const struct patch_window *window, uintptr_t place)
{
	unsigned int length = room->target->instruction.length;
	struct patch_window windows[PATCH_WINDOWS_MAX];
	uint8_t text[TEXT_MAX], jump[PATCH_JUMP_MAX];
	unsigned int count, i;

	memcpy(text, room->text, room->available);
	mimic_preload_patch_jump(window, room->moved->address, place, jump);
	memcpy(text + length, jump, window->changed);
	count = mimic_preload_patch_windows(room->target->address, text, room->available, length, windows);
	for (i = 0; i < count; i++)
		if (mimic_preload_patch_place(&windows[i], mimic_preload_patch_code_size(length)))
			return true;
	return false;
}

/* A place from `start` on, so that this byte of the jump's distance is `value`. */
static uintptr_t place_with_byte(const struct room *room, const struct patch_window *window, uintptr_t start,
				 unsigned int byte, uint8_t value)
{
	uint64_t distance = start - (room->moved->address + window->prefixes + JUMP_SIZE);

	return start + ((uint64_t)(uint8_t)(value - (distance >> (8 * byte))) << (8 * byte));
}

static bool try_place(const struct room *room, const struct patch_window *window, size_t size,
		      uintptr_t place)
{
	struct patch_window exact = *window;

	exact.first = exact.last = place;
	return place >= window->first && place <= window->last && has_place(room, window, place) &&
	       mimic_preload_patch_place(&exact, size);
}

/* Each byte of this jump's distance that is written may be the highest of the target's, behind so many
 * prefixes. */
static bool try_window(const struct room *room, const struct patch_window *window, size_t size,
		       uintptr_t *place)
{
	const uint8_t *values = room->target->address >> 32 ? high_of_high_text : high_of_low_text;
	bool is_wide = window->last - window->first >= 1u << 16;
	uintptr_t start = is_wide ? mimic_preload_patch_place(window, size) : window->first;
	unsigned int byte, i;

	if (!start)
		return false;
	*place = start;
	if (try_place(room, window, size, start))
		return true;
	for (byte = 0; byte < 3 && byte + window->prefixes + 1 < window->changed; byte++)
		for (i = 0; i < sizeof(high_of_low_text); i++) {
			*place = place_with_byte(room, window, start, byte, values[i]);
			if (try_place(room, window, size, *place))
				return true;
		}
	return false;
}

bool mimic_preload_patch_room(const struct patch_target *target, const struct patch_target *moved,
			      const uint8_t *text, size_t available, struct patch_window *window,
			      uintptr_t *place)
{
	unsigned int length = moved->instruction.length, before = target->instruction.length;
	const struct room room = { target, moved, text, available < TEXT_MAX ? available : TEXT_MAX };
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int count, i;
	bool is_found = false;

	if (before >= JUMP_SIZE || room.available < before + length)
		return false;
	count = mimic_preload_patch_windows(moved->address, text + before, room.available - before, length,
					    windows);
	mimic_preload_patch_limit_tries(TRIES);
	for (i = 0; i < count && !is_found; i++) {
		is_found = try_window(&room, &windows[i], mimic_preload_patch_moved_size(moved), place);
		*window = windows[i];
	}
	mimic_preload_patch_limit_tries(UINT32_MAX);
	return is_found;
}

#else

bool mimic_preload_patch_room(const struct patch_target *target, const struct patch_target *moved,
			      const uint8_t *text, size_t available, struct patch_window *window,
			      uintptr_t *place)
{
	(void)target, (void)moved, (void)text, (void)available, (void)window, (void)place;
	return false;
}

#endif
