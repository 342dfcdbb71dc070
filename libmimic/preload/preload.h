/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The preload library of `mimic run`: declarations that its files share.
 *
 * A descriptor of ours is a sealed, empty memfd, and it is known by its inode,
 * never by its number: so dup(), fork() and SCM_RIGHTS need no bookkeeping. A
 * mapped device page is a page of PROT_NONE; a table has the device page that it
 * is, and the SIGSEGV handler does the accesses.
 */
#ifndef MIMIC_PRELOAD_H
#define MIMIC_PRELOAD_H

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <ucontext.h>

#include "devices/text.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/mimic.h"

#define EXPORT __attribute__((visibility("default")))
/* Initial-exec: a handler may not allocate, and the default model does at first use. */
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#define PAGE_SHIFT 12
#define PAGE_BYTES ((size_t)1 << PAGE_SHIFT)

/* --- next.c: the functions that ours stand before ------------------------- */

void *mimic_preload_next(const char *name);
#define NEXT(function) __extension__({ \
	static __typeof__(&(function)) cached_; \
	__typeof__(&(function)) found_ = __atomic_load_n(&cached_, __ATOMIC_RELAXED); \
	if (!found_) { \
		found_ = (__typeof__(&(function)))mimic_preload_next(#function); \
		__atomic_store_n(&cached_, found_, __ATOMIC_RELAXED); \
	} \
	found_; })

/*
 * The one lock of the tables. All signals are blocked while it is held, so a
 * handler of the program may map and unmap too. Calls that libmimic makes
 * meanwhile on the same thread pass through our wrappers untouched.
 * Order: this lock, then libmimic's. libmimic calls our wrappers with its locks
 * held, so a wrapper takes this one only after it has found, without it, a
 * descriptor or a page of ours; libmimic has none.
 */
struct mimic_preload_lock {
	uint64_t mask;
};
void mimic_preload_lock(struct mimic_preload_lock *lock);
void mimic_preload_unlock(const struct mimic_preload_lock *lock);
bool mimic_preload_is_inside(void);

/* --- text.c: lines on stderr, from a handler too --------------------------- */

struct text {
	struct mimic_text line;
	char bytes[512];
};
void mimic_preload_text_start(struct text *text);	/* "mimic: PROGRAM[PID]: " */
void mimic_preload_text_add(struct text *text, const char *string);
void mimic_preload_text_add_number(struct text *text, uint64_t number);
void mimic_preload_text_add_hex(struct text *text, uint64_t number);
void mimic_preload_text_write_line(struct text *text);

/* --- nodes.c: which paths are devices -------------------------------------- */

enum node_kind { NODE_NONE, NODE_DEVICE, NODE_MEMORY };

struct node {
	enum node_kind kind;
	const struct mimic_kind *device_kind;	/* NODE_DEVICE; so is the name */
	char device[16];	/* of mimic_device_open(): a kind, or a kind and a number */
	unsigned int minor;
};
struct node mimic_preload_node_of_path(int directory, const char *path);
/* Before anything is opened: where the kernel has nodes of its own, they are left to it. */
void mimic_preload_nodes_start(void);
/*
 * The kind whose node of the kernel this descriptor is, if its mappings are to be ours: then accesses go by
 * rings of the session with mimicd, and instructions are replaced. NULL: none, or it is the kernel's alone.
 */
const struct mimic_kind *mimic_preload_nodes_of_kernel(int descriptor);
/* The kind whose private devices (tiles) have physical addresses; NULL: none has. */
extern const struct mimic_kind *mimic_preload_physical_kind;
/* Tile and page of a physical address, if it lies in one. */
static inline bool physical_page(uint64_t address, unsigned int *tile, unsigned int *page)
{
	const struct mimic_physical *physical =
		mimic_preload_physical_kind ? mimic_preload_physical_kind->physical : NULL;

	return physical && address - physical->start < physical->size && physical->page_of(address, tile, page);
}
/* Is there such a device? 0 or -errno; opens nothing for good. */
int mimic_preload_node_exists(const struct node *node);

/* --- files.c: open devices -------------------------------------------------- */

/*
 * A holder keeps an instance open: a private tile, or one open() of a node. Lives
 * in static memory, so that the fault handler may read it at any time.
 */
