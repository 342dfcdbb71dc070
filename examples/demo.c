/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The demo: runs the example programs of MAPLE (spmv, bfs), of DARE (spmm, sddmm, gemm)
 * and of Virgo (gemm, gemm_swish, gemm_two_units) on all transports that there are and
 * puts their results into three tables. For the daemon transport it starts a daemon of its own on a private
 * socket and stops it afterwards; the kernel's devices are those of the machine.
 */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "examples/demo_output.h"
#include "examples/demo_process.h"
#include "examples/demo_sampled.h"
#include "examples/demo_table.h"
#include "libmimic/kernel/kernel.h"
#include "options/options.h"

#define DEFAULT_SCALE "14"
#define SCALE_MOST 30
#define SEED "1"
#define DAEMON_SECONDS 10

struct demo {
	char build[PATH_MAX];		/* the build directory, found from our own path */
	char directory[80];		/* private, for the socket */
	char socket_path[96];
	pid_t daemon;
	const char *input;		/* NULL: a Kronecker graph of `scale` */
	const char *scale;
	char sparse[32];		/* DARE's matrices: ROWSxNNZ, MxNxK */
	char dense[64];
	char half[64];			/* Virgo's two products: MxNxK, as the paper's to each other */
	char quarter[64];
	const char *transport;		/* the only one that is wanted; NULL: all that are there */
	bool has_plain;			/* the form that uses no device has had its turn */
	bool is_square;
	unsigned int failures;
	const char *output_path;	/* NULL: none */
	struct demo_output *output;	/* likewise */
	int64_t started;
};

/* How many runs must be there, and all of them right. */
static void print_report(struct demo *demo, struct demo_table *table, struct json_object *report, size_t expected)
{
	size_t count = demo_table_print(table, report, &demo->failures);

	if (count != expected) {
		demo_complain("%s reports %zu runs instead of %zu", demo_text(report, "kernel"), count, expected);
		demo->failures++;
	}
}

/* Runs a program with --json and prints its report. */
static void run_and_print(struct demo *demo, struct demo_table *table, char **arguments, size_t expected)
{
	int status = 0;
	struct json_object *report = demo_run_program(arguments, &status, NULL, NULL);

	if (report) {
		print_report(demo, table, report, expected);
		if (demo->output)
			demo_output_add(demo->output, table->kind, arguments, report, NULL);
		if (table == &demo_dare_table && !demo->has_plain)
			demo_dare_compare(report);
		demo->is_square = demo_number(report, "rows") == demo_number(report, "columns");
	}
	demo->failures += !report || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	json_object_put(report);
}

static void run_maple(struct demo *demo, const char *kernel, const char *transport)
{
	char path[PATH_MAX + 32];
	char *arguments[16] = { path, "--json", "--register", "--seed", SEED, "--transport", (char *)transport,
				"--form", demo->has_plain ? "decoupled,lima,prefetch" : "all" };
	int count = 9;

	if (demo_interrupted)
		return;
	snprintf(path, sizeof(path), "%s/examples/maple/%s", demo->build, kernel);
	if (strcmp(transport, "daemon") == 0) {
		arguments[count++] = "--socket";
		arguments[count++] = demo->socket_path;
	}
	if (demo->input) {
		arguments[count++] = "--";
		arguments[count++] = (char *)demo->input;
	} else {
		arguments[count++] = "--kronecker";
		arguments[count++] = (char *)demo->scale;
	}
	run_and_print(demo, &demo_maple_table, arguments, demo->has_plain ? 3 : 4);
}

