/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/image.h"
#include "devices/template/template_model.h"

struct waiter {
	uint64_t owner;
	uint64_t is_start;	/* else a load of SUM */
};

/* All that an image holds (template_save()): no pointers. */
struct state {
	uint64_t now;
	uint64_t a, b, sum, count, events;
	uint64_t is_adding;
	uint64_t next_sum;
	uint64_t done_at;
	uint64_t waiting;
	struct waiter waiters[TEMPLATE_WAITERS_MAX];	/* in the order in which they came */
	uint64_t counters[TEMPLATE_COUNTER_COUNT];
};

struct template {
	struct mimic_model model;	/* first: a model is its device */
	struct mimic_host host;
	struct template_config config;
	struct state state;
};

static struct template *template_of(struct mimic_model *model)
{
	return (struct template *)model;
}

static const struct state *state_of(const struct mimic_model *model)
{
	return &((const struct template *)model)->state;
}

void template_config_default(struct template_config *config)
{
	*config = (struct template_config){ .latency = 1000 };
}

const char *template_config_check(const struct template_config *config)
{
	return config->latency > 1000000000 ? "latency must be 0 to 1000000000" : NULL;
}

/* --- adding -------------------------------------------------------------- */

static void begin(struct template *t, uint64_t now)
{
	t->state.is_adding = true;
	t->state.next_sum = t->state.a + t->state.b;
	t->state.done_at = now + t->config.latency;
}

static enum mimic_outcome wait_for_sum(struct template *t, uint64_t owner, bool is_start)
{
	struct state *s = &t->state;

	/* Its driver has no more accesses than this; without room the access is lost, not the device. */
	if (s->waiting == TEMPLATE_WAITERS_MAX)
		return MIMIC_DONE;
	s->waiters[s->waiting++] = (struct waiter){ owner, is_start };
	s->counters[TEMPLATE_COUNTER_waits]++;
	return MIMIC_PARKED;
}

static void forget_waiters(struct state *s, uint64_t first, uint64_t count)
{
	s->waiting -= count;
	memmove(s->waiters + first, s->waiters + first + count, (s->waiting - first) * sizeof(s->waiters[0]));
}

static void answer(struct template *t, uint64_t owner, uint64_t data)
{
	mimic_trace_wakes(&t->model.trace, owner, data, false);
	t->host.complete(t->host.context, owner, data);
}

/* Those before the next START get this sum; that one begins, and the rest waits for it. */
static void wake(struct template *t, uint64_t now)
{
	struct state *s = &t->state;
	uint64_t done = 0;
	bool starts = false;

	while (done < s->waiting && !starts) {
		starts = s->waiters[done].is_start;
		answer(t, s->waiters[done].owner, starts ? 0 : s->sum);
		done++;
	}
	forget_waiters(s, 0, done);
	if (starts)
		begin(t, now);
}

static void finish(struct template *t, uint64_t now)
{
	struct state *s = &t->state;

	s->is_adding = false;
	s->sum = s->next_sum;
	s->count++;
	s->counters[TEMPLATE_COUNTER_additions]++;
	s->events |= TEMPLATE_EVENT_DONE;
	wake(t, now);
	if (t->host.interrupt)
		t->host.interrupt(t->host.context);
}

/* --- the registers: template_registers.h lists them ------------------------ */

/* Without an effect: a load answers the same, and waits while it waits. */
#define PEEK_OR_WAIT(page, NAME, waits, expression) \
static enum mimic_peek page##_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
					  uint64_t now, uint64_t *value) \
{ \
	const struct state *s = state_of(model); \
\
	(void)s; \
	(void)place; \
	(void)now; \
	*value = (expression); \
	return (waits) ? MIMIC_PEEK_WAITS : MIMIC_PEEK_VALUE; \
}
#define PEEK(page, NAME, expression) PEEK_OR_WAIT(page, NAME, false, expression)

PEEK(user, A, s->a)
PEEK(user, B, s->b)
PEEK_OR_WAIT(user, SUM, s->is_adding, s->sum)
PEEK(user, COUNT, s->count)
PEEK(control, IDENTIFY, TEMPLATE_IDENTITY)
PEEK(control, EVENTS, s->events)

