/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/recovery/kill_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES 16384u

int kill_stream_open(struct kill_stream *stream, int *writer)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*stream = (struct kill_stream){ .fd = ends[0] };
	*writer = ends[1];
	return 0;
}

void kill_stream_close(struct kill_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->text);
	*stream = (struct kill_stream)KILL_NO_STREAM;
}

/* At its end, or when it fails, nothing more is expected of it. */
static void read_stream(struct kill_stream *stream)
{
	char *text = realloc(stream->text, stream->size + READ_BYTES + 1);
	ssize_t got = -1;

	if (text) {
		stream->text = text;
		do
			got = read(stream->fd, text + stream->size, READ_BYTES);
		while (got < 0 && errno == EINTR);
		stream->size += got > 0 ? (size_t)got : 0;
		text[stream->size] = 0;
	}
	if (got > 0)
		return;
	close(stream->fd);
	stream->fd = -1;
}

/* getenv() finds the first of two variables with one name. NULL: no memory. */
static char **join_environment(char *const *variables)
{
	size_t own = 0, first = 0;
	char **joined;

	while (environ[own])
		own++;
	while (variables[first])
		first++;
	joined = calloc(first + own + 1, sizeof(*joined));
	if (!joined)
		return NULL;
	memcpy(joined, variables, first * sizeof(*joined));
	memcpy(joined + first, environ, own * sizeof(*joined));
	return joined;
}

/* Signals that this process blocks reach its children. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	error = posix_spawnattr_setsigmask(attributes, &none);
	return error ? error : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

int kill_process_start(pid_t *pid, char *const *arguments, char *const *variables, int output, int errors)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char **environment = join_environment(variables);
	int error;

	if (!environment)
		return -ENOMEM;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	error = set_attributes(&attributes);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	if (!error)
		error = posix_spawn(pid, arguments[0], &actions, &attributes, arguments, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return -error;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

enum kill_wait kill_streams_wait(struct kill_stream *const *streams, size_t count,
				 const struct kill_condition *condition)
{
	uint64_t now = now_ms(), end = now + condition->milliseconds;
	struct pollfd events[KILL_STREAMS + 1];

	for (; !condition->is_met(condition->data); now = now_ms()) {
		if (now >= end)
			return KILL_WAIT_TOO_LONG;
		/* poll() leaves out descriptors below 0. */
		for (size_t i = 0; i < count; i++)
			events[i] = (struct pollfd){ .fd = streams[i]->fd, .events = POLLIN };
		events[count] = (struct pollfd){ .fd = condition->stop, .events = POLLIN };
		if (poll(events, count + 1, (int)(end - now)) <= 0)
			continue;
		if (events[count].revents)
			return KILL_WAIT_STOPPED;
		for (size_t i = 0; i < count; i++) {
			if (events[i].revents)
				read_stream(streams[i]);
		}
	}
	return KILL_WAIT_DONE;
}
