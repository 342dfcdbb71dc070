/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cluster's barriers. Host threads stand for the warps: each that arrives
 * waits in its load until all participants have arrived.
 */
#include "devices/virgo/virgo_internal.h"

enum { ARRAY_PARTICIPANTS = 1, ARRAY_WAIT, ARRAY_STATUS };

bool barrier_is_register(uint32_t offset)
{
	unsigned int array = offset >> 8;

	return array >= ARRAY_PARTICIPANTS && array <= ARRAY_STATUS &&
	       (offset & 0xff) < 8 * VIRGO_BARRIERS;
}

static uint32_t participants(const struct virgo *v, const struct barrier *b)
{
	return b->participants ? b->participants : v->config.cores;
}

static bool is_of(const struct parked *parked, unsigned int number)
{
	return !parked->over && parked->kind == PARKED_BARRIER && parked->unit == number;
}

static void open_if_complete(struct virgo *v, unsigned int number)
{
	struct barrier *b = &v->cluster.barrier[number];
	uint64_t before = b->opened;

	if (!b->arrived || b->arrived < participants(v, b))
		return;
	b->arrived = 0;
	b->opened++;
	MIMIC_TRACE(&v->model.trace, barrier_open, 0ull, number, 0ull, 0u, b->opened, 0ull);
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		if (is_of(&v->cluster.parked[i], number))
			parked_answer(v, &v->cluster.parked[i], before);
	}
	parked_sweep(v);
	virgo_raise(v, VIRGO_EVENT_BARRIER);
}

static void arrive(struct virgo *v, unsigned int number, uint64_t owner)
{
	struct barrier *b = &v->cluster.barrier[number];

	b->arrived++;
	MIMIC_TRACE(&v->model.trace, barrier_arrive, owner, number, 0ull, b->arrived, participants(v, b),
		    0ull);
}

static enum mimic_outcome wait(struct virgo *v, unsigned int number, struct mimic_access *access)
{
	struct barrier *b = &v->cluster.barrier[number];
	struct parked parked = {
		.owner = access->owner, .kind = PARKED_BARRIER, .unit = (uint8_t)number,
		.size = access->size,
	};

	access->data = low_bytes(b->opened, access->size);
	if (b->arrived + 1 < participants(v, b)) {
		parked_add(v, &parked);
		arrive(v, number, access->owner);
		return MIMIC_PARKED;
	}
	/* The last one does not wait. */
	arrive(v, number, access->owner);
	open_if_complete(v, number);
	return MIMIC_DONE;
}

static bool store_participants(struct virgo *v, unsigned int number, uint64_t value)
{
	if (value > PARTICIPANTS_MAX)
		return false;
	v->cluster.barrier[number].participants = (uint32_t)value;
	/* Those who wait may be enough now. */
	open_if_complete(v, number);
	return true;
}

enum mimic_outcome barrier_access(struct virgo *v, struct mimic_access *access)
{
	unsigned int array = access->offset >> 8, number = (access->offset & 0xff) / 8;
	const struct barrier *b = &v->cluster.barrier[number];
	uint64_t value;

	if (!register_access_is_legal(access))
		goto illegal;
	if (access->is_write) {
		if (array != ARRAY_PARTICIPANTS || !store_participants(v, number, access->data))
			goto illegal;
		return MIMIC_DONE;
	}
	if (array == ARRAY_WAIT) {
		if (access->offset % 8)
			goto illegal;
		return wait(v, number, access);
	}
	value = array == ARRAY_STATUS ? b->opened << 8 | b->arrived : b->participants;
	access->data = register_half(value, access);
	return MIMIC_DONE;
illegal:
	v->cluster.illegal++;
	if (!access->is_write)
		access->data = 0;
	return MIMIC_DONE;
}
