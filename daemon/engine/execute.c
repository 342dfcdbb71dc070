/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trust boundary: a lane's memory is the client's. A command word is read once
 * and unpacked into private memory, a chunk of payload is copied before the
 * model sees it, positions are ours. A command that breaks the protocol ends
 * the client.
 */
#include "daemon/engine/execute.h"

#include <errno.h>
#include <string.h>

#include "daemon/engine/credit.h"
#include "daemon/engine/current.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/stalls.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"
#include "devices/register.h"
#include "libmimic/base/clock.h"

#define CHUNK_WORDS 512
/* Words between two readings of the clock, of devices that are not busy. */
#define CLOCK_WORDS 256

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
	mimicd_lane_publish(lane, count);
	lane->answered = true;
}

static void answer_one(struct mimicd_lane *lane, uint64_t word)
{
	mimic_ring_put(&lane->responses, 0, word);
	mimicd_lane_publish(lane, 1);
	lane->answered = true;
}

/* `count` more of the current command are done. */
static void advance(struct mimicd_lane *lane, uint32_t count)
{
	lane->remaining -= count;
	if (lane->remaining)
		return;
	lane->client->commands++;
	if (mimicd_is_store(lane->command.kind) && mimicd_has_answers(lane->command.kind) && !lane->withdrawn)
		answer_one(lane, mimicd_credit_left(lane));
	lane->withdrawn = false;
}

static void unpark(struct mimicd_lane *lane)
{
	mimicd_step_note(lane);
	lane->parked = false;
	lane->thread->parked = NULL;
}

void mimicd_lane_withdraw(struct mimicd_lane *lane)
{
	unpark(lane);
	mimicd_instance_withdraw(lane->target->instance, &lane->waiter);
}

/* The model has answered the access that waited. */
static void complete(void *context, uint64_t data)
{
	struct mimicd_lane *lane = context;

	unpark(lane);
	if (mimicd_is_store(lane->command.kind))
		mimicd_lane_release(lane, 1);
	else
		answer_one(lane, data);
	advance(lane, 1);
	mimicd_lane_notify(lane);
}

/* Its access waits in the device from now on. */
void mimicd_lane_park(struct mimicd_lane *lane)
{
	mimicd_step_note(lane);
	lane->parked = true;
	lane->thread->parked = lane;
	lane->waiter = (struct mimicd_waiter){
		.owner = mimicd_thread_owner(lane->thread),
		.complete = complete,
		.context = lane,
	};
	mimicd_instance_add_waiter(lane->target->instance, &lane->waiter);
}

/* A register that resets is accessed: the waits of the device are over. */
static void look_for_reset(const struct mimicd_lane *lane, const struct mimic_access *pattern)
{
	struct mimicd_instance *instance = lane->target->instance;
	struct mimicd_memory *memory = instance->memory.memory;

	if (memory && atomic_load_explicit(&memory->had_atomics, memory_order_relaxed) &&
	    mimic_register_role(instance->kind, pattern) == MIMIC_ROLE_RESET)
		mimicd_memory_slot_forget_atomics(&instance->memory);
}

/* The model has it already. */
static void note_flush(const struct mimicd_lane *lane, const struct mimic_access *access)
{
	const struct mimic_kind *kind = lane->target->instance->kind;

	if (lane->client->ops->flushed && kind->is_flush && kind->is_flush(access))
		lane->client->ops->flushed(lane->client);
}

/* Of `limit` words of the ring. Words moved; 0: there is one store only, or the device takes none of them at once. */
static uint64_t run_singles(struct mimicd_lane *lane, uint64_t limit, uint64_t now)
{
	struct mimic_model *model = lane->target->model;
	uint64_t values[CHUNK_WORDS], most = lane->target->instance->kind->batch;
	struct mimic_access pattern;
	int64_t count;
	size_t done;

	/* Each is two words, but for the first, whose command has left the ring. */
	limit = (limit + 1) / 2 < CHUNK_WORDS ? (limit + 1) / 2 : CHUNK_WORDS;
	count = mimicd_lane_copy_singles(lane, values, limit < most ? limit : most);
	if (count <= 1)
		return 0;
	lane->client->shard->calls++;
	mimicd_lane_access(lane, &pattern);
	look_for_reset(lane, &pattern);
	done = model->ops->store_many(model, &pattern, values, (size_t)count, now);
	if (!done)
		return 0;
	note_flush(lane, &pattern);
	mimicd_lane_release(lane, 2 * done - 1);
	lane->client->commands += done - 1;
	advance(lane, 1);
	return 2 * done - 1;
}

