/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic sim: checks options and files, writes the setup for the program's run-time, runs the
 * program, and reports its counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/machine.h"
#include "tools/sim/sim.h"


static const char usage[] =
	"Usage: mimic sim [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
	"Runs PROGRAM in virtual time: its threads are the cores of a modelled SoC with caches,\n"
	"memory and a device. PROGRAM is compiled with the flags that mimic cflags prints. When it\n"
	"ends, its cycles are shown on standard error. A loop that accesses no memory and no device\n"
	"takes no time. docs/timing.md describes the model.\n\n"
	"  --soc NAME         " SIM_PRESET_DEFAULT " (default), " SIM_PRESET_OTHER ", " SIM_PRESET_MPU ", " SIM_PRESET_CLUSTER ", or an INI file\n"
	"  --mode NAME        of " SIM_PRESET_MPU ": base, nvr, fre (default), static or oracle; --set comes behind it\n"
	"  --design NAME      of " SIM_PRESET_CLUSTER ": whose kernels products of its library are:\n"
	"                     " SIM_DESIGNS " (second-hand)\n"
	"  --cores N          as --set core.count=N; each thread has a core\n"
	"  --devices LIST     how many there are of which kind, KIND:COUNT, as --set KIND.count=COUNT\n"
	"  --set KEY=VALUE    changes a parameter, such as l2.size=256K; may be given several times\n"
	"  --costs FILE       table of mimic costs in place of mimic's own; may be given\n"
	"                     several times\n"
	"  --cycles N         end it with status 124 after so many cycles; not in a loop without accesses\n"
	"  --interval N       also count by intervals of N cycles\n"
	"  --warm N           the first N times of each phase warm the caches up and are not counted\n"
	"  --trace FILE       the device's events, for https://ui.perfetto.dev; a microsecond there is a cycle\n"
	"  --profile FILE     which form of a library's kernel was faster, by block size, for the library\n"
	"  --json             the report as JSON. Without --output it alone is on standard output:\n"
	"                     PROGRAM's own output goes to standard error\n"
	"  -o, --output FILE  the report to FILE\n"
	"  --randomize        let the system put code and data anywhere, which changes no result\n"
	"  --parameters       show the parameters that the options make; runs nothing\n"
	"  --help             this text\n\n"
	"The exit status is PROGRAM's, and a signal that ends PROGRAM ends mimic sim, too.\n"
	"2: bad options, a PROGRAM that is not instrumented or has more threads than cores, or one\n"
	"whose threads all wait for ever; 124: --cycles is reached; 126, 127: as mimic run.\n";

struct options {
	const char *soc;
	const char *mode;
	const char *design;
	const char *cores;
	const char *devices;
	const char *cycles;
	const char *warm;
	const char *interval;
	const char *output;
	const char *trace;
	const char *profile;
	struct mimic_option_values sets;
	struct mimic_option_values costs;
	bool json;
	bool randomize;
	bool shows_parameters;
};

/* --- options -------------------------------------------------------------------------------- */

static int parse_options(int argc, char **argv, struct options *options)
{
	const struct mimic_option list[] = {
		{ .name = "soc", .value = &options->soc },
		{ .name = "mode", .value = &options->mode },
		{ .name = "design", .value = &options->design },
		{ .name = "cores", .value = &options->cores },
		{ .name = "devices", .value = &options->devices },
		{ .name = "set", .values = &options->sets },
		{ .name = "costs", .values = &options->costs },
		{ .name = "cycles", .value = &options->cycles },
		{ .name = "interval", .value = &options->interval },
		{ .name = "warm", .value = &options->warm },
		{ .name = "trace", .value = &options->trace },
		{ .name = "profile", .value = &options->profile },
		{ .name = "json", .flag = &options->json },
		{ .name = "randomize", .flag = &options->randomize },
		{ .name = "output", .letter = 'o', .value = &options->output },
		{ .name = "parameters", .flag = &options->shows_parameters },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_FIRST, list, sizeof(list) / sizeof(list[0]));

	if (status)
		return status;
	if (options->sets.count > MIMIC_OPTION_VALUES_MAX || options->costs.count > MIMIC_OPTION_VALUES_MAX)
		return tool_error(EXIT_BAD_INPUT, "sim: an option may be given %d times", MIMIC_OPTION_VALUES_MAX);
	if (optind >= argc && !options->shows_parameters)
		return tool_error(EXIT_BAD_INPUT, "sim: which program? See mimic sim --help");
	return 0;
}

