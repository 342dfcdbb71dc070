/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state tree of a matrix unit (docs/state.md). While its job is outstanding, the job has
 * everything but struct front: the rest is not shown then.
 */
#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

/* --- commands ------------------------------------------------------------------------ */

static const char *name_of(unsigned int funct)
{
	switch (funct) {
#define _(number, NAME, text, counter, meaning) case number: return text;
	VIRGO_COMMANDS(_)
#undef _
	case FUNCT_PLACEHOLDER:
		return "cisc_2";
	default:
		return "illegal";
	}
}

static void command_folder(const struct command *command, unsigned int number,
			   const struct mimic_state_visitor *visitor)
{
	mimic_state_enter_number(visitor, number);
	mimic_state_text(visitor, "command", name_of(command->funct), "name of its funct");
	mimic_state_hex(visitor, "word", command->word, "instruction word");
	mimic_state_hex(visitor, "rs1", command->rs1, "first source value");
	mimic_state_hex(visitor, "rs2", command->rs2, "second source value");
	mimic_state_decimal(visitor, "position", command->position,
			    "its number, from 0, among the commands since the last reset");
	mimic_state_leave_number(visitor, number);
}

static void queue_folder(const struct virgo *v, const struct unit *u,
			 const struct mimic_state_visitor *visitor)
{
	const struct command_queue *queue = &u->front.queue;

	mimic_state_enter(visitor, "queue");
	mimic_state_decimal(visitor, "size", v->config.queue_entries, "commands that it holds");
	mimic_state_decimal(visitor, "level", virgo_queue_unfinished(u),
			    "commands in it and at work");
	mimic_state_decimal(visitor, "waiting", queue->level,
			    "of these, the ones not at work; a folder for each, from the oldest on");
	for (uint32_t i = 0; i < queue->level; i++)
		command_folder(&queue->entry[(queue->first + i) % VIRGO_MAX_QUEUE], i, visitor);
	mimic_state_decimal(visitor, "stores_waiting", u->front.parked_stores,
			    "stores that wait for room in it");
	mimic_state_leave(visitor, "queue");
}

static void work_folder(const struct unit *u, const struct mimic_state_visitor *visitor)
{
	static const char *const states[] = {
		[JOB_NONE] = "idle",
		[JOB_READY] = "ready",
		[JOB_OUTSTANDING] = "at work",
		[JOB_STALLED] = "stalled",
	};
	const struct front *f = &u->front;
	const struct execution *x = &u->job.x;

	mimic_state_enter(visitor, "work");
	mimic_state_text(visitor, "state", states[f->job_state], "of the commands taken from the queue");
	mimic_state_decimal(visitor, "commands", f->taken, "how many these are");
	mimic_state_decimal(visitor, "cisc", f->cisc_unfinished, "words of the CISC port that are not over");
	for (uint32_t i = 0; f->job_state != JOB_OUTSTANDING && i < f->taken; i++)
		command_folder(&x->batch[x->next + i], i, visitor);
	mimic_state_leave(visitor, "work");
}

static void next_folder(const struct front *f, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "next");
	mimic_state_hex(visitor, "rs1", f->rs1, "RS1, of the next INSTRUCTION");
	mimic_state_hex(visitor, "rs2", f->rs2, "RS2, of the next INSTRUCTION");
	mimic_state_decimal(visitor, "stream_values", f->stream_level,
			    "values of STREAM that wait for their instruction word");
	for (uint32_t i = 0; i < f->stream_level; i++)
		mimic_state_hex_at(visitor, i, f->stream[i], "value of STREAM");
	mimic_state_leave(visitor, "next");
}

/* --- configuration --------------------------------------------------------------------- */

#define FIELD(from, name, format, meaning) mimic_state_##format(visitor, #name, (from)->name, meaning)

