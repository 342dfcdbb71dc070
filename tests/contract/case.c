/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The cases of this program's device, each run in a process of its own: one that hangs or dies is one failure. */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/contract/internal.h"

#define CASE_TIMEOUT 60000
#define SLOW_SHARE 16
#define EXIT_SKIPPED 77
#define EXIT_TOO_LATE 78
#define BUSY_TRIES 5u
#define BUSY_TIMES_LONGER 3u

static struct contract_case *cases;
static unsigned int profile_now;
static bool thins_sweeps, is_slow;
static unsigned int busy_try;	/* of this case */
static uint64_t verdicts_until;	/* ns; 0: for ever */

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
	return thins_sweeps && n % SLOW_SHARE;
}

bool accesses_are_slow(void)
{
	return is_slow;
}

static uint64_t nanoseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t contract_busy_for(uint64_t time)
{
	for (unsigned int i = 0; i < busy_try; i++)
		time *= BUSY_TIMES_LONGER;
	/* On a loaded machine the case measures the device to be many times slower than it is. */
	verdicts_until = busy_try < BUSY_TRIES - 1 ? nanoseconds_now() + time / 64 : 0;
	return time;
}

static int exit_of_failure(void)
{
	return verdicts_until && nanoseconds_now() > verdicts_until ? EXIT_TOO_LATE : EXIT_FAILED;
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
	_exit(exit_of_failure());
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
			const struct contract_run *run)
{
	unsigned int slow_profile = run->exception.slow_profile;

	if (!(contract_case->profiles & profile))
		return false;
	if (run->way->needs_node && contract_case->profiles & WITHOUT_DRIVER)
		return false;
	if (slow_profile && profile != slow_profile && contract_case->profiles & slow_profile)
		return false;
	return !run->pattern || strstr(contract_case->name, run->pattern);
}

unsigned int contract_count_cases(unsigned int profile, const struct contract_run *run)
{
	unsigned int count = 0;

	for (struct contract_case *i = cases; i; i = i->next)
		count += is_selected(i, profile, run);
	return count;
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

static void run_in_child(const struct contract_case *contract_case, const struct contract_run *run,
			 int output)
{
	const struct bus *bus = run->way->bus;
	int error;

	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (run->way->needs_node)
		take_own_pages();
	error = bus->open(&contract_device, contract_device.profiles[profile_now - 1].configuration);
	if (error)
		contract_fail(__FILE__, __LINE__, "cannot open the device: %s", strerror(-error));
	contract_use_way(run->way);
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

/* Its exit status, as wait_for_child() says it. */
static int try_case(const struct contract_case *contract_case, const struct contract_run *run, int output)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		run_in_child(contract_case, run, output);
		exit(0);
	}
	return wait_for_child(child, output);
}

static bool run_case(const struct contract_case *contract_case, const struct contract_run *run,
		     unsigned int number)
{
	int output = memfd_create("case output", MFD_CLOEXEC);
	int status;

	for (busy_try = 0; (status = try_case(contract_case, run, output)) == EXIT_TOO_LATE; busy_try++)
		dprintf(output, "the device may have been idle by then: again, and busy for longer\n");
	printf("%sok %u - %s, %s: %s", status == 0 || status == EXIT_SKIPPED ? "" : "not ",
	       number, run->name, contract_device.profiles[profile_now - 1].name, contract_case->name);
	if (status == EXIT_SKIPPED) {
		print_output(output, true);
		return true;
	}
	printf("\n");
	print_output(output, false);
	return status == 0;
}

int contract_run_cases(const struct contract_run *run)
{
	unsigned int number = run->number;
	int result = 0;

	profile_now = run->profile;
	thins_sweeps = run->thins_sweeps;
	is_slow = run->way->needs_node;
	for (struct contract_case *i = cases; i; i = i->next) {
		if (!is_selected(i, profile_now, run))
			continue;
		if (!run_case(i, run, number++))
			result = EXIT_FAILED;
	}
	fflush(stdout);
	return result;
}
