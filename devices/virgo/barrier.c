/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The cluster's barriers. Host threads stand for the warps: each that arrives
 * waits in its load until all participants have arrived.
 */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

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
			virgo_parked_answer(v, &v->cluster.parked[i], before);
	}
	virgo_parked_sweep(v);
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
		virgo_parked_add(v, &parked);
		arrive(v, number, access->owner);
		return MIMIC_PARKED;
	}
	/* The last one does not wait. */
	arrive(v, number, access->owner);
	open_if_complete(v, number);
	return MIMIC_DONE;
}

/* --- the registers: include/mimic/virgo_registers.h lists them ------------------------- */

static const struct barrier *barrier_at(const struct mimic_model *model, struct mimic_register_place place)
{
	return &((const struct virgo *)model)->cluster.barrier[place.index];
}

static enum mimic_peek barrier_peek_BARRIER_PARTICIPANTS(const struct mimic_model *model,
							 struct mimic_register_place place, uint64_t now,
							 uint64_t *value)
{
	(void)now;
	*value = barrier_at(model, place)->participants;
	return MIMIC_PEEK_VALUE;
}

static enum mimic_peek barrier_peek_BARRIER_WAIT(const struct mimic_model *model,
						 struct mimic_register_place place, uint64_t now,
						 uint64_t *value)
{
	const struct barrier *b = barrier_at(model, place);

	(void)now;
	*value = b->opened;
	return b->arrived + 1 < participants((const struct virgo *)model, b) ? MIMIC_PEEK_WAITS :
									       MIMIC_PEEK_VALUE;
}

static enum mimic_peek barrier_peek_BARRIER_STATUS(const struct mimic_model *model,
						   struct mimic_register_place place, uint64_t now,
						   uint64_t *value)
{
	const struct barrier *b = barrier_at(model, place);

	(void)now;
	*value = b->opened << 8 | b->arrived;
	return MIMIC_PEEK_VALUE;
}

/* Half of it is none: a thread arrives once. */
static enum mimic_outcome load_wait(struct mimic_model *model, struct mimic_register_place place,
				    struct mimic_access *access)
{
	struct virgo *v = virgo_of(model);

	if (access->offset % 8 == 0)
		return wait(v, place.index, access);
	v->cluster.illegal++;
	access->data = 0;
	return MIMIC_DONE;
}

static enum mimic_outcome barrier_store_BARRIER_PARTICIPANTS(struct mimic_model *model,
							     struct mimic_register_place place,
							     struct mimic_access *access)
{
	struct virgo *v = virgo_of(model);

	if (access->data > PARTICIPANTS_MAX) {
		v->cluster.illegal++;
		return MIMIC_DONE;
	}
	v->cluster.barrier[place.index].participants = (uint32_t)access->data;
	/* The threads that wait may be enough now. */
	open_if_complete(v, place.index);
	return MIMIC_DONE;
}

static const struct mimic_register rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) >> 8] = { \
		MIMIC_REGISTER_ROW(barrier, at, name, access, reset, role, format, meaning), \
		.load = (at) == VIRGO_BARRIER_WAIT(0) ? load_wait : NULL, \
		.stride = 8, .count = VIRGO_BARRIERS, .shown = MIMIC_SHOWN_ELSEWHERE, \
	},
	VIRGO_BARRIER_REGISTERS(_)
#undef _
};

/* On page 0 beside the cluster's own. */
const struct mimic_register_block virgo_barrier_block = {
	.name = "cluster",
	.access = MIMIC_REGISTER_RW,
	.page = VIRGO_PAGE_CONTROL,
	.pages = 1,
	.units = 1,
	.size = MIMIC_PAGE_SIZE,
	.shift = 8,
	.rows = rows,
	.count = sizeof(rows) / sizeof(rows[0]),
};
