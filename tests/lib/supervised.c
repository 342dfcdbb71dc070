/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/supervised.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/loop/notify.h"
#include "daemon/recovery/store.h"
#include "daemon/supervise/supervisor.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/log_lines.h"

/* Open in the supervisor and in each daemon, above all that are kept. */
#define ORDERS_FD 4000
#define DESCRIPTORS_MIN 4096u
#define ORDER_MAX 256
#define ANSWER_MAX 65536
#define PATIENCE_MS 20000

/* --- the daemon ------------------------------------------------------------------------------ */

static struct mimicd_stored *stored;
static size_t stored_count;
static int caught_status;

static void answer_with(const char *text, int fd)
{
	if (!raw_send(ORDERS_FD, text, strlen(text), &fd, fd >= 0))
		_exit(99);
}

static void answer(const char *text)
{
	answer_with(text, -1);
}

static int file_with(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(98);
	return fd;
}

static void put_and_close(const char *name, int fd)
{
	if (mimicd_store_put(name, fd))
		_exit(97);
	close(fd);
}

static void put(const char *text)
{
	char name[32];
	int content = 0;

	sscanf(text, "%31s %n", name, &content);
	put_and_close(name, file_with(content ? text + content : ""));
	answer("done");
}

static void put_many(const char *count)
{
	for (int i = 0; i < atoi(count); i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		put_and_close(name, file_with(name + 1));
	}
	answer("done");
}

static void put_pipe(const char *name)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		_exit(96);
	put_and_close(name, ends[0]);
	answer_with("done", ends[1]);
	close(ends[1]);
}

static void drop(const char *name)
{
	answer(mimicd_store_drop(name) ? "refused" : "done");
}

static void say(const char *text)
{
	mimicd_notify(text);
	answer("done");
}

static void send_with_descriptor(const char *text)
{
	answer(mimicd_notify_with(text, ORDERS_FD) ? "refused" : "done");
}

static void be_stranger(const char *text)
{
	pid_t other = fork();

	if (!other)
		_exit(mimicd_notify_with(text, ORDERS_FD) ? 1 : 0);
	waitpid(other, NULL, 0);
	answer("done");
}

static void list(const char *nothing)
{
	static char text[ANSWER_MAX];
	size_t length = 0;

	(void)nothing;
	text[0] = 0;
	for (size_t i = 0; i < stored_count; i++) {
		char content[32] = "";

		if (pread(stored[i].fd, content, sizeof(content) - 1, 0) < 0)
			strcpy(content, "?");
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s=%s", i ? "," : "",
					   stored[i].name, content);
	}
	answer(text);
}

static void get(const char *name)
{
	answer(getenv(name) ? getenv(name) : "unset");
}

static void end(const char *status)
{
	_exit(atoi(status));
}

static void end_by_signal(const char *number)
{
	raise(atoi(number));
}

static void end_as_told(int signal_number)
{
	(void)signal_number;
	_exit(caught_status);
}

static void catch_signals(const char *status)
{
	caught_status = atoi(status);
	signal(SIGTERM, end_as_told);
	signal(SIGINT, end_as_told);
	answer("done");
}

static void obey(const char *order)
{
	static const struct {
		const char *word;
		void (*obey)(const char *rest);
	} orders[] = {
		{ "put ", put }, { "many ", put_many }, { "pipe ", put_pipe }, { "drop ", drop }, { "say ", say },
		{ "send ", send_with_descriptor }, { "stranger ", be_stranger }, { "list", list }, { "get ", get },
		{ "exit ", end }, { "signal ", end_by_signal }, { "catch ", catch_signals },
	};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		size_t length = strlen(orders[i].word);

		if (!strncmp(order, orders[i].word, length)) {
			orders[i].obey(order + length);
			return;
		}
	}
	_exit(95);
}

void supervised_daemon(int argc, char **argv)
{
	char text[ORDER_MAX + 1];
	ssize_t length;

	if (argc < 2 || strcmp(argv[1], "--supervised"))
		return;
	if (mimicd_store_take(&stored, &stored_count))
		_exit(94);
	snprintf(text, sizeof(text), "started %d", (int)getpid());
	answer(text);
	while ((length = recv(ORDERS_FD, text, ORDER_MAX, 0)) > 0) {
		text[length] = 0;
		obey(text);
	}
	_exit(93);
}

