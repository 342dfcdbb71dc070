/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The program of docs/run.md that waits for itself: it stores 40 values in a queue of 32 words, and takes none. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

int main(void)
{
	volatile uint64_t *maple = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/maple0", O_RDWR), 0);

	(void)(maple[2 << 6], maple[2], maple[3]);
	for (int i = 0; i < 40; i++)
		maple[8] = i;
	return 0;
}
