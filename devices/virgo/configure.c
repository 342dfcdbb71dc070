/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* CONFIG: the array, the loads, the store, the normaliser. COUNTER. */
#include "devices/virgo/virgo_internal.h"

#define KEEP_SCALE 0xffffffffu	/* as the scale of the store: leaves the one that is there */

static uint32_t field(uint64_t value, unsigned int low, unsigned int bits)
{
	return (uint32_t)(value >> low & ((1ull << bits) - 1));
}

static enum work configure_execute(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	struct execute_configuration *e = &job->x.execute;

	e->a_stride = field(rs1, 16, 16);
	e->c_stride = field(rs2, 48, 16);
	if (field(rs1, 7, 1))
		return WORK_DONE;	/* only the strides */
	e->dataflow = field(rs1, 2, 1);
	e->activation = field(rs1, 3, 2);
	e->a_transposed = field(rs1, 8, 1);
	e->b_transposed = field(rs1, 9, 1);
	e->scale = field(rs1, 32, 32);
	e->shift = (uint32_t)rs2;
	return WORK_DONE;
}

static enum work configure_load(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	uint32_t id = field(rs1, 3, 2), pixels = field(rs1, 8, 8);

	if (id >= LOADS)
		return fail(job, VIRGO_ERROR_VALUE, id);
	job->x.load[id] = (struct load_configuration){
		.stride = rs2,
		.block_stride = field(rs1, 16, 16),
		.scale = field(rs1, 32, 32),
		.pixels = pixels ? pixels : 1,
		.shrunk = field(rs1, 2, 1),
	};
	return WORK_DONE;
}

static enum work configure_store(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	struct store_configuration *s = &job->x.store;
	uint32_t scale = field(rs2, 32, 32);

	*s = (struct store_configuration){
		.stride = (uint32_t)rs2,
		.activation = field(rs1, 2, 2),
		.scale = scale == KEEP_SCALE ? s->scale : scale,
		.pool_stride = field(rs1, 4, 2),
		.pool_size = field(rs1, 6, 2),
		.pad_top = field(rs1, 8, 2),
		.pad_left = field(rs1, 10, 2),
		.pool_out_columns = field(rs1, 24, 8),
		.pool_rows = field(rs1, 32, 8),
		.pool_columns = field(rs1, 40, 8),
		.rows = field(rs1, 48, 8),
		.columns = field(rs1, 56, 8),
	};
	/* As the RTL's register: two bits are written to three. */
	job->x.norm.activation_high = 0;
	return WORK_DONE;
}

static enum work configure_norm(struct virgo_job *job, uint64_t rs1, uint64_t rs2)
{
	struct normaliser *norm = &job->x.norm;
	uint32_t statistic = field(rs1, 8, 8), constant = field(rs1, 32, 32);

	if (statistic >= NORM_STATISTICS)
		return fail(job, VIRGO_ERROR_VALUE, statistic);
	norm->statistic = statistic;
	if (field(rs1, 17, 1))
		return WORK_DONE;	/* only which statistics are used */
	norm->activation_high = field(rs1, 16, 1);
	if (field(rs1, 18, 1))
		norm->qln2_inverse.bits = constant;
	else
		norm->qln2.bits = constant;
	norm->qb.bits = (uint32_t)rs2;
	norm->qc.bits = field(rs2, 32, 32);
	return WORK_DONE;
}

enum work virgo_configure_command(struct virgo_job *job, const struct command *command)
{
	switch (command->rs1 & 3) {
	case VIRGO_CONFIG_EX:
		return configure_execute(job, command->rs1, command->rs2);
	case VIRGO_CONFIG_LD:
		return configure_load(job, command->rs1, command->rs2);
	case VIRGO_CONFIG_ST:
		return configure_store(job, command->rs1, command->rs2);
	default:
		return configure_norm(job, command->rs1, command->rs2);
	}
}

unsigned int virgo_store_activation(const struct execution *x)
{
	unsigned int activation = x->store.activation | x->norm.activation_high << 2;

	return activation < VIRGO_ACTIVATIONS ? activation : VIRGO_NO_ACTIVATION;
}

void virgo_configuration_reset(struct execution *x, unsigned int dim)
{
	for (unsigned int i = 0; i < LOADS; i++)
		x->load[i] = (struct load_configuration){
			.scale = SCALE_ONE, .pixels = 1, .block_stride = dim,
		};
	x->execute = (struct execute_configuration){
		.dataflow = VIRGO_WEIGHT_STATIONARY, .scale = SCALE_ONE, .a_stride = 1, .c_stride = 1,
	};
	x->store = (struct store_configuration){ .scale = SCALE_ONE };
}

/* --- COUNTER --------------------------------------------------------------------------- */

static uint64_t event_value(const struct execution *x, uint32_t event)
{
	if (!event || event > VIRGO_COUNTER_COUNT)
		return 0;
	return x->counters[event - 1] + x->front_counters[event - 1];
}

static uint64_t counter_now(const struct execution *x, unsigned int i)
{
	return event_value(x, x->performance.event[i]) - x->performance.base[i];
}

static void counter_restart(struct execution *x, unsigned int i)
{
	x->performance.base[i] = event_value(x, x->performance.event[i]);
}

enum work virgo_configure_counter(struct virgo_job *job, uint64_t rs1)
{
	struct performance_counters *p = &job->x.performance;
	unsigned int index = field(rs1, VIRGO_COUNTER_INDEX_SHIFT, 3);
	uint32_t event = field(rs1, VIRGO_COUNTER_EVENT_SHIFT, 6);

	if (rs1 & VIRGO_COUNTER_CONFIGURE) {
		if (event > VIRGO_COUNTER_COUNT)
			return fail(job, VIRGO_ERROR_VALUE, event);
		p->event[index] = event;
		counter_restart(&job->x, index);
	}
	for (unsigned int i = 0; i < VIRGO_PERFORMANCE_COUNTERS; i++) {
		if (rs1 & VIRGO_COUNTER_RESET)
			counter_restart(&job->x, i);
		if (rs1 & VIRGO_COUNTER_SNAPSHOT_TAKE)
			p->frozen[i] = counter_now(&job->x, i);
	}
	if (rs1 & VIRGO_COUNTER_SNAPSHOT_TAKE)
		p->is_frozen = 1;
	if (rs1 & VIRGO_COUNTER_SNAPSHOT_RESET)
		p->is_frozen = 0;
	p->result = p->is_frozen ? p->frozen[index] : counter_now(&job->x, index);
	return WORK_DONE;
}
