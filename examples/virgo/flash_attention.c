/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Attention of one head, O = softmax(Q K^T / sqrt(d)) V, by the algorithm of
 * FlashAttention on a Virgo cluster: scores never leave the shared memory. While the
 * matrix unit multiplies, S = Q K^T of the next tile of keys and P V of the one before,
 * the warps turn the scores S of this one into weights P, with running maxima and sums
 * of each row, and rescale O. K and V are double-buffered by DMA.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/common/attention_check.h"
#include "examples/common/attention_options.h"
#include "examples/common/attention_plan.h"
#include "examples/common/attention_report.h"
#include "examples/common/dense.h"
#include "examples/common/virgo_report.h"
#include "examples/common/virgo_team.h"

/* Shared by the warps. A row of O belongs to one warp. */
struct flash {
	struct attention_plan plan;
	enum attention_exp exp;
	float *o;
	/* Of each row of a tile of queries. */
	float *maximum, *weights;
	float *factor[2];	/* the factors that rescale O, of this tile of keys and of the one before */
};

/* --- the unit: one warp drives it ------------------------------------------------------------- */

/* S of a tile of keys, scaled as it leaves the accumulator. */
static int order_scores(const struct attention_plan *plan, size_t queries, size_t number)
{
	struct virgo_tile tile = attention_plan_scores(plan, queries, number);
	int error = virgo_matmul_tile(plan->virgo, plan->unit, VIRGO_TRANSPOSE_B, &tile);

	return error ? error : virgo_store_shared(plan->virgo, plan->unit, &tile, plan->s[number % 2],
						  VIRGO_NO_ACTIVATION, 1 / sqrtf((float)plan->attention->head));
}

static int order_values(const struct attention_plan *plan, size_t queries, size_t number)
{
	struct virgo_tile tile = attention_plan_values(plan, queries, number);
	int error = virgo_matmul_tile(plan->virgo, plan->unit, 0, &tile);

	return error ? error : virgo_store_shared(plan->virgo, plan->unit, &tile, plan->pv, VIRGO_NO_ACTIVATION, 1);
}

static int load_keys(const struct attention_plan *plan, size_t queries, size_t number)
{
	struct virgo_tile tile = attention_plan_scores(plan, queries, number);
	const struct attention *a = plan->attention;

	return virgo_dma_load(plan->virgo, plan->unit, VIRGO_TRANSPOSE_B, &tile, NULL, 0,
			      a->k + number * plan->keys * a->head, a->head);
}

static int load_values(const struct attention_plan *plan, size_t queries, size_t number)
{
	struct virgo_tile tile = attention_plan_values(plan, queries, number);
	const struct attention *a = plan->attention;

	return virgo_dma_load(plan->virgo, plan->unit, 0, &tile, NULL, 0, a->v + number * plan->keys * a->head,
			      a->head);
}

/* Loads Q and the first two tiles of keys, and computes the first scores. */
static int begin_queries(const struct attention_plan *plan, size_t queries)
{
	struct virgo_tile tile = attention_plan_scores(plan, queries, 0);
	const struct attention *a = plan->attention;
	int error = virgo_dma_load(plan->virgo, plan->unit, VIRGO_TRANSPOSE_B, &tile,
				   a->q + queries * plan->queries * a->head, a->head, a->k, a->head);

	if (!error)
		error = order_scores(plan, queries, 0);
	if (!error && plan->key_tiles > 1)
		error = load_keys(plan, queries, 1);
	if (!error)
		error = load_values(plan, queries, 0);
	return error ? error : virgo_fence(plan->virgo, plan->unit);
}

/*
 * The commands of the unit while the warps are at tile `number`. They are in this order,
 * so that scores may replace weights that were used, and load the operands; and
 * *values can be waited for alone.
 */
static int order_step(const struct attention_plan *plan, size_t queries, size_t number, uint64_t *values)
{
	size_t tiles = plan->key_tiles;
	int error = number > 0 ? order_values(plan, queries, number - 1) : 0;

	*values = virgo_ticket(plan->virgo, plan->unit);
	if (!error && number + 1 < tiles)
		error = order_scores(plan, queries, number + 1);
	if (!error && number + 2 < tiles)
		error = load_keys(plan, queries, number + 2);
	if (!error && number + 1 < tiles)
		error = load_values(plan, queries, number + 1);
	return error ? error : virgo_flush(plan->virgo, plan->unit);
}

/* --- the warps ---------------------------------------------------------------------------------- */

static float weight(enum attention_exp function, float x)
{
	return function == ATTENTION_EXACT ? expf(x) : 1 + x + x * x / 2;
}

