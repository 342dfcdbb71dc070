/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of a MAPLE that can be stored to. Those that make entries of a queue have a
 * path of their own (store_step() in model.c); one of these that comes here is not allowed.
 */
#include "devices/maple/maple_internal.h"
#include "devices/maple/maple_state.h"

static unsigned int operation_of(const struct mimic_access *access)
{
	return access->offset >> MAPLE_OPERATION_SHIFT & 63;
}

static enum mimic_outcome illegal(struct maple *m)
{
	count(m, MAPLE_COUNTER_illegal, 1);
	return MIMIC_DONE;
}

/* The thread is not the queue's producer, has a store that waits, or there is no such queue on this page. */
static enum mimic_outcome store_QUEUE(struct mimic_model *model, struct mimic_register_place place,
				      struct mimic_access *access)
{
	(void)place;
	(void)access;
	return illegal(maple_of(model));
}

static enum mimic_outcome store_LOOP(struct mimic_model *model, struct mimic_register_place place,
				     struct mimic_access *access)
{
	return store_QUEUE(model, place, access);
}

static enum mimic_outcome store_TILE(struct mimic_model *model, struct mimic_register_place place,
				     struct mimic_access *access)
{
	maple_lima_configure_tile(maple_of(model), operation_of(access), place.index, access->data);
	return MIMIC_DONE;
}

static enum mimic_outcome store_MMU(struct mimic_model *model, struct mimic_register_place place,
				    struct mimic_access *access)
{
	if (access->page != MAPLE_PAGE_MMU)
		return illegal(maple_of(model));
	maple_mmu_store(maple_of(model), place.index, access->data);
	return MIMIC_DONE;
}

static enum mimic_outcome store_BASE(struct mimic_model *model, struct mimic_register_place place,
				     struct mimic_access *access)
{
	struct maple *m = maple_of(model);
	unsigned int number;
	struct maple_queue *q = maple_queue_of(m, place.index, &number);

	if (!q)
		return illegal(m);
	/* The same pointer has other addresses now: not the store that was taken back. */
	if (q->producer == access->owner)
		q->half_done = false;
	/* any thread may: the artifact checks no owner here (pipe:559 of docs/sources.md) */
	q->base = access->data & address_mask(m);
	q->base_set = q->base != 0;
	q->base_shift = operation_of(access) == MAPLE_STORE_SET_BASE64 ? 3 : 2;
	if (!q->base_set)
		q->base_shift = 0;
	return MIMIC_DONE;
}

static enum mimic_outcome store_QUEUE_LIMA(struct mimic_model *model, struct mimic_register_place place,
					   struct mimic_access *access)
{
	struct maple *m = maple_of(model);
	unsigned int number;
	struct maple_queue *q = maple_queue_of(m, place.index, &number);

	if (!q || has_quirk(m, MAPLE_QUIRK_no_extension) || q->producer != access->owner)
		return illegal(m);
	*(operation_of(access) == MAPLE_STORE_QUEUE_LIMA_A ? &q->lima_a : &q->lima_b) =
		access->data & address_mask(m);
	return MIMIC_DONE;
}

void maple_configuration_store(struct maple *m, struct mimic_access *access)
{
	const struct mimic_register *row;
	struct mimic_register_place place;

	row = mimic_register_at(&maple_store_blocks[access->page], 0, access->offset, &place);
	if (row)
		row->store(&m->model, place, access);
	else
		illegal(m);
}

/* --- the rows --------------------------------------------------------------------------- */

#define ROW(code, NAME, text) \
	.name = #NAME, .meaning = text, .offset = MAPLE_OFFSET(code, 0), .stride = MAPLE_OFFSET(0, 1), \
	.count = MAPLE_OFFSET_QUEUES, .access = MIMIC_REGISTER_W

static const struct mimic_register rows[] = {
#define _(code, NAME, role, sort, text) \
	[code] = { ROW(code, NAME, text), .role_index = MIMIC_REGISTER_ALL, .store = store_##sort },
	MAPLE_STORES(_)
	MAPLE_EXTENSION_STORES(_)
#undef _
};

/* A driver's are on the MMU page; of its store MMU one sub-operation has the role. */
static const struct mimic_register mmu_rows[] = {
#define _(code, NAME, role_, sort, text) \
	[code] = { \
		ROW(code, NAME, text), .role = MIMIC_ROLE_##role_, .role_index = MAPLE_MMU_RESOLVE, \
		.store = store_##sort, \
	},
	MAPLE_STORES(_)
	MAPLE_EXTENSION_STORES(_)
#undef _
};

#define BLOCK(number, NAME) \
	[number] = { \
		.name = #NAME, .has_indices = true, .access = MIMIC_REGISTER_W, .page = number, .pages = 1, \
		.units = 1, .size = MIMIC_PAGE_SIZE, .ignored = MAPLE_OFFSET(1, 0) - 1, \
		.shift = MAPLE_OPERATION_SHIFT, .index_shift = MAPLE_QUEUE_SHIFT, .count = sizeof(rows) / sizeof(rows[0]), \
		.rows = number == MAPLE_PAGE_MMU ? mmu_rows : rows, \
	}

const struct mimic_register_block maple_store_blocks[MAPLE_PAGE_COUNT] = {
#define _(number, NAME, meaning) BLOCK(number, NAME),
	MAPLE_PAGES(_)
#undef _
};
