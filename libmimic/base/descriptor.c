/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below the limit, so that it is not the program that finds no number any more. */
#define FROM_THE_END 128u
#define HIGHEST 65536u

/* move_up() may get more than FROM_THE_END numbers from there on. */
#define NOTED (2 * HIGHEST)
/* Of so many it is known which files they are. */
#define FILES 256u

static _Atomic uint64_t kept_numbers[NOTED / 64];

static struct {
	_Atomic int number;	/* and 1; 0: free */
	dev_t device;
	ino_t inode;
} files[FILES];

static void note_file(int fd)
{
	struct stat status;
	unsigned int i;
	int free_place = 0;

	if (fstat(fd, &status))
		return;
	for (i = 0; i < FILES && !atomic_compare_exchange_strong(&files[i].number, &free_place, -1); i++)
		free_place = 0;
	if (i == FILES)
		return;
	files[i].device = status.st_dev;
	files[i].inode = status.st_ino;
	/* release: a thread that finds the number sees the file, too */
	atomic_store(&files[i].number, fd + 1);
}

void mimic_descriptor_note(int fd, bool is_kept)
{
	uint64_t bit;

	if (fd < 0 || fd >= (int)NOTED)
		return;
	bit = 1ull << fd % 64;
	if (is_kept) {
		note_file(fd);
		atomic_fetch_or(&kept_numbers[fd / 64], bit);
		return;
	}
	atomic_fetch_and(&kept_numbers[fd / 64], ~bit);
	for (unsigned int i = 0; i < FILES; i++)
		if (atomic_load(&files[i].number) == fd + 1)
			atomic_store(&files[i].number, 0);
}

/* Has the program put a file of its own there, by a call that the library does not see? */
static bool is_another_file(int fd)
{
	struct stat status;

	for (unsigned int i = 0; i < FILES; i++)
		if (atomic_load(&files[i].number) == fd + 1)
			return fstat(fd, &status) || status.st_dev != files[i].device || status.st_ino != files[i].inode;
	return false;
}

bool mimic_descriptor_is_kept(int fd)
{
	int saved = errno;
	bool is_kept = fd >= 0 && fd < (int)NOTED && atomic_load(&kept_numbers[fd / 64]) >> fd % 64 & 1 &&
		       !is_another_file(fd);

	errno = saved;
	return is_kept;
}

static int next_noted(unsigned int from)
{
	unsigned int word = from / 64;
	uint64_t bits;

	if (from >= NOTED)
		return -1;
	bits = atomic_load(&kept_numbers[word]) & ~0ull << from % 64;
	while (!bits && ++word < NOTED / 64)
		bits = atomic_load(&kept_numbers[word]);
	return bits ? (int)(64 * word) + __builtin_ctzll(bits) : -1;
}

int mimic_descriptor_next_kept(unsigned int from)
{
	int fd = next_noted(from);

	while (fd >= 0 && !mimic_descriptor_is_kept(fd))
		fd = next_noted((unsigned int)fd + 1);
	return fd;
}

static int move_up(int fd)
{
	struct rlimit limit;
	int moved;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= 2 * FROM_THE_END)
		return fd;
	if (limit.rlim_cur > HIGHEST)
		limit.rlim_cur = HIGHEST;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur - FROM_THE_END));
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

struct mimic_descriptor mimic_descriptor_keep(int fd)
{
	struct mimic_descriptor kept = MIMIC_DESCRIPTOR_NONE;
	struct stat status;
	int saved = errno;

	if (fd < 0)
		return kept;
	kept.fd = move_up(fd);
	mimic_descriptor_note(kept.fd, true);
	if (!fstat(kept.fd, &status)) {
		kept.device = status.st_dev;
		kept.inode = status.st_ino;
	}
	errno = saved;
	return kept;
}

bool mimic_descriptor_is_ours(const struct mimic_descriptor *descriptor)
{
	struct stat status;
	int saved = errno;
	bool is_it = descriptor->fd >= 0 && !fstat(descriptor->fd, &status) &&
		     status.st_dev == descriptor->device && status.st_ino == descriptor->inode;

	errno = saved;
	return is_it;
}

void mimic_descriptor_close(struct mimic_descriptor *descriptor)
{
	bool is_ours = mimic_descriptor_is_ours(descriptor);

	/* Before: the number may be the program's next file. */
	mimic_descriptor_note(descriptor->fd, false);
	if (is_ours)
		close(descriptor->fd);
	descriptor->fd = -1;
}
