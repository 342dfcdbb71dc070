/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A warp's instructions: for each tile of C its begin, the steps along k, its end; and behind all tiles an end. Each part
 * is a list, in which instructions may belong to some steps only, and addresses move with step and tile.
 */
#include "devices/virgo/time/internal.h"

static const struct virgo_time_kernel *kernel_of(const struct core *core)
{
	return &core->timing->unit[core->unit].kernel;
}

void virgo_time_stream_begin(struct warp *warp, const struct warp_code *code)
{
	warp->code = code;
	warp->part = PART_TILE_BEGIN;
	warp->at = 0;
	warp->row = warp->column = warp->step = 0;
	warp->has_ended = false;
}

static uint32_t steps_of(const struct core *core)
{
	return (uint32_t)(kernel_of(core)->k / parameters_of(core)->matrix_tile_k);
}

static bool is_wanted(const struct core *core, const struct warp *warp, enum when when)
{
	switch (when) {
	case UNLESS_LAST_STEP:
		return warp->step + 1 < steps_of(core);
	case IF_LAST_STEP:
		return warp->step + 1 == steps_of(core);
	case UNLESS_FIRST_STEP:
		return warp->step;
	case IF_FIRST_STEP:
		return !warp->step;
	case UNLESS_FIRST_TILE:
		return warp->row || warp->column;
	default:
		return true;
	}
}

/* true: there is a part that comes next. */
static bool next_part(const struct core *core, struct warp *warp)
{
	const struct virgo_time_parameters *parameters = parameters_of(core);
	const struct virgo_time_kernel *kernel = kernel_of(core);

	warp->at = 0;
	switch (warp->part) {
	case PART_TILE_BEGIN:
		warp->part = PART_STEP;
		return true;
	case PART_STEP:
		if (++warp->step == steps_of(core))
			warp->part = PART_TILE_END;
		return true;
	case PART_TILE_END:
		warp->step = 0;
		warp->part = PART_TILE_BEGIN;
		if (++warp->column < kernel->n / parameters->matrix_tile_n)
			return true;
		warp->column = 0;
		if (++warp->row < kernel->m / parameters->matrix_tile_m)
			return true;
		warp->part = PART_END;
		return true;
	default:
		return false;
	}
}

static unsigned int half_of(const struct warp *warp, const struct item *item)
{
	/* The last item's half is that of the tile's last step. */
	unsigned int step = warp->step + (item->half_of == 2);

	return item->half_of ? step & 1 : 0;
}

static void resolve(const struct warp *warp, const struct item *item, struct instruction *instruction)
{
	unsigned int half = half_of(warp, item);

	*instruction = item->instruction;
	instruction->half = (uint8_t)half;
	instruction->address += (uint64_t)((int64_t)warp->step * item->by_step + (int64_t)warp->row * item->by_row +
					   (int64_t)warp->column * item->by_column + (int64_t)half * item->by_half);
}

bool virgo_time_stream_next(const struct core *core, struct warp *warp, struct instruction *instruction)
{
	for (;;) {
		const struct code *code = &warp->code->part[warp->part];

		while (warp->at < code->count) {
			const struct item *item = &code->item[warp->at++];

			if (!is_wanted(core, warp, item->when))
				continue;
			resolve(warp, item, instruction);
			return true;
		}
		if (!next_part(core, warp))
			return false;
	}
}

void virgo_time_stream_again(struct warp *warp)
{
	warp->at -= POLL_LENGTH;
}
