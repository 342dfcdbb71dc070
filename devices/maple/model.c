/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Creation, the decoding of accesses, and the operations every model has. */
#include <errno.h>
#include <stdlib.h>

#include "devices/maple/maple_internal.h"

static void begin_call(struct maple *m, uint64_t now)
{
	m->prefetch_budget = PREFETCH_BUDGET;
	if (now > m->state.now)
		m->state.now = now;
	mimic_trace_now(&m->model.trace);
}

/* --- loads ---------------------------------------------------------------- */

static enum mimic_outcome consume(struct maple *m, struct mimic_access *access, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];

	access->data = 0;
	if (!maple_queue_pop_many(m, q, access->size == 8 ? 2 : 1, &access->data, 1)) {
		if (!q->hung) {
			maple_queue_park_load(m, q, access);
			return MIMIC_PARKED;
		}
	}
	access->data = low_bytes(access->data, access->size);
	maple_queue_progress_if_waits(m, q, number);
	return MIMIC_DONE;
}

static enum mimic_outcome load(struct maple *m, struct mimic_access *access)
{
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;
	unsigned int field = access->offset >> MAPLE_QUEUE_SHIFT & 7, number;
	struct maple_queue *q = maple_queue_of(m, field, &number);
	uint64_t hijacked;
	bool hijack;

	if (operation == MAPLE_LOAD_CONSUME && access->page == MAPLE_PAGE_MAPLE && q &&
	    q->consumer == access->owner && !q->load.valid)
		return consume(m, access, number);
	hijack = maple_custom_hijack(m, &hijacked);
	access->data = maple_configuration_load(m, access);
	if (hijack)
		access->data = hijacked;
	access->data = low_bytes(access->data, access->size);
	return MIMIC_DONE;
}

/* --- stores --------------------------------------------------------------- */

static bool store_may_wait(const struct maple *m, unsigned int operation)
{
	if (operation == MAPLE_STORE_LOOP || maple_store_is_produce(m, operation))
		return true;
	return operation >= MAPLE_STORE_QUEUE_LOOP_POINTER32 &&
	       operation <= MAPLE_STORE_QUEUE_LOOP_PREFETCH64 &&
	       !has_quirk(m, MAPLE_QUIRK_no_extension);
}

/* Of stores, of which a program makes many. */
static void note_operations(struct maple *m)
{
	for (unsigned int operation = 0; operation < 64; operation++) {
		m->produces |= (uint64_t)maple_store_is_produce(m, operation) << operation;
		m->may_wait |= (uint64_t)store_may_wait(m, operation) << operation;
	}
}

static inline bool is_legal_produce(const struct maple *m, const struct maple_queue *q,
				    const struct mimic_access *access)
{
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;

	if (!q || q->producer != access->owner || q->store.valid || !(m->may_wait >> operation & 1))
		return false;
	/* the MMU page has no produce pipeline; LOOP is configuration and works there */
	return access->page == MAPLE_PAGE_MAPLE || !(m->produces >> operation & 1);
}

/* One store; does not park. */
static enum step store_step(struct maple *m, struct mimic_access *access)
{
	unsigned int field = access->offset >> MAPLE_QUEUE_SHIFT & 7, number;
	struct maple_queue *q = maple_queue_of(m, field, &number);

	if (is_legal_produce(m, q, access)) {
		enum step step = maple_produce_step(m, number, access);

		if (step == STEP_WAIT && q->hung) {
			q->half_done = false;
			maple_mmu_forget(m, number, MAPLE_FAULT_PIPES);
			return STEP_DONE;
		}
		if (step == STEP_DONE && q->load.valid)
			maple_queue_progress(m, number);
		return step;
	}
	maple_configuration_store(m, access);
	return STEP_DONE;
}

static enum mimic_outcome store(struct maple *m, struct mimic_access *access)
{
	unsigned int number;

