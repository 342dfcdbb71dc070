/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs the cases on one way to the device, with all its profiles, as TAP.
 *
 * A profile needs a process of its own (libmimic reads its configuration
 * once), and so does each case: one that hangs or dies is one failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mimic/bus.h"
#include "tests/lib/contract_internal.h"
#include "tests/lib/programs.h"
#include "tests/lib/sanitized.h"

#define CASE_TIMEOUT 60000
#define ALL_PROFILES ((1u << CONTRACT_PROFILES) - 1)
#define SLOW_SHARE 16
#define EXIT_FAILED 1
#define EXIT_SKIPPED 77

static struct contract_case *cases;
static unsigned int profile_now;
static bool is_slow;

struct selection {
	const char *pattern;	/* NULL: all */
	unsigned int profile;	/* 0: this is the outermost process */
	unsigned int number;	/* of the next case in the output */
	bool has_driver;
	unsigned int slow_profile;
};

void contract_register(struct contract_case *contract_case)
{
	struct contract_case **place = &cases;

	while (*place)
		place = &(*place)->next;
	*place = contract_case;
}

bool profile_is(unsigned int profile)
{
	return profile_now == profile;
}

bool is_left_out(unsigned int n)
{
	return is_slow && n % SLOW_SHARE;
}

void contract_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	printf("%s:%d: ", file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
	/* Threads may be waiting for good: no destructors, no leak check. */
	_exit(EXIT_FAILED);
}

void contract_skip(const char *why)
{
	printf("%s\n", why);
	fflush(stdout);
	_exit(EXIT_SKIPPED);
}

void contract_expect(const char *file, int line, const char *text, uint64_t actual,
		     uint64_t expected)
{
	if (actual != expected)
		contract_fail(file, line, "%s is %#llx, the contract says %#llx", text,
			      (unsigned long long)actual, (unsigned long long)expected);
}

static bool is_selected(const struct contract_case *contract_case, unsigned int profile,
			const struct selection *selection)
{
	if (!(contract_case->profiles & profile))
		return false;
	if (selection->has_driver && contract_case->profiles & WITHOUT_DRIVER)
		return false;
	if (selection->slow_profile && profile != selection->slow_profile &&
	    contract_case->profiles & selection->slow_profile)
		return false;
	return !selection->pattern || strstr(contract_case->name, selection->pattern);
}

static unsigned int count_cases(unsigned int profile, const struct selection *selection)
{
	unsigned int count = 0;

	for (struct contract_case *i = cases; i; i = i->next)
		count += is_selected(i, profile, selection);
	return count;
}

static const char *profile_name(const struct contract_way *way, unsigned int profile)
{
	return way->device->profiles[profile - 1].name;
}

static const char *configuration_of(const struct contract_way *way, unsigned int profile)
{
	return way->device->profiles[profile - 1].configuration;
}

/*
 * Pages that are still the parent's are copied at their first store, and the
 * kernel then tells the device to drop its translations. A case about the TLB
 * must not find it emptied for the harness's sake.
 */
static void take_own_pages(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512], rights[5];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3 || strcmp(rights, "rw-p"))
			continue;
		for (; start < end; start += MIMIC_PAGE_SIZE) {
			volatile char *page = (volatile char *)start;

			*page = *page;
		}
	}
	if (maps)
		fclose(maps);
}

static void run_in_child(const struct contract_case *contract_case, const struct contract_way *way,
			 int output)
{
	const struct bus *bus = way->bus;
	int error;

	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (way->needs_node)
		take_own_pages();
	error = bus->open(way->device, configuration_of(way, profile_now));
	if (error)
		contract_fail(__FILE__, __LINE__, "cannot open the device: %s", strerror(-error));
	contract_use_bus(bus);
	contract_case->run();
	bus->close();
	fflush(stdout);
}

