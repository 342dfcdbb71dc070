/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The journal: memory that outlives the daemon, and the undo logs that keep it whole.
 *
 * A daemon that can be recovered (--recover) keeps the state of its devices in a memfd, the
 * window, which a supervisor holds for the next daemon. A daemon may be killed between any two
 * instructions. So before memory of the window is changed its old bytes go into a log in the same
 * memfd, and a commit empties the log. The next daemon puts back the bytes of the step that was not
 * committed, and does that step once more. Programs see the results of a step only after its commit.
 *
 * Nothing here protects against a failure of the machine: memory that a killed process has written
 * is as it wrote it, in the order of its instructions. So an order for the compiler is all that the
 * log needs.
 *
 * The models' code is compiled with calls in front of its stores (recoverable/hooks.c), so it knows nothing of this.
 *
 * Several threads may write to the window, each in steps of its own with a log of its own. A kill leaves one step of
 * each at most. They are undone in any order, because no byte is in two logs: a thread writes only to blocks (of
 * mimicd_journal_alloc()) that no other one writes to before its commit. Blocks share no line, and one that a step has
 * freed is given to nobody before the step's commit.
 */
#ifndef MIMICD_JOURNAL_H
#define MIMICD_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One for each thread that writes: number 0 is the first thread's, which does all that is long. */
#define MIMICD_JOURNAL_LOGS 64u
/* Of one step. One that changes more cannot be undone: mimicd_journal_open() says so by -EOVERFLOW. */
#define MIMICD_JOURNAL_LOG_BYTES (1ull << 30)
#define MIMICD_JOURNAL_FURTHER_LOG_BYTES (48ull << 20)
#define MIMICD_JOURNAL_HEAP_BYTES (24ull << 30)
/* Addresses behind the heap where files of others are mapped, whose changes are undone, too. */
#define MIMICD_JOURNAL_FILES_BYTES (32ull << 30)

enum mimicd_undo {
	MIMICD_UNDO_BYTES,	/* of the window */
	MIMICD_UNDO_CLIENT,	/* of the memory of a client, by its number */
	MIMICD_UNDO_ATOMIC,	/* the same: an atomic operation, which must not be done once more; the bytes name its device */
};

/* An entry of the log, behind the bytes: it is read from the end. */
struct mimicd_undo_entry {
	uint64_t address;
	uint32_t size;
	uint16_t kind;		/* enum mimicd_undo */
	uint16_t reserved;
	uint64_t client;	/* 0: none */
};

/* Where the window of this process lies. */
struct mimicd_journal {
	uint64_t start;		/* of the heap, which files follow */
	uint64_t size;		/* of both together; 0: it has none */
};

/* From there on no address is a program's. */
#define MIMICD_NO_JOURNAL { .start = 1ull << 63 }

extern struct mimicd_journal mimicd_journal;

static inline bool mimicd_journal_is_on(void)
{
	return mimicd_journal.size;
}

/* Is this memory that has to be logged before it is changed? */
static inline bool mimicd_journal_holds(const void *address)
{
	return (uint64_t)(uintptr_t)address - mimicd_journal.start < mimicd_journal.size;
}

/* The name of a window, in /proc/PID/fd. */
#define MIMICD_JOURNAL_FILE "mimic journal"

/* For a program that is to take over, before it does so. */
struct mimicd_journal_origin {
	char version[32];
	uint64_t settings;	/* a sum of all parameters of devices */
};

/*
 * A new window, of that generation: windows of two generations that follow each other lie at different
 * addresses. `build` names the layout of the structures there: a window of another layout cannot be read. *fd is the window's, the
 * caller's to store. 0 or -errno.
 */
int mimicd_journal_create(uint64_t generation, const char *build, int *fd);
/* The window's file stays open until mimicd_journal_end(): a program that could take over finds it in /proc/PID/fd. */
void mimicd_journal_hold(int fd);
/* Before the state is complete: the program that this window is of. */
void mimicd_journal_set_origin(const char *version, uint64_t settings);
/* Gives the window up. */
void mimicd_journal_end(void);

/* From now on changes by this thread are steps of their own, with that log. 0 is that of mimicd_journal_create()'s. */
void mimicd_journal_use_log(unsigned int number);
/* The number of this thread's log. */
unsigned int mimicd_journal_log(void);

