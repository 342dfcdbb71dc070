/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/supervisor.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/log.h"
#include "daemon/loop/notify.h"
#include "daemon/supervise/child.h"
#include "daemon/supervise/deliver.h"
#include "daemon/supervise/inbox.h"
#include "daemon/supervise/kept.h"
#include "daemon/supervise/upgrade.h"

/* Children that end before they are ready, one after the other. */
#define EARLY_ENDS_MAX 5u
/* Letters until signals are read again; and more than a queue ever has. */
#define LETTERS_AT_ONCE 64u
#define LETTERS_OF_A_QUEUE 65536u
/* How long until fork() is tried again. */
#define FORK_PAUSE_MS 100
/* Descriptors of our own, and one more to move the others. */
#define OWN_DESCRIPTORS 64u
#define DESCRIPTORS_MAX (1u << 20)
#define GOES_ON (-1)
/* How long a check may take at most, and the daemon until its step is over. */
#define CHECK_SECONDS_MAX 10u
#define LEAVE_MS 2000u
/* At which the daemon ends at a commit, and leaves all to a successor. */
#define LEAVE_SIGNAL SIGUSR1

struct supervisor {
	const struct mimicd_supervisor_options *options;
	struct mimicd_kept kept;
	struct mimicd_inbox inbox;
	struct mimicd_letter letter;
	int signals;			/* signalfd */
	struct mimicd_child child;
	struct mimicd_upgrade upgrade;
	struct mimicd_program before;	/* the upgrade's, until the new one is ready */
	uint64_t leave_ms;		/* until when the daemon has to leave; 0: it stays */
	pid_t pid;			/* -1: none */
	bool is_ready, was_ready;	/* this child; any of them */
	int stop_signal;		/* 0: goes on */
	unsigned int early_ends;
	uint64_t ended_ms; /* the first end since one was ready; 0: there was none */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- messages of the child ---------------------------------------------------------------- */

static void become_ready(struct supervisor *supervisor)
{
	const struct mimicd_supervisor_options *options = supervisor->options;
	bool is_first = !supervisor->was_ready;

	if (supervisor->ended_ms)
		mimicd_log(MIMICD_LOG_INFO,
			   "the daemon (pid %d) is ready, %llu ms after the end of the one before it",
			   (int)supervisor->pid, (unsigned long long)(now_ms() - supervisor->ended_ms));
	supervisor->is_ready = supervisor->was_ready = true;
	supervisor->early_ends = 0;
	supervisor->ended_ms = 0;
	mimicd_program_close(&supervisor->before);
	mimicd_notify("READY=1");
	if (is_first && options->ready)
		options->ready(options->context);
}

static void take_letter_of_checker(struct supervisor *supervisor)
{
	struct mimicd_letter *letter = &supervisor->letter;
	struct mimicd_manager_message message;

	if (!letter->is_cut && !mimicd_message_parse(&message, letter->text, letter->length))
		supervisor->upgrade.fits |= message.is_fit;
	mimicd_letter_close(letter);
}

static void take_letter(struct supervisor *supervisor)
{
	struct mimicd_manager_message message;

	if (supervisor->upgrade.checker > 0 && supervisor->letter.sender == supervisor->upgrade.checker) {
		take_letter_of_checker(supervisor);
		return;
	}
	if (mimicd_letter_deliver(&supervisor->letter, supervisor->pid, &supervisor->kept, &message))
		return;
	if (message.is_ready)
		become_ready(supervisor);
	/* Of a child that fails it is no end of ours: systemd would end us for it. */
	if (message.is_stopping && supervisor->stop_signal)
		mimicd_notify("STOPPING=1");
	if (message.is_alive)
		mimicd_notify("WATCHDOG=1");
}

/* 0 when there are no more, or -errno. */
static int take_letters(struct supervisor *supervisor, unsigned int most)
{
	for (unsigned int i = 0; i < most; i++) {
		int error = mimicd_inbox_receive(&supervisor->inbox, &supervisor->letter);

		if (error)
			return error == -EAGAIN ? 0 : error;
		take_letter(supervisor);
	}
	return 0;
}

/* --- the child's life ---------------------------------------------------------------------- */

/* 0 or -errno, with a log line. */
static int start_child(struct supervisor *supervisor)
{
	pid_t pid = mimicd_child_start(&supervisor->child, &supervisor->kept);

	supervisor->is_ready = false;
	supervisor->pid = pid < 0 ? -1 : pid;
	if (pid >= 0)
		return 0;
	mimicd_log(MIMICD_LOG_ERROR, "the daemon cannot be started: %s", strerror((int)-pid));
	return (int)pid;
}

static int give_up(struct supervisor *supervisor, const char *reason)
{
	mimicd_log(MIMICD_LOG_ERROR, "the daemon is given up: %s", reason);
	if (supervisor->pid > 0) {
		kill(supervisor->pid, SIGKILL);
		waitpid(supervisor->pid, NULL, 0);
		supervisor->pid = -1;
	}
	return EXIT_FAILURE;
}

/*
 * The status of a child that was told to stop. The signal may have come before it had a handler, or when it
 * had left to a successor, which is not started any more.
 */
static int status_of_stop(const struct supervisor *supervisor, int status)
{
	if (supervisor->leave_ms)
		return EXIT_SUCCESS;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return WTERMSIG(status) == supervisor->stop_signal ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A new program that does not get that far has changed nothing, and the one before can go on. */
static void go_back(struct supervisor *supervisor)
{
	if (supervisor->is_ready || supervisor->before.fd < 0)
		return;
	mimicd_log(MIMICD_LOG_ERROR, "upgrade: %s ended before it was ready; the program before it goes on",
		   supervisor->child.program.path);
	mimicd_program_close(&supervisor->child.program);
	supervisor->child.program = supervisor->before;
	supervisor->before.fd = -1;
}

/* The daemon has ended; which program is the next? */
static void choose_program(struct supervisor *supervisor)
{
	if (!supervisor->leave_ms) {
		go_back(supervisor);
		return;
	}
	supervisor->leave_ms = 0;
	supervisor->before = supervisor->child.program;
	supervisor->child.program = supervisor->upgrade.program;
	supervisor->upgrade.program.fd = -1;
}

static int replace_child(struct supervisor *supervisor, int status)
{
	char text[64];

	mimicd_child_describe_end(status, text, sizeof(text));
	mimicd_log(supervisor->leave_ms ? MIMICD_LOG_INFO : MIMICD_LOG_WARNING,
		   "the daemon (pid %d) %s%s; %zu descriptors are kept", (int)supervisor->pid, text,
		   supervisor->leave_ms ? " for an upgrade" : "", supervisor->kept.count);
	choose_program(supervisor);
	supervisor->pid = -1;
	if (!supervisor->is_ready && ++supervisor->early_ends == EARLY_ENDS_MAX)
		return give_up(supervisor, "five ended one after the other before they were ready");
	if (!supervisor->ended_ms)
		supervisor->ended_ms = now_ms();
	start_child(supervisor);
	return GOES_ON;
}

/* GOES_ON, or the status to exit with. */
static int after_end(struct supervisor *supervisor)
{
	int status;

	/* Before its number can be another process's. */
	take_letters(supervisor, LETTERS_OF_A_QUEUE);
	if (waitpid(supervisor->pid, &status, 0) != supervisor->pid)
		return GOES_ON;
	if (supervisor->stop_signal)
		return status_of_stop(supervisor, status);
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		mimicd_notify("STOPPING=1");
		return EXIT_SUCCESS;
	}
	/* It has said why, and there is nothing to recover. */
	if (!supervisor->was_ready && WIFEXITED(status))
		return WEXITSTATUS(status);
	return replace_child(supervisor, status);
}

static bool has_ended(const struct supervisor *supervisor)
{
	siginfo_t info = { .si_pid = 0 };

	return supervisor->pid > 0 &&
	       !waitid(P_PID, (id_t)supervisor->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* --- upgrades ---------------------------------------------------------------------------------- */

static void begin_upgrade(struct supervisor *supervisor)
{
	unsigned int seconds = supervisor->options->recovery_seconds;

	if (seconds > CHECK_SECONDS_MAX)
		seconds = CHECK_SECONDS_MAX;
	mimicd_upgrade_begin(&supervisor->upgrade, &supervisor->child, &supervisor->kept,
			     now_ms() + seconds * 1000ull);
}

static void let_daemon_leave(struct supervisor *supervisor)
{
	mimicd_log(MIMICD_LOG_INFO, "upgrade: the daemon (pid %d) leaves to %s", (int)supervisor->pid,
		   supervisor->upgrade.program.path);
	supervisor->leave_ms = now_ms() + LEAVE_MS;
	kill(supervisor->pid, LEAVE_SIGNAL);
}

/* Steps of a device may be long. */
static void end_late_daemon(struct supervisor *supervisor)
{
	if (now_ms() < supervisor->leave_ms)
		return;
	mimicd_log(MIMICD_LOG_INFO, "upgrade: the daemon (pid %d) is in the middle of a step, and is killed",
		   (int)supervisor->pid);
	supervisor->leave_ms = UINT64_MAX;
	kill(supervisor->pid, SIGKILL);
}

/* A daemon that has just ended is started as it was: upgrades wait until it is ready. */
static void upgrade(struct supervisor *supervisor)
{
	struct mimicd_upgrade *upgrade = &supervisor->upgrade;

	if (supervisor->stop_signal) {
		mimicd_upgrade_cancel(upgrade);
		return;
	}
	if (supervisor->leave_ms) {
		end_late_daemon(supervisor);
		return;
	}
	if (mimicd_upgrade_has_ended(upgrade, now_ms())) {
		/* Before its number can be another process's. */
		take_letters(supervisor, LETTERS_OF_A_QUEUE);
		mimicd_upgrade_decide(upgrade);
	}
	if (!supervisor->is_ready || supervisor->pid < 0 || upgrade->checker > 0)
		return;
	if (upgrade->program.fd >= 0)
		let_daemon_leave(supervisor);
	else if (upgrade->is_wanted)
		begin_upgrade(supervisor);
}

/* Until the upgrade has to go on, in milliseconds; -1: there is no limit. */
static int upgrade_time_left(const struct supervisor *supervisor)
{
	uint64_t end = supervisor->leave_ms, now = now_ms();

	if (!end && supervisor->upgrade.checker > 0)
		end = supervisor->upgrade.end_ms;
	if (!end || end == UINT64_MAX)
		return -1;
	return end > now ? (int)(end - now) : 0;
}

/* --- the supervisor's -------------------------------------------------------------------------- */

static void take_signals(struct supervisor *supervisor)
{
	struct signalfd_siginfo signal;

	while (read(supervisor->signals, &signal, sizeof(signal)) == sizeof(signal)) {
		if (signal.ssi_signo == SIGHUP)
			supervisor->upgrade.is_wanted = true;
		if (signal.ssi_signo == SIGCHLD || signal.ssi_signo == SIGHUP)
			continue;
		supervisor->stop_signal = (int)signal.ssi_signo;
		if (supervisor->pid > 0)
			kill(supervisor->pid, supervisor->stop_signal);
	}
}

/* Until a child has to be ready, in milliseconds; -1: there is no limit. */
static int time_left(const struct supervisor *supervisor)
{
	uint64_t end = supervisor->ended_ms + (uint64_t)supervisor->options->recovery_seconds * 1000,
		 now = now_ms();

	if (!supervisor->ended_ms || supervisor->stop_signal)
		return -1;
	return end > now ? (int)(end - now) : 0;
}

static int time_to_wait(const struct supervisor *supervisor)
{
	int time = time_left(supervisor), upgrade = upgrade_time_left(supervisor);

	if (upgrade >= 0 && (time < 0 || upgrade < time))
		time = upgrade;
	return supervisor->pid < 0 && (time < 0 || time > FORK_PAUSE_MS) ? FORK_PAUSE_MS : time;
}

static int go_on(struct supervisor *supervisor)
{
	if (supervisor->pid < 0 && supervisor->stop_signal)
		return EXIT_SUCCESS;
	upgrade(supervisor);
	if (has_ended(supervisor))
		return after_end(supervisor);
	if (!time_left(supervisor))
		return give_up(supervisor, "none was ready within --recovery-time");
	if (supervisor->pid < 0)
		start_child(supervisor);
	return GOES_ON;
}

static int run(struct supervisor *supervisor)
{
	struct pollfd entries[] = {
		{ .fd = supervisor->inbox.fd, .events = POLLIN },
		{ .fd = supervisor->signals, .events = POLLIN },
	};
	int status = GOES_ON;

	if (start_child(supervisor))
		return EXIT_FAILURE;
	while (status == GOES_ON) {
		int error;

		if (poll(entries, 2, time_to_wait(supervisor)) < 0 && errno != EINTR)
			return give_up(supervisor, strerror(errno));
		take_signals(supervisor);
		error = take_letters(supervisor, LETTERS_AT_ONCE);
		if (error)
			return give_up(supervisor, strerror(-error));
		status = go_on(supervisor);
	}
	return status;
}

/*
 * The kernel asks for none of our capabilities. A filter of system calls, Landlock, and fewer capabilities
 * that can be had at all would be the child's as well, which needs them until it enters a sandbox of its
 * own; exec() gives it back those that are only not effective.
 */
static void give_up_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return;
	data[0].effective = data[1].effective = 0;
	syscall(SYS_capset, &header, data);
}

static size_t find_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < OWN_DESCRIPTORS)
		return 0;
	if (limit.rlim_cur > DESCRIPTORS_MAX)
		return DESCRIPTORS_MAX;
	return (size_t)limit.rlim_cur - OWN_DESCRIPTORS;
}

