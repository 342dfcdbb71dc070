/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state tree of a DARE and of each of its contexts (docs/state.md). */
#include "devices/dare/dare_internal.h"
#include "devices/dare/dare_state.h"

static const char *const counter_meanings[DARE_COUNTER_COUNT] = {
#define _(name, meaning) meaning,
	DARE_COUNTERS(_)
#undef _
};

static const char *const counter_names[DARE_COUNTER_COUNT] = {
#define _(name, meaning) #name,
	DARE_COUNTERS(_)
#undef _
};

static void counters_folder(const uint64_t *values, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "counters");
	for (unsigned int i = 0; i < DARE_COUNTER_COUNT; i++)
		mimic_state_decimal(visitor, counter_names[i], values[i], counter_meanings[i]);
	mimic_state_leave(visitor, "counters");
}

static void config_folder(const struct dare_config *config, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "config");
	mimic_state_decimal(visitor, "contexts", config->contexts, "programs that can have a context at once");
	mimic_state_decimal(visitor, "queue_entries", config->queue_entries,
			    "instructions in the queue of a context");
	mimic_state_decimal(visitor, "tlb_entries", config->tlb_entries,
			    "translations that the TLB of a context holds");
	mimic_state_leave(visitor, "config");
}

/* --- a context ----------------------------------------------------------------------- */

static void dependence(const char *name, uint8_t registers, const char *meaning,
		       const struct mimic_state_visitor *visitor)
{
	if (registers)
		mimic_state_hex(visitor, name, registers, meaning);
}

static void queue_entry(const struct queue_entry *entry, unsigned int number,
			const struct mimic_state_visitor *visitor)
{
	bool is_known = entry->operation < DARE_OPERATION_COUNT;

	mimic_state_enter_number(visitor, number);
	mimic_state_text(visitor, "instruction",
			 is_known ? dare_instructions[entry->operation].name : "illegal",
			 is_known ? dare_instructions[entry->operation].meaning : "no instruction of DARE");
	mimic_state_hex(visitor, "word", entry->word, "instruction word");
	mimic_state_hex(visitor, "rs1", entry->rs1, "first source value");
	mimic_state_hex(visitor, "rs2", entry->rs2, "second source value");
	mimic_state_decimal(visitor, "position", entry->position,
			    "its number, from 0, among those dispatched since the last reset");
	mimic_state_boolean(visitor, "started", entry->started, "some of its rows have been moved");
	dependence("raw", entry->raw, "matrix registers, by bit, that an older instruction has still to write",
		   visitor);
	dependence("war", entry->war, "those that an older instruction has still to read", visitor);
	dependence("waw", entry->waw, "those that both write", visitor);
	mimic_state_leave_number(visitor, number);
}

static void queue_folder(const struct dare *d, const struct dare_context *c,
			 const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "queue");
	mimic_state_decimal(visitor, "size", d->config.queue_entries, "instructions that it holds");
	mimic_state_decimal(visitor, "level", c->queue_level,
			    "instructions in it; a folder for each, from the oldest on");
	for (unsigned int i = 0; i < c->queue_level; i++)
		queue_entry(&c->queue[(c->queue_first + i) % d->config.queue_entries], i, visitor);
	mimic_state_decimal(visitor, "stores_waiting", c->parked_stores, "stores that wait for room in it");
	mimic_state_decimal(visitor, "fences_waiting", c->parked_fences, "loads of FENCE that wait");
	mimic_state_leave(visitor, "queue");
}

static void stream_folder(const struct dare_context *c, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "stream");
	mimic_state_decimal(visitor, "missing", c->stream_missing, "values that its instruction still lacks");
	if (c->stream_missing) {
		mimic_state_hex(visitor, "word", c->stream_word, "the instruction word that was stored");
		mimic_state_decimal(visitor, "owner", c->stream_owner, "thread that stored it");
	}
	if (c->stream_missing == 1)
		mimic_state_hex(visitor, "rs1", c->stream_rs1, "the first of its values");
	mimic_state_leave(visitor, "stream");
}

static void error_folder(const struct dare_context *c, const struct mimic_state_visitor *visitor)
{
	static const struct {
		const char *name;
		const char *meaning;
	} errors[] = {
#define _(number, name, meaning) [number] = { #name, meaning },
		DARE_ERRORS(_)
#undef _
	};

	mimic_state_enter(visitor, "error");
	mimic_state_text(visitor, "name", errors[c->error].name, errors[c->error].meaning);
	if (c->error) {
		mimic_state_hex(visitor, "word", c->error_instruction, "the instruction that failed");
		mimic_state_decimal(visitor, "position", c->error_position, "its number since the last reset");
		mimic_state_hex(visitor, "address", c->error_address, "value of the register ERROR_ADDRESS");
		mimic_state_decimal(visitor, "row", c->error_row, "row of the tile");
	}
	mimic_state_leave(visitor, "error");
}

static void fault_folder(const struct dare_context *c, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "faults");
	mimic_state_boolean(visitor, "stalled", c->stalled, "waits until a driver resolves its fault");
	if (c->stalled) {
		mimic_state_hex(visitor, "page", c->stall_page << 12, "address of the missing page");
		mimic_state_boolean(visitor, "writes", c->stall_writes, "the access writes");
	}
	mimic_state_leave(visitor, "faults");
}

static void matrix_folder(const struct dare *d, struct dare_context *c,
			  const struct mimic_state_visitor *visitor)
{
	static const char *const names[DARE_REGISTERS] = { "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7" };

	mimic_state_enter(visitor, "matrix");
	for (unsigned int i = 0; i < DARE_REGISTERS; i++)
		mimic_state_bytes(visitor, names[i], matrix_of(d, c, i), DARE_REGISTER_BYTES,
				  "matrix register: 16 rows of 64 bytes");
	mimic_state_leave(visitor, "matrix");
}

static void context_folder(const struct dare *d, unsigned int number, uint64_t now,
			   const struct mimic_state_visitor *visitor)
{
	struct dare_context *c = &d->context[number];

	mimic_state_enter_number(visitor, number);
	mimic_state_decimal(visitor, "address_space", c->address_space, "whose it is; 0: nobody's");
	mimic_state_registers(visitor, &dare_context_block, &d->model, number, now);
	matrix_folder(d, c, visitor);
	queue_folder(d, c, visitor);
	stream_folder(c, visitor);
	error_folder(c, visitor);
	fault_folder(c, visitor);
	counters_folder(c->counters, visitor);
	mimic_state_tlb(visitor, &c->tlb);
	mimic_state_leave_number(visitor, number);
}

void dare_state(const struct mimic_model *model, uint64_t now, const struct mimic_state_visitor *visitor)
{
	const struct dare *d = (const struct dare *)model;
	uint64_t counters[DARE_COUNTER_COUNT];

	config_folder(&d->config, visitor);
	mimic_state_registers(visitor, &dare_control_block, model, 0, now);
	dare_mpu_counters_read(model, counters, DARE_COUNTER_COUNT);
	counters_folder(counters, visitor);
	mimic_state_enter(visitor, "contexts");
	for (unsigned int i = 0; i < d->config.contexts; i++)
		context_folder(d, i, now, visitor);
	mimic_state_leave(visitor, "contexts");
}