/* One of the list of --devices: a kind and how many there are of it. */
struct device_count {
	const struct mimic_kind *kind;
	const char *text;
	int length;
	char number[32];
};

/* The next one of the list, which ends in NULL. */
static int next_device(const char **list, struct device_count *device, char *why, size_t size)
{
	const char *text = *list;
	size_t length = strcspn(text, ","), name = strcspn(text, ":,");

	device->text = text;
	device->length = length < 64 ? (int)length : 64;
	device->kind = mimic_kind_find(text, name);
	*list = text[length] ? text + length + 1 : NULL;
	if (!device->kind || !device->kind->time || text[name] != ':') {
		snprintf(why, size, "--devices '%.*s' is not KIND:COUNT of a kind that can be in virtual time",
			 device->length, text);
		return -EINVAL;
	}
	snprintf(device->number, sizeof(device->number), "%.*s", (int)(length - name - 1), text + name + 1);
	return 0;
}

/* A kind whose number is no parameter is there once or not at all. */
static int set_count(struct sim_parameters *parameters, const struct device_count *device, char *why, size_t size)
{
	char assignment[64];

	snprintf(assignment, sizeof(assignment), "%s.count=%s", device->kind->name, device->number);
	if (sim_parameters_get(parameters, device->kind->name, "count"))
		return sim_parameters_set(parameters, assignment, why, size);
	if (!strcmp(device->number, "1"))
		return 0;
	snprintf(why, size, "--devices '%.*s': in virtual time there is one %s, and no other number of them",
		 device->length, device->text, device->kind->name);
	return -EINVAL;
}

/* The list of --devices: "KIND:COUNT,..." */
static int set_devices(struct sim_parameters *parameters, const char *list, char *why, size_t size)
{
	struct device_count device;
	int error = 0;

	while (list && !error) {
		error = next_device(&list, &device, why, size);
		if (!error)
			error = set_count(parameters, &device, why, size);
	}
	return error;
}

/* Which of them a SoC has is known when all parameters are. */
static int check_devices(struct sim_parameters *parameters, const char *list, char *why, size_t size)
{
	const struct mimic_time_host soc = tool_sim_soc(parameters);
	struct device_count device;

	while (list) {
		if (next_device(&list, &device, why, size))
			return -EINVAL;
		if (device.kind->time->is_there(&soc))
			continue;
		snprintf(why, size, "--devices '%.*s': this SoC has no %s; --soc says which it has", device.length,
			 device.text, device.kind->name);
		return -EINVAL;
	}
	return 0;
}

static int make_parameters(const struct options *options, struct sim_parameters *parameters)
{
	char why[256] = "", cores[64];
	int error = sim_parameters_load(parameters, options->soc ? options->soc : SIM_PRESET_DEFAULT, why, sizeof(why));

	if (!error && options->cores) {
		snprintf(cores, sizeof(cores), "core.count=%s", options->cores);
		error = sim_parameters_set(parameters, cores, why, sizeof(why));
	}
	if (!error && options->mode)
		error = sim_parameters_mode(parameters, options->mode, why, sizeof(why));
	if (!error && options->design)
		error = sim_parameters_design(parameters, options->design, why, sizeof(why));
	if (!error && options->devices)
		error = set_devices(parameters, options->devices, why, sizeof(why));
	for (size_t i = 0; i < options->sets.count && !error; i++)
		error = sim_parameters_set(parameters, options->sets.values[i], why, sizeof(why));
	if (!error)
		error = tool_sim_fits(parameters, why, sizeof(why));
	if (!error)
		error = check_devices(parameters, options->devices, why, sizeof(why));
	return error ? tool_error(EXIT_BAD_INPUT, "sim: %s", why[0] ? why : strerror(-error)) : 0;
}

static int read_number(const char *option, const char *text, uint64_t minimum, uint64_t *number)
{
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno || *end || end == text || text[0] == '-' || *number < minimum)
		return tool_error(EXIT_BAD_INPUT, "sim: %s '%s' is no number from %llu on", option, text,
				  (unsigned long long)minimum);
	return 0;
}

