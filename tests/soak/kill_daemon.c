/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/soak/kill_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mimic/protocol.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/soak/kill_install.h"
#include "tests/soak/kill_work.h"

#define ARGUMENTS_MAX 32
#define START_MS 20000u
#define END_MS 20000u
#define LOG_LINES_BYTES 3000
#define DEVICES "maple:8,dare:2,virgo:4"

static bool fail(struct kill_daemon *daemon, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(daemon->error, sizeof(daemon->error), format, arguments);
	va_end(arguments);
	return false;
}

static void pause_us(unsigned int microseconds)
{
	const struct timespec time = { .tv_nsec = (long)microseconds * 1000 };

	nanosleep(&time, NULL);
}

/* --- processes ------------------------------------------------------------------------------ */

static bool read_file(const char *path, char *text, size_t size, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (got < 0)
		return false;
	text[got] = 0;
	*length = (size_t)got;
	return true;
}

/* A mimicd that was started to serve: not a zombie, and not one that tries a plugin, or whether it fits. */
static bool serves(pid_t pid)
{
	char path[64], text[4096];
	bool recovers = false;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	if (!read_file(path, text, sizeof(text), &length))
		return false;
	for (const char *argument = text; argument < text + length; argument += strlen(argument) + 1) {
		if (!strcmp(argument, "--check"))
			return false;
		recovers |= !strcmp(argument, "--recover");
	}
	return recovers;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[1024];
	const char *behind_name;
	size_t length;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_file(path, text, sizeof(text), &length))
		return 0;
	behind_name = strrchr(text, ')');
	return behind_name && sscanf(behind_name + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The child of the supervisor that serves, other than `but`; 0: there is none. */
static pid_t find_child(pid_t supervisor, pid_t but)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (directory && !found && (entry = readdir(directory))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && pid != but && parent_of(pid) == supervisor && serves(pid))
			found = pid;
	}
	if (directory)
		closedir(directory);
	return found;
}

bool kill_daemon_is_there(struct kill_daemon *daemon)
{
	int status;

	if (daemon->supervisor <= 0)
		return false;
	if (waitpid(daemon->supervisor, &status, WNOHANG) != daemon->supervisor)
		return true;
	daemon->supervisor = -1;
	return fail(daemon, "%s ended with wait status %#x", daemon->is_supervised ? "the supervisor" : "mimicd",
		    (unsigned int)status);
}

bool kill_daemon_find(struct kill_daemon *daemon, unsigned int milliseconds)
{
	uint64_t end = kill_now_ns() + milliseconds * 1000000ull;
	pid_t before = daemon->serving;

	do {
		if (!kill_daemon_is_there(daemon))
			return false;
		daemon->serving = daemon->is_supervised ? find_child(daemon->supervisor, before) : daemon->supervisor;
		if (daemon->serving > 0)
			return true;
		pause_us(1000);
	} while (kill_now_ns() < end);
	daemon->serving = before;
	return fail(daemon, "the supervisor starts no successor of process %d in %u ms", (int)before, milliseconds);
}

/* --- its answers ---------------------------------------------------------------------------- */

