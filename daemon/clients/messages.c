/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon's end of the socket. A packet that is no message ends the session;
 * a message that is refused gets an error. Either way one log line says why,
 * and no descriptor that came along stays open.
 */
#include "daemon/clients/messages.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/clients/again.h"
#include "daemon/clients/packet.h"
#include "daemon/clients/internal.h"
#include "daemon/clients/record.h"
#include "daemon/clients/snapshots.h"
#include "daemon/clients/texts.h"
#include "daemon/clients/thread_id.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/events.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/explain.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/manage.h"
#include "daemon/engine/placement.h"
#include "daemon/engine/turn.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* Messages taken from one client before others have their turn. */
#define MESSAGES_PER_TURN 16
/* A device whose program is gone, and whose jobs run for longer, is in use. */
#define OPEN_PATIENCE_NS 1000000000u

static void do_hello(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimic_hello_reply reply = {
		.magic = MIMIC_PROTOCOL_MAGIC,
		.version = MIMIC_PROTOCOL_VERSION,
		.daemon_pid = (uint32_t)getpid(),
		.spin_microseconds = session->clients->engine->settings.spin_microseconds,
		.recovery_seconds = session->clients->options.recovery_seconds,
	};

	if (packet->hello.magic != MIMIC_PROTOCOL_MAGIC) {
		mimicd_client_break(&session->client, "HELLO without the magic number: no client of mimic");
		return;
	}
	if (packet->hello.version != MIMIC_PROTOCOL_VERSION) {
		mimicd_reply(session, packet, &reply, sizeof(reply), -EPROTO, -1);
		mimicd_client_break(&session->client, "it speaks version %u of the protocol, this daemon %u",
				    packet->hello.version, MIMIC_PROTOCOL_VERSION);
		return;
	}
	session->greeted = session->client.is_shown = true;
	mimicd_reply(session, packet, &reply, sizeof(reply), 0, session->event_fd);
}

static void do_open(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimic_open_reply reply = { 0 };
	struct mimicd_instance *instance;
	uint64_t none;
	uint32_t number;
	int error;

	if (packet->open.name[MIMIC_NAME_MAX - 1]) {
		mimicd_complain(session, packet, -EINVAL, "the name does not end");
		return;
	}
	error = mimicd_client_open(&session->client, packet->open.name, &number);
	if (error == -EINPROGRESS && mimicd_packet_waited(session) < OPEN_PATIENCE_NS) {
		mimicd_packet_put_off_for_job(session, packet);
		return;
	}
	if (error == -EINPROGRESS)
		error = -EBUSY;
	if (error) {
		mimicd_reply_plain(session, packet, error);
		return;
	}
	instance = session->client.devices[number].instance;
	reply.device = number;
	reply.counters = (uint32_t)instance->model->ops->counters(instance->model, &none, 0);
	memcpy(reply.name, instance->name, sizeof(reply.name));
	/* A process that has the device through the kernel maps its node. */
	if (instance->device_memory.fd >= 0)
		reply.memory_size = instance->device_memory.size;
	if (instance->kind->credits)
		reply.posts_stores = MIMIC_POSTS_BY_CREDIT;
	else if (instance->kind->posts_stores && instance->kind->posts_stores(mimicd_instance_parameters(instance)))
		reply.posts_stores = MIMIC_POSTS_ALWAYS;
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) opened %s", (int)session->client.program.pid,
		   session->client.program.name, instance->name);
	mimicd_reply(session, packet, &reply, sizeof(reply), 0, instance->device_memory.fd);
}

static void do_eventfd(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	uint32_t number = packet->event.device;
	struct mimicd_instance *instance = NULL;
	int error = -ENODEV;

	if (number < MIMIC_SESSION_DEVICES)
		instance = session->client.devices[number].instance;
	if (instance && mimicd_instance_is_bound(instance))
		error = -EOPNOTSUPP;	/* the function driver has its events */
	else if (instance)
		error = mimicd_events_set(&instance->events, session->client.user->home,
					  packet->fd_count ? packet->fds[0] : -1, packet->event.events);
	mimicd_placement_note(&session->client);
	if (error == -EINVAL)
		mimicd_complain(session, packet, error, "no eventfd, or no such events");
	else
		mimicd_reply_plain(session, packet, error);
}

