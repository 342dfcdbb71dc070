/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * /dev/maple0 as a function of PCI: its calls, and the loads of a program that has it mapped when the
 * function goes. One line of TAP for each thing that must hold.
 *
 *	try_unbind MODULE	the PCI driver to be unbound
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mimic/maple_ioctl.h"
#include "mimic/maple_registers.h"

#define PAGE 4096u
#define NODE "/dev/maple0"

static unsigned int tests, failures;
static volatile char *pages;
static sigjmp_buf at_fault;

static void check(bool holds, const char *text)
{
	failures += !holds;
	printf("%sok %u - %s\n", holds ? "" : "not ", ++tests, text);
	fflush(stdout);
}

static void take_fault(int number)
{
	(void)number;
	siglongjmp(at_fault, 1);
}

static uint32_t load(unsigned int operation)
{
	return *(volatile uint32_t *)(pages + MAPLE_OFFSET(operation, 0));
}

static struct maple_info info_of(int fd)
{
	struct maple_info info = { .size = sizeof(info) };

	if (ioctl(fd, MAPLE_IOCTL_INFO, &info))
		memset(&info, 0, sizeof(info));
	return info;
}

static uint32_t read_by_device(uintptr_t address)
{
	uint32_t value = UINT32_MAX;

	*(volatile uint64_t *)(pages + MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0)) = address;
	for (int i = 0; i < 2000 && value == UINT32_MAX; i++)
		value = load(MAPLE_LOAD_CONSUME);
	return value;
}

static void ask(int fd)
{
	struct maple_info info = info_of(fd);
	struct maple_connect session = { .size = sizeof(session) };

	check(info.identify >> 32 == MAPLE_IDENTIFY_MAGIC && info.pages == MAPLE_PAGE_COUNT,
	      "INFO tells what the device is");
	check(ioctl(fd, MAPLE_IOCTL_CONNECT, &session) && errno == EOPNOTSUPP,
	      "there is no session with a daemon of another machine");
}

static void bad_address(int fd)
{
	struct maple_eventfd wanted = { .size = sizeof(wanted), .fd = eventfd(0, EFD_NONBLOCK) };
	struct pollfd waits = { .fd = fd, .events = POLLPRI };
	struct maple_info before = info_of(fd);
	uint64_t count = 0;

	check(!ioctl(fd, MAPLE_IOCTL_EVENTFD, &wanted), "an eventfd is taken");
	check(read_by_device(0x1000) == 0 && poll(&waits, 1, 5000) == 1 && waits.revents == POLLPRI,
	      "a bad address reads 0, and poll tells of it");
	check(read(wanted.fd, &count, sizeof(count)) == sizeof(count) && count == 1,
	      "the eventfd counts it");
	check(info_of(fd).unresolved == before.unresolved + 1, "INFO counts it");
}

static void page_faults(int fd)
{
	uint32_t *area = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct maple_info before = info_of(fd), after;
	bool right = true;

	madvise(area, 8 * PAGE, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < 8; i++)
		right &= read_by_device((uintptr_t)&area[i * PAGE / 4]) == 0;
	after = info_of(fd);
	check(right && after.faults >= before.faults + 8, "page faults are served and counted");
	munmap(area, 8 * PAGE);
	check(info_of(fd).shootdowns > after.shootdowns, "a munmap is a shootdown");
}

/* Writes the name of the driver's first function to one of the driver's files. */
static bool tell_driver(const char *driver, const char *file, char function[64])
{
	char path[256];
	struct dirent *entry;
	bool done = false;
	DIR *folder;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s", driver);
	folder = opendir(path);
	while (folder && !function[0] && (entry = readdir(folder))) {
		if (strchr(entry->d_name, ':'))
			snprintf(function, 64, "%.63s", entry->d_name);
	}
	if (folder)
		closedir(folder);
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/%s", driver, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		done = write(fd, function, strlen(function)) > 0;
		close(fd);
	}
	return done;
}

static void unbind(int fd, const char *driver)
{
	struct pollfd waits = { .fd = fd, .events = POLLPRI };
	struct maple_info info = { .size = sizeof(info) };
	char function[64] = "";
	void *mapped;

	check(tell_driver(driver, "unbind", function), "the function is taken from its driver");
	check(poll(&waits, 1, 0) == 1 && (waits.revents & (POLLERR | POLLHUP)) == (POLLERR | POLLHUP),
	      "poll says that the device is gone");
	check(ioctl(fd, MAPLE_IOCTL_INFO, &info) && errno == ENODEV, "and its calls say so");
	if (!sigsetjmp(at_fault, 1)) {
		load(MAPLE_LOAD_IDENTIFY);
		check(false, "a load is a SIGBUS");
	} else {
		check(true, "a load is a SIGBUS");
	}
	check(access(NODE, F_OK), "its node is gone");
	check(tell_driver(driver, "bind", function), "the driver takes it again");
	close(fd);
	munmap((void *)(uintptr_t)pages, PAGE);
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pages = mapped;
	check(mapped != MAP_FAILED && load(MAPLE_LOAD_IDENTIFY) == (uint32_t)info_of(fd).identify,
	      "a program that opens it has it again");
	close(fd);
}

int main(int argc, char **argv)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);
	void *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED || argc < 2) {
		perror(NODE);
		return 1;
	}
	pages = mapped;
	signal(SIGBUS, take_fault);
	ask(fd);
	load(MAPLE_LOAD_RESET);
	(void)*(volatile uint32_t *)(pages + MAPLE_OFFSET(MAPLE_LOAD_INIT, 7));
	load(MAPLE_LOAD_OPEN_PRODUCER);
	load(MAPLE_LOAD_OPEN_CONSUMER);
	bad_address(fd);
	page_faults(fd);
	unbind(fd, argv[1]);
	printf("1..%u\n", tests);
	return failures != 0;
}