#define STORE(page, NAME) \
static enum mimic_outcome page##_store_##NAME(struct mimic_model *model, struct mimic_register_place place, \
					      struct mimic_access *access)

STORE(user, A)
{
	(void)place;
	template_of(model)->state.a = access->data;
	return MIMIC_DONE;
}

STORE(user, B)
{
	(void)place;
	template_of(model)->state.b = access->data;
	return MIMIC_DONE;
}

STORE(user, START)
{
	struct template *t = template_of(model);

	(void)place;
	if (t->state.is_adding)
		return wait_for_sum(t, access->owner, true);
	begin(t, t->state.now);
	return MIMIC_DONE;
}

STORE(control, ACKNOWLEDGE)
{
	(void)place;
	template_of(model)->state.events &= ~access->data;
	return MIMIC_DONE;
}

static const struct mimic_register user_rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) / 8] = { MIMIC_REGISTER_ROW(user, at, name, access, reset, role, format, meaning) },
	TEMPLATE_USER_REGISTERS(_)
#undef _
};

const struct mimic_register_block template_user_block = {
	.name = "user",
	.access = MIMIC_REGISTER_RW,
	.page = TEMPLATE_PAGE_USER,
	.pages = 1,
	.units = 1,
	.size = MIMIC_PAGE_SIZE,
	.shift = 3,
	.rows = user_rows,
	.count = sizeof(user_rows) / sizeof(user_rows[0]),
};

static const struct mimic_register control_rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) / 8] = { MIMIC_REGISTER_ROW(control, at, name, access, reset, role, format, meaning) },
	TEMPLATE_CONTROL_REGISTERS(_)
#undef _
};

const struct mimic_register_block template_control_block = {
	.name = "control",
	.access = MIMIC_REGISTER_RW,
	.page = TEMPLATE_PAGE_CONTROL,
	.pages = 1,
	.units = 1,
	.size = MIMIC_PAGE_SIZE,
	.shift = 3,
	.rows = control_rows,
	.count = sizeof(control_rows) / sizeof(control_rows[0]),
};

/* --- accesses ------------------------------------------------------------ */

static const struct mimic_register *row_of(const struct mimic_access *access, struct mimic_register_place *place)
{
	if (access->size != 8)
		return NULL;
	if (access->page == TEMPLATE_PAGE_USER)
		return mimic_register_at(&template_user_block, 0, access->offset, place);
	if (access->page == TEMPLATE_PAGE_CONTROL)
		return mimic_register_at(&template_control_block, 0, access->offset, place);
	return NULL;
}

static enum mimic_outcome access_row(struct template *t, struct mimic_access *access, uint64_t now)
{
	struct mimic_register_place place;
	const struct mimic_register *row = row_of(access, &place);

	if (!access->is_write)
		access->data = 0;
	if (row && access->is_write && row->store)
		return row->store(&t->model, place, access);
	if (!row || access->is_write || !row->peek) {
		t->state.counters[TEMPLATE_COUNTER_illegal]++;
		return MIMIC_DONE;
	}
	if (row->peek(&t->model, place, now, &access->data) == MIMIC_PEEK_WAITS)
		return wait_for_sum(t, access->owner, false);
	return MIMIC_DONE;
}

/* Does work that is due by now, first: the answer must not depend on when tick() was called. */
static void pass_time(struct template *t, uint64_t now)
{
	if (now > t->state.now)
		t->state.now = now;
	mimic_trace_now(&t->model.trace);
	if (t->state.is_adding && t->state.now >= t->state.done_at)
		finish(t, t->state.now);
}

static enum mimic_outcome template_access(struct mimic_model *model, struct mimic_access *access, uint64_t now)
{
	struct template *t = template_of(model);
	enum mimic_outcome outcome;
	uint64_t begin_time;

	pass_time(t, now);
	begin_time = model->trace.now;
	outcome = access_row(t, access, t->state.now);
	if (outcome == MIMIC_DONE)
		mimic_trace_accesses(&model->trace, begin_time, access, 1);
	else
		mimic_trace_blocks(&model->trace, begin_time, access);
	return outcome;
}