/* A file is not the daemon's to use yet, and that may take as long as others like. Other messages wait behind. */
static void put_off_for_fix(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	mimicd_packet_put_off(session, packet);
	mimicd_packet_pause(session);
}

/* TRACE_BUS is for users that may stop the daemon: it shows the work of other users. */
static int start_trace(struct mimicd_session *session, const struct mimicd_packet *packet, const char **why)
{
	struct mimicd_client *client = &session->client;
	int fd = packet->fds[0];

	*why = NULL;
	if (packet->header.type == MIMIC_MESSAGE_TRACE)
		return mimicd_trace_start(&client->trace, &client->memory, fd, why);
	if (!mimicd_may_manage(client->program.uid))
		return -EPERM;
	return mimicd_trace_bindings_start(client->engine, &client->trace, &client->memory, fd, why);
}

static void do_trace(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const char *why;
	int error = start_trace(session, packet, &why);

	mimicd_placement_note(&session->client);
	if (error == -EINPROGRESS)
		put_off_for_fix(session, packet);
	else if (error)
		mimicd_complain(session, packet, error, why ? why : "no trace");
	else
		mimicd_reply_plain(session, packet, 0);
}

/* A new thread of a process that has its devices by a driver is known by its number. */
static pid_t find_tid(struct mimicd_session *session, const struct mimic_lane_request *request)
{
	if (!session->client.process || request->thread)
		return 0;
	/* Threads whose end the driver has told: a new thread may have the number of one. */
	mimicd_front_ends_poll(session->clients->engine, true);
	return mimicd_thread_id(session->client.program.pid, request->tid);
}

static void do_lane(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const struct mimic_lane_request *request = &packet->lane;
	struct mimic_lane_reply reply = {
		.command_words = MIMIC_LANE_COMMAND_WORDS,
		.response_words = MIMIC_LANE_RESPONSE_WORDS,
	};
	pid_t tid = find_tid(session, request);
	struct mimicd_lane *lane;
	int fd, error;

	error = mimicd_lane_create(&session->client, request->thread, request->level, tid, &lane, &fd);
	if (error) {
		mimicd_complain(session, packet, error, "no lane");
		return;
	}
	reply.lane = lane->number;
	reply.thread = lane->thread->number;
	mimicd_reply(session, packet, &reply, sizeof(reply), 0, fd);
	close(fd);
}

static void do_lane_number(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimicd_lane *lane = mimicd_lane_find(&session->client, packet->number.number);

	if (!lane) {
		mimicd_complain(session, packet, -ENOENT, "no such lane");
		return;
	}
	if (packet->header.type == MIMIC_MESSAGE_CANCEL)
		mimicd_lane_cancel(lane);
	else
		mimicd_lane_retire(lane);
	mimicd_reply_plain(session, packet, 0);
}

static void do_explain(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimicd_lane *lane = mimicd_lane_find(&session->client, packet->number.number);
	struct mimic_explain_reply reply = { 0 };
	struct mimic_text text;

	if (!lane) {
		mimicd_complain(session, packet, -ENOENT, "no such lane");
		return;
	}
	mimic_text_begin(&text, reply.text, sizeof(reply.text));
	mimicd_lane_explain(lane, &text);
	mimicd_reply(session, packet, &reply, sizeof(reply), 0, -1);
}

static void do_thread_gone(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	int error = mimicd_thread_end(&session->client, packet->number.number);

	if (error)
		mimicd_complain(session, packet, error, "no such thread");
	else
		mimicd_reply_plain(session, packet, 0);
}

