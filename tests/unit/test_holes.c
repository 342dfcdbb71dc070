/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Holes in shared memory, at the place where the daemon touches them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/engine/memory_internal.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/quota.h"
#include "daemon/engine/user.h"

#define PAGE 4096ul
#define PAGES 4096ul	/* every second one is a hole */

static struct mimicd_engine engine;
static struct mimicd_loop event_loop;
static struct mimicd_user user = { .engine = &engine, .home = &user };

static void nothing(void *context)
{
	(void)context;
}

/* In each case: cmocka sets handlers of its own before it. The daemon sets its one once. */
static void start(void)
{
	static struct sigaction ours;

	if (ours.sa_sigaction) {
		assert_int_equal(sigaction(SIGBUS, &ours, NULL), 0);
		return;
	}
	assert_int_equal(mimicd_loop_create(&event_loop), 0);
	engine.loop = &event_loop;
	mimicd_quotas_default(&engine.quotas);
	engine.holes = (struct mimicd_holes){ .fd = -1, .wake_fd = -1, .source = { nothing, NULL } };
	assert_int_equal(mimicd_holes_create(&engine.holes, &event_loop), 0);
	if (engine.holes.fd < 0)
		skip();
	assert_int_equal(sigaction(SIGBUS, NULL, &ours), 0);
}

static int whole_file(void)
{
	int fd = memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(fallocate(fd, 0, 0, PAGES * PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

static void punch(int fd, unsigned long page)
{
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(page * PAGE), PAGE), 0);
}

static unsigned int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned int count = 0;
	int c;

	assert_non_null(maps);
	while ((c = fgetc(maps)) != EOF)
		count += c == '\n';
	fclose(maps);
	return count;
}

static const struct mimicd_range *share(struct mimicd_memory *memory, int fd, uint64_t address)
{
	const char *why;

	if (!memory->user) {
		mimicd_memory_init(memory, &engine.errands, getpid(), -1, false);
		memory->user = &user;
	}
	assert_int_equal(mimicd_memory_add(memory, fd, address, PAGES * PAGE, 0, &why), 0);
	return mimicd_memory_find(memory, address, 1);
}

/* There are 65530 mappings for all clients, and behind the last one a hole would be the end of the daemon. */
static void holes_take_no_mappings(void **state)
{
	struct mimicd_memory memory = { .user = NULL };
	int fd = whole_file();
	struct stat status;
	volatile char *base;
	unsigned int before;

	(void)state;
	start();
	base = share(&memory, fd, 0x10000)->base;
	before = mappings();
	for (unsigned long page = 0; page < PAGES; page += 2)
		punch(fd, page);
	for (unsigned long page = 0; page < PAGES; page += 2)
		base[page * PAGE] = 1;
	assert_true(atomic_load(&memory.has_hole));
	assert_in_range(mappings(), 0, before + 8);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_blocks, PAGES / 2 * PAGE / 512);
	mimicd_memory_destroy(&memory);
	close(fd);
}

/* Ranges that go, the first and the last and one between, are those that are not watched any more. */
static void other_ranges_stay_watched(void **state)
{
	struct mimicd_memory memory[5] = { { .user = NULL } };
	volatile char *base[5];
	int fd[5];

	(void)state;
	start();
	for (unsigned int i = 0; i < 5; i++) {
		fd[i] = whole_file();
		base[i] = share(&memory[i], fd[i], 0x10000)->base;
		punch(fd[i], i);
	}
	for (unsigned int i = 0; i < 5; i += 2)
		assert_int_equal(mimicd_memory_remove(&memory[i], 0x10000, PAGES * PAGE), 0);
	for (unsigned int i = 1; i < 5; i += 2) {
		assert_false(atomic_load(&memory[i].has_hole));
		assert_int_equal(base[i][i * PAGE], 0);
		assert_true(atomic_load(&memory[i].has_hole));
	}
	for (unsigned int i = 0; i < 5; i++) {
		mimicd_memory_destroy(&memory[i]);
		close(fd[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_take_no_mappings),
		cmocka_unit_test(other_ranges_stay_watched),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	if (engine.loop) {
		mimicd_holes_destroy(&engine.holes);
		mimicd_loop_destroy(&event_loop);
	}
	return failed;
}