static int show_parameters(const struct sim_parameters *parameters)
{
	const struct sim_parameter_description *description = sim_parameter_descriptions;
	const char *section = "";

	for (; description->section; description++) {
		if (strcmp(section, description->section))
			printf("%s[%s]\n", *section ? "\n" : "", description->section);
		section = description->section;
		printf("%s = %llu\n", description->key,
		       (unsigned long long)*(const uint64_t *)((const char *)parameters + description->offset));
	}
	return 0;
}

/* `program` and `costs` are there until the end, for libraries that come later. */
static int prepare(const struct options *options, const char *path, struct sim_shared *shared, struct sim_program *program,
		   struct sim_costs *costs, const struct sim_parameters *parameters, uint64_t interval)
{
	int status = tool_sim_costs_read(costs, &options->costs);

	if (!status)
		status = tool_sim_program_read(program, path, costs);
	if (!status && !program->has_lines)
		tool_error(0, "%s: without debugging information (-g) every access costs %d instructions", path,
			   SIM_DEFAULT_INSTRUCTIONS);
	if (!status)
		status = tool_sim_share(shared, program, costs, parameters, interval);
	return status;
}

/* --- the run ------------------------------------------------------------------------------------- */

static pid_t own_pid;
static bool is_randomized;
static bool output_is_ours;	/* standard output */

/* The report must stand alone on standard output: the program writes to standard error instead. */
static void give_up_output(void)
{
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILURE);
}

/* If the caller has closed it, the next open file would get its descriptor, and messages would go there. */
static void open_standard_files(void)
{
	int file;

	do
		file = open("/dev/null", O_RDWR);
	while (file >= 0 && file <= STDERR_FILENO);
	if (file >= 0)
		close(file);
}

static void before_program(void)
{
	/* Without us its report would be lost, and a program that spins would never end. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != own_pid)
		_exit(EXIT_FAILURE);
	if (output_is_ours)
		give_up_output();
	if (is_randomized)
		return;
	/* Addresses do not change the counts; but a program may print them. */
	personality(ADDR_NO_RANDOMIZE);
}

static void set_environment(const struct sim_shared *shared)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), shared->fd);
	setenv("MIMIC_SIM", path, 1);
	/* Accesses do not trap there; and the counts hold for the program's unchanged text. */
	setenv("MIMIC_PATCH", "0", 1);
}

/* A phase that ran no more often has a section without counts. */
static void tell_uncounted(const struct sim_setup *setup)
{
	if (setup->warm_times && setup->phase_count == 1)
		tool_error(0, "sim: --warm is of no use: the program has no phase");
	for (uint32_t i = 1; i < setup->phase_count; i++) {
		const struct sim_phase *phase = &setup->phases[i];

		if (!phase->times)
			tool_error(0, "sim: phase %s is not counted: it ran %llu times, and --warm takes the first %llu",
				   phase->name, (unsigned long long)phase->warm_times,
				   (unsigned long long)setup->warm_times);
	}
}

static int write_report(const struct options *options, FILE *file, const char *program, const struct sim_shared *shared)
{
	const struct sim_report report = {
		.program = program,
		.soc = options->soc ? options->soc : SIM_PRESET_DEFAULT,
		.setup = shared->setup,
	};
	int error;

	if (atomic_load(&shared->setup->end) == SIM_NEVER_BEGAN)
		return tool_error(EXIT_FAILURE, "sim: %s did not begin in virtual time; is it a script, or set-user-ID?",
				  program);
	if (atomic_load(&shared->setup->end) == SIM_BEGAN)
		return tool_error(EXIT_FAILURE, "sim: %s did not come to exit(): there is no report", program);
	tell_uncounted(shared->setup);
	tool_sim_tell_uncosted(shared->setup);
	if (shared->setup->lost_intervals)
		tool_error(0, "sim: the report has the first %d intervals; %llu more found no room", SIM_INTERVALS,
			   (unsigned long long)shared->setup->lost_intervals);
	error = options->json ? tool_sim_report_json(file, &report) : tool_sim_report_text(file, &report);
	return error ? tool_error(EXIT_FAILURE, "sim: the report: %s", strerror(-error)) : 0;
}

