/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/common/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define STOP_SIGNALS (sizeof(stop_signals) / sizeof(stop_signals[0]))

static void on_stop(int number)
{
	stopped = number;
}

static void open_as(const char *path, int descriptor)
{
	int file = open(path ? path : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (file < 0)
		_exit(126);
	dup2(file, descriptor);
	close(file);
}

static int start(struct job *job)
{
	pid_t parent = getpid();

	job->process = fork();
	if (job->process < 0)
		return -errno;
	if (job->process > 0)
		return 0;
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		signal(stop_signals[i], SIG_DFL);
	/* No other process waits for it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	open_as(job->output, STDOUT_FILENO);
	open_as(job->errors, STDERR_FILENO);
	execvp(job->arguments[0], job->arguments);
	_exit(errno == ENOENT ? 127 : 126);
}

static struct job *find(struct job *jobs, size_t count, pid_t process)
{
	for (size_t i = 0; i < count; i++) {
		if (jobs[i].process == process)
			return &jobs[i];
	}
	return NULL;
}

static void kill_all(struct job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (jobs[i].process <= 0)
			continue;
		kill(jobs[i].process, SIGKILL);
		waitpid(jobs[i].process, &jobs[i].status, 0);
		jobs[i].process = 0;
	}
}

static int run_all(struct job *jobs, size_t count, unsigned int at_once,
		   void (*done)(void *context, size_t number), void *context)
{
	size_t next = 0, running = 0;

	while (next < count || running > 0) {
		struct job *job;
		pid_t process;
		int status;

		while (next < count && running < at_once && !stopped) {
			int error = start(&jobs[next]);

			if (error)
				return error;
			next++;
			running++;
		}
		process = stopped ? -1 : waitpid(-1, &status, 0);
		if (stopped)
			return -EINTR;
		job = process > 0 ? find(jobs, next, process) : NULL;
		if (!job)
			continue;
		job->process = 0;
		job->status = status;
		running--;
		if (done)
			done(context, (size_t)(job - jobs));
	}
	return 0;
}

int tool_jobs_run(struct job *jobs, size_t count, unsigned int at_once,
		  void (*done)(void *context, size_t number), void *context)
{
	/* Not restarted: waitpid() has to come back. */
	struct sigaction stop = { .sa_handler = on_stop }, before[STOP_SIGNALS];
	int error;

	stopped = 0;
	for (size_t i = 0; i < count; i++)
		jobs[i].process = 0;
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		sigaction(stop_signals[i], &stop, &before[i]);
	error = run_all(jobs, count, at_once ? at_once : 1, done, context);
	kill_all(jobs, count);
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		sigaction(stop_signals[i], &before[i], NULL);
	return error;
}

void tool_jobs_pass_on_signal(void)
{
	if (stopped)
		raise(stopped);
}

unsigned int tool_jobs_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}
