/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Uses MAPLE by the driver beside it: a program's plain loads and stores of the mapped page, and
 * the device in the program's memory. Prints one line of TAP for each thing that must hold.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mimic/maple_registers.h"

#define PAGE 4096u
#define NOT_READY 0xffffffffu	/* the answer to a load that would have to wait */

static volatile char *device;
static unsigned int tests, failures;

static void check(bool holds, const char *what)
{
	failures += !holds;
	printf("%sok %u - %s\n", holds ? "" : "not ", ++tests, what);
	fflush(stdout);
}

static uint32_t load(unsigned int operation, unsigned int field)
{
	return *(volatile uint32_t *)(device + MAPLE_OFFSET(operation, field));
}

static void fetch(const volatile void *address)
{
	*(volatile uint64_t *)(device + MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0)) = (uintptr_t)address;
}

/* A page fault takes the driver a moment. */
static uint32_t consume(void)
{
	uint32_t value = NOT_READY;

	for (int i = 0; i < 2000 && value == NOT_READY; i++)
		value = load(MAPLE_LOAD_CONSUME, 0);
	return value;
}

/* The word that the device reads there. */
static uint32_t read_by_device(const volatile void *address)
{
	fetch(address);
	return consume();
}

static void begin(void)
{
	load(MAPLE_LOAD_RESET, 0);
	load(MAPLE_LOAD_INIT, 7);
	load(MAPLE_LOAD_OPEN_PRODUCER, 0);
	load(MAPLE_LOAD_OPEN_CONSUMER, 0);
}

static uint32_t *new_pages(size_t count, void *at)
{
	uint32_t *pages = mmap(at, count * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (pages == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	/* Else one touch makes 512 pages present. */
	madvise(pages, count * PAGE, MADV_NOHUGEPAGE);
	return pages;
}

static void read_pages(void)
{
	uint32_t *pages = new_pages(64, NULL);
	bool right = true;

	for (uint32_t i = 0; i < 64; i++)
		pages[i * PAGE / 4 + i] = 1000 + i;
	for (uint32_t i = 0; i < 64; i++)
		right &= read_by_device(&pages[i * PAGE / 4 + i]) == 1000 + i;
	check(right, "the device reads the program's pages");
	munmap(pages, 64 * PAGE);
}

static void fault_pages(void)
{
	uint32_t *pages = new_pages(16, NULL);
	unsigned char present[16];
	bool right = true;

	for (uint32_t i = 0; i < 16; i++)
		right &= read_by_device(&pages[i * PAGE / 4]) == 0;
	check(right && !mincore(pages, 16 * PAGE, present) && present[7] & 1,
	      "a page that is not there is brought in by the driver");
	check(load(MAPLE_LOAD_FAULT_COUNT, 0) == 0, "and was no bad address");
	munmap(pages, 16 * PAGE);
}

static void bad_address(void)
{
	uint32_t *pages = new_pages(1, NULL);
	uint32_t before = load(MAPLE_LOAD_FAULT_COUNT, 0);

	munmap(pages, PAGE);
	check(read_by_device(pages) == 0 && load(MAPLE_LOAD_FAULT_COUNT, 0) == before + 1,
	      "an address where nothing is reads 0, and is counted");
}

static void map_over(void)
{
	uint32_t *page = new_pages(1, NULL);
	bool right = true;

	for (uint32_t i = 1; i <= 100; i++) {
		*new_pages(1, page) = i;
		right &= read_by_device(page) == i;
	}
	check(right, "a page that is mapped over is not read stale");
	munmap(page, PAGE);
}

static void copy_on_write(void)
{
	uint32_t *page = new_pages(1, NULL);
	bool right = true;
	int status;

	*page = 1;
	right &= read_by_device(page) == 1;
	for (uint32_t i = 2; i < 12; i++) {
		pid_t child = fork();

		if (!child) {
			/* The parent's page becomes another one with its next store. */
			*page = 4711;
			usleep(1000);
			_exit(0);
		}
		*page = i;
		right &= read_by_device(page) == i;
		waitpid(child, &status, 0);
		right &= status == 0;
	}
	check(right, "after fork the device reads the page of the program that has it");
	munmap(page, PAGE);
}

static void protect(void)
{
	uint32_t *page = new_pages(1, NULL);
	uint32_t before = load(MAPLE_LOAD_FAULT_COUNT, 0);

	*page = 5;
	read_by_device(page);
	mprotect(page, PAGE, PROT_NONE);
	check(read_by_device(page) == 0 && load(MAPLE_LOAD_FAULT_COUNT, 0) == before + 1,
	      "a page that must not be read is not");
	mprotect(page, PAGE, PROT_READ);
	check(read_by_device(page) == 5, "and is again when it may be");
	munmap(page, PAGE);
}

static void large_page(void)
{
	size_t size = 4u << 20;
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *word = (uint32_t *)(((uintptr_t)area + (2u << 20) - 1) & ~((uintptr_t)(2u << 20) - 1)) + 12345;

	madvise(area, size, MADV_HUGEPAGE);
	*word = 99;
	check(read_by_device(word) == 99, "a large page is walked");
	munmap(area, size);
}

static void in_a_child(int fd)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? 0 : 1);
	waitpid(child, &status, 0);
	check(status == 0, "a child does not get its parent's device");
}

static void second_open(const char *path)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(open(path, O_RDWR) < 0 && errno == EBUSY ? 0 : 1);
	waitpid(child, &status, 0);
	check(status == 0, "the device has one user");
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/dev/maple_pci0";
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		return 1;
	}
	device = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (device == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	begin();
	read_pages();
	fault_pages();
	bad_address();
	map_over();
	copy_on_write();
	protect();
	large_page();
	in_a_child(fd);
	second_open(path);
	printf("1..%u\n", tests);
	return failures != 0;
}
