/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The instruction queue (paper, IV-B). Instructions enter in the order of their
 * dispatch and the head executes. In functional mode an instruction executes as
 * soon as it is the head, so the queue fills only while the head waits for a page.
 */
#include "devices/dare/dare_internal.h"

static struct queue_entry *entry_at(const struct dare *d, struct dare_context *c, unsigned int n)
{
	unsigned int i = c->queue_first + n;

	return &c->queue[i < d->config.queue_entries ? i : i - d->config.queue_entries];
}

bool dare_mpu_queue_is_full(const struct dare *d, const struct dare_context *c)
{
	return c->queue_level >= d->config.queue_entries;
}

static void find_dependencies(struct dare *d, struct dare_context *c, struct queue_entry *entry)
{
	uint8_t read = 0, written = 0;

	for (unsigned int i = 0; i < c->queue_level; i++) {
		read |= entry_at(d, c, i)->reads;
		written |= entry_at(d, c, i)->writes;
	}
	entry->raw = entry->reads & written;
	entry->war = entry->writes & read;
	entry->waw = entry->writes & written;
	count(c, DARE_COUNTER_raw_waits, entry->raw != 0);
	count(c, DARE_COUNTER_war_waits, entry->war != 0);
	count(c, DARE_COUNTER_waw_waits, entry->waw != 0);
}

/* An instruction that is already decoded. */
static inline enum step put(struct dare *d, struct dare_context *c, const struct decoded *decoded,
			    uint64_t rs1, uint64_t rs2)
{
	struct queue_entry *entry;

	if (!c->error && dare_mpu_queue_is_full(d, c))
		return STEP_WAIT;
	MIMIC_TRACE(&d->model.trace, instruction_queued, 0ull, context_number(d, c), rs1, 0u, decoded->word,
		    c->dispatched);
	if (c->error) {
		count(c, DARE_COUNTER_dropped, 1);
		trace_dropped(d, c, 1);
		return STEP_DONE;
	}
	entry = entry_at(d, c, c->queue_level);
	*entry = (struct queue_entry){
		.position = c->dispatched++, .rs1 = rs1, .rs2 = rs2, .word = decoded->word,
		.operation = decoded->operation, .md = decoded->md, .ms1 = decoded->ms1,
		.ms2 = decoded->ms2, .reads = decoded->reads, .writes = decoded->writes,
	};
	if (c->queue_level)
		find_dependencies(d, c, entry);
	c->queue_level++;
	return STEP_DONE;
}

enum step dare_mpu_queue_put(struct dare *d, struct dare_context *c, uint32_t word, uint64_t rs1,
			     uint64_t rs2)
{
	return put(d, c, dare_mpu_decode(d, word), rs1, rs2);
}

enum step dare_mpu_queue_put_stream(struct dare *d, struct dare_context *c, uint64_t owner, uint64_t value)
{
	enum step step;

	if (c->stream_missing == 2) {
		c->stream_rs1 = value;
		c->stream_missing = 1;
		return STEP_DONE;
	}
	if (c->stream_missing) {
		step = dare_mpu_queue_put(d, c, c->stream_word, c->stream_rs1, value);
		if (step == STEP_DONE)
			c->stream_missing = 0;
		return step;
	}
	c->stream_missing = dare_mpu_decode(d, (uint32_t)value)->operands;
	if (!c->stream_missing)
		return dare_mpu_queue_put(d, c, (uint32_t)value, 0, 0);
	c->stream_word = (uint32_t)value;
	c->stream_owner = owner;
	return STEP_DONE;
}

const uint8_t dare_mpu_counter_of_format[] = {
	[DARE_FORMAT_CONFIGURE] = DARE_COUNTER_mcfg,
	[DARE_FORMAT_LOAD] = DARE_COUNTER_mld,
	[DARE_FORMAT_STORE] = DARE_COUNTER_mst,
	[DARE_FORMAT_MULTIPLY] = DARE_COUNTER_mma,
	[DARE_FORMAT_GATHER] = DARE_COUNTER_mgather,
	[DARE_FORMAT_SCATTER] = DARE_COUNTER_mscatter,
};

static void complete(struct dare *d, struct dare_context *c, const struct queue_entry *entry)
{
	c->completed++;
	c->counters[DARE_COUNTER_instructions]++;
	c->counters[dare_mpu_counter_of_format[dare_instructions[entry->operation].format]]++;
	c->queue_first = c->queue_first + 1 < d->config.queue_entries ? c->queue_first + 1 : 0;
	c->queue_level--;
}

