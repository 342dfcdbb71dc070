/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Kills mimicd at each place of its work (daemon/journal/places.c), and its successors at each of theirs,
 * under the program of walk.h, which has to print the same as without that. test-walk.sh calls it; its results
 * are TAP.
 * There are tens of thousands of cases, so a case starts nothing but the programs that it needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/recovery/kill_case.h"

#define AT_ONCE_MOST 16u
#define BAD_MOST 5u		/* more say no more */
#define SHOWN_LINES 30u		/* of the log of a bad case */
#define STRIDE 1499u
/* At its first place a daemon has left nothing by which the next could know that it is not the first. */
#define FIRST 2u
#define SUCCESSOR_MOST 600u	/* a successor has fewer places */
#define CASE_FOLDER "walk-case"

/* By the environment: see test-walk.sh. 0: not given. */
struct choice {
	unsigned long stride, from, to, threads, at, successor_at;
};

/* Cases of one kind, by their number. */
struct walk {
	const struct choice *choice;
	struct kill_setup setup;
	struct kill_case undisturbed;
	/* False: there are no more. */
	bool (*place)(const struct choice *choice, unsigned long number, struct kill_case *one);
	unsigned int kills_expected;	/* in each case */

	pthread_mutex_t lock;		/* of all below */
	unsigned long next;		/* the number of the case that is to be run next */
	unsigned long end;		/* the first one in which fewer were killed */
	unsigned long last_place;	/* the last one before that */
	unsigned long last_number;
	unsigned long count, killed;
	unsigned int bad;
	bool is_stopped;
};

static unsigned int results;
static unsigned int failures;

/* The writer's end of the descriptor by which cases are stopped, and the signal that did it. */
static int stop_writer = -1;
static volatile sig_atomic_t stop_signal;

static void result(bool is_good, const char *text)
{
	printf("%s %u - %s\n", is_good ? "ok" : "not ok", ++results, text);
	fflush(stdout);
	failures += !is_good;
}

/* --- which cases ---------------------------------------------------------------------------- */

static unsigned int threads_of(const struct choice *choice, const struct kill_case *one)
{
	if (choice->threads)
		return (unsigned int)choice->threads;
	return (unsigned int)(1 + (one->place / choice->stride + one->successor_place) % 2);
}

static bool place_of_daemon(const struct choice *choice, unsigned long number, struct kill_case *one)
{
	one->place = choice->from + number * choice->stride;
	return !choice->to || one->place <= choice->to;
}

/* Of the daemons before them one is killed before a program is there, others at work of each device. */
static bool place_of_successor(const struct choice *choice, unsigned long number, struct kill_case *one)
{
	static const unsigned long first[] = { 40, 900, 9001, 20011, 33333 };
	unsigned long stride = choice->stride / 20 + 1;
	unsigned long each = (SUCCESSOR_MOST - FIRST + stride - 1) / stride;

	if (number / each >= sizeof(first) / sizeof(first[0]))
		return false;
	one->place = first[number / each];
	one->successor_place = FIRST + number % each * stride;
	return true;
}

/* --- progress and bad cases ------------------------------------------------------------------ */

