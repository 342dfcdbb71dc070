/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/recovery/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 64	/* bytes of a line; the sum is of all */

long walk_check(long result, const char *call, const char *reason)
{
	if (result >= 0)
		return result;
	fprintf(stderr, "walk: %s: %s (%s)\n", call, strerror((int)-result), reason);
	fflush(stdout);
	_Exit(EXIT_FAILURE);
}

void walk_print(const char *name, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	uint64_t sum = 0xcbf29ce484222325ull;

	printf("%s:", name);
	for (size_t i = 0; i < size; i++) {
		sum = (sum ^ byte[i]) * 0x100000001b3ull;
		if (i < SHOWN)
			printf(" %02x", byte[i]);
	}
	printf(" (%zu bytes, sum %016llx)\n", size, (unsigned long long)sum);
}

void walk_fill(void *memory, size_t size, uint32_t seed)
{
	unsigned char *byte = memory;
	uint32_t state = seed * 2654435761u + 1;

	for (size_t i = 0; i < size; i++) {
		state = state * 1664525u + 1013904223u;
		byte[i] = (unsigned char)(state >> 24);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*walk)(void);
	} parts[] = { { "maple", walk_maple }, { "dare", walk_dare }, { "virgo", walk_virgo } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc < 2 || !strcmp(argv[1], parts[i].name))
			parts[i].walk();
	}
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
