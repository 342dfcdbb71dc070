/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trap once: an instruction that has trapped on a device's page is replaced by a jump to
 * a trampoline, which asks the device by a call. Declarations that the patch_ files share.
 *
 * A site is an instruction of the program's text that has trapped, or one that was replaced
 * to make room for a jump before it (patch_row.h). Sites, their
 * trampolines and the pages of those stay as long as the process: a thread may
 * stand in a trampoline at any time. They are written under the lock of patch.c, with all
 * signals blocked, and read without it by handlers.
 */
#ifndef MIMIC_PRELOAD_PATCH_H
#define MIMIC_PRELOAD_PATCH_H

#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

#include "libmimic/base/operate.h"
#include "libmimic/base/vectors.h"
#include "libmimic/preload/patch_plan.h"
#include "mimic/access.h"

struct access_slot;
struct holder;
struct mimic_device;

#define PATCH_SITES_MAX 32768u
#define PATCH_PAGES_MAX 8192u

/* Why no more text is changed; earlier changes stay. */
enum patch_end {
	PATCH_GOES_ON,
	PATCH_END_SYSTEM, /* text that can be written is refused */
	PATCH_END_FILTER, /* the program filters its system calls */
};

/* Once the access is done. */
enum patch_finish {
	PATCH_FINISH_OTHERWISE, /* flags, or a part of a register; or the access is counted */
	PATCH_FINISH_LOAD, /* a register is set, without its old contents */
	PATCH_FINISH_STORE, /* nothing */
};

/* Parts of the instruction as an access wants them: fewer steps each time. */
struct patch_shape {
	uint64_t head; /* of struct mimic_access, from its offset on: the size and the direction */
	uint64_t mask; /* of the bytes of a value */
	uint64_t store_mask; /* of the register's bytes that are stored; a load: 0 */
	uint64_t constant; /* that is stored */
	uint64_t page_mask; /* of an address: its page's, if the access is aligned; of an odd store none */
	uint8_t reg;
	bool is_write;
	bool is_odd_store; /* of a value that takes more steps than a mask */
	uint8_t finish; /* enum patch_finish */
};

struct patch_site {
	struct patch_target target; /* first, and its address first: the stub reads it */
	uint8_t size; /* of the trampoline; 0: it has none */
	uint8_t refusal; /* enum patch_refusal, if it keeps trapping */
	bool is_moved; /* it has not trapped: its bytes are needed for the jump before it */
	bool is_early; /* it has its jump for the sake of one before it; it may access no device at all */
	bool is_lost; /* it had a trampoline, where the program has mapped memory since: another site stands for it next */
	uint8_t tries; /* refusals that may be over the next time */
	uint8_t looked_at; /* bytes of the text that were just compared with the file's; 0: none were */
	atomic_bool installed; /* its jump stands in the text */
	struct patch_shape shape; /* of one that is not moved */
	uintptr_t place; /* of the trampoline */
	struct patch_window window;
	struct patch_block block;
	uint8_t jump[PATCH_JUMP_MAX];
	struct patch_site *next_in_page;
	uint16_t former; /* the earlier site of the address: its number, and 1 */
	_Atomic uint64_t calls; /* accesses by the trampoline, counted for --stat only */
	_Atomic uint64_t traps;
};

/* --- patch.c: sites ---------------------------------------------------------- */

/* Before anything traps: does the environment want it, and can this machine? */
void mimic_preload_patch_start(void);
bool mimic_preload_patch_is_on(void);
/* The program is about to filter its system calls: from now on we make none that it does not know of. */
void mimic_preload_patch_stop(void);
enum patch_end mimic_preload_patch_end(void);
bool mimic_preload_patch_is_wanted(void);
/* An access of the instruction at `rip` was carried out by a trap; `address` is the device's page. */
void mimic_preload_patch_trapped(uintptr_t rip, uintptr_t address);
/* The program may change its text there, or has unmapped it: jumps are removed, and none is made. */
void mimic_preload_patch_forget(uintptr_t start, size_t length, bool is_gone);
/*
 * The program is about to map or unmap something there. Trampolines that lie there have no jumps from now on, and
 * their pages are unmapped. A thread that stands in one of them at that moment is lost. Where no text may be written,
 * all stays as it is.
 */
void mimic_preload_patch_make_way(uintptr_t start, size_t length);
/* Libraries may be unmapped: drops the sites of text that is gone. */
void mimic_preload_patch_look_again(void);
/*
 * The instruction at `rip`, which has faulted. 0; -EAGAIN: it is another one by now, and is to be executed
 * once more; else as mimic_decode().
 */
