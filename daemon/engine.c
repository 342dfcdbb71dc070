/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trust boundary: a lane's memory is the client's. A command word is read once
 * and unpacked into private memory, a chunk of payload is copied before the
 * model sees it, positions are ours. What does not fit the protocol ends the
 * session.
 */
#include "daemon/engine.h"

#include <errno.h>
#include <string.h>

#include "daemon/binding.h"
#include "libmimic/transport.h"
#include "libmimic/wait.h"

#define CHUNK_WORDS 512
/* Words that a lane may move before the next one has its turn. */
#define BUDGET_WORDS 4096
/* The same where a device is busy: each access may make it work for as long as a tick. */
#define BUSY_NS 100000

static bool has_answers(enum mimic_command_kind kind)
{
	return kind != MIMIC_COMMAND_STORE;
}

static uint32_t answers_of(const struct mimic_command *command)
{
	switch (command->kind) {
	case MIMIC_COMMAND_STORE:
		return 0;
	case MIMIC_COMMAND_STORE_ACKNOWLEDGED:
		return 1;
	default:
		return command->count;
	}
}

static bool is_store(enum mimic_command_kind kind)
{
	return kind == MIMIC_COMMAND_STORE || kind == MIMIC_COMMAND_STORE_ACKNOWLEDGED;
}

/* Wakes the client if it sleeps for what it now has. */
static void notify(struct mimicd_lane *lane)
{
	uint32_t sleeping;
	uint64_t used;

	/* Pairs with the fence of the client between its flag and its last look at the rings. */
	mimic_lane_fence();
	sleeping = atomic_load_explicit(&lane->memory->client_sleeping, memory_order_relaxed);
	if (sleeping == MIMIC_LANE_AWAKE || lane->retired)
		return;
	if (sleeping == MIMIC_LANE_WAITS_FOR_ANSWER && !lane->answered)
		return;
	if (sleeping == MIMIC_LANE_WAITS_FOR_ROOM) {
		used = atomic_load_explicit(&lane->commands.ring->head, memory_order_relaxed) -
		       lane->commands.position;
		/* Each wake-up costs us microseconds: once per half a ring, not once per chunk. */
		if (used > (lane->commands.mask + 1) / 2)
			return;
	}
	lane->answered = false;
	atomic_store_explicit(&lane->memory->client_sleeping, MIMIC_LANE_AWAKE, memory_order_relaxed);
	mimic_futex_wake(&lane->memory->client_sleeping, 1, MIMIC_FUTEX_SHARED);
}

/* There is room: it was checked before the command was accepted. */
static void answer(struct mimicd_lane *lane, const uint64_t *words, size_t count)
{
	uint64_t done = 0;

	while (done < count) {
		uint64_t piece;
		uint64_t *slots = mimic_ring_piece(&lane->responses, done, count - done, &piece);

		memcpy(slots, words + done, piece * sizeof(*words));
		done += piece;
	}
	mimic_ring_publish(&lane->responses, count);
	lane->answered = true;
}

/* `count` more of the current command are done. */
static void advance(struct mimicd_lane *lane, uint32_t count)
{
	static const uint64_t acknowledged;

	lane->remaining -= count;
	if (lane->remaining)
		return;
	lane->session->commands++;
	if (lane->command.kind == MIMIC_COMMAND_STORE_ACKNOWLEDGED && !lane->withdrawn)
		answer(lane, &acknowledged, 1);
	lane->withdrawn = false;
}

static void park(struct mimicd_lane *lane)
{
	lane->parked = true;
	lane->thread->parked = lane;
}

static void unpark(struct mimicd_lane *lane)
{
	lane->parked = false;
	lane->thread->parked = NULL;
}

void mimicd_engine_withdraw(struct mimicd_lane *lane)
{
	struct mimic_model *model = lane->target->model;

	unpark(lane);
	model->ops->cancel(model, mimicd_lane_owner(lane, lane->target), mimic_now());
}

