/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic costs: the table of the costs of the loops in a program's sources. A compiler for RISC-V
 * makes assembly of each, and a script of mimic counts the instructions of its loops.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/jobs.h"
#include "tools/sim/sim.h"

#define COMPILER "riscv64-linux-gnu-gcc"
#define SCRIPT "count.awk"

static const char usage[] =
	"Usage: mimic costs [OPTION...] FILE.c... [-- COMPILER_OPTION...]\n\n"
	"Makes the table of instructions per loop that mimic sim --costs takes, of a program's own\n"
	"sources: they are compiled for RISC-V, and the instructions and accesses of each loop are\n"
	"counted. COMPILER_OPTIONs are those that the program is compiled with, such as -O3 or -DSIZE=8.\n\n"
	"  -o, --output FILE  the table to FILE (default: standard output)\n"
	"  --compiler NAME    gcc for RISC-V (default: " COMPILER ")\n"
	"  --help             this text\n\n"
	"  mimic costs kernel.c -o kernel.csv -- -O3\n"
	"  mimic sim --costs kernel.csv ./program\n\n"
	"The exit status is 2 for bad options, a FILE that cannot be read, does not compile or has no\n"
	"function, and a compiler that is not installed.\n";

struct maker {
	const char *compiler;
	const char *output;
	char **files;
	int file_count;
	char **flags;		/* behind "--" */
	int flag_count;
	char include[PATH_MAX];	/* folders */
	char costs[PATH_MAX];
	char work[PATH_MAX];
	char assembly[PATH_MAX + 16], counted[PATH_MAX + 16], errors[PATH_MAX + 16];	/* files in `work` */
	char *table;
	size_t table_size;
};

/* --- the two commands ----------------------------------------------------------------------- */

static int copy_file(const char *path, FILE *to)
{
	char bytes[4096];
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		return -errno;
	while ((size = fread(bytes, 1, sizeof(bytes), file)) > 0)
		fwrite(bytes, 1, size, to);
	fclose(file);
	return ferror(to) ? -EIO : 0;
}

/* Passes on the output of the command. 0, or the exit status when all was reported. */
static int run_command(const struct maker *maker, char **arguments, const char *output, int *ended)
{
	struct job job = { .arguments = arguments, .output = output, .errors = maker->errors };
	int error = tool_jobs_run(&job, 1, 1, NULL, NULL);

	if (error)
		return tool_error(EXIT_FAILURE, "costs: %s: %s", arguments[0],
				  error == -EINTR ? "stopped by a signal" : strerror(-error));
	copy_file(maker->errors, stderr);
	*ended = job.status;
	if (!WIFEXITED(job.status) || WEXITSTATUS(job.status) != 127)
		return 0;
	return tool_error(EXIT_BAD_INPUT, "costs: there is no command %s", arguments[0]);
}

/*
 * The program's own options come first, so that ours decide the kind of output. The headers of libmaple are
 * searched last: they may lie where those of this machine's C library do, which are not for RISC-V.
 */
static int compile(const struct maker *maker, const char *file)
{
	char prefetch[PATH_MAX + 16];
	const char *const before[] = { maker->compiler, "-O2", "-march=rv64gc", "-mabi=lp64d", "-mno-strict-align" };
	const char *const after[] = { "-fno-lto", "-fno-asynchronous-unwind-tables", "-g", "-Wno-tsan", "-idirafter", maker->include,
				      "-include", prefetch, "-include", "mimic/sim_string.h", "-S", "-o", maker->assembly, file };
	const size_t before_count = sizeof(before) / sizeof(before[0]), after_count = sizeof(after) / sizeof(after[0]);
	char **arguments = calloc(before_count + (size_t)maker->flag_count + after_count + 1, sizeof(*arguments));
	int ended, status;

	if (!arguments)
		return tool_error(EXIT_FAILURE, "costs: out of memory");
	snprintf(prefetch, sizeof(prefetch), "%s/prefetch.h", maker->costs);
	memcpy(arguments, before, sizeof(before));
	memcpy(arguments + before_count, maker->flags, (size_t)maker->flag_count * sizeof(*arguments));
	memcpy(arguments + before_count + maker->flag_count, after, sizeof(after));
	status = run_command(maker, arguments, NULL, &ended);
	free(arguments);
	if (!status && (!WIFEXITED(ended) || WEXITSTATUS(ended)))
		status = tool_error(EXIT_BAD_INPUT, "costs: %s: %s does not compile it", file, maker->compiler);
	return status;
}