/* Exit status of the child, or -1 with a line in its output that says how it ended. */
static int wait_for_child(pid_t child, int output)
{
	struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN };
	bool in_time = poll(&ended, 1, CASE_TIMEOUT) == 1;
	int status;

	close(ended.fd);
	if (!in_time)
		kill(child, SIGKILL);
	waitpid(child, &status, 0);
	if (!in_time)
		dprintf(output, "no end after %d s\n", CASE_TIMEOUT / 1000);
	else if (WIFSIGNALED(status))
		dprintf(output, "killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void print_output(int output, bool as_reason)
{
	FILE *file;
	char line[1024];

	lseek(output, 0, SEEK_SET);
	file = fdopen(output, "r");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (as_reason) {
			printf(" # SKIP %s\n", line);
			break;
		}
		printf("# %s\n", line);
	}
	if (file)
		fclose(file);
}

static bool run_case(const struct contract_case *contract_case, const struct contract_way *way,
		     unsigned int number)
{
	int output = memfd_create("case output", MFD_CLOEXEC);
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		run_in_child(contract_case, way, output);
		exit(0);
	}
	status = wait_for_child(child, output);
	printf("%sok %u - %s, %s: %s", status == 0 || status == EXIT_SKIPPED ? "" : "not ",
	       number, way->name, profile_name(way, profile_now), contract_case->name);
	if (status == EXIT_SKIPPED) {
		print_output(output, true);
		return true;
	}
	printf("\n");
	print_output(output, false);
	return status == 0;
}

static int run_profile(const struct contract_way *way, const struct selection *selection)
{
	unsigned int number = selection->number;
	int result = 0;

	profile_now = selection->profile;
	for (struct contract_case *i = cases; i; i = i->next) {
		if (!is_selected(i, profile_now, selection))
			continue;
		if (!run_case(i, way, number++))
			result = EXIT_FAILED;
	}
	fflush(stdout);
	return result;
}

static pid_t start_profile(const struct contract_way *way, const struct selection *selection,
			   unsigned int profile)
{
	char number[32], profile_option[32], self[512], mimic[512];
	const char *arguments[12];
	unsigned int count = 0;

	program_path(self, sizeof(self), NULL);
	program_path(mimic, sizeof(mimic), "bin/mimic");
	snprintf(number, sizeof(number), "--number=%u", selection->number);
	snprintf(profile_option, sizeof(profile_option), "--profile=%u", profile);
	if (way->under_mimic_run) {
		arguments[count++] = mimic;
		arguments[count++] = "run";
		arguments[count++] = "--transport";
		arguments[count++] = way->transport;
		arguments[count++] = "--";
	}
	arguments[count++] = self;
	arguments[count++] = profile_option;
	arguments[count++] = number;
	if (selection->pattern)
		arguments[count++] = selection->pattern;
	arguments[count] = NULL;
	return program_start(arguments);
}

/* For a profile that is the text of a file: the file. */
static int write_configuration(const char *text, char *path, size_t size)
{
	ssize_t written;
	int file;

	snprintf(path, size, "/tmp/mimic-contract-XXXXXX");
	file = mkstemp(path);
	if (file < 0) {
		perror(path);
		return -1;
	}
	written = write(file, text, strlen(text));
	close(file);
	if (written == (ssize_t)strlen(text))
		return 0;
	perror(path);
	unlink(path);
	return -1;
}

static int start_way(const struct contract_way *way, struct daemon_process *daemon,
		     const char *configuration)
{
	if (way->transport)
		setenv("MIMIC_TRANSPORT", way->transport, 1);
	setenv("MIMIC_CONFIG", configuration, 1);
	if (way->needs_node)
		return daemon_start_on_bus(daemon, configuration, way->device->name);
	return way->needs_daemon ? daemon_start(daemon, configuration) : 0;
}