static void complete_lane(struct mimicd_lane *lane, uint64_t data)
{
	unpark(lane);
	if (is_store(lane->command.kind))
		mimic_ring_release(&lane->commands, 1);
	else
		answer(lane, &data, 1);
	advance(lane, 1);
	notify(lane);
}

static struct mimicd_thread *find_thread(const struct mimicd_session *session, uint64_t owner)
{
	unsigned int number = owner & MIMICD_OWNER_THREAD;
	struct mimicd_thread *thread;

	if (!session || number > MIMIC_SESSION_THREADS)
		return NULL;
	thread = session->threads[number];
	return thread && thread->owner == owner ? thread : NULL;
}

void mimicd_engine_complete(void *context, uint64_t owner, uint64_t data)
{
	struct mimicd_instance *instance = context;
	struct mimicd_request *trap = NULL;
	struct mimicd_thread *thread = NULL;

	if (owner == MIMICD_OWNER_DRIVER) {
		trap = instance->driver_parked;
	} else if (instance->binding) {
		struct mimicd_owner *who = mimicd_process_find(instance->binding->process, owner);

		trap = who ? who->parked : NULL;
		thread = who ? who->thread : NULL;
	} else {
		thread = find_thread(instance->session, owner);
	}
	if (trap && trap->instance == instance)
		mimicd_request_complete(instance->server->bus, trap, data);
	else if (thread && thread->parked && thread->parked->target == instance)
		complete_lane(thread->parked, data);
}

static void fill_pattern(const struct mimicd_lane *lane, struct mimic_access *pattern)
{
	*pattern = (struct mimic_access){
		.owner = mimicd_lane_owner(lane, lane->target),
		.offset = lane->command.offset,
		.page = lane->command.page,
		.size = lane->command.size,
		.is_write = is_store(lane->command.kind),
	};
}

/* Copies payload out of the ring: what the model sees cannot change under it. */
static void copy_payload(struct mimicd_lane *lane, uint64_t *values, uint64_t count)
{
	uint64_t done = 0;

	while (done < count) {
		uint64_t piece;
		const uint64_t *slots = mimic_ring_piece(&lane->commands, done, count - done, &piece);

		memcpy(values + done, slots, piece * sizeof(*values));
		done += piece;
	}
}

/* Stores of the current command, at most `limit`. Words moved, 0: nothing can be now, or -EPROTO. */
static int64_t run_stores(struct mimicd_lane *lane, uint64_t limit, uint64_t now)
{
	uint64_t values[CHUNK_WORDS];
	struct mimic_access pattern;
	struct mimic_model *model;
	uint64_t count, done;
	int64_t level;

	if (limit > CHUNK_WORDS)
		limit = CHUNK_WORDS;
	count = lane->remaining < limit ? lane->remaining : limit;
	level = mimic_ring_level(&lane->commands, count);
	if (level <= 0)
		return level;
	if ((uint64_t)level < count)
		count = (uint64_t)level;
	if (!lane->target || lane->withdrawn) {
		mimic_ring_release(&lane->commands, count);
		advance(lane, (uint32_t)count);
		return (int64_t)count;
	}
	model = lane->target->model;
	copy_payload(lane, values, count);
	fill_pattern(lane, &pattern);
	done = count > 1 ? model->ops->store_many(model, &pattern, values, count, now) : 0;
	if (done < count) {
		/* The next one may have to wait: only access() parks. */
		pattern.data = values[done];
		if (model->ops->access(model, &pattern, now) == MIMIC_DONE)
			done++;
		else
			park(lane);
	}
	if (done) {
		mimic_ring_release(&lane->commands, done);
		advance(lane, (uint32_t)done);
	}
	/* Parking is progress too, once. */
	return (int64_t)(done ? done : 1);
}