struct holder {
	_Atomic(struct mimic_device *) device;
	atomic_uint accesses;	/* handlers at work right now */
	atomic_bool inherited;	/* opened by the parent of this process */
	bool is_kernels;	/* the program has the node itself; only mapped pages are ours */
	bool is_not_inherited;	/* its pages are not in a child at all; of the kernel's only */
	int own_descriptor;	/* of the kernel's: the library's, of the same open file as the program's */
	atomic_bool used;
	atomic_bool has_descriptor;
	bool has_eventfd;	/* set through this open */
	unsigned int pages;	/* mapped */
	dev_t file_device;
	ino_t file_inode;
	struct node node;
	int open_error;	/* NODE_MEMORY: why the real one could not be opened */
};

/* holders [0, HOLDER_TILES) are the private devices of mimic_preload_physical_kind */
#define HOLDER_TILES MIMIC_KIND_PRIVATE_MAX
#define HOLDER_COUNT (HOLDER_TILES + 1024)
extern struct holder mimic_preload_holders[HOLDER_COUNT];

int mimic_preload_files_open(int directory, const char *path, int flags, const struct node *node);
/*
 * The holder behind a descriptor, NULL if it is none of ours. Lock-free, as are
 * the two below; only under the lock does the answer stay true.
 */
struct holder *mimic_preload_files_holder(int descriptor);
/* May a holder be released when this descriptor is closed? */
bool mimic_preload_files_keeps(int descriptor);
/* Is it /dev/mem? *error: 0 if it is the real one, else why that could not be opened. */
bool mimic_preload_files_is_memory(int descriptor, int *error);
/* Rewrites the result of fstat() for a descriptor of ours. */
void mimic_preload_files_fix_stat(struct stat *status);
void mimic_preload_files_describe_node(const struct node *node, struct stat *status);
/* Some descriptors may be gone: gives back instances that nothing holds. */
void mimic_preload_files_reap(void);
/* The same with the lock held; a scan of the descriptors only if `scan`. */
void mimic_preload_files_release_unused(bool scan);
/* For pages of a node that the program has opened in the kernel; NULL: they are the kernel's. Lock held. */
struct holder *mimic_preload_files_hold_node(const struct mimic_kind *kind, int descriptor);
int mimic_preload_holder_open_tile(unsigned int tile, struct holder **holder);
void mimic_preload_files_after_fork(void);

/* --- mappings.c: which page is which ----------------------------------------- */

/* No register page: memory of the device, mapped as it is. It is in the table for the holder's sake. */
#define MEMORY_PAGE 0xffu

struct mapping {
	struct holder *holder;
	unsigned int device_page;
	int protection;
};
/* Lock-free, for the fault handler. */
bool mimic_preload_mapping_find(uintptr_t address, struct mapping *mapping);
/* Is there a device page in the range? Lock-free. */
bool mimic_preload_mapping_overlaps(uintptr_t start, size_t length);
/* The rest with the lock held. */
int mimic_preload_mapping_insert(uintptr_t address, const struct mapping *mapping);
size_t mimic_preload_mapping_remove(uintptr_t start, size_t length);
/* false: the kernel's protection counts there. */
bool mimic_preload_mapping_set_protection(uintptr_t address, int protection);
/*
 * Another number after each change of the table, and in a child. An access that has announced itself
 * (accesses.c) and then finds the same number may use an entry that it read before.
 */
extern _Atomic uint64_t mimic_preload_mappings_version;
/*
 * For the library of virtual time, which finds both by dlsym(): a load or store of such a page is
 * the device's, not the memory's. `changed` is called with the lock held, before the program can use the page, and
 * when a page of a device's memory is unmapped.
 */
bool mimic_preload_is_device_page(uintptr_t address);
void mimic_preload_watch_device_pages(void (*changed)(uintptr_t page));
/* In the child: its parent's device memory becomes address space without memory, as register pages are. */
void mimic_preload_mappings_after_fork(void);


/* --- signals.c, masks.c -------------------------------------------------------- */

/* The two signals that we need for ourselves; the program's view of them is kept here. */
static inline bool mimic_preload_signal_is_virtual(int number)
{
	return number == SIGSEGV || number == SIGBUS;
}

void mimic_preload_signals_start(void);
enum signal_origin {
	SIGNAL_FAULT,	/* of an instruction, which faults again if the handler returns */
	SIGNAL_SENT,	/* by kill(), raise(), ... */
	SIGNAL_OURS,	/* a SIGBUS for an access that failed */
};
/* Hands a signal to the program as if we were not there. */
void mimic_preload_signals_deliver(int number, siginfo_t *information, ucontext_t *context,
				   enum signal_origin origin);
