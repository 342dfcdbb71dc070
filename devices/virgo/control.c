/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Page 0: identity, page faults, events. */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

void virgo_cluster_drop_translations(struct virgo *v)
{
	__atomic_add_fetch(&v->generation, 1, __ATOMIC_RELEASE);
	v->cluster.shootdowns++;
	MIMIC_TRACE(&v->model.trace, shootdown, 0ull, 0, 0ull, 0u, 0ull, 0ull);
}

static uint64_t identify(const struct virgo *v)
{
	return (uint64_t)VIRGO_MAGIC << 32 | (uint64_t)VIRGO_VERSION << 24 | VIRGO_BARRIERS << 16 |
	       v->config.cores << 8 | v->config.units;
}

/* A unit that waits comes before a fault that is only remembered. */
static uint64_t fault_status(const struct virgo *v)
{
	const struct unit *oldest = NULL;

	for (unsigned int i = 0; i < v->config.units; i++) {
		const struct unit *u = &v->unit[i];

		if (u->front.job_state == JOB_STALLED &&
		    (!oldest || u->front.stall_order < oldest->front.stall_order))
			oldest = u;
	}
	if (!oldest)
		return v->cluster.last_fault;
	return oldest->front.stall_page | VIRGO_FAULT_STALLED | oldest->number |
	       (oldest->front.stall_writes ? VIRGO_FAULT_WRITES : 0);
}

static uint64_t shared_size(const struct virgo *v)
{
	return (uint64_t)v->config.shared_kb << 10;
}

static bool resolve(struct virgo *v, uint64_t value)
{
	unsigned int number = value & 0xff;

	if (number >= v->config.units)
		return false;
	if (value & VIRGO_RESOLVE_LATER) {
		v->unit[number].front.stall_order = ++v->cluster.stall_order;
		return true;
	}
	virgo_job_resolve(v, &v->unit[number], value & VIRGO_RESOLVE_PRESENT);
	virgo_unit_settle(v, &v->unit[number]);
	return true;
}

/* --- the registers: include/mimic/virgo_registers.h lists them ------------------------- */

#define PEEK(NAME, expression) \
static enum mimic_peek control_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
					   uint64_t now, uint64_t *value) \
{ \
	const struct virgo *v = (const struct virgo *)model; \
\
	(void)place; \
	(void)now; \
	*value = (expression); \
	return MIMIC_PEEK_VALUE; \
}

static uint64_t counter(const struct virgo *v, enum virgo_counter number)
{
	uint64_t counters[VIRGO_COUNTER_COUNT];

	virgo_counters_read(&v->model, counters, VIRGO_COUNTER_COUNT);
	return counters[number];
}

PEEK(IDENTIFY, identify(v))
PEEK(SHARED_SIZE, shared_size(v))
PEEK(FAULT_STATUS, fault_status(v))
PEEK(FAULT_COUNT, v->cluster.fault_count)
PEEK(EVENT_STATUS, v->cluster.events)
PEEK(EVENT_ENABLE, v->cluster.events_enabled)
#define _(name, meaning) PEEK(name, counter(v, VIRGO_COUNTER_##name))
VIRGO_COUNTERS(_)
#undef _

static enum mimic_outcome control_store_RESOLVE(struct mimic_model *model, struct mimic_register_place place,
						struct mimic_access *access)
{
	struct virgo *v = virgo_of(model);

	(void)place;
	v->cluster.illegal += !resolve(v, access->data);
	return MIMIC_DONE;
}

static enum mimic_outcome control_store_FLUSH(struct mimic_model *model, struct mimic_register_place place,
					      struct mimic_access *access)
{
	(void)place;
	(void)access;
	virgo_cluster_drop_translations(virgo_of(model));
	return MIMIC_DONE;
}

static enum mimic_outcome control_store_EVENT_STATUS(struct mimic_model *model,
						     struct mimic_register_place place,
						     struct mimic_access *access)
{
	(void)place;
	virgo_of(model)->cluster.events &= ~(uint32_t)access->data;
	return MIMIC_DONE;
}

static enum mimic_outcome control_store_EVENT_ENABLE(struct mimic_model *model,
						     struct mimic_register_place place,
						     struct mimic_access *access)
{
	struct virgo *v = virgo_of(model);

	(void)place;
	v->cluster.events_enabled = (uint32_t)access->data;
	/* Earlier events raise the interrupt, too: else a program could sleep through them. */
	virgo_raise(v, 0);
	return MIMIC_DONE;
}

static const struct mimic_register control_rows[] = {
#define _(at, name, access, reset, role, format, meaning) \
	[(at) / 8] = { MIMIC_REGISTER_ROW(control, at, name, access, reset, role, format, meaning) },
	VIRGO_CONTROL_REGISTERS(_)
#undef _
#define AT(name) (VIRGO_COUNTER_OFFSET + 8 * VIRGO_COUNTER_##name)
#define _(name, meaning) \
	[AT(name) / 8] = { \
		MIMIC_REGISTER_ROW(control, AT(name), name, R, 0, NONE, DECIMAL, meaning), \
		.shown = MIMIC_SHOWN_ELSEWHERE, \
	},
	VIRGO_COUNTERS(_)
#undef _
};

const struct mimic_register_block virgo_control_block = {
	.name = "cluster",
	.access = MIMIC_REGISTER_RW,
	.page = VIRGO_PAGE_CONTROL,
	.pages = 1,
	.units = 1,
	.size = MIMIC_PAGE_SIZE,
	.shift = 3,
	.rows = control_rows,
	.count = sizeof(control_rows) / sizeof(control_rows[0]),
};

static enum mimic_outcome illegal(struct virgo *v, struct mimic_access *access)
{
	v->cluster.illegal++;
	if (!access->is_write)
		access->data = 0;
	return MIMIC_DONE;
}

enum mimic_outcome virgo_cluster_access(struct virgo *v, struct mimic_access *access)
{
	const struct mimic_register *row;
	struct mimic_register_place place;
	uint64_t value;

	if (!register_access_is_legal(access))
		return illegal(v, access);
	row = mimic_register_at(&virgo_control_block, 0, access->offset & ~7u, &place);
	if (!row)
		row = mimic_register_at(&virgo_barrier_block, 0, access->offset & ~7u, &place);
	if (!row || !(row->access & (access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R)))
		return illegal(v, access);
	if (access->is_write) {
		access->data = low_bytes(access->data, access->size);
		return row->store(&v->model, place, access);
	}
	if (row->load)
		return row->load(&v->model, place, access);
	row->peek(&v->model, place, v->cluster.now, &value);
	access->data = register_half(value, access);
	return MIMIC_DONE;
}