/* --- the supervisor -------------------------------------------------------------------------- */

static struct mimicd_stored *given_list(const char *name)
{
	struct mimicd_stored *list = name ? calloc(1, sizeof(*list)) : NULL;

	if (list) {
		list->fd = file_with("given");
		snprintf(list->name, sizeof(list->name), "%s", name);
	}
	return list;
}

static void set_descriptor_limit(unsigned int most)
{
	const struct rlimit limit = { most, most };

	setrlimit(RLIMIT_NOFILE, &limit);
}

static void supervise(const struct supervised *supervised)
{
	static char name[] = "test", option[] = "--supervised";
	char *const arguments[] = { name, option, NULL };
	const struct mimicd_supervisor_options options = {
		.program = "/proc/self/exe",
		.arguments = arguments,
		.recovery_seconds = supervised->recovery_seconds ? supervised->recovery_seconds : 100,
		.given = given_list(supervised->given),
		.given_count = supervised->given != NULL,
	};
	int log = open(supervised->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	alarm(0);
	dup2(log, STDERR_FILENO);
	if (supervised->descriptors)
		set_descriptor_limit(supervised->descriptors);
	exit(mimicd_supervise(&options));
}

bool supervised_start(struct supervised *supervised)
{
	int ends[2];

	snprintf(supervised->log, sizeof(supervised->log), "/tmp/mimic-supervised-%d", (int)getpid());
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	fflush(NULL);
	supervised->pid = fork();
	if (!supervised->pid) {
		close(ends[0]);
		set_descriptor_limit(DESCRIPTORS_MIN);
		if (dup2(ends[1], ORDERS_FD) < 0)
			_exit(92);
		supervise(supervised);
	}
	close(ends[1]);
	supervised->orders = ends[0];
	return supervised->pid > 0 && supervised_next(supervised, PATIENCE_MS) > 0;
}

int supervised_wait(struct supervised *supervised)
{
	int status;

	for (unsigned int i = 0; i < PATIENCE_MS / 10; i++) {
		if (waitpid(supervised->pid, &status, WNOHANG) == supervised->pid) {
			supervised->pid = -1;
			return status;
		}
		test_sleep_ms(10);
	}
	return -1;
}

void supervised_end(struct supervised *supervised)
{
	if (supervised->pid > 0) {
		kill(supervised->pid, SIGKILL);
		waitpid(supervised->pid, NULL, 0);
	}
	supervised->pid = -1;
	close(supervised->orders);
	unlink(supervised->log);
}

unsigned int supervised_said(const struct supervised *supervised, const char *text)
{
	return log_lines_with(supervised->log, text);
}

/* --- orders ------------------------------------------------------------------------------------ */

static char last_answer[ANSWER_MAX];
static int last_descriptor = -1;

static const char *receive(struct supervised *supervised, int milliseconds)
{
	struct pollfd entry = { .fd = supervised->orders, .events = POLLIN };
	ssize_t length = 0;

	last_descriptor = -1;
	if (poll(&entry, 1, milliseconds) == 1)
		length = raw_receive(supervised->orders, last_answer, sizeof(last_answer) - 1, &last_descriptor);
	last_answer[length > 0 ? length : 0] = 0;
	return last_answer;
}

static void send_order(struct supervised *supervised, const char *format, va_list arguments)
{
	char text[ORDER_MAX];

	vsnprintf(text, sizeof(text), format, arguments);
	(void)!send(supervised->orders, text, strlen(text), MSG_NOSIGNAL);
}

const char *supervised_order(struct supervised *supervised, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_order(supervised, format, arguments);
	va_end(arguments);
	return receive(supervised, PATIENCE_MS);
}

int supervised_descriptor(void)
{
	return last_descriptor;
}

void supervised_end_daemon(struct supervised *supervised, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	send_order(supervised, format, arguments);
	va_end(arguments);
}

pid_t supervised_next(struct supervised *supervised, int milliseconds)
{
	int pid;

	return sscanf(receive(supervised, milliseconds), "started %d", &pid) == 1 ? pid : -1;
}
