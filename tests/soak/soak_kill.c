/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Kills mimicd at random moments while programs use all devices, and compares what they compute with what an
 * undisturbed device gives. usage: soak_kill MIMICD [OPTIONS] [-- MIMICD-OPTIONS]; --help
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/soak/kill_daemon.h"
#include "tests/soak/kill_programs.h"

#define PATIENCE_MS 30000u
#define PLAIN_SECONDS 5
#define DESCRIPTORS_MS 8000u	/* closers work beside the loop, and threads that have nothing to do end after a while */
#define SPARE_DESCRIPTORS 4u
/* Kills of so many have something to say about the hundredth part. */
#define STALLS_MIN 100u
/* Of 16 kills: the successor is killed while it starts. */
#define TWICE_OF_16 2u
/* Of 64 kills: the supervisor does nothing for a while. */
#define GAPS_OF_64 2u
#define GAP_MS 300u

struct soak {
	struct kill_daemon daemon;
	struct kill_programs programs;
	struct kill_times restarts;
	unsigned int kills, done, between_ms, seconds, calm;
	double limit_ms;
	uint64_t random, seed, started_ns;
	bool is_json;
	const char *only;
	char reason[800];
};

static const char usage[] =
	"usage: soak_kill MIMICD [OPTIONS] [-- MIMICD-OPTIONS]\n"
	"  --kills N         so many times (200)\n"
	"  --between MS      up to so long after programs went on (20)\n"
	"  --seconds N       with --kills 0: so long (5)\n"
	"  --calm N          before the kills: looks so many times how long programs take to their next answer (0)\n"
	"  --limit MS        of the 99th percentile of the stall behind a restart (100; 0: none)\n"
	"  --programs LIST   of maple,accesses,threads,dare,virgo,open,processes,list,traps: these\n"
	"  --threads N       mimicd's: programs are served by further ones, however few they are\n"
	"  --kernel          programs reach the devices by mimic.ko; of the works maple, dare, virgo and traps\n"
	"  --upgrade         lets another copy of mimicd take over (SIGHUP) in place of kills\n"
	"  --plain           without a supervisor\n"
	"  --seed N          of the moments\n"
	"  --break PROGRAM   makes one result of it wrong, which has to be found\n"
	"  --json            the summary for programs\n";

static void sleep_us(uint64_t microseconds)
{
	const struct timespec time = {
		.tv_sec = (time_t)(microseconds / 1000000), .tv_nsec = (long)(microseconds % 1000000 * 1000),
	};

	nanosleep(&time, NULL);
}

static bool fail(struct soak *soak, const char *reason)
{
	if (!soak->reason[0])
		snprintf(soak->reason, sizeof(soak->reason), "%s", reason);
	return false;
}

/* A program that failed knows more than the daemon, which only ended. */
static bool fail_by_daemon(struct soak *soak)
{
	sleep_us(1000000);
	if (!kill_programs_are_well(&soak->programs))
		return fail(soak, soak->programs.error);
	return fail(soak, soak->daemon.error);
}

static bool by_chance(struct soak *soak, unsigned int count, unsigned int of)
{
	return kill_random(&soak->random) % of < count;
}

/* The supervisor starts no successor for a while, and programs begin and end meanwhile. */
static bool leave_a_gap(struct soak *soak, uint64_t *killed)
{
	bool is_killed;

	kill_daemon_hold(&soak->daemon, true);
	is_killed = kill_daemon_kill(&soak->daemon, killed);
	sleep_us(GAP_MS * 1000);
	kill_daemon_hold(&soak->daemon, false);
	return is_killed;
}

