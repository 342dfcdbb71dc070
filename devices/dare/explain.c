/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why an access to a context waits, in words. */
#include "devices/dare/dare_internal.h"
#include "devices/dare/dare_state.h"
#include "devices/text.h"

void dare_explain(const struct mimic_model *model, const struct mimic_access *access, struct mimic_text *text)
{
	const struct dare *d = (const struct dare *)model;
	unsigned int number = access->page - DARE_PAGE_CONTEXT(0);
	const struct dare_context *c;

	if (access->page < DARE_PAGE_CONTEXT(0) || number >= d->config.contexts)
		return;
	c = &d->context[number];
	if (access->is_write) {
		mimic_text_add(text, "the queue of context ");
		mimic_text_add_decimal(text, number);
		mimic_text_add(text, " is full (");
	} else {
		mimic_text_add(text, "context ");
		mimic_text_add_decimal(text, number);
		mimic_text_add(text, " has not executed all (");
	}
	mimic_text_add_decimal(text, c->queue_level);
	mimic_text_add(text, c->queue_level == 1 ? " instruction is left)" : " instructions are left)");
	if (!c->stalled)
		return;
	mimic_text_add(text, ", and the oldest waits for the page at ");
	mimic_text_add_hex(text, c->stall_page << 12, 1);
	mimic_text_add(text, " (page fault)");
}
