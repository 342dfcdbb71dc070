/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/recovery/kill_case.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Far beyond what it takes; the supervisor itself gives up after RECOVERY_TIME. */
#define START_MS 30000u
#define WALK_MS 30000u
#define END_MS 30000u
#define RECOVERY_TIME "60"	/* s */
#define DEVICES "maple:2,dare:1,virgo:1"
#define NOTICE "the daemon (pid "

__attribute__((format(printf, 2, 3)))
static void add_reason(struct kill_case *one, const char *format, ...)
{
	size_t used = strlen(one->bad);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(one->bad + used, sizeof(one->bad) - used, format, arguments);
	va_end(arguments);
}

/* --- processes ------------------------------------------------------------------------------ */

static bool is_serving(const void *data)
{
	const struct kill_case *one = data;

	return one->log.fd < 0 || (one->log.text && strstr(one->log.text, " serving "));
}

static bool has_program_ended(const void *data)
{
	const struct kill_case *one = data;

	return one->output.fd < 0 && one->errors.fd < 0;
}

/* The supervisor and all daemons write to the log. */
static bool has_daemon_ended(const void *data)
{
	const struct kill_case *one = data;

	return one->log.fd < 0;
}

/* Did that happen in time, and nobody stopped it? `late` is the reason if it did not. */
static bool wait_for(struct kill_case *one, int stop, bool (*is_met)(const void *data),
		     unsigned int milliseconds, const char *late)
{
	struct kill_stream *streams[KILL_STREAMS] = { &one->log, &one->output, &one->errors };
	const struct kill_condition condition = {
		.is_met = is_met, .data = one, .milliseconds = milliseconds, .stop = stop,
	};
	enum kill_wait result = kill_streams_wait(streams, KILL_STREAMS, &condition);

	if (result == KILL_WAIT_TOO_LONG)
		add_reason(one, "%s in %u s\n", late, milliseconds / 1000);
	if (result == KILL_WAIT_STOPPED)
		one->is_stopped = true;
	return result == KILL_WAIT_DONE;
}

static int wait_for_child(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* As a shell tells it. */
static int status_number(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int start_supervisor(struct kill_case *one, const struct kill_setup *setup, const char *socket,
			    pid_t *pid)
{
	char kill_at[64], kill_successor_at[64], threads[16];
	char *variables[] = { "MIMIC_TEST_SPREAD=1", kill_at, kill_successor_at, NULL };
	char *arguments[] = { (char *)setup->mimicd, "--supervise", "--recovery-time", RECOVERY_TIME,
			      "--threads", threads, "--socket", (char *)socket, "--devices", DEVICES, NULL };
	int error, writer;

	snprintf(kill_at, sizeof(kill_at), "MIMIC_TEST_KILL_AT=%lu", one->place);
	snprintf(kill_successor_at, sizeof(kill_successor_at), "MIMIC_TEST_KILL_SUCCESSOR_AT=%lu",
		 one->successor_place);
	snprintf(threads, sizeof(threads), "%u", one->threads);
	error = kill_stream_open(&one->log, &writer);
	if (error)
		return error;
	error = kill_process_start(pid, arguments, variables, writer, writer);
	close(writer);
	return error;
}

static int start_program(struct kill_case *one, const struct kill_setup *setup, const char *socket,
			 pid_t *pid)
{
	char variable[PATH_MAX + 32];
	char *variables[] = { variable, NULL };
	char *arguments[] = { (char *)setup->walk, NULL };
	int error, output, errors;

	snprintf(variable, sizeof(variable), "MIMIC_SOCKET=%s", socket);
	error = kill_stream_open(&one->output, &output);
	if (error)
		return error;
	error = kill_stream_open(&one->errors, &errors);
	if (error) {
		close(output);
		return error;
	}
	error = kill_process_start(pid, arguments, variables, output, errors);
	close(output);
	close(errors);
	return error;
}

static void run_program(struct kill_case *one, const struct kill_setup *setup, const char *socket)
{
	pid_t pid;
	int error = start_program(one, setup, socket, &pid), status;

	if (error) {
		add_reason(one, "%s: %s\n", setup->walk, strerror(-error));
		return;
	}
	if (!wait_for(one, setup->stop, has_program_ended, WALK_MS, "the program did not end"))
		kill(pid, SIGKILL);
	status = status_number(wait_for_child(pid));
	if (status)
		add_reason(one, "the program ended with status %d\n", status);
}

/* Its status. Also when the case is stopped. A daemon whose supervisor is killed gets a SIGTERM. */
static int end_supervisor(struct kill_case *one, pid_t pid)
{
	kill(pid, SIGTERM);
	if (!wait_for(one, -1, has_daemon_ended, END_MS, "the supervisor did not end"))
		kill(pid, SIGKILL);
	return status_number(wait_for_child(pid));
}

/* --- the verdict ---------------------------------------------------------------------------- */

static bool tells_of_trouble(const char *line)
{
	static const char *const words[] = { "warning", "error", "lost", "loses" };

	if (strstr(line, "warning: " NOTICE))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(line, words[i]))
			return true;
	}
	return false;
}

