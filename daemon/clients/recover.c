/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sessions that the daemon before had: their programs are connected still, and wait. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/record.h"
#include "daemon/clients/session.h"
#include "daemon/clients/session_record.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/recover.h"
#include "daemon/loop/log.h"

/* A message that the daemon before had put off is put off here. */
static void go_on_with_packet(struct mimicd_session *session, const struct mimicd_session_record *record)
{
	struct mimicd_packet packet = { .length = record->packet_size };

	if (!record->packet_size)
		return;
	memcpy(packet.bytes, record->packet, sizeof(packet.bytes));
	for (uint32_t i = 0; i < record->packet_fds && i < MIMICD_PACKET_DESCRIPTORS; i++)
		packet.fds[packet.fd_count++] = mimicd_keep_find(MIMICD_KEEP_PACKET, session->client.number, i);
	session->pending = packet;
	mimicd_packet_put_off(session, &packet);
}

static int take_over(struct mimicd_clients *clients, struct mimicd_session_record *record)
{
	uint64_t number = record->client.number;
	struct mimicd_adopted_session adopted = {
		.socket = mimicd_keep_find(MIMICD_KEEP_SOCKET, number, 0),
		.event_fd = mimicd_keep_find(MIMICD_KEEP_KICK, number, 0),
		.pidfd = mimicd_keep_find(MIMICD_KEEP_PROCESS, number, 0),
		.number = number,
		.pid = record->pid,
		.uid = record->uid,
		.is_visible = record->is_visible,
	};
	struct mimicd_session *session;
	int error = mimicd_session_adopt(clients, &adopted, &session);

	if (error)
		return error;
	memcpy(session->client.program.name, record->name, sizeof(record->name));
	session->greeted = record->greeted;
	session->complaints = record->complaints;
	session->sequence = record->sequence;
	session->reply_size = record->reply_size;
	memcpy(session->reply, record->reply, sizeof(session->reply));
	go_on_with_packet(session, record);
	error = mimicd_recover_client(&session->client, &record->client);
	if (error)
		mimicd_client_break(&session->client, "its devices or its memory cannot be taken over: %s", strerror(-error));
	return 0;
}

int mimicd_clients_recover(struct mimicd_clients *clients)
{
	struct mimicd_engine *engine = clients->engine;
	const struct mimicd_root_record *root = engine->predecessor->root;
	const struct mimicd_sessions_record *list = root ? root->clients : NULL;
	unsigned int count = 0;
	int error = 0;

	for (uint64_t i = 0; list && i < list->count; i++) {
		int lost = take_over(clients, list->session[i]);

		if (lost)
			mimicd_log(MIMICD_LOG_ERROR, "recovery: process %d (%s) is lost: %s", list->session[i]->pid,
				   list->session[i]->name, strerror(-lost));
		count += !lost;
	}
	if (root)
		error = mimicd_recover_models(engine);
	if (error)
		return error;
	engine->recorder = &mimicd_clients_recorder;
	engine->recorder_context = clients;
	mimicd_recover_end(engine);
	if (root)
		mimicd_log(MIMICD_LOG_INFO, "went on with %u programs of the daemon before", count);
	return 0;
}