static bool is_watched(void)
{
	const char *pid = getenv("WATCHDOG_PID");

	return getenv("WATCHDOG_USEC") && (!pid || strtol(pid, NULL, 10) == (long)getpid());
}

/*
 * The child has the signals that we have now. SIGHUP and SIGPIPE are ignored in it, too; a signal that is
 * blocked reaches us all the same.
 */
static int catch_signals(struct supervisor *supervisor)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN };
	sigset_t caught;

	sigaction(SIGHUP, &ignored, NULL);
	sigaction(SIGPIPE, &ignored, NULL);
	sigaction(SIGXFSZ, &ignored, NULL);
	sigemptyset(&caught);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGHUP);
	sigaddset(&caught, SIGCHLD);
	sigprocmask(SIG_BLOCK, &caught, &supervisor->child.mask);
	supervisor->signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
	return supervisor->signals < 0 ? -errno : 0;
}

static int start(struct supervisor *supervisor)
{
	const char *path = supervisor->options->program;
	int error = mimicd_program_open(&supervisor->child.program, path);

	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: %s", path, strerror(-error));
		return error;
	}
	error = mimicd_inbox_open(&supervisor->inbox);
	if (!error)
		error = catch_signals(supervisor);
	if (error)
		mimicd_log(MIMICD_LOG_ERROR, "the daemon cannot be supervised: %s", strerror(-error));
	return error;
}

int mimicd_supervise(const struct mimicd_supervisor_options *options)
{
	struct supervisor supervisor = {
		.options = options,
		.inbox.fd = -1,
		.signals = -1,
		.child = { .program = MIMICD_NO_PROGRAM,
			   .arguments = options->arguments,
			   .is_watched = is_watched() },
		.upgrade = MIMICD_NO_UPGRADE,
		.before = MIMICD_NO_PROGRAM,
		.pid = -1,
	};
	int status = EXIT_FAILURE;

	supervisor.child.notify_name = supervisor.inbox.name;
	prctl(PR_SET_NAME, "mimicd-supervise");
	mimicd_kept_begin(&supervisor.kept, options->given, options->given_count, find_most());
	give_up_rights();
	if (!start(&supervisor))
		status = run(&supervisor);
	mimicd_kept_end(&supervisor.kept);
	mimicd_upgrade_cancel(&supervisor.upgrade);
	mimicd_program_close(&supervisor.before);
	mimicd_program_close(&supervisor.child.program);
	if (supervisor.inbox.fd >= 0)
		mimicd_inbox_close(&supervisor.inbox);
	if (supervisor.signals >= 0)
		close(supervisor.signals);
	return status;
}
