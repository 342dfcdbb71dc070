/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/journal/internal.h"

#define MAGIC 0x4c4e524a434d494dull	/* "MIMCJRNL" */

static int window_fd = -1;	/* of our window */

/* No address of a window is a hint of the kernel's: a successor needs the same one. */
static uint64_t address_of(uint64_t generation)
{
	return generation % 2 ? MIMICD_WINDOW_ADDRESS + MIMICD_WINDOW_BYTES : MIMICD_WINDOW_ADDRESS;
}

static void *map(uint64_t address, uint64_t size, int flags, int fd, uint64_t offset)
{
	void *wanted = (void *)(uintptr_t)address;
	void *memory = mmap(wanted, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd,
			    (off_t)offset);

	if (memory == MAP_FAILED)
		return NULL;
	/* A kernel that does not know the flag takes the address for a hint. */
	if (memory != wanted) {
		munmap(memory, size);
		errno = EEXIST;
		return NULL;
	}
	return memory;
}

static int make_file(int *made)
{
	int fd = memfd_create(MIMICD_JOURNAL_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)MIMICD_WINDOW_FILE_BYTES) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		error = -errno;
		close(fd);
		return error;
	}
	*made = fd;
	return 0;
}

int mimicd_journal_create(uint64_t generation, const char *build, int *fd)
{
	uint64_t address = address_of(generation);
	struct mimicd_window *window;
	int error = make_file(fd);

	if (error)
		return error;
	window = map(address, MIMICD_WINDOW_FILE_BYTES, MAP_SHARED, *fd, 0);
	if (!window) {
		error = -errno;
		close(*fd);
		return error;
	}
	window->magic = MAGIC;
	window->generation = generation;
	window->address = address;
	strncpy(window->build, build, sizeof(window->build) - 1);
	mimicd_window = window;
	mimicd_logs_begin();
	mimicd_journal_use_log(0);
	mimicd_heap_begin(address + MIMICD_WINDOW_HEAP);
	mimicd_journal = (struct mimicd_journal){
		.start = address + MIMICD_WINDOW_HEAP,
		.size = MIMICD_JOURNAL_HEAP_BYTES + MIMICD_JOURNAL_FILES_BYTES,
	};
	return 0;
}

void mimicd_journal_hold(int fd)
{
	window_fd = fd;
}

void mimicd_journal_set_origin(const char *version, uint64_t settings)
{
	strncpy(mimicd_window->origin.version, version, sizeof(mimicd_window->origin.version) - 1);
	mimicd_window->origin.settings = settings;
}

void mimicd_journal_end(void)
{
	if (!mimicd_window)
		return;
	mimicd_heap_end();
	if (window_fd >= 0)
		close(window_fd);
	window_fd = -1;
	munmap(mimicd_window, MIMICD_WINDOW_FILE_BYTES);
	mimicd_window = NULL;
	mimicd_journal = (struct mimicd_journal)MIMICD_NO_JOURNAL;
}

void mimicd_journal_set_root(void *root)
{
	mimicd_window->root = root;
}

void *mimicd_journal_root(void)
{
	return mimicd_window->root;
}

/* --- the window of a predecessor --------------------------------------------------------------- */

/*
 * The logs and the header are read where they are; the heap is a copy, so that a successor that is
 * killed in its turn leaves the same behind.
 */