/* As mimic_signal_defer(); never under a filter of the program's, which may not allow its system calls. */
bool mimic_preload_signals_defer(int number, siginfo_t *information, void *context);
/* The program is about to set such a filter. */
void mimic_preload_signals_filtered(void);
/* For fault.c, which installs it. */
void mimic_preload_fault_handler(int number, siginfo_t *information, void *context);

unsigned int mimic_preload_mask_bits(const sigset_t *set);
void mimic_preload_mask_strip(sigset_t *set);
void mimic_preload_mask_add(sigset_t *set, unsigned int bits);
/* The program's view: which of our two signals this thread blocks. */
unsigned int mimic_preload_mask_blocked(void);
void mimic_preload_mask_set_blocked(unsigned int bits);
int mimic_preload_mask_change_one(int how, int number);
/* A signal that another process or thread sent came while the program blocks it. */
void mimic_preload_mask_hold_back(int number, const siginfo_t *information);
static inline unsigned int mimic_preload_mask_bit(int number)
{
	return number == SIGSEGV ? 1u : number == SIGBUS ? 2u : 0u;
}

/*
 * An access of this thread to a holder's device is in progress. Announced by a plain store, where the thread
 * that checks (accesses.c) can make a barrier for all threads; else by an atomic count. Returns the slot for
 * access_end().
 */
struct access_slot {
	_Alignas(64) _Atomic(struct holder *) holder;
	_Atomic long thread;
};
/* Not found yet, or there is none: one that is always in use. */
extern THREAD_LOCAL struct access_slot *mimic_preload_access_own;
/* By an access that this one has interrupted, or that was jumped out of. */
static inline bool mimic_preload_access_is_in_use(const struct access_slot *slot)
{
	return atomic_load_explicit(&slot->holder, memory_order_relaxed);
}

/* Where this thread has no slot of its own, or not now. */
struct access_slot *mimic_preload_access_begin_anyhow(struct holder *holder);
/* In the thread's slot, which is not in use. */
static inline void mimic_preload_access_begin_in(struct access_slot *slot, struct holder *holder)
{
	atomic_store_explicit(&slot->holder, holder, memory_order_relaxed);
	/* The compiler's order; the processor's is made by mimic_preload_access_is_none(). */
	atomic_signal_fence(memory_order_seq_cst);
}

static inline struct access_slot *mimic_preload_access_begin(struct holder *holder)
{
	struct access_slot *slot = mimic_preload_access_own;

	if (mimic_preload_access_is_in_use(slot))
		return mimic_preload_access_begin_anyhow(holder);
	mimic_preload_access_begin_in(slot, holder);
	return slot;
}

static inline void mimic_preload_access_end(struct access_slot *slot, struct holder *holder)
{
	if (slot)
		/* release: the access is over before */
		atomic_store_explicit(&slot->holder, NULL, memory_order_release);
	else
		atomic_fetch_sub(&holder->accesses, 1);
}
/* Is no handler at work on it? The pages have left the table before. */
bool mimic_preload_access_is_none(struct holder *holder);
void mimic_preload_accesses_after_fork(void);

/* --- fault.c -------------------------------------------------------------------------- */

/* The page at an address, be it mapped or a physical address used as it is. */
bool mimic_preload_page_find(uintptr_t address, struct mapping *mapping);
/* An access of at most 8 bytes, in one page. 0 or -errno. */
int mimic_preload_bus_access(uintptr_t address, unsigned int size, bool is_write, uint64_t *data);
/* Writes the device's message for its user to stderr. */
void mimic_preload_pass_on_report(struct mimic_device *device);

/* --- main.c ---------------------------------------------------------------------- */

/* Is the main program not position independent? */
bool mimic_preload_program_is_fixed(void);

/* --- exec.c, fork.c, threads.c ------------------------------------------------------ */

void mimic_preload_exec_remember_environment(void);
void mimic_preload_fork_start(void);
/* A system call by which the process gets a child with a copy of its memory, on the same stack. Its result. */
long mimic_preload_fork_by_call(long number, const long *arguments);
/* In the child. */
void mimic_preload_threads_after_fork(void);
/* Makes this thread ready for accesses, from the fault handler too. Cheap when done before. */
void mimic_preload_threads_attach(void);

#endif
