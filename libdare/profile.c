/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Profile-guided choice of a form (section V-A1 of the paper: offline, by kernel and B). `mimic sim
 * --profile` writes the file (tools/sim/profile.c) from the calls of dare_profile_ran().
 */
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mimic/sim.h"

#define FIRST_LINE "mimic-profile 1"
#define ENVIRONMENT "MIMIC_DARE_PROFILE"
#define WORDS 3

static const char *const kernels[DARE_PROFILED] = { "spmm", "sddmm" };
static const char *const forms[] = { [DARE_BASELINE] = "baseline", [DARE_GSA] = "gsa" };

/* --- in virtual time ---------------------------------------------------------------- */

/* Symbols of libmimic-sim are there only in a program that is linked with it. */
uint64_t dare_profile_now(void)
{
	return mimic_sim_kernel ? mimic_sim_cycles() : 0;
}

void dare_profile_ran(enum dare_profiled kernel, enum dare_form form, const struct dare_blocks *blocks, size_t width,
		      uint64_t begin)
{
	if (mimic_sim_kernel)
		mimic_sim_kernel(kernels[kernel], blocks->block, forms[form], blocks->statistics.nonzeros * width,
				 mimic_sim_cycles() - begin);
}

/* --- a file ---------------------------------------------------------------------------- */

struct reader {
	FILE *file;
	const char *path;
	unsigned int line;
	bool has_begun;
	unsigned int lines[DARE_PROFILED][DARE_PROFILE_BLOCKS];	/* where each choice stands; 0: nowhere */
	uint8_t forms[DARE_PROFILED][DARE_PROFILE_BLOCKS];
};

/* By the power of two; -1: there is no such block size. */
static int block_number(const char *word)
{
	static const char *const sizes[DARE_PROFILE_BLOCKS] = { "1", "2", "4", "8", "16" };

	for (int i = 0; i < DARE_PROFILE_BLOCKS; i++)
		if (!strcmp(word, sizes[i]))
			return i;
	return -1;
}

static int kernel_number(const char *word)
{
	for (int i = 0; i < DARE_PROFILED; i++)
		if (!strcmp(word, kernels[i]))
			return i;
	return -1;
}

static int take_choice(struct reader *reader, char *const *words, unsigned int count)
{
	int kernel = kernel_number(words[0]), block;

	if (kernel < 0)
		return dare_fail(-EINVAL, "%s:%u: there is no kernel '%.64s': spmm or sddmm", reader->path,
				 reader->line, words[0]);
	if (count != WORDS)
		return dare_fail(-EINVAL, "%s:%u: it must be a kernel, a block size and a form", reader->path,
				 reader->line);
	block = block_number(words[1]);
	if (block < 0)
		return dare_fail(-EINVAL, "%s:%u: there is no block size '%.64s': 1, 2, 4, 8 or 16", reader->path,
				 reader->line, words[1]);
	if (strcmp(words[2], forms[DARE_BASELINE]) && strcmp(words[2], forms[DARE_GSA]))
		return dare_fail(-EINVAL, "%s:%u: there is no form '%.64s': baseline or gsa", reader->path, reader->line,
				 words[2]);
	if (reader->lines[kernel][block])
		return dare_fail(-EINVAL, "%s:%u: %s of block size %s stands in line %u already", reader->path,
				 reader->line, words[0], words[1], reader->lines[kernel][block]);
	reader->lines[kernel][block] = reader->line;
	reader->forms[kernel][block] = strcmp(words[2], forms[DARE_GSA]) ? DARE_BASELINE : DARE_GSA;
	return 0;
}

/* Text behind a '#' is for people. */
static int take_line(struct reader *reader, char *text)
{
	char *words[WORDS + 1], *rest = text;
	unsigned int count = 0;

	text[strcspn(text, "#\n")] = '\0';
	if (!reader->has_begun && (strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) ||
				   text[strlen(FIRST_LINE) + strspn(text + strlen(FIRST_LINE), " \t\r")]))
		return dare_fail(-EINVAL, "%s:%u: no profile: it must begin with '" FIRST_LINE "'", reader->path,
				 reader->line);
	if (!reader->has_begun) {
		reader->has_begun = true;
		return 0;
	}
	while (count <= WORDS && (words[count] = strtok_r(rest, " \t\r", &rest)))
		count++;
	return count ? take_choice(reader, words, count) : 0;
}

static int read_lines(struct reader *reader)
{
	char *text = NULL;
	size_t size = 0;
	int error = 0;

	while (!error && getline(&text, &size, reader->file) >= 0) {
		reader->line++;
		error = take_line(reader, text);
	}
	if (!error && ferror(reader->file))
		error = dare_fail(-errno, "%s: %s", reader->path, strerror(errno));
	free(text);
	if (!error && !reader->has_begun)
		return dare_fail(-EINVAL, "%s:1: no profile: the file is empty", reader->path);
	return error;
}

int dare_profile_read(struct dare *dare, const char *path)
{
	struct reader reader = { .path = path };
	int error;

	if (!dare || !path)
		return dare_fail(-EINVAL, "%s is NULL", dare ? "the profile's path" : "the handle");
	reader.file = fopen(path, "re");
	if (!reader.file)
		return dare_fail(-errno, "%s: %s", path, strerror(errno));
	error = read_lines(&reader);
	fclose(reader.file);
	if (!error)
		memcpy(dare->forms, reader.forms, sizeof(dare->forms));
	return error;
}

int dare_profile_from_environment(struct dare *dare)
{
	const char *path = secure_getenv(ENVIRONMENT);

	return path && *path ? dare_profile_read(dare, path) : 0;
}

enum dare_form dare_profile_form(const struct dare *dare, enum dare_profiled kernel, unsigned int block)
{
	return (enum dare_form)dare->forms[kernel][__builtin_ctz(block)];
}
