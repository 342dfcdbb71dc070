/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A plugin is tried in a child process: a crash there ends the child, and the
 * parent says how. The child says by shared memory how far it has come.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/plugin.h"

#define TIME_LIMIT_SECONDS 5
#define POLL_NANOSECONDS 1000000l
/* The bytes that a trial may allocate: more than a device needs, less than a machine has. */
#define MEMORY_LIMIT (256ull << 20)

struct mimic_plugin_trial {
	_Atomic(const char *) stage;
	atomic_bool is_over;		/* work() has returned, or ended the child itself */
	atomic_bool is_wrong;
	char reason[256];
};

void mimic_plugin_stage(struct mimic_plugin_trial *trial, const char *stage)
{
	atomic_store(&trial->stage, stage);
}

void mimic_plugin_wrong(struct mimic_plugin_trial *trial, const char *format, ...)
{
	va_list arguments;

	if (atomic_load(&trial->is_wrong))
		return;
	va_start(arguments, format);
	vsnprintf(trial->reason, sizeof(trial->reason), format, arguments);
	va_end(arguments);
	atomic_store(&trial->is_wrong, true);
}

void mimic_plugin_end(struct mimic_plugin_trial *trial)
{
	atomic_store(&trial->is_over, true);
	/* No handler of atexit(): they are the parent's. */
	_exit(0);
}

/* --- the child ------------------------------------------------------------------------------- */

/* The memory that the process has, and so much more. Libraries that the plugin brings may be large: they do not count. */
static void limit_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;
	rlim_t most;

	if (file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) == 1) {
		most = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + MEMORY_LIMIT;
		setrlimit(RLIMIT_DATA, &(struct rlimit){ most, most });
	}
	if (file)
		fclose(file);
}

__attribute__((noreturn))
static void be_child(struct mimic_plugin_trial *trial, pid_t parent,
		     void (*work)(struct mimic_plugin_trial *trial, const void *argument),
		     const void *argument)
{
	/* A group of its own: end_group() ends the processes that the plugin starts, too. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	limit_memory();
	work(trial, argument);
	mimic_plugin_end(trial);
}

/* --- the parent -------------------------------------------------------------------------------- */

/* Leaves the child as it is; once it has ended, its id stays in use until end_group() reaps it. */
static int await_end(pid_t child)
{
	const struct timespec pause = { .tv_nsec = POLL_NANOSECONDS };
	uint64_t end = mimic_now() + TIME_LIMIT_SECONDS * 1000000000ull;
	siginfo_t ended;

	for (;;) {
		ended.si_pid = 0;
		if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) && errno != EINTR)
			return -ECHILD;
		if (ended.si_pid == child)
			return 0;
		if (mimic_now() > end)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

/*
 * Kills the processes that the plugin has started, which are in the child's group unless they
 * have left it, and the child, if it still runs (it may have left, too). The child is reaped
 * last: until then no other process or group can have its id.
 */
static void end_group(pid_t child, bool is_running, int *status)
{
	kill(-child, SIGKILL);
	if (is_running)
		kill(child, SIGKILL);
	while (waitpid(child, status, 0) < 0 && errno == EINTR)
		;
}

/* 0: it has ended, with *status; -ECHILD: and its status is lost; -ETIMEDOUT: it was killed. */
static int await(pid_t child, int *status)
{
	int error = await_end(child);

	end_group(child, error == -ETIMEDOUT, status);
	return error;
}

static void tell_end(const char *stage, int error, int status, char *reason, size_t size)
{
	if (error == -ETIMEDOUT)
		snprintf(reason, size, "it did not end within %d seconds in %s", TIME_LIMIT_SECONDS, stage);
	else if (error)
		snprintf(reason, size, "it ended in %s", stage);
	else if (WIFSIGNALED(status))
		snprintf(reason, size, "killed by signal %d in %s", WTERMSIG(status), stage);
	else
		snprintf(reason, size, "it exited with status %d in %s", WEXITSTATUS(status), stage);
}

bool mimic_plugin_trial(void (*work)(struct mimic_plugin_trial *trial, const void *argument),
			const void *argument, char *reason, size_t size)
{
	struct mimic_plugin_trial *trial;
	pid_t parent = getpid(), child;
	int status = 0, error;
	bool is_good;

	trial = mmap(NULL, sizeof(*trial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trial == MAP_FAILED) {
		snprintf(reason, size, "it cannot be tried: %s", strerror(errno));
		return false;
	}
	atomic_store(&trial->stage, "its beginning");
	fflush(NULL);
	child = fork();
	if (!child)
		be_child(trial, parent, work, argument);
	error = child < 0 ? -errno : await(child, &status);
	is_good = child > 0 && atomic_load(&trial->is_over) && !atomic_load(&trial->is_wrong);
	if (child < 0)
		snprintf(reason, size, "it cannot be tried: %s", strerror(-error));
	else if (!atomic_load(&trial->is_over))
		tell_end(atomic_load(&trial->stage), error, status, reason, size);
	else if (!is_good)
		snprintf(reason, size, "%.*s", (int)sizeof(trial->reason) - 1, trial->reason);
	munmap(trial, sizeof(*trial));
	return is_good;
}
