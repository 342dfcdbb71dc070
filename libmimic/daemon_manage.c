/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices that come, go and misbehave: what `mimic add`, `remove` and `inject` ask of the daemon. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/daemon_client.h"
#include "libmimic/daemon_session.h"

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
	case -EOPNOTSUPP:
		return mimic_error(error, "%.32s is not on the kernel's bus: there is no driver to see it", what);
	default:
		return mimic_error(error, "mimicd at %s: %s", path, strerror(-error));
	}
}

/* One request on a connection of its own. */
static int ask(const char *socket_path, struct daemon_request *request, const char *what)
{
	char path[sizeof(mimic_daemon_sessions[0].path)];
	struct daemon_connection connection;
	struct mimic_hello_reply hello;
	int error = mimic_daemon_socket_path(socket_path, path, sizeof(path));

	if (error == -ENOENT)
		return mimic_error(-ECONNREFUSED, "XDG_RUNTIME_DIR is not set: no place to look for mimicd");
	if (error)
		return mimic_error(-EINVAL, "the socket's path is too long");
	error = mimic_daemon_connect(&connection, path, &hello, NULL);
	if (error)
		return error;
	error = mimic_daemon_exchange(&connection, request);
	if (request->reply_fd >= 0)
		close(request->reply_fd);
	close(connection.socket);
	return error ? explain(error, path, what) : 0;
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

int mimic_daemon_remove(const char *socket_path, const char *name)
{
	struct mimic_open message = { 0 };
	struct mimic_message reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_REMOVE,
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