/* Stores of the current command, at most `limit`. Words moved, 0: nothing can be now, or -EPROTO. */
static int64_t run_stores(struct mimicd_lane *lane, uint64_t limit, uint64_t now)
{
	uint64_t values[CHUNK_WORDS];
	struct mimic_access pattern;
	struct mimic_model *model;
	uint64_t count, done, allowed = limit;
	int64_t level;

	if (limit > CHUNK_WORDS)
		limit = CHUNK_WORDS;
	if (lane->target && limit > lane->target->instance->kind->batch)
		limit = lane->target->instance->kind->batch;
	count = lane->remaining < limit ? lane->remaining : limit;
	level = mimic_ring_level(&lane->commands, count);
	if (level <= 0)
		return level;
	if ((uint64_t)level < count)
		count = (uint64_t)level;
	if (!lane->target || lane->withdrawn) {
		mimicd_lane_release(lane, count);
		advance(lane, (uint32_t)count);
		return (int64_t)count;
	}
	if (lane->command.kind == MIMIC_COMMAND_STORE && lane->command.count == 1) {
		done = run_singles(lane, allowed, now);
		if (done)
			return (int64_t)done;
	}
	if (mimicd_credit_is_awaited(lane, now))
		return 0;
	model = lane->target->model;
	mimicd_lane_copy_payload(lane, values, count);
	lane->client->shard->calls++;
	mimicd_lane_access(lane, &pattern);
	look_for_reset(lane, &pattern);
	done = count > 1 ? model->ops->store_many(model, &pattern, values, count, now) : 0;
	if (done < count) {
		/* The next one may have to wait: only access() parks. */
		pattern.data = values[done];
		if (model->ops->access(model, &pattern, now) == MIMIC_DONE)
			done++;
		else
			mimicd_lane_park(lane);
	}
	note_flush(lane, &pattern);
	if (done) {
		mimicd_lane_release(lane, done);
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

	lane->client->shard->calls++;
	mimicd_lane_access(lane, &pattern);
	look_for_reset(lane, &pattern);
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
			answer_one(lane, pattern.data);
			done++;
		} else {
			mimicd_lane_park(lane);
		}
	}
	note_flush(lane, &pattern);
	if (done)
		advance(lane, (uint32_t)done);
}

