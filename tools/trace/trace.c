/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic trace: runs a program as mimic run does, but stays, and makes a file for a trace
 * viewer of the events that the program's devices wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmimic/daemon/client.h"
#include "tools/common/tools.h"
#include "tools/trace/trace.h"

#define LIMIT_MAX (1u << 20)	/* MB */
#define DEFAULT_LIMIT "128"	/* two million events: about the most that a viewer can show */

/* The processes and threads that write the events. */
enum trace_writer {
	WRITER_PROGRAM,
	WRITER_DAEMON,		/* the program hands it the spool */
	WRITER_BUS,		/* the daemon, of the kernel's devices or machines'; we hand it the spool */
};

struct trace_options {
	struct run_options run;
	const char *output;
	const char *limit;
	unsigned int megabytes;
	enum trace_writer writer;
};

/* The spool lies in a directory that no other user can read, or is a file of memory. */
struct spool_file {
	char directory[PATH_MAX];	/* "": of memory */
	char path[PATH_MAX + 8];
	int fd;
	int connection;			/* while it is open, the kernel's devices are traced; -1: they are not */
};

static const char usage[] =
	"Usage: mimic trace [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
	"Runs PROGRAM as mimic run does, and writes the events of its devices to a file that\n"
	"Perfetto (https://ui.perfetto.dev) and chrome://tracing open. docs/trace.md describes it.\n\n"
	"  -o, --output FILE  the trace (default: trace.json)\n"
	"  --limit MB         room for events; further ones are counted and not kept (default: " DEFAULT_LIMIT ";\n"
	"                     16384 events to a MB, on the disk of TMPDIR)\n"
	"  --transport WHICH  embedded (default, and auto), daemon or kernel: the kernel's devices, with the\n"
	"                     events of all programs; for root and mimicd's user only. pci: the devices of\n"
	"                     virtual machines, likewise\n"
	"  --devices LIST     as of mimic run (embedded only)\n"
	"  --config FILE      as of mimic run (embedded only)\n"
	"  --plugin FILE      as of mimic run\n"
	"  --socket PATH      where mimicd listens (daemon, kernel and pci)\n"
	"  --state            as of mimic run\n"
	"  --verbose          print the settings and the number of events on stderr\n"
	"  --help             this text\n\n"
	"The exit status is PROGRAM's, and a signal that ends PROGRAM ends mimic trace, too.\n"
	"2: bad options, or a FILE that cannot be written; 126, 127: as mimic run.\n";

/* --- options ---------------------------------------------------------------------------- */

static int parse_options(int argc, char **argv, struct trace_options *options)
{
	const struct mimic_option list[] = {
		RUN_OPTIONS(&options->run),
		{ .name = "output", .letter = 'o', .value = &options->output },
		{ .name = "limit", .value = &options->limit },
	};
	char *end;
	long limit;
	int status = tool_options(argc, argv, usage, OPTIONS_FIRST, list, sizeof(list) / sizeof(list[0]));

	if (status)
		return status;
	if (!options->output)
		options->output = "trace.json";
	errno = 0;
	limit = strtol(options->limit ? options->limit : DEFAULT_LIMIT, &end, 10);
	if (errno || *end || end == options->limit || limit < 1 || limit > (long)LIMIT_MAX)
		return tool_error(EXIT_BAD_INPUT, "--limit '%s' is no number of megabytes from 1 to %u",
				  options->limit, LIMIT_MAX);
	options->megabytes = (unsigned int)limit;
	return 0;
}

static void settle_transport(struct trace_options *options)
{
	const char *transport = options->run.transport;

	if (!transport)
		transport = getenv("MIMIC_TRANSPORT");
	if (!transport || !*transport || !strcmp(transport, "auto"))
		options->run.transport = "embedded";
	else if (!strcmp(transport, "daemon"))
		options->writer = WRITER_DAEMON;
	else if (!strcmp(transport, "kernel") || !strcmp(transport, "pci"))
		options->writer = WRITER_BUS;
	/* PROGRAM uses no device here: it may be a sleep. */
	if (transport && !strcmp(transport, "pci"))
		options->run.transport = "embedded";
}

/* --- the spool ----------------------------------------------------------------------------- */

