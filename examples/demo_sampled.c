/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/demo_sampled.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "examples/demo_process.h"
#include "examples/demo_sampler.h"
#include "libmimic/embedded/state_socket.h"

#define SEED "1"
#define ROOTS "8"	/* searches of bfs */
#define WORDS_MAX 24

/* One form of each kind of work. NULL ends the words that are its own. */
static const struct case_ {
	const char *kind;
	const char *kernel;
	const char *form;
	const char *transport;
	const char *words[5];
} cases[] = {
	{ "maple", "spmv", "decoupled", "daemon", { "--register", "--threads", "2+2" } },
	{ "maple", "spmv", "lima", "daemon", { "--register" } },
	{ "maple", "spmv", "lima", "embedded", { "--register" } },
	{ "maple", "bfs", "lima", "embedded", { "--register", "--roots", ROOTS } },
	{ "dare", "spmm", "gsa", "embedded", { "--block", "1" } },
	{ "dare", "gemm", "baseline", "daemon", { "--type", "fp32" } },
	{ "virgo", "gemm", "dma", "daemon", { "--type", "fp32" } },
	{ "virgo", "gemm_two_units", "parallel", "embedded", { "--type", "fp32" } },
};

#define CASE_COUNT (sizeof(cases) / sizeof(cases[0]))

static bool is(const char *text, const char *wanted)
{
	return strcmp(text, wanted) == 0;
}

static size_t add(const char **words, size_t count, const char *option, const char *value)
{
	words[count++] = option;
	if (value)
		words[count++] = value;
	return count;
}

/* Its work: the input, or its substitute. */
static size_t add_work(const struct demo_sampled *sampled, const struct case_ *case_, const char **words, size_t count)
{
	bool is_dense = strncmp(case_->kernel, "gemm", 4) == 0;

	if (is(case_->kernel, "gemm_two_units"))
		count = add(words, count, "--second", sampled->second);
	if (is_dense)
		return add(words, count, "--size", sampled->dense);
	if (sampled->input)
		return add(words, count, "--", sampled->input);
	if (is(case_->kind, "maple"))
		return add(words, count, "--kronecker", sampled->scale);
	return add(words, count, "--uniform", sampled->sparse);
}

static void make_words(const struct demo_sampled *sampled, const struct case_ *case_, const char *device,
		       const char **words)
{
	size_t count = 1;

	words[count++] = "--json";
	count = add(words, count, "--seed", SEED);
	count = add(words, count, "--transport", case_->transport);
	if (is(case_->transport, "daemon"))
		count = add(words, count, "--socket", sampled->socket_path);
	count = add(words, count, "--device", device);
	count = add(words, count, "--form", case_->form);
	for (size_t i = 0; case_->words[i]; i++)
		words[count++] = case_->words[i];
	count = add_work(sampled, case_, words, count);
	words[count] = NULL;
}

static bool all_verified(struct json_object *report)
{
	struct json_object *runs = NULL, *verified;

	if (!json_object_object_get_ex(report, "runs", &runs))
		json_object_object_get_ex(report, "forms", &runs);
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		if (!json_object_object_get_ex(json_object_array_get_idx(runs, i), "verified", &verified) ||
		    !json_object_get_boolean(verified))
			return false;
	}
	return json_object_array_length(runs) > 0;
}

/* The process whose devices are sampled, when it is known: the daemon, or the program. */
struct look {
	const struct case_ *case_;
	const char *socket_path;
	char device[16];
	struct demo_sampler *sampler;
};

static void begin_look(void *context, pid_t child)
{
	struct look *look = context;
	char path[108];

	if (is(look->case_->transport, "daemon"))
		look->sampler = demo_sampler_start(look->socket_path, look->device);
	else if (!mimic_embedded_socket_path(child, path, sizeof(path)))
		look->sampler = demo_sampler_start(path, look->device);
}

/* Whether it ended well. */
static bool run_case(const struct demo_sampled *sampled, const struct case_ *case_, struct demo_output *output)
{
	const char *words[WORDS_MAX] = { NULL };
	struct look look = { .case_ = case_, .socket_path = sampled->socket_path };
	struct json_object *report, *samples = NULL;
	char path[PATH_MAX + 64];
	int status = 0;
	bool is_right;

	snprintf(path, sizeof(path), "%s/examples/%s/%s", sampled->build, case_->kind, case_->kernel);
	snprintf(look.device, sizeof(look.device), "%s0", case_->kind);
	words[0] = path;
	make_words(sampled, case_, look.device, words);
	report = demo_run_program((char **)words, &status, begin_look, &look);
	if (look.sampler)
		samples = demo_sampler_stop(look.sampler);
	if (!report) {
		json_object_put(samples);
		return false;
	}
	is_right = all_verified(report) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	/* One that nothing was seen of would only stand in the way of those of the tables. */
	if (samples || !is_right)
		demo_output_add(output, case_->kind, (char **)words, report, samples);
	json_object_put(report);
	return is_right || demo_complain("%s, %s, looked at: wrong", case_->kernel, case_->form) == 0;
}

static bool is_wanted(const struct demo_sampled *sampled, const struct case_ *case_)
{
	/* No graph, so no search. */
	if (sampled->input && is(case_->kernel, "bfs"))
		return false;
	return is(case_->transport, "daemon") ? sampled->socket_path != NULL : sampled->embedded;
}

unsigned int demo_sampled_run(const struct demo_sampled *sampled, struct demo_output *output)
{
	unsigned int failures = 0;

	/* Where programs with embedded devices show them. */
	setenv("MIMIC_STATE", sampled->directory, 1);
	for (size_t i = 0; i < CASE_COUNT && !demo_interrupted; i++) {
		if (is_wanted(sampled, &cases[i]))
			failures += !run_case(sampled, &cases[i], output);
	}
	return failures;
}