/* For a daemon that goes on when this one is killed. */
static int keep_range(struct mimicd_session *session, const struct mimicd_packet *packet, const char **why)
{
	struct mimicd_memory *memory = &session->client.memory;
	uint64_t start = packet->memory.address;
	size_t i = 0;
	int error;

	if (!mimicd_journal_is_on())
		return 0;
	while (memory->ranges[i].start != start)
		i++;
	error = mimicd_keep(MIMICD_KEEP_RANGE, &memory->ranges[i].kept, 0, packet->fds[0]);
	if (error) {
		*why = "the supervisor does not keep it";
		mimicd_memory_remove(memory, start, packet->memory.size);
	}
	return error;
}

static void do_memory_add(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const struct mimic_memory_request *request = &packet->memory;
	const char *why;
	int error = mimicd_memory_add(&session->client.memory, packet->fds[0], request->address,
				      request->size, request->offset, &why);

	if (!error)
		error = keep_range(session, packet, &why);
	if (error == -EINPROGRESS && mimicd_memory_fix_waits(&session->client.memory))
		put_off_for_fix(session, packet);
	else if (error == -EINPROGRESS)
		mimicd_packet_put_off_for_lock(session, packet);
	else if (error)
		mimicd_complain(session, packet, error, why ? why : "no memory");
	else
		mimicd_reply_plain(session, packet, 0);
}

static void do_close(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	int error = mimicd_client_close(&session->client, packet->device.device);

	if (error == -EAGAIN)
		mimicd_packet_put_off(session, packet);
	else if (error == -EINPROGRESS)
		mimicd_packet_put_off_for_job(session, packet);
	else
		mimicd_reply_plain(session, packet, error);
}

static void do_memory_remove(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const struct mimic_memory_request *request = &packet->memory;
	int error;

	/* Posts that came while the range was there may still use it. */
	if (!mimicd_lanes_drain(&session->client)) {
		mimicd_packet_put_off(session, packet);
		return;
	}
	error = request->offset ? -EINVAL :
		mimicd_memory_remove(&session->client.memory, request->address, request->size);
	if (error == -EINPROGRESS)
		mimicd_packet_put_off_for_lock(session, packet);
	else if (error)
		mimicd_complain(session, packet, error, "no such range");
	else
		mimicd_reply_plain(session, packet, 0);
}

static void do_add(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimic_add_reply reply = { 0 };
	int error = mimicd_device_add(session->clients->engine, packet->add.kind, reply.name);

	if (error)
		mimicd_reply_plain(session, packet, error);
	else
		mimicd_reply(session, packet, &reply, sizeof(reply), 0, -1);
}

static int inject(struct mimicd_engine *engine, const struct mimic_inject *request)
{
	struct mimicd_instance *instance;
	int error = mimicd_instance_find(engine, request->name, &instance);

	return error ? error : mimicd_device_inject(instance, request->what);
}

static int reset(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const struct mimicd_client *client = &session->client;
	struct mimicd_instance *instance;
	int error = mimicd_device_find(client->engine, packet->open.name, client->program.uid, &instance);

	if (error)
		return error;
	if (packet->header.type == MIMIC_MESSAGE_RESET)
		mimicd_device_reset(instance);
	else
		mimicd_device_clear_counters(instance);
	return 0;
}

/* ADD, REMOVE, INJECT, RESET, CLEAR_COUNTERS: for users that may stop the daemon. */
static void do_manage(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const char *text = packet->header.type == MIMIC_MESSAGE_INJECT ? packet->inject.name :
			   packet->header.type == MIMIC_MESSAGE_ADD ? packet->add.kind : packet->open.name;
	size_t size = packet->header.type == MIMIC_MESSAGE_ADD ? MIMIC_KIND_MAX : MIMIC_NAME_MAX;

	if (!mimicd_may_manage(session->client.program.uid))
		mimicd_complain(session, packet, -EPERM, "it is neither root's nor the daemon's user's");
	else if (text[size - 1])
		mimicd_complain(session, packet, -EINVAL, "the name does not end");
	else if (packet->header.type == MIMIC_MESSAGE_ADD)
		do_add(session, packet);
	else if (packet->header.type == MIMIC_MESSAGE_REMOVE)
		mimicd_reply_plain(session, packet, mimicd_device_remove(session->clients->engine, text));
	else if (packet->header.type == MIMIC_MESSAGE_INJECT)
		mimicd_reply_plain(session, packet, inject(session->clients->engine, &packet->inject));
	else
		mimicd_reply_plain(session, packet, reset(session, packet));
}

