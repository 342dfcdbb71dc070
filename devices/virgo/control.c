/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Page 0: identity, page faults, events. */
#include "devices/virgo/virgo_internal.h"

void cluster_drop_translations(struct virgo *v)
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

static bool is_counter(uint32_t offset)
{
	return offset >= VIRGO_COUNTER_OFFSET &&
	       offset < VIRGO_COUNTER_OFFSET + 8 * VIRGO_COUNTER_COUNT;
}

static bool load(const struct virgo *v, uint32_t offset, uint64_t *value)
{
	uint64_t counters[VIRGO_COUNTER_COUNT];

	if (is_counter(offset)) {
		virgo_counters_read(&v->model, counters, VIRGO_COUNTER_COUNT);
		*value = counters[(offset - VIRGO_COUNTER_OFFSET) / 8];
		return true;
	}
	switch (offset) {
#define _(name, expression) case VIRGO_CONTROL_##name: *value = (expression); return true;
	_(IDENTIFY, identify(v))
	_(SHARED_SIZE, shared_size(v))
	_(FAULT_STATUS, fault_status(v))
	_(FAULT_COUNT, v->cluster.fault_count)
	_(EVENT_STATUS, v->cluster.events)
	_(EVENT_ENABLE, v->cluster.events_enabled)
#undef _
	default:
		return false;
	}
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
	job_resolve(v, &v->unit[number], value & VIRGO_RESOLVE_PRESENT);
	unit_settle(v, &v->unit[number]);
	return true;
}

static bool store(struct virgo *v, uint32_t offset, uint64_t value)
{
	switch (offset) {
	case VIRGO_CONTROL_RESOLVE:
		return resolve(v, value);
	case VIRGO_CONTROL_FLUSH:
		cluster_drop_translations(v);
		return true;
	case VIRGO_CONTROL_EVENT_STATUS:
		v->cluster.events &= ~(uint32_t)value;
		return true;
	case VIRGO_CONTROL_EVENT_ENABLE:
		v->cluster.events_enabled = (uint32_t)value;
		/* What has happened already counts: else a program could sleep through it. */
		virgo_raise(v, 0);
		return true;
	default:
		return false;
	}
}

enum mimic_outcome cluster_access(struct virgo *v, struct mimic_access *access)
{
	uint64_t value;

	if (barrier_is_register(access->offset))
		return barrier_access(v, access);
	if (!access->is_write)
		access->data = 0;
	if (!register_access_is_legal(access)) {
		v->cluster.illegal++;
		return MIMIC_DONE;
	}
	if (access->is_write) {
		v->cluster.illegal += !store(v, access->offset, low_bytes(access->data, access->size));
		return MIMIC_DONE;
	}
	if (load(v, access->offset & ~7u, &value))
		access->data = register_half(value, access);
	else
		v->cluster.illegal++;
	return MIMIC_DONE;
}
