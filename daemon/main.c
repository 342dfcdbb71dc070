/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimicd: one process that serves devices to many programs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/clients/socket.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/origin.h"
#include "daemon/engine/step.h"
#include "daemon/loop/log.h"
#include "daemon/loop/notify.h"
#include "daemon/options.h"
#include "daemon/server.h"
#include "daemon/supervise/message.h"
#include "daemon/supervise/supervisor.h"

#define EXIT_BAD_INPUT 2
#define EXIT_HANDED_OVER 75	/* EX_TEMPFAIL */
#define SENDER_MS 500u

static struct mimicd_server *server;

static volatile sig_atomic_t stops;
static bool hands_over;
static int upgrade_fd = -1;
static pid_t asked_by;

static void stop(int signal_number)
{
	(void)signal_number;
	stops = true;
	mimicd_server_stop(server);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* Beyond RLIMIT_FSIZE: the error is enough, and is answered. */
	sigaction(SIGXFSZ, &action, NULL);
}

static bool take_signal(void)
{
	struct signalfd_siginfo signal;

	if (read(upgrade_fd, &signal, sizeof(signal)) != sizeof(signal))
		return false;
	asked_by = (pid_t)signal.ssi_pid;
	return true;
}

static void hand_over(void *context)
{
	if (!take_signal())
		return;
	hands_over = true;
	mimicd_server_stop(context);
}

/*
 * A handler would interrupt system calls of steps (poll() of a client's pidfd, say: a fault of its program),
 * and programs are to notice nothing. So it is blocked, also in threads that are made later, and the loop
 * sees it.
 */
static int watch_for_upgrade(void)
{
	static struct mimicd_source source;
	sigset_t leaving;

	sigemptyset(&leaving);
	sigaddset(&leaving, SIGUSR1);
	upgrade_fd = signalfd(-1, &leaving, SFD_CLOEXEC | SFD_NONBLOCK);
	if (upgrade_fd < 0)
		return -errno;
	source = (struct mimicd_source){ hand_over, server };
	return mimicd_loop_watch(&server->loop, upgrade_fd, EPOLLIN, &source);
}

/*
 * The process that started us may have closed the first three. A socket of ours would get such a number,
 * lines of the log would go into it, and --daemonise would put /dev/null in its place.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Each client costs a few descriptors, and the usual soft limit is 1024. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The parent's part of --daemonise: it ends when the child is ready, or with the child's status. */
static int wait_for_child(pid_t child, int ready)
{
	char byte;
	int status;

	if (read(ready, &byte, 1) == 1)
		return EXIT_SUCCESS;
	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		return WEXITSTATUS(status);
	return EXIT_FAILURE;
}

/* In the child: the writing end of a pipe, to be closed when ready. The parent does not return. */
static int go_to_background(void)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		fprintf(stderr, "mimicd: cannot go to the background: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	if (child) {
		close(ends[1]);
		exit(wait_for_child(child, ends[0]));
	}
	close(ends[0]);
	setsid();
	return ends[1];
}

/* Standard error is the terminal of the command, which ends now. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	mimicd_log_to_syslog();
	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		dup2(null, fd);
}

static void let_parent_end(int ready)
{
	if (ready < 0)
		return;
	(void)!write(ready, "", 1);
	close(ready);
}

static void tell_ready(const struct mimicd_command_line *line, int ready)
{
	mimicd_notify("READY=1");
	if (!line->daemonise)
		return;
	leave_terminal();
	(void)!chdir("/");
	let_parent_end(ready);
}

/* A supervisor's child is in the background with it, and is known by its process id. */
static bool has_to_fork(const struct mimicd_command_line *line)
{
	return line->daemonise && (line->supervise || !line->options.recover || !mimicd_store_is_there());
}

/* A path that nobody can listen at is the caller's mistake, not ours. */
static int status_of(int error)
{
	switch (error) {
	case -ENAMETOOLONG:
	case -ENOENT:
	case -ENOTDIR:
		return EXIT_BAD_INPUT;
	default:
		return EXIT_FAILURE;
	}
}

