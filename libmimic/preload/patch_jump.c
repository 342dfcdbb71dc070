/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Jumps in the text: which fit over an instruction, how they are written, and taken back, with those whose
 * bytes hang together. The lock of patch.c is held.
 */
#include <string.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

/* Jumps that borrow each other's bytes, one behind the other. */
#define CHAIN_MAX 12u

/* --- the bytes of the text --------------------------------------------------------- */

bool mimic_preload_patch_is_in_text(const struct patch_site *site)
{
	const volatile uint8_t *text = (const volatile uint8_t *)site->target.address;
	unsigned int i;

	if (!atomic_load(&site->installed))
		return false;
	for (i = 0; i < site->window.changed; i++)
		if (text[i] != site->jump[i])
			return false;
	return true;
}

bool mimic_preload_patch_is_as_known(uintptr_t address, const uint8_t *original, size_t count)
{
	uint8_t expected[PATCH_LOOKED_AT];
	uintptr_t at;

	if (count > sizeof(expected))
		return false;
	memcpy(expected, original, count);
	for (at = address - (PATCH_JUMP_MAX - 1); at < address + count; at++) {
		const struct patch_site *site = mimic_preload_patch_find(at);
		unsigned int i;

		if (!site || !atomic_load(&site->installed))
			continue;
		for (i = 0; i < site->window.changed; i++)
			if (at + i - address < count)
				expected[at + i - address] = site->jump[i];
	}
	return !memcmp((const void *)address, expected, count);
}

/* A debugger's breakpoints would change bytes that a jump borrows. Checked once. */
static bool is_traced(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = mimic_preload_code_status("TracerPid:\t") != '0';
	return answer;
}

/* --- one site ------------------------------------------------------------------------ */

/* No text may be written: each further try would end in the same way. */
static void refuse_all(struct patch_site *site)
{
	site->refusal = PATCH_TEXT_CLOSED;
	mimic_preload_patch_refuse();
}

/* A thread that has trapped on the instruction meanwhile asks whether the jump is there: it is known before.
 */
static bool write_jump(struct patch_site *site)
{
	atomic_store(&site->installed, true);
	site->refusal = PATCH_FITS;
	if (!mimic_preload_code_write(site->target.address, site->jump, site->window.changed))
		return true;
	atomic_store(&site->installed, false);
	refuse_all(site);
	return false;
}

static bool make_code(const struct patch_site *site, uintptr_t place, uint8_t code[PATCH_CODE_MAX])
{
	if (site->is_moved)
		return mimic_preload_patch_moved_code(&site->target, place, code);
	return mimic_preload_patch_code(&site->target, place, site->block,
					(uintptr_t)mimic_preload_patch_enter, (uintptr_t)site, code);
}

/* A trampoline somewhere in the window, and the jump to it. */
static bool fit(struct patch_site *site, const struct patch_window *window)
{
	unsigned int length = site->target.instruction.length;
	size_t size = site->is_moved ? mimic_preload_patch_moved_size(&site->target)
				     : mimic_preload_patch_code_size(length);
	uintptr_t place = mimic_preload_patch_place(window, size);
	uint8_t code[PATCH_CODE_MAX];

	if (!place || !make_code(site, place, code))
		return false;
	site->window = *window;
	site->place = place;
	site->size = (uint8_t)size;
	mimic_preload_patch_put(site, code);
	mimic_preload_patch_jump(window, site->target.address, place, site->jump);
	mimic_preload_patch_tell_gdb(site, is_traced());
	return true;
}

/* The jumps that fit where the site is, by the text as it stands now. */
static unsigned int windows_of(const struct patch_site *site, struct patch_window windows[PATCH_WINDOWS_MAX])
{
	uint8_t original[PATCH_LOOKED_AT], text[PATCH_LOOKED_AT];
	enum patch_refusal refusal;
	size_t available = site->looked_at;

	if (!available)
		available = mimic_preload_code_original(site->target.address, original, sizeof(original), &refusal);
	memcpy(text, (const void *)site->target.address, available);
	return mimic_preload_patch_windows(site->target.address, text, available,
					   site->target.instruction.length, windows);
}

/* A trampoline for the site, and the bytes of the jump to it; the text is not touched yet. */
static bool prepare(struct patch_site *site)
{
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int count = windows_of(site, windows);
	unsigned int i;

	site->refusal = PATCH_NO_PLACE;
	mimic_preload_patch_limit_tries(UINT32_MAX);
	for (i = 0; i < count; i++) {
		if (windows[i].borrowed && is_traced()) {
			site->refusal = PATCH_DEBUGGER;
			continue;
		}
		if (fit(site, &windows[i]))
			return true;
	}
	if (mimic_preload_patch_pages_are_refused())
		refuse_all(site);
	return false;
}

bool mimic_preload_patch_take_back_before(struct patch_site *site, uintptr_t end)
{
	size_t count = end - site->target.address;

	if (count > site->window.changed)
		count = site->window.changed;
	if (mimic_preload_code_write(site->target.address, site->target.bytes, count))
		return false;
	atomic_store(&site->installed, false);
	return true;
}

void mimic_preload_patch_take_back_behind(struct patch_site *site, uintptr_t end)
{
	size_t before = end - site->target.address;

	atomic_store(&site->installed, false);
	if (before < site->window.changed)
		mimic_preload_code_write(end, site->target.bytes + before, site->window.changed - before);
}