static void unpack_answers(uint64_t *words, const void *values, size_t count, unsigned int size)
{
	const char *bytes = values;

	for (size_t i = 0; i < count; i++) {
		words[i] = 0;
		memcpy(&words[i], bytes + i * size, size);
	}
}

static void load_from_model(struct mimicd_lane *lane, uint32_t count, uint64_t now)
{
	struct mimic_model *model = lane->target->model;
	unsigned int size = lane->command.size;
	uint64_t values[CHUNK_WORDS];
	uint64_t words[CHUNK_WORDS];
	struct mimic_access pattern;
	size_t done = 0;

	fill_pattern(lane, &pattern);
	if (count > 1) {
		done = model->ops->load_many(model, &pattern, values, count, now);
		if (size == sizeof(uint64_t)) {
			answer(lane, values, done);
		} else {
			unpack_answers(words, values, done, size);
			answer(lane, words, done);
		}
	}
	if (done < count) {
		if (model->ops->access(model, &pattern, now) == MIMIC_DONE) {
			answer(lane, &pattern.data, 1);
			done++;
		} else {
			park(lane);
		}
	}
	if (done)
		advance(lane, (uint32_t)done);
}

static void run_counters(struct mimicd_lane *lane, uint32_t count)
{
	struct mimic_model *model = lane->target->model;
	/* Beyond those that the device has: 0. */
	uint64_t values[CHUNK_WORDS] = { 0 };

	model->ops->counters(model, values, count);
	answer(lane, values, count);
	advance(lane, count);
}

static int64_t run_loads(struct mimicd_lane *lane, uint64_t now)
{
	static const uint64_t nothing[CHUNK_WORDS];
	uint32_t count = lane->remaining < CHUNK_WORDS ? lane->remaining : CHUNK_WORDS;

	if (!lane->target) {
		answer(lane, nothing, count);
		advance(lane, count);
	} else if (lane->command.kind == MIMIC_COMMAND_COUNTERS) {
		run_counters(lane, count);
	} else {
		load_from_model(lane, count, now);
	}
	return count;
}

/* Its thread waits in a trapped access, or its device does nothing because somebody wants it so. */
static bool is_blocked(const struct mimicd_lane *lane)
{
	if (lane->thread->bound && lane->thread->bound->parked)
		return true;
	return lane->remaining && lane->target && mimicd_inject_hangs(lane->target);
}

/* May this lane give the devices an access now? A thread has one at a time. */
static bool has_turn(struct mimicd_lane *lane)
{
	struct mimicd_lane *other = lane->thread->parked;

	if (is_blocked(lane))
		return false;
	if (!other)
		return true;
	/* Ours waits for the signal handler's, or for what was posted before our lane was made. */
	if (lane->level < other->level || other->retired)
		return false;
	/* We are the handler: the access that it interrupted is taken back, as a processor would. */
	mimicd_engine_withdraw(other);
	return true;
}

static int check_command(struct mimicd_lane *lane, const struct mimic_command *command)
{
	struct mimicd_device_slot *slot = &lane->session->devices[command->device];
	uint32_t answers = answers_of(command);
	int64_t room;

	if (!slot->instance && !slot->closed)
		return -ENODEV;
	if (command->kind == MIMIC_COMMAND_COUNTERS && command->count > CHUNK_WORDS)
		return -ERANGE;
	room = mimic_ring_room(&lane->responses, answers);
	if (room < 0)
		return (int)room;
	/* So an answer never has to wait for a client that does not read. */
	return answers > (uint64_t)room ? -ENOBUFS : 0;
}

static const char *complaint(int error)
{
	switch (error) {
	case -ENODEV:
		return "a command for a device that it has not opened";
	case -ERANGE:
		return "a command for more counters than there can be";
	case -ENOBUFS:
		return "a command with more answers than its ring has room for";
	case -EBADMSG:
		return "a word that is no command";
	default:
		return "a ring position that cannot be";
	}
}

static uint64_t run(struct mimicd_lane *lane, uint64_t budget, bool only_posted, uint64_t now);