/* The reason why the packet is no message, which ends the session; NULL: it is one. */
static const char *find_damage(const struct mimicd_packet *packet)
{
	const struct mimic_message *header = &packet->header;

	if (packet->truncated)
		return "a message that is too long or has too many descriptors";
	if (packet->length < sizeof(*header))
		return "a message that is shorter than its header";
	if (header->size != packet->length)
		return "a message that is not as long as it says";
	return NULL;
}

/* Reserved fields, all where a later version could give them a meaning. */
static bool reserved_is_set(const struct mimicd_packet *packet)
{
	switch (packet->header.type) {
	case MIMIC_MESSAGE_HELLO:
		return packet->hello.reserved;
	case MIMIC_MESSAGE_CLOSE:
		return packet->device.reserved;
	case MIMIC_MESSAGE_LANE:
		return packet->lane.reserved;
	case MIMIC_MESSAGE_INJECT:
		return packet->inject.reserved;
	case MIMIC_MESSAGE_EVENTFD:
		return packet->event.reserved;
	case MIMIC_MESSAGE_STATE:
		return packet->state.reserved;
	case MIMIC_MESSAGE_RESTORE:
		return packet->restore.reserved;
	case MIMIC_MESSAGE_LANE_DROP:
	case MIMIC_MESSAGE_THREAD_GONE:
	case MIMIC_MESSAGE_CANCEL:
	case MIMIC_MESSAGE_EXPLAIN:
		return packet->number.reserved;
	default:
		return false;
	}
}

static void dispatch(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	session->returns = atomic_load(&session->clients->engine->jobs.returns);
	switch ((enum mimic_message_type)packet->header.type) {
	case MIMIC_MESSAGE_HELLO:
		do_hello(session, packet);
		return;
	case MIMIC_MESSAGE_OPEN:
		do_open(session, packet);
		return;
	case MIMIC_MESSAGE_CLOSE:
		do_close(session, packet);
		return;
	case MIMIC_MESSAGE_LANE:
		do_lane(session, packet);
		return;
	case MIMIC_MESSAGE_LANE_DROP:
	case MIMIC_MESSAGE_CANCEL:
		do_lane_number(session, packet);
		return;
	case MIMIC_MESSAGE_EXPLAIN:
		do_explain(session, packet);
		return;
	case MIMIC_MESSAGE_THREAD_GONE:
		do_thread_gone(session, packet);
		return;
	case MIMIC_MESSAGE_MEMORY_ADD:
		do_memory_add(session, packet);
		return;
	case MIMIC_MESSAGE_MEMORY_REMOVE:
		do_memory_remove(session, packet);
		return;
	case MIMIC_MESSAGE_LIST:
		mimicd_send_list(session, packet);
		return;
	case MIMIC_MESSAGE_STATE:
		mimicd_send_state(session, packet);
		return;
	case MIMIC_MESSAGE_ADD:
	case MIMIC_MESSAGE_REMOVE:
	case MIMIC_MESSAGE_INJECT:
	case MIMIC_MESSAGE_RESET:
	case MIMIC_MESSAGE_CLEAR_COUNTERS:
		do_manage(session, packet);
		return;
	case MIMIC_MESSAGE_SAVE:
	case MIMIC_MESSAGE_RESTORE:
		mimicd_do_snapshot(session, packet);
		return;
	case MIMIC_MESSAGE_EVENTFD:
		do_eventfd(session, packet);
		return;
	case MIMIC_MESSAGE_TRACE:
	case MIMIC_MESSAGE_TRACE_BUS:
		do_trace(session, packet);
		return;
	case MIMIC_MESSAGE_TYPES:
		return;
	}
}

static bool has_its_descriptors(const struct mimicd_packet *packet)
{
	if (packet->fd_count == mimicd_message_types[packet->header.type].fds)
		return true;
	return packet->header.type == MIMIC_MESSAGE_EVENTFD && !packet->fd_count;
}