/* Scores of a row, block by block, become weights in the same place. */
static void softmax_row(const struct flash *f, size_t number, size_t row)
{
	const struct attention_plan *plan = &f->plan;
	size_t keys = attention_plan_keys(plan, number);
	float old = f->maximum[row], maximum = old, sum = 0;

	for (size_t key = 0; key < keys; key += plan->dim) {
		const float *s = virgo_tile_element(plan->virgo, plan->unit, plan->s[number % 2], keys, row, key);

		for (size_t i = 0; i < plan->dim && key + i < keys; i++)
			maximum = fmaxf(maximum, s[i]);
	}
	for (size_t key = 0; key < keys; key += plan->dim) {
		float *s = virgo_tile_element(plan->virgo, plan->unit, plan->s[number % 2], keys, row, key);

		for (size_t i = 0; i < plan->dim && key + i < keys; i++) {
			s[i] = weight(f->exp, s[i] - maximum);
			sum += s[i];
		}
	}
	/* Of the first tile there is nothing to rescale, and no old maximum. */
	f->factor[number % 2][row] = number ? weight(f->exp, old - maximum) : 0;
	f->weights[row] = number ? f->weights[row] * f->factor[number % 2][row] + sum : sum;
	f->maximum[row] = maximum;
}

/* O of a row, to which the unit's P V of tile `number` is added. */
static void rescale_row(const struct flash *f, size_t number, size_t row)
{
	const struct attention_plan *plan = &f->plan;
	size_t head = plan->attention->head;

	for (size_t column = 0; column < head; column += plan->dim) {
		const float *pv = virgo_tile_element(plan->virgo, plan->unit, plan->pv, head, row, column);
		float *o = virgo_tile_element(plan->virgo, plan->unit, plan->o, head, row, column);

		for (size_t i = 0; i < plan->dim && column + i < head; i++)
			o[i] = number ? o[i] * f->factor[number % 2][row] + pv[i] : pv[i];
	}
}

/* A row of O is complete: it goes to memory. */
static void finish_row(const struct flash *f, size_t queries, size_t row)
{
	const struct attention_plan *plan = &f->plan;
	size_t head = plan->attention->head;
	float *to = f->o + (queries * plan->queries + row) * head;

	for (size_t column = 0; column < head; column += plan->dim) {
		const float *o = virgo_tile_element(plan->virgo, plan->unit, plan->o, head, row, column);

		for (size_t i = 0; i < plan->dim && column + i < head; i++)
			to[column + i] = o[i] / f->weights[row];
	}
}

/* --- together ------------------------------------------------------------------------------------- */

/*
 * Unit and warps at tile `number`; the last one, of no tile, has only P V of the one
 * before. The unit's share is complete when all have met for the second time.
 */
static int do_step(struct virgo_warp *warp, const struct flash *f, size_t queries, size_t number)
{
	const struct attention_plan *plan = &f->plan;
	size_t rows = attention_plan_queries(plan, queries);
	bool is_driver = warp->number == 0;
	uint64_t values = 0;
	int error = is_driver ? order_step(plan, queries, number, &values) : 0;

	for (size_t row = warp->number; row < rows && number < plan->key_tiles; row += warp->team->warps)
		softmax_row(f, number, row);
	if (is_driver && !error)
		error = virgo_wait(plan->virgo, plan->unit, values);
	error = virgo_warp_meet(warp, error);
	if (error)
		return error;
	for (size_t row = warp->number; row < rows && number > 0; row += warp->team->warps)
		rescale_row(f, number - 1, row);
	if (is_driver)
		error = virgo_fence(plan->virgo, plan->unit);
	return virgo_warp_meet(warp, error);
}

static int warp_flash(struct virgo_warp *warp, void *context)
{
	const struct flash *f = context;
	const struct attention_plan *plan = &f->plan;
	int error = 0;

	for (size_t queries = 0; queries < plan->query_tiles && !error; queries++) {
		size_t rows = attention_plan_queries(plan, queries);

		for (size_t row = warp->number; row < rows; row += warp->team->warps)
			f->maximum[row] = -INFINITY;
		error = virgo_warp_meet(warp, warp->number == 0 ? begin_queries(plan, queries) : 0);
		for (size_t number = 0; number <= plan->key_tiles && !error; number++)
			error = do_step(warp, f, queries, number);
		for (size_t row = warp->number; row < rows && !error; row += warp->team->warps)
			finish_row(f, queries, row);
	}
	return error;
}

/* --- around it -------------------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int run(struct attention_program *program, struct attention_run *run, struct message *message)
{
	struct virgo *virgo = program->plan.virgo;
	unsigned int unit = program->plan.unit;
	size_t rows = program->plan.queries, bytes = program->attention.sequence * program->attention.head * 4;
	float *state = malloc(4 * rows * sizeof(*state));
	struct flash flash = {
		.plan = program->plan, .exp = run->exp, .o = program->o,
		.maximum = state, .weights = state + rows, .factor = { state + 2 * rows, state + 3 * rows },
	};
	struct virgo_statistics before;
	double started;
	int error = state ? virgo_counters(virgo, unit, &before) : -ENOMEM;

	/* The result of an earlier run must not pass for this one's. */
	memset(program->o, 0xff, bytes);
	started = seconds();
	if (error)
		message_set(message, error, "%s", state ? virgo_error_text() : "out of memory");
	else
		error = virgo_team_run(virgo, program->options->threads, warp_flash, &flash, message);
	run->seconds = seconds() - started;
	free(state);
	if (!error && virgo_counters(virgo, unit, &run->counters))
		error = message_set(message, -EIO, "%s", virgo_error_text());
	if (!error)
		virgo_report_subtract(&run->counters, &before);
	return error;
}

