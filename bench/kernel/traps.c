/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A trapped load: the bus alone, a daemon that spins, a daemon that has to be scheduled. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/kernel/kernel.h"
#include "mimic/maple_registers.h"

#define LOADS 50

static void load_once(void *context)
{
	(void)*(const volatile uint64_t *)context;
}

static double time_loads(char *pages, unsigned int page)
{
	return bench_windows(load_once, pages + page * 4096 + MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), LOADS);
}

static void pin_daemon(pid_t daemon, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(daemon, sizeof(set), &set))
		bench_fail("the daemon cannot be bound to a CPU: %s", strerror(errno));
}

void bench_kernel_traps(pid_t daemon, struct bench_traps *traps)
{
	struct bench_row row = { .name = "trapped_load_kernel", .unit = "ns",
				 .reference = "load of an inert page, answered by the bus" };
	int fd = open("/dev/maple0", O_RDWR | O_CLOEXEC);
	char *pages;

	if (fd < 0)
		bench_fail("/dev/maple0: %s", strerror(errno));
	pages = mmap(NULL, MAPLE_PAGE_COUNT * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED)
		bench_fail("mmap of /dev/maple0: %s", strerror(errno));
	bench_pin(0);
	pin_daemon(daemon, 0);
	traps->same_cpu = time_loads(pages, MAPLE_PAGE_MAPLE);
	pin_daemon(daemon, 1);
	traps->in_kernel = time_loads(pages, MAPLE_PAGE_NIBBLER);
	traps->spinning = time_loads(pages, MAPLE_PAGE_MAPLE);
	munmap(pages, MAPLE_PAGE_COUNT * 4096);
	close(fd);

	row.value = traps->spinning;
	row.reference_value = traps->in_kernel;
	row.limit = 2 * traps->in_kernel;
	bench_report(&row);
	strcpy(row.name, "trapped_load_kernel_same_cpu");
	row.value = traps->same_cpu;
	row.limit = 0;
	bench_report(&row);
}
