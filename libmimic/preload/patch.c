/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* From a trap to a jump in the place of the instruction, and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define TRIES_MAX 4u
#define BREAKPOINT 0xccu

static bool is_on;
static long process;
bool mimic_preload_patch_counts;
static _Atomic uint64_t other_traps;
static _Atomic enum patch_end stopped; /* PATCH_GOES_ON, or why no text is changed any more */

/* --- the lock: all signals are blocked, so no handler on this thread can want it ----- */

static atomic_flag lock = ATOMIC_FLAG_INIT;

static uint64_t block_signals(void)
{
	uint64_t all = ~0ull;
	uint64_t old;

	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof(all), 0, 0);
	return old;
}

static void let_in_signals(uint64_t old)
{
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof(old), 0, 0);
}

static bool try_enter(uint64_t *mask)
{
	*mask = block_signals();
	if (!atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
		return true;
	let_in_signals(*mask);
	return false;
}

static uint64_t enter(void)
{
	uint64_t mask;

	while (!try_enter(&mask))
		mimic_raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return mask;
}

static void leave(uint64_t mask)
{
	atomic_flag_clear_explicit(&lock, memory_order_release);
	let_in_signals(mask);
}

/* The thread that forks has all signals blocked (threads.c). */
void mimic_preload_patch_before_fork(void)
{
	while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
		mimic_raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void mimic_preload_patch_after_fork(void)
{
	process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	atomic_flag_clear_explicit(&lock, memory_order_release);
}

/* --- one site ------------------------------------------------------------------------ */

static enum patch_refusal look_at(struct patch_site *site)
{
	uint8_t original[PATCH_LOOKED_AT];
	enum patch_refusal refusal;
	uintptr_t address = site->target.address;
	size_t available = mimic_preload_code_original(address, original, sizeof(original), &refusal);
	unsigned int i;

	if (!available)
		return refusal;
	site->looked_at = (uint8_t)available;
	if (mimic_decode(original, available, &site->target.instruction))
		return PATCH_TEXT_DIFFERS;
	if (!mimic_preload_patch_is_as_known(address, original, available))
		return PATCH_TEXT_DIFFERS;
	for (i = 0; i < site->target.instruction.length; i++) {
		site->target.bytes[i] = original[i];
		/* Two instructions that overlap: one of them was jumped into. */
		if (mimic_preload_patch_over(address + i))
			return PATCH_FORM;
	}
	return mimic_preload_patch_form(&site->target.instruction);
}

/* A child by vfork() or the like shares the text with its parent, and no lock tells them apart. */
bool mimic_preload_patch_is_own_process(void)
{
	return mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == process;
}

/* Text that was here before has left its trampoline: is it good for this text, too? */
static struct patch_site *consider_anew(uintptr_t rip, uintptr_t address)
{
	struct patch_site now = { .target.address = rip };
	struct patch_site *site = NULL;

	now.block = mimic_preload_arena_block(address);
	if (!atomic_load(&stopped) && look_at(&now) == PATCH_FITS)
		site = mimic_preload_patch_find_same(&now);
	if (!site)
		return mimic_preload_patch_add(rip);
	mimic_preload_patch_bring_forward(site);
	if (site->tries < TRIES_MAX)
		site->tries++;
	mimic_preload_patch_install(site, site->block);
	return NULL;
}

/* It has got its jump before it accessed anything, and accesses a device where the jump's code expects none. */
static bool is_elsewhere(const struct patch_site *site, uintptr_t address)
{
	return site->is_early && address >> site->block.shift != site->block.key;
}

/* Now it has trapped, and gets the code that it would have got then; or traps there from now on. */
static void expect_elsewhere(struct patch_site *site, uintptr_t address)
{
	if (!is_elsewhere(site, address))
		return;
	site->is_early = false;
	if (!atomic_load(&stopped))
		mimic_preload_patch_install(site, mimic_preload_arena_block(address));
}

static void consider(uintptr_t rip, uintptr_t address)
{
	struct patch_site *site = mimic_preload_patch_find(rip);

	if (!site)
		site = mimic_preload_patch_add(rip);
	if (!site || !mimic_preload_patch_is_own_process())
		return;
	if (mimic_preload_patch_is_in_text(site)) {
		expect_elsewhere(site, address);
		return;
	}
	/* A trampoline of text that was here before. */
	atomic_store(&site->installed, false);
	if (site->size || site->is_lost)
		site = consider_anew(rip, address);
	if (!site)
		return;
	site->tries++;
	site->refusal = atomic_load(&stopped) ? PATCH_TEXT_CLOSED : look_at(site);
	if (site->refusal != PATCH_FITS)
		return;
	mimic_preload_patch_install(site, mimic_preload_arena_block(address));
}

/* Whether another try could end in another way. */
static bool is_settled(const struct patch_site *site, uintptr_t address)
{
	if (mimic_preload_patch_is_in_text(site))
		return !is_elsewhere(site, address);
	if (site->refusal == PATCH_TEXT_DIFFERS)
		return site->tries >= TRIES_MAX;
	/* Neighbours may have got jumps meanwhile: at the 16th trap, at the 64th and so on. */
	if (site->refusal == PATCH_NO_PLACE && site->tries < TRIES_MAX)
		return atomic_load_explicit(&site->traps, memory_order_relaxed) >> (2 * site->tries + 2) == 0;
	return site->tries > 0 && site->refusal != PATCH_FITS;
}

/* Is nothing left to do at a trap? Under a filter no system call is made for the sake of a count. */
static bool is_over(void)
{
	enum patch_end why = atomic_load(&stopped);

	return why == PATCH_END_FILTER || (why == PATCH_END_SYSTEM && !mimic_preload_patch_counts);
}

void mimic_preload_patch_trapped(uintptr_t rip, uintptr_t address)
{
	struct patch_site *site;
	bool is_in_trampoline;
	uint64_t mask;

	if (!is_on)
		return;
	site = mimic_preload_patch_at(rip);
	is_in_trampoline = site;
	if (!site)
		site = mimic_preload_patch_find(rip);
	if (site)
		atomic_fetch_add_explicit(&site->traps, 1, memory_order_relaxed);
	if (is_over() || (site && is_settled(site, address)))
		return;
	if (!try_enter(&mask)) {
		/* Another thread is at it, and this instruction is in no table yet. */
		if (!site)
			atomic_fetch_add_explicit(&other_traps, 1, memory_order_relaxed);
		return;
	}
	/* The trampoline's own code is none to replace, where its jump has been taken back meanwhile. */
	if (!is_in_trampoline)
		consider(rip, address);
	else if (mimic_preload_patch_is_in_text(site))
		consider(site->target.address, address);
	if (!site) {
		site = mimic_preload_patch_find(rip);
		if (site)
			atomic_fetch_add_explicit(&site->traps, 1, memory_order_relaxed);
	}
	leave(mask);
}

/*
 * A debugger has its breakpoint on the instruction. It executes the instruction out of line or with the
 * breakpoint taken out for a step, and puts it back before our handler runs.
 */
static int fetch_original(uintptr_t rip, struct mimic_instruction *instruction)
{
	uint8_t original[MIMIC_INSTRUCTION_MAX];
	enum patch_refusal refusal;
	size_t available;
	uint64_t mask;

	mask = enter();
	available = mimic_preload_code_original(rip, original, sizeof(original), &refusal);
	leave(mask);
	return available ? mimic_decode(original, available, instruction) : -EOPNOTSUPP;
}

int mimic_preload_patch_fetch(uintptr_t rip, struct mimic_instruction *instruction)
{
	size_t available = PAGE_BYTES - rip % PAGE_BYTES;
	unsigned int sequence = mimic_preload_code_sequence();
	uint8_t bytes[MIMIC_INSTRUCTION_MAX];
	const struct patch_site *site;
	int error;

	if (available > sizeof(bytes))
		available = sizeof(bytes);
	if (!mimic_preload_code_read(rip, bytes, available))
		return -EAGAIN;
	error = mimic_decode(bytes, available, instruction);
	/* The processor has decoded it: the next page is there if the instruction goes on in it, and only
	 * then. */
	if (error == -ENODATA) {
		if (!mimic_preload_code_read(rip, bytes, sizeof(bytes)))
			return -EAGAIN;
		error = mimic_decode(bytes, sizeof(bytes), instruction);
	}
	/* Another thread has trapped on it, too, and was faster. Or we read its jump, now taken back. */
	site = mimic_preload_patch_find(rip);
	if ((site && mimic_preload_patch_is_in_text(site)) || mimic_preload_code_sequence() != sequence)
		return -EAGAIN;
	return error && bytes[0] == BREAKPOINT ? fetch_original(rip, instruction) : error;
}

bool mimic_preload_patch_is_stop(uintptr_t rip)
{
	const struct patch_site *site;

	if (!is_on)
		return false;
	if (mimic_preload_code_is_stop(rip))
		return true;
	/* It was one: by now the jump, or the instruction before it, is whole. */
	site = mimic_preload_patch_find(rip);
	return site && *(const volatile uint8_t *)rip != PATCH_STOP_BYTE;
}

/* --- text that changes, or goes ---------------------------------------------------------- */

/*
 * Where those begin that have to go before the sites that reach into the text from `start` on: a jump that borrows
 * from one of these, one that borrows from that jump, and so on.
 */
static uintptr_t first_to_forget(uintptr_t start)
{
	uintptr_t first = start - (PATCH_JUMP_MAX + MIMIC_INSTRUCTION_MAX - 1);
	unsigned int i = 0;

	while (i < PATCH_JUMP_MAX) {
		const struct patch_site *borrower = mimic_preload_patch_borrower(first + i),
					*lender = mimic_preload_patch_over(first + i);

		i++;
		if (!borrower || !lender || borrower->target.address >= first || lender->target.address < first)
			continue;
		first = borrower->target.address;
		i = 0;
	}
	return first;
}

static void forget_locked(uintptr_t start, size_t length, bool is_gone)
{
	uintptr_t first = first_to_forget(start);
	unsigned int count = mimic_preload_patch_count();
	uintptr_t low = UINTPTR_MAX;
	struct patch_site *next;
	uintptr_t from = 0;
	unsigned int i;

	/* In the order of addresses: a jump is taken back before the bytes that it borrows change. */
	for (;;) {
		for (next = NULL, low = UINTPTR_MAX, i = 0; i < count; i++) {
			struct patch_site *site = mimic_preload_patch_site(i);
			uintptr_t at = site->target.address;

			if (!atomic_load(&site->installed) || at < from || at >= low ||
			    at >= start + length || at < first)
				continue;
			low = at;
			next = site;
		}
		if (!next)
			return;
		from = low + 1;
		if (is_gone && low >= start)
			mimic_preload_patch_take_back_behind(next, start + length);
		else
			mimic_preload_patch_take_back_before(next, is_gone ? start : UINTPTR_MAX);
	}
}

/* Other text may be mapped there next: instructions that could not be replaced are tried anew. */
static void try_anew(uintptr_t start, size_t length)
{
	unsigned int count = mimic_preload_patch_count();
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct patch_site *site = mimic_preload_patch_site(i);

		if (site->target.address - start < length && !site->size)
			site->tries = 0;
	}
}

void mimic_preload_patch_forget(uintptr_t start, size_t length, bool is_gone)
{
	uint64_t mask;

	if (!is_on || !mimic_preload_patch_count())
		return;
	/* Under a filter no jump is taken back, and no system call is made in vain. */
	if (!is_gone && atomic_load(&stopped) == PATCH_END_FILTER)
		return;
	mask = enter();
	forget_locked(start, length, is_gone);
	if (is_gone)
		try_anew(start, length);
	mimic_preload_code_close(start, length, is_gone);
	leave(mask);
}

/*
 * Takes back jumps that lead into the range, with those that borrow bytes of them. false: one stays, as no text
 * may be written.
 */
static bool lose_trampolines(uintptr_t start, uintptr_t end)
{
	unsigned int count = mimic_preload_patch_count();
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct patch_site *site = mimic_preload_patch_site(i);

		if (!site->size || site->place >= end || site->place + site->size <= start)
			continue;
		forget_locked(site->target.address, 1, false);
		if (atomic_load(&site->installed))
			return false;
		site->size = 0;
		site->is_lost = true;
	}
	return true;
}

