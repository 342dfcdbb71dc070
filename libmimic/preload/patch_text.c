/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program's text: the files that it comes from, its old bytes, and how it is changed while
 * other threads execute it. By system calls of our own, because all this happens in a handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define RANGES_MAX 256u
#define OTHER_PROCESS_YIELDS 2000u

/* Text of one file. `view` is the file itself, mapped for reading: the old text. */
struct range {
	uintptr_t start, end;
	const uint8_t *view;
	uint64_t inode;
	bool is_closed;
};

static struct range ranges[RANGES_MAX];
static unsigned int range_count;

/* A jump that is being written; the lock of patch.c is held. Of another process: its parent's, when it
 * forked. */
static struct {
	_Atomic uintptr_t address;
	_Atomic long process;
	atomic_uint sequence; /* odd while text is written */
	size_t count;
	uint8_t bytes[PATCH_JUMP_MAX];
} writing;

/* --- /proc/self/maps --------------------------------------------------------- */

struct maps_line {
	uintptr_t start, end;
	uint64_t offset, inode;
	char rights[5];
	const char *path;
};

struct maps {
	int file;
	size_t at, length;
	char buffer[4096];
	char line[512];
};

static struct maps maps; /* under the lock: a handler's stack may be small */

static bool next_byte(char *byte)
{
	if (maps.at == maps.length) {
		long got = mimic_raw_syscall(SYS_read, maps.file, (long)maps.buffer, sizeof(maps.buffer), 0,
					     0, 0);

		if (got <= 0)
			return false;
		maps.at = 0;
		maps.length = (size_t)got;
	}
	*byte = maps.buffer[maps.at++];
	return true;
}

static const char *take_hex(const char *text, uint64_t *value)
{
	for (*value = 0;; text++) {
		if (*text >= '0' && *text <= '9')
			*value = *value * 16 + (uint64_t)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			*value = *value * 16 + (uint64_t)(*text - 'a' + 10);
		else
			return text;
	}
}

static const char *skip_word(const char *text)
{
	while (*text && *text != ' ')
		text++;
	while (*text == ' ')
		text++;
	return text;
}

/* "start-end rights offset device inode path"; the inode is decimal, and only compared. */
static void read_line(struct maps_line *line)
{
	const char *text = maps.line;
	uint64_t value;

	text = take_hex(text, &value);
	line->start = value;
	text = take_hex(text + (*text == '-'), &value);
	line->end = value;
	text = skip_word(text);
	strncpy(line->rights, text, 4);
	line->rights[4] = '\0';
	text = skip_word(text);
	take_hex(text, &line->offset);
	text = skip_word(skip_word(text));
	take_hex(text, &line->inode);
	line->path = skip_word(text);
}

static bool next_line(struct maps_line *line)
{
	size_t length = 0;
	char byte;

	while (next_byte(&byte) && byte != '\n')
		if (length < sizeof(maps.line) - 1)
			maps.line[length++] = byte;
	maps.line[length] = '\0';
	if (length)
		read_line(line);
	return length;
}

static bool open_maps(void)
{
	maps.at = maps.length = 0;
	maps.file = (int)mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/maps",
					   O_RDONLY | O_CLOEXEC, 0, 0, 0);
	return maps.file >= 0;
}

static void close_maps(void)
{
	mimic_raw_syscall(SYS_close, maps.file, 0, 0, 0, 0, 0);
}

/* --- ranges of text ------------------------------------------------------------ */

static struct range *find(uintptr_t address)
{
	unsigned int i;

	for (i = 0; i < range_count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return &ranges[i];
	return NULL;
}

static bool is_text(const struct maps_line *line)
{
	return !strcmp(line->rights, "r-xp") && line->inode && line->path[0] == '/' &&
	       strlen(line->path) < sizeof(maps.line) / 2;
}

static struct range *add(const struct maps_line *line)
{
	size_t length = line->end - line->start;
	long file, view;

	if (range_count == RANGES_MAX)
		return NULL;
	file = mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)line->path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (file < 0)
		return NULL;
	view = mimic_raw_syscall(SYS_mmap, 0, (long)length, PROT_READ, MAP_PRIVATE, file, (long)line->offset);
	mimic_raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
	if (view < 0 && view > -4096)
		return NULL;
	ranges[range_count] =
		(struct range){ line->start, line->end, (const uint8_t *)view, line->inode, false };
	return &ranges[range_count++];
}

static struct range *discover(uintptr_t address)
{
	struct range *range = NULL;
	struct maps_line line;