	access->data = low_bytes(access->data, access->size);
	if (store_step(m, access) == STEP_DONE)
		return MIMIC_DONE;
	maple_queue_of(m, access->offset >> MAPLE_QUEUE_SHIFT & 7, &number);
	maple_queue_park_store(m, &m->state.queue[number], access);
	return MIMIC_PARKED;
}

/* --- operations of the model ---------------------------------------------- */

static bool page_has_operations(const struct mimic_access *access)
{
	return access->page == MAPLE_PAGE_MAPLE || access->page == MAPLE_PAGE_MMU;
}

static enum mimic_outcome other_page(struct maple *m, struct mimic_access *access)
{
	bool custom = access->page == MAPLE_PAGE_CUSTOM || access->page == MAPLE_PAGE_SPD;

	if (!custom && access->is_write)
		return MIMIC_DONE;
	if (!custom) {
		count(m, MAPLE_COUNTER_illegal, 1);
		access->data = 0;
	} else if (access->is_write) {
		maple_custom_store(m, low_bytes(access->data, access->size));
	} else {
		access->data = low_bytes(maple_custom_load(m), access->size);
	}
	return MIMIC_DONE;
}

static enum mimic_outcome access_one(struct maple *m, struct mimic_access *access)
{
	if (!page_has_operations(access))
		return other_page(m, access);
	return access->is_write ? store(m, access) : load(m, access);
}

static enum mimic_outcome maple_access(struct mimic_model *model, struct mimic_access *access,
				       uint64_t now)
{
	struct maple *m = maple_of(model);
	enum mimic_outcome outcome;
	uint64_t begin;

	begin_call(m, now);
	begin = model->trace.now;
	outcome = access_one(m, access);
	if (outcome == MIMIC_DONE)
		mimic_trace_accesses(&model->trace, begin, access, 1);
	else
		mimic_trace_blocks(&model->trace, begin, access);
	return outcome;
}

static size_t maple_store_many(struct mimic_model *model, const struct mimic_access *pattern,
			       const uint64_t *values, size_t n, uint64_t now)
{
	struct maple *m = maple_of(model);
	struct mimic_access access = *pattern;
	unsigned int number;
	size_t done = 0;
	uint64_t begin;

	begin_call(m, now);
	begin = model->trace.now;
	access.is_write = 1;
	/* One by one, the driver would tick between two of them. */
	while (done < n && !m->unfinished) {
		struct maple_queue *q = maple_queue_of(m, access.offset >> MAPLE_QUEUE_SHIFT & 7, &number);

		if (page_has_operations(&access) && is_legal_produce(m, q, &access)) {
			size_t fast = maple_produce_many(m, number, &access, values + done, n - done);

			done += fast;
			if (fast && q->load.valid)
				maple_queue_progress(m, number);
			if (done == n)
				break;
		}
		access.data = low_bytes(values[done], access.size);
		if (!page_has_operations(&access))
			other_page(m, &access);
		else if (store_step(m, &access) == STEP_WAIT)
			break;
		done++;
	}
	if (done)
		mimic_trace_accesses(&model->trace, begin, &access, done);
	return done;
}

static bool is_legal_consume(struct maple *m, const struct mimic_access *access, unsigned int *number)
{
	struct maple_queue *q = maple_queue_of(m, access->offset >> MAPLE_QUEUE_SHIFT & 7, number);

	return access->page == MAPLE_PAGE_MAPLE && q && q->consumer == access->owner &&
	       (access->offset >> MAPLE_OPERATION_SHIFT & 63) == MAPLE_LOAD_CONSUME &&
	       access->size >= 4 && !q->load.valid && !q->hung;
}

static size_t consume_many(struct maple *m, unsigned int number, unsigned int size, void *values,
			   size_t n)
{
	struct maple_queue *q = &m->state.queue[number];
	size_t done = 0;

	while (done < n) {
		size_t got = maple_queue_pop_many(m, q, size / 4, (char *)values + done * size, n - done);

		if (!got)
			break;
		done += got;
		maple_queue_progress(m, number);
	}
	return done;
}