int mimic_preload_patch_fetch(uintptr_t rip, struct mimic_instruction *instruction);
/* A privileged instruction: true if it is one that stops threads while a jump is written, and they come
 * again. */
bool mimic_preload_patch_is_stop(uintptr_t rip);
void mimic_preload_patch_before_fork(void);
void mimic_preload_patch_after_fork(void);
/* Of instructions that are in no table: traps that came while another thread replaced an instruction. */
uint64_t mimic_preload_patch_other_traps(void);
/* Is this the process of the table of sites, and no child by vfork() or the like, which shares it? */
bool mimic_preload_patch_is_own_process(void);
/* A child counts its own accesses. */
void mimic_preload_patch_count_anew(void);
/* Are the trampolines' accesses counted? */
extern bool mimic_preload_patch_counts;

/* --- patch_jump.c: jumps in the text ------------------------------------------- */

/* Bytes that are compared with the file's: those of any instruction, and of a jump at its last byte. */
#define PATCH_LOOKED_AT (MIMIC_INSTRUCTION_MAX + PATCH_JUMP_MAX)
/* Does the site's jump stand there? Text that was there before may be gone, and its jumps with it. Lock-free.
 */
bool mimic_preload_patch_is_in_text(const struct patch_site *site);
/* Is each byte the file's, but for the jumps that we have written? */
bool mimic_preload_patch_is_as_known(uintptr_t address, const uint8_t *original, size_t count);
/*
 * A site whose trampoline fits `site`, made when the same text was there or its neighbours were the
 * same. Places that a short jump can reach are few: text that comes and goes would soon have none left. NULL:
 * none.
 */
struct patch_site *mimic_preload_patch_find_same(const struct patch_site *site);
/* A trampoline at `place`, and the bytes of the jump to it; the text is not touched yet. */
void mimic_preload_patch_fit(struct patch_site *site, const struct patch_window *window, uintptr_t place);
/* The jump, of which all bytes that it borrows are there. false: no text may be written. */
bool mimic_preload_patch_write(struct patch_site *site);
/* A debugger's breakpoints would change bytes that a jump borrows. */
bool mimic_preload_patch_is_traced(void);
/* No text may be written: each further try would end in the same way. */
void mimic_preload_patch_refuse_all(struct patch_site *site);
/* Of sites before `end`: the rest is not the program's text any more. */
bool mimic_preload_patch_take_back_before(struct patch_site *site, uintptr_t end);
/* Of sites from `end` on, likewise. */
void mimic_preload_patch_take_back_behind(struct patch_site *site, uintptr_t end);
/* No text may be written: nothing is tried any more. In patch.c. */
void mimic_preload_patch_refuse(void);

/* --- patch_row.c: an instruction and its neighbours ----------------------------- */

/* A trampoline, unless it has one that fits, and its jump; site->refusal has the reason if not. */
void mimic_preload_patch_install(struct patch_site *site, struct patch_block block);

/* --- patch_sites.c: the table ------------------------------------------------- */

/* The latest site of the instruction; NULL: none. Lock-free. */
struct patch_site *mimic_preload_patch_find(uintptr_t address);
/* One that stood for the address, or stands for it, and never had a trampoline; NULL: none. */
struct patch_site *mimic_preload_patch_spare(uintptr_t address);
/* One without a trampoline, which stands for the address from now on: a spare one or a new one. NULL: there are too many. */
struct patch_site *mimic_preload_patch_add(uintptr_t address);
/* The one that stood for its instruction before it; NULL: none. */
struct patch_site *mimic_preload_patch_former(const struct patch_site *site);
/* It stands for its instruction again. */
void mimic_preload_patch_bring_forward(struct patch_site *site);
unsigned int mimic_preload_patch_count(void);
struct patch_site *mimic_preload_patch_site(unsigned int number);
/* Or does another one stand for its instruction by now? */
bool mimic_preload_patch_is_latest(const struct patch_site *site);
/* The site whose instruction, which a jump was written over, has the byte at `address`. */
struct patch_site *mimic_preload_patch_over(uintptr_t address);
/* The site whose jump reads the byte at `address` as its own. */
struct patch_site *mimic_preload_patch_borrower(uintptr_t address);

/* --- patch_lines.c: functions and lines of instructions ------------------------ */

/* Strings of the debugging information, until it is closed; NULL: it has none. */
struct source_place {
	const char *function;
	uint64_t offset; /* of the instruction in it */
	const char *file;
	int line;
};
/* At the end of the program; calls libraries, and they allocate. false: libdw is not installed. */
bool mimic_preload_lines_open(void);
void mimic_preload_lines_find(uintptr_t address, struct source_place *place);
void mimic_preload_lines_close(void);

/* --- patch_gdb_x86.c: for a debugger ------------------------------------------- */

