/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * `mimic run --stat`: at the end, the instructions that trapped, and whether they were replaced. A program that dies
 * of a signal, or ends by a system call of its own, says nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

static const char *const reasons[PATCH_REFUSALS] = {
	[PATCH_FITS] = "its text has changed",
	[PATCH_FORM] = "no trampoline can have its operands",
	[PATCH_NO_PLACE] = "no free address that a jump could lead to",
	[PATCH_NO_FILE] = "its text is not that of a file, mapped private",
	[PATCH_TEXT_DIFFERS] = "its text differs from the file's",
	[PATCH_TEXT_CLOSED] = "its text may not be written, or the program writes it itself",
	[PATCH_FULL] = "there are too many",
	[PATCH_DEBUGGER] = "a debugger may set breakpoints in the bytes that the jump needs",
};

/* Once for all: each of the instructions has a line of its own. */
static const char *const ends[] = {
	[PATCH_END_SYSTEM] = "this system lets no text be written (PR_SET_MDWE, SELinux or the like)",
	[PATCH_END_FILTER] = "the program has filtered its system calls",
};

struct totals {
	uint64_t sites, traps, calls;
	uint64_t ways[PATCH_WAYS], moved;
};

/* It accesses no device: it was moved, or has trapped before the fork only, or not yet. */
static bool is_untouched(const struct patch_site *site)
{
	return site->is_moved || (!atomic_load(&site->traps) && !atomic_load(&site->calls));
}

static void add_totals(struct totals *totals)
{
	unsigned int i;

	totals->traps = mimic_preload_patch_other_traps();
	for (i = 0; i < mimic_preload_patch_count(); i++) {
		const struct patch_site *site = mimic_preload_patch_site(i);

		totals->traps += atomic_load(&site->traps);
		totals->calls += atomic_load(&site->calls);
		if (!mimic_preload_patch_is_latest(site))
			continue;
		if (is_untouched(site)) {
			totals->moved += (site->is_moved || site->is_early) && atomic_load(&site->installed);
			continue;
		}
		totals->sites++;
		if (atomic_load(&site->installed))
			totals->ways[site->window.way]++;
	}
}

static void add_count(struct text *text, const char *before, uint64_t count, const char *behind)
{
	mimic_preload_text_add(text, before);
	mimic_preload_text_add_number(text, count);
	mimic_preload_text_add(text, behind);
}

static void write_totals(const struct totals *totals)
{
	struct text text;

	mimic_preload_text_start(&text);
	add_count(&text, "", totals->sites, " instructions trapped; patched: ");
	add_count(&text, "", totals->ways[PATCH_DIRECT], " by a jump, ");
	add_count(&text, "", totals->ways[PATCH_PUNNED], " by a punned jump, ");
	add_count(&text, "", totals->ways[PATCH_PADDED], " by a padded one");
	if (totals->moved)
		add_count(&text, "; moved for their sake: ", totals->moved, " others");
	mimic_preload_text_add(&text, "; accesses: ");
	add_count(&text, "", totals->traps, " by traps, ");
	add_count(&text, "", totals->calls, " by calls");
	mimic_preload_text_write_line(&text);
}

static void write_end(enum patch_end end)
{
	struct text text;

	if (end == PATCH_GOES_ON)
		return;
	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, ends[end]);
	mimic_preload_text_add(&text, ": since then instructions were left as they are, and trap");
	mimic_preload_text_write_line(&text);
}

static void add_function(struct text *text, const char *name, uint64_t offset)
{
	mimic_preload_text_add(text, " ");
	mimic_preload_text_add(text, name);
	mimic_preload_text_add(text, "+");
	mimic_preload_text_add_hex(text, offset);
}

