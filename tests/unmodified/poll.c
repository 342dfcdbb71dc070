/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * poll() of the kernel's node tells of a bad address until the program asks INFO itself, even if it maps
 * pages and closes files meanwhile. The device tells which fault it was; a program that misses it never ends.
 */
#include "contract.h"

#include <poll.h>
#include <sys/ioctl.h>

/* As in mimic/maple_ioctl.h, of which a program may have a copy. */
struct info {
	uint32_t size, version, index, pages;
	uint64_t identify, faults, unresolved, shootdowns, more[4];
};

#define MAPLE_INFO _IOWR(0xb7, 0, struct info)

static int tells(int file)
{
	struct pollfd wanted = { .fd = file, .events = POLLPRI };

	return poll(&wanted, 1, 0) == 1 && wanted.revents == POLLPRI;
}

int main(void)
{
	struct info info = { .size = sizeof(info) };
	int file = open_or_die("/dev/maple0");
	void *page = map_or_die(file, 0);
	int other;

	load32(page, RESET, 0);
	CHECK(load32(page, INIT, WORDS_8) == 2);
	open_both(page, 0);
	CHECK(!tells(file));
	store64(page, POINTER64, 0, 0x1000);
	CHECK(load32(page, CONSUME, 0) == 0);
	CHECK(tells(file));

	CHECK(munmap(map_or_die(file, PAGE), PAGE) == 0);
	CHECK(tells(file));
	other = open_or_die("/dev/maple0");
	CHECK(munmap(map_or_die(other, 0), PAGE) == 0);
	CHECK(close(other) == 0);
	CHECK(tells(file));

	CHECK(ioctl(file, MAPLE_INFO, &info) == 0 && info.unresolved == 1);
	CHECK(!tells(file));
	return 0;
}
