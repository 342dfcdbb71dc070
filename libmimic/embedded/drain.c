/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How the rings of all lanes drain into the model. Which lane comes first does
 * not matter: only stores to parts that a thread has to itself wait in a ring
 * (may_wait of devices/kind.h), or to parts that threads use in turn (ordered_posts
 * there, order_posts() of embedded.c). All of it under the instance's lock.
 */
#include "libmimic/embedded/embedded.h"

static struct embedded_lane *first_lane(struct embedded_instance *instance)
{
	/* acquire: pairs with the release of make_lane() */
	return atomic_load_explicit(&instance->lanes, memory_order_acquire);
}

static struct embedded_lane *next_lane(struct embedded_lane *lane)
{
	return atomic_load_explicit(&lane->next, memory_order_relaxed);
}

static bool is_in_use(struct embedded_lane *lane)
{
	return atomic_load_explicit(&lane->in_use, memory_order_relaxed);
}

static void start_command(struct embedded_lane *lane)
{
	struct mimic_command command;

	/* Our own process wrote the header: nothing to check. */
	mimic_command_unpack(mimic_ring_get(&lane->consumer, 0), &command);
	lane->consumer.position++;
	lane->pattern = (struct mimic_access) {
		.owner = lane->holder,
		.offset = command.offset,
		.page = command.page,
		.size = command.size,
		.is_write = 1,
	};
	lane->left = command.count;
}

static void prefetch_ahead(const struct embedded_lane *lane, const uint64_t *values, uint64_t count)
{
	mimic_embedded_prefetch(values, count < EMBEDDED_PREFETCH_AHEAD ? count : EMBEDDED_PREFETCH_AHEAD,
				lane->pattern.size);
}

/* One contiguous piece of the payload. false: the next store would have to wait. */
static bool store_piece(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t piece, done;
	const uint64_t *values = mimic_ring_piece(&lane->consumer, 0, lane->left, &piece);

	done = instance->model->ops->store_many(instance->model, &lane->pattern, values, piece,
						instance->clock.now);
	lane->consumer.position += done;
	lane->left -= (uint32_t)done;
	if (done == piece)
		return true;
	/* Not again at each check of a queue that is still full. */
	if (done)
		prefetch_ahead(lane, values + done, piece - done);
	return false;
}

/*
 * Tells the poster of the room, but not for every few words: it looks at that
 * cache line while its ring is full, and our next locked instruction would wait
 * until the line is ours again.
 */
static void release_words(struct embedded_lane *lane)
{
	uint64_t told = atomic_load_explicit(&lane->ring.tail, memory_order_relaxed);

	if (lane->consumer.position == lane->consumer.peer ||
	    lane->consumer.position - told >= EMBEDDED_POST_ROOM)
		mimic_ring_release(&lane->consumer, 0);
}

/* Of a lane without work nothing is written from then on: threads that wait read these lines again and again. */
static void note_rest(struct embedded_lane *lane)
{
	uint64_t position = lane->consumer.position;

	lane->at_rest = !lane->left && !lane->ending &&
			!atomic_load_explicit(&lane->blocked, memory_order_relaxed) &&
			atomic_load_explicit(&lane->ring.tail, memory_order_relaxed) == position &&
			atomic_load_explicit(&lane->ring.head, memory_order_relaxed) == position;
}

static bool drain_lane(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t start = lane->consumer.position;
	bool blocked = false;

	/* At most a ring's worth: a thread that posts faster than we drain must not hold us here. */
	while (!blocked && lane->consumer.position - start < EMBEDDED_RING_WORDS) {
		if (!lane->left) {
			if (mimic_ring_level(&lane->consumer, 1) <= 0)
				break;
			start_command(lane);
		}
		blocked = !store_piece(instance, lane);
	}
	atomic_store_explicit(&lane->blocked, blocked, memory_order_relaxed);
	instance->blocked += blocked;
	release_words(lane);
	note_rest(lane);
	return lane->consumer.position != start;
}

static void settle_room(struct embedded_instance *instance, struct embedded_lane *lane)
{
	uint64_t used = atomic_load_explicit(&lane->ring.head, memory_order_relaxed) -
			lane->consumer.position;

	if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) != EMBEDDED_WAIT_ROOM ||
	    EMBEDDED_RING_WORDS - used < lane->wanted)
		return;
	mimic_ring_release(&lane->consumer, 0);
	mimic_embedded_settle(instance, lane);
}

/* Threads whose turn comes when another's posts have taken effect. */
static void settle_ordered(struct embedded_instance *instance)
{
	struct embedded_lane *lane;

	instance->has_ordered = false;
	for (lane = first_lane(instance); lane; lane = next_lane(lane)) {
		if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) != EMBEDDED_WAIT_ORDER ||
		    atomic_load_explicit(&lane->state, memory_order_relaxed) == EMBEDDED_SETTLED)
			continue;
		if ((int64_t)(lane->behind->consumer.position - lane->wanted) >= 0)
			mimic_embedded_settle(instance, lane);
		else
			instance->has_ordered = true;
	}
}

/* The thread ended some time ago, and now all that it posted has taken effect. */
static void retire(struct embedded_instance *instance, struct embedded_lane *lane)
{
	lane->ending = false;
	lane->at_rest = true;
	if (instance->open)
		instance->model->ops->owner_gone(instance->model, lane->holder, instance->clock.now);
	/* release: the next thread of this lane sees the rings as we left them */
	atomic_store_explicit(&lane->in_use, false, memory_order_release);
}

bool mimic_embedded_drain(struct embedded_instance *instance)
{
	struct embedded_lane *lane;
	bool progress = false;

	instance->blocked = 0;
	if (atomic_load_explicit(&instance->busy, memory_order_relaxed)) {
		instance->model->ops->tick(instance->model, instance->clock.now);
		progress = true;
	}
	for (lane = first_lane(instance); lane; lane = next_lane(lane)) {
		if (!is_in_use(lane) || mimic_embedded_is_idle(lane))
			continue;
		if (drain_lane(instance, lane)) {
			progress = true;
			settle_room(instance, lane);
		}
		if (lane->ending && !lane->left && mimic_ring_is_empty(&lane->ring)) {
			retire(instance, lane);
			progress = true;
		}
	}
	if (progress && instance->has_ordered)
		settle_ordered(instance);
	return progress;
}

void mimic_embedded_discard(struct embedded_instance *instance)
{
	struct embedded_lane *lane;

	for (lane = first_lane(instance); lane; lane = next_lane(lane)) {
		mimic_ring_release(&lane->consumer,
				   atomic_load_explicit(&lane->ring.head, memory_order_acquire) -
				   lane->consumer.position);
		/* Never behind the position: the level would be less than nothing, for ever. */
		lane->consumer.peer = lane->consumer.position;
		lane->left = 0;
		atomic_store_explicit(&lane->blocked, false, memory_order_relaxed);
		if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) != EMBEDDED_WAIT_NONE)
			mimic_embedded_settle(instance, lane);
		if (lane->ending)
			retire(instance, lane);
	}
	instance->blocked = 0;
}