static size_t load_each(struct maple *m, struct mimic_access *pattern, void *values, size_t n)
{
	struct mimic_access access = *pattern;
	unsigned int number;

	for (size_t i = 0; i < n; i++) {
		struct maple_queue *q = maple_queue_of(m, access.offset >> MAPLE_QUEUE_SHIFT & 7, &number);

		if (access_one(m, &access) == MIMIC_PARKED) {
			/* never parks here: take it back as if it had not been tried */
			q->load.valid = false;
			m->state.counters[MAPLE_COUNTER_load_waits]--;
			maple_queue_clocks(m, q);
			return i;
		}
		memcpy((char *)values + i * access.size, &access.data, access.size);
	}
	return n;
}

static size_t maple_load_many(struct mimic_model *model, const struct mimic_access *pattern,
			      void *values, size_t n, uint64_t now)
{
	struct maple *m = maple_of(model);
	struct mimic_access access = *pattern;
	unsigned int number;
	uint64_t begin;
	size_t done;

	begin_call(m, now);
	begin = model->trace.now;
	access.is_write = 0;
	if (is_legal_consume(m, &access, &number))
		done = consume_many(m, number, access.size, values, n);
	else
		done = load_each(m, &access, values, n);
	if (!done)
		return 0;
	if (mimic_trace_is_on(&model->trace))
		memcpy(&access.data, (char *)values + (done - 1) * access.size, access.size);
	mimic_trace_accesses(&model->trace, begin, &access, done);
	return done;
}

/* The access waits no longer, and the host is not told. */
static void withdraw(struct maple *m, struct parked *parked, uint64_t owner)
{
	if (!parked->valid || parked->access.owner != owner)
		return;
	parked->valid = false;
	mimic_trace_wakes(&m->model.trace, owner, 0, true);
}

static void maple_cancel(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct maple *m = maple_of(model);

	begin_call(m, now);
	for (unsigned int i = 0; i < m->config.queues; i++) {
		struct maple_queue *q = &m->state.queue[i];

		withdraw(m, &q->store, owner);
		if (q->producer == owner)
			maple_mmu_forget(m, i, MAPLE_FAULT_PIPES);
		withdraw(m, &q->load, owner);
		if (q->allocated)
			maple_queue_clocks(m, q);
	}
}

/* A load that waits for an ended thread gets words on their way, then the answer of an illegal access. */
static void answer_peers(struct maple *m, unsigned int number, bool producer_gone,
			 bool consumer_gone)
{
	struct maple_queue *q = &m->state.queue[number];

	if (producer_gone && q->load.valid)
		q->load.abandoned = true;
	if (consumer_gone && q->store.valid)
		maple_queue_abandon_store(m, number);
	maple_queue_progress(m, number);
}

static void maple_owner_gone(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	struct maple *m = maple_of(model);

	maple_cancel(model, owner, now);
	for (unsigned int i = 0; i < m->config.queues; i++) {
		struct maple_queue *q = &m->state.queue[i];
		bool was_producer = q->allocated && q->producer == owner;
		bool was_consumer = q->allocated && q->consumer == owner;

		if (was_producer) {
			q->producer = 0;
			q->half_done = false;
		}
		if (was_consumer)
			q->consumer = 0;
		if (was_producer || was_consumer)
			maple_queue_clocks(m, q);
		answer_peers(m, i, was_producer, was_consumer);
	}
}

void maple_model_progress(struct mimic_model *model, unsigned int queue, uint64_t now)
{
	begin_call(maple_of(model), now);
	maple_queue_progress(maple_of(model), queue);
}

enum maple_pipe maple_model_pipe(const struct mimic_model *model, const struct mimic_access *access,
				 unsigned int *queue)
{
	struct maple *m = (struct maple *)model;
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;
	struct maple_queue *q = maple_queue_of(m, access->offset >> MAPLE_QUEUE_SHIFT & 7, queue);

	if (access->page != MAPLE_PAGE_MAPLE || !q)
		return MAPLE_PIPE_CONFIGURATION;
	if (!access->is_write)
		return operation == MAPLE_LOAD_CONSUME && q->consumer == access->owner && !q->load.valid ?
			       MAPLE_PIPE_CONSUME : MAPLE_PIPE_CONFIGURATION;
	return maple_store_is_produce(m, operation) && is_legal_produce(m, q, access) ? MAPLE_PIPE_PRODUCE :
										  MAPLE_PIPE_CONFIGURATION;
}