/* "2 maple, 1 dare" */
static void count_devices(const struct mimic_settings *settings, char *text, size_t size)
{
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < mimic_kind_count(); i++) {
		if (settings->counts[i] && length < size)
			length += (size_t)snprintf(text + length, size - length, "%s%u %s", length ? ", " : "",
						   settings->counts[i], mimic_kinds[i]->name);
	}
}

/*
 * From the moment that its socket can be seen the daemon can be told to stop, and
 * then it takes the socket away. So a signal that comes before its handler waits.
 */
static int create_server(const struct mimicd_options *options)
{
	sigset_t stopping, leaving, before;
	int error;

	sigemptyset(&stopping);
	sigaddset(&stopping, SIGTERM);
	sigaddset(&stopping, SIGINT);
	sigemptyset(&leaving);
	if (options->recover)
		sigaddset(&leaving, SIGUSR1);
	sigprocmask(SIG_BLOCK, &leaving, NULL);
	sigprocmask(SIG_BLOCK, &stopping, &before);
	error = mimicd_server_create(&server, options);
	if (!error)
		catch_signals();
	if (!error && options->recover)
		error = watch_for_upgrade();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* qemu-user has none of these calls, and some containers forbid them. */
static void say_what_is_out_of_reach(void)
{
	int error = mimicd_memory_try_remote();

	if (error)
		mimicd_log(MIMICD_LOG_WARNING, "process_vm_readv: %s: devices reach only memory that programs "
			   "share (a library's alloc and register functions); the rest reads as 0, with faults",
			   strerror(-error));
}

static int enter_sandbox(struct mimicd_command_line *line)
{
	line->sandbox.mounts = server->filesystem;
	line->sandbox.has_bus = server->bus;
	line->sandbox.fixes_memory = server->engine.memory_fixes.is_possible;
	if (line->options.clients.listen_fd < 0)
		line->sandbox.socket_path = line->options.clients.socket_path;
	return mimicd_sandbox_enter(&line->sandbox);
}

/*
 * The kill(1) of a unit's ExecReload= sends the signal. If we end before systemd has seen the end of that, it calls the
 * reload a failure. Our parent, which may be the supervisor, is not to end.
 */
static void wait_for_end_of_sender(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (asked_by <= 0 || asked_by == getppid())
		return;
	/* tgkill(): the sandbox has no kill(). 0: it is there still. */
	for (unsigned int i = 0; i < SENDER_MS && !syscall(SYS_tgkill, asked_by, asked_by, 0); i++)
		nanosleep(&pause, NULL);
}

/*
 * As abrupt as a kill, but at a commit: an atomic operation that a kill interrupts costs its program the
 * device (docs/recovery.md). A service manager takes the status for a failure, and starts the successor.
 */
_Noreturn static void leave_to_successor(void)
{
	mimicd_step_commit(&server->engine);
	wait_for_end_of_sender();
	mimicd_log(MIMICD_LOG_INFO, "ends, and leaves all to a successor");
	_exit(EXIT_HANDED_OVER);
}

static int serve(struct mimicd_command_line *line, int ready)
{
	const char *listening = line->options.clients.socket_path;
	char devices[128];
	int error;

	if (line->make_directory && mimicd_socket_make_directory(line->options.clients.socket_path))
		return EXIT_FAILURE;
	/* For tests of a daemon that is killed. */
	line->options.spreads_at_once = line->options.recover && getenv("MIMIC_TEST_SPREAD");
	error = create_server(&line->options);
	if (error)
		return status_of(error);
	count_devices(&line->options.settings, devices, sizeof(devices));
	if (line->options.clients.listen_fd >= 0)
		listening = "a socket of systemd";
	mimicd_log(MIMICD_LOG_INFO, "serving %s devices (profile %s) at %s", devices,
		   mimic_config_profile_name(&line->options.settings), listening);
	say_what_is_out_of_reach();
	error = enter_sandbox(line);
	if (!error) {
		tell_ready(line, ready);
		error = mimicd_server_run(server);
	}
	if (hands_over && !stops && !error)
		leave_to_successor();
	mimicd_notify("STOPPING=1");
	mimicd_log(MIMICD_LOG_INFO, "stopping");
	/* A debugger of memory would wait at exit() for a thread that is lost. */
	if (!mimicd_server_destroy(server))
		_exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The service manager that asks may be a supervisor, which a status alone does not convince. */
static int check(const struct mimicd_command_line *line)
{
	const struct mimicd_options *options = &line->options;

	if (mimicd_origin_check(&options->settings, options->stored, options->stored_count, line->checked))
		return EXIT_FAILURE;
	mimicd_notify(MIMICD_MESSAGE_FITS);
	return EXIT_SUCCESS;
}

/*
 * The program that can be recovered is one of its own, beside ours: its models are compiled so that they
 * log each change, and others are not to pay for that. The options are read there.
 */
static void find_recoverable(char *path, size_t size)
{
	static const char *const places[] = { "mimicd-recoverable", "../libexec/mimic/mimicd-recoverable" };
	char self[PATH_MAX] = "";
	const char *slash;

	(void)!readlink("/proc/self/exe", self, sizeof(self) - 1);
	slash = strrchr(self, '/');
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, size, "%.*s/%s", slash ? (int)(slash - self) : 0, self, places[i]);
		if (!access(path, X_OK))
			return;
	}
}

