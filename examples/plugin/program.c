/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A program for the device: no library, only its node. program [TEXT] */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "checksum_registers.h"

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "hello";
	int node = open("/dev/checksum0", O_RDWR);
	volatile uint64_t *device;

	if (node < 0) {
		perror("/dev/checksum0");
		return 1;
	}
	device = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, node, 0);
	if (device == MAP_FAILED || device[CHECKSUM_IDENTIFY / 8] != CHECKSUM_MAGIC) {
		fputs("/dev/checksum0: not the device that was looked for\n", stderr);
		return 1;
	}
	device[CHECKSUM_ADDRESS / 8] = (uintptr_t)text;
	device[CHECKSUM_LENGTH / 8] = strlen(text);
	if (device[CHECKSUM_STATUS / 8])
		return 1;
	printf("%llu\n", (unsigned long long)device[CHECKSUM_SUM / 8]);
	return 0;
}