/* Of the device, or of the context that is open. */
static void run_counters(struct mimicd_lane *lane, uint32_t count)
{
	const struct mimicd_device_slot *slot = lane->target;
	const struct mimic_contexts *contexts = slot->instance->kind->contexts;
	/* Beyond those that the device has: 0. */
	uint64_t values[CHUNK_WORDS] = { 0 };

	if (contexts)
		contexts->counters(slot->model, slot->context, values, count);
	else
		slot->model->ops->counters(slot->model, values, count);
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

/* May this lane give the devices an access now? A thread has one at a time. */
static bool has_turn(struct mimicd_lane *lane)
{
	struct mimicd_lane *other = lane->thread->parked;

	if (mimicd_lane_is_blocked(lane))
		return false;
	if (!other)
		return true;
	/* Ours waits for the signal handler's, or for posts from before our lane was made. */
	if (lane->level < other->level || other->retired)
		return false;
	/* We are the handler: the access that it interrupted is taken back, as a processor would. */
	mimicd_lane_withdraw(other);
	return true;
}

static int check_command(struct mimicd_lane *lane, const struct mimic_command *command)
{
	struct mimicd_device_slot *slot = &lane->client->devices[command->device];
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

/*
 * Executes the posts of the client's other lanes, a ring full of each at most: a client that goes on
 * posting cannot keep us here. false: the turn is over, and the next call goes on from here.
 */
static bool drain_others(struct mimicd_client *client, const struct mimicd_lane *self, struct mimicd_drain *drain)
{
	for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next) {
		uint64_t moved;

		if (drain->lane && lane->number > drain->lane)
			continue;
		if (lane == self || lane->running || lane->parked || !mimic_ring_level(&lane->commands, 1))
			continue;
		if (lane->number != drain->lane)
			*drain = (struct mimicd_drain){ lane->number, lane->commands.mask + 1 };
		moved = mimicd_lane_run(lane, drain->left, true, mimic_now());
		drain->left -= moved < drain->left ? moved : drain->left;
		if (mimicd_turn_is_over(client->shard))
			return false;
	}
	drain->lane = 0;
	return true;
}

/*
 * Executes the posts of another thread that come before our lane's next command. A post that has to
 * wait (for a full queue) is left: it may wait for our thread's commands. false: the turn is over.
 */
static bool follow_order(struct mimicd_lane *lane, uint64_t word, uint64_t now)
{
	struct mimicd_lane *other = mimicd_lane_find_ordered(lane, word);
	int64_t distance;

	/* Further up the stack: it has come as far as its own commands before this one. */
	if (!other || other->running || other->parked)
		return true;
	distance = mimic_lane_order_distance(word, other->commands.position);
	/* No honest order names more than the ring held: a client that goes on posting cannot keep us here. */
	if (distance > (int64_t)other->commands.mask + 1)
		distance = (int64_t)other->commands.mask + 1;
	return distance <= 0 || mimicd_lane_run(other, (uint64_t)distance, true, now) >= (uint64_t)distance ||
	       !mimicd_turn_is_over(lane->client->shard);
}

static struct mimicd_device_slot *target_of(struct mimicd_client *client,
					    const struct mimic_command *command)
{
	struct mimicd_device_slot *slot = &client->devices[command->device];

	return slot->instance && command->page < slot->pages ? slot : NULL;
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
	if (mimic_lane_is_order(word)) {
		if (!follow_order(lane, word, now))
			return 0;
		lane->follows = mimic_lane_order_is_whole(word) ? word : 0;
		/* The word stays in the ring meanwhile: lanes ordered behind it wait for these posts, too. */
		if (lane->follows && !mimicd_lane_may_go_on(lane))
			return 0;
		mimicd_lane_release(lane, 1);
		return 1;
	}
	if (!mimic_command_unpack(word, &command))
		return -EBADMSG;
	if (mimicd_has_answers(command.kind)) {
		if (only_posted || lane->retired)
			return 0;
		/* Everything posted before, by any thread, comes first. */
		if (!drain_others(lane->client, lane, &lane->drain) || lane->client->broken)
			return 0;
	}
	error = check_command(lane, &command);
	if (error)
		return error;
	mimicd_lane_release(lane, 1);
	lane->command = command;
	lane->credit_wait.until = 0;
	lane->target = target_of(lane->client, &command);
	lane->remaining = command.count;
	if (mimicd_has_answers(command.kind) && lane->cancel_pending) {
		lane->cancel_pending = false;
		mimicd_lane_cancel(lane);
	}
	return 1;
}

/* May it have taken so long that others have to have their turn? Then the clock is read. */
static bool works_long(const struct mimicd_device_slot *slot)
{
	bool is_busy = slot->model->ops->busy(slot->model);

	slot->instance->shard->busy |= is_busy;
	return is_busy || slot->instance->kind->batch < CHUNK_WORDS;
}

uint64_t mimicd_lane_run(struct mimicd_lane *lane, uint64_t budget, bool only_posted, uint64_t now)
{
	struct mimicd_shard *shard = lane->client->shard;
	struct mimicd_stall_clock clock;
	uint64_t moved = 0, looked = 0;
	bool followed;

	mimicd_stall_begin(&clock, lane->client->user);
	lane->running = true;
	shard->nesting++;
	while (moved < budget && !lane->parked && !lane->client->broken) {
		int64_t step = 1;

		if (lane->follows && !mimicd_lane_may_go_on(lane))
			break;
		lane->follows = 0;
		followed = !lane->remaining;
		if (!lane->remaining)
			step = fetch(lane, only_posted, now);
		else if (only_posted && mimicd_has_answers(lane->command.kind))
			break;
		else if (!has_turn(lane))
			break;
		else if (mimicd_is_store(lane->command.kind))
			step = run_stores(lane, budget - moved, now);
		else
			step = run_loads(lane, now);
		if (step < 0)
			mimicd_client_break(lane->client, "lane %u: %s", lane->number, complaint((int)step));
		if (step <= 0)
			break;
		if (shard->nesting == 1)
			mimicd_step_commit(shard->engine);
		moved += (uint64_t)step;
		/* Another lane's work by an order takes as long as our own. */
		followed = followed && !lane->remaining;
		if (!followed && moved - looked < CLOCK_WORDS && (!lane->target || !works_long(lane->target)) &&
		    !mimicd_stall_is_looked_for(lane->client->user))
			continue;
		looked = moved;
		if (mimicd_turn_is_over(lane->client->shard))
			break;
	}
	lane->running = false;
	shard->nesting--;
	mimicd_stall_end(&clock);
	if (moved)
		mimicd_lane_notify(lane);
	return moved;
}

void mimicd_lane_drain(struct mimicd_lane *lane)
{
	uint64_t now = mimic_now();

	lane->client->shard->turn_end = now + MIMICD_TURN_NS;
	/* No more than a ring full: a client that goes on posting cannot keep us here. */
	mimicd_lane_run(lane, lane->commands.mask + 1, true, now);
}

bool mimicd_lanes_drain(struct mimicd_client *client)
{
	client->shard->turn_end = mimic_now() + MIMICD_TURN_NS;
	return drain_others(client, NULL, &client->drain);
}

void mimicd_lane_cancel(struct mimicd_lane *lane)
{
	mimicd_step_note(lane);
	if (!lane->remaining || !mimicd_has_answers(lane->command.kind)) {
		/* Still behind stores, or published and not looked at: when its turn comes. */
		lane->cancel_pending = mimic_ring_level(&lane->commands, 1) > 0;
		return;
	}
	if (lane->parked)
		mimicd_lane_withdraw(lane);
	if (mimicd_is_store(lane->command.kind))
		lane->withdrawn = true;	/* its payload has to be skipped yet */
	else
		lane->remaining = 0;
}
