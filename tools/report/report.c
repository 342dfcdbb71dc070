/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic report: a page of HTML about a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/report/report.h"
#include "tools/common/tools.h"

#define SIZE_MOST (256ull << 20)

static const char usage[] =
	"Usage: mimic report [OPTION...] RUN.JSON|SIM.JSON|SWEEP.CSV\n\n"
	"Makes a page of HTML about a run: the verification, forms compared, counters, queues and\n"
	"TLBs over time. It needs no other file and no network. RUN.JSON is the file of mimic-demo\n"
	"--output, or another program's (docs/report.md); '-' is standard input. Of a report of mimic sim\n"
	"--json, and of the CSV of mimic sweep, it shows the causes of each phase's cycles.\n\n"
	"  -o, --output FILE  where to write it (default: RUN.JSON's name with .html); '-' is\n"
	"                     standard output\n"
	"  --help             this text\n\n"
	"Exit status: 0; 1: it cannot be written; 2: bad options, bad input.\n";

/* A mistake in untrusted input: without control characters, which would reach the terminal. */
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

/* One of the two. */
struct document {
	struct report *report;
	struct report_timed *timed;
};

/* 0, or the exit status after a message. */
static int read_document(const char *input, struct document *document)
{
	bool is_standard = strcmp(input, "-") == 0;
	const char *name = is_standard ? "standard input" : input;
	FILE *file = is_standard ? stdin : fopen(input, "re");
	char message[REPORT_MESSAGE_SIZE] = "";
	char *text = NULL;
	size_t size;

	if (file)
		text = read_all(file, &size);
	if (!text) {
		snprintf(message, sizeof(message), "%.200s: %s", name, strerror(errno));
	} else {
		document->timed = report_timed_read(name, text, size, message);
		if (!document->timed && !message[0])
			document->report = report_read(name, text, size, message);
		free(text);
	}
	if (file && !is_standard)
		fclose(file);
	return document->report || document->timed ? EXIT_SUCCESS : complain(message);
}

/* -errno. */
static int finish(FILE *out)
{
	int error = fflush(out) || ferror(out) ? -EIO : 0;

	if (out != stdout && fclose(out))
		error = -EIO;
	return error;
}

static void write_page(FILE *out, const struct document *document)
{
	if (document->timed)
		report_timed_page(out, document->timed);
	else
		report_page(out, document->report);
}

static int write_into(const struct document *document, const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return -errno;
	write_page(out, document);
	return finish(out);
}

/* A reader of the file finds the old page or the new one, never a part. */
static int replace_file(const struct document *document, const char *path)
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
		write_page(out, document);
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

/* A link stays one. A file that is not regular, such as a device or a pipe, is not taken away. */
static int write_file(const struct document *document, const char *path)
{
	struct stat status;
	char *target;
	int error;

	if (lstat(path, &status))
		return replace_file(document, path);
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return write_into(document, path);
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	error = replace_file(document, target);
	free(target);
	return error;
}

/* "run.json" becomes "run.html", and so does "run.csv". NULL: no memory. */
static char *default_output(const char *input)
{
	size_t length = strlen(input);
	char *output = malloc(length + sizeof(".html"));

	if (!output)
		return NULL;
	if (length > 5 && strcmp(input + length - 5, ".json") == 0)
		length -= 5;
	else if (length > 4 && strcmp(input + length - 4, ".csv") == 0)
		length -= 4;
	memcpy(output, input, length);
	strcpy(output + length, ".html");
	return output;
}

static int write_report(const struct document *document, const char *output)
{
	int error;

	if (strcmp(output, "-") == 0) {
		write_page(stdout, document);
		error = finish(stdout);
	} else {
		error = write_file(document, output);
	}
	if (!error)
		return EXIT_SUCCESS;
	return tool_error(EXIT_FAILURE, "report: cannot write %s: %s", output, strerror(-error));
}

int tool_report(int argc, char **argv)
{
	const char *output = NULL;
	const struct mimic_option list[] = { { .name = "output", .value = &output, .letter = 'o' } };
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));
	char *own_output = NULL;
	struct document document = { 0 };

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
	status = read_document(argv[optind], &document);
	if (!status)
		status = write_report(&document, output);
	report_free(document.report);
	report_timed_free(document.timed);
	free(own_output);
	return status;
}