/* *is_plain: one kill, whose restart was as fast as it can be. */
static bool kill_it(struct soak *soak, uint64_t *killed, bool *is_plain)
{
	struct kill_daemon *daemon = &soak->daemon;

	*is_plain = true;
	if (daemon->is_upgraded)
		return kill_daemon_upgrade(daemon, killed) && kill_daemon_find(daemon, PATIENCE_MS);
	*is_plain = !by_chance(soak, GAPS_OF_64, 64);
	if (!*is_plain)
		return leave_a_gap(soak, killed) && kill_daemon_find(daemon, PATIENCE_MS);
	if (!kill_daemon_kill(daemon, killed) || !kill_daemon_find(daemon, PATIENCE_MS))
		return false;
	while (soak->done + 1 < soak->kills && by_chance(soak, TWICE_OF_16, 16)) {
		uint64_t when;

		*is_plain = false;
		sleep_us(kill_random(&soak->random) % 20000);
		if (!kill_daemon_kill(daemon, &when) || !kill_daemon_find(daemon, PATIENCE_MS))
			return false;
		soak->done++;
	}
	return true;
}

static bool kill_once(struct soak *soak)
{
	uint64_t killed, served;
	bool is_plain;

	sleep_us(kill_random(&soak->random) % (soak->between_ms * 1000ull + 1));
	if (!kill_it(soak, &killed, &is_plain) || !kill_daemon_await(&soak->daemon, PATIENCE_MS, &served))
		return fail_by_daemon(soak);
	soak->done++;
	if (is_plain)
		kill_times_add(&soak->restarts, served - killed);
	return kill_programs_await(&soak->programs, served, PATIENCE_MS) || fail(soak, soak->programs.error);
}

/* At random moments, as kills are. */
static bool watch_undisturbed(struct soak *soak)
{
	soak->programs.phase = KILL_CALM;
	for (unsigned int i = 0; i < soak->calm; i++) {
		sleep_us(kill_random(&soak->random) % (soak->between_ms * 1000ull + 1));
		if (!kill_programs_await(&soak->programs, kill_now_ns(), PATIENCE_MS))
			return fail(soak, soak->programs.error);
	}
	soak->programs.phase = KILL_STALLS;
	return true;
}

static bool run_without_kills(struct soak *soak)
{
	uint64_t end = kill_now_ns() + soak->seconds * 1000000000ull;

	while (kill_now_ns() < end) {
		if (!kill_daemon_is_there(&soak->daemon))
			return fail_by_daemon(soak);
		if (!kill_programs_await(&soak->programs, kill_now_ns(), PATIENCE_MS))
			return fail(soak, soak->programs.error);
		sleep_us(10000);
	}
	return true;
}

/* All programs have ended. */
static bool check_descriptors(struct soak *soak, const unsigned int before[2])
{
	uint64_t end = kill_now_ns() + DESCRIPTORS_MS * 1000000ull;
	unsigned int after[2];

	do {
		kill_daemon_descriptors(&soak->daemon, after);
		if (after[0] <= before[0] + SPARE_DESCRIPTORS && after[1] <= before[1] + SPARE_DESCRIPTORS)
			return true;
		sleep_us(50000);
	} while (kill_now_ns() < end);
	snprintf(soak->reason, sizeof(soak->reason),
		 "descriptors are left when all programs have ended: the supervisor had %u and has %u, mimicd had %u and has %u",
		 before[0], after[0], before[1], after[1]);
	return false;
}

static double of_all(struct soak *soak, bool is_stall, double fraction)
{
	struct kill_times all;
	double value;

	if (kill_times_make(&all, (size_t)soak->programs.count * (soak->kills + soak->calm + 1)))
		return 0;
	for (unsigned int i = 0; i < soak->programs.count; i++) {
		struct kill_program *program = &soak->programs.program[i];
		struct kill_times *times = is_stall ? &program->stalls : &program->waits;

		for (size_t k = 0; k < times->count; k++)
			kill_times_add(&all, times->microseconds[k] * 1000ull);
	}
	value = kill_times_percentile(&all, fraction);
	kill_times_free(&all);
	return value;
}

static double stall_of_all(struct soak *soak, double fraction)
{
	return of_all(soak, true, fraction);
}

static double wait_of_all(struct soak *soak, double fraction)
{
	return of_all(soak, false, fraction);
}

static bool check_stall(struct soak *soak)
{
	double stall = stall_of_all(soak, 0.99);

	if (soak->limit_ms <= 0 || soak->done < STALLS_MIN || stall <= soak->limit_ms)
		return true;
	snprintf(soak->reason, sizeof(soak->reason),
		 "a hundredth of the stalls is longer than %.1f ms beyond the restart; the limit is %.0f ms", stall,
		 soak->limit_ms);
	return false;
}

