/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Most programs post to a device from one thread, and an atomic exchange would cost that thread a third of each
 * store. So the lane that posts first has places of its own for its last posts, which it alone writes, by
 * plain stores. All other lanes share one set of places. A thread looks at both; the first lane's looks at the
 * shared ones only.
 */
#include "libmimic/daemon/order.h"

/* Does the post that `last` names have to be done before ours? Our lane is in order by itself. */
static bool is_of_another(uint64_t last, const struct daemon_lane *lane)
{
	return last && mimic_lane_order_lane(last) != lane->number % MIMIC_LANE_NUMBERS;
}

/* The first lane that asks is it, for as long as the program has the device. */
static bool is_first_lane(struct daemon_device *device, const struct daemon_lane *lane)
{
	uint32_t first = atomic_load_explicit(&device->first_lane, memory_order_relaxed);

	if (first)
		return first == lane->number;
	return atomic_compare_exchange_strong(&device->first_lane, &first, lane->number);
}

/* Returns how many words it is. */
static uint64_t put_behind(struct daemon_lane *lane, enum daemon_order_source source, unsigned int index,
			   uint64_t before, uint64_t ahead)
{
	uint64_t *ordered = &lane->ordered[source][index];

	/* Of devices that have such a part in common, the word says which post it is. */
	if (!is_of_another(before, lane) || *ordered == before)
		return 0;
	mimic_ring_put(&lane->commands, ahead, before);
	*ordered = before;
	return 1;
}

/* Before last_post is read: a post that took this one's place is found there then (forget_first()). */
static uint64_t first_lanes_last(const struct daemon_device *device, unsigned int index)
{
	/* acquire: the commands before it are published, and the post that took its place is in last_post */
	return atomic_load_explicit(&device->first_lane_post[index], memory_order_acquire);
}

uint64_t mimic_daemon_order_begin(struct daemon_device *device, struct daemon_lane *lane,
				  const struct mimic_access *store, struct mimic_daemon_order *order)
{
	uint64_t words = 0;

	order->works_on = mimic_daemon_order_parts(device, store);
	order->is_of_first_lane = is_first_lane(device, lane);
	for (uint32_t left = order->works_on; left; left &= left - 1) {
		unsigned int index = (unsigned int)__builtin_ctz(left);

		if (!order->is_of_first_lane) {
			order->first[index] = first_lanes_last(device, index);
			words += put_behind(lane, DAEMON_ORDER_FIRST_LANE, index, order->first[index], words);
		}
		/* acquire: the commands before it are published */
		order->before[index] = atomic_load_explicit(&device->last_post[index], memory_order_acquire);
		words += put_behind(lane, DAEMON_ORDER_ANY_LANE, index, order->before[index], words);
	}
	return words;
}

/*
 * Another thread's post that came in between is ordered behind ours: a thread that then
 * finds ours has both before its own.
 */
static int become_last(struct daemon_device *device, struct daemon_lane *lane, unsigned int index,
		       uint64_t before)
{
	_Atomic uint64_t *last = &device->last_post[index];

	/* release: our commands are published. acquire: so are those that we find. */
	while (!atomic_compare_exchange_strong_explicit(last, &before, mimic_daemon_order_word(device, lane),
							memory_order_acq_rel, memory_order_acquire)) {
		int error = is_of_another(before, lane) ?
			    mimic_daemon_wait_room(lane, device->generation, 1) : 0;

		if (error)
			return error;
		if (!is_of_another(before, lane))
			continue;
		mimic_ring_put(&lane->commands, 0, before);
		mimic_daemon_publish(lane, 1);
	}
	return 0;
}

/*
 * Our post is behind that of the first lane and in last_post, so it stands for both. The word must not stay: once
 * its lane is gone, another lane may get a number of the same low bits.
 */
static void forget_first(struct daemon_device *device, unsigned int index, uint64_t first)
{
	/* release: a thread that finds none finds our post in last_post. It fails if the first lane has posted anew. */
	if (first)
		atomic_compare_exchange_strong_explicit(&device->first_lane_post[index], &first, 0,
							memory_order_release, memory_order_relaxed);
}

int mimic_daemon_order_end(struct daemon_device *device, struct daemon_lane *lane,
			   const struct mimic_daemon_order *order)
{
	int error = 0;

	for (uint32_t left = order->works_on; !error && left; left &= left - 1) {
		unsigned int index = (unsigned int)__builtin_ctz(left);

		if (order->is_of_first_lane) {
			/* release: our commands are published */
			atomic_store_explicit(&device->first_lane_post[index], mimic_daemon_order_word(device, lane),
					      memory_order_release);
			continue;
		}
		error = become_last(device, lane, index, order->before[index]);
		if (!error)
			forget_first(device, index, order->first[index]);
	}
	return error;
}

uint64_t mimic_daemon_order_access(struct daemon_device *device, struct daemon_lane *lane,
				   const struct mimic_access *access)
{
	const struct mimic_kind *kind = device->base.kind;
	uint32_t left = kind->order ? kind->order(access) : 0;
	uint64_t words = 0;

	/* Each time: these words go with the access if a signal handler takes it back. */
	for (; left; left &= left - 1) {
		unsigned int index = (unsigned int)__builtin_ctz(left);
		uint64_t first = first_lanes_last(device, index);
		uint64_t last = atomic_load_explicit(&device->last_post[index], memory_order_acquire);

		if (is_of_another(last, lane))
			mimic_ring_put(&lane->commands, words++, last);
		if (is_of_another(first, lane))
			mimic_ring_put(&lane->commands, words++, first);
	}
	return words;
}