void mimic_preload_patch_make_way(uintptr_t start, size_t length)
{
	uintptr_t end = start + length;
	uint64_t mask;

	if (!is_on || end <= start || !mimic_preload_patch_may_have_pages(start, end))
		return;
	mask = enter();
	if (mimic_preload_patch_has_pages(start, end) && lose_trampolines(start, end))
		mimic_preload_patch_lose_pages(start, end);
	leave(mask);
}

static void text_is_gone(uintptr_t start, size_t length)
{
	forget_locked(start, length, true);
	try_anew(start, length);
}

void mimic_preload_patch_look_again(void)
{
	uint64_t mask;

	if (!is_on || !mimic_preload_patch_count())
		return;
	mask = enter();
	mimic_preload_code_check(text_is_gone);
	leave(mask);
}

/* --- start ---------------------------------------------------------------------------------- */

/* Asked before the constructors have run, too: a program's library may set a handler first. */
bool mimic_preload_patch_is_wanted(void)
{
	static int answer = -1;
	const char *value;

	if (answer < 0) {
		value = getenv("MIMIC_PATCH");
		answer = !(value && !strcmp(value, "0"));
	}
	return answer;
}

void mimic_preload_patch_stop(void)
{
	/* A change of the text that another thread has begun is complete before the filter is there. */
	uint64_t mask = enter();

	atomic_store(&stopped, PATCH_END_FILTER);
	mimic_preload_code_stop();
	leave(mask);
}

uint64_t mimic_preload_patch_other_traps(void)
{
	return atomic_load(&other_traps);
}

void mimic_preload_patch_count_anew(void)
{
	unsigned int i;

	atomic_store(&other_traps, 0);
	for (i = 0; i < mimic_preload_patch_count(); i++) {
		struct patch_site *site = mimic_preload_patch_site(i);

		atomic_store(&site->traps, 0);
		atomic_store(&site->calls, 0);
	}
}

void mimic_preload_patch_refuse(void)
{
	atomic_store(&stopped, PATCH_END_SYSTEM);
}

enum patch_end mimic_preload_patch_end(void)
{
	return atomic_load(&stopped);
}

bool mimic_preload_patch_is_on(void)
{
	return is_on;
}

void mimic_preload_patch_start(void)
{
	mimic_preload_patch_counts = getenv("MIMIC_PATCH_STAT") != NULL;
	if (!mimic_preload_patch_is_wanted() || !mimic_vectors_start())
		return;
	process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	/* Under a filter of system calls one that we make could end the program. */
	is_on = mimic_preload_code_status("Seccomp:\t") == '0' && mimic_preload_code_start() == 0;
}