static FILE *open_output(const struct options *options)
{
	FILE *file;

	if (!options->output)
		return options->json ? stdout : stderr;
	file = fopen(options->output, "we");
	if (!file)
		tool_error(0, "%s: %s", options->output, strerror(errno));
	return file;
}

/* Is it the file that standard output is, such as --output /dev/stdout? In a device nothing is mixed. */
static bool is_standard_output(FILE *file)
{
	struct stat one, other;

	if (file == stdout)
		return true;
	return !fstat(fileno(file), &one) && !fstat(STDOUT_FILENO, &other) && !S_ISCHR(one.st_mode) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int write_profile(const struct options *options, FILE *file, const char *program, const struct sim_shared *shared)
{
	return tool_sim_profile_write(file, options->profile, program, options->soc ? options->soc : SIM_PRESET_DEFAULT,
				      shared->setup);
}

/* 0, with NULL if none is wanted. */
static int open_profile(const struct options *options, FILE **profile)
{
	*profile = options->profile ? tool_sim_profile_open(options->profile) : NULL;
	if (options->profile && !*profile)
		return tool_error(EXIT_BAD_INPUT, "%s: %s", options->profile, strerror(errno));
	return 0;
}

static int run(const struct options *options, struct sim_shared *shared, struct sim_program *program,
	       const struct sim_costs *costs, char **argv)
{
	struct sim_late late = { .shared = shared, .program = program, .costs = costs };
	FILE *output = open_output(options), *profile;
	struct sim_trace trace = { .spool = -1 };
	int ended, status;

	if (!output)
		return EXIT_BAD_INPUT;
	status = open_profile(options, &profile);
	if (!status && options->trace)
		status = tool_sim_trace_begin(&trace, options->trace, shared->setup);
	if (!status)
		status = tool_sim_publish(shared);
	if (!status)
		status = tool_sim_late_begin(&late);
	if (status)
		return status;
	set_environment(shared);
	fflush(NULL);
	own_pid = getpid();
	is_randomized = options->randomize;
	output_is_ours = options->json && is_standard_output(output);
	ended = tool_child_run(argv, before_program);
	tool_sim_late_end(&late);
	if (ended < 0)
		return EXIT_BAD_INPUT;
	tool_sim_collect(shared);
	status = write_report(options, output, argv[0], shared);
	if (profile && write_profile(options, profile, argv[0], shared) && !status)
		status = EXIT_FAILURE;
	if (options->trace && tool_sim_trace_end(&trace, argv[0]) && !status)
		status = EXIT_FAILURE;
	if (fflush(output) && !status)
		status = tool_error(EXIT_FAILURE, "sim: the report: %s", strerror(errno));
	if (options->output)
		fclose(output);
	return WIFEXITED(ended) && !WEXITSTATUS(ended) ? status : tool_child_end_as(ended);
}

int tool_sim(int argc, char **argv)
{
	struct options options = { 0 };
	struct sim_parameters parameters;
	struct sim_shared shared = { .fd = -1 };
	struct sim_program program = { 0 };
	struct sim_costs costs;
	char path[PATH_MAX];
	uint64_t cycles = 0, warm_times = 0, interval = 0;
	int status = parse_options(argc, argv, &options);

	if (!status)
		status = make_parameters(&options, &parameters);
	if (!status)
		status = read_number("--cycles", options.cycles, 1, &cycles);
	if (!status)
		status = read_number("--interval", options.interval, 1, &interval);
	if (!status)
		status = read_number("--warm", options.warm, 0, &warm_times);
	if (status)
		return status;
	if (options.shows_parameters)
		return show_parameters(&parameters);
	if (!TOOL_IS_X86)
		return tool_error(EXIT_BAD_INPUT, "sim: programs run in virtual time on x86-64 alone, not on " TOOL_MACHINE_NAME);
	open_standard_files();
	status = tool_run_find_program(argv[optind], path);
	if (status)
		return status;
	status = prepare(&options, path, &shared, &program, &costs, &parameters, interval);
	if (!status) {
		/* If it cannot be loaded (a path with a space), libraries still reach the device. */
		tool_run_preload(path);
		shared.setup->cycle_limit = cycles;
		shared.setup->warm_times = warm_times;
		status = run(&options, &shared, &program, &costs, argv + optind);
	}
	tool_sim_program_free(&program);
	tool_sim_costs_free(&costs);
	return status;
}