/* Its columns must be full for GSA to have an effect, so it is smaller than the graph, and denser. */
static void run_dare(struct demo *demo, const char *kernel, const char *transport)
{
	bool is_gemm = strcmp(kernel, "gemm") == 0;
	char path[PATH_MAX + 32];
	char *arguments[16] = { path, "--json", "--seed", SEED, "--transport", (char *)transport, "--form",
				demo->has_plain ? "baseline,gsa" : "plain,baseline,gsa" };
	int count = 8;

	if (demo_interrupted)
		return;
	snprintf(path, sizeof(path), "%s/examples/dare/%s", demo->build, kernel);
	if (is_gemm)
		arguments[7] = demo->has_plain ? "baseline" : "plain,baseline";
	if (strcmp(transport, "daemon") == 0) {
		arguments[count++] = "--socket";
		arguments[count++] = demo->socket_path;
	}
	if (is_gemm) {
		arguments[count++] = "--size";
		arguments[count++] = demo->dense;
	} else if (demo->input) {
		arguments[count++] = "--";
		arguments[count++] = (char *)demo->input;
	} else {
		arguments[count++] = "--uniform";
		arguments[count++] = demo->sparse;
	}
	run_and_print(demo, &demo_dare_table, arguments, (is_gemm ? 3 : 10) + !demo->has_plain);
}

static void run_maple_kernels(struct demo *demo, const char *transport)
{
	run_maple(demo, "spmv", transport);
	/* A file that one program cannot read is not worth a second try. */
	if (demo->input && demo->failures)
		return;
	if (demo->is_square)
		run_maple(demo, "bfs", transport);
	else
		printf("bfs: left out: the matrix is not square, so it is not a graph\n");
	/* It uses no device, so once is enough. */
	demo->has_plain = true;
}

static void run_dare_kernels(struct demo *demo, const char *transport)
{
	run_dare(demo, "spmm", transport);
	run_dare(demo, "sddmm", transport);
	run_dare(demo, "gemm", transport);
	demo->has_plain = true;
}

/* The paper's three experiments, each also by the library. */
static void run_virgo(struct demo *demo, const char *kernel, const char *transport)
{
	bool is_gemm = strcmp(kernel, "gemm") == 0, is_pair = strcmp(kernel, "gemm_two_units") == 0;
	char path[PATH_MAX + 32], forms[64];
	const char *own = is_gemm ? "dma" : is_pair ? "serial,parallel" : "fused";
	char *arguments[20] = { path, "--json", "--seed", SEED, "--transport", (char *)transport, "--form", forms,
				"--type", is_gemm ? "all" : "fp32", "--size", is_pair ? demo->half : demo->dense };
	size_t runs = is_gemm ? 6 : is_pair ? 3 : 2;
	int count = 12;

	if (demo_interrupted)
		return;
	snprintf(path, sizeof(path), "%s/examples/virgo/%s", demo->build, kernel);
	snprintf(forms, sizeof(forms), "%s%s,library", demo->has_plain ? "" : "plain,", own);
	if (is_pair) {
		arguments[count++] = "--second";
		arguments[count++] = demo->quarter;
	}
	if (strcmp(transport, "daemon") == 0) {
		arguments[count++] = "--socket";
		arguments[count++] = demo->socket_path;
	}
	if (!demo->has_plain)
		runs += is_gemm ? 3 : 1;
	run_and_print(demo, &demo_virgo_table, arguments, runs);
}

static void run_virgo_kernels(struct demo *demo, const char *transport)
{
	run_virgo(demo, "gemm", transport);
	run_virgo(demo, "gemm_swish", transport);
	run_virgo(demo, "gemm_two_units", transport);
	demo->has_plain = true;
}

static bool answers(const char *socket_path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool is_there;

	if (descriptor < 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	is_there = connect(descriptor, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(descriptor);
	return is_there;
}

static int start_daemon(struct demo *demo)
{
	int64_t deadline = demo_now_ms() + DAEMON_SECONDS * 1000;
	char path[PATH_MAX + 32];
	char *arguments[] = { path, "--foreground", "--log-level", "warning", "--socket", demo->socket_path, NULL };
	int status;

	snprintf(path, sizeof(path), "%s/bin/mimicd", demo->build);
	demo->daemon = demo_start(arguments, -1);
	if (demo->daemon < 0)
		return demo_complain("cannot start %s: %s", path, strerror(errno));
	while (!answers(demo->socket_path)) {
		if (waitpid(demo->daemon, &status, WNOHANG) == demo->daemon) {
			demo->daemon = 0;
			return demo_complain("%s ended before it listened", path);
		}
		if (demo_interrupted || demo_now_ms() > deadline)
			return demo_complain("%s does not listen on %s", path, demo->socket_path);
		usleep(10000);
	}
	return 0;
}

static void stop_daemon(struct demo *demo)
{
	int status;

	if (demo->daemon <= 0)
		return;
	kill(demo->daemon, SIGTERM);
	status = demo_finish(demo->daemon, DAEMON_SECONDS * 1000);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		demo_complain("the daemon did not stop cleanly");
		demo->failures++;
	}
	demo->daemon = 0;
}

static int find_build(struct demo *demo)
{
	ssize_t length = readlink("/proc/self/exe", demo->build, sizeof(demo->build) - 1);

	if (length < 0)
		return demo_complain("cannot find out where the programs are: %s", strerror(errno));
	demo->build[length] = '\0';
	/* BUILD/bin/mimic-demo */
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(demo->build, '/');

		if (slash)
			*slash = '\0';
	}
	return 0;
}