/* These bytes are about to be changed. Bytes outside of the window need no log. */
void mimicd_journal_note(const void *address, size_t size);
/* memcpy() to memory of the window. */
void mimicd_journal_write(void *to, const void *from, size_t size);
/* Bytes of a client's memory are about to be changed; `old` has them. */
void mimicd_journal_note_client(uint64_t client, uint64_t address, const void *old, size_t size);
/* A word of it is about to be changed by an operation of that device, which cannot be undone. */
void mimicd_journal_note_atomic(uint64_t client, uint64_t address, const char *device);
/* All that this thread has changed stays so. From the first commit of log 0 on a successor can use the window. */
void mimicd_journal_commit(void);
/* Bytes that this thread's log has. */
uint64_t mimicd_journal_level(void);

/*
 * Memory of the window, zeros, aligned to 64 bytes; NULL: there is none left. It is there after a
 * commit only, so it needs no log until then. By any thread.
 */
void *mimicd_journal_alloc(size_t size);
/* At the commit of this thread's step. Memory that is not the window's is left alone. */
void mimicd_journal_free(void *memory);
/* Addresses for a file of so many bytes, that the caller maps. NULL: it is too large, or there are too many. */
void *mimicd_journal_place_take(size_t size);
void mimicd_journal_place_give_back(void *address);

/* The structure from which a successor finds all others: once, before the state is complete. */
void mimicd_journal_set_root(void *root);
void *mimicd_journal_root(void);

/*
 * For tests: a place where a daemon may be killed, of which there are many in each step. MIMIC_TEST_KILL_AT=N in the
 * environment kills the first daemon at its Nth place, MIMIC_TEST_KILL_SUCCESSOR_AT=N the first successor,
 * MIMIC_TEST_KILL_BEHIND_REPLY=N the first daemon when it has sent its Nth reply and not noted that.
 */
extern _Atomic uint64_t mimicd_journal_places_left;	/* of all threads; 0: it is not killed */
extern uint64_t mimicd_journal_replies_left;
void mimicd_journal_kill(void);

static inline void mimicd_journal_place(void)
{
	if (__builtin_expect(atomic_load_explicit(&mimicd_journal_places_left, memory_order_relaxed), 0) &&
	    atomic_fetch_sub_explicit(&mimicd_journal_places_left, 1, memory_order_relaxed) == 1)
		mimicd_journal_kill();
}

static inline void mimicd_journal_place_behind_reply(void)
{
	mimicd_journal_place();
	if (mimicd_journal_replies_left && !--mimicd_journal_replies_left)
		mimicd_journal_kill();
}

/* Reads these variables. */
void mimicd_journal_count_places(bool is_successor);

/* --- the window of a predecessor ------------------------------------------------------- */

struct mimicd_journal_seen {
	uint64_t generation;
	char build[64];
	struct mimicd_journal_origin origin;
};

/* Of a window whose daemon may run. -EINVAL: it is none; -ENODATA: it is not complete; or another -errno. */
int mimicd_journal_look(int fd, struct mimicd_journal_seen *seen);

struct mimicd_journal_left {
	void *header;
	void *root;
	uint64_t generation;
	/* The heap's copy, at the addresses that it had; changes of it are not the predecessor's. */
	uint64_t start, size;
};

/*
 * Maps a window. -EINVAL: it is none, has another layout, or is damaged; -ENODATA: its daemon was killed before
 * its first step; -EOVERFLOW: its last step was too large to be undone; -EEXIST: the addresses are in use.
 */
int mimicd_journal_open(int fd, const char *build, struct mimicd_journal_left *left);
/* Where a predecessor had mapped files of others; that is zeros here until the caller maps them there. */
uint64_t mimicd_journal_left_files(const struct mimicd_journal_left *left);
/*
 * Does a structure of so many bytes lie there in the heap? To be asked before a pointer is used that the
 * predecessor has left.
 */
bool mimicd_journal_left_has(const struct mimicd_journal_left *left, const void *structure, uint64_t size);
/* Puts back the bytes of the heap that steps have changed which were not committed. */
void mimicd_journal_undo(struct mimicd_journal_left *left);
/* The same of files, that the caller has mapped where they were. */
void mimicd_journal_undo_files(struct mimicd_journal_left *left);
/*
 * The entries of one log after the other, the last first; `bytes` were there before. Logs may be gone through more than
 * once.
 */
void mimicd_journal_each(const struct mimicd_journal_left *left,
			 void (*entry)(void *context, const struct mimicd_undo_entry *entry, const void *bytes),
			 void *context);
void mimicd_journal_close(struct mimicd_journal_left *left);

#endif
