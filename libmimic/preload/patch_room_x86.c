/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Jumps for all instructions of a row. The last one's is chosen first: it borrows bytes that stay. Its own bytes
 * are some of those that the one in front borrows, and so on. The highest byte of a distance says roughly where a jump
 * leads: where one finds no place, the next is tried of the instruction behind it that has this byte.
 */
#include <string.h>

#include "libmimic/preload/patch_row.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define JUMP_SIZE 5u
#define PREFIXES_MAX 3u
/* The highest byte of a distance is that of one of the next members. */
#define REACH 3u
/* Places of a narrow window. */
#define STEPS 16u
#define VALUES 16u
#define PREFIXES 8u

/*
 * Highest bytes of distances, each another 16 MiB to 128 MiB. Below 2 GiB nothing lies before a program, and behind it
 * the heap takes a half of what there is, anywhere.
 */
static const uint8_t high_of_low_text[VALUES] = { 0x50, 0x58, 0x60, 0x68, 0x70, 0x78, 0x7c, 0x4c,
						  0x40, 0x38, 0x30, 0x28, 0x20, 0x18, 0x10, 0x08 };
static const uint8_t high_of_high_text[VALUES] = { 0xf0, 0xe0, 0xd0, 0xc0, 0xb0, 0xf8, 0x10, 0x20,
						   0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0x90, 0xe8 };
/* None changes anything of a jump. They are highest bytes, too, and the heap leaves the half of these. */
static const uint8_t prefixes_of_jumps[PREFIXES] = { 0x48, 0x67, 0x26, 0x4f, 0x65, 0x2e, 0x64, 0x3e };

static size_t size_of(const struct patch_member *member)
{
	return member->is_moved ? mimic_preload_patch_moved_size(&member->target)
				: mimic_preload_patch_code_size(member->target.instruction.length);
}

static bool reaches(const struct patch_member *member, uintptr_t place)
{
	uint8_t code[PATCH_CODE_MAX];

	if (member->is_moved)
		return mimic_preload_patch_moved_code(&member->target, place, code);
	return mimic_preload_patch_code(&member->target, place, member->block, 0, 0, code);
}

/* The jumps that fit, by the bytes that have been chosen behind it. */
static unsigned int windows_of(const struct patch_row *row, const struct patch_member *member,
			       struct patch_window windows[PATCH_WINDOWS_MAX])
{
	size_t at = member->target.address - row->start;

	return mimic_preload_patch_windows(member->target.address, row->text + at, row->available - at,
					   member->target.instruction.length, windows);
}

static bool is_allowed(struct patch_row *row, const struct patch_window *window)
{
	if (!row->is_traced || !window->borrowed)
		return true;
	row->has_skipped = true;
	return false;
}

/* Without a system call: could its jump lead anywhere? */
static bool is_hopeful(struct patch_row *row, const struct patch_member *member)
{
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int count = windows_of(row, member, windows);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (is_allowed(row, &windows[i]) && mimic_preload_patch_may_lead(&windows[i]))
			return true;
	return false;
}

/* --- members that decide where a jump in front leads ----------------------------------- */

/* Is it the highest byte of the member's distance, behind any number of prefixes? */
static bool is_highest_byte(const struct patch_member *member, uintptr_t address)
{
	unsigned int length = member->target.instruction.length;
	unsigned int prefixes;

	for (prefixes = 0; prefixes <= PREFIXES_MAX && prefixes < length && length < prefixes + JUMP_SIZE; prefixes++)
		if (member->target.address + prefixes + JUMP_SIZE - 1 == address)
			return true;
	return false;
}

static bool has_highest_byte_of(const struct patch_member *member, const struct patch_member *front)
{
	unsigned int i;

	for (i = 0; i < member->target.instruction.length; i++)
		if (is_highest_byte(front, member->target.address + i))
			return true;
	return false;
}

/* The members that have one, a bit for each. */
static uint32_t deciders_of(const struct patch_row *row, unsigned int number)
{
	unsigned int behind;
	uint32_t set = 0;

	for (behind = number + 1; behind < row->count && behind <= number + REACH; behind++)
		if (has_highest_byte_of(&row->members[behind], &row->members[number]))
			set |= 1u << behind;
	return set;
}

/* Is there hope for those in front that are decided by now? */
static bool is_hopeful_in_front(struct patch_row *row, unsigned int number)
{
	unsigned int front;

	for (front = number; front-- > 0 && number - front <= REACH;) {
		uint32_t deciders = row->members[front].deciders;

		if (deciders & ((1u << number) - 1) || is_hopeful(row, &row->members[front]))
			continue;
		row->members[number].blame |= deciders & ~((2u << number) - 1);
		return false;
	}
	return true;
}

