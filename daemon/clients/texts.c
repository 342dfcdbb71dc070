/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/texts.h"

#include <errno.h>
#include <json-c/json.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/clients/packet.h"
#include "daemon/clients/internal.h"
#include "daemon/engine/manage.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/state_json.h"

static int memfd_with(const char *text, size_t size)
{
	int fd = memfd_create("mimic text", MFD_CLOEXEC);
	size_t done = 0;

	if (fd < 0)
		return -errno;
	while (done < size) {
		ssize_t written = write(fd, text + done, size - done);

		if (written <= 0) {
			close(fd);
			return -EIO;
		}
		done += (size_t)written;
	}
	return fd;
}

void mimicd_note_text_read(struct mimicd_session *session)
{
	int unread = 0;

	if (session->text_is_unread)
		session->text_is_unread = !ioctl(session->socket, SIOCOUTQ, &unread) && unread;
}

bool mimicd_may_have_text(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	if (session->text_is_unread)
		mimicd_reply_plain(session, packet, -EAGAIN);
	return !session->text_is_unread;
}

void mimicd_reply_file(struct mimicd_session *session, const struct mimicd_packet *packet, const void *bytes,
		       size_t size)
{
	struct mimic_list_reply reply = { .size = size };
	int fd = memfd_with(bytes, size);

	if (fd < 0) {
		mimicd_reply_plain(session, packet, fd);
		return;
	}
	mimicd_reply(session, packet, &reply, sizeof(reply), 0, fd);
	session->text_is_unread = true;
	close(fd);
}

/* NULL: there was no memory for it. */
static void reply_text(struct mimicd_session *session, const struct mimicd_packet *packet, const char *text)
{
	if (text)
		mimicd_reply_file(session, packet, text, strlen(text));
	else
		mimicd_reply_plain(session, packet, -ENOMEM);
}

void mimicd_send_list(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	char *text;

	if (!mimicd_may_have_text(session, packet))
		return;
	text = mimicd_list_text(session->client.engine, &session->client);
	reply_text(session, packet, text);
	free(text);
}

/* The tree as JSON text (docs/state.md), of one moment. With the bytes of a Virgo it is half a megabyte. */
static void reply_state(struct mimicd_session *session, const struct mimicd_packet *packet,
			const struct mimicd_instance *instance)
{
	bool with_bytes = packet->state.flags & MIMIC_STATE_WITH_BYTES;
	uint64_t begun = mimicd_wakes_work_now();
	struct json_object *state = mimic_state_json(instance->kind, instance->model, mimic_now(),
						     with_bytes ? MIMIC_STATE_JSON_BYTES : 0);

	reply_text(session, packet, state ? json_object_to_json_string_ext(state, JSON_C_TO_STRING_PLAIN) : NULL);
	json_object_put(state);
	mimicd_wakes_note_work(session->client.user, MIMICD_WAKE_MESSAGE, mimicd_wakes_work_now() - begun);
}

void mimicd_send_state(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const struct mimic_state_request *request = &packet->state;
	struct mimicd_instance *instance;
	int error;

	if (request->name[MIMIC_NAME_MAX - 1] || request->flags & ~(uint32_t)MIMIC_STATE_WITH_BYTES) {
		mimicd_complain(session, packet, -EINVAL, "the name does not end, or no such flags");
		return;
	}
	error = mimicd_device_find(session->client.engine, request->name, session->client.program.uid,
				   &instance);
	if (error)
		mimicd_reply_plain(session, packet, error);
	else if (mimicd_may_have_text(session, packet))
		reply_state(session, packet, instance);
}