	if (!open_maps())
		return NULL;
	while (next_line(&line)) {
		if (address < line.start || address >= line.end)
			continue;
		if (is_text(&line))
			range = add(&line);
		break;
	}
	close_maps();
	return range;
}

/* Through the kernel: the file may have been cut, and then its view cannot be read. */
static size_t read_view(const struct range *range, uintptr_t address, uint8_t *bytes, size_t count)
{
	struct iovec local = { bytes, count };
	struct iovec remote = { (void *)(range->view + (address - range->start)), count };
	long pid = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long got = mimic_raw_syscall(SYS_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

size_t mimic_preload_code_original(uintptr_t address, uint8_t *bytes, size_t count,
				   enum patch_refusal *refusal)
{
	struct range *range = find(address);
	size_t got;

	if (!range)
		range = discover(address);
	*refusal = range && range->is_closed ? PATCH_TEXT_CLOSED : PATCH_NO_FILE;
	if (!range || range->is_closed)
		return 0;
	if (count > range->end - address)
		count = range->end - address;
	got = read_view(range, address, bytes, count);
	*refusal = PATCH_NO_FILE;
	return got;
}

static void drop(struct range *range)
{
	mimic_raw_syscall(SYS_munmap, (long)range->view, (long)(range->end - range->start), 0, 0, 0, 0);
	*range = ranges[--range_count];
}

/* Closes ranges that are unmapped, also those of which a part stays mapped. */
void mimic_preload_code_close(uintptr_t start, size_t length, bool is_gone)
{
	unsigned int i;

	for (i = range_count; i-- > 0;) {
		if (start >= ranges[i].end || start + length <= ranges[i].start)
			continue;
		ranges[i].is_closed = true;
		if (is_gone && start <= ranges[i].start && start + length >= ranges[i].end)
			drop(&ranges[i]);
	}
}

void mimic_preload_code_check(void (*gone)(uintptr_t start, size_t length))
{
	bool is_there[RANGES_MAX] = { false };
	struct maps_line line;
	unsigned int i;

	if (!range_count || !open_maps())
		return;
	while (next_line(&line))
		for (i = 0; i < range_count; i++)
			if (line.inode == ranges[i].inode && line.start <= ranges[i].start &&
			    line.end > ranges[i].start && line.rights[2] == 'x')
				is_there[i] = true;
	close_maps();
	for (i = range_count; i-- > 0;) {
		if (is_there[i])
			continue;
		gone(ranges[i].start, ranges[i].end - ranges[i].start);
		drop(&ranges[i]);
		is_there[i] = is_there[range_count];
	}
}

/* --- changing it ------------------------------------------------------------------ */

static long membarrier(long command)
{
	return mimic_raw_syscall(SYS_membarrier, command, 0, 0, 0, 0, 0);
}

static atomic_bool is_stopped;

void mimic_preload_code_stop(void)
{
	atomic_store(&is_stopped, true);
}

char mimic_preload_code_status(const char *name)
{
	char text[2048];
	const char *at;
	long file, length;

	file = mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0, 0,
				 0);
	if (file < 0)
		return 0;
	length = mimic_raw_syscall(SYS_read, file, (long)text, sizeof(text) - 1, 0, 0, 0);
	mimic_raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
	text[length > 0 ? length : 0] = '\0';
	at = strstr(text, name);
	return at ? at[strlen(name)] : 0;
}

int mimic_preload_code_start(void)
{
	return (int)membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
}

/* After this, no thread executes instructions that it has fetched before. */
int mimic_preload_code_synchronize(void)
{
	long error = atomic_load(&is_stopped) ? -EPERM
					      : membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);

	/* A child has to ask for it anew. */
	if (error == -EPERM && !atomic_load(&is_stopped) && !mimic_preload_code_start())
		error = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	return (int)error;
}

static int set_rights(uintptr_t address, size_t count, int rights)
{
	uintptr_t start = address & ~(PAGE_BYTES - 1);
	uintptr_t end = (address + count + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);

	return (int)mimic_raw_syscall(SYS_mprotect, (long)start, (long)(end - start), rights, 0, 0, 0);
}

/* A byte at a time: never is a part of one visible. */
static void put(uintptr_t address, const uint8_t *bytes, size_t count)
{
	volatile uint8_t *text = (volatile uint8_t *)address;
	size_t i;

	for (i = 0; i < count; i++)
		text[i] = bytes[i];
}