static bool take_back(struct patch_site *site)
{
	return mimic_preload_patch_take_back_before(site, UINTPTR_MAX);
}

/* Do the bytes that its jump borrows say the same as before? */
static bool still_fits(const struct patch_site *site)
{
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int count = windows_of(site, windows);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!memcmp(&windows[i], &site->window, sizeof(windows[i])))
			return true;
	return false;
}

static bool is_same(const struct patch_site *site, const struct patch_site *other)
{
	unsigned int length = site->target.instruction.length;

	return length == other->target.instruction.length && site->is_moved == other->is_moved &&
	       !memcmp(site->target.bytes, other->target.bytes, length) &&
	       site->block.key == other->block.key && site->block.shift == other->block.shift;
}

struct patch_site *mimic_preload_patch_find_same(const struct patch_site *site)
{
	struct patch_site *former = mimic_preload_patch_find(site->target.address);

	for (; former; former = mimic_preload_patch_former(former))
		if (former->size && !atomic_load(&former->installed) && is_same(former, site) &&
		    still_fits(former))
			return former;
	return NULL;
}

/* After a neighbour has changed. A trampoline that a thread may stand in is never changed: it gets another.
 */
static void patch_again(struct patch_site *before)
{
	struct patch_site *site = mimic_preload_patch_find_same(before);

	if (site) {
		mimic_preload_patch_bring_forward(site);
		write_jump(site);
		return;
	}
	site = mimic_preload_patch_add(before->target.address);
	if (!site)
		return;
	site->target = before->target;
	site->is_moved = before->is_moved;
	site->block = before->block;
	site->tries = 1;
	/* Added: a thread that traps may have found the new one already. */
	atomic_fetch_add(&site->traps, atomic_exchange(&before->traps, 0));
	if (prepare(site))
		write_jump(site);
}

/* The instruction behind the site, if it can be moved; its bytes are the file's, and in the site's page. */
static bool look_behind(const struct patch_site *site, struct patch_target *moved)
{
	uintptr_t address = site->target.address + site->target.instruction.length;
	uint8_t original[PATCH_LOOKED_AT];
	enum patch_refusal refusal;
	size_t available = mimic_preload_code_original(address, original, sizeof(original), &refusal);
	unsigned int length = mimic_preload_patch_movable(original, available);
	unsigned int i;

	if (!length || (site->target.address ^ (address + length - 1)) & ~(PAGE_BYTES - 1) ||
	    !mimic_preload_patch_is_as_known(address, original, available))
		return false;
	for (i = 0; i < length; i++)
		if (mimic_preload_patch_over(address + i))
			return false;
	*moved = (struct patch_target){ .address = address, .instruction.length = (uint8_t)length };
	memcpy(moved->bytes, original, length);
	return true;
}

static bool patch_with_chain(struct patch_site *site, bool may_move);

/* Moves the instruction behind the site, so that the jump there gives its own jump room. */
static bool make_room(const struct patch_site *site)
{
	struct patch_target moved;
	struct patch_window window, exact;
	struct patch_site *behind;
	uint8_t text[PATCH_LOOKED_AT];
	uintptr_t place;
	size_t available;
	enum patch_refusal refusal;

	if (is_traced() || !look_behind(site, &moved))
		return false;
	available = mimic_preload_code_original(site->target.address, text, sizeof(text), &refusal);
	memcpy(text, (const void *)site->target.address, available);
	if (!mimic_preload_patch_room(&site->target, &moved, text, available, &window, &place))
		return false;
	behind = mimic_preload_patch_add(moved.address);
	if (!behind)
		return false;
	behind->target = moved;
	behind->is_moved = true;
	behind->tries = 1;
	/* At this very place: another one makes another jump. */
	exact = window;
	exact.first = exact.last = place;
	if (!fit(behind, &exact))
		return false;
	behind->window = window;
	return patch_with_chain(behind, false);
}

/*
 * The jumps before a site that borrow bytes of its jump, and those that borrow theirs. The farthest
 * is taken back first: so none ever reads bytes that it was not made for.
 */
static bool patch_with_chain(struct patch_site *site, bool may_move)
{
	struct patch_site *chain[CHAIN_MAX];
	unsigned int count = 0;
	unsigned int back, i;
	uintptr_t at = site->target.address;
	unsigned int changed;

	if (!site->size && !prepare(site) &&
	    !(site->refusal == PATCH_NO_PLACE && may_move && make_room(site) && prepare(site)))
		return false;
	changed = site->window.changed;
	while (changed) {
		struct patch_site *other = NULL;

		for (i = 0; i < changed && !other; i++)
			other = mimic_preload_patch_borrower(at + i);
		if (!other)
			break;
		if (count == CHAIN_MAX) {
			site->refusal = PATCH_NO_PLACE;
			return false;
		}
		chain[count++] = other;
		at = other->target.address;
		changed = other->window.changed;
	}
	for (back = count; back-- > 0;) {
		if (!take_back(chain[back])) {
			site->refusal = PATCH_TEXT_CLOSED;
			return false;
		}
	}
	write_jump(site);
	for (i = 0; i < count; i++)
		patch_again(chain[i]);
	return atomic_load(&site->installed);
}

void mimic_preload_patch_install(struct patch_site *site)
{
	patch_with_chain(site, true);
	site->looked_at = 0;
}
