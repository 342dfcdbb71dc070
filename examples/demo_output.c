/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/demo_output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "examples/common/json.h"
#include "examples/demo_table.h"

#define FORMAT_VERSION 1

struct demo_output {
	struct json_object *root;
	struct json_object *runs;	/* in it */
};

/* --- fields common to all runs -------------------------------------------------------- */

static struct json_object *texts(char **arguments)
{
	struct json_object *array = json_object_new_array();

	for (; *arguments; arguments++)
		json_object_array_add(array, json_object_new_string(*arguments));
	return array;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Its name, as the kernel says it; "unknown". */
static void processor_name(char *name, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(name, size, "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !colon)
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
		break;
	}
	if (file)
		fclose(file);
}

static struct json_object *machine(void)
{
	struct json_object *object = json_object_new_object();
	struct utsname names = { 0 };
	struct sysinfo facts = { .mem_unit = 1 };
	char text[256];

	uname(&names);
	sysinfo(&facts);
	snprintf(text, sizeof(text), "%.60s %.60s, %.60s", names.sysname, names.release, names.machine);
	add_text(object, "system", text);
	processor_name(text, sizeof(text));
	add_text(object, "processor", text);
	add_u64(object, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	add_u64(object, "memory", (uint64_t)facts.totalram * facts.mem_unit);
	return object;
}

static void add_date(struct json_object *object)
{
	time_t now = time(NULL);
	struct tm parts;
	char text[32];

	gmtime_r(&now, &parts);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	add_text(object, "date", text);
}

struct demo_output *demo_output_new(int argc, char **argv)
{
	struct demo_output *output = calloc(1, sizeof(*output));

	if (!output)
		return NULL;
	output->root = json_object_new_object();
	output->runs = json_object_new_array();
	add_text(output->root, "format", "mimic-run");
	add_u64(output->root, "version", FORMAT_VERSION);
	add_text(output->root, "mimic", MIMIC_VERSION);
	add_date(output->root);
	json_object_object_add(output->root, "machine", machine());
	add_text(output->root, "program", last_part(argv[0]));
	json_object_object_add(output->root, "arguments", texts(argc > 1 ? argv + 1 : argv + argc));
	json_object_object_add(output->root, "runs", output->runs);
	return output;
}

void demo_output_free(struct demo_output *output)
{
	if (!output)
		return;
	json_object_put(output->root);
	free(output);
}

/* --- runs ----------------------------------------------------------------------------------- */

/* The reference that each result was compared with: docs/examples.md. */
static const char *verification(const char *kind, const char *kernel)
{
	if (strcmp(kernel, "bfs") == 0)
		return "the rules of Graph500 for breadth-first trees";
	if (strcmp(kernel, "gemm_swish") == 0)
		return "a plain loop bit for bit, and Swish in double precision";
	if (strcmp(kind, "maple") == 0)
		return "a plain loop bit for bit, and sums in extended precision";
	return "a plain loop, bit for bit";
}

/* The report's own description, else the matrix. */
static void add_size(struct json_object *run, struct json_object *report)
{
	const char *description = demo_text(report, "description");
	char text[128];

	snprintf(text, sizeof(text), "%" PRIu64 " by %" PRIu64 ", %" PRIu64 " non-zeros", demo_number(report, "rows"),
		 demo_number(report, "columns"), demo_number(report, "nonzeros"));
	add_text(run, "size", *description ? description : text);
}

/* Of a form, some programs have several: by block size, or by type. */
static void add_variant(struct json_object *run, struct json_object *from)
{
	char text[32];

	if (demo_number(from, "block")) {
		snprintf(text, sizeof(text), "B=%" PRIu64, demo_number(from, "block"));
		add_text(run, "variant", text);
	} else if (*demo_text(from, "type")) {
		add_text(run, "variant", demo_text(from, "type"));
	}
}

static void add_work(struct json_object *run, struct json_object *report, struct json_object *from)
{
	struct json_object *work = json_object_new_object();
	bool has_macs = json_object_object_get_ex(from, "macs", NULL);

	add_u64(work, "amount", demo_number(from, has_macs ? "macs" : "elements"));
	add_text(work, "unit", has_macs ? "MACs" : demo_text(report, "unit"));
	json_object_object_add(run, "work", work);
}

static void add_copy(struct json_object *run, struct json_object *from, const char *key)
{
	struct json_object *value;

	if (json_object_object_get_ex(from, key, &value))
		json_object_object_add(run, key, json_object_get(value));
}

static struct json_object *make_run(const char *kind, char **arguments, struct json_object *report,
				    struct json_object *from)
{
	struct json_object *run = json_object_new_object();
	const char *kernel = demo_text(report, "kernel");

	add_text(run, "program", last_part(arguments[0]));
	json_object_object_add(run, "arguments", texts(arguments + 1));
	add_text(run, "kind", kind);
	add_copy(run, from, "device");
	add_text(run, "kernel", kernel);
	add_text(run, "form", demo_text(from, "form"));
	add_variant(run, from);
	add_text(run, "transport", demo_text(from, "transport"));
	add_text(run, "input", demo_text(report, "input"));
	add_size(run, report);
	add_copy(run, from, "verified");
	add_text(run, "against", verification(kind, kernel));
	add_copy(run, from, "error");
	add_copy(run, from, "seconds");
	add_work(run, report, from);
	add_copy(run, from, "counters");
	return run;
}

void demo_output_add(struct demo_output *output, const char *kind, char **arguments,
		     struct json_object *report, struct json_object *samples)
{
	struct json_object *list = NULL, *run = NULL;

	if (!json_object_object_get_ex(report, "runs", &list) && !json_object_object_get_ex(report, "forms", &list))
		list = NULL;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		run = make_run(kind, arguments, report, json_object_array_get_idx(list, i));
		json_object_array_add(output->runs, run);
	}
	if (samples && run)
		json_object_object_add(run, "samples", samples);
	else
		json_object_put(samples);
}

static int write_file(const struct demo_output *output, const char *path)
{
	int flags = JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
	FILE *file = fopen(path, "we");
	bool failed;

	if (!file)
		return -errno;
	fputs(json_object_to_json_string_ext(output->root, flags), file);
	fputc('\n', file);
	failed = ferror(file);
	return fclose(file) || failed ? -EIO : 0;
}

int demo_output_write(struct demo_output *output, const char *path, double seconds)
{
	char temporary[4096];
	struct stat status;
	int error;

	if (!json_object_array_length(output->runs))
		return 0;
	if (snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid()) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	add_real(output->root, "seconds", seconds);
	/* A device, a pipe or a link is not taken away. */
	if (!lstat(path, &status) && !S_ISREG(status.st_mode))
		return write_file(output, path);
	error = write_file(output, temporary);
	if (!error && rename(temporary, path))
		error = -errno;
	if (error)
		unlink(temporary);
	return error;
}
