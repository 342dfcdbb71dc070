/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs the cases of a device on one way to it, with all its profiles, as TAP.
 *
 *   test_contract_DEVICE_WAY [PART-OF-A-NAME]
 *   contract_DEVICE --way=WAY [PART-OF-A-NAME]
 *
 * The former are links to the latter. A profile needs a process of its own, because
 * libmimic reads its configuration once; so has each case.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mimic/bus.h"
#include "tests/contract/internal.h"
#include "tests/lib/programs.h"
#include "tests/lib/sanitized.h"

#define PROGRAM_PREFIX "test_contract_"
#define ALL_PROFILES ((1u << CONTRACT_PROFILES) - 1)

/* --- the way ------------------------------------------------------------------- */

static const struct contract_way *find_way(const char *program)
{
	for (const struct contract_way *way = contract_ways; way->program; way++)
		if (!strcmp(way->program, program))
			return way;
	for (const struct contract_way *way = contract_device.ways; way && way->program; way++)
		if (!strcmp(way->program, program))
			return way;
	return NULL;
}

/* MAPLE's programs have no device in their names, so it may be left out. */
static const struct contract_way *way_of_program(const char *program)
{
	size_t kind = strcspn(contract_device.name, "0123456789");

	if (strncmp(program, PROGRAM_PREFIX, strlen(PROGRAM_PREFIX)))
		return NULL;
	program += strlen(PROGRAM_PREFIX);
	if (!strncmp(program, contract_device.name, kind) && program[kind] == '_')
		program += kind + 1;
	return find_way(program);
}

static struct contract_exception exception_of(const struct contract_way *way)
{
	const struct contract_exception *i = contract_device.exceptions;

	for (; i && i->program; i++)
		if (!strcmp(i->program, way->program))
			return *i;
	return (struct contract_exception){ 0 };
}

/* --- a profile ------------------------------------------------------------------ */

static pid_t start_profile(const struct contract_run *run, unsigned int profile)
{
	char number[32], profile_option[32], way[64], self[512], mimic[512];
	const char *arguments[12];
	unsigned int count = 0;

	program_path(self, sizeof(self), NULL);
	program_path(mimic, sizeof(mimic), "bin/mimic");
	snprintf(way, sizeof(way), "--way=%s", run->way->program);
	snprintf(number, sizeof(number), "--number=%u", run->number);
	snprintf(profile_option, sizeof(profile_option), "--profile=%u", profile);
	if (run->way->under_mimic_run) {
		arguments[count++] = mimic;
		arguments[count++] = "run";
		arguments[count++] = "--transport";
		arguments[count++] = run->way->transport;
		arguments[count++] = "--";
	}
	arguments[count++] = self;
	arguments[count++] = way;
	arguments[count++] = profile_option;
	arguments[count++] = number;
	if (run->pattern)
		arguments[count++] = run->pattern;
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
		return daemon_start_on_bus(daemon, configuration, contract_device.name);
	return way->needs_daemon ? daemon_start(daemon, configuration) : 0;
}

/* A process of its own for the profile. The next one's numbers go on from there. */
static int run_in_process(struct contract_run *run, unsigned int profile)
{
	int status = program_wait(start_profile(run, profile));

	run->number += contract_count_cases(profile, run);
	if (status && status != EXIT_FAILED)
		printf("# %s, %s: ended with status %d\n", run->name, contract_device.profiles[profile - 1].name,
		       status);
	return status ? EXIT_FAILED : 0;
}

static int run_with_daemon(struct contract_run *run, unsigned int profile)
{
	const char *configuration = contract_device.profiles[profile - 1].configuration;
	const char *text = contract_device.profiles[profile - 1].file;
	struct daemon_process daemon = { 0 };
	char path[64] = "";
	int result = 0;

	if (text && write_configuration(text, path, sizeof(path)))
		return EXIT_FAILED;
	if (start_way(run->way, &daemon, text ? path : configuration))
		result = EXIT_FAILED;
	else if (run_in_process(run, profile))
		result = EXIT_FAILED;
	if (daemon.pid && daemon_stop(&daemon))
		result = EXIT_FAILED;
	if (text)
		unlink(path);
	return result;
}

