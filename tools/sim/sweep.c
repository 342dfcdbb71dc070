/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic sweep: mimic sim on a grid of parameters. A point is one command with a report of its
 * own, so that another machine may run it; the table is made of the reports.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/parameters.h"
#include "tools/common/jobs.h"
#include "tools/sim/sim.h"
#include "tools/sim/sweep.h"

static const char usage[] =
	"Usage: mimic sweep [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
	"Runs mimic sim PROGRAM for each combination of values, on all processors, and writes one CSV\n"
	"with the counts of each.\n\n"
	"  --set KEY=V,V,...  values of a parameter, such as l2.size=32K,64K; may be given several times\n"
	"  --soc NAME,...     " SIM_PRESETS ", or INI files\n"
	"  --mode NAME,...    of " SIM_PRESET_MPU ": base, nvr, fre, static, oracle\n"
	"  --design NAME,...  of " SIM_PRESET_CLUSTER ": " SIM_DESIGNS " (second-hand)\n"
	"  --cores N,...      numbers of cores\n"
	"  --costs FILE       as of mimic sim, of all points\n"
	"  --warm N,...       numbers of times of each phase that are not counted; 0,1: cold and warm\n"
	"  -j, --jobs N       runs at a time (default: as many as processors)\n"
	"  -o, --output FILE  the CSV to FILE, not to standard output\n"
	"  --directory DIR    keeps the reports of the points there\n"
	"  --resume           goes on with a sweep in --directory that was cut off: only points without a\n"
	"                     report run, or are listed\n"
	"  --list             runs nothing; makes --directory, and prints the command of each point\n"
	"  --collect          runs nothing; makes the CSV of the reports in --directory\n"
	"  --help             this text\n\n"
	"The exit status is 1 if a point failed: its line says so, and has no numbers. 2: bad options.\n";

static int parse(int argc, char **argv, struct sweep *sweep)
{
	const struct mimic_option list[] = {
		{ .name = "set", .values = &sweep->sets },
		{ .name = "soc", .value = &sweep->soc },
		{ .name = "mode", .value = &sweep->mode },
		{ .name = "design", .value = &sweep->design },
		{ .name = "cores", .value = &sweep->cores },
		{ .name = "costs", .values = &sweep->costs },
		{ .name = "warm", .value = &sweep->warm },
		{ .name = "jobs", .letter = 'j', .value = &sweep->jobs },
		{ .name = "output", .letter = 'o', .value = &sweep->output },
		{ .name = "directory", .value = &sweep->directory },
		{ .name = "list", .flag = &sweep->lists },
		{ .name = "collect", .flag = &sweep->collects },
		{ .name = "resume", .flag = &sweep->resumes },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_FIRST, list, sizeof(list) / sizeof(list[0]));

	if (status)
		return status;
	if (sweep->sets.count > MIMIC_OPTION_VALUES_MAX || sweep->costs.count > MIMIC_OPTION_VALUES_MAX)
		return tool_error(EXIT_BAD_INPUT, "sweep: --set and --costs may be given %d times",
				  MIMIC_OPTION_VALUES_MAX);
	if (optind >= argc)
		return tool_error(EXIT_BAD_INPUT, "sweep: which program? See mimic sweep --help");
	if ((sweep->lists || sweep->collects) && !sweep->directory)
		return tool_error(EXIT_BAD_INPUT, "sweep: --list and --collect need --directory");
	if (sweep->resumes && !sweep->directory)
		return tool_error(EXIT_BAD_INPUT, "sweep: --resume needs the --directory of the sweep that was cut off");
	if (sweep->resumes && sweep->collects)
		return tool_error(EXIT_BAD_INPUT, "sweep: --collect runs nothing that --resume could go on with");
	if (sweep->lists && sweep->collects)
		return tool_error(EXIT_BAD_INPUT, "sweep: --list or --collect, not both");
	sweep->program = argv + optind;
	return 0;
}

static int find_self(struct sweep *sweep)
{
	ssize_t length = readlink("/proc/self/exe", sweep->self, sizeof(sweep->self) - 1);

	if (length < 0)
		return tool_error(EXIT_FAILURE, "/proc/self/exe: %s", strerror(errno));
	sweep->self[length] = '\0';
	return 0;
}

static int read_jobs(const struct sweep *sweep, unsigned int *at_once)
{
	char *end;
	unsigned long number;

	*at_once = tool_jobs_processors();
	if (!sweep->jobs)
		return 0;
	number = strtoul(sweep->jobs, &end, 10);
	if (sweep->jobs[0] < '0' || sweep->jobs[0] > '9' || *end || number < 1 || number > 1024)
		return tool_error(EXIT_BAD_INPUT, "sweep: --jobs %s: it must be a number from 1 to 1024", sweep->jobs);
	*at_once = (unsigned int)number;
	return 0;
}

static int run_and_collect(struct sweep *sweep, unsigned int at_once)
{
	int status = 0;

	if (!sweep->collects)
		status = tool_sweep_check_points(sweep);
	if (!status && !sweep->collects)
		status = tool_sweep_run(sweep, at_once);
	return status ? status : tool_sweep_write_table(sweep);
}

int tool_sweep(int argc, char **argv)
{
	struct sweep sweep = { 0 };
	unsigned int at_once;
	int status = parse(argc, argv, &sweep);

	if (!status)
		status = tool_sweep_make_grid(&sweep);
	if (!status)
		status = read_jobs(&sweep, &at_once);
	if (!status)
		status = find_self(&sweep);
	if (!status)
		status = tool_sweep_open_folder(&sweep);
	if (!status && sweep.resumes)
		status = tool_sweep_find_reports(&sweep);
	if (!status)
		status = sweep.lists ? tool_sweep_list(&sweep) : run_and_collect(&sweep, at_once);
	tool_sweep_remove_temporary(&sweep);
	free(sweep.is_refused);
	free(sweep.is_there);
	tool_jobs_pass_on_signal();
	return status;
}
