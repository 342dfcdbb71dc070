/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/template/template_model.h"

struct waiter {
	uint64_t owner;
	bool is_start;	/* else a load of SUM */
};

struct template {
	struct mimic_model model;	/* first: a model is its device */
	struct mimic_host host;

	uint64_t a, b, sum, count, events;
	bool is_adding;
	uint64_t next_sum;
	uint64_t done_at;
	struct waiter waiters[TEMPLATE_WAITERS_MAX];	/* in the order in which they came */
	unsigned int waiting;
	uint64_t counters[TEMPLATE_COUNTER_COUNT];
};

/* --- the register list --------------------------------------------------- */

enum { R = 1, W = 2, RW = R | W };

struct register_entry {
	uint8_t page;
	uint16_t offset;
	uint8_t access;
};

static const struct register_entry registers[] = {
#define _(page, offset, name, access, reset, meaning) { TEMPLATE_PAGE_##page, offset, access },
	TEMPLATE_REGISTERS(_)
#undef _
};

/* Whole registers only: this device has no narrower access. */
static bool is_legal(const struct mimic_access *access)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		if (registers[i].page == access->page && registers[i].offset == access->offset)
			return access->size == 8 && (registers[i].access & (access->is_write ? W : R));
	}
	return false;
}

/* --- adding -------------------------------------------------------------- */

static void begin(struct template *t, uint64_t now)
{
	t->is_adding = true;
	t->next_sum = t->a + t->b;
	t->done_at = now + TEMPLATE_LATENCY;
}

static enum mimic_outcome wait_for_sum(struct template *t, uint64_t owner, bool is_start)
{
	/* Its driver has no more accesses than this; without room the access is lost, not the device. */
	if (t->waiting == TEMPLATE_WAITERS_MAX)
		return MIMIC_DONE;
	t->waiters[t->waiting++] = (struct waiter){ owner, is_start };
	t->counters[TEMPLATE_COUNTER_waits]++;
	return MIMIC_PARKED;
}

/* Those before the next START get this sum; that one begins, and the rest waits for it. */
static void wake(struct template *t, uint64_t now)
{
	unsigned int done = 0;
	bool starts = false;

	while (done < t->waiting && !starts) {
		starts = t->waiters[done].is_start;
		t->host.complete(t->host.context, t->waiters[done].owner, starts ? 0 : t->sum);
		done++;
	}
	t->waiting -= done;
	memmove(t->waiters, t->waiters + done, t->waiting * sizeof(t->waiters[0]));
	if (starts)
		begin(t, now);
}

static void finish(struct template *t, uint64_t now)
{
	t->is_adding = false;
	t->sum = t->next_sum;
	t->count++;
	t->counters[TEMPLATE_COUNTER_additions]++;
	t->events |= TEMPLATE_EVENT_DONE;
	wake(t, now);
	if (t->host.interrupt)
		t->host.interrupt(t->host.context);
}

/* --- accesses ------------------------------------------------------------ */

static enum mimic_outcome access_user(struct template *t, struct mimic_access *access, uint64_t now)
{
	switch (access->offset) {
	case TEMPLATE_A:
	case TEMPLATE_B: {
		uint64_t *number = access->offset == TEMPLATE_A ? &t->a : &t->b;

		if (access->is_write)
			*number = access->data;
		else
			access->data = *number;
		break;
	}
	case TEMPLATE_START:
		if (t->is_adding)
			return wait_for_sum(t, access->owner, true);
		begin(t, now);
		break;
	case TEMPLATE_SUM:
		if (t->is_adding)
			return wait_for_sum(t, access->owner, false);
		access->data = t->sum;
		break;
	case TEMPLATE_COUNT:
		access->data = t->count;
		break;
	}
	return MIMIC_DONE;
}

static enum mimic_outcome access_control(struct template *t, struct mimic_access *access)
{
	/* Offsets are those of their page: these and the user page's may be the same. */
	if (access->offset == TEMPLATE_IDENTIFY)
		access->data = TEMPLATE_IDENTITY;
	else if (access->offset == TEMPLATE_EVENTS)
		access->data = t->events;
	else
		t->events &= ~access->data;
	return MIMIC_DONE;
}

static void tick(struct mimic_model *model, uint64_t now)
{
	struct template *t = (struct template *)model;

	if (t->is_adding && now >= t->done_at)
		finish(t, now);
}

static enum mimic_outcome access_model(struct mimic_model *model, struct mimic_access *access,
				       uint64_t now)
{
	struct template *t = (struct template *)model;

	/* What is due by now comes first: the answer must not depend on when tick() was called. */
	tick(model, now);
	if (!access->is_write)
		access->data = 0;
	if (!is_legal(access)) {
		t->counters[TEMPLATE_COUNTER_illegal]++;
		return MIMIC_DONE;
	}
	if (access->page == TEMPLATE_PAGE_USER)
		return access_user(t, access, now);
	return access_control(t, access);
}

/* --- the rest of a model ------------------------------------------------- */

static void cancel(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct template *t = (struct template *)model;
	unsigned int i;

	(void)now;
	for (i = 0; i < t->waiting && t->waiters[i].owner != owner; i++)
		;
	if (i == t->waiting)
		return;
	t->waiting--;
	memmove(t->waiters + i, t->waiters + i + 1, (t->waiting - i) * sizeof(t->waiters[0]));
}

/* No thread has a role here; one that waited is gone like any other. */
static void owner_gone(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	cancel(model, owner, now);
}

static bool busy(const struct mimic_model *model)
{
	return ((const struct template *)model)->is_adding;
}

static void power_on(struct mimic_model *model, uint64_t now)
{
	struct template *t = (struct template *)model;

	(void)now;
	for (unsigned int i = 0; i < t->waiting; i++)
		t->host.complete(t->host.context, t->waiters[i].owner, 0);
	*t = (struct template){ .model = t->model, .host = t->host };
}

static size_t counters(const struct mimic_model *model, uint64_t *values, size_t count)
{
	const struct template *t = (const struct template *)model;

	if (count > TEMPLATE_COUNTER_COUNT)
		count = TEMPLATE_COUNTER_COUNT;
	memcpy(values, t->counters, count * sizeof(*values));
	return TEMPLATE_COUNTER_COUNT;
}

static void clear_counters(struct mimic_model *model)
{
	struct template *t = (struct template *)model;

	memset(t->counters, 0, sizeof(t->counters));
}

static size_t describe(const struct mimic_model *model, char *text, size_t size)
{
	const struct template *t = (const struct template *)model;

	return (size_t)snprintf(text, size, "%s, %u waiting", t->is_adding ? "adding" : "idle",
				t->waiting);
}

/*
 * What is absent here a device has if its driver asks for it: rings
 * (store_many, load_many), memory of programs (invalidate), saving (save, restore).
 */
static const struct mimic_model_ops template_ops = {
	.kind = "template",
	.access = access_model,
	.cancel = cancel,
	.owner_gone = owner_gone,
	.tick = tick,
	.busy = busy,
	.power_on = power_on,
	.counters = counters,
	.clear_counters = clear_counters,
	.describe = describe,
};

struct mimic_model *template_model_create(const struct mimic_host *host, uint64_t now)
{
	struct template *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->model.ops = &template_ops;
	t->host = *host;
	power_on(&t->model, now);
	return &t->model;
}

void template_model_destroy(struct mimic_model *model)
{
	free(model);
}