static enum status complain(enum status status, const char *text)
{
	fprintf(stderr, "flash_attention: %s\n", text);
	return status;
}

static enum status complain_of(enum attention_exp exp, const char *what, const struct message *message)
{
	char text[640];

	snprintf(text, sizeof(text), "%s: %s%s", attention_exp_text(exp), what, message->text);
	return complain(STATUS_FAILED, text);
}

static enum status run_all(struct attention_program *program)
{
	struct attention_run runs[ATTENTION_EXPS];
	enum status status = STATUS_VERIFIED;
	unsigned int count = 0;

	for (unsigned int exp = 0; exp < ATTENTION_EXPS; exp++) {
		struct attention_run *now = &runs[count];
		struct message message = { "" };

		if (!program->options->exp[exp])
			continue;
		*now = (struct attention_run){ .exp = exp };
		count++;
		if (run(program, now, &message))
			return complain_of(exp, "", &message);
		now->verified = attention_verify(&program->attention, exp, program->plan.keys, program->o, &now->error,
						 &message);
		if (!now->verified)
			status = complain_of(exp, "wrong result: ", &message);
	}
	if (attention_report(program, runs, count))
		return complain(STATUS_FAILED, "cannot write to standard output");
	return status;
}

/* The unit that was named, if it is of type fp32; else the first one that is. */
static int find_unit(const struct virgo *virgo, const struct attention_options *options, struct message *message)
{
	struct virgo_unit_info info;
	int unit;

	if (!options->has_unit) {
		unit = virgo_find_unit(virgo, VIRGO_FP32, 0);
		return unit < 0 ? message_set(message, -EINVAL, "%s has no unit of type fp32",
					      virgo_device_name(virgo)) : unit;
	}
	if (virgo_unit_info(virgo, options->unit, &info))
		return message_set(message, -EINVAL, "--unit %u: %s has %u units", options->unit,
				   virgo_device_name(virgo), virgo_unit_count(virgo));
	if (info.type != VIRGO_FP32)
		return message_set(message, -EINVAL, "--unit %u: it is not of type fp32", options->unit);
	return (int)options->unit;
}

static enum status with_matrices(struct attention_program *program, struct virgo *virgo)
{
	struct attention *a = &program->attention;
	size_t count = a->sequence * a->head;
	uint64_t seed = program->options->common.input.seed;
	float *matrices = virgo_alloc(virgo, 4 * count * sizeof(*matrices));
	enum status status;

	if (!matrices)
		return complain(STATUS_FAILED, virgo_error_text());
	for (unsigned int i = 0; i < 3; i++)
		dense_fill_type(VIRGO_FP32, matrices + i * count, count, seed + i);
	a->q = matrices;
	a->k = matrices + count;
	a->v = matrices + 2 * count;
	program->o = matrices + 3 * count;
	status = run_all(program);
	virgo_free(virgo, matrices);
	return status;
}

static enum status run_on(struct virgo *virgo, const struct attention_options *options)
{
	struct attention_program program = {
		.options = options, .attention = { .sequence = options->sequence, .head = options->head },
	};
	struct message message;
	int unit = find_unit(virgo, options, &message);

	if (unit < 0 || attention_plan_make(&program.plan, virgo, (unsigned int)unit, &program.attention, &message))
		return complain(STATUS_BAD_INPUT, message.text);
	return with_matrices(&program, virgo);
}

int main(int argc, char **argv)
{
	struct attention_options options;
	struct message message;
	struct virgo *virgo;
	enum status status;
	int error;

	if (attention_options_parse(&options, argc, argv, &message)) {
		complain(STATUS_BAD_INPUT, message.text);
		return STATUS_BAD_INPUT;
	}
	if (options.common.help) {
		attention_options_help("flash_attention");
		return STATUS_VERIFIED;
	}
	error = virgo_open(&virgo, &(struct virgo_options){
		.device = options.common.device, .transport = options.common.transport,
		.socket_path = options.common.socket_path, .config_path = options.common.config_path,
	});
	if (error) {
		message_set(&message, error, "no device: %s", virgo_error_text());
		return complain(status_of_error(&options.common, error), message.text);
	}
	status = run_on(virgo, &options);
	virgo_close(virgo);
	return status;
}