static bool tells_of_an_end(const char *line)
{
	const char *notice = strstr(line, NOTICE);

	return notice && (strstr(notice, "was killed") || strstr(notice, "ended with"));
}

/* Daemons that have ended are counted; nothing else is lost, refused or ended. */
static void judge_log(struct kill_case *one)
{
	char *text = one->log.text ? strdup(one->log.text) : NULL;
	char *rest, *line;

	if (!text) {
		add_reason(one, "there is no log\n");
		return;
	}
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		one->kills += tells_of_an_end(line);
		/* The run without a kill is judged by its end alone. */
		if (one->place && tells_of_trouble(line))
			add_reason(one, "%s\n", line);
	}
	free(text);
}

/* The last places are behind SIGTERM: a supervisor that was told to end says nothing of the end of
 * its daemon, and ends as that does. */
static void judge_end(struct kill_case *one, int status)
{
	const unsigned int kills = !!one->place + !!one->successor_place;

	if (status && !(status == 128 + SIGKILL && one->kills < kills))
		add_reason(one, "the supervisor ended with status %d\n", status);
}

static void judge_output(struct kill_case *one, const struct kill_case *undisturbed)
{
	const struct kill_stream *expected = &undisturbed->output;

	if (one->output.size != expected->size ||
	    (expected->size && memcmp(one->output.text, expected->text, expected->size)))
		add_reason(one, "the output differs\n");
}

/* --- a case --------------------------------------------------------------------------------- */

/* The folder holds files only. */
static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

static bool is_stopped(const struct kill_setup *setup)
{
	struct pollfd event = { .fd = setup->stop, .events = POLLIN };

	return poll(&event, 1, 0) > 0;
}

void kill_case_run(struct kill_case *one, const struct kill_setup *setup, const struct kill_case *undisturbed)
{
	char folder[PATH_MAX], socket[PATH_MAX + 8];
	pid_t supervisor;
	int error, status;

	one->log = one->output = one->errors = (struct kill_stream)KILL_NO_STREAM;
	snprintf(folder, sizeof(folder), "%s/%lu-%lu", setup->folder, one->place, one->successor_place);
	snprintf(socket, sizeof(socket), "%s/socket", folder);
	if (mkdir(folder, 0700)) {
		add_reason(one, "%s: %s\n", folder, strerror(errno));
		return;
	}
	error = start_supervisor(one, setup, socket, &supervisor);
	if (error) {
		add_reason(one, "%s: %s\n", setup->mimicd, strerror(-error));
	} else {
		if (wait_for(one, setup->stop, is_serving, START_MS, "no daemon served"))
			run_program(one, setup, socket);
		status = end_supervisor(one, supervisor);
		judge_log(one);
		judge_end(one, status);
		if (undisturbed)
			judge_output(one, undisturbed);
	}
	/* A signal to the whole group reaches the programs, too. */
	one->is_stopped |= is_stopped(setup);
	remove_folder(folder);
}

void kill_case_end(struct kill_case *one)
{
	kill_stream_close(&one->log);
	kill_stream_close(&one->output);
	kill_stream_close(&one->errors);
}