/* A process of its own for the profile. The next one's numbers go on from there. */
static int run_in_process(const struct contract_way *way, struct selection *selection,
			  unsigned int profile)
{
	int status = program_wait(start_profile(way, selection, profile));

	selection->number += count_cases(profile, selection);
	if (status && status != EXIT_FAILED)
		printf("# %s, %s: ended with status %d\n", way->name, profile_name(way, profile), status);
	return status ? EXIT_FAILED : 0;
}

static int run_with_daemon(const struct contract_way *way, struct selection *selection,
			   unsigned int profile)
{
	const char *text = way->device->profiles[profile - 1].file;
	struct daemon_process daemon = { 0 };
	char path[64] = "";
	int result = 0;

	if (text && write_configuration(text, path, sizeof(path)))
		return EXIT_FAILED;
	if (start_way(way, &daemon, text ? path : configuration_of(way, profile)))
		result = EXIT_FAILED;
	else if (run_in_process(way, selection, profile))
		result = EXIT_FAILED;
	if (daemon.pid && daemon_stop(&daemon))
		result = EXIT_FAILED;
	if (text)
		unlink(path);
	return result;
}

/* `profiles` is a mask. `run` takes each by itself. */
static int run_profiles(const struct contract_way *way, struct selection *selection, unsigned int profiles,
			int (*run)(const struct contract_way *, struct selection *, unsigned int))
{
	unsigned int count = 0;
	int result = 0;

	for (unsigned int i = 0; i < CONTRACT_PROFILES; i++)
		count += profiles >> i & 1 ? count_cases(1u << i, selection) : 0;
	printf("1..%u\n", count);
	fflush(stdout);
	for (unsigned int i = 0; i < CONTRACT_PROFILES; i++)
		if (profiles >> i & 1 && run(way, selection, 1u << i))
			result = EXIT_FAILED;
	return result;
}

/* The profiles of the daemon behind the kernel's node; -ENODEV: there is none. */
static int node_profiles(const struct contract_device *device)
{
	char path[32];
	int node, profiles;

	snprintf(path, sizeof(path), "/dev/%s", device->name);
	node = open(path, O_RDWR | O_CLOEXEC);
	if (node < 0)
		return errno == ENOENT || errno == ENXIO || errno == EIO ? -ENODEV : -errno;
	profiles = device->node_profiles(node);
	close(node);
	return profiles;
}

static int run_on_node(const struct contract_way *way, struct selection *selection)
{
	int profiles = node_profiles(way->device);

	if (profiles > 0) {
		if (way->transport)
			setenv("MIMIC_TRANSPORT", way->transport, 1);
		return run_profiles(way, selection, (unsigned int)profiles, run_in_process);
	}
	if (profiles != -ENODEV) {
		printf("1..1\nnot ok 1 - %s: /dev/%s: %s\n", way->name, way->device->name,
		       strerror(-profiles));
		return EXIT_FAILED;
	}
	if (access(MIMIC_BUS_NODE, F_OK) == 0)
		return run_profiles(way, selection, way->slow_profile_only ? way->slow_profile : ALL_PROFILES,
				    run_with_daemon);
	printf("1..1\nok 1 - %s # SKIP no /dev/%s: run by make check-kernel\n", way->name,
	       way->device->name);
	return 0;
}

int contract_main(int argc, char **argv, const struct contract_way *way)
{
	struct selection selection = {
		.number = 1, .has_driver = way->needs_node, .slow_profile = way->slow_profile,
	};

	if (IS_SANITIZED && !selection.slow_profile)
		selection.slow_profile = way->device->sanitized_profile;
	is_slow = way->slow_profile || IS_SANITIZED;
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--profile=", 10))
			selection.profile = (unsigned int)atoi(argv[i] + 10);
		else if (!strncmp(argv[i], "--number=", 9))
			selection.number = (unsigned int)atoi(argv[i] + 9);
		else
			selection.pattern = argv[i];
	}
	if (selection.profile)
		return run_profile(way, &selection);
	if (way->needs_node)
		return run_on_node(way, &selection);
	return run_profiles(way, &selection, ALL_PROFILES, run_with_daemon);
}