static int make_directory(struct demo *demo)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || !*parent)
		parent = "/tmp";
	if (snprintf(demo->directory, sizeof(demo->directory), "%s/mimic-demo-XXXXXX", parent) >=
	    (int)sizeof(demo->directory))
		return demo_complain("TMPDIR is too long for a socket's name: %s", parent);
	if (!mkdtemp(demo->directory))
		return demo_complain("cannot make a directory for the socket: %s", strerror(errno));
	snprintf(demo->socket_path, sizeof(demo->socket_path), "%s/mimicd.socket", demo->directory);
	return 0;
}

static bool is_wanted(const struct demo *demo, const char *transport)
{
	/* An error that every program has is told once. */
	if (demo_interrupted || (demo->input && demo->failures))
		return false;
	return !demo->transport || strcmp(demo->transport, transport) == 0;
}

/* One kind of device on all transports. */
static void run_device(struct demo *demo, const char *kind, void (*run)(struct demo *demo, const char *transport))
{
	demo->has_plain = false;
	if (is_wanted(demo, "embedded"))
		run(demo, "embedded");
	if (is_wanted(demo, "daemon") && demo->daemon > 0)
		run(demo, "daemon");
	if (is_wanted(demo, "kernel") && (demo->transport || mimic_kernel_is_there(kind)))
		run(demo, "kernel");
}

/* Sizes for DARE and Virgo that fit the graph's: at scale 14, 1024 rows of 64 elements, and 512 x 512 x 512. */
static int choose_sizes(struct demo *demo)
{
	char *end;
	unsigned long scale = strtoul(demo->scale, &end, 10), rows;

	/* The programs say more about it. */
	if (*end != '\0' || scale < 1 || scale > SCALE_MOST)
		return demo_complain("--scale %s: it must be a number from 1 to %d", demo->scale, SCALE_MOST);
	rows = scale < 10 ? 64 : scale > 18 ? 16384 : 1ul << (scale - 4);
	snprintf(demo->sparse, sizeof(demo->sparse), "%lux%lu", rows, rows < 1024 ? rows / 4 : 64);
	rows = rows > 2048 ? 1024 : rows / 2;
	snprintf(demo->dense, sizeof(demo->dense), "%lux%lux%lu", rows, rows, rows);
	snprintf(demo->half, sizeof(demo->half), "%lux%lux%lu", rows / 2, rows / 2, rows / 2);
	snprintf(demo->quarter, sizeof(demo->quarter), "%lux%lux%lu", rows / 4, rows / 4, rows / 2);
	return 0;
}

/* Again for the output, longer than before: a sample of a run of milliseconds has little. */
static void run_sampled(struct demo *demo)
{
	unsigned long larger_scale = strtoul(demo->scale, NULL, 10) + 3;
	struct demo larger = *demo;
	char scale[16];

	if (!demo->output || demo->failures || demo_interrupted)
		return;
	snprintf(scale, sizeof(scale), "%lu", larger_scale < SCALE_MOST ? larger_scale : SCALE_MOST);
	larger.scale = scale;
	if (choose_sizes(&larger))
		return;
	printf("Some once more, to look at their queues meanwhile ...\n");
	demo->failures += demo_sampled_run(&(struct demo_sampled){
		.build = demo->build, .directory = demo->directory, .input = demo->input, .scale = scale,
		.socket_path = demo->daemon > 0 ? demo->socket_path : NULL, .embedded = is_wanted(demo, "embedded"),
		.sparse = larger.sparse, .dense = larger.dense, .second = larger.half,
	}, demo->output);
}

