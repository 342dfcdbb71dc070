/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One jump in the text: how it is written, and taken back. The lock of patch.c is held. */
#include <string.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

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
bool mimic_preload_patch_is_traced(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = mimic_preload_code_status("TracerPid:\t") != '0';
	return answer;
}

/* --- one site ------------------------------------------------------------------------ */

/* No text may be written: each further try would end in the same way. */
void mimic_preload_patch_refuse_all(struct patch_site *site)
{
	site->refusal = PATCH_TEXT_CLOSED;
	mimic_preload_patch_refuse();
}

/* A thread that has trapped on the instruction meanwhile asks whether the jump is there: it is known before.
 */
bool mimic_preload_patch_write(struct patch_site *site)
{
	atomic_store(&site->installed, true);
	site->refusal = PATCH_FITS;
	if (!mimic_preload_code_write(site->target.address, site->jump, site->window.changed))
		return true;
	atomic_store(&site->installed, false);
	mimic_preload_patch_refuse_all(site);
	return false;
}

void mimic_preload_patch_fit(struct patch_site *site, const struct patch_window *window, uintptr_t place)
{
	uint8_t code[PATCH_CODE_MAX];

	if (site->is_moved) {
		mimic_preload_patch_moved_code(&site->target, place, code);
	} else {
		mimic_preload_patch_shape(site);
		mimic_preload_patch_code(&site->target, place, site->block, (uintptr_t)mimic_preload_patch_enter,
					 (uintptr_t)site, code);
	}
	site->window = *window;
	site->place = place;
	site->size = (uint8_t)(site->is_moved ? mimic_preload_patch_moved_size(&site->target)
					      : mimic_preload_patch_code_size(site->target.instruction.length));
	mimic_preload_patch_put(site, code);
	mimic_preload_patch_jump(window, site->target.address, place, site->jump);
	mimic_preload_patch_tell_gdb(site, mimic_preload_patch_is_traced());
}

/* The jumps that fit where the site is, by the text as it stands now. */
static unsigned int windows_of(const struct patch_site *site, struct patch_window windows[PATCH_WINDOWS_MAX])
{
	uint8_t original[PATCH_LOOKED_AT], text[PATCH_LOOKED_AT];
	enum patch_refusal refusal;
	size_t available =
		mimic_preload_code_original(site->target.address, original, sizeof(original), &refusal);

	memcpy(text, (const void *)site->target.address, available);
	return mimic_preload_patch_windows(site->target.address, text, available,
					   site->target.instruction.length, windows);
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

/* Do the bytes that its jump borrows say the same as before? */
static bool still_fits(const struct patch_site *site)
{
	struct patch_window windows[PATCH_WINDOWS_MAX];
	unsigned int count = windows_of(site, windows);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (mimic_preload_patch_is_same_window(&windows[i], &site->window))
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