#ifdef MIMICD_RECOVERABLE
static int become_recoverable(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	/* A supervisor starts us by a descriptor, of which the kernel makes a name. */
	prctl(PR_SET_NAME, "mimicd-recoverable");
	return 0;
}
#else
static int become_recoverable(int argc, char **argv)
{
	char path[PATH_MAX];
	bool wanted = false;

	for (int i = 1; i < argc; i++)
		wanted |= !strcmp(argv[i], "--recover");
	if (!wanted)
		return 0;
	find_recoverable(path, sizeof(path));
	execv(path, argv);
	fprintf(stderr, "mimicd: --recover: %s: %s\n", path, strerror(errno));
	return -EINVAL;
}
#endif

/*
 * The first child has left the terminal as well. The supervisor stays in its directory, from where the
 * paths of its children's options begin.
 */
static void leave_with_child(void *context)
{
	const int *ready = context;

	if (*ready < 0)
		return;
	leave_terminal();
	let_parent_end(*ready);
}

static int supervise(const struct mimicd_command_line *line, char **argv, int ready)
{
	char path[PATH_MAX];
	const struct mimicd_supervisor_options options = {
		.program = path,
		.arguments = argv,
		.recovery_seconds = line->options.clients.recovery_seconds,
		.given = line->options.stored,
		.given_count = line->options.stored_count,
		.ready = leave_with_child,
		.context = &ready,
	};

	find_recoverable(path, sizeof(path));
	return mimicd_supervise(&options);
}

int main(int argc, char **argv)
{
	struct mimicd_command_line line;
	int ready = -1;

	fill_standard_descriptors();
	if (become_recoverable(argc, argv) || mimicd_command_line_parse(&line, argc, argv))
		return EXIT_BAD_INPUT;
	/* The help fills more than one buffer: the first write may have failed, and the last one not. */
	if (line.exit_now && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "mimicd: standard output: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	if (line.exit_now)
		return EXIT_SUCCESS;
	mimicd_log_set_level(line.log_level);
	if (has_to_fork(&line) && !line.checks)
		ready = go_to_background();
	else if (line.daemonise && line.options.stored_count)
		mimicd_log_to_syslog();	/* a successor never had the terminal */
	raise_descriptor_limit();
	if (line.checks)
		return check(&line);
	if (line.supervise)
		return supervise(&line, argv, ready);
	return serve(&line, ready);
}
