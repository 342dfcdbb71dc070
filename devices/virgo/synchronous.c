/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The synchronous mode: the store of a command is answered when the command is over. It is
 * for programs that look at memory without a fence, as the cores of a real system may allow
 * that run Gemmini behind their own instructions (docs/virgo.md).
 *
 * A transport withdraws a store that waits when a signal comes, and does it again after
 * that. The command is queued by then, and must not be queued twice: its entry stays on the
 * list as withdrawn, and the same store of the same thread goes on with it. Another command
 * of that thread to that unit says that the store will not come again.
 */
#include "devices/virgo/virgo_internal.h"

void virgo_synchronous_begin(const struct unit *u, struct parked *store)
{
	store->kind = PARKED_COMMAND;
	store->position = u->front.dispatched;
}

/* `store` is on the queue. With no place among the accesses that wait it is answered at once. */
enum mimic_outcome virgo_synchronous_wait(struct virgo *v, struct unit *u, const struct parked *store)
{
	struct parked waiting = *store;

	if (!v->config.synchronous)
		return MIMIC_DONE;
	virgo_synchronous_begin(u, &waiting);
	if (virgo_unit_is_over(u, &waiting) || !virgo_parked_add(v, &waiting))
		return MIMIC_DONE;
	return MIMIC_PARKED;
}

static bool is_same(const struct parked *a, const struct parked *b)
{
	return a->value == b->value && a->rs1 == b->rs1 && a->rs2 == b->rs2 &&
	       a->size == b->size && a->from_stream == b->from_stream;
}

/* true: the store had been withdrawn, and *outcome is its outcome now. */
bool virgo_synchronous_resumes(struct virgo *v, struct unit *u, const struct parked *store,
			       enum mimic_outcome *outcome)
{
	bool found = false;

	if (!v->config.synchronous)
		return false;
	for (uint32_t i = 0; i < v->cluster.parked_count && !found; i++) {
		struct parked *parked = &v->cluster.parked[i];

		if (parked->over || !parked->withdrawn || parked->owner != store->owner ||
		    parked->unit != u->number)
			continue;
		found = is_same(parked, store);
		parked->withdrawn = 0;
		parked->over = !found || virgo_unit_is_over(u, parked);
		*outcome = parked->over ? MIMIC_DONE : MIMIC_PARKED;
	}
	virgo_parked_sweep(v);
	return found;
}

/* The thread has ended: its stores do not come again. */
void virgo_synchronous_forget(struct virgo *v, uint64_t owner)
{
	for (uint32_t i = 0; i < v->cluster.parked_count; i++) {
		struct parked *parked = &v->cluster.parked[i];

		parked->over |= parked->withdrawn && parked->owner == owner;
	}
	virgo_parked_sweep(v);
}
