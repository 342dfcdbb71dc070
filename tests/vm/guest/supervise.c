/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs one test program inside the virtual machine, so that whatever happens to
 * it the next one can run:
 *
 *   supervise SECONDS PROGRAM [ARGUMENT...]
 *
 * A program that does not end in time is killed, after threads.sh has said what all
 * threads are at, and the kernel was asked to log what is blocked and where. Whatever
 * processes it leaves behind are killed too; one that does not die (blocked in the
 * kernel for ever) is named and left. The kernel's warnings of that time are printed,
 * and a last line says how the program ended. tests/vm/report.awk reads these lines on the host.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL_MS 10000
#define WARNING_LEVEL 4		/* KERN_WARNING */
#define ANY_LEVEL 7

struct outcome {
	bool timed_out;
	int status;		/* as waitpid gives it */
};

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The log from here on. -1: there is none (a host without the right, say). */
static int open_kernel_log(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log >= 0)
		lseek(log, 0, SEEK_END);
	return log;
}

/* A record: "level,sequence,microseconds,flags;text\n key=value lines". */
static void print_record(char *record, int most_verbose)
{
	unsigned long long microseconds = 0;
	unsigned int priority = 0;
	char *text = strchr(record, ';');
	int level;

	if (!text || sscanf(record, "%u,%*u,%llu", &priority, &microseconds) != 2)
		return;
	level = priority & 7;
	text[strcspn(text, "\n")] = '\0';
	if (level <= most_verbose)
		printf("# kernel: <%d>[%5llu.%06llu] %s\n", level, microseconds / 1000000,
		       microseconds % 1000000, text + 1);
}

static void print_kernel_log(int log, int most_verbose)
{
	char record[8192];
	ssize_t got;

	if (log < 0)
		return;
	for (;;) {
		got = read(log, record, sizeof(record) - 1);
		if (got < 0 && errno == EPIPE) {
			printf("# kernel: messages were overwritten before they were read\n");
			continue;
		}
		if (got <= 0)
			break;
		record[got] = '\0';
		print_record(record, most_verbose);
	}
}

static pid_t start(char **arguments, const sigset_t *mask)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	sigprocmask(SIG_SETMASK, mask, NULL);
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
		_exit(127);
	execv(arguments[0], arguments);
	fprintf(stderr, "# supervise: cannot run %s: %s\n", arguments[0], strerror(errno));
	_exit(127);
}

/* Sleeps until a child changes or `deadline`. */
static void await_child(const sigset_t *child_signal, long deadline)
{
	long left = deadline - now_ms();
	struct timespec limit = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };

	if (left > 0)
		sigtimedwait(child_signal, NULL, &limit);
}

/* Reaps until `program` ended: its descendants, too, which become our children as their parents end. */
static bool wait_for(pid_t program, long deadline, const sigset_t *child_signal, int *status)
{
	int other;
	pid_t pid;

	while (now_ms() < deadline) {
		pid = waitpid(-1, &other, WNOHANG);
		if (pid == program) {
			*status = other;
			return true;
		}
		if (pid == 0)
			await_child(child_signal, deadline);
	}
	return false;
}

static void ask_for_blocked_tasks(void)
{
	int trigger = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	if (trigger < 0)
		return;
	if (write(trigger, "w", 1) != 1)
		printf("# supervise: no list of blocked tasks: %s\n", strerror(errno));
	close(trigger);
}

/* Runs threads.sh, which prints where threads stand, for a few seconds at most. */
static void print_threads(const sigset_t *mask, const sigset_t *child_signal)
{
	char *arguments[] = { "/mimic/vm/threads.sh", NULL };
	int status;
	pid_t child;

	fflush(stdout);
	child = start(arguments, mask);
	if (child > 0 && !wait_for(child, now_ms() + KILL_MS, child_signal, &status))
		printf("# supervise: no list of threads in %d s\n", KILL_MS / 1000);
}

/* The parent and the name of a process, out of "pid (name) state parent ...". */
static pid_t parent_of(const char *pid, char name[32])
{
	char path[64], line[512];
	FILE *file;
	char *after;
	pid_t parent = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	after = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (after && sscanf(after + 1, " %*c %d", &parent) == 1) {
		*after = '\0';
		snprintf(name, 32, "%s", strchr(line, '(') + 1);
	}
	fclose(file);
	return parent;
}

/* Kills our children. Their own children become ours as they die. */
static void kill_children(bool name_them)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	char name[32];

	while (processes && (entry = readdir(processes))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (parent_of(entry->d_name, name) != getpid())
			continue;
		kill((pid_t)atoi(entry->d_name), SIGKILL);
		if (name_them)
			printf("# supervise: process %s (%s) survives SIGKILL\n", entry->d_name, name);
	}
	if (processes)
		closedir(processes);
}

/* Returns false if a process stays alive. `program` is 0 if its status is known. */
static bool end_everything(pid_t program, int *status)
{
	long deadline = now_ms() + KILL_MS;
	int other;
	pid_t pid;

	while (now_ms() < deadline) {
		kill_children(false);
		while ((pid = waitpid(-1, &other, WNOHANG)) > 0)
			if (pid == program)
				*status = other;
		if (pid < 0 && errno == ECHILD)
			return true;
		usleep(5000);
	}
	ask_for_blocked_tasks();
	kill_children(true);
	return false;
}

static void print_ending(const char *name, const struct outcome *outcome, bool all_dead, long ms)
{
	printf("# ended: %s ", name);
	if (!all_dead)
		printf("unkillable");
	else if (outcome->timed_out)
		printf("timeout");
	else if (WIFSIGNALED(outcome->status))
		printf("signal-%d", WTERMSIG(outcome->status));
	else
		printf("%d", WEXITSTATUS(outcome->status));
	printf(" after %ld.%03ld s\n", ms / 1000, ms % 1000);
}

int main(int count, char **arguments)
{
	struct outcome outcome = { 0 };
	sigset_t child_signal, old;
	long started = now_ms();
	bool all_dead;
	pid_t program;
	int log, seconds;

	seconds = count > 2 ? atoi(arguments[1]) : 0;
	if (seconds <= 0) {
		fprintf(stderr, "usage: supervise SECONDS PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_signal, &old);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	log = open_kernel_log();

	printf("# program: %s\n", base_name(arguments[2]));
	fflush(stdout);
	program = start(arguments + 2, &old);
	if (program < 0) {
		perror("supervise: fork");
		return 1;
	}
	outcome.timed_out = !wait_for(program, started + seconds * 1000L, &child_signal, &outcome.status);
	if (outcome.timed_out) {
		print_threads(&old, &child_signal);
		ask_for_blocked_tasks();
	}
	all_dead = end_everything(outcome.timed_out ? program : 0, &outcome.status);

	/* The program's last line may lack its end. */
	putchar('\n');
	print_kernel_log(log, outcome.timed_out || !all_dead ? ANY_LEVEL : WARNING_LEVEL);
	print_ending(base_name(arguments[2]), &outcome, all_dead, now_ms() - started);
	return 0;
}