static void load_folder(const struct load_configuration *load, unsigned int number,
			const struct mimic_state_visitor *visitor)
{
	mimic_state_enter_number(visitor, number);
	FIELD(load, stride, decimal, "bytes from row to row in memory");
	FIELD(load, block_stride, decimal, "rows from block to block");
	FIELD(load, scale, hex, "bits of an fp32");
	FIELD(load, pixels, decimal, "pixels of a row");
	FIELD(load, shrunk, boolean, "accumulator rows come as elements");
	mimic_state_leave_number(visitor, number);
}

static void array_configuration(const struct execute_configuration *e,
				const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "array");
	FIELD(e, dataflow, decimal, "0 output stationary, 1 weight stationary");
	FIELD(e, activation, decimal, "enum virgo_activation");
	FIELD(e, shift, decimal, "of values that leave the array");
	FIELD(e, scale, hex, "bits of an fp32: of operands in the accumulator");
	FIELD(e, a_stride, decimal, "rows of A from one to the next");
	FIELD(e, c_stride, decimal, "rows of C from one to the next");
	FIELD(e, a_transposed, boolean, "A is transposed");
	FIELD(e, b_transposed, boolean, "B is transposed");
	mimic_state_leave(visitor, "array");
}

static void store_configuration(const struct execution *x, const struct mimic_state_visitor *visitor)
{
	const struct store_configuration *store = &x->store;

	mimic_state_enter(visitor, "store");
	FIELD(store, stride, decimal, "bytes from row to row in memory");
	mimic_state_decimal(visitor, "activation", virgo_store_activation(x), "enum virgo_activation");
	FIELD(store, scale, hex, "bits of an fp32");
	FIELD(store, pool_stride, decimal, "0: no pooling");
	FIELD(store, pool_size, decimal, "rows and columns of a window");
	FIELD(store, pool_rows, decimal, "pooled rows");
	FIELD(store, pool_columns, decimal, "pooled columns");
	FIELD(store, pool_out_columns, decimal, "columns of the pooled image in memory");
	FIELD(store, rows, decimal, "rows before pooling");
	FIELD(store, columns, decimal, "columns before pooling");
	FIELD(store, pad_top, decimal, "padding of the windows");
	FIELD(store, pad_left, decimal, "padding of the windows");
	mimic_state_leave(visitor, "store");
}

static void norm_configuration(const struct normaliser *norm, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "normaliser");
	FIELD(norm, statistic, decimal, "which statistics are used");
	mimic_state_hex(visitor, "qb", norm->qb.bits, "constant of the polynomials, as bits");
	mimic_state_hex(visitor, "qc", norm->qc.bits, "constant of the polynomials, as bits");
	mimic_state_hex(visitor, "qln2", norm->qln2.bits, "ln 2, scaled, as bits");
	mimic_state_hex(visitor, "qln2_inverse", norm->qln2_inverse.bits, "its inverse, as bits");
	mimic_state_leave(visitor, "normaliser");
}

static void loop_configuration(const struct loop_ws *loop, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "loop_ws");
	FIELD(loop, a, hex, "address of A; 0: not moved");
	FIELD(loop, b, hex, "address of B");
	FIELD(loop, c, hex, "address of C");
	FIELD(loop, d, hex, "address of D");
	FIELD(loop, a_stride, decimal, "elements from row to row of A");
	FIELD(loop, b_stride, decimal, "elements from row to row of B");
	FIELD(loop, c_stride, decimal, "elements from row to row of C");
	FIELD(loop, d_stride, decimal, "elements from row to row of D");
	FIELD(loop, i, decimal, "blocks of rows");
	FIELD(loop, j, decimal, "blocks of columns");
	FIELD(loop, k, decimal, "blocks of depth");
	FIELD(loop, pad_i, decimal, "elements that the last block lacks");
	FIELD(loop, pad_j, decimal, "elements that the last block lacks");
	FIELD(loop, pad_k, decimal, "elements that the last block lacks");
	FIELD(loop, spad_a, decimal, "first row of A in the scratchpad");
	FIELD(loop, spad_b_end, decimal, "row after B in the scratchpad; 0: not given");
	FIELD(loop, spad_c, decimal, "first row of C in the scratchpad");
	FIELD(loop, accumulator_base, decimal, "first row in the accumulator");
	mimic_state_leave(visitor, "loop_ws");
}

