/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Generated inputs are made once, before the points: a large one takes seconds, and each data set has two dozen points and
 * more. Each is a file in the output's folder, which nothing changes while points read it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/figures/figures.h"
#include "tools/common/jobs.h"

#define WORDS_MAX 16

struct inputs {
	struct job *jobs;
	char **generators;	/* of each: its options, with blanks */
	char **paths;
	size_t count;
};

static bool is_of_generator(const char *word)
{
	return !strcmp(word, "--kronecker") || !strcmp(word, "--power-law") || !strcmp(word, "--uniform") ||
	       !strcmp(word, "--seed");
}

/* The generator's options and their values; "": the input is a file. NULL: no memory. */
static char *generator_of(char *const *arguments)
{
	char *text = strdup("");

	for (; text && *arguments; arguments++) {
		char *longer;

		if (!is_of_generator(*arguments) || !arguments[1])
			continue;
		longer = asprintf(&longer, "%s%s%s %s", text, *text ? " " : "", arguments[0], arguments[1]) < 0 ? NULL : longer;
		free(text);
		text = longer;
		arguments++;
	}
	return text;
}

static size_t find(const struct inputs *inputs, const char *generator)
{
	size_t number = 0;

	while (number < inputs->count && strcmp(inputs->generators[number], generator) != 0)
		number++;
	return number;
}

static int add(struct inputs *inputs, const struct runs *runs, char *const *arguments, char *generator)
{
	struct job *job = &inputs->jobs[inputs->count];
	char **command = calloc(WORDS_MAX, sizeof(*command));
	size_t count = 3;

	if (!command || asprintf(&command[0], "%s/sim/examples/maple/loops", runs->build) < 0 ||
	    asprintf(&command[2], "%s/inputs/%zu", runs->output, inputs->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	command[1] = (char *)"--save";
	for (; *arguments && count < WORDS_MAX - 2; arguments++) {
		if (!is_of_generator(*arguments) || !arguments[1])
			continue;
		command[count++] = *arguments++;
		command[count++] = *arguments;
	}
	job->arguments = command;
	inputs->paths[inputs->count] = command[2];
	inputs->generators[inputs->count++] = generator;
	return 0;
}

static int collect(struct inputs *inputs, const struct runs *runs)
{
	inputs->jobs = calloc(runs->set_count + 1, sizeof(*inputs->jobs));
	inputs->generators = calloc(runs->set_count + 1, sizeof(*inputs->generators));
	inputs->paths = calloc(runs->set_count + 1, sizeof(*inputs->paths));
	if (!inputs->jobs || !inputs->generators || !inputs->paths)
		return figures_error("%s", strerror(ENOMEM));
	for (size_t i = 0; i < runs->set_count; i++) {
		char *generator = generator_of(runs->sets[i].arguments);

		if (!generator)
			return figures_error("%s", strerror(ENOMEM));
		if (*generator && find(inputs, generator) == inputs->count) {
			if (add(inputs, runs, runs->sets[i].arguments, generator))
				return -1;
		}
	}
	return 0;
}

/* The file takes the place of the generator's options. Others that have the same list of arguments see it. */
static void use_file(char **arguments, const char *path)
{
	size_t count = 0;

	for (size_t i = 0; arguments[i]; i++) {
		if (is_of_generator(arguments[i]) && arguments[i + 1])
			i++;
		else
			arguments[count++] = arguments[i];
	}
	arguments[count] = (char *)path;
	arguments[count + 1] = NULL;
}

static void use_files(const struct inputs *inputs, struct runs *runs)
{
	for (size_t i = 0; i < runs->set_count; i++) {
		char *generator = generator_of(runs->sets[i].arguments);
		size_t number = generator ? find(inputs, generator) : inputs->count;

		free(generator);
		/* An input that was not saved is made by each of its points, which report the error. */
		if (number < inputs->count && inputs->jobs[number].status == 0)
			use_file(runs->sets[i].arguments, inputs->paths[number]);
	}
}

int inputs_save(struct runs *runs)
{
	struct inputs inputs = { 0 };
	int error;

	if (figures_folder(runs->output, "inputs") || collect(&inputs, runs))
		return -1;
	error = tool_jobs_run(inputs.jobs, inputs.count, runs->jobs, NULL, NULL);
	tool_jobs_pass_on_signal();
	if (error)
		return figures_error("%s", strerror(-error));
	use_files(&inputs, runs);
	runs->saved = inputs.paths;
	return 0;
}

void inputs_remove(const struct runs *runs)
{
	char *folder;

	for (char **path = runs->saved; path && *path; path++)
		unlink(*path);
	if (asprintf(&folder, "%s/inputs", runs->output) < 0)
		return;
	rmdir(folder);
	free(folder);
}
