/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Loads the first register of PCI functions one after the other, each load a trap, until all of them read as all ones.
 *
 *	try_unserved FILE...	the functions' resource0 in sysfs
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTIONS_MAX 8

static const volatile uint64_t *registers[FUNCTIONS_MAX];

static const volatile uint64_t *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *mapped = MAP_FAILED;

	if (fd >= 0) {
		mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	if (mapped == MAP_FAILED) {
		perror(path);
		return NULL;
	}
	return mapped;
}

/* How many of them are served. */
static int load_all(int count)
{
	int served = 0;

	for (int i = 0; i < count; i++)
		served += *registers[i] != UINT64_MAX;
	return served;
}

int main(int argc, char **argv)
{
	int count = argc - 1;
	unsigned long loads = 0;

	if (count < 1 || count > FUNCTIONS_MAX)
		return 2;
	for (int i = 0; i < count; i++) {
		registers[i] = map(argv[1 + i]);
		if (!registers[i])
			return 2;
	}
	if (load_all(count) != count) {
		fprintf(stderr, "a function is not served from the beginning\n");
		return 2;
	}
	while (load_all(count))
		loads++;
	printf("%lu loads of each\n", loads);
	return 0;
}
