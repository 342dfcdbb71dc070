// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A program of mimic run that adds to a register of MAPLE, in one step or, with an argument, in two. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int device = open("/dev/maple0", O_RDWR);
	volatile uint64_t *registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);

	(void)argv;
	if (registers == MAP_FAILED) {
		perror("/dev/maple0");
		return 1;
	}
	if (argc > 1)
		registers[0] = registers[0] + 1;
	else
		__atomic_fetch_add(registers, 1, __ATOMIC_SEQ_CST);
	return 0;
}