/* `profiles` is a mask. `run_one` takes each by itself. */
static int run_profiles(struct contract_run *run, unsigned int profiles,
			int (*run_one)(struct contract_run *, unsigned int))
{
	unsigned int count = 0;
	int result = 0;

	for (unsigned int i = 0; i < CONTRACT_PROFILES; i++)
		count += profiles >> i & 1 ? contract_count_cases(1u << i, run) : 0;
	printf("1..%u\n", count);
	fflush(stdout);
	for (unsigned int i = 0; i < CONTRACT_PROFILES; i++)
		/* A device may have one profile only. */
		if (profiles >> i & 1 && contract_count_cases(1u << i, run) && run_one(run, 1u << i))
			result = EXIT_FAILED;
	return result;
}

/* --- the kernel's node ----------------------------------------------------------- */

/* The profiles of the daemon behind the kernel's node; -ENODEV: there is none. */
static int node_profiles(void)
{
	char path[32];
	int node, profiles;

	snprintf(path, sizeof(path), "/dev/%s", contract_device.name);
	node = open(path, O_RDWR | O_CLOEXEC);
	if (node < 0)
		return errno == ENOENT || errno == ENXIO || errno == EIO ? -ENODEV : -errno;
	profiles = contract_device.node_profiles(node);
	close(node);
	return profiles;
}

static int run_on_node(struct contract_run *run)
{
	int profiles = node_profiles();

	if (profiles > 0) {
		if (run->way->transport)
			setenv("MIMIC_TRANSPORT", run->way->transport, 1);
		return run_profiles(run, (unsigned int)profiles, run_in_process);
	}
	if (profiles != -ENODEV) {
		printf("1..1\nnot ok 1 - %s: /dev/%s: %s\n", run->name, contract_device.name, strerror(-profiles));
		return EXIT_FAILED;
	}
	if (access(MIMIC_BUS_NODE, F_OK) == 0)
		return run_profiles(run, run->exception.slow_profile_only ? run->exception.slow_profile : ALL_PROFILES,
				    run_with_daemon);
	printf("1..1\nok 1 - %s # SKIP no /dev/%s: run by make check-kernel\n", run->name, contract_device.name);
	return 0;
}

static void set_way(struct contract_run *run, const struct contract_way *way)
{
	run->way = way;
	snprintf(run->name, sizeof(run->name), "%s%s%s", contract_device.title ? contract_device.title : "",
		 contract_device.title ? ", " : "", way->name);
	run->exception = exception_of(way);
	run->thins_sweeps = way->thins_sweeps || run->exception.slow_profile || IS_SANITIZED;
	if (IS_SANITIZED && !run->exception.slow_profile)
		run->exception.slow_profile = contract_device.sanitized_profile;
}

int main(int argc, char **argv)
{
	const struct contract_way *way = way_of_program(program_invocation_short_name);
	struct contract_run run = { .number = 1 };

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--way=", 6))
			way = find_way(argv[i] + 6);
		else if (!strncmp(argv[i], "--profile=", 10))
			run.profile = (unsigned int)atoi(argv[i] + 10);
		else if (!strncmp(argv[i], "--number=", 9))
			run.number = (unsigned int)atoi(argv[i] + 9);
		else
			run.pattern = argv[i];
	}
	if (!way) {
		fprintf(stderr, "%s: neither the name nor --way= is that of a way to %s\n",
			program_invocation_short_name, contract_device.name);
		return 2;
	}
	set_way(&run, way);
	if (run.profile)
		return contract_run_cases(&run);
	return run.way->needs_node ? run_on_node(&run) : run_profiles(&run, ALL_PROFILES, run_with_daemon);
}