/*
 * Do all bytes lie in one aligned word? A thread that fetches instructions meets all of its store, or nothing. That is
 * AMD's promise (Architecture Programmer's Manual, volume 2, 7.6.1); of Intel's processors it is only known.
 */
static bool is_in_word(uintptr_t address, size_t count)
{
	return address % sizeof(uint64_t) + count <= sizeof(uint64_t);
}

/* The other bytes of the word are not ours: a debugger may write a breakpoint there meanwhile. */
static void put_in_word(uintptr_t address, const uint8_t *bytes, size_t count)
{
	uint64_t *place = (uint64_t *)(address & ~(sizeof(uint64_t) - 1));
	uint64_t old = __atomic_load_n(place, __ATOMIC_RELAXED), word;

	do {
		word = old;
		memcpy((uint8_t *)&word + address % sizeof(word), bytes, count);
	} while (!__atomic_compare_exchange_n(place, &old, word, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* 0 or -errno: nothing was changed. */
static int write_in_word(uintptr_t address, const uint8_t *bytes, size_t count)
{
	uint8_t old[sizeof(uint64_t)];
	int error;

	memcpy(old, (const void *)address, count);
	put_in_word(address, bytes, count);
	error = mimic_preload_code_synchronize();
	if (error)
		put_in_word(address, old, count);
	return error;
}

/*
 * A thread that comes to the instruction from the first step on faults, and comes again. After the first
 * barrier none stands in the old one; so no thread executes the bytes behind the first. 0 or -errno: nothing was
 * changed; behind the first barrier nothing fails.
 */
static int write_in_steps(uintptr_t address, const uint8_t *bytes, size_t count)
{
	static const uint8_t stop = PATCH_STOP_BYTE;
	uint8_t old = *(const uint8_t *)address;
	int error;

	put(address, &stop, 1);
	error = mimic_preload_code_synchronize();
	if (error) {
		put(address, &old, 1);
		return error;
	}
	put(address + 1, bytes + 1, count - 1);
	mimic_preload_code_synchronize();
	put(address, bytes, 1);
	mimic_preload_code_synchronize();
	return 0;
}

int mimic_preload_code_write(uintptr_t address, const uint8_t *bytes, size_t count)
{
	int error;

	if (atomic_load(&is_stopped))
		return -EPERM;
	error = set_rights(address, count, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (error)
		return error;
	memcpy(writing.bytes, bytes, count);
	writing.count = count;
	atomic_store(&writing.process, mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
	atomic_store(&writing.address, address);
	atomic_fetch_add(&writing.sequence, 1);
	if (is_in_word(address, count))
		error = write_in_word(address, bytes, count);
	else
		error = write_in_steps(address, bytes, count);
	atomic_fetch_add(&writing.sequence, 1);
	atomic_store(&writing.address, 0);
	set_rights(address, count, PROT_READ | PROT_EXEC);
	return error;
}

/* In a child whose parent had begun when it forked by no function that we know of. */
static void finish(uintptr_t address)
{
	if (set_rights(address, writing.count, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	put(address, writing.bytes, writing.count);
	atomic_fetch_add(&writing.sequence, 1);
	atomic_store(&writing.address, 0);
	set_rights(address, writing.count, PROT_READ | PROT_EXEC);
}

/* The writer may be of another process that shares our memory: then it goes on by itself. */
static void wait_for_writer(uintptr_t address)
{
	static atomic_uint patience;

	mimic_raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	if (atomic_load(&writing.process) == mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return;
	if (atomic_fetch_add(&patience, 1) < OTHER_PROCESS_YIELDS)
		return;
	atomic_store(&patience, 0);
	finish(address);
}

bool mimic_preload_code_is_stop(uintptr_t address)
{
	if (atomic_load(&writing.address) != address)
		return false;
	wait_for_writer(address);
	return true;
}

unsigned int mimic_preload_code_sequence(void)
{
	return atomic_load(&writing.sequence);
}

bool mimic_preload_code_read(uintptr_t address, uint8_t *bytes, size_t count)
{
	const volatile uint8_t *text = (const volatile uint8_t *)address;
	unsigned int before = atomic_load(&writing.sequence);
	uintptr_t where = atomic_load(&writing.address);
	size_t i;

	if (before & 1) {
		if (where)
			wait_for_writer(where);
		return false;
	}
	for (i = 0; i < count; i++)
		bytes[i] = text[i];
	/* the bytes are read before the sequence is read again */
	atomic_thread_fence(memory_order_acquire);
	return before == atomic_load(&writing.sequence);
}