bool mimicd_packet_is_whole(const struct mimicd_packet *packet)
{
	return !find_damage(packet) && packet->header.type && packet->header.type < MIMIC_MESSAGE_TYPES &&
	       packet->length == mimicd_message_types[packet->header.type].size && has_its_descriptors(packet);
}

static void handle(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	const struct mimic_message *header = &packet->header;
	const char *damage = find_damage(packet);
	const struct mimicd_message_type *type;

	if (damage) {
		mimicd_client_break(&session->client, "%s (%zu bytes)", damage, packet->length);
		return;
	}
	if (!header->type || header->type >= MIMIC_MESSAGE_TYPES) {
		mimicd_client_break(&session->client, "message type %u is unknown", header->type);
		return;
	}
	type = &mimicd_message_types[header->type];
	if (packet->length != type->size) {
		mimicd_client_break(&session->client, "%s of %zu bytes, not %zu", type->name, packet->length,
				    type->size);
		return;
	}
	if (!session->greeted && header->type != MIMIC_MESSAGE_HELLO) {
		mimicd_client_break(&session->client, "%s before HELLO", type->name);
		return;
	}
	mimicd_note_text_read(session);
	if (mimicd_session_answers_again(session, packet))
		return;
	if (session->greeted && header->type == MIMIC_MESSAGE_HELLO)
		mimicd_complain(session, packet, -EALREADY, "a second one");
	else if (header->flags || header->error || reserved_is_set(packet))
		mimicd_complain(session, packet, -EINVAL, "unknown flags or a reserved field");
	else if (!has_its_descriptors(packet))
		mimicd_complain(session, packet, -EINVAL, "the wrong number of descriptors");
	else
		dispatch(session, packet);
}

void mimicd_session_go_on(struct mimicd_session *session)
{
	struct mimicd_packet packet = session->put_off;

	session->is_put_off = false;
	session->clients->put_off--;
	dispatch(session, &packet);
	if (session->is_put_off)
		return;
	session->put_off_since = 0;
	mimicd_memory_fix_forget(&session->client.memory);
	mimicd_packet_close(session, &packet);
}

/* All that its user's sessions have may last a turn, and then it is the others' again. */
static bool has_turn(struct mimicd_session *session)
{
	struct mimicd_user *user = session->client.user->home;
	uint64_t poll = session->clients->engine->loop->polls;

	if (user->message_poll != poll) {
		user->message_poll = poll;
		user->message_ns = 0;
	}
	return user->message_ns < MIMICD_TURN_NS;
}

/* 0: there is none now. */
static int receive_one(struct mimicd_session *session)
{
	struct mimicd_packet packet;
	int got = mimicd_packet_receive(session, &packet);

	if (!got)
		return 0;
	if (got < 0) {
		mimicd_client_leave(&session->client);
	} else {
		handle(session, &packet);
		if (session->is_put_off)
			mimicd_session_note_put_off(session, &packet);
		mimicd_packet_taken(session);
	}
	if (got > 0 && packet.fd_count &&
	    mimicd_closer_is_full(session->clients->engine->loop->closer, session->client.program.uid))
		mimicd_client_break(&session->client, "closing descriptors that its user's programs sent does not end");
	if (!session->is_put_off)
		mimicd_packet_close(session, &packet);
	return 1;
}

void mimicd_session_receive(struct mimicd_session *session)
{
	struct mimicd_user *user = session->client.user->home;
	uint64_t begun = mimic_now(), took = 0;
	bool is_there = has_turn(session);

	for (int i = 0; i < MESSAGES_PER_TURN && is_there && !session->client.broken && !session->is_put_off; i++) {
		if (mimicd_wakes_throttled(user, MIMICD_WAKE_MESSAGE)) {
			mimicd_packet_pause(session);
			break;
		}
		is_there = receive_one(session);
		took = mimic_now() - begun;
		if (took >= MIMICD_TURN_NS)
			break;
	}
	user->message_ns += took;
}
