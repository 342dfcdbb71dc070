/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session_record.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/keep.h"
#include "daemon/loop/log.h"

/* --- descriptors ------------------------------------------------------------------------------ */

int mimicd_session_keep(struct mimicd_session *session)
{
	struct mimicd_client *client = &session->client;
	int error;

	if (!mimicd_journal_is_on())
		return 0;
	error = mimicd_keep(MIMICD_KEEP_SOCKET, &client->number, 0, session->socket);
	if (!error)
		error = mimicd_keep(MIMICD_KEEP_KICK, &client->number, 0, session->event_fd);
	if (!error && client->memory.pidfd >= 0)
		error = mimicd_keep(MIMICD_KEEP_PROCESS, &client->number, 0, client->memory.pidfd);
	client->memory.client = client->number;
	mimicd_step_note_client(client);
	return error;
}

static void drop_packet(struct mimicd_session *session)
{
	for (unsigned int i = 0; i < session->pending.fd_count; i++)
		mimicd_keep_drop(MIMICD_KEEP_PACKET, session->client.number, i);
	session->pending.fd_count = 0;
	session->pending.length = 0;
}

void mimicd_session_keep_drop(struct mimicd_session *session)
{
	struct mimicd_client *client = &session->client;

	if (!mimicd_journal_is_on())
		return;
	mimicd_keep_drop(MIMICD_KEEP_SOCKET, client->number, 0);
	mimicd_keep_drop(MIMICD_KEEP_KICK, client->number, 0);
	mimicd_keep_drop(MIMICD_KEEP_PROCESS, client->number, 0);
	drop_packet(session);
	session->clients->has_ended = true;
	mimicd_journal_free(session->record);
	mimicd_step_note_client(client);
}

/* --- messages --------------------------------------------------------------------------------- */

bool mimicd_packet_is_question(const struct mimicd_packet *packet)
{
	switch (packet->header.type) {
	case MIMIC_MESSAGE_LIST:
	case MIMIC_MESSAGE_STATE:
	case MIMIC_MESSAGE_EXPLAIN:
		return true;
	default:
		return false;
	}
}

void mimicd_session_note_reply(struct mimicd_session *session, const struct mimicd_packet *packet, const void *reply,
			       size_t size)
{
	if (!mimicd_journal_is_on())
		return;
	if (!mimicd_packet_is_question(packet)) {
		session->was_put_off = session->pending.length;
		drop_packet(session);
		session->sequence = packet->header.sequence;
		session->reply_size = size;
		memcpy(session->reply, reply, size);
		mimicd_step_note_client(&session->client);
	}
	mimicd_step_commit(session->client.engine);
}

void mimicd_session_note_put_off(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	if (!mimicd_journal_is_on() || session->pending.length)
		return;
	session->pending = *packet;
	for (unsigned int i = 0; i < packet->fd_count; i++) {
		if (mimicd_keep(MIMICD_KEEP_PACKET, &session->client.number, i, packet->fds[i]))
			mimicd_client_break(&session->client, "its message cannot be kept");
	}
	mimicd_step_note_client(&session->client);
	mimicd_step_commit(session->client.engine);
}

/* --- records ---------------------------------------------------------------------------------- */

static void fill(const struct mimicd_session *session, struct mimicd_session_record *record)
{
	const struct mimicd_program *program = &session->client.program;

	record->pid = program->pid;
	record->uid = program->uid;
	memcpy(record->name, program->name, sizeof(record->name));
	record->is_visible = session->client.memory.pidfd >= 0;
	record->greeted = session->greeted;
	record->complaints = session->complaints;
	record->sequence = session->sequence;
	record->reply_size = (uint32_t)session->reply_size;
	memcpy(record->reply, session->reply, session->reply_size);
	record->was_put_off = session->was_put_off;
	record->packet_size = (uint32_t)session->pending.length;
	record->packet_fds = session->pending.fd_count;
	memcpy(record->packet, session->pending.bytes, sizeof(record->packet));
	mimicd_client_record_fill(&session->client, &record->client);
}

/* In its place, if it is as long as before. false: there is no memory. *moved: it lies elsewhere now. */
static bool write_session(struct mimicd_session *session, bool *moved)
{
	size_t size = offsetof(struct mimicd_session_record, client) + mimicd_client_record_size(&session->client);
	struct mimicd_session_record *record = calloc(1, size);

	if (!record)
		return false;
	fill(session, record);
	if (!session->record || session->record_size != size) {
		mimicd_journal_free(session->record);
		session->record = mimicd_journal_alloc(size);
		session->record_size = size;
		*moved = true;
	}
	if (session->record)
		mimicd_journal_write(session->record, record, size);
	free(record);
	session->client.has_changed = false;
	return session->record;
}

static bool write_list(struct mimicd_clients *clients, struct mimicd_root_record *root)
{
	struct mimicd_sessions_record *old = root->clients, *list;

	list = mimicd_journal_alloc(sizeof(*list) + clients->count * sizeof(list->session[0]));
	if (!list)
		return false;
	for (struct mimicd_session *session = clients->sessions; session; session = session->next) {
		if (session->record)
			list->session[list->count++] = session->record;
	}
	mimicd_journal_write(&root->clients, &list, sizeof(list));
	mimicd_journal_free(old);
	return true;
}

static void record(void *context)
{
	struct mimicd_clients *clients = context;
	struct mimicd_engine *engine = clients->engine;
	struct mimicd_root_record *root = mimicd_journal_root();
	bool moved = clients->has_ended, is_whole = true;

	mimicd_journal_write(&root->last_owner, &engine->last_owner, sizeof(root->last_owner));
	mimicd_journal_write(&root->last_address_space, &engine->last_address_space, sizeof(root->last_address_space));
	is_whole = mimicd_devices_record_write(engine, root);
	for (struct mimicd_session *session = clients->sessions; session; session = session->next) {
		if (session->client.has_changed || !session->record)
			is_whole &= write_session(session, &moved);
	}
	if (moved)
		is_whole &= write_list(clients, root);
	clients->has_ended = false;
	/* One line, not one for each step until there is memory. */
	if (!is_whole && !clients->lacks_memory)
		mimicd_log(MIMICD_LOG_ERROR, "recovery: no memory for the records of programs");
	clients->lacks_memory = !is_whole;
}

const struct mimicd_recorder mimicd_clients_recorder = {
	.record = record,
};
