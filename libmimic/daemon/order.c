/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/daemon/order.h"

static uint64_t order_word(const struct daemon_device *device, const struct daemon_lane *lane)
{
	uint64_t position = lane->commands.position;

	return device->base.kind->order ? mimic_lane_order_whole(lane->number, position) :
					  mimic_lane_order(lane->number, position);
}

/* Does the post that `last` names have to be done before ours? Our lane is in order by itself. */
static bool is_of_another(uint64_t last, const struct daemon_lane *lane)
{
	return last && mimic_lane_order_lane(last) != (lane->number & 0xffff);
}

void mimic_daemon_order_begin(struct daemon_device *device, const struct mimic_access *pattern,
			      struct mimic_daemon_order *order)
{
	const struct mimic_kind *kind = device->base.kind;
	struct mimic_access store = *pattern;

	store.is_write = 1;
	order->works_on = kind->order ? kind->order(&store) : 1;
	for (uint32_t left = order->works_on; left; left &= left - 1) {
		unsigned int index = (unsigned int)__builtin_ctz(left);

		/* acquire: the commands before it are published */
		order->before[index] = atomic_load_explicit(&device->last_post[index],
							    memory_order_acquire);
	}
}

uint64_t mimic_daemon_order_put(const struct mimic_daemon_order *order, struct daemon_lane *lane)
{
	uint64_t words = 0;

	for (uint32_t left = order->works_on; left; left &= left - 1) {
		uint64_t before = order->before[__builtin_ctz(left)];

		if (is_of_another(before, lane))
			mimic_ring_put(&lane->commands, words++, before);
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
	while (!atomic_compare_exchange_strong_explicit(last, &before, order_word(device, lane),
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

int mimic_daemon_order_end(struct daemon_device *device, struct daemon_lane *lane,
			   const struct mimic_daemon_order *order)
{
	int error = 0;

	for (uint32_t left = order->works_on; !error && left; left &= left - 1) {
		unsigned int index = (unsigned int)__builtin_ctz(left);

		error = become_last(device, lane, index, order->before[index]);
	}
	return error;
}

uint64_t mimic_daemon_order_access(struct daemon_device *device, struct daemon_lane *lane,
				   const struct mimic_access *access)
{
	const struct mimic_kind *kind = device->base.kind;
	uint32_t left = kind->order ? kind->order(access) : 0;
	uint64_t words = 0;

	for (; left; left &= left - 1) {
		uint64_t last = atomic_load_explicit(&device->last_post[__builtin_ctz(left)],
						     memory_order_acquire);

		if (is_of_another(last, lane))
			mimic_ring_put(&lane->commands, words++, last);
	}
	return words;
}