static void drain_others(struct mimicd_session *session, const struct mimicd_lane *self)
{
	for (struct mimicd_lane *lane = session->lanes; lane; lane = lane->next) {
		if (lane != self && !lane->running && !lane->parked && mimic_ring_level(&lane->commands, 1) != 0)
			mimicd_engine_drain_lane(lane);
	}
}

/*
 * What another thread posted before our lane's next command. Not what it cannot
 * do now (a full queue): our thread's commands may be what it waits for.
 */
static void follow_order(struct mimicd_lane *lane, uint64_t word, uint64_t now)
{
	struct mimicd_lane *other = lane->session->lanes;
	int64_t distance;

	while (other && (other->number & 0xffff) != mimic_lane_order_lane(word))
		other = other->next;
	/* Further up the stack: it has come as far as its own commands before this one. */
	if (!other || other->running || other->parked)
		return;
	distance = mimic_lane_order_distance(word, other->commands.position);
	if (distance > 0)
		run(other, (uint64_t)distance, true, now);
}

/* The next command of the lane. 1: there is one or an order was followed, 0: none now, -errno. */
static int fetch(struct mimicd_lane *lane, bool only_posted, uint64_t now)
{
	int64_t level = mimic_ring_level(&lane->commands, 1);
	struct mimic_command command;
	uint64_t word;
	int error;

	if (level <= 0)
		return (int)level;
	word = mimic_ring_get(&lane->commands, 0);
	if ((word & 0xff) == MIMIC_LANE_ORDER) {
		mimic_ring_release(&lane->commands, 1);
		follow_order(lane, word, now);
		return 1;
	}
	if (!mimic_command_unpack(word, &command))
		return -EBADMSG;
	if (has_answers(command.kind)) {
		if (only_posted || lane->retired)
			return 0;
		/* Everything posted before, by any thread, comes first. */
		drain_others(lane->session, lane);
		if (lane->session->broken)
			return 0;
	}
	error = check_command(lane, &command);
	if (error)
		return error;
	mimic_ring_release(&lane->commands, 1);
	lane->command = command;
	lane->target = lane->session->devices[command.device].instance;
	lane->remaining = command.count;
	if (has_answers(command.kind) && lane->cancel_pending) {
		lane->cancel_pending = false;
		mimicd_engine_cancel(lane);
	}
	return 1;
}

/* Executes commands of about `budget` words. Returns how many it was. */
static uint64_t run(struct mimicd_lane *lane, uint64_t budget, bool only_posted, uint64_t now)
{
	uint64_t moved = 0;

	lane->running = true;
	while (moved < budget && !lane->parked && !lane->session->broken) {
		int64_t step = 1;

		if (!lane->remaining)
			step = fetch(lane, only_posted, now);
		else if (only_posted && has_answers(lane->command.kind))
			break;
		else if (!has_turn(lane))
			break;
		else if (is_store(lane->command.kind))
			step = run_stores(lane, budget - moved, now);
		else
			step = run_loads(lane, now);
		if (step < 0)
			mimicd_session_break(lane->session, "lane %u: %s", lane->number, complaint((int)step));
		if (step <= 0)
			break;
		moved += (uint64_t)step;
		if (!lane->target || !lane->target->model->ops->busy(lane->target->model))
			continue;
		lane->session->server->busy = true;
		if (!only_posted && mimic_now() - now > BUSY_NS)
			break;
	}
	lane->running = false;
	if (moved)
		notify(lane);
	return moved;
}

void mimicd_engine_drain_lane(struct mimicd_lane *lane)
{
	/* No more than a ring full: a client that goes on posting cannot keep us here. */
	run(lane, lane->commands.mask + 1, true, mimic_now());
}

void mimicd_engine_drain(struct mimicd_session *session)
{
	drain_others(session, NULL);
}

