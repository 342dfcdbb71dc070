/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The nodes /dev/maple and /dev/mapleN: open, stat, mmap, mprotect, mremap, dup and close. */
#include "contract.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static sigjmp_buf out;

static void on_fault(int number)
{
	siglongjmp(out, number);
}

static void *map(int file, size_t length, int protection, int flags, off_t offset)
{
	return mmap(NULL, length, protection, flags, file, offset);
}

static void check_status(void)
{
	struct stat status;
	int file;

	CHECK(stat("/dev/maple0", &status) == 0 && S_ISCHR(status.st_mode));
	CHECK(stat("/dev//./maple1", &status) == 0 && S_ISCHR(status.st_mode));
	CHECK(stat("/dev/maple250", &status) == -1 && errno == ENOENT);
	CHECK(stat("/dev/maple0x", &status) == -1 && errno == ENOENT);
	CHECK(access("/dev/maple0", R_OK | W_OK) == 0);
	CHECK(access("/dev/maple0", X_OK) == -1 && errno == EACCES);
	CHECK(open("/dev/maple250", O_RDWR) == -1 && errno == ENOENT);
	CHECK(open("/dev/maple0", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
	file = open_or_die("/dev/maple0");
	CHECK(fstat(file, &status) == 0 && S_ISCHR(status.st_mode));
	close(file);
}

static void check_mmap(void)
{
	int file = open_or_die("/dev/maple0");
	int reader = open("/dev/maple0", O_RDONLY);
	void *page;

	CHECK(map(file, PAGE, PROT_READ, MAP_SHARED, 5 * PAGE) == MAP_FAILED && errno == EINVAL);
	CHECK(map(file, 2 * PAGE, PROT_READ, MAP_SHARED, 4 * PAGE) == MAP_FAILED && errno == EINVAL);
	CHECK(map(file, 0, PROT_READ, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(map(file, PAGE, PROT_READ, MAP_SHARED, 12) == MAP_FAILED && errno == EINVAL);
	CHECK(map(file, PAGE, PROT_READ, MAP_PRIVATE, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(map(file, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(reader >= 0);
	CHECK(map(reader, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0) == MAP_FAILED && errno == EACCES);
	page = map(reader, PAGE, PROT_READ, MAP_SHARED, 0);
	CHECK(page != MAP_FAILED);
	CHECK(munmap(page, PAGE) == 0);
	close(file);
	close(reader);
}

/* A mapping keeps its instance, and so does a descriptor. */
static void check_lifetime(void)
{
	int file = open_or_die("/dev/maple0");
	int copy = dup(file);
	void *page = map_or_die(file, 0);

	load32(page, RESET, 0);
	CHECK(load32(page, INIT, WORDS_8) == 2);
	open_both(page, 0);
	store32(page, PRODUCE, 0, 11);
	store32(page, PRODUCE, 0, 12);
	close(file);
	CHECK(munmap(page, PAGE) == 0);
	page = map_or_die(copy, 0);
	close(copy);
	CHECK(load32(page, CONSUME, 0) == 11);
	CHECK(load32(page, CONSUME, 0) == 12);
	CHECK(munmap(page, PAGE) == 0);
	/* Given back: the next user finds it as after power-on, without queues. */
	page = map_or_die(open_or_die("/dev/maple0"), 0);
	CHECK(load64(page, OPEN_PRODUCER, 0) == 0);
}

static void check_protection(void)
{
	int file = open_or_die("/dev/maple1");
	char *pages = map(file, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	volatile int step = 0;

	CHECK(pages != MAP_FAILED);
	signal(SIGSEGV, on_fault);
	CHECK(mprotect(pages, PAGE, PROT_READ) == 0);
	load32(pages, RESET, 0);
	if (sigsetjmp(out, 1) == 0) {
		store32(pages, PRODUCE, 0, 1);
		step = 100;
	}
	step = step + 1;
	CHECK(step == 1);
	CHECK(mprotect(pages, PAGE, PROT_READ | PROT_EXEC) == -1);
	CHECK(mremap(pages, PAGE, 4 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	CHECK(mremap(pages, 3 * PAGE, 2 * PAGE, 0) == pages);
	if (sigsetjmp(out, 1) == 0) {
		load32(pages + 2 * PAGE, RESET, 0);
		step = 100;
	}
	step = step + 1;
	CHECK(step == 2);
	/* Other memory over a device page is other memory. */
	CHECK(mmap(pages, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
	memset(pages, 7, PAGE);
	CHECK(pages[(RESET << 3)] == 7);
	CHECK(mprotect(pages, PAGE, PROT_READ) == 0);
	if (sigsetjmp(out, 1) == 0) {
		*(volatile char *)pages = 8;
		step = 100;
	}
	step = step + 1;
	CHECK(step == 3 && *(volatile char *)pages == 7);
	CHECK(munmap(pages, 2 * PAGE) == 0);
	if (sigsetjmp(out, 1) == 0) {
		load32(pages + PAGE, RESET, 0);
		step = 100;
	}
	step = step + 1;
	CHECK(step == 4);
	signal(SIGSEGV, SIG_DFL);
	close(file);
}

static void check_any(void)
{
	int files[300];
	int count = 0;
	int i;

	while (count < 300 && (files[count] = open("/dev/maple", O_RDWR)) >= 0)
		count++;
	if (count < 1 || count == 300 || errno != EBUSY)
		fprintf(stderr, "/dev/maple was opened %d times, then: %s\n", count, strerror(errno));
	CHECK(count >= 1 && count < 300 && errno == EBUSY);
	for (i = 0; i < count; i++)
		close(files[i]);
	for (i = 0; i < 300; i++)
		CHECK(close(open_or_die("/dev/maple")) == 0);
}

int main(void)
{
	check_status();
	check_mmap();
	check_protection();
	check_any();
	check_lifetime();
	return 0;
}
