/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic report: a page of HTML of what ran. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/report/report.h"
#include "tools/common/tools.h"

#define SIZE_MOST (256ull << 20)

static const char usage[] =
	"Usage: mimic report [OPTION...] RUN.JSON\n\n"
	"Makes a page of HTML of what ran: the verification, forms compared, counters, queues and\n"
	"TLBs over time. It needs no other file and no network. RUN.JSON is what mimic-demo --output\n"
	"writes, or another program (docs/report.md); '-' is standard input.\n\n"
	"  -o, --output FILE  where to write it (default: RUN.JSON's name with .html); '-' is\n"
	"                     standard output\n"
	"  --help             this text\n\n"
	"Exit status: 0; 1: it cannot be written; 2: bad options, bad input.\n";

/* A mistake of strangers: without control characters, which would reach the terminal. */
static int complain(const char *message)
{
	fputs("mimic: report: ", stderr);
	tool_show_clean(stderr, message);
	fputc('\n', stderr);
	return EXIT_BAD_INPUT;
}

/* All of it, with a NUL behind. NULL with errno; EFBIG: too large. */
static char *read_all(FILE *file, size_t *size)
{
	size_t room = 1 << 16;
	char *text = malloc(room);

	*size = 0;
	while (text) {
		*size += fread(text + *size, 1, room - *size - 1, file);
		if (*size + 1 < room)
			break;
		char *larger = room < SIZE_MOST ? realloc(text, room *= 2) : NULL;

		if (!larger) {
			errno = room < SIZE_MOST ? ENOMEM : EFBIG;
			free(text);
		}
		text = larger;
	}
	if (!text)
		return NULL;
	text[*size] = '\0';
	if (!ferror(file))
		return text;
	free(text);
	return NULL;
}

static struct report *read_report(const char *input, int *status)
{
	bool is_standard = strcmp(input, "-") == 0;
	const char *name = is_standard ? "standard input" : input;
	FILE *file = is_standard ? stdin : fopen(input, "re");
	char message[REPORT_MESSAGE_SIZE] = "";
	struct report *report = NULL;
	char *text = NULL;
	size_t size;

	if (file)
		text = read_all(file, &size);
	if (!text) {
		snprintf(message, sizeof(message), "%.200s: %s", name, strerror(errno));
	} else {
		report = report_read(name, text, size, message);
		free(text);
	}
	if (file && !is_standard)
		fclose(file);
	*status = report ? EXIT_SUCCESS : complain(message);
	return report;
}

/* -errno. */
static int finish(FILE *out)
{
	int error = fflush(out) || ferror(out) ? -EIO : 0;

	if (out != stdout && fclose(out))
		error = -EIO;
	return error;
}

static int write_into(const struct report *report, const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return -errno;
	report_page(out, report);
	return finish(out);
}

/* A reader of the file finds the old page or the new one, never a part. */
static int replace_file(const struct report *report, const char *path)
{
	size_t size = strlen(path) + sizeof(".XXXXXX");
	char *temporary = malloc(size);
	mode_t mask = umask(0);
	int descriptor = -1, error = -ENOMEM;
	FILE *out = NULL;

	umask(mask);
	if (temporary) {
		snprintf(temporary, size, "%s.XXXXXX", path);
		descriptor = mkstemp(temporary);
		error = -errno;
	}
	if (descriptor >= 0) {
		out = fdopen(descriptor, "w");
		error = -errno;
	}
	if (out) {
		fchmod(descriptor, 0666 & ~mask);
		report_page(out, report);
		error = finish(out);
		if (!error && rename(temporary, path))
			error = -errno;
	} else if (descriptor >= 0) {
		close(descriptor);
	}
	if (descriptor >= 0 && error)
		unlink(temporary);
	free(temporary);
	return error;
}

/* A link stays one. What is no regular file, such as a device or a pipe, is not taken away. */
static int write_file(const struct report *report, const char *path)
{
	struct stat status;
	char *target;
	int error;

	if (lstat(path, &status))
		return replace_file(report, path);
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return write_into(report, path);
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	error = replace_file(report, target);
	free(target);
	return error;
}

/* "run.json" becomes "run.html". NULL: no memory. */
static char *default_output(const char *input)
{
	size_t length = strlen(input);
	char *output = malloc(length + sizeof(".html"));

	if (!output)
		return NULL;
	if (length > 5 && strcmp(input + length - 5, ".json") == 0)
		length -= 5;
	memcpy(output, input, length);
	strcpy(output + length, ".html");
	return output;
}

static int write_report(const struct report *report, const char *output)
{
	int error;

	if (strcmp(output, "-") == 0) {
		report_page(stdout, report);
		error = finish(stdout);
	} else {
		error = write_file(report, output);
	}
	if (!error)
		return EXIT_SUCCESS;
	return tool_error(EXIT_FAILURE, "report: cannot write %s: %s", output, strerror(-error));
}

int tool_report(int argc, char **argv)
{
	const char *output = NULL;
	const struct tool_option list[] = { { .name = "output", .value = &output, .letter = 'o' } };
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));
	char *own_output = NULL;
	struct report *report;

	if (!status)
		status = tool_words(argc, argv, 1, 1);
	if (status)
		return status;
	if (!output && strcmp(argv[optind], "-") == 0)
		output = "-";
	if (!output)
		output = own_output = default_output(argv[optind]);
	if (!output)
		return tool_error(EXIT_FAILURE, "report: out of memory");
	report = read_report(argv[optind], &status);
	if (report)
		status = write_report(report, output);
	report_free(report);
	free(own_output);
	return status;
}
