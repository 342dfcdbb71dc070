/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The requests of `mimic add`, `remove`, `inject`, `reset`, `dump`, `save` and `restore` to the daemon. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/base/error.h"
#include "libmimic/base/memory.h"
#include "libmimic/daemon/client.h"
#include "libmimic/daemon/session.h"

static int explain(int error, const char *path, const char *what)
{
	switch (error) {
	case -ENOENT:
		return mimic_error(error, "mimicd at %s knows no kind of device '%.32s'", path, what);
	case -ENODEV:
		return mimic_error(error, "mimicd at %s has no device '%.32s'", path, what);
	case -ENOSPC:
		return mimic_error(error, "mimicd at %s has as many devices as there can be", path);
	case -EPERM:
		return mimic_error(error, "mimicd at %s does this for root and its own user only", path);
	case -ENOTUNIQ:
		return mimic_error(error, "several processes have a '%.32s': say which, as '%.32s:PID'", what, what);
	case -ENOTCONN:
		return mimic_error(error, "mimicd at %s hung up: perhaps it is older than this command", path);
	case -EOPNOTSUPP:
		return mimic_error(error, "%.32s is neither on the kernel's bus nor in a virtual machine", what);
	default:
		return mimic_error(error, "mimicd at %s: %s", path, strerror(-error));
	}
}

/* One request on a connection of its own, which is the caller's then. The reply's descriptor is, too. */
static int ask_and_stay(const char *socket_path, struct daemon_request *request, const char *what,
			int *connection_fd)
{
	char path[sizeof(mimic_daemon_sessions[0].path)];
	struct daemon_connection connection;
	struct mimic_hello_reply hello;
	int error = mimic_daemon_socket_path(socket_path, path, sizeof(path));

	if (error)
		return mimic_error(-EINVAL, "the socket's path is too long");
	error = mimic_daemon_connect(&connection, path, &hello, NULL);
	if (error)
		return error;
	error = mimic_daemon_exchange(&connection, request);
	*connection_fd = connection.socket;
	if (!error)
		return 0;
	close(connection.socket);
	return explain(error, path, what);
}

static int ask_for_file(const char *socket_path, struct daemon_request *request, const char *what)
{
	int connection, error = ask_and_stay(socket_path, request, what, &connection);

	if (!error)
		close(connection);
	return error;
}

static int ask(const char *socket_path, struct daemon_request *request, const char *what)
{
	int error = ask_for_file(socket_path, request, what);

	if (!error && request->reply_fd >= 0)
		close(request->reply_fd);
	return error;
}

static int check_length(const char *text, size_t size)
{
	if (strlen(text) < size)
		return 0;
	return mimic_error(-ENODEV, "'%.40s...': no device has so long a name", text);
}

int mimic_daemon_add(const char *socket_path, const char *kind, char *name)
{
	struct mimic_add message = { 0 };
	struct mimic_add_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_ADD,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error = check_length(kind, sizeof(message.kind));

	if (error)
		return error;
	strcpy(message.kind, kind);
	error = ask(socket_path, &request, kind);
	if (error)
		return error;
	reply.name[sizeof(reply.name) - 1] = 0;
	strcpy(name, reply.name);
	return 0;
}

/* A request that only names a device. */
static int ask_by_name(const char *socket_path, enum mimic_message_type type, const char *name)
{
	struct mimic_open message = { 0 };
	struct mimic_message reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = (uint16_t)type,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error = check_length(name, sizeof(message.name));

	if (error)
		return error;
	strcpy(message.name, name);
	return ask(socket_path, &request, name);
}

int mimic_daemon_remove(const char *socket_path, const char *name)
{
	return ask_by_name(socket_path, MIMIC_MESSAGE_REMOVE, name);
}

int mimic_daemon_reset(const char *socket_path, const char *name)
{
	return ask_by_name(socket_path, MIMIC_MESSAGE_RESET, name);
}

int mimic_daemon_clear_counters(const char *socket_path, const char *name)
{
	return ask_by_name(socket_path, MIMIC_MESSAGE_CLEAR_COUNTERS, name);
}

