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

/* By bit. Higher ones are not noted. */
static _Atomic uint64_t kept_numbers[HIGHEST / 64];

void mimic_descriptor_note(int fd, bool is_kept)
{
	uint64_t bit = 1ull << fd % 64;

	if (fd < 0 || fd >= (int)HIGHEST)
		return;
	if (is_kept)
		atomic_fetch_or(&kept_numbers[fd / 64], bit);
	else
		atomic_fetch_and(&kept_numbers[fd / 64], ~bit);
}

bool mimic_descriptor_is_kept(int fd)
{
	return fd >= 0 && fd < (int)HIGHEST && atomic_load(&kept_numbers[fd / 64]) >> fd % 64 & 1;
}

int mimic_descriptor_next_kept(unsigned int from)
{
	unsigned int word = from / 64;
	uint64_t bits;

	if (from >= HIGHEST)
		return -1;
	bits = atomic_load(&kept_numbers[word]) & ~0ull << from % 64;
	while (!bits && ++word < HIGHEST / 64)
		bits = atomic_load(&kept_numbers[word]);
	return bits ? (int)(64 * word) + __builtin_ctzll(bits) : -1;
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
	if (mimic_descriptor_is_ours(descriptor)) {
		/* Before: the number may be the program's next file. */
		mimic_descriptor_note(descriptor->fd, false);
		close(descriptor->fd);
	}
	descriptor->fd = -1;
}
