/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Replaces an instruction, with the neighbours of its row. The lock of patch.c is held. */
#include <string.h>

#include "libmimic/preload/patch_row.h"
#include "libmimic/preload/preload.h"

/* System calls that ask for pages, for one instruction and its row: some 100 us at most. */
#define TRIES 64u
/* Pages, up to which a row gets new ones: the rest is for those that need no neighbours. */
#define PAGES_OF_ROWS (PATCH_PAGES_MAX / 2)
/* Jumps that are tried, each some 50 ns. */
#define LOOKS 768u

/* Static: a handler's stack may be small. */
static struct patch_row row;
/* The instruction that has trapped: its place in the row, and the file's bytes from it on. */
static unsigned int own;
static uint8_t original[PATCH_ROW_ORIGINAL];
static size_t original_count;

/* --- the members ------------------------------------------------------------------------ */

static struct patch_member *add_member(const struct patch_target *target)
{
	struct patch_member *member = &row.members[row.count++];

	*member = (struct patch_member){ .target = *target };
	memcpy(row.text + (target->address - row.start), target->bytes, target->instruction.length);
	return member;
}

static void add_site(struct patch_site *site)
{
	struct patch_member *member = add_member(&site->target);

	member->site = site;
	member->block = site->block;
	member->is_moved = site->is_moved;
	member->is_early = site->is_early;
}

/*
 * The jumps in front, the nearest first, that borrow bytes of its jump or of one of these. The bytes that a jump borrows begin
 * behind its own instruction: the first byte of the next one is among them.
 */
static unsigned int find_front(const struct patch_site *site, struct patch_site *front[PATCH_ROW_FRONT + 1])
{
	struct patch_site *other = mimic_preload_patch_borrower(site->target.address);
	unsigned int count = 0;

	for (; other && count <= PATCH_ROW_FRONT; other = mimic_preload_patch_borrower(other->target.address))
		front[count++] = other;
	return count;
}

/* Sites that are installed may have lost their text in a way that we have not seen. */
static bool are_in_text(struct patch_site *const *sites, unsigned int count)
{
	while (count-- > 0)
		if (!mimic_preload_patch_is_in_text(sites[count]))
			return false;
	return true;
}

/* How many of the file's bytes there are from the site's first on, if the text has them. 0: none. */
static size_t look_at_site(const struct patch_site *site)
{
	enum patch_refusal refusal;
	size_t count;

	if (site->looked_at)
		return site->looked_at;
	count = mimic_preload_code_original(site->target.address, original, PATCH_LOOKED_AT, &refusal);
	return mimic_preload_patch_is_as_known(site->target.address, original, count) ? count : 0;
}

/* false: too many jumps hang together, or the text is not a file's any more. */
static bool begin_row(struct patch_site *site, struct patch_block block)
{
	struct patch_site *front[PATCH_ROW_FRONT + 1];
	unsigned int count = find_front(site, front);
	uintptr_t address = site->target.address;

	if (count > PATCH_ROW_FRONT || !are_in_text(front, count))
		return false;
	original_count = 0;
	row.count = 0;
	row.looks = LOOKS;
	row.is_traced = mimic_preload_patch_is_traced();
	row.has_skipped = false;
	row.start = count ? front[count - 1]->target.address : address;
	row.available = look_at_site(site);
	if (!row.available)
		return false;
	row.available += address - row.start;
	memcpy(row.text, (const void *)row.start, row.available);
	while (count-- > 0)
		add_site(front[count]);
	own = row.count;
	add_site(site);
	row.members[own].block = block;
	row.members[own].is_early = false;
	return true;
}

static bool look_at_original(void)
{
	uintptr_t address = row.members[own].target.address;
	unsigned int length = row.members[own].target.instruction.length;
	/* No member reaches into the next page, but the bytes that its jump borrows. */
	size_t count = PAGE_BYTES - address % PAGE_BYTES + PATCH_JUMP_MAX;
	enum patch_refusal refusal;

	if (original_count)
		return true;
	original_count = mimic_preload_code_original(address, original,
						     count < sizeof(original) ? count : sizeof(original), &refusal);
	if (original_count <= length)
		return false;
	row.available = original_count + (address - row.start);
	/* Of what is a member already the row has the bytes. */
	memcpy(row.text + (address - row.start) + length, (const void *)(address + length), original_count - length);
	return true;
}

/* One that can be carried out elsewhere, or accesses memory: that one gets the trampoline that it would get if it had trapped. */
static bool decode_behind(const uint8_t *bytes, size_t count, struct patch_target *target, bool *is_moved)
{
	unsigned int length = mimic_preload_patch_movable(bytes, count);

	*is_moved = length;
	/* No jump has room in one byte. */
	if (length == 1)
		return false;
	if (length)
		target->instruction.length = (uint8_t)length;
	else if (mimic_decode(bytes, count, &target->instruction) ||
		 mimic_preload_patch_form(&target->instruction) != PATCH_FITS)
		return false;
	memcpy(target->bytes, bytes, target->instruction.length);
	return true;
}

/* Are all its bytes in the page of the one that has trapped, and in no other's jump? */
static bool is_in_reach(uintptr_t address, unsigned int length)
{
	unsigned int i;

	if ((row.members[own].target.address ^ (address + length - 1)) & ~(PAGE_BYTES - 1))
		return false;
	for (i = 0; i < length; i++)
		if (mimic_preload_patch_over(address + i))
			return false;
	return true;
}

/* Behind a jump, conditional or not, other things than instructions may follow. */
static bool may_not_go_on(const struct patch_member *member)
{
	struct patch_branch branch;

	return member->is_moved &&
	       mimic_preload_patch_branch(member->target.bytes, member->target.instruction.length, &branch);
}