int mimic_daemon_state(const char *socket_path, const char *name, uint32_t flags, char **json)
{
	struct mimic_state_request message = { .flags = flags };
	struct mimic_list_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_STATE,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error = check_length(name, sizeof(message.name));

	if (error)
		return error;
	strcpy(message.name, name);
	error = ask_for_file(socket_path, &request, name);
	if (error)
		return error;
	error = request.reply_fd < 0 ? -EPROTO :
				       mimic_daemon_read_text(request.reply_fd, reply.size, json);
	if (request.reply_fd >= 0)
		close(request.reply_fd);
	return error ? mimic_error(error, "the state of %.32s: %s", name, strerror(-error)) : 0;
}

int mimic_daemon_inject(const char *socket_path, const char *name, enum mimic_injection what)
{
	struct mimic_inject message = { .what = what };
	struct mimic_message reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_INJECT,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error = check_length(name, sizeof(message.name));

	if (error)
		return error;
	strcpy(message.name, name);
	return ask(socket_path, &request, name);
}

/* --- states in files ---------------------------------------------------------------------- */

int mimic_daemon_save(const char *socket_path, const char *name, void **record, size_t *size)
{
	struct mimic_open message = { 0 };
	struct mimic_list_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_SAVE,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	char *bytes = NULL;
	int error = check_length(name, sizeof(message.name));

	if (error)
		return error;
	strcpy(message.name, name);
	error = ask_for_file(socket_path, &request, name);
	if (error == -EBUSY)
		return mimic_error(error, "work of %.32s does not end: it waits for memory of its program", name);
	if (error == -EOPNOTSUPP)
		return mimic_error(error, "devices of the kind of %.32s cannot be saved", name);
	if (error)
		return error;
	error = request.reply_fd < 0 ? -EPROTO : mimic_daemon_read_text(request.reply_fd, reply.size, &bytes);
	if (request.reply_fd >= 0)
		close(request.reply_fd);
	*record = bytes;
	*size = (size_t)reply.size;
	return error ? mimic_error(error, "the state of %.32s: %s", name, strerror(-error)) : 0;
}

/* A sealed memfd with these bytes, or -errno. */
static int memory_file_of(const void *record, size_t size)
{
	int fd = mimic_memory_file("mimic snapshot", size), error = 0;

	if (fd < 0)
		return fd;
	if (pwrite(fd, record, size, 0) != (ssize_t)size)
		error = -ENOSPC;
	else if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0)
		error = -errno;
	if (!error)
		return fd;
	close(fd);
	return error;
}

int mimic_daemon_restore(const char *socket_path, const char *name, const void *record, size_t size,
			 bool check_only)
{
	struct mimic_restore message = { .flags = check_only ? MIMIC_RESTORE_CHECK : 0 };
	struct mimic_restore_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_RESTORE,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error = check_length(name, sizeof(message.name));

	if (error)
		return error;
	strcpy(message.name, name);
	request.fd = memory_file_of(record, size);
	if (request.fd < 0)
		return mimic_error(request.fd, "the state of %.32s: %s", name, strerror(-request.fd));
	error = ask(socket_path, &request, name);
	close(request.fd);
	if (error || !reply.error)
		return error;
	reply.text[sizeof(reply.text) - 1] = 0;
	return mimic_error(reply.error < 0 ? reply.error : -EPROTO, "%.32s: %s", name, reply.text);
}

int mimic_daemon_trace_bus(const char *socket_path, int spool_fd)
{
	struct mimic_message message = { .flags = 0 }, reply;
	struct daemon_request request = {
		.message = &message,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_TRACE_BUS,
		.fd = spool_fd,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int connection = -1;
	int error = ask_and_stay(socket_path, &request, "the trace", &connection);

	if (error == -EBUSY)
		return mimic_error(error, "the kernel's devices are traced already, by another command");
	if (error == -EOPNOTSUPP)
		return mimic_error(error, "mimicd has no device that a driver has: was it started with --kernel or --vfio-user?");
	return error ? error : connection;
}