/* --- the rest of a model ------------------------------------------------- */

static void template_tick(struct mimic_model *model, uint64_t now)
{
	pass_time(template_of(model), now);
}

static void template_cancel(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct template *t = template_of(model);
	struct state *s = &t->state;
	uint64_t i;

	pass_time(t, now);
	for (i = 0; i < s->waiting && s->waiters[i].owner != owner; i++)
		;
	if (i == s->waiting)
		return;
	forget_waiters(s, i, 1);
	mimic_trace_wakes(&model->trace, owner, 0, true);
}

/* No thread has a role here: a thread that has ended just waits no longer. */
static void template_owner_gone(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	template_cancel(model, owner, now);
}

static bool template_busy(const struct mimic_model *model)
{
	return state_of(model)->is_adding;
}

/* The device has no translations: it reaches no memory of programs. */
static void template_invalidate(struct mimic_model *model, uint64_t start, uint64_t end)
{
	(void)model;
	(void)start;
	(void)end;
}

static void template_power_on(struct mimic_model *model, uint64_t now)
{
	struct template *t = template_of(model);

	pass_time(t, now);
	for (uint64_t i = 0; i < t->state.waiting; i++)
		answer(t, t->state.waiters[i].owner, 0);
	t->state = (struct state){ .now = t->state.now };
}

static size_t template_counters(const struct mimic_model *model, uint64_t *values, size_t count)
{
	if (count > TEMPLATE_COUNTER_COUNT)
		count = TEMPLATE_COUNTER_COUNT;
	memcpy(values, state_of(model)->counters, count * sizeof(*values));
	return TEMPLATE_COUNTER_COUNT;
}

static void template_clear_counters(struct mimic_model *model)
{
	struct state *s = &template_of(model)->state;

	memset(s->counters, 0, sizeof(s->counters));
}

static size_t template_describe(const struct mimic_model *model, char *text, size_t size)
{
	const struct state *s = state_of(model);
	int length = snprintf(text, size, "%s, %llu waiting", s->is_adding ? "adding" : "idle",
			      (unsigned long long)s->waiting);

	return length < 0 ? 0 : (size_t)length;
}

static const struct mimic_image_kind image_kind = {
	.magic = 0x45474d49544c504dull,	/* "MPLTIMGE" */
	.version = 1,
	.config_size = sizeof(struct template_config),
};

static size_t template_save(const struct mimic_model *model, void *image, size_t size)
{
	const struct template *t = (const struct template *)model;
	size_t total = mimic_image_size(&image_kind, sizeof(t->state));

	if (image && size >= total)
		mimic_image_put(mimic_image_begin(&image_kind, &t->config, image, sizeof(t->state)), &t->state,
				sizeof(t->state));
	return total;
}

/* An image may come from anywhere: a number that is out of range would be an index later. */
static int template_restore(struct mimic_model *model, const void *image, size_t size)
{
	struct template *t = template_of(model);
	struct state state;
	const char *from = mimic_image_state(&image_kind, &t->config, image, size, sizeof(state));

	if (!from)
		return -EINVAL;
	mimic_image_get(from, &state, sizeof(state));
	if (state.waiting > TEMPLATE_WAITERS_MAX || state.is_adding > 1)
		return -EINVAL;
	t->state = state;
	return 0;
}

static const struct mimic_model_ops template_ops = {
	.kind = "template",
	.access = template_access,
	.store_many = mimic_store_each,
	.load_many = mimic_load_each,
	.cancel = template_cancel,
	.owner_gone = template_owner_gone,
	.tick = template_tick,
	.busy = template_busy,
	.invalidate = template_invalidate,
	.power_on = template_power_on,
	.counters = template_counters,
	.clear_counters = template_clear_counters,
	.describe = template_describe,
	.save = template_save,
	.restore = template_restore,
};

struct mimic_model *template_model_create(const struct template_config *config, const struct mimic_host *host)
{
	struct template *t;

	if (template_config_check(config)) {
		errno = EINVAL;
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->model.ops = &template_ops;
	t->host = *host;
	t->config = *config;
	return &t->model;
}

void template_model_destroy(struct mimic_model *model)
{
	free(model);
}
