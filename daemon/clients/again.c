/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A message that is still in the socket though it was answered: the daemon before was killed in between. */
#include "daemon/clients/again.h"

#include <string.h>

#include "daemon/clients/internal.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/lane.h"
#include "daemon/journal/journal.h"

/* That the reply carried. -1: none. */
static int descriptor_of(const struct mimicd_session *session, const struct mimic_message *reply)
{
	const struct mimic_open_reply *open = (const struct mimic_open_reply *)reply;
	const struct mimic_lane_reply *lane_reply = (const struct mimic_lane_reply *)reply;
	const struct mimicd_lane *lane;
	const struct mimicd_instance *instance;

	if (reply->error)
		return -1;
	switch (reply->type & ~MIMIC_MESSAGE_REPLY) {
	case MIMIC_MESSAGE_HELLO:
		return session->event_fd;
	case MIMIC_MESSAGE_OPEN:
		instance = open->device < MIMIC_SESSION_DEVICES ? session->client.devices[open->device].instance : NULL;
		return instance ? instance->device_memory.fd : -1;
	case MIMIC_MESSAGE_LANE:
		lane = mimicd_lane_find((struct mimicd_client *)(uintptr_t)&session->client, lane_reply->lane);
		return lane ? lane->fd : -1;
	default:
		return -1;
	}
}

static void send_again(struct mimicd_session *session)
{
	_Alignas(8) char reply[MIMIC_MESSAGE_MAX] = { 0 };
	const struct mimic_message *header = (const struct mimic_message *)reply;
	struct mimicd_packet packet = { .length = 0 };

	memcpy(reply, session->reply, session->reply_size);
	packet.header = (struct mimic_message){
		.type = header->type & ~MIMIC_MESSAGE_REPLY, .sequence = header->sequence,
	};
	mimicd_reply(session, &packet, reply, session->reply_size, header->error, descriptor_of(session, header));
}

/* A client may give the same number to many messages, so only the one that was at work is compared. */
bool mimicd_session_answers_again(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimic_message last = { 0 };
	bool may_repeat = session->may_repeat;

	session->may_repeat = false;
	if (!may_repeat || !session->reply_size)
		return false;
	memcpy(&last, session->reply, sizeof(last));
	if (packet->header.sequence != session->sequence || last.type != (packet->header.type | MIMIC_MESSAGE_REPLY))
		return false;
	send_again(session);
	return true;
}

void mimicd_session_repeat_reply(struct mimicd_session *session)
{
	session->may_repeat = true;
	/* One that has sent the next message has the answer. */
	if (session->was_put_off && session->reply_size && !session->pending.length)
		send_again(session);
}
