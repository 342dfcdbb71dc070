/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Streams of instructions of a warp of Virgo: which of a list's instructions come in which step and tile, and
 * at which addresses; where a warp's operands lie.
 */
#include "tests/lib/virgo_cycles.h"

#define ROWS 2u /* of tiles of C */
#define COLUMNS 3u
#define STEPS 4u

struct walk {
	struct cluster cluster;
	struct core *core;
	struct warp *warp;
};

static struct code *part_of(struct walk *walk, enum part part)
{
	return &walk->cluster.timing->code[0][0].part[part];
}

static struct walk walk_begin(void)
{
	struct walk walk = { .cluster = cluster_begin(NULL) };
	struct virgo_timing *timing = walk.cluster.timing;

	walk.core = &timing->core[0];
	walk.warp = &walk.core->warp[0];
	timing->unit[0].kernel =
		(struct virgo_time_kernel){ .m = ROWS * 64, .n = COLUMNS * 64, .k = STEPS * 64 };
	virgo_time_stream_begin(walk.warp, &timing->code[0][0]);
	return walk;
}

static void walk_end(struct walk *walk)
{
	cluster_end(&walk->cluster);
}

/* An instruction that `mark` tells from the others. */
static struct item *add(struct walk *walk, enum part part, uint64_t mark, enum when when)
{
	struct item *item = virgo_time_code_add(part_of(walk, part), OP_ALU, 1);

	item->instruction.address = mark;
	item->when = (uint8_t)when;
	return item;
}

static void expect(struct walk *walk, uint64_t address, unsigned int half)
{
	struct instruction instruction;

	assert_true(virgo_time_stream_next(walk->core, walk->warp, &instruction));
	assert_int_equal(instruction.address, address);
	assert_int_equal(instruction.half, half);
}

static void expect_end(struct walk *walk)
{
	struct instruction instruction;

	assert_false(virgo_time_stream_next(walk->core, walk->warp, &instruction));
}

static void each_tile_has_its_begin_its_steps_and_its_end(void **state)
{
	struct walk walk = walk_begin();

	(void)state;
	add(&walk, PART_TILE_BEGIN, 1, ALWAYS);
	add(&walk, PART_STEP, 2, ALWAYS);
	add(&walk, PART_TILE_END, 3, ALWAYS);
	add(&walk, PART_END, 4, ALWAYS);
	for (unsigned int tile = 0; tile < ROWS * COLUMNS; tile++) {
		expect(&walk, 1, 0);
		for (unsigned int step = 0; step < STEPS; step++)
			expect(&walk, 2, 0);
		expect(&walk, 3, 0);
	}
	expect(&walk, 4, 0);
	expect_end(&walk);
	walk_end(&walk);
}

static void a_warp_that_has_nothing_in_the_tiles_has_the_end(void **state)
{
	struct walk walk = walk_begin();

	(void)state;
	add(&walk, PART_END, 4, ALWAYS);
	expect(&walk, 4, 0);
	expect_end(&walk);
	walk_end(&walk);
}

static void some_instructions_belong_to_some_steps(void **state)
{
	struct walk walk = walk_begin();

	(void)state;
	add(&walk, PART_STEP, 1, UNLESS_FIRST_STEP);
	add(&walk, PART_STEP, 2, IF_FIRST_STEP);
	add(&walk, PART_STEP, 3, UNLESS_LAST_STEP);
	add(&walk, PART_STEP, 4, IF_LAST_STEP);
	add(&walk, PART_STEP, 5, UNLESS_FIRST_TILE);
	for (unsigned int tile = 0; tile < ROWS * COLUMNS; tile++)
		for (unsigned int step = 0; step < STEPS; step++) {
			expect(&walk, step ? 1 : 2, 0);
			expect(&walk, step + 1 < STEPS ? 3 : 4, 0);
			if (tile)
				expect(&walk, 5, 0);
		}
	expect_end(&walk);
	walk_end(&walk);
}

static void addresses_move_with_step_row_and_column(void **state)
{
	struct walk walk = walk_begin();
	struct item *item = add(&walk, PART_STEP, 1000000, ALWAYS);

	(void)state;
	item->by_step = 1;
	item->by_column = 10;
	item->by_row = -100;
	for (unsigned int row = 0; row < ROWS; row++)
		for (unsigned int column = 0; column < COLUMNS; column++)
			for (unsigned int step = 0; step < STEPS; step++)
				expect(&walk, 1000000 + step + 10 * column - 100 * row, 0);
	expect_end(&walk);
	walk_end(&walk);
}