static void maple_tick(struct mimic_model *model, uint64_t now)
{
	begin_call(maple_of(model), now);
	maple_of(model)->unfinished = false;
	maple_progress_all(maple_of(model));
}

void maple_model_retry(struct mimic_model *model, uint64_t now)
{
	begin_call(maple_of(model), now);
	maple_mmu_retry(maple_of(model));
	maple_progress_all(maple_of(model));
}

static bool maple_busy(const struct mimic_model *model)
{
	return ((const struct maple *)model)->unfinished;
}

static void maple_invalidate(struct mimic_model *model, uint64_t start, uint64_t end)
{
	struct maple *m = maple_of(model);

	mimic_tlb_invalidate(&m->state.tlb, start, end);
	count(m, MAPLE_COUNTER_shootdowns, 1);
	mimic_trace_now(&model->trace);
	trace_shootdown(m, start, end);
}

static void maple_power_on(struct mimic_model *model, uint64_t now)
{
	struct maple *m = maple_of(model);
	uint64_t time;

	begin_call(m, now);
	time = m->state.now;
	for (unsigned int i = 0; i < m->config.queues; i++) {
		if (m->state.queue[i].allocated)
			maple_queue_drop(m, i, 0, MIMIC_TRACE_DROP_POWER_ON);
	}
	memset(&m->state, 0, sizeof(m->state));
	m->state.now = time;
	m->unfinished = false;
	mimic_tlb_init(&m->state.tlb, m->config.tlb_entries);
	m->state.translation = true;
}

static const struct mimic_model_ops maple_ops = {
	.kind = "maple",
	.asks_now = true,
	.access = maple_access,
	.store_many = maple_store_many,
	.load_many = maple_load_many,
	.cancel = maple_cancel,
	.owner_gone = maple_owner_gone,
	.tick = maple_tick,
	.busy = maple_busy,
	.invalidate = maple_invalidate,
	.power_on = maple_power_on,
	.counters = maple_counters_read,
	.clear_counters = maple_counters_clear,
	.describe = maple_describe,
	.save = maple_save,
	.restore = maple_restore,
};

struct mimic_model *maple_model_create(const struct maple_config *config,
				       const struct mimic_host *host)
{
	struct maple *m;

	if (maple_config_check(config)) {
		errno = EINVAL;
		return NULL;
	}
	m = aligned_alloc(64, (sizeof(*m) + 63) / 64 * 64);
	if (!m)
		return NULL;
	memset(m, 0, sizeof(*m));
	m->model.ops = &maple_ops;
	m->host = *host;
	m->config = *config;
	while (m->queue_mask + 1 < config->queues)
		m->queue_mask = 2 * m->queue_mask + 1;
	note_operations(m);
	m->chunks = calloc((size_t)config->queues * config->lima_chunks, sizeof(*m->chunks));
	m->loops = calloc((size_t)config->queues * config->lima_loops, sizeof(*m->loops));
	if (!m->chunks || !m->loops) {
		maple_model_destroy(&m->model);
		errno = ENOMEM;
		return NULL;
	}
	mimic_tlb_init(&m->state.tlb, config->tlb_entries);
	m->state.translation = true;
	return &m->model;
}

void maple_model_destroy(struct mimic_model *model)
{
	struct maple *m = (struct maple *)model;

	if (!m)
		return;
	for (unsigned int i = 0; m->chunks && i < m->config.queues; i++)
		trace_drop(m, &m->state.queue[i], MIMIC_TRACE_DROP_CLOSE);
	free(m->chunks);
	free(m->loops);
	free(m);
}
