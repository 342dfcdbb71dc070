/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the registers of a cluster show: all that can be loaded, from their lists (docs/state.md). */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

struct listed {
	uint32_t offset;
	const char *name;
	const char *access;
	const char *meaning;
};

static const struct listed unit_registers[] = {
#define _(offset, name, access, reset, meaning) { offset, #name, #access, meaning },
	VIRGO_UNIT_REGISTERS(_)
#undef _
};

static const struct listed control_registers[] = {
#define _(offset, name, access, reset, meaning) { offset, #name, #access, meaning },
	VIRGO_CONTROL_REGISTERS(_)
#undef _
};

static bool can_be_loaded(const struct listed *listed)
{
	return listed->access[0] == 'R';
}

/* One case of a switch over the offsets of the list. */
#define SHOW(OFFSET, format, value) \
	case OFFSET: \
		mimic_state_##format(visitor, listed->name, value, listed->meaning); \
		break;

/* --- page 0 -------------------------------------------------------------------------- */

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

static uint64_t cluster_identity(const struct virgo *v)
{
	return (uint64_t)VIRGO_MAGIC << 32 | (uint64_t)VIRGO_VERSION << 24 | VIRGO_BARRIERS << 16 |
	       v->config.cores << 8 | v->config.units;
}

static void control_register(const struct virgo *v, const struct listed *listed,
			     const struct mimic_state_visitor *visitor)
{
	const struct cluster *c = &v->cluster;

	switch (listed->offset) {
	SHOW(VIRGO_CONTROL_IDENTIFY, hex, cluster_identity(v))
	SHOW(VIRGO_CONTROL_SHARED_SIZE, decimal, (uint64_t)v->config.shared_kb << 10)
	SHOW(VIRGO_CONTROL_FAULT_STATUS, hex, fault_status(v))
	SHOW(VIRGO_CONTROL_FAULT_COUNT, decimal, c->fault_count)
	SHOW(VIRGO_CONTROL_EVENT_STATUS, hex, c->events)
	SHOW(VIRGO_CONTROL_EVENT_ENABLE, hex, c->events_enabled)
	default:
		break;
	}
}

void cluster_state_registers(const struct virgo *v, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "registers");
	for (size_t i = 0; i < sizeof(control_registers) / sizeof(control_registers[0]); i++) {
		if (can_be_loaded(&control_registers[i]))
			control_register(v, &control_registers[i], visitor);
	}
	mimic_state_leave(visitor, "registers");
}

/* --- a unit's block -------------------------------------------------------------------- */

static uint64_t unit_identity(const struct unit *u)
{
	return u->dim | u->type.kind << 8 | u->number << 16 | (uint64_t)u->config->accumulator_kb << 32;
}

/* A load that cannot be put on the list of those who wait is answered at once. */
static void waiting_register(const struct virgo *v, const struct listed *listed, bool is_over,
			     uint64_t value, const struct mimic_state_visitor *visitor)
{
	if (!is_over && v->cluster.parked_at_units < PARKED_AT_UNITS_MAX)
		mimic_state_text(visitor, listed->name, MIMIC_STATE_WAITS, listed->meaning);
	else
		mimic_state_hex(visitor, listed->name, value, listed->meaning);
}

static void unit_register(const struct virgo *v, const struct unit *u, const struct listed *listed,
			  const struct mimic_state_visitor *visitor)
{
	const struct front *f = &u->front;

	switch (listed->offset) {
	SHOW(VIRGO_BUSY, decimal, unit_is_busy(u))
	SHOW(VIRGO_LOOPS, decimal, f->loops)
	SHOW(VIRGO_STATUS, hex, unit_status(v, u))
	SHOW(VIRGO_CISC_GENERATION, decimal, f->cisc_generation)
	SHOW(VIRGO_CISC_TILE, hex, f->cisc_tile)
	SHOW(VIRGO_ERROR, decimal, f->error)
	SHOW(VIRGO_ERROR_INSTRUCTION, hex, f->error_instruction)
	SHOW(VIRGO_ERROR_POSITION, decimal, f->error_position)
	SHOW(VIRGO_ERROR_ADDRESS, hex, f->error_address)
	SHOW(VIRGO_ERROR_RS1, hex, f->error_rs1)
	SHOW(VIRGO_ERROR_RS2, hex, f->error_rs2)
	SHOW(VIRGO_DISPATCHED, decimal, f->dispatched)
	SHOW(VIRGO_COMPLETED, decimal, f->completed)
	SHOW(VIRGO_IDENTIFY, hex, unit_identity(u))
	SHOW(VIRGO_COUNTER_RESULT, decimal, f->counter_result)
	SHOW(VIRGO_COUNTER_SELECT, decimal, f->counter_select)
	SHOW(VIRGO_COUNTER_VALUE, decimal, unit_counter(u, f->counter_select))
	case VIRGO_FENCE:
		waiting_register(v, listed, !f->reset_pending && f->completed >= f->dispatched,
				 unit_status(v, u), visitor);
		break;
	case VIRGO_WAIT_LOOPS_0:
	case VIRGO_WAIT_LOOPS_1:
	case VIRGO_WAIT_LOOPS_2:
	case VIRGO_WAIT_LOOPS_3:
		waiting_register(v, listed,
				 !f->reset_pending && f->loops <= (listed->offset - VIRGO_WAIT_LOOPS_0) / 8,
				 f->loops, visitor);
		break;
	default:
		break;
	}
}

void unit_state_registers(const struct virgo *v, const struct unit *u,
			  const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "registers");
	for (size_t i = 0; i < sizeof(unit_registers) / sizeof(unit_registers[0]); i++) {
		if (can_be_loaded(&unit_registers[i]))
			unit_register(v, u, &unit_registers[i], visitor);
	}
	mimic_state_leave(visitor, "registers");
}