static int count(struct maker *maker, const char *file)
{
	char script[PATH_MAX + 16];
	char *arguments[] = { "awk", "-v", "of_program=1", "-f", script, maker->assembly, NULL };
	struct stat counted;
	int ended, status;

	snprintf(script, sizeof(script), "%s/" SCRIPT, maker->costs);
	status = run_command(maker, arguments, maker->counted, &ended);
	if (status)
		return status;
	if (!WIFEXITED(ended) || WEXITSTATUS(ended) || stat(maker->counted, &counted))
		return tool_error(EXIT_FAILURE, "costs: %s: its assembly cannot be counted", file);
	if (!counted.st_size)
		return tool_error(EXIT_BAD_INPUT, "costs: %s: has no function, so there is nothing that costs", file);
	return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

static void print_head(FILE *table, const struct maker *maker)
{
	fprintf(table, "# Instructions and accesses of loops, per iteration, without loops inside them.\n"
		"# Made by mimic costs: %s -O2", maker->compiler);
	for (int i = 0; i < maker->flag_count; i++)
		fprintf(table, " %s", maker->flags[i]);
	fputs("\nfile,function,loop,first_line,last_line,instructions,loads,stores,mmio,prefetches,taken,missed,multiplies\n", table);
}

static int make_table(struct maker *maker)
{
	FILE *table = open_memstream(&maker->table, &maker->table_size);
	int status = 0;

	if (!table)
		return tool_error(EXIT_FAILURE, "costs: %s", strerror(errno));
	print_head(table, maker);
	for (int i = 0; i < maker->file_count && !status; i++) {
		status = compile(maker, maker->files[i]);
		if (!status)
			status = count(maker, maker->files[i]);
		if (!status && copy_file(maker->counted, table))
			status = tool_error(EXIT_FAILURE, "costs: %s: cannot be read", maker->counted);
	}
	if (fclose(table) && !status)
		status = tool_error(EXIT_FAILURE, "costs: out of memory");
	return status;
}

static int write_table(const struct maker *maker)
{
	FILE *file = maker->output ? fopen(maker->output, "we") : stdout;
	bool is_written;

	if (!file)
		return tool_error(EXIT_BAD_INPUT, "costs: %s: %s", maker->output, strerror(errno));
	is_written = fwrite(maker->table, 1, maker->table_size, file) == maker->table_size && !fflush(file);
	if (maker->output)
		is_written &= !fclose(file);
	return is_written ? 0 : tool_error(EXIT_FAILURE, "costs: cannot write the table");
}

/* --- the command -------------------------------------------------------------------------------- */

static int check_file(const char *file)
{
	const char *slash = strrchr(file, '/');
	struct stat status;

	if (stat(file, &status))
		return tool_error(EXIT_BAD_INPUT, "costs: %s: %s", file, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return tool_error(EXIT_BAD_INPUT, "costs: %s: is no file", file);
	if (access(file, R_OK))
		return tool_error(EXIT_BAD_INPUT, "costs: %s: %s", file, strerror(errno));
	/* One is known by its name alone, in a column. */
	if (strchr(slash ? slash : file, ','))
		return tool_error(EXIT_BAD_INPUT, "costs: %s: a table cannot have a name with a comma", file);
	return 0;
}

/* "--" and the words behind it are not given to getopt, which would move files behind it. */
static int parse(int argc, char **argv, struct maker *maker)
{
	const struct mimic_option list[] = {
		{ .name = "output", .letter = 'o', .value = &maker->output },
		{ .name = "compiler", .value = &maker->compiler },
	};
	int words = 1, status;

	while (words < argc && strcmp(argv[words], "--"))
		words++;
	if (words < argc) {
		maker->flags = argv + words + 1;
		maker->flag_count = argc - words - 1;
		argv[words] = NULL;
	}
	status = tool_options(words, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));
	if (status)
		return status;
	if (optind >= words)
		return tool_error(EXIT_BAD_INPUT, "costs: which file? See mimic costs --help");
	maker->files = argv + optind;
	maker->file_count = words - optind;
	for (int i = 0; i < maker->file_count && !status; i++)
		status = check_file(maker->files[i]);
	return status;
}

static int make_work(struct maker *maker)
{
	const char *base = getenv("TMPDIR");

	snprintf(maker->work, sizeof(maker->work), "%s/mimic-costs-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(maker->work))
		return tool_error(EXIT_FAILURE, "costs: %s: %s", maker->work, strerror(errno));
	snprintf(maker->assembly, sizeof(maker->assembly), "%s/assembly.s", maker->work);
	snprintf(maker->counted, sizeof(maker->counted), "%s/counted", maker->work);
	snprintf(maker->errors, sizeof(maker->errors), "%s/errors", maker->work);
	return 0;
}

static void remove_work(const struct maker *maker)
{
	unlink(maker->assembly);
	unlink(maker->counted);
	unlink(maker->errors);
	rmdir(maker->work);
}

int tool_costs(int argc, char **argv)
{
	struct maker maker = { .compiler = COMPILER };
	int status = parse(argc, argv, &maker);

	if (!status)
		status = tool_find_folder("include", "mimic/sim_string.h", maker.include);
	if (!status)
		status = tool_find_folder("share/mimic/costs", SCRIPT, maker.costs);
	if (!status)
		status = make_work(&maker);
	if (status)
		return status;
	status = make_table(&maker);
	remove_work(&maker);
	tool_jobs_pass_on_signal();
	if (!status)
		status = write_table(&maker);
	free(maker.table);
	return status;
}
