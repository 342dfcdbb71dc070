/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that writes over the files that it shares with `mimic sim`: "fill BYTE", into all of each; "cut",
 * makes them empty, and prints the result. A child does it: libmimic-sim in the program itself would not
 * survive it. Then the program ends without a word to libmimic-sim.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the command, which is this process: those that it keeps in memory. */
static int next_file(pid_t command, unsigned int *number)
{
	char path[64], link[64];
	ssize_t length;

	for (; *number < 64; ++*number) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)command, *number);
		length = readlink(path, link, sizeof(link) - 1);
		if (length > 0 && !strncmp(link, "/memfd:mimic-sim", 16)) {
			++*number;
			return open(path, O_RDWR);
		}
	}
	return -1;
}

/* Only the parts of the file that hold data. */
static void fill(int file, int byte)
{
	static char bytes[65536];
	off_t at = 0, end;

	memset(bytes, byte, sizeof(bytes));
	while ((at = lseek(file, at, SEEK_DATA)) >= 0) {
		for (end = lseek(file, at, SEEK_HOLE); at < end; ) {
			size_t size = end - at < (off_t)sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);

			if (pwrite(file, bytes, size, at) < 0)
				exit(3);
			at += (off_t)size;
		}
	}
}

static void scribble(pid_t command, int argc, char **argv)
{
	unsigned int number = 0, files = 0;
	int file;

	for (; (file = next_file(command, &number)) >= 0; files++) {
		if (argc > 2)
			fill(file, atoi(argv[2]));
		else
			printf("%s\n", ftruncate(file, 0) ? strerrorname_np(errno) : "cut");
	}
	if (argc > 2)
		printf("%u\n", files);
	fflush(stdout);
	_exit(0);
}

__attribute__((no_sanitize("thread")))
int main(int argc, char **argv)
{
	pid_t command = getppid(), child;

	if (argc < 2)
		return 3;
	child = fork();
	if (!child)
		scribble(command, argc, argv);
	_exit(child < 0 || waitpid(child, NULL, 0) != child);
}