static void halves_alternate_with_the_steps(void **state)
{
	struct walk walk = walk_begin();
	struct item *this_one = add(&walk, PART_STEP, 5000, ALWAYS), *next_one;

	(void)state;
	this_one->half_of = 1;
	this_one->by_half = 7;
	next_one = add(&walk, PART_STEP, 6000, ALWAYS);
	next_one->half_of = 2;
	next_one->by_half = -7;
	for (unsigned int tile = 0; tile < ROWS * COLUMNS; tile++)
		for (unsigned int step = 0; step < STEPS; step++) {
			expect(&walk, 5000 + 7 * (step % 2), step % 2);
			expect(&walk, 6000 - 7 * ((step + 1) % 2), (step + 1) % 2);
		}
	expect_end(&walk);
	walk_end(&walk);
}

static void a_poll_begins_again(void **state)
{
	struct walk walk = walk_begin();
	struct instruction instruction;

	(void)state;
	add(&walk, PART_TILE_BEGIN, 1, ALWAYS);
	virgo_time_code_poll(part_of(&walk, PART_TILE_BEGIN), ALWAYS);
	expect(&walk, 1, 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(virgo_time_stream_next(walk.core, walk.warp, &instruction));
		assert_int_equal(instruction.operation, OP_ALU);
		assert_true(virgo_time_stream_next(walk.core, walk.warp, &instruction));
		assert_int_equal(instruction.operation, OP_LOAD_BUSY);
		assert_true(virgo_time_stream_next(walk.core, walk.warp, &instruction));
		assert_int_equal(instruction.operation, OP_BRANCH_BUSY);
		virgo_time_stream_again(walk.warp);
	}
	walk_end(&walk);
}

/* --- where operands lie ------------------------------------------------------------------------ */

static void stacks_of_threads_lie_8208_bytes_apart(void **state)
{
	struct cluster c = cluster_begin(NULL);
	uint64_t first = virgo_time_stack_address(c.timing, 0, 0);

	(void)state;
	/* Each warp has 8 threads, each core 8 warps. */
	assert_int_equal(first - virgo_time_stack_address(c.timing, 0, 1), 8 * 8208);
	assert_int_equal(first - virgo_time_stack_address(c.timing, 1, 0), 64 * 8208);
	assert_int_equal(first - virgo_time_stack_address(c.timing, 3, 7), 31 * 8 * 8208);
	cluster_end(&c);
}

static void each_buffer_fills_a_bank(void **state)
{
	struct cluster c = cluster_begin(NULL);

	(void)state;
	for (unsigned int is_b = 0; is_b < 2; is_b++)
		for (unsigned int half = 0; half < 2; half++) {
			uint32_t buffer = virgo_time_buffer(c.timing, is_b, half);

			assert_int_equal(buffer % BANK, 0);
			assert_int_equal(virgo_time_bank(c.timing, buffer), 2 * is_b + half);
			assert_int_equal(virgo_time_bank(c.timing, buffer + BANK - 1), 2 * is_b + half);
		}
	cluster_end(&c);
}

/* C is 128 x 192, the product 256 deep. */
static void a_line_of_an_operand_is_where_its_matrix_has_it(void **state)
{
	struct walk walk = walk_begin();
	const struct warp_place place = { .timing = walk.cluster.timing,
					  .kernel = &walk.cluster.timing->unit[0].kernel };
	const uint64_t k = STEPS * 64, n = COLUMNS * 64;
	struct item item = { .when = ALWAYS };

	(void)state;
	/* Line 13 of a tile of 64 x 64: 8 lines a row, so row 1, word 40. */
	virgo_time_operand_line(&place, &item, false, 13);
	assert_int_equal(item.instruction.address, virgo_time_matrix_address(0) + (1 * k + 40) * 4);
	assert_int_equal(item.by_step, 64 * 4);
	assert_int_equal(item.by_row, 64 * k * 4);
	assert_int_equal(item.by_column, 0);
	virgo_time_operand_line(&place, &item, true, 13);
	assert_int_equal(item.instruction.address, virgo_time_matrix_address(1) + (1 * n + 40) * 4);
	assert_int_equal(item.by_step, 64 * n * 4);
	assert_int_equal(item.by_row, 0);
	assert_int_equal(item.by_column, 64 * 4);
	walk_end(&walk);
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(each_tile_has_its_begin_its_steps_and_its_end),
		ON(a_warp_that_has_nothing_in_the_tiles_has_the_end),
		ON(some_instructions_belong_to_some_steps),
		ON(addresses_move_with_step_row_and_column),
		ON(halves_alternate_with_the_steps),
		ON(a_poll_begins_again),
		ON(stacks_of_threads_lie_8208_bytes_apart),
		ON(each_buffer_fills_a_bank),
		ON(a_line_of_an_operand_is_where_its_matrix_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