static bool run_all(struct soak *soak, const char *mimicd, char *const *extra)
{
	unsigned int descriptors[2];

	if (!kill_programs_make(&soak->programs, soak->only, soak->kills + 1, soak->calm + 1))
		return fail(soak, soak->programs.error);
	if (!kill_daemon_start(&soak->daemon, mimicd, extra))
		return fail(soak, soak->daemon.error);
	kill_daemon_descriptors(&soak->daemon, descriptors);
	if (!kill_programs_start(&soak->programs, soak->daemon.socket) ||
	    !kill_programs_await(&soak->programs, kill_now_ns(), PATIENCE_MS))
		return fail(soak, soak->programs.error);
	if (!watch_undisturbed(soak))
		return false;
	if (!soak->kills && !run_without_kills(soak))
		return false;
	while (soak->done < soak->kills) {
		if (!kill_once(soak))
			return false;
	}
	if (!kill_programs_stop(&soak->programs, PATIENCE_MS))
		return fail(soak, soak->programs.error);
	return check_descriptors(soak, descriptors) && check_stall(soak);
}

static void print_text(struct soak *soak, double seconds)
{
	printf("soak_kill: %u %s in %.1f s (seed %llu), %llu rounds compared\n", soak->done,
	       soak->daemon.is_upgraded ? "upgrades" : "kills", seconds, (unsigned long long)soak->seed, (unsigned long long)kill_programs_rounds(&soak->programs));
	if (soak->done)
		printf("  restart %.1f ms, p99 %.1f, longest %.1f; stall beyond it %.1f ms, p99 %.1f, longest %.1f\n",
		       kill_times_percentile(&soak->restarts, 0.5), kill_times_percentile(&soak->restarts, 0.99),
		       kill_times_percentile(&soak->restarts, 1), stall_of_all(soak, 0.5), stall_of_all(soak, 0.99),
		       stall_of_all(soak, 1));
	if (soak->calm)
		printf("  undisturbed the next answer comes after %.1f ms, p99 %.1f, longest %.1f\n",
		       wait_of_all(soak, 0.5), wait_of_all(soak, 0.99), wait_of_all(soak, 1));
	for (unsigned int i = 0; i < KILL_LONGEST && soak->programs.longest[i].nanoseconds; i++)
		printf("  stall of %s: %.1f ms, until the answer of '%s'\n", soak->programs.longest[i].program,
		       (double)soak->programs.longest[i].nanoseconds / 1e6, soak->programs.longest[i].step);
	for (unsigned int i = 0; i < soak->programs.count; i++) {
		struct kill_program *program = &soak->programs.program[i];

		printf("  %-10s %8llu rounds, stall p99 %7.1f ms, longest %7.1f\n", program->work->name,
		       (unsigned long long)atomic_load(&program->slot->rounds),
		       kill_times_percentile(&program->stalls, 0.99), kill_times_percentile(&program->stalls, 1));
	}
	printf("%s%s\n", soak->reason[0] ? "FAILED: " : "ok", soak->reason);
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	}
	putchar('"');
}

static void print_json(struct soak *soak, double seconds)
{
	printf("{\"kills\": %u, \"seconds\": %.1f, \"seed\": %llu, \"rounds\": %llu,\n", soak->done, seconds,
	       (unsigned long long)soak->seed, (unsigned long long)kill_programs_rounds(&soak->programs));
	printf(" \"restart_ms\": {\"median\": %.3f, \"p99\": %.3f, \"longest\": %.3f},\n",
	       kill_times_percentile(&soak->restarts, 0.5), kill_times_percentile(&soak->restarts, 0.99),
	       kill_times_percentile(&soak->restarts, 1));
	printf(" \"stall_ms\": {\"median\": %.3f, \"p99\": %.3f, \"longest\": %.3f},\n",
	       stall_of_all(soak, 0.5), stall_of_all(soak, 0.99), stall_of_all(soak, 1));
	printf(" \"undisturbed_ms\": {\"median\": %.3f, \"p99\": %.3f, \"longest\": %.3f},\n \"programs\": [",
	       wait_of_all(soak, 0.5), wait_of_all(soak, 0.99), wait_of_all(soak, 1));
	for (unsigned int i = 0; i < soak->programs.count; i++) {
		struct kill_program *program = &soak->programs.program[i];

		printf("%s\n  {\"name\": \"%s\", \"rounds\": %llu, \"stall_p99_ms\": %.3f, \"stall_longest_ms\": %.3f}",
		       i ? "," : "", program->work->name, (unsigned long long)atomic_load(&program->slot->rounds),
		       kill_times_percentile(&program->stalls, 0.99), kill_times_percentile(&program->stalls, 1));
	}
	printf("],\n \"failure\": ");
	if (soak->reason[0])
		print_string(soak->reason);
	else
		printf("null");
	printf("}\n");
}

