/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the registers of a DARE show: all that can be loaded, from their lists (docs/state.md). */
#include "devices/dare/dare_internal.h"
#include "devices/dare/dare_state.h"

struct listed {
	uint32_t offset;
	const char *name;
	const char *access;
	const char *meaning;
};

static const struct listed context_registers[] = {
#define _(offset, name, access, reset, meaning) { offset, #name, #access, meaning },
	DARE_CONTEXT_REGISTERS(_)
#undef _
};

static const struct listed control_registers[] = {
#define _(offset, name, access, reset, meaning) { offset, #name, #access, meaning },
	DARE_CONTROL_REGISTERS(_)
#undef _
};

static bool can_be_loaded(const struct listed *listed)
{
	return listed->access[0] == 'R';
}

static uint64_t fault_status(const struct dare *d)
{
	const struct dare_context *oldest = NULL;

	for (unsigned int i = 0; i < d->config.contexts; i++) {
		const struct dare_context *c = &d->context[i];

		if (c->stalled && (!oldest || c->stall_order < oldest->stall_order))
			oldest = c;
	}
	if (!oldest)
		return 0;
	return oldest->stall_page << 12 | DARE_FAULT_STALLED |
	       (oldest->stall_writes ? DARE_FAULT_WRITES : 0) | context_number(d, oldest);
}

static void control_register(const struct dare *d, const struct listed *listed,
			     const struct mimic_state_visitor *visitor)
{
	switch (listed->offset) {
	case DARE_CONTROL_IDENTIFY:
		mimic_state_hex(visitor, listed->name,
				DARE_MAGIC << 32 | (uint64_t)DARE_VERSION << 24 |
				d->config.queue_entries << 16 | d->config.tlb_entries << 8 | d->config.contexts,
				listed->meaning);
		break;
	case DARE_CONTROL_FAULT_STATUS:
		mimic_state_hex(visitor, listed->name, fault_status(d), listed->meaning);
		break;
	case DARE_CONTROL_FAULT_COUNT:
		mimic_state_decimal(visitor, listed->name, d->state.fault_count, listed->meaning);
		break;
	default:
		break;
	}
}

void mpu_state_control_registers(const struct dare *d, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "registers");
	for (size_t i = 0; i < sizeof(control_registers) / sizeof(control_registers[0]); i++) {
		if (can_be_loaded(&control_registers[i]))
			control_register(d, &control_registers[i], visitor);
	}
	mimic_state_leave(visitor, "registers");
}

static void fence(const struct dare *d, const struct dare_context *c, const struct listed *listed,
		  const struct mimic_state_visitor *visitor)
{
	if (c->queue_level)
		mimic_state_text(visitor, listed->name, MIMIC_STATE_WAITS, listed->meaning);
	else
		mimic_state_hex(visitor, listed->name, mpu_context_status(d, c), listed->meaning);
}

static void context_register(const struct dare *d, const struct dare_context *c,
			     const struct listed *listed, const struct mimic_state_visitor *visitor)
{
	switch (listed->offset) {
#define _(NAME, format, value) \
	case DARE_##NAME: \
		mimic_state_##format(visitor, listed->name, value, listed->meaning); \
		break;
	_(RS1, hex, c->rs1)
	_(RS2, hex, c->rs2)
	_(STATUS, hex, mpu_context_status(d, c))
	_(MATRIX_M, decimal, c->csr[DARE_CSR_MATRIX_M])
	_(MATRIX_K, decimal, c->csr[DARE_CSR_MATRIX_K])
	_(MATRIX_N, decimal, c->csr[DARE_CSR_MATRIX_N])
	_(DISPATCHED, decimal, c->dispatched)
	_(COMPLETED, decimal, c->completed)
	_(ERROR, decimal, c->error)
	_(ERROR_INSTRUCTION, hex, c->error_instruction)
	_(ERROR_POSITION, decimal, c->error_position)
	_(ERROR_ADDRESS, hex, c->error_address)
	_(ERROR_ROW, decimal, c->error_row)
	_(IDENTIFY, hex, DARE_MAGIC << 32 | (uint64_t)DARE_VERSION << 24 | context_number(d, c))
#undef _
	case DARE_FENCE:
		fence(d, c, listed, visitor);
		break;
	default:
		break;
	}
}

void mpu_state_context_registers(const struct dare *d, const struct dare_context *c,
				 const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "registers");
	for (size_t i = 0; i < sizeof(context_registers) / sizeof(context_registers[0]); i++) {
		if (can_be_loaded(&context_registers[i]))
			context_register(d, c, &context_registers[i], visitor);
	}
	mimic_state_leave(visitor, "registers");
}