/* The bytes of this jump, in the row's text. Is there hope for those in front? */
static bool put_jump(struct patch_row *row, unsigned int number, const uint8_t *jump, unsigned int changed)
{
	struct patch_member *member = &row->members[number];
	uint8_t *text = row->text + (member->target.address - row->start);

	memcpy(text, member->target.bytes, member->target.instruction.length);
	memcpy(text, jump, changed);
	return is_hopeful_in_front(row, number);
}

static bool put_jump_to(struct patch_row *row, unsigned int number, const struct patch_window *window,
			uintptr_t place)
{
	uint8_t jump[PATCH_JUMP_MAX];

	mimic_preload_patch_jump(window, row->members[number].target.address, place, jump);
	return put_jump(row, number, jump, window->changed);
}

/* --- a trampoline that it has, or had ---------------------------------------------- */

static bool serves(const struct patch_member *member, const struct patch_site *site)
{
	unsigned int length = member->target.instruction.length;
	unsigned int i;

	if (!site->size || site->is_moved != member->is_moved || site->target.instruction.length != length ||
	    memcmp(site->target.bytes, member->target.bytes, length) ||
	    (!site->is_moved &&
	     (site->block.key != member->block.key || site->block.shift != member->block.shift)))
		return false;
	for (i = 0; i < member->window_count; i++)
		if (mimic_preload_patch_is_same_window(&member->windows[i], &site->window))
			return true;
	return false;
}

static bool take_again(struct patch_row *row, unsigned int number)
{
	struct patch_member *member = &row->members[number];
	struct patch_site *site = mimic_preload_patch_find(member->target.address);

	for (; site; site = mimic_preload_patch_former(site)) {
		if (!serves(member, site) || !is_allowed(row, &site->window) ||
		    !put_jump(row, number, site->jump, site->window.changed))
			continue;
		member->again = site;
		member->chosen = site->window;
		member->place = site->place;
		return true;
	}
	return false;
}

/* --- a new one ------------------------------------------------------------------------ */

/* From `place` on, so that this byte of the jump's distance is `value`. */
static uintptr_t place_with_byte(const struct patch_member *member, const struct patch_window *window,
				 uintptr_t place, unsigned int byte, uint8_t value)
{
	uint64_t distance = place - (member->target.address + window->prefixes + JUMP_SIZE);

	return place + ((uint64_t)(uint8_t)(value - (distance >> (8 * byte))) << (8 * byte));
}

/* Bytes of its distance that are written. */
static unsigned int free_bytes(const struct patch_window *window)
{
	return window->changed - window->prefixes - 1u;
}

/* Any place, but not the first: else the jumps of a row would all lead to the same few. */
static uintptr_t any_place(const struct patch_member *member, const struct patch_window *window)
{
	struct patch_window exact = *window;
	unsigned int i;

	if (free_bytes(window) > 1)
		return member->start;
	for (i = 0; i < STEPS; i++) {
		unsigned int step = (unsigned int)(member->target.address * 5 + i) % STEPS;

		exact.first = exact.last = window->first + step * (window->last - window->first + 1) / STEPS;
		if (mimic_preload_patch_place(&exact, size_of(member)))
			return exact.first;
		if (window->last == window->first)
			break;
	}
	return 0;
}

static bool is_wanted(const struct patch_member *member, const struct patch_window *window, unsigned int byte)
{
	return member->wanted & 1u << (window->prefixes + 1 + byte);
}

/* Where the bytes that decide in front have a value that leads somewhere. */
static uintptr_t good_place(const struct patch_row *row, const struct patch_member *member,
			    const struct patch_window *window)
{
	uintptr_t place = member->start;
	unsigned int byte;

	for (byte = 0; byte < free_bytes(window) && byte < 3; byte++)
		if (is_wanted(member, window, byte))
			place = place_with_byte(member, window, place, byte, row->good);
	return place;
}

/* The first candidate is any place; the others have a certain value in a byte that decides in front. 0: none. */
static uintptr_t candidate_place(const struct patch_row *row, struct patch_member *member,
				 const struct patch_window *window, unsigned int candidate)
{
	unsigned int byte = (candidate - 1) / VALUES;

	if (!candidate) {
		member->start = free_bytes(window) > 1 ? mimic_preload_patch_place(window, size_of(member))
						       : window->first;
		return member->start ? any_place(member, window) : 0;
	}
	if (!member->start || !is_wanted(member, window, byte))
		return 0;
	return place_with_byte(member, window, good_place(row, member, window), byte,
			       row->values[(candidate - 1) % VALUES]);
}

static bool take_place(struct patch_row *row, unsigned int number, const struct patch_window *window,
		       uintptr_t place)
{
	struct patch_member *member = &row->members[number];
	struct patch_window exact = *window;

	exact.first = exact.last = place;
	if (place < window->first || place > window->last || !put_jump_to(row, number, window, place))
		return false;
	if (!mimic_preload_patch_place(&exact, size_of(member)) || !reaches(member, place))
		return false;
	member->chosen = *window;
	member->place = place;
	member->is_reserved = true;
	mimic_preload_patch_reserve(place, size_of(member));
	return true;
}

