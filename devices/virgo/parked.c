/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses that wait: stores for room in a queue, loads for the end of commands, loads at barriers. */
#include "devices/virgo/virgo_internal.h"

bool virgo_parked_add(struct virgo *v, const struct parked *parked)
{
	struct cluster *c = &v->cluster;

	if (parked->kind != PARKED_BARRIER) {
		if (c->parked_at_units == PARKED_AT_UNITS_MAX)
			return false;
		c->parked_at_units++;
	}
	c->parked[c->parked_count++] = *parked;
	return true;
}

bool virgo_model_has_waiting(const struct mimic_model *model)
{
	return ((const struct virgo *)model)->cluster.parked_at_units;
}

void virgo_parked_answer(struct virgo *v, struct parked *parked, uint64_t data)
{
	parked->over = 1;
	data = low_bytes(data, parked->size);
	mimic_trace_wakes(&v->model.trace, parked->owner, data, false);
	v->host.complete(v->host.context, parked->owner, data);
}

/* Not from a loop over the list: entries move. */
void virgo_parked_sweep(struct virgo *v)
{
	struct cluster *c = &v->cluster;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->parked_count; i++) {
		if (!c->parked[i].over)
			c->parked[kept++] = c->parked[i];
		else if (c->parked[i].kind != PARKED_BARRIER)
			c->parked_at_units--;
	}
	c->parked_count = kept;
}

void virgo_parked_forget(struct virgo *v, struct parked *parked)
{
	if (parked->kind == PARKED_INSTRUCTION)
		v->unit[parked->unit].front.parked_stores--;
	else if (parked->kind == PARKED_BARRIER)
		v->cluster.barrier[parked->unit].arrived--;
}

/* A store that is withdrawn has not happened: the word is still to come. */
static void stream_restore(struct front *f, const struct parked *parked)
{
	if (f->stream_level)
		return;
	f->stream[0] = parked->rs1;
	f->stream[1] = parked->rs2;
	f->stream_owner = parked->owner;
	f->stream_level = 2;
}

bool virgo_parked_withdraw(struct virgo *v, uint64_t owner)
{
	bool found = false;

	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || parked->withdrawn || parked->owner != owner)
			continue;
		found = true;
		if (parked->kind == PARKED_COMMAND)
			parked->withdrawn = 1;
		else
			parked->over = 1;
		virgo_parked_forget(v, parked);
		if (parked->from_stream)
			stream_restore(&v->unit[parked->unit].front, parked);
	}
	virgo_parked_sweep(v);
	return found;
}

void virgo_parked_release_all(struct virgo *v)
{
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over)
			continue;
		virgo_parked_forget(v, parked);
		if (parked->withdrawn)
			parked->over = 1;
		else
			virgo_parked_answer(v, parked, 0);
	}
	virgo_parked_sweep(v);
}
