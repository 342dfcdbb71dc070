/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The reader's program, which pages call ./program: it opens /dev/maple0 and knows nothing of mimic. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int main(void)
{
	volatile uint64_t *maple = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/maple0", O_RDWR), 0);

	(void)(maple[0], maple[2], maple[3]);	/* INIT; the roles of queue 0 */
	maple[8] = 42;				/* PRODUCE */
	printf("%d\n", *(volatile int *)&maple[7]);	/* CONSUME */
	return 0;
}
