/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The device touches pages that are not there yet: page fault, interrupt, the
 * driver's handler, resolve, another walk. From the pointer to the value.
 */
#include <string.h>
#include <sys/mman.h>

#include "bench/kernel/kernel.h"
#include "libmaple/maple.h"

#define PAGES 512
#define PAGE 4096

static double time_touch(struct maple *maple, const char *page)
{
	double start = bench_now();
	uint64_t value;

	if (maple_produce_ptr64(maple, 0, page, MAPLE_DRAM) || maple_consume64(maple, 0, &value))
		bench_fail("produce_ptr or consume failed: %s", maple_error_text());
	start = bench_now() - start;
	if (value)
		bench_fail("a page that nobody has written is not 0");
	return start * 1e9;
}

void bench_kernel_first_touch(const struct bench_traps *traps)
{
	struct bench_row row = { .name = "first_touch_of_a_page", .unit = "ns",
				 .reference = "round trip to a daemon on the same CPU" };
	struct maple_options how = { .transport = "kernel" };
	double first[PAGES], again[PAGES];
	struct maple *maple;
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE))
		bench_fail("no memory");
	if (maple_init(&maple, &how) || maple_open(maple, 0, MAPLE_PRODUCER) ||
	    maple_open(maple, 0, MAPLE_CONSUMER))
		bench_fail("maple_init on kernel: %s", maple_error_text());
	for (int i = 0; i < PAGES; i++) {
		first[i] = time_touch(maple, pages + i * PAGE);
		again[i] = time_touch(maple, pages + i * PAGE);
	}
	maple_fini(maple);
	munmap(pages, PAGES * PAGE);

	row.value = bench_median(first, PAGES) - bench_median(again, PAGES);
	row.reference_value = traps->same_cpu;
	row.limit = 3 * traps->same_cpu;
	bench_report(&row);
}