static int say_hello(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	raw_header(&hello, sizeof(hello), MIMIC_MESSAGE_HELLO);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

bool kill_daemon_await(struct kill_daemon *daemon, unsigned int milliseconds, uint64_t *when)
{
	uint64_t end = kill_now_ns() + milliseconds * 1000000ull;
	struct mimic_hello_reply reply;
	int fd = -1, received;

	while (kill_now_ns() < end) {
		struct pollfd entry = { .events = POLLIN };

		if (!kill_daemon_is_there(daemon))
			return false;
		if (fd < 0)
			fd = say_hello(daemon->socket);
		entry.fd = fd;
		if (fd < 0 || poll(&entry, 1, 20) <= 0) {
			pause_us(1000);
			continue;
		}
		*when = kill_now_ns();
		/* A daemon that does not recover hangs up. */
		if (raw_receive(fd, &reply, sizeof(reply), &received) == (ssize_t)sizeof(reply)) {
			if (received >= 0)
				close(received);
			close(fd);
			return true;
		}
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		close(fd);
	return fail(daemon, "mimicd (process %d) does not answer a new program in %u ms", (int)daemon->serving,
		    milliseconds);
}

/* --- its life ------------------------------------------------------------------------------- */

static void become_daemon(const struct kill_daemon *daemon, const char *mimicd, char *const *extra)
{
	const char *arguments[ARGUMENTS_MAX] = { mimicd };
	unsigned int count = 1;
	int log = open(daemon->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (daemon->is_supervised)
		arguments[count++] = "--supervise";
	arguments[count++] = "--socket";
	arguments[count++] = daemon->socket;
	arguments[count++] = "--devices";
	arguments[count++] = DEVICES;
	if (daemon->is_on_bus)
		arguments[count++] = "--kernel";
	if (daemon->threads) {
		arguments[count++] = "--threads";
		arguments[count++] = daemon->threads;
		setenv("MIMIC_TEST_SPREAD", "1", 1);
	}
	while (*extra && count < ARGUMENTS_MAX - 1)
		arguments[count++] = *extra++;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(log, STDERR_FILENO);
	dup2(log, STDOUT_FILENO);
	execv(mimicd, (char *const *)arguments);
	_exit(127);
}

/* The kernel's drivers probe in the background. */
static bool await_nodes(struct kill_daemon *daemon)
{
	static const char *const nodes[] = { "/dev/maple7", "/dev/dare0", "/dev/dare1", "/dev/virgo3" };

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		uint64_t end = kill_now_ns() + START_MS * 1000000ull;
		int fd;

		while ((fd = open(nodes[i], O_RDWR | O_CLOEXEC)) < 0) {
			if (kill_now_ns() > end)
				return fail(daemon, "%s: %s", nodes[i], strerror(errno));
			pause_us(10000);
		}
		close(fd);
	}
	return true;
}

bool kill_daemon_start(struct kill_daemon *daemon, const char *mimicd, char *const *extra)
{
	char installed[sizeof(daemon->directory) + 16];
	uint64_t when;

	strcpy(daemon->directory, "/tmp/mimic-kill-XXXXXX");
	if (!mkdtemp(daemon->directory))
		return fail(daemon, "no folder in /tmp: %s", strerror(errno));
	snprintf(daemon->socket, sizeof(daemon->socket), "%s/mimicd.sock", daemon->directory);
	snprintf(daemon->log, sizeof(daemon->log), "%s/log", daemon->directory);
	if (daemon->is_upgraded) {
		if (!kill_install(mimicd, daemon->directory))
			return fail(daemon, "%s cannot be copied to %s", mimicd, daemon->directory);
		kill_installed_path(daemon->directory, installed, sizeof(installed));
		mimicd = installed;
	}
	daemon->supervisor = fork();
	if (!daemon->supervisor)
		become_daemon(daemon, mimicd, extra);
	if (daemon->supervisor < 0)
		return fail(daemon, "fork: %s", strerror(errno));
	return kill_daemon_await(daemon, START_MS, &when) && kill_daemon_find(daemon, START_MS) &&
	       (!daemon->is_on_bus || await_nodes(daemon));
}

bool kill_daemon_kill(struct kill_daemon *daemon, uint64_t *when)
{
	int fd = (int)syscall(SYS_pidfd_open, daemon->serving, 0);
	struct pollfd entry = { .fd = fd, .events = POLLIN };
	bool is_dead;

	*when = kill_now_ns();
	if (fd < 0 || (daemon->is_supervised && parent_of(daemon->serving) != daemon->supervisor))
		return fail(daemon, "mimicd (process %d) ended by itself", (int)daemon->serving);
	syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	is_dead = poll(&entry, 1, (int)END_MS) > 0;
	close(fd);
	return is_dead || fail(daemon, "process %d does not die", (int)daemon->serving);
}

bool kill_daemon_upgrade(struct kill_daemon *daemon, uint64_t *when)
{
	struct pollfd entry = { .fd = (int)syscall(SYS_pidfd_open, daemon->serving, 0), .events = POLLIN };
	bool has_left;

	if (entry.fd < 0)
		return fail(daemon, "mimicd (process %d) ended by itself", (int)daemon->serving);
	daemon->copy = !daemon->copy;
	has_left = kill_install_copy(daemon->directory, daemon->copy) && !kill(daemon->supervisor, SIGHUP) &&
		   poll(&entry, 1, (int)END_MS) > 0;
	*when = kill_now_ns();
	close(entry.fd);
	return has_left ||
	       fail(daemon, "mimicd (process %d) does not leave to another program", (int)daemon->serving);
}

void kill_daemon_hold(const struct kill_daemon *daemon, bool holds)
{
	if (daemon->is_supervised && daemon->supervisor > 0)
		kill(daemon->supervisor, holds ? SIGSTOP : SIGCONT);
}

static unsigned int descriptors_of(pid_t pid)
{
	char path[64];
	unsigned int count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

void kill_daemon_descriptors(const struct kill_daemon *daemon, unsigned int counts[2])
{
	counts[0] = descriptors_of(daemon->supervisor);
	counts[1] = descriptors_of(daemon->serving);
}

bool kill_daemon_end(struct kill_daemon *daemon)
{
	int status = 0;

	if (daemon->supervisor <= 0)
		return true;
	kill(daemon->supervisor, SIGTERM);
	for (unsigned int i = 0; i < END_MS / 10; i++) {
		if (waitpid(daemon->supervisor, &status, WNOHANG) == daemon->supervisor) {
			daemon->supervisor = -1;
			return !status || fail(daemon, "it ended with wait status %#x on SIGTERM", (unsigned int)status);
		}
		pause_us(10000);
	}
	kill(daemon->supervisor, SIGKILL);
	if (daemon->is_supervised && parent_of(daemon->serving) == daemon->supervisor)
		kill(daemon->serving, SIGKILL);
	waitpid(daemon->supervisor, &status, 0);
	daemon->supervisor = -1;
	return fail(daemon, "it did not end on SIGTERM");
}

void kill_daemon_show_log(const struct kill_daemon *daemon)
{
	char text[LOG_LINES_BYTES + 1];
	int fd = open(daemon->log, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t got;

	if (size <= 0)
		return;
	got = pread(fd, text, LOG_LINES_BYTES, size > LOG_LINES_BYTES ? size - LOG_LINES_BYTES : 0);
	close(fd);
	fprintf(stderr, "soak_kill: the end of mimicd's log:\n%.*s\n", (int)(got > 0 ? got : 0), text);
}

void kill_daemon_clean(struct kill_daemon *daemon)
{
	char path[128];

	kill_uninstall(daemon->directory);
	unlink(daemon->socket);
	unlink(daemon->log);
	snprintf(path, sizeof(path), "%s.lock", daemon->socket);
	unlink(path);
	rmdir(daemon->directory);
}