/* The site has got a trampoline: how a backtrace leads out of it. A debugger that traces the program is told at once. */
void mimic_preload_patch_tell_gdb(const struct patch_site *site, bool is_traced);

/* --- patch_perf.c: for perf ------------------------------------------------------ */

/* Before the program may change its environment. */
void mimic_preload_perf_start(void);

/* --- patch_pages.c: memory that jumps reach ----------------------------------- */

/* A place for a trampoline of `size` bytes, in memory that is ours; 0: there is none. */
uintptr_t mimic_preload_patch_place(const struct patch_window *window, size_t size);
/* Without a system call: is there any address in the window that is not kept for the heap or the stack? */
bool mimic_preload_patch_may_lead(const struct patch_window *window);
/*
 * Before the places for a row are searched: where there are many pages, those that are mapped from now on are unmapped if
 * none is reserved there in the end.
 */
void mimic_preload_patch_begin_search(void);
/* Taken, until the search ends; PATCH_ROW_MAX of them. */
void mimic_preload_patch_reserve(uintptr_t place, size_t size);
void mimic_preload_patch_release(void);
/* Before the first trampoline is written. */
void mimic_preload_patch_end_search(void);
/* So many system calls are made for new pages, and there are so many pages, at most, until this is called again. */
void mimic_preload_patch_limit_tries(unsigned int count, unsigned int most);
/* The system refuses memory that can be written and executed: there will be no more places. */
bool mimic_preload_patch_pages_are_refused(void);
/* The place is taken by the site's trampoline, which is written there. */
void mimic_preload_patch_put(struct patch_site *site, const uint8_t *code);
/* Could pages of trampolines begin in that range? Lock-free. */
bool mimic_preload_patch_may_have_pages(uintptr_t start, uintptr_t end);
bool mimic_preload_patch_has_pages(uintptr_t start, uintptr_t end);
/* They are the program's from now on, and are unmapped. No site has a trampoline there any more. */
void mimic_preload_patch_lose_pages(uintptr_t start, uintptr_t end);
/* The site in whose trampoline this address lies; NULL: none. Lock-free. */
struct patch_site *mimic_preload_patch_at(uintptr_t address);

/* --- patch_text.c: the program's text ------------------------------------------ */

/*
 * The bytes of the file behind the text at `address`, `count` of them at most, and how many the text has
 * there. 0: no text that may be changed (*refusal has the reason).
 */
size_t mimic_preload_code_original(uintptr_t address, uint8_t *bytes, size_t count,
				   enum patch_refusal *refusal);
/*
 * Writes `count` bytes over an instruction while other threads may execute it. They
 * meet either the old bytes or the new ones. 0 or -errno: nothing was changed.
 */
int mimic_preload_code_write(uintptr_t address, const uint8_t *bytes, size_t count);
int mimic_preload_code_start(void);
void mimic_preload_code_stop(void);
/* The character behind `name` in /proc/self/status; 0: none. */
char mimic_preload_code_status(const char *name);
/* A barrier in all threads of the process. 0 or -errno. */
int mimic_preload_code_synchronize(void);
bool mimic_preload_code_is_stop(uintptr_t address);
/* Bytes of the text, as they were at one moment. false: they are being written right now. */
bool mimic_preload_code_read(uintptr_t address, uint8_t *bytes, size_t count);
/* Another number when text has been written, or is being written. */
unsigned int mimic_preload_code_sequence(void);
/* No site in this range any more; if it is gone, other text may come there next. */
void mimic_preload_code_close(uintptr_t start, size_t length, bool is_gone);
/* Of the ranges that are known: is each still the text that it was? Calls for those that are not. */
void mimic_preload_code_check(void (*gone)(uintptr_t start, size_t length));

/* --- patch_enter_x86.c: from a trampoline to the library ------------------------ */

/* How far the program's instruction is, for a signal that comes. */
enum patch_progress {
	PATCH_BEGUN = 1, /* nothing of the program's has changed */
	/* Complete: the lowest byte is 0. */
	PATCH_COMPUTED = 0x100, /* but register and flags may not have `value` and `new_flags` yet */
	PATCH_LOADED = 0x200, /* but the register may not have `value` yet */
	PATCH_DONE = 0x300,
	PATCH_DEPARTED = 0x400, /* a handler has sent the program elsewhere: `rip`, with all of `gpr` */
};

/*
 * A trampoline's call, on the program's stack below its red zone. The stub has the same offsets. `gpr` lies
 * in the trampoline's room: it has stored rcx there before the call.
 */