void mimicd_engine_cancel(struct mimicd_lane *lane)
{
	if (!lane->remaining || !has_answers(lane->command.kind)) {
		/* Still behind stores, or published and not looked at: when its turn comes. */
		lane->cancel_pending = mimic_ring_level(&lane->commands, 1) > 0;
		return;
	}
	if (lane->parked)
		mimicd_engine_withdraw(lane);
	if (is_store(lane->command.kind))
		lane->withdrawn = true;	/* its payload has to be skipped yet */
	else
		lane->remaining = 0;
}

static bool has_work(struct mimicd_lane *lane)
{
	if (lane->parked || lane->session->broken || is_blocked(lane))
		return false;
	if (lane->thread->parked && !(lane->level >= lane->thread->parked->level &&
				      !lane->thread->parked->retired))
		return false;
	if (lane->remaining && !is_store(lane->command.kind))
		return true;
	return mimic_ring_level(&lane->commands, 1) != 0;
}

bool mimicd_engine_is_done(struct mimicd_lane *lane)
{
	struct mimic_command command;
	uint64_t word;

	if (lane->parked || (lane->remaining && !lane->retired))
		return false;
	if (mimic_ring_level(&lane->commands, 1) <= 0)
		return true;
	if (!lane->retired)
		return false;
	/* What wants an answer has no reader any more, and nothing comes after it. */
	if (lane->remaining)
		return has_answers(lane->command.kind);
	word = mimic_ring_get(&lane->commands, 0);
	if ((word & 0xff) == MIMIC_LANE_ORDER)
		return false;
	return !mimic_command_unpack(word, &command) || has_answers(command.kind);
}

/* A retired lane only has stores left to do. */
static bool run_retired(struct mimicd_server *server, struct mimicd_lane *lane, uint64_t now)
{
	uint64_t moved = run(lane, BUDGET_WORDS, true, now);

	if (!moved)
		server->reap = true;
	return moved;
}

bool mimicd_engine_has_work(struct mimicd_server *server)
{
	if (server->busy || (server->bus && mimicd_bus_has_work(server->bus)))
		return true;
	for (unsigned int i = 0; i < server->lane_count; i++) {
		if (has_work(server->lanes[i]))
			return true;
	}
	return false;
}

static void tick(struct mimicd_server *server, struct mimicd_instance *instance)
{
	if (!instance || !instance->model->ops->busy(instance->model))
		return;
	instance->model->ops->tick(instance->model, server->now);
	server->busy = true;
}

/* Devices go on by themselves, a bounded piece at a time, so that no program holds up the others. */
static void tick_busy(struct mimicd_server *server)
{
	server->busy = false;
	for (unsigned int i = 0; i < server->named_count; i++)
		tick(server, server->named[i]);
	for (struct mimicd_session *session = server->sessions; session; session = session->next) {
		for (unsigned int i = 0; session->private_devices && i < MIMIC_SESSION_DEVICES; i++) {
			if (session->devices[i].instance && session->devices[i].instance->is_private)
				tick(server, session->devices[i].instance);
		}
	}
}

bool mimicd_engine_round(struct mimicd_server *server)
{
	bool worked = false;

	/* Lanes come and go between rounds only, so the array stands still here. */
	for (unsigned int i = 0; i < server->lane_count; i++) {
		struct mimicd_lane *lane = server->lanes[i];

		if (!has_work(lane))
			continue;
		server->now = mimic_now();
		if (lane->retired)
			worked |= run_retired(server, lane, server->now);
		else
			worked |= run(lane, BUDGET_WORDS, false, server->now) > 0;
		if (atomic_load_explicit(&lane->memory->client_cpu, memory_order_relaxed) == server->cpu)
			server->crowded_until = server->now +
				server->options.settings.spin_microseconds * 1000ull;
	}
	if (server->bus)
		worked |= mimicd_bus_round(server->bus, !worked);
	if (!server->busy)
		return worked;
	server->now = mimic_now();
	tick_busy(server);
	return true;
}