static void leave(struct patch_member *member)
{
	if (member->is_reserved)
		mimic_preload_patch_release();
	member->is_reserved = false;
	member->again = NULL;
}

/* Which of its first bytes are highest ones of distances in front? */
static uint8_t wanted_bytes(const struct patch_row *row, unsigned int number)
{
	uintptr_t address = row->members[number].target.address;
	unsigned int front, i;
	uint8_t wanted = 0;

	for (front = number; front-- > 0 && number - front <= REACH;)
		for (i = 0; i < PATCH_JUMP_MAX; i++)
			if (is_highest_byte(&row->members[front], address + i))
				wanted |= (uint8_t)(1u << i);
	return wanted;
}

static bool begin(struct patch_row *row, unsigned int number)
{
	struct patch_member *member = &row->members[number];

	member->is_begun = true;
	member->window = member->candidate = 0;
	member->window_count = windows_of(row, member, member->windows);
	member->wanted = wanted_bytes(row, number);
	member->blame = member->deciders;
	return take_again(row, number);
}

/* Its next jump by this window. */
static bool choose_in(struct patch_row *row, unsigned int number, struct patch_window *window)
{
	struct patch_member *member = &row->members[number];
	unsigned int places = number ? 1 + free_bytes(window) * VALUES : 1;
	unsigned int candidates = number && window->prefixes ? places * row->prefix_count : places;

	if (!is_allowed(row, window) || (row->count > 1 && !mimic_preload_patch_may_lead(window)))
		return false;
	while (member->candidate < candidates && row->looks) {
		unsigned int candidate = member->candidate++;
		uintptr_t place;

		window->prefix = row->prefixes[candidate / places];
		place = candidate_place(row, member, window, candidate % places);
		if (!place)
			continue;
		row->looks--;
		if (take_place(row, number, window, place))
			return true;
	}
	return false;
}

/* Its next jump. false: there is no other. */
static bool choose(struct patch_row *row, unsigned int number)
{
	struct patch_member *member = &row->members[number];

	leave(member);
	if (!member->is_begun && begin(row, number))
		return true;
	for (; member->window < member->window_count; member->window++, member->candidate = 0)
		if (choose_in(row, number, &member->windows[member->window]))
			return true;
	return false;
}

/* Back to the first one behind that could change that. row->count: there is none. */
static unsigned int go_back(struct patch_row *row, unsigned int number)
{
	uint32_t blame = row->members[number].blame;

	if (!blame)
		return row->count;
	while (!(blame & 1u << ++number))
		leave(&row->members[number]);
	row->members[number].blame |= blame & ~(1u << number);
	return number;
}

/* Do jumps with this highest byte lead anywhere, all of them? */
static bool leads(const struct patch_row *row, uint8_t highest)
{
	uintptr_t first = row->start + (uintptr_t)((int64_t)(int8_t)highest * (1 << 24));
	const struct patch_window least = { .first = first, .last = first };
	const struct patch_window most = { .first = first + 0xffffff, .last = first + 0xffffff };

	return mimic_preload_patch_may_lead(&least) && mimic_preload_patch_may_lead(&most);
}

static void choose_values(struct patch_row *row)
{
	unsigned int i;

	row->prefixes[0] = prefixes_of_jumps[0];
	row->prefix_count = 1;
	/* It has its choice of places, and is asked for no more: that takes system calls. */
	if (row->count == 1)
		return;
	row->values = row->start >> 32 ? high_of_high_text : high_of_low_text;
	for (i = 0; i < VALUES - 1 && !leads(row, row->values[i]); i++)
		continue;
	row->good = row->values[i];
	for (i = row->prefix_count = 0; i < PREFIXES && row->prefix_count < PATCH_ROW_PREFIXES; i++)
		if (leads(row, prefixes_of_jumps[i]))
			row->prefixes[row->prefix_count++] = prefixes_of_jumps[i];
	row->prefix_count += !row->prefix_count;
}

bool mimic_preload_patch_room(struct patch_row *row)
{
	unsigned int number = row->count - 1;

	unsigned int i;

	choose_values(row);
	for (i = 0; i < row->count; i++)
		row->members[i].deciders = deciders_of(row, i);
	row->members[number].is_begun = false;
	while (number < row->count) {
		if (!choose(row, number)) {
			number = go_back(row, number);
			continue;
		}
		if (!number)
			return true;
		row->members[--number].is_begun = false;
	}
	for (i = 0; i < row->count; i++)
		leave(&row->members[i]);
	return false;
}

#else

bool mimic_preload_patch_room(struct patch_row *row)
{
	(void)row;
	return false;
}

#endif
