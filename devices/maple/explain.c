/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why an access to a queue waits, in words. */
#include "devices/maple/maple_internal.h"
#include "devices/maple/maple_state.h"
#include "devices/text.h"

#define PAGE_SHIFT 12

static void add_number(struct mimic_text *text, const char *before, uint64_t number, const char *after)
{
	mimic_text_add(text, before);
	mimic_text_add_decimal(text, number);
	mimic_text_add(text, after);
}

/* true: a driver, or the memory's owner, has to bring a page first. */
static bool add_stall(const struct stall *stall, const char *unit, struct mimic_text *text)
{
	if (!stall->stalled)
		return false;
	mimic_text_add(text, unit);
	mimic_text_add(text, " waits for the page at ");
	mimic_text_add_hex(text, stall->page << PAGE_SHIFT, 1);
	mimic_text_add(text, " (page fault)");
	return true;
}

/* A role of the queue, as the thread that waits for its other end sees it. */
static void add_role(uint64_t role, const struct mimic_access *access, const char *none, const char *name,
		     const char *idle, struct mimic_text *text)
{
	if (!role) {
		mimic_text_add(text, none);
		return;
	}
	mimic_text_add(text, name);
	mimic_text_add(text, role == access->owner ? " is this same thread" : idle);
}

static void explain_full(const struct maple_queue *q, unsigned int number, const struct mimic_access *access,
			 struct mimic_text *text)
{
	add_number(text, "queue ", number, maple_queue_room(q) ? " has no room for it (" : " is full (");
	add_number(text, "", q->level, " of ");
	add_number(text, "", q->size, " words), and ");
	if (q->load.valid)
		mimic_text_add(text, "memory has not answered the load that its consumer waits for");
	else
		add_role(q->consumer, access, "nobody consumes", "its consumer", " does not load", text);
}

static void explain_store(const struct maple *m, const struct maple_queue *q, unsigned int number,
			  const struct mimic_access *access, struct mimic_text *text)
{
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;

	if (lima_backlog(q)) {
		mimic_text_add(text, "loops come before it; ");
		if (add_stall(&m->state.stall[1], "LIMA", text))
			return;
	}
	if (operation != MAPLE_STORE_PRODUCE && add_stall(&m->state.stall[0], "the device", text))
		return;
	explain_full(q, number, access, text);
}

static void explain_load(const struct maple *m, const struct maple_queue *q, unsigned int number,
			 const struct mimic_access *access, struct mimic_text *text)
{
	if (q->level && m->state.word_pending[q->first + q->head]) {
		add_number(text, "memory has not answered the oldest fetch of queue ", number, "");
		return;
	}
	if (q->store.valid && add_stall(&m->state.stall[0], "the device", text))
		return;
	if (lima_backlog(q) && add_stall(&m->state.stall[1], "LIMA", text))
		return;
	add_number(text, "queue ", number, q->level ? " has 1 word of the 2, and " : " is empty, and ");
	add_role(q->producer, access, "nobody produces", "its producer", " does not store", text);
}

void maple_explain(const struct mimic_model *model, const struct mimic_access *access,
		   struct mimic_text *text)
{
	const struct maple *m = (const struct maple *)model;
	unsigned int number = (access->offset >> MAPLE_QUEUE_SHIFT & 7) & m->queue_mask;
	const struct maple_queue *q = &m->state.queue[number];

	if (number >= m->config.queues || !q->allocated)
		return;
	if (access->is_write)
		explain_store(m, q, number, access, text);
	else
		explain_load(m, q, number, access, text);
}
