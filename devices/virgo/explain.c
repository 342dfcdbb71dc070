/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why an access to a unit or a barrier waits, in words. */
#include "devices/text.h"
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

static void add_number(struct mimic_text *text, const char *before, uint64_t number, const char *after)
{
	mimic_text_add(text, before);
	mimic_text_add_decimal(text, number);
	mimic_text_add(text, after);
}

static void explain_barrier(const struct virgo *v, unsigned int number, struct mimic_text *text)
{
	const struct barrier *b = &v->cluster.barrier[number];

	add_number(text, "", b->arrived, " of ");
	add_number(text, "", b->participants ? b->participants : v->config.cores,
		   " threads have arrived at barrier ");
	mimic_text_add_decimal(text, number);
}

/* Only the part that belongs to the model's calls: a job may be using the rest. */
static void explain_unit(const struct virgo *v, const struct unit *u, const struct mimic_access *access,
			 struct mimic_text *text)
{
	const struct front *f = &u->front;

	if (access->is_write && !v->config.synchronous) {
		add_number(text, "the queue of unit ", u->number, " is full (");
		add_number(text, "", v->config.queue_entries, " commands)");
	} else {
		add_number(text, "unit ", u->number, " has completed ");
		add_number(text, "", f->completed, " of ");
		add_number(text, "", f->dispatched, " commands");
	}
	if (f->job_state == JOB_STALLED) {
		mimic_text_add(text, ", and waits for the page at ");
		mimic_text_add_hex(text, f->stall_page, 1);
		mimic_text_add(text, " (page fault)");
	} else {
		mimic_text_add(text,
			       f->job_state == JOB_OUTSTANDING ? ", and is at work" : ", and is not at work");
	}
}

void virgo_explain(const struct mimic_model *model, const struct mimic_access *access,
		   struct mimic_text *text)
{
	const struct virgo *v = (const struct virgo *)model;
	unsigned int unit = access->offset / VIRGO_BLOCK_SIZE;

	if (access->page == VIRGO_PAGE_UNITS) {
		if (unit < v->config.units)
			explain_unit(v, &v->unit[unit], access, text);
		return;
	}
	if (!access->is_write && access->offset >= VIRGO_BARRIER_WAIT(0) &&
	    access->offset < VIRGO_BARRIER_WAIT(VIRGO_BARRIERS))
		explain_barrier(v, (access->offset - VIRGO_BARRIER_WAIT(0)) / 8, text);
}