static void configuration_folder(const struct execution *x, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "configuration");
	mimic_state_enter(visitor, "loads");
	for (unsigned int i = 0; i < LOADS; i++)
		load_folder(&x->load[i], i, visitor);
	mimic_state_leave(visitor, "loads");
	array_configuration(&x->execute, visitor);
	store_configuration(x, visitor);
	norm_configuration(&x->norm, visitor);
	loop_configuration(&x->loop_ws, visitor);
	mimic_state_leave(visitor, "configuration");
}

/* --- the rest ----------------------------------------------------------------------------- */

static void memory_values(const struct unit *u, const struct mimic_state_visitor *visitor)
{
	const struct array *array = &u->job.x.array;

	mimic_state_hex(visitor, "preload", array->preload, "operands of the last preload");
	mimic_state_bytes(visitor, "array", array->state, sizeof(array->state),
			  "32 rows of 32 int32 or fp32, of which DIM x DIM are used: weights, or sums");
	mimic_state_bytes(visitor, "accumulator", u->accumulator, (size_t)u->config->accumulator_kb << 10,
			  "rows of DIM int32 or fp32");
}

static void error_folder(const struct front *f, const struct mimic_state_visitor *visitor)
{
	static const struct {
		const char *name;
		const char *meaning;
	} errors[] = {
#define _(number, name, meaning) [number] = { #name, meaning },
		VIRGO_ERRORS(_)
#undef _
	};

	mimic_state_enter(visitor, "error");
	/* A restored image can hold any number. */
	if (f->error < sizeof(errors) / sizeof(errors[0]))
		mimic_state_text(visitor, "name", errors[f->error].name, errors[f->error].meaning);
	if (f->error) {
		mimic_state_hex(visitor, "word", f->error_instruction, "the instruction word that failed");
		mimic_state_decimal(visitor, "position", f->error_position, "its number since the last reset");
		mimic_state_hex(visitor, "address", f->error_address, "value of the register ERROR_ADDRESS");
	}
	mimic_state_leave(visitor, "error");
}

static void fault_folder(const struct front *f, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "faults");
	mimic_state_boolean(visitor, "stalled", f->job_state == JOB_STALLED,
			    "waits until a driver resolves its fault");
	if (f->job_state == JOB_STALLED) {
		mimic_state_hex(visitor, "page", f->stall_page, "address of the missing page");
		mimic_state_boolean(visitor, "writes", f->stall_writes, "the access writes");
	}
	mimic_state_leave(visitor, "faults");
}

static void counters_folder(const struct unit *u, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "counters");
#define _(name, meaning) \
	mimic_state_decimal(visitor, #name, virgo_unit_counter(u, VIRGO_COUNTER_##name), meaning);
	VIRGO_COUNTERS(_)
#undef _
	mimic_state_leave(visitor, "counters");
}

void virgo_unit_state(const struct virgo *v, const struct unit *u, uint64_t now,
		      const struct mimic_state_visitor *visitor)
{
	mimic_state_enter_number(visitor, u->number);
	mimic_state_registers(visitor, &virgo_unit_block, &v->model, u->number, now);
	counters_folder(u, visitor);
	queue_folder(v, u, visitor);
	work_folder(u, visitor);
	next_folder(&u->front, visitor);
	error_folder(&u->front, visitor);
	fault_folder(&u->front, visitor);
	if (u->front.job_state != JOB_OUTSTANDING) {
		configuration_folder(&u->job.x, visitor);
		memory_values(u, visitor);
	}
	mimic_state_leave_number(visitor, u->number);
}
