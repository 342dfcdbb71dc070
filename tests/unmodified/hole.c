/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The place of memory that the program has unmapped stays empty while two hundred instructions trap for the first time. */
#include "contract.h"

#include <errno.h>

#define HOLE_PAGES 1024u

/* The instructions are of the program itself, far away from what the system maps. */
static void load_often(const volatile char *word)
{
	__asm__ volatile(".rept 200\n\tmov (%0), %%eax\n\tadd %%eax, %%ecx\n\t.endr" : : "r"(word) : "eax", "ecx", "memory");
}

int main(void)
{
	int file = open_or_die("/dev/maple0");
	const volatile char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	char *hole = mmap(NULL, HOLE_PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED && hole != MAP_FAILED);
	/* Memory that mimic maps once is there. */
	(void)load32((volatile char *)page, DEBUG, 0);
	CHECK(munmap(hole, HOLE_PAGES * PAGE) == 0);
	load_often(page + (DEBUG << 3));
	for (unsigned int i = 0; i < HOLE_PAGES; i++)
		CHECK(msync(hole + (size_t)i * PAGE, PAGE, MS_ASYNC) == -1 && errno == ENOMEM);
	return 0;
}