static bool take_option(struct soak *soak, int option)
{
	switch (option) {
	case 'k': soak->kills = (unsigned int)strtoul(optarg, NULL, 10); return true;
	case 'b': soak->between_ms = (unsigned int)strtoul(optarg, NULL, 10); return true;
	case 't': soak->seconds = (unsigned int)strtoul(optarg, NULL, 10); return true;
	case 'c': soak->calm = (unsigned int)strtoul(optarg, NULL, 10); return true;
	case 'l': soak->limit_ms = strtod(optarg, NULL); return true;
	case 'p': soak->only = optarg; return true;
	case 'K': soak->programs.transport = "kernel"; return true;
	case 'T': soak->daemon.threads = optarg; return true;
	case 'u': soak->daemon.is_upgraded = true; return true;
	case 'n': soak->daemon.is_supervised = false; return true;
	case 's': soak->seed = strtoull(optarg, NULL, 10); return true;
	case 'x': soak->programs.broken = optarg; return true;
	case 'j': soak->is_json = true; return true;
	default: return false;
	}
}

static bool parse(struct soak *soak, int argc, char **argv)
{
	static const struct option options[] = {
		{ "kills", required_argument, NULL, 'k' }, { "between", required_argument, NULL, 'b' },
		{ "seconds", required_argument, NULL, 't' }, { "calm", required_argument, NULL, 'c' },
		{ "limit", required_argument, NULL, 'l' },
		{ "programs", required_argument, NULL, 'p' }, { "plain", no_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' }, { "break", required_argument, NULL, 'x' },
		{ "threads", required_argument, NULL, 'T' }, { "kernel", no_argument, NULL, 'K' },
		{ "upgrade", no_argument, NULL, 'u' }, { "json", no_argument, NULL, 'j' }, { NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (!take_option(soak, option))
			return false;
	}
	soak->daemon.is_on_bus = soak->programs.transport;
	if (soak->programs.transport && !soak->only)
		soak->only = "maple,dare,virgo,traps";
	soak->random = soak->seed * 0x9e3779b97f4a7c15u | 1;
	return !kill_times_make(&soak->restarts, soak->kills);
}

int main(int argc, char **argv)
{
	static struct soak soak = {
		.daemon.is_supervised = true, .kills = 200, .between_ms = 20, .seconds = PLAIN_SECONDS, .limit_ms = 100,
	};
	double seconds;

	soak.started_ns = kill_now_ns();
	soak.seed = soak.started_ns / 1000 % 1000000;
	/* getopt_long() begins behind its first argument. */
	if (argc < 2 || argv[1][0] == '-' || !parse(&soak, argc - 1, argv + 1)) {
		fputs(usage, argc > 1 && !strcmp(argv[1], "--help") ? stdout : stderr);
		return argc > 1 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	run_all(&soak, argv[1], argv + 1 + optind);
	kill_programs_end(&soak.programs);
	if (!kill_daemon_end(&soak.daemon))
		fail(&soak, soak.daemon.error);
	seconds = (double)(kill_now_ns() - soak.started_ns) / 1e9;
	(soak.is_json ? print_json : print_text)(&soak, seconds);
	if (soak.reason[0])
		kill_daemon_show_log(&soak.daemon);
	kill_daemon_clean(&soak.daemon);
	return soak.reason[0] ? 1 : 0;
}
