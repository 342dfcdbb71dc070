/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Small real recordings: a program of each library, in a process of its own. */
#ifndef TESTS_RECORDINGS_H
#define TESTS_RECORDINGS_H

#include <stddef.h>

enum recorded_program { RECORDED_MAPLE, RECORDED_DARE, RECORDED_VIRGO, RECORDED_ALL, RECORDED_COUNT };

struct recording {
	char path[64];
	unsigned char *bytes;
	size_t size;
};

/* Fails the test if the program does. */
void recording_make(struct recording *recording, enum recorded_program program);
void recording_free(struct recording *recording);

/* A file of memory with these bytes; its path, and the descriptor to close. */
int recording_file(const void *bytes, size_t size, char *path, size_t path_size);

/* The offset of block `number`'s header; the file's size if there are not so many. */
size_t recording_block(const unsigned char *bytes, size_t size, unsigned int number);
/* All checksums of blocks that can be found are right again. */
void recording_mend(unsigned char *bytes, size_t size);

#endif
