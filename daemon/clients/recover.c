/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Sessions that the daemon before had: their programs are connected still, and wait. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/clients/again.h"
#include "daemon/clients/internal.h"
#include "daemon/clients/messages.h"
#include "daemon/clients/record.h"
#include "daemon/clients/session.h"
#include "daemon/clients/session_record.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/record_check.h"
#include "daemon/engine/recover.h"
#include "daemon/loop/log.h"

/* --- damaged records -------------------------------------------------------------------------- */

static bool has_whole_packet(const struct mimicd_session_record *record)
{
	struct mimicd_packet packet = { .length = record->packet_size, .fd_count = record->packet_fds };

	memcpy(packet.bytes, record->packet, sizeof(packet.bytes));
	return !record->packet_size || mimicd_packet_is_whole(&packet);
}

/* NULL: none. */
static const char *find_defect(const struct mimicd_journal_left *left, struct mimicd_session_record *record)
{
	if (!mimicd_journal_left_has(left, record, sizeof(*record)))
		return "where it lies";
	if (!memchr(record->name, 0, sizeof(record->name)))
		return "the program's name";
	if (record->reply_size > sizeof(record->reply) ||
	    (record->reply_size && record->reply_size < sizeof(struct mimic_message)))
		return "the last reply";
	if (record->packet_size > sizeof(record->packet) || !has_whole_packet(record))
		return "the message that was put off";
	return mimicd_client_record_defect(left, &record->client);
}

/* NULL: there is none, or it is damaged. */
static const struct mimicd_sessions_record *find_list(const struct mimicd_predecessor *predecessor)
{
	const struct mimicd_journal_left *left = &predecessor->left;
	const struct mimicd_sessions_record *list = predecessor->root ? predecessor->root->clients : NULL;

	if (!list || (mimicd_journal_left_has(left, list, sizeof(*list)) && list->count <= left->size &&
		      mimicd_journal_left_has(left, list, sizeof(*list) + list->count * sizeof(list->session[0]))))
		return list;
	mimicd_log(MIMICD_LOG_ERROR, "recovery: the list of programs is damaged; they lose their devices");
	return NULL;
}

/* --- sessions --------------------------------------------------------------------------------- */

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

/* One that came by a driver's node (docs/bus.md) goes on if its process still has a device by one. */
static int join_process(struct mimicd_client *client, const struct mimicd_client_record *record)
{
	if (!record->process)
		return 0;
	client->process = mimicd_process_find(client->engine, record->process);
	if (!client->process)
		return -ENODEV;
	client->process->clients++;
	return 0;
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
	session->was_put_off = record->was_put_off;
	go_on_with_packet(session, record);
	error = join_process(&session->client, &record->client);
	if (!error)
		error = mimicd_recover_client(&session->client, &record->client);
	if (error)
		mimicd_client_break(&session->client, "its devices or its memory cannot be taken over: %s", strerror(-error));
	return 0;
}

/* false: the program is lost. */
static bool recover_one(struct mimicd_clients *clients, struct mimicd_session_record *record)
{
	const char *defect = find_defect(&clients->engine->predecessor->left, record);
	int error;

	if (defect) {
		mimicd_log(MIMICD_LOG_ERROR, "recovery: a program is lost: its record is damaged: %s", defect);
		return false;
	}
	error = take_over(clients, record);
	if (error)
		mimicd_log(MIMICD_LOG_ERROR, "recovery: process %d (%s) is lost: %s", record->pid, record->name,
			   strerror(-error));
	return !error;
}

int mimicd_clients_recover(struct mimicd_clients *clients)
{
	struct mimicd_engine *engine = clients->engine;
	struct mimicd_predecessor *predecessor = engine->predecessor;
	const struct mimicd_root_record *root = predecessor->root;
	const struct mimicd_sessions_record *list = find_list(predecessor);
	unsigned int count = 0;
	int error = 0;

	predecessor->has_lost_programs |= root && root->clients && !list;
	for (uint64_t i = 0; list && i < list->count; i++) {
		if (recover_one(clients, list->session[i]))
			count++;
		else
			predecessor->has_lost_programs = true;
	}
	if (root)
		error = mimicd_recover_models(engine);
	if (error)
		return error;
	/* Before the first commit: a daemon that is killed here leaves it to the next. */
	for (struct mimicd_session *session = clients->sessions; session; session = session->next)
		mimicd_session_repeat_reply(session);
	engine->recorder = &mimicd_clients_recorder;
	engine->recorder_context = clients;
	mimicd_recover_end(engine);
	if (root)
		mimicd_log(MIMICD_LOG_INFO, "went on with %u programs of the daemon before", count);
	return 0;
}