static void show_progress(const struct walk *walk, const struct kill_case *one)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rplace %lu, %lu cases, %u bad ", one->place, walk->count, walk->bad);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static void show_lines(const char *text)
{
	for (unsigned int i = 0; text && *text && i < SHOWN_LINES; i++) {
		size_t length = strcspn(text, "\n");

		printf("# %.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

/* All that says why, and of its output what is not as it should be. */
static void show_bad_case(const struct walk *walk, const struct kill_case *one)
{
	const char *expected = walk->undisturbed.output.text, *got = one->output.text;
	size_t same = 0, start;

	end_progress();
	printf("# killed at %lu-%lu, %u threads:\n", one->place, one->successor_place, one->threads);
	show_lines(one->bad);
	show_lines(one->errors.text);
	show_lines(one->log.text);
	while (expected && got && expected[same] && expected[same] == got[same])
		same++;
	if (expected && got && expected[same] != got[same]) {
		for (start = same; start && got[start - 1] != '\n'; start--)
			;
		printf("# expected: %.*s\n", (int)strcspn(expected + start, "\n"), expected + start);
		printf("# got: %.*s\n", (int)strcspn(got + start, "\n"), got + start);
	}
	fflush(stdout);
}

/* --- the cases ------------------------------------------------------------------------------ */

static bool take_case(struct walk *walk, struct kill_case *one, unsigned long *number)
{
	bool is_there;

	*one = (struct kill_case){ 0 };
	pthread_mutex_lock(&walk->lock);
	is_there = !walk->is_stopped && walk->bad < BAD_MOST && walk->next < walk->end &&
		   walk->place(walk->choice, walk->next, one);
	if (is_there)
		*number = walk->next++;
	pthread_mutex_unlock(&walk->lock);
	one->threads = threads_of(walk->choice, one);
	return is_there;
}

static void count_case(struct walk *walk, unsigned long number, const struct kill_case *one)
{
	pthread_mutex_lock(&walk->lock);
	walk->is_stopped |= one->is_stopped;
	walk->count++;
	if (one->kills == walk->kills_expected)
		walk->killed++;
	/* Behind its last place a daemon is not killed. */
	if (!one->kills && number < walk->end)
		walk->end = number;
	if (one->kills && number >= walk->last_number) {
		walk->last_number = number;
		walk->last_place = one->place;
	}
	if (one->bad[0] && !one->is_stopped) {
		walk->bad++;
		show_bad_case(walk, one);
	}
	show_progress(walk, one);
	pthread_mutex_unlock(&walk->lock);
}

static void *run_cases(void *data)
{
	struct walk *walk = data;
	struct kill_case one;
	unsigned long number;

	while (take_case(walk, &one, &number)) {
		kill_case_run(&one, &walk->setup, &walk->undisturbed);
		count_case(walk, number, &one);
		kill_case_end(&one);
	}
	return NULL;
}

static unsigned int processors(void)
{
	cpu_set_t set;
	unsigned int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned int)CPU_COUNT(&set);

	return count > AT_ONCE_MOST ? AT_ONCE_MOST : count;
}

/* As many at once as there are processors; this thread is one that runs them. */
static void run_walk(struct walk *walk,
		     bool (*place)(const struct choice *choice, unsigned long number, struct kill_case *one),
		     unsigned int kills_expected)
{
	pthread_t others[AT_ONCE_MOST];
	unsigned int count = processors() - 1, started = 0;

	walk->place = place;
	walk->kills_expected = kills_expected;
	walk->next = walk->last_place = walk->last_number = walk->count = walk->killed = 0;
	walk->bad = 0;
	walk->end = ULONG_MAX;
	while (started < count && !pthread_create(&others[started], NULL, run_cases, walk))
		started++;
	run_cases(walk);
	while (started)
		pthread_join(others[--started], NULL);
	end_progress();
}

/* --- one case alone ------------------------------------------------------------------------- */

static int store(const char *folder, const char *name, const void *bytes, size_t size)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || (size && fwrite(bytes, size, 1, file) != 1) || fclose(file)) {
		fprintf(stderr, "kill_places: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int store_case(const struct kill_case *one)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), CASE_FOLDER "/%lu-%lu", one->place, one->successor_place);
	if ((mkdir(CASE_FOLDER, 0755) && errno != EEXIST) || (mkdir(folder, 0755) && errno != EEXIST)) {
		fprintf(stderr, "kill_places: %s: %s\n", folder, strerror(errno));
		return -1;
	}
	if (store(folder, "log", one->log.text, one->log.size) ||
	    store(folder, "output", one->output.text, one->output.size) ||
	    store(folder, "errors", one->errors.text, one->errors.size))
		return -1;
	return store(folder, "bad", one->bad, strlen(one->bad));
}

static int run_alone(struct walk *walk)
{
	struct kill_case one = { .place = walk->choice->at, .successor_place = walk->choice->successor_at };
	bool is_bad;

	one.threads = threads_of(walk->choice, &one);
	kill_case_run(&one, &walk->setup, &walk->undisturbed);
	is_bad = store_case(&walk->undisturbed) || store_case(&one) || one.bad[0];
	printf("%lu-%lu, %u threads: %u kills, %s\n%s", one.place, one.successor_place, one.threads,
	       one.kills, is_bad ? "bad:" : "good", one.bad);
	kill_case_end(&one);
	return is_bad;
}

/* --- the walk ------------------------------------------------------------------------------- */

static void walk_daemon(struct walk *walk)
{
	const struct choice *choice = walk->choice;

	printf("# each %luth place from %lu on\n", choice->stride, choice->from);
	fflush(stdout);
	run_walk(walk, place_of_daemon, 1);
	if (walk->is_stopped)
		return;
	if (choice->to)
		result(walk->killed, "a daemon has some of these places");
	else
		result(walk->last_place > 10000, "a daemon has thousands of places");
	printf("# %lu cases; the last one where it was killed: %lu\n", walk->count, walk->last_place);
	result(!walk->bad, "the program prints the same wherever the daemon is killed");
}

static void walk_successors(struct walk *walk)
{
	run_walk(walk, place_of_successor, 2);
	if (walk->is_stopped)
		return;
	result(walk->killed > 20, "so is a daemon that takes over from it");
	printf("# %lu times\n", walk->killed);
	result(!walk->bad, "the program prints the same wherever that one is killed");
}

static int run_all(struct walk *walk)
{
	struct kill_case *undisturbed = &walk->undisturbed;

	undisturbed->threads = threads_of(walk->choice, undisturbed);
	kill_case_run(undisturbed, &walk->setup, NULL);
	if (!undisturbed->is_stopped && walk->choice->at)
		return run_alone(walk);
	if (!undisturbed->is_stopped) {
		result(!undisturbed->bad[0] && !undisturbed->kills,
		       "a daemon that is not killed serves the program");
		if (failures)
			show_bad_case(walk, undisturbed);
		else
			walk_daemon(walk);
	}
	if (!undisturbed->is_stopped && !walk->is_stopped && !failures && !walk->choice->to)
		walk_successors(walk);
	printf("1..%u\n", results);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --- the program ---------------------------------------------------------------------------- */

/* False, with a line: it is no number. */
static bool read_number(const char *variable, unsigned long otherwise, unsigned long *number)
{
	const char *text = getenv(variable);
	char *end;

	*number = otherwise;
	if (!text || !*text)
		return true;
	errno = 0;
	*number = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number <= UINT32_MAX)
		return true;
	fprintf(stderr, "kill_places: %s=%s is no number\n", variable, text);
	return false;
}

static bool read_choice(struct choice *choice)
{
	if (!read_number("WALK_STRIDE", STRIDE, &choice->stride) ||
	    !read_number("WALK_FROM", FIRST, &choice->from) || !read_number("WALK_TO", 0, &choice->to) ||
	    !read_number("WALK_THREADS", 0, &choice->threads) || !read_number("WALK_AT", 0, &choice->at) ||
	    !read_number("WALK_SUCCESSOR_AT", 0, &choice->successor_at))
		return false;
	if (choice->stride && choice->from)
		return true;
	fprintf(stderr, "kill_places: WALK_STRIDE and WALK_FROM are 1 at least\n");
	return false;
}

static void *wait_for_signal(void *data)
{
	int signal;

	if (!sigwait(data, &signal)) {
		stop_signal = signal;
		close(stop_writer);
	}
	return NULL;
}

/* Signals that end a program stop the cases, so that nothing is left behind. 0 or -errno. */
static int catch_signals(sigset_t *signals, int *stop)
{
	pthread_t thread;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*stop = ends[0];
	stop_writer = ends[1];
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	return -pthread_create(&thread, NULL, wait_for_signal, signals);
}

int main(int argc, char **argv)
{
	static sigset_t signals;
	struct choice choice;
	struct walk walk = { .choice = &choice, .lock = PTHREAD_MUTEX_INITIALIZER };
	const char *parent = getenv("TMPDIR");
	char folder[256];
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: kill_places MIMICD WALK: the daemon, and a program that uses it\n");
		return 2;
	}
	if (!read_choice(&choice))
		return 2;
	snprintf(folder, sizeof(folder), "%s/mimic-walk-XXXXXX", parent && *parent ? parent : "/tmp");
	walk.setup = (struct kill_setup){ .mimicd = argv[1], .walk = argv[2], .folder = folder };
	if (catch_signals(&signals, &walk.setup.stop) || !mkdtemp(folder)) {
		fprintf(stderr, "kill_places: %s: %s\n", folder, strerror(errno));
		return EXIT_FAILURE;
	}
	status = run_all(&walk);
	kill_case_end(&walk.undisturbed);
	rmdir(folder);
	if (!stop_signal)
		return status;
	signal(stop_signal, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	raise(stop_signal);
	return EXIT_FAILURE;
}