struct patch_frame {
	struct mimic_access access;
	uint64_t value;
	uint64_t new_flags;
	struct access_slot *slot; /* NULL: the access is counted by `holder` */
	struct holder *holder;
	uint64_t rip;
	uint32_t progress; /* enum patch_progress */
	uint32_t reserved;
	uint64_t flags;
	uint64_t return_address;
	uint64_t gpr[16]; /* in hardware order; the stack pointer is not stored */
};

/* A call of the device, by a function of the transport. */
struct patch_call {
	int (*access)(struct mimic_device *device, struct mimic_access *access);
	struct mimic_device *device;
};

/* The stub that a trampoline calls. */
void mimic_preload_patch_enter(void);
/*
 * The parts of the stub that are in C. Vector registers are not stored yet (libmimic/base/vectors.h). begin()
 * says which function the stub calls with frame->access, and end() gets its result. access == NULL: there is
 * nothing to call, and frame->progress says if the access was done. After end() it does, too.
 *
 * In two parts, because the stub has stored all registers: the compiler would store again those that a
 * function keeps for its caller, if the call was in between.
 */
struct patch_call mimic_preload_patch_begin_access(struct patch_site *site, struct patch_frame *frame,
						   uintptr_t address);
void mimic_preload_patch_end_access(struct patch_site *site, struct patch_frame *frame,
				    struct mimic_device *device, int error);
/* Of an instruction that has a trampoline: before its jump is written. */
void mimic_preload_patch_shape(struct patch_site *site);

/* As mimic_preload_patch_moment(), of any site. */
static inline struct patch_moment mimic_preload_patch_moment_of(const struct patch_site *site,
								unsigned int offset, uint64_t scratch)
{
	if (site->is_moved)
		return (struct patch_moment){
			.is_after = offset >= mimic_preload_patch_moved_length(&site->target),
		};
	return mimic_preload_patch_moment(site->target.instruction.length, offset, scratch);
}

/*
 * The place for vector registers of the trampoline that a signal has interrupted. The handler's own registers are not
 * the program's: nothing may store them there, so the place is hidden while the handler runs.
 */
static inline struct mimic_vectors *mimic_preload_vectors_hide(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	struct mimic_vectors *kept = mimic_vectors_place;

	mimic_vectors_place = NULL;
	return kept;
#else
	return NULL;
#endif
}

static inline void mimic_preload_vectors_show(struct mimic_vectors *kept)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	mimic_vectors_place = kept;
#else
	(void)kept;
#endif
}

/* --- patch_context.c: a signal that comes to a trampoline ----------------------- */

struct patch_shown {
	bool is_other; /* than the program's: the other fields count */
	struct patch_frame *frame; /* of the call that was interrupted; NULL: none was */
	struct patch_frame *current;
	gregset_t real;
	gregset_t shown;
};
/* Changes the context of a signal to the program's own instruction and registers. */
void mimic_preload_patch_show(ucontext_t *context, struct patch_shown *shown);
/* After the program's handler: on with the interrupted code, unless the handler has sent the program
 * elsewhere. */
void mimic_preload_patch_resume(ucontext_t *context, const struct patch_shown *shown);
/* true: the end of such a call that a handler has sent elsewhere; the context is where to. */
bool mimic_preload_patch_is_departure(ucontext_t *context);

/* --- handlers.c: the program's handlers of other signals ------------------------ */

/*
 * The handler to give to the kernel in place of the program's: ours, which shows the program its own context;
 * or the program's value itself, if that is no handler.
 */
sighandler_t mimic_preload_handlers_replace(int number, sighandler_t program);
/* The program's handler of a signal, by now; to be asked before it is replaced. */
sighandler_t mimic_preload_handlers_get(int number);
/* The program's handler, if the kernel had `of_kernel` and we had `before`. */
sighandler_t mimic_preload_handlers_restore(sighandler_t of_kernel, sighandler_t before);

/* --- arena.c: addresses of device pages ------------------------------------------ */

/* Address space for `length` bytes in the arena, without memory; NULL: it has no room. Lock held. */
void *mimic_preload_arena_take(size_t length);
/* The program maps something of its own there: no device's page comes there until that is unmapped. Lock held. */
void mimic_preload_arena_leave(uintptr_t start, size_t length);
bool mimic_preload_arena_overlaps(uintptr_t start, size_t length);
/* Pages of the arena that were unmapped are reserved again. */
void mimic_preload_arena_give_back(uintptr_t start, size_t length);
bool mimic_preload_arena_has(uintptr_t address);
/* A page of a device lies there. Lock held. */
void mimic_preload_arena_note_chosen(uintptr_t page);
/* The block that an instruction's accesses are compared with, if it has accessed `address`. */
struct patch_block mimic_preload_arena_block(uintptr_t address);

#endif