/* A daemon takes memory that cannot shrink and has no holes, and no files. */
static int make_memory_spool(struct spool_file *file, unsigned int megabytes)
{
	const off_t size = (off_t)megabytes << 20;
	int error;

	file->fd = memfd_create("mimic-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	error = file->fd < 0 ? -errno : mimic_spool_create(file->fd, (uint64_t)size);
	if (!error && fallocate(file->fd, 0, 0, size))
		error = -errno;
	if (!error && fcntl(file->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		error = -errno;
	if (error)
		return tool_error(EXIT_BAD_INPUT, "memory for the trace: %s", strerror(-error));
	return 0;
}

static int make_daemon_spool(struct spool_file *file, unsigned int megabytes)
{
	int status = make_memory_spool(file, megabytes);

	snprintf(file->path, sizeof(file->path), "/proc/%d/fd/%d", (int)getpid(), file->fd);
	/* Programs may have to copy the descriptor, which Yama allows to a child only if we say so. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	setenv("MIMIC_TRACE", file->path, 1);
	return status;
}

/* The program need not know of the spool, nor of mimic. */
static int make_bus_spool(struct spool_file *file, const struct trace_options *options)
{
	int status = make_memory_spool(file, options->megabytes);

	if (status)
		return status;
	file->connection = mimic_daemon_trace_bus(options->run.socket_path, file->fd);
	return file->connection < 0 ? tool_client_error("trace", file->connection) : 0;
}

static int make_file_spool(struct spool_file *file, unsigned int megabytes)
{
	const char *base = getenv("TMPDIR");
	char absolute[PATH_MAX - 32];
	int error;

	if (!base || !*base)
		base = "/tmp";
	/* The program may change its directory before it opens a device. */
	if (strlen(base) >= sizeof(absolute) || !realpath(base, file->directory) ||
	    strlen(file->directory) >= sizeof(absolute))
		return tool_error(EXIT_BAD_INPUT, "%s: %s", base, strerror(errno ? errno : ENAMETOOLONG));
	strcpy(absolute, file->directory);
	snprintf(file->directory, sizeof(file->directory), "%s/mimic-trace-XXXXXX", absolute);
	if (!mkdtemp(file->directory))
		return tool_error(EXIT_BAD_INPUT, "%s: %s", file->directory, strerror(errno));
	snprintf(file->path, sizeof(file->path), "%s/spool", file->directory);
	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	error = file->fd < 0 ? -errno : mimic_spool_create(file->fd, (uint64_t)megabytes << 20);
	if (error)
		return tool_error(EXIT_BAD_INPUT, "%s: %s", file->path, strerror(-error));
	setenv("MIMIC_TRACE", file->path, 1);
	return 0;
}

static int make_spool(struct spool_file *file, const struct trace_options *options)
{
	file->fd = file->connection = -1;
	file->directory[0] = '\0';
	switch (options->writer) {
	case WRITER_PROGRAM:
		return make_file_spool(file, options->megabytes);
	case WRITER_DAEMON:
		return make_daemon_spool(file, options->megabytes);
	case WRITER_BUS:
		break;
	}
	return make_bus_spool(file, options);
}

static void remove_spool(struct spool_file *file)
{
	if (file->connection >= 0)
		close(file->connection);
	if (file->fd < 0)
		return;
	close(file->fd);
	if (!file->directory[0])
		return;
	unlink(file->path);
	rmdir(file->directory);
}

/* --- the output ---------------------------------------------------------------------------------- */

/* false after a message. */
static bool convert(const struct spool_file *spool, const struct trace_options *options, FILE *output,
		    const char *program)
{
	struct trace_input input;
	int error;

	trace_await_daemon(spool->fd);
	error = trace_read(&input, spool->fd);
	if (!error)
		error = trace_write_json(&input, output, program);
	if (error)
		tool_error(0, "%s: %s", options->output, strerror(-error));
	else if (input.is_short)
		error = tool_error(-1, "%s: %llu events were not kept, %zu were: there is no more room in %s", options->output,
				   (unsigned long long)input.lost, input.count,
				   spool->directory[0] ? spool->directory : "memory");
	else if (input.lost)
		tool_error(0, "%s: %llu events were not kept, %zu were; --limit says how many there can be",
			   options->output, (unsigned long long)input.lost, input.count);
	else if (options->run.verbose)
		tool_error(0, "%s: %zu events", options->output, input.count);
	trace_free(&input);
	return !error;
}

static int trace(const struct trace_options *options, struct spool_file *spool, FILE *output, char **argv)
{
	int status = tool_child_run(argv, NULL);
	bool is_written;

	if (status < 0)
		return EXIT_BAD_INPUT;
	is_written = convert(spool, options, output, argv[0]);
	is_written = !fclose(output) && is_written;
	remove_spool(spool);
	if (!is_written && WIFEXITED(status) && !WEXITSTATUS(status))
		return EXIT_FAILURE;
	return tool_child_end_as(status);
}

int tool_trace(int argc, char **argv)
{
	struct trace_options options = { .output = NULL };
	struct spool_file spool;
	FILE *output;
	int status = parse_options(argc, argv, &options);

	if (status)
		return status;
	settle_transport(&options);
	status = tool_run_prepare(&options.run, argc, argv);
	if (status)
		return status;
	output = fopen(options.output, "we");
	if (!output)
		return tool_error(EXIT_BAD_INPUT, "%s: %s", options.output, strerror(errno));
	status = make_spool(&spool, &options);
	if (!status)
		return trace(&options, &spool, output, argv + optind);
	remove_spool(&spool);
	fclose(output);
	return status;
}
