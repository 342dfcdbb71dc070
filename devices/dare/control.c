/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Page 0, the operating system's: which program has which context, page faults, shootdowns. */
#include "devices/dare/dare_internal.h"
#include "devices/dare/dare_state.h"

const struct mimic_memory *dare_mpu_control_memory_of(const struct dare *d, uint64_t address_space)
{
	const struct mimic_memory *memory;

	if (!address_space || !d->host.memory_of)
		return NULL;
	memory = d->host.memory_of(d->host.context, address_space);
	return memory && memory->read_rows && memory->write_rows ? memory : NULL;
}

static void attach(struct dare *d, uint64_t value)
{
	unsigned int number = value & 0xff;
	uint64_t address_space = value >> 8, status;
	struct dare_context *c;

	if (number >= d->config.contexts) {
		d->state.illegal++;
		return;
	}
	c = &d->context[number];
	dare_mpu_context_reset(d, c);
	mimic_tlb_init(&c->tlb, d->config.tlb_entries);
	d->unfinished &= ~(1u << number);
	status = dare_mpu_context_status(d, c);
	d->memory[number] = dare_mpu_control_memory_of(d, address_space);
	c->address_space = d->memory[number] ? address_space : 0;
	dare_mpu_parked_release(d, c, status);
	if (!address_space)
		return;
	/* The new program's counters start at 0; the device's sums do not go back. */
	for (unsigned int i = 0; i < DARE_COUNTER_COUNT; i++)
		d->state.retired[i] += c->counters[i];
	memset(c->counters, 0, sizeof(c->counters));
}

/* Of the contexts that wait, the one that has waited longest. */
static const struct dare_context *oldest_stall(const struct dare *d)
{
	const struct dare_context *oldest = NULL;

	for (unsigned int i = 0; i < d->config.contexts; i++) {
		const struct dare_context *c = &d->context[i];

		if (c->stalled && (!oldest || c->stall_order < oldest->stall_order))
			oldest = c;
	}
	return oldest;
}

static uint64_t fault_status(const struct dare *d)
{
	const struct dare_context *c = oldest_stall(d);

	if (!c)
		return 0;
	return c->stall_page << 12 | DARE_FAULT_STALLED | (c->stall_writes ? DARE_FAULT_WRITES : 0) |
	       context_number(d, c);
}

static void resolve(struct dare *d, uint64_t value)
{
	unsigned int number = value & 0xff;
	struct dare_context *c;

	if (number >= d->config.contexts) {
		d->state.illegal++;
		return;
	}
	c = &d->context[number];
	/* The context may have been detached or reset since its fault was read. */
	if (!c->stalled)
		return;
	if (value & DARE_RESOLVE_LATER) {
		c->stall_order = ++d->state.stall_order;
		return;
	}
	c->stalled = 0;
	MIMIC_TRACE(&d->model.trace, resolve, 0ull, number, c->stall_page << 12,
		    (value & DARE_RESOLVE_PRESENT) != 0, 0ull, 0ull);
	if (value & DARE_RESOLVE_PRESENT) {
		count(c, DARE_COUNTER_resolves, 1);
	} else {
		trace_dropped(d, c, c->queue_level);
		dare_mpu_memory_fail(d, c);
	}
	dare_mpu_context_settle(d, c);
}

static void flush(struct dare *d, uint64_t value)
{
	unsigned int number = value & 0xff;

	if (number >= d->config.contexts && number != DARE_ALL_CONTEXTS) {
		d->state.illegal++;
		return;
	}
	for (unsigned int i = 0; i < d->config.contexts; i++) {
		struct dare_context *c = &d->context[i];

		if (!c->address_space || (number != DARE_ALL_CONTEXTS && number != i))
			continue;
		mimic_tlb_flush(&c->tlb);
		count(c, DARE_COUNTER_shootdowns, 1);
		trace_shootdown(d, c, 0, 0);
	}
}

/* --- the registers: include/mimic/dare_registers.h lists them -------------------------- */

#define _(NAME, expression) \
static enum mimic_peek control_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
					   uint64_t now, uint64_t *value) \
{ \
	const struct dare *d = (const struct dare *)model; \
\
	(void)place; \
	(void)now; \
	*value = (expression); \
	return MIMIC_PEEK_VALUE; \
}
_(IDENTIFY, DARE_MAGIC << 32 | (uint64_t)DARE_VERSION << 24 | d->config.queue_entries << 16 |
  d->config.tlb_entries << 8 | d->config.contexts)
_(FAULT_STATUS, fault_status(d))
_(FAULT_COUNT, d->state.fault_count)
#undef _

#define _(NAME, function) \
static enum mimic_outcome control_store_##NAME(struct mimic_model *model, struct mimic_register_place place, \
					       struct mimic_access *access) \
{ \
	(void)place; \
	function(dare_of(model), access->data); \
	return MIMIC_DONE; \
}
_(ATTACH, attach)
_(RESOLVE, resolve)
_(FLUSH, flush)
#undef _

static const struct mimic_register control_rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) / 8] = { MIMIC_REGISTER_ROW(control, at, name, access, reset, role, format, meaning) },
	DARE_CONTROL_REGISTERS(_)
#undef _
};

const struct mimic_register_block dare_control_block = {
	.name = "control",
	.access = MIMIC_REGISTER_RW,
	.page = DARE_PAGE_CONTROL,
	.pages = 1,
	.units = 1,
	.size = MIMIC_PAGE_SIZE,
	.shift = 3,
	.rows = control_rows,
	.count = sizeof(control_rows) / sizeof(control_rows[0]),
};

void dare_mpu_control_access(struct dare *d, struct mimic_access *access)
{
	const struct mimic_register *row = NULL;
	struct mimic_register_place place;

	if (register_access_is_legal(access))
		row = mimic_register_at(&dare_control_block, 0, access->offset, &place);
	if (!row || !(row->access & (access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R))) {
		d->state.illegal++;
		access->data = 0;
		return;
	}
	if (access->is_write) {
		row->store(&d->model, place, access);
		return;
	}
	row->peek(&d->model, place, d->state.now, &access->data);
	access->data = low_bytes(access->data, access->size);
}
