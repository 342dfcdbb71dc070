/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The peer of sub-commands that show devices: mimicd, or a process with devices of its own. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/base/kinds.h"
#include "libmimic/daemon/client.h"
#include "libmimic/embedded/state_socket.h"
#include "libmimic/mimic.h"
#include "tools/common/tools.h"

int tool_peer_find(const char *command, struct peer *peer)
{
	unsigned int pid;
	int error;

	if (!peer->pid)
		return EXIT_SUCCESS;
	if (peer->socket_path)
		return tool_error(EXIT_BAD_INPUT, "%s: --pid or --socket, not both", command);
	if (!mimic_kind_number(peer->pid, &pid) || !pid)
		return tool_error(EXIT_BAD_INPUT, "%s: --pid %s: no process has such a number", command, peer->pid);
	error = mimic_embedded_socket_path((pid_t)pid, peer->path, sizeof(peer->path));
	if (error)
		return tool_error(EXIT_FAILURE, "%s: %s", command, strerror(-error));
	if (access(peer->path, F_OK))
		return tool_error(EXIT_FAILURE, "%s: process %u shows no devices of its own; did it open one, and "
				  "was it started by mimic run --state, or with MIMIC_STATE=1?", command, pid);
	peer->socket_path = peer->path;
	return EXIT_SUCCESS;
}

const char *tool_peer_error_text(const struct peer *peer, int error)
{
	static char text[512];
	const char *said = mimic_error_text()[0] ? mimic_error_text() : strerror(-error), *place;
	char whom[sizeof(peer->path) + sizeof("mimicd at ")];

	snprintf(whom, sizeof(whom), "mimicd at %s", peer->path);
	place = peer->pid ? strstr(said, whom) : NULL;
	if (!place)
		return said;
	/* "no mimicd at": the process ended or called exec, and left its socket. */
	if (place != said)
		snprintf(text, sizeof(text), "process %s does not answer%s", peer->pid, place + strlen(whom));
	else
		snprintf(text, sizeof(text), "process %s%s", peer->pid, place + strlen(whom));
	return text;
}

int tool_peer_error(const char *command, const struct peer *peer, int error)
{
	/* A device or kind that is not there is the caller's mistake. */
	int status = error == -ENODEV || error == -ENOENT || error == -EINVAL ? EXIT_BAD_INPUT : EXIT_FAILURE;

	return tool_error(status, "%s: %s", command, tool_peer_error_text(peer, error));
}

static struct json_object *parse(const char *command, char *text, int *status)
{
	struct json_object *root = json_tokener_parse(text);

	if (!root)
		*status = tool_error(EXIT_FAILURE, "%s: the answer is no JSON: %.60s", command, text);
	free(text);
	errno = root ? errno : EPROTO;
	return root;
}

struct json_object *tool_peer_list(const char *command, const struct peer *peer, int *status)
{
	char *text = NULL;
	int error = mimic_daemon_list(peer->socket_path, &text);

	*status = EXIT_SUCCESS;
	if (!error)
		return parse(command, text, status);
	*status = tool_error(EXIT_FAILURE, "%s: %s", command, tool_peer_error_text(peer, error));
	errno = -error;
	return NULL;
}

struct json_object *tool_peer_state(const char *command, const struct peer *peer, const char *device,
				    uint32_t flags, int *status)
{
	char *text = NULL;
	int error = mimic_daemon_state(peer->socket_path, device, flags, &text);

	*status = EXIT_SUCCESS;
	if (!error)
		return parse(command, text, status);
	*status = tool_peer_error(command, peer, error);
	return NULL;
}

void tool_peer_device_name(struct json_object *device, char *name, size_t size)
{
	struct json_object *user;

	snprintf(name, size, "%s", tool_show_text(device, "name"));
	/* Several processes may have private devices of the same name. */
	if (strchr(name, '@') && json_object_object_get_ex(device, "user", &user) && user)
		snprintf(name + strlen(name), size - strlen(name), ":%s", tool_show_text(user, "pid"));
}