static int check(int fd, struct mimicd_window **found)
{
	struct stat status;
	struct mimicd_window *window;

	if (fstat(fd, &status) < 0 || (uint64_t)status.st_size != MIMICD_WINDOW_FILE_BYTES)
		return -EINVAL;
	window = mmap(NULL, MIMICD_WINDOW_HEAP, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (window == MAP_FAILED)
		return -errno;
	*found = window;
	return 0;
}

int mimicd_journal_look(int fd, struct mimicd_journal_seen *seen)
{
	struct mimicd_window *window = NULL;
	int error = check(fd, &window);

	if (error)
		return error;
	if (window->magic != MAGIC)
		error = -EINVAL;
	else if (!window->is_complete)
		error = -ENODATA;
	*seen = (struct mimicd_journal_seen){ .generation = window->generation, .origin = window->origin };
	memcpy(seen->build, window->build, sizeof(seen->build) - 1);
	seen->origin.version[sizeof(seen->origin.version) - 1] = 0;
	munmap(window, MIMICD_WINDOW_HEAP);
	return error;
}

/* The entry of a log that ends at *used, which becomes where its bytes begin. false: there is none. */
static bool entry_before(const char *log, uint64_t *used, struct mimicd_undo_entry *entry)
{
	if (*used < sizeof(*entry) || *used % 8)
		return false;
	memcpy(entry, log + *used - sizeof(*entry), sizeof(*entry));
	if (!entry->size || entry->kind > MIMICD_UNDO_ATOMIC || entry->reserved ||
	    mimicd_log_rounded(entry->size) > *used - sizeof(*entry))
		return false;
	*used -= sizeof(*entry) + mimicd_log_rounded(entry->size);
	return true;
}

static bool log_is_whole(struct mimicd_window *window, unsigned int number)
{
	uint64_t used = window->logs[number].used;
	struct mimicd_undo_entry entry;

	if (used > mimicd_window_log_bytes(number))
		return false;
	while (entry_before(mimicd_window_log(window, number), &used, &entry))
		;
	return !used;
}

static int find_fault_of_logs(struct mimicd_window *window)
{
	for (unsigned int i = 0; i < MIMICD_JOURNAL_LOGS; i++) {
		if (window->logs[i].has_overflowed)
			return -EOVERFLOW;
		if (!log_is_whole(window, i))
			return -EINVAL;
	}
	return 0;
}

static int find_fault(struct mimicd_window *window, const char *build)
{
	if (window->magic == MAGIC && !window->is_complete)
		return -ENODATA;
	if (window->magic != MAGIC || strncmp(window->build, build, sizeof(window->build) - 1) ||
	    window->address != address_of(window->generation))
		return -EINVAL;
	return find_fault_of_logs(window);
}

/* With the addresses behind it, so that an undo of bytes whose file the caller does not map finds memory. */
static int map_heap(int fd, uint64_t start)
{
	int error;

	if (!map(start, MIMICD_JOURNAL_HEAP_BYTES, MAP_PRIVATE, fd, MIMICD_WINDOW_HEAP))
		return -errno;
	if (map(start + MIMICD_JOURNAL_HEAP_BYTES, MIMICD_JOURNAL_FILES_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
		return 0;
	error = -errno;
	munmap((void *)(uintptr_t)start, MIMICD_JOURNAL_HEAP_BYTES);
	return error;
}

int mimicd_journal_open(int fd, const char *build, struct mimicd_journal_left *left)
{
	struct mimicd_window *window = NULL;
	int error = check(fd, &window);
	uint64_t start;

	if (error)
		return error;
	error = find_fault(window, build);
	start = error ? 0 : window->address + MIMICD_WINDOW_HEAP;
	if (!error)
		error = map_heap(fd, start);
	if (error) {
		munmap(window, MIMICD_WINDOW_HEAP);
		return error;
	}
	*left = (struct mimicd_journal_left){
		.header = window, .root = window->root, .generation = window->generation, .start = start,
		.size = MIMICD_JOURNAL_HEAP_BYTES,
	};
	return 0;
}

uint64_t mimicd_journal_left_files(const struct mimicd_journal_left *left)
{
	return left->start + left->size;
}

bool mimicd_journal_left_has(const struct mimicd_journal_left *left, const void *structure, uint64_t size)
{
	uint64_t offset = (uint64_t)(uintptr_t)structure - left->start;

	return offset % 8 == 0 && offset < left->size && size <= left->size - offset;
}

void mimicd_journal_each(const struct mimicd_journal_left *left,
			 void (*visit)(void *context, const struct mimicd_undo_entry *entry, const void *bytes),
			 void *context)
{
	struct mimicd_window *window = left->header;

	for (unsigned int i = 0; i < MIMICD_JOURNAL_LOGS; i++) {
		const char *log = mimicd_window_log(window, i);
		uint64_t used = window->logs[i].used;
		struct mimicd_undo_entry entry;

		while (entry_before(log, &used, &entry))
			visit(context, &entry, log + used);
	}
}

static void put_back(const struct mimicd_undo_entry *entry, const void *bytes, uint64_t start, uint64_t size)
{
	if (entry->kind == MIMICD_UNDO_BYTES && entry->address - start < size &&
	    entry->size <= size - (entry->address - start))
		memcpy((void *)(uintptr_t)entry->address, bytes, entry->size);
}

static void put_back_in_heap(void *context, const struct mimicd_undo_entry *entry, const void *bytes)
{
	const struct mimicd_journal_left *left = context;

	put_back(entry, bytes, left->start, MIMICD_JOURNAL_HEAP_BYTES);
}

static void put_back_in_files(void *context, const struct mimicd_undo_entry *entry, const void *bytes)
{
	const struct mimicd_journal_left *left = context;

	put_back(entry, bytes, left->start + MIMICD_JOURNAL_HEAP_BYTES, MIMICD_JOURNAL_FILES_BYTES);
}

void mimicd_journal_undo(struct mimicd_journal_left *left)
{
	mimicd_journal_each(left, put_back_in_heap, left);
}

void mimicd_journal_undo_files(struct mimicd_journal_left *left)
{
	mimicd_journal_each(left, put_back_in_files, left);
}

void mimicd_journal_close(struct mimicd_journal_left *left)
{
	munmap((void *)(uintptr_t)left->start, MIMICD_JOURNAL_HEAP_BYTES + MIMICD_JOURNAL_FILES_BYTES);
	munmap(left->header, MIMICD_WINDOW_HEAP);
	*left = (struct mimicd_journal_left){ 0 };
}
