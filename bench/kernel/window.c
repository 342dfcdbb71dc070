/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads through the window onto another process's memory, beside plain loads. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/kernel/kernel.h"
#include "tests/kselftest/lib/fake_daemon.h"

#define BYTES (1u << 20)
#define WORDS (BYTES / sizeof(uint64_t))
#define STEP 9		/* words: another line each time, the pages in order */

struct measured {
	const volatile uint64_t *words;
	double window, plain;
};

static void walk(void *context)
{
	const volatile uint64_t *words = context;
	uint64_t sum = 0;

	for (size_t i = 0; i < WORDS; i += STEP)
		sum += words[i];
	(void)sum;
}

static double per_load(const volatile uint64_t *words)
{
	return bench_windows(walk, (void *)(uintptr_t)words, 1) / (WORDS / STEP);
}

/* In the daemon's process. */
static long measure(struct fake_self *self, void *argument)
{
	struct measured *measured = argument;
	uint32_t binding = (uint32_t)self->control->open_binding;
	uint64_t *window = fake_self_window(self, binding, (uintptr_t)measured->words, BYTES);
	uint64_t *plain = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (window == MAP_FAILED || plain == MAP_FAILED)
		return -errno;
	memset(plain, 1, BYTES);
	walk(window);
	measured->plain = per_load(plain);
	measured->window = per_load(window);
	return 0;
}

void bench_kernel_window(void)
{
	const struct fake_options options = { .channel = FAKE_READ_WRITE, .index = 8 };
	struct bench_row row = { .name = "window_warm_access", .unit = "ns/load",
				 .reference = "the same loads of memory of its own" };
	struct fake_daemon *daemon = fake_daemon_start(&options);
	struct measured measured = { 0 };
	void *words;
	int fd;

	if (!daemon)
		bench_fail("no second daemon: %s", strerror(errno));
	/* No large pages: the window has none, and this is not about those. */
	words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED || (fd = open(daemon->node, O_RDWR | O_CLOEXEC)) < 0)
		bench_fail("%s: %s", daemon->node, strerror(errno));
	memset(words, 1, BYTES);
	measured.words = words;
	if (fake_daemon_call(daemon, measure, &measured, sizeof(measured)))
		bench_fail("the window cannot be measured");
	close(fd);
	fake_daemon_stop(daemon);
	munmap(words, BYTES);

	row.value = measured.window;
	row.reference_value = measured.plain;
	row.limit = 1.2 * measured.plain;
	bench_report(&row);
}