static void trace_executed(struct dare *d, struct dare_context *c, uint64_t begin,
			   const struct queue_entry *entry, enum result result)
{
	enum mimic_trace_outcome outcome = result == RESULT_COMPLETE ? MIMIC_TRACE_OUTCOME_DONE :
					   result == RESULT_STALLED ? MIMIC_TRACE_OUTCOME_FAULT :
								      MIMIC_TRACE_OUTCOME_ERROR;

	MIMIC_TRACE_FROM(&d->model.trace, begin, instruction, 0ull, context_number(d, c), entry->rs1,
			 outcome, entry->word, entry->position);
}

static enum result execute(struct dare *d, struct dare_context *c, struct queue_entry *entry)
{
	struct dare_dispatched instruction;
	enum result result;

	if (!d->watch)
		return dare_mpu_execute(d, c, entry);
	dare_mpu_watch_take(d, c, entry, &instruction);
	result = dare_mpu_execute(d, c, entry);
	if (result == RESULT_COMPLETE)
		d->watch->executed(d->watch->context, &instruction);
	return result;
}

/* The head, once. */
static inline void execute_head(struct dare *d, struct dare_context *c)
{
	struct queue_entry *entry = entry_at(d, c, 0);
	uint64_t begin = mimic_trace_now(&d->model.trace);
	unsigned int level = c->queue_level;
	enum result result = execute(d, c, entry);

	trace_executed(d, c, begin, entry, result);
	if (result == RESULT_COMPLETE)
		complete(d, c, entry);
	else if (result == RESULT_FAILED)
		trace_dropped(d, c, level - 1);
}

void dare_mpu_queue_advance(struct dare *d, struct dare_context *c, unsigned int *budget)
{
	for (; c->queue_level && !c->stalled && *budget; --*budget)
		execute_head(d, c);
}

/* The values of one instruction, or one value; 0: it has to wait. */
static inline size_t put_values(struct dare *d, struct dare_context *c, uint64_t owner,
				const uint64_t *values, size_t n)
{
	const struct decoded *decoded;

	if (c->stream_missing || dare_mpu_queue_is_full(d, c))
		return dare_mpu_queue_put_stream(d, c, owner, values[0]) == STEP_DONE;
	decoded = dare_mpu_decode(d, (uint32_t)values[0]);
	if (!decoded->operands)
		return put(d, c, decoded, 0, 0) == STEP_DONE;
	if (decoded->operands != 2 || n < 3)
		return dare_mpu_queue_put_stream(d, c, owner, values[0]) == STEP_DONE;
	/* As its values would leave them, one by one. */
	c->stream_word = (uint32_t)values[0];
	c->stream_owner = owner;
	c->stream_rs1 = values[1];
	put(d, c, decoded, values[1], values[2]);
	return 3;
}

size_t dare_mpu_queue_stream(struct dare *d, struct dare_context *c, uint64_t owner, const uint64_t *values,
			     size_t n, bool is_one)
{
	size_t done = 0, taken;

	while (done < n && !d->unfinished && !c->parked_stores) {
		taken = is_one ? 0 : dare_mpu_direct(d, c, values + done, n - done);
		done += taken;
		if (done == n)
			break;
		taken = put_values(d, c, owner, values + done, n - done);
		if (!taken)
			break;
		done += taken;
		if (c->queue_level && !c->stalled)
			execute_head(d, c);
		if (is_one && !c->stream_missing)
			break;
	}
	return done;
}

void dare_mpu_queue_fail(struct dare_context *c, enum dare_error error, uint64_t address, unsigned int row)
{
	const struct queue_entry *head = &c->queue[c->queue_first];

	c->error = error;
	c->error_instruction = head->word;
	c->error_position = head->position;
	c->error_address = address;
	c->error_row = row;
	count(c, DARE_COUNTER_errors, 1);
	/* As if they had been dispatched after the error: positions do not depend on how full the queue was. */
	count(c, DARE_COUNTER_dropped, c->queue_level - 1);
	c->dispatched = head->position + 1;
	c->queue_level = 0;
	c->request_count = 0;
	c->request_next = 0;
}

void dare_mpu_queue_clear_error(struct dare_context *c)
{
	c->error = DARE_ERROR_NONE;
	c->error_instruction = 0;
	c->error_position = 0;
	c->error_address = 0;
	c->error_row = 0;
}