static bool add_new(struct patch_target *target, size_t offset, size_t count)
{
	struct patch_site *site = mimic_preload_patch_find(target->address);
	struct patch_member *member;
	bool is_moved;

	if (!decode_behind(original + offset, count, target, &is_moved) ||
	    !is_in_reach(target->address, target->instruction.length))
		return false;
	member = add_member(target);
	member->site = site;
	member->is_moved = is_moved;
	member->is_early = !is_moved;
	/* Where it has trapped before is known better than where it may. */
	member->block = site && !site->is_moved && site->block.shift ? site->block : row.members[own].block;
	return true;
}

/* The next instruction behind the row. false: it cannot be replaced, or is not to be. */
static bool add_behind(void)
{
	const struct patch_member *last = &row.members[row.count - 1];
	struct patch_target target = { .address = last->target.address + last->target.instruction.length };
	size_t offset = target.address - row.members[own].target.address, count;
	struct patch_site *site;

	if (row.is_traced || row.count - own > PATCH_ROW_BEHIND || may_not_go_on(last) || !look_at_original() ||
	    offset >= original_count)
		return false;
	count = original_count - offset < PATCH_LOOKED_AT ? original_count - offset : PATCH_LOOKED_AT;
	if (!mimic_preload_patch_is_as_known(target.address, original + offset, count))
		return false;
	site = mimic_preload_patch_find(target.address);
	if (!site || !atomic_load(&site->installed))
		return add_new(&target, offset, count);
	if ((row.members[own].target.address ^ (target.address + site->target.instruction.length - 1)) &
	    ~(PAGE_BYTES - 1))
		return false;
	add_site(site);
	return true;
}

/* --- the jumps --------------------------------------------------------------------------- */

static bool is_installed(const struct patch_member *member)
{
	return member->site && atomic_load(&member->site->installed);
}

/* Its jump stands there, and stays. */
static bool is_kept(const struct patch_member *member)
{
	return member->again && member->again == member->site && is_installed(member);
}

static struct patch_site *site_for(const struct patch_member *member)
{
	struct patch_site *site = member->again;

	if (site) {
		mimic_preload_patch_bring_forward(site);
		return site;
	}
	/* A trampoline that a thread may stand in is never changed. */
	if (member->site && !member->site->size && !member->site->is_lost)
		return member->site;
	site = mimic_preload_patch_add(member->target.address);
	if (site)
		site->tries = 1;
	return site;
}

static void fill(struct patch_site *site, const struct patch_member *member)
{
	site->target = member->target;
	site->is_moved = member->is_moved;
	site->is_early = member->is_early;
	site->block = member->block;
	mimic_preload_patch_fit(site, &member->chosen, member->place);
}

static bool write_member(const struct patch_member *member)
{
	struct patch_site *site = site_for(member), *before = member->site;

	if (!site)
		return false;
	/* Added: a thread that traps may have found the new one already. */
	if (before && before != site) {
		atomic_fetch_add(&site->traps, atomic_exchange(&before->traps, 0));
		atomic_fetch_add(&site->calls, atomic_exchange(&before->calls, 0));
	}
	if (member->again)
		site->is_early = member->is_early;
	else
		fill(site, member);
	return mimic_preload_patch_write(site);
}

/*
 * From the first one on, jumps are taken back: so none ever reads bytes that it was not made for. From the last one on, the
 * new ones are written. Jumps at the end of the row that are as before stay.
 */
static bool write_row(void)
{
	unsigned int count = row.count, i;

	while (count && is_kept(&row.members[count - 1]))
		count--;
	for (i = 0; i < count; i++)
		if (is_installed(&row.members[i]) &&
		    !mimic_preload_patch_take_back_before(row.members[i].site, UINTPTR_MAX))
			return false;
	/* Where one cannot be written, those in front stay as they are: their jumps would lead elsewhere. */
	while (count-- > 0)
		if (!write_member(&row.members[count]))
			return false;
	return true;
}

/* Sites that its members need and do not have. */
static unsigned int count_new(void)
{
	unsigned int count = 0, i;

	for (i = 0; i < row.count; i++)
		count += !row.members[i].again && !mimic_preload_patch_spare(row.members[i].target.address);
	return count;
}

/* The jumps in front keep theirs, or the instruction gets none: it would be one more of those that trap. */
static enum patch_refusal find_room(void)
{
	if (own)
		mimic_preload_patch_limit_tries(TRIES, PAGES_OF_ROWS);
	else
		mimic_preload_patch_limit_tries(UINT32_MAX, PATCH_PAGES_MAX);
	if (mimic_preload_patch_room(&row))
		return PATCH_FITS;
	mimic_preload_patch_limit_tries(TRIES, PAGES_OF_ROWS);
	while (row.looks && add_behind())
		if (mimic_preload_patch_room(&row))
			return PATCH_FITS;
	return row.has_skipped ? PATCH_DEBUGGER : PATCH_NO_PLACE;
}

void mimic_preload_patch_install(struct patch_site *site, struct patch_block block)
{
	mimic_preload_patch_begin_search();
	site->refusal = begin_row(site, block) ? find_room() : PATCH_NO_PLACE;
	site->looked_at = 0;
	if (!site->size)
		site->block = block;
	if (site->refusal == PATCH_FITS && mimic_preload_patch_count() + count_new() > PATCH_SITES_MAX)
		site->refusal = PATCH_FULL;
	mimic_preload_patch_end_search();
	if (site->refusal == PATCH_FITS && !write_row())
		site->refusal = PATCH_TEXT_CLOSED;
	if (site->refusal == PATCH_NO_PLACE && mimic_preload_patch_pages_are_refused())
		mimic_preload_patch_refuse_all(site);
}
