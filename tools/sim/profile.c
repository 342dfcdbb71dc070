/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic sim --profile: which form of a kernel takes fewest cycles for its work, by kernel and block
 * size. Libraries read it: of each kernel and block size the form is the first word behind them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/sim/sim.h"

static double cycles_of_unit(const struct sim_kernel *kernel)
{
	return (double)kernel->cycles / (double)kernel->units;
}

static int by_kernel(const void *one, const void *other)
{
	const struct sim_kernel *a = one, *b = other;
	int names = strcmp(a->name, b->name);

	if (names)
		return names;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return strcmp(a->form, b->form);
}

static bool is_same(const struct sim_kernel *a, const struct sim_kernel *b)
{
	return !strcmp(a->name, b->name) && a->block == b->block;
}

/* `count` forms of one kernel and block size. */
static void write_choice(FILE *file, const struct sim_kernel *forms, uint32_t count)
{
	const struct sim_kernel *best = forms;

	for (uint32_t i = 1; i < count; i++)
		if (cycles_of_unit(&forms[i]) < cycles_of_unit(best))
			best = &forms[i];
	fprintf(file, "%s %llu %s\t#", best->name, (unsigned long long)best->block, best->form);
	for (uint32_t i = 0; i < count; i++)
		fprintf(file, "%s %s %.3f (%llu run%s)", i ? "," : "", forms[i].form, cycles_of_unit(&forms[i]),
			(unsigned long long)forms[i].times, forms[i].times == 1 ? "" : "s");
	fputc('\n', file);
}

/* How many choices there were. */
static uint32_t write_choices(FILE *file, const struct sim_kernel *kernels, uint32_t count)
{
	uint32_t choices = 0;

	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && is_same(&kernels[first], &kernels[end]); )
			end++;
		if (end - first > 1) {
			write_choice(file, &kernels[first], end - first);
			choices++;
			continue;
		}
		tool_error(0, "sim: the profile has no choice for %s of block size %llu: only the form %s ran",
			   kernels[first].name, (unsigned long long)kernels[first].block, kernels[first].form);
	}
	return choices;
}

FILE *tool_sim_profile_open(const char *path)
{
	return fopen(path, "ae");
}

/* Replaces the file's contents only now; a pipe has none. Closes the file. */
static int put(FILE *file, const char *text, size_t size)
{
	int error = ftruncate(fileno(file), 0) && errno != EINVAL ? errno : 0;

	errno = 0;
	if (!error && fwrite(text, 1, size, file) != size)
		error = errno ? errno : EIO;
	if (fclose(file) && !error)
		error = errno;
	return error;
}

/* A file that was made for the profile does not stay empty. */
static void give_up(FILE *file, const char *path)
{
	struct stat now;

	if (!fstat(fileno(file), &now) && S_ISREG(now.st_mode) && !now.st_size)
		unlink(path);
	fclose(file);
}

/* The choices as text, for the caller to free. NULL: there is no memory. */
static char *text_of(const struct sim_kernel *kernels, uint32_t count, const char *program, const char *soc,
		     size_t *size, uint32_t *choices)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, size);

	if (!file)
		return NULL;
	fprintf(file, "mimic-profile 1\n# mimic sim --profile of %s on %s: kernel, block size, the faster form; cycles of a unit of work\n",
		program, soc);
	*choices = write_choices(file, kernels, count);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

int tool_sim_profile_write(FILE *file, const char *path, const char *program, const char *soc, const struct sim_setup *setup)
{
	static struct sim_kernel kernels[SIM_KERNELS];
	uint32_t count = setup->kernel_count < SIM_KERNELS ? setup->kernel_count : SIM_KERNELS;
	uint32_t choices = 0;
	size_t size = 0;
	char *text;
	int error;

	/* The program may write anything into the file that we share. */
	memcpy(kernels, setup->kernels, count * sizeof(*kernels));
	for (uint32_t i = 0; i < count; i++)
		kernels[i].name[SIM_KERNEL_NAME - 1] = kernels[i].form[SIM_KERNEL_NAME - 1] = '\0';
	qsort(kernels, count, sizeof(*kernels), by_kernel);
	text = text_of(kernels, count, program, soc, &size, &choices);
	if (!text || !choices) {
		give_up(file, path);
		free(text);
		return text ? tool_error(EXIT_FAILURE, "sim: %s has no choice: no kernel of a library ran in two forms", path) :
			      tool_error(EXIT_FAILURE, "%s: %s", path, strerror(ENOMEM));
	}
	error = put(file, text, size);
	free(text);
	return error ? tool_error(EXIT_FAILURE, "%s: %s", path, strerror(error)) : 0;
}