static void run_demo(struct demo *demo)
{
	if (is_wanted(demo, "daemon") && start_daemon(demo))
		demo->failures++;
	run_device(demo, "maple", run_maple_kernels);
	run_device(demo, "dare", run_dare_kernels);
	run_device(demo, "virgo", run_virgo_kernels);
	if (!demo->failures && !demo_interrupted)
		printf("All verified, in %.1f s.\n", (double)(demo_now_ms() - demo->started) / 1000);
	run_sampled(demo);
	stop_daemon(demo);
}

static void print_help(void)
{
	printf("Usage: mimic-demo [--scale SCALE] [--transport NAME] [--output RUN.JSON] [FILE]\n"
	       "Runs SpMV and BFS on MAPLE and SpMM, SDDMM and GEMM on DARE, in all forms: on FILE\n"
	       "(Matrix Market or a list of edges); or on a Kronecker graph of 2^SCALE vertices\n"
	       "(default %s) and, for DARE, on a random matrix. Then dense products on Virgo: GEMM,\n"
	       "GEMM fused with Swish, and two GEMMs on two units. On the transports embedded and\n"
	       "daemon, and kernel if it has devices; or on the one that is named.\n"
	       "With --output all of it is written to a file, which mimic report makes a page of.\n"
	       "Exit status: 0 all verified, 1 something failed or is wrong, 2 bad options.\n",
	       DEFAULT_SCALE);
}

static int parse(struct demo *demo, int argc, char **argv)
{
	const struct mimic_option options[] = {
		{ .name = "output", .value = &demo->output_path },
		{ .name = "scale", .value = &demo->scale },
		{ .name = "transport", .value = &demo->transport },
	};
	int end = mimic_options_parse("mimic-demo", argc, argv, OPTIONS_ANYWHERE, options, 3, NULL);

	if (end < 0)
		return -1;
	if (end != OPTIONS_TAKEN) {
		if (end == OPTIONS_WANT_HELP)
			print_help();
		else
			puts("mimic-demo " MIMIC_VERSION);
		exit(fflush(stdout) != 0);
	}
	if (demo->transport && strcmp(demo->transport, "embedded") && strcmp(demo->transport, "daemon") &&
	    strcmp(demo->transport, "kernel"))
		return demo_complain("--transport %s: it must be embedded, daemon or kernel", demo->transport);
	if (argc - optind > 1)
		return demo_complain("%s: one input at a time", argv[optind + 1]);
	demo->input = argv[optind];
	return choose_sizes(demo);
}

static void on_signal(int number)
{
	demo_interrupted = number;
}

static void write_output(struct demo *demo)
{
	double seconds = (double)(demo_now_ms() - demo->started) / 1000;
	int error;

	if (!demo->output || demo_interrupted)
		return;
	error = demo_output_write(demo->output, demo->output_path, seconds);
	if (!error)
		return;
	demo_complain("cannot write %s: %s", demo->output_path, strerror(-error));
	demo->failures++;
}

int main(int argc, char **argv)
{
	struct demo demo = { .scale = DEFAULT_SCALE, .is_square = true, .started = demo_now_ms() };
	struct sigaction action = { .sa_handler = on_signal };

	if (parse(&demo, argc, argv))
		return 2;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
	if (find_build(&demo) || make_directory(&demo))
		return 1;
	if (demo.output_path) {
		demo.output = demo_output_new(argc, argv);
		if (!demo.output)
			return demo_complain("out of memory"), 1;
	}
	run_demo(&demo);
	unlink(demo.socket_path);
	rmdir(demo.directory);
	write_output(&demo);
	demo_output_free(demo.output);
	if (demo_interrupted)
		return 128 + demo_interrupted;
	if (demo.failures)
		return demo_complain("something failed or is wrong, see above"), 1;
	return 0;
}