/* "0x401234 function+0x12 (program+0x1234) at source.c:56", as much of it as is known. */
static void add_place(struct text *text, uintptr_t address)
{
	struct source_place place;
	const char *file;
	Dl_info information;

	mimic_preload_text_add_hex(text, address);
	if (!dladdr((void *)address, &information) || !information.dli_fname)
		return;
	mimic_preload_lines_find(address, &place);
	if (place.function)
		add_function(text, place.function, place.offset);
	else if (information.dli_sname)
		add_function(text, information.dli_sname, address - (uintptr_t)information.dli_saddr);
	file = strrchr(information.dli_fname, '/');
	mimic_preload_text_add(text, " (");
	mimic_preload_text_add(text, file ? file + 1 : information.dli_fname);
	mimic_preload_text_add(text, "+");
	mimic_preload_text_add_hex(text, address - (uintptr_t)information.dli_fbase);
	mimic_preload_text_add(text, ")");
	if (!place.file)
		return;
	mimic_preload_text_add(text, " at ");
	mimic_preload_text_add(text, place.file);
	add_count(text, ":", (uint64_t)place.line, "");
}

static void write_trapping(const struct patch_site *site, bool has_names)
{
	struct text text;

	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, "not patched: ");
	if (has_names)
		add_place(&text, site->target.address);
	else
		mimic_preload_text_add_hex(&text, site->target.address);
	add_count(&text, ", ", atomic_load(&site->traps), " traps: ");
	mimic_preload_text_add(&text, reasons[site->refusal]);
	mimic_preload_text_write_line(&text);
}

static bool is_trapping(unsigned int number)
{
	const struct patch_site *site = mimic_preload_patch_site(number);

	return !is_untouched(site) && mimic_preload_patch_is_latest(site) && !atomic_load(&site->installed);
}

/* Under the program's filter of system calls nothing is loaded, which takes any number of them. */
static void open_lines(void)
{
	struct text text;

	if (mimic_preload_patch_end() == PATCH_END_FILTER || mimic_preload_lines_open())
		return;
	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text,
			       "source lines are not told: that takes libdw.so.1 (Debian's package libdw1)");
	mimic_preload_text_write_line(&text);
}

static void write_all_trapping(bool has_names)
{
	unsigned int count = mimic_preload_patch_count();
	bool has_begun = false;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!is_trapping(i))
			continue;
		if (!has_begun && has_names)
			open_lines();
		has_begun = true;
		write_trapping(mimic_preload_patch_site(i), has_names);
	}
	if (has_names)
		mimic_preload_lines_close();
}

static void write_that_none_is(void)
{
	struct text text;

	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text,
			       mimic_preload_patch_is_wanted()
				       ? "no instruction is patched: the processor or the kernel lacks a needed feature"
				       : "no instruction is patched, as was asked for");
	mimic_preload_text_write_line(&text);
}

static void write_vectors(void)
{
	struct text text;

	if (mimic_vectors_are_safe())
		return;
	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, "each access keeps all vector registers, which takes longer: clock_gettime() is not the C library's");
	mimic_preload_text_write_line(&text);
}

/* Once: a destructor may end the program by _exit(). */
static void report(bool has_names)
{
	static atomic_flag is_done = ATOMIC_FLAG_INIT;
	struct totals totals = { 0 };

	if (!mimic_preload_patch_counts || atomic_flag_test_and_set(&is_done))
		return;
	if (!mimic_preload_patch_is_on()) {
		write_that_none_is();
		return;
	}
	add_totals(&totals);
	write_totals(&totals);
	write_end(mimic_preload_patch_end());
	write_vectors();
	write_all_trapping(has_names);
}

__attribute__((destructor)) static void report_at_exit(void)
{
	report(true);
}

/* --- an end without exit handlers ------------------------------------------------- */

static void (*next_exit)(int status); /* a sanitizer's, or the C library's */

__attribute__((constructor)) static void find_next_exit(void)
{
	next_exit = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
}

/*
 * Maybe in a handler of a signal that came while a lock of the C library was held: names of functions and lines take
 * such locks, so there are none. A child by vfork() leaves the report to its parent.
 */
static __attribute__((noreturn)) void end_at_once(int status)
{
	/* Under the program's filter of system calls ours could end it in another way. */
	if (mimic_preload_patch_counts && mimic_preload_patch_end() != PATCH_END_FILTER &&
	    mimic_preload_patch_is_own_process())
		report(false);
	if (next_exit)
		next_exit(status);
	for (;;)
		mimic_raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

EXPORT void _exit(int status)
{
	end_at_once(status);
}

EXPORT void _Exit(int status)
{
	end_at_once(status);
}
