/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Posts of several threads to one device take effect in the order of the calls,
 * though they lie in rings of their own: order words (mimic/lane.h) say so.
 *
 * A kind whose stores may wait for another thread of the program (a full queue that
 * it has to empty) is ordered as far as its stores can go on. One whose stores wait
 * for the device alone (mimic_kind.order) is ordered in full, and so are its
 * accesses behind posts: each by the part of the device that it works on.
 */
#ifndef LIBMIMIC_DAEMON_ORDER_H
#define LIBMIMIC_DAEMON_ORDER_H

#include "libmimic/daemon/device.h"
#include "libmimic/daemon/lane.h"

/* That a command can need before it. */
#define MIMIC_DAEMON_ORDER_WORDS (DAEMON_ORDER_SOURCES * MIMIC_KIND_ORDERS)

/* Of one post. */
struct mimic_daemon_order {
	uint32_t works_on;
	bool is_of_first_lane;
	/* The last posts of all lanes but the first, as they were when ours began. */
	uint64_t before[MIMIC_KIND_ORDERS];
	/* Of a lane that is not the first: the first one's last posts. */
	uint64_t first[MIMIC_KIND_ORDERS];
};

static inline uint64_t mimic_daemon_order_word(const struct daemon_device *device, const struct daemon_lane *lane)
{
	uint64_t position = lane->commands.position;

	return device->base.kind->order ? mimic_lane_order_whole(lane->number, position) :
					  mimic_lane_order(lane->number, position);
}

static inline uint32_t mimic_daemon_order_parts(const struct daemon_device *device,
						const struct mimic_access *store)
{
	const struct mimic_kind *kind = device->base.kind;

	return kind->order ? kind->order(store) : 1;
}

/*
 * Before a post of such stores: puts order words for the posts that come before it into the ring, at its
 * head. Returns how many words these are; there is room for all.
 */
uint64_t mimic_daemon_order_begin(struct daemon_device *device, struct daemon_lane *lane,
				  const struct mimic_access *store, struct mimic_daemon_order *order);
/* The post is published: it is the last one now. 0 or -errno. */
int mimic_daemon_order_end(struct daemon_device *device, struct daemon_lane *lane,
			   const struct mimic_daemon_order *order);

/*
 * The same for most posts, which are of a program's only thread and to one part: they need no word. The part
 * of the device if the post is such a one; else -1, and the two above are called.
 */
static inline int mimic_daemon_order_alone(const struct daemon_device *device, const struct daemon_lane *lane,
					   const struct mimic_access *store)
{
	uint32_t parts = mimic_daemon_order_parts(device, store);
	int part = __builtin_ctz(parts | 1u << 31);

	if (atomic_load_explicit(&device->first_lane, memory_order_relaxed) != lane->number ||
	    parts != 1u << part)
		return -1;
	/* acquire: the commands before another lane's post are published */
	return atomic_load_explicit(&device->last_post[part], memory_order_acquire) ? -1 : part;
}

static inline void mimic_daemon_order_end_alone(struct daemon_device *device, const struct daemon_lane *lane,
						int part)
{
	/* release: our commands are published */
	atomic_store_explicit(&device->first_lane_post[part], mimic_daemon_order_word(device, lane),
			      memory_order_release);
}

/* As begin, for an access. */
uint64_t mimic_daemon_order_access(struct daemon_device *device, struct daemon_lane *lane,
				   const struct mimic_access *access);

#endif
