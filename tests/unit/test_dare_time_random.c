/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Properties in time of any program and any hardware: random ones, from fixed seeds. All modes of
 * hardware demand the same rows, two runs are the same, and skipping cycles in which nothing
 * happens changes nothing.
 */
#include <stdio.h>

#include "examples/common/random.h"
#include "tests/lib/mpu_program.h"

#define PROGRAMS 60
#define INSTRUCTIONS 150

static struct random random_numbers;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random_below(&random_numbers, limit);
}

/* Addresses lie near each other, so that lines are shared. */
static struct dare_dispatched any_instruction(void)
{
	static const enum dare_operation operations[] = {
		DARE_MLD, DARE_MLD, DARE_MLD, DARE_MGATHER, DARE_MGATHER, DARE_MMA, DARE_MMA, DARE_MST, DARE_MSCATTER, DARE_MCFG,
	};
	struct dare_dispatched instruction = {
		.fields = { .operation = operations[below(10)], .md = below(DARE_REGISTERS), .ms1 = below(DARE_REGISTERS),
			    .ms2 = below(DARE_REGISTERS) },
		.m = 1 + below(16), .k = 4 * (1 + below(16)), .n = 1 + below(16),
	};

	for (unsigned int i = 0; i < instruction.m; i++)
		instruction.address[i] = 4 * below(1 << 14);
	return instruction;
}

static void make_program(struct dare_dispatched *program, uint64_t seed)
{
	random_numbers.state = seed;
	for (unsigned int i = 0; i < INSTRUCTIONS; i++)
		program[i] = any_instruction();
}

/* The same hardware for a seed, but for the mode. */
static struct dare_mpu *any_mpu(const char *mode, uint64_t seed)
{
	char texts[11][32];
	struct mpu_program program;

	random_numbers.state = seed;
	snprintf(texts[0], 32, "mpu.window=%u", 1 + below(4));
	snprintf(texts[1], 32, "mpu.riq=%u", 4 + below(40));
	snprintf(texts[2], 32, "mpu.vmr=%u", 1 + below(4));
	snprintf(texts[3], 32, "mpu.lq=%u", 1 + below(64));
	snprintf(texts[4], 32, "mpu.sq=%u", 1 + below(16));
	snprintf(texts[5], 32, "llc.mshrs=%u", 1 + below(16));
	snprintf(texts[6], 32, "llc.reads=%u", 1 + below(4));
	snprintf(texts[7], 32, "llc.size=%uK", 8u << below(3));
	snprintf(texts[8], 32, "mpu.stores=%u", 1 + below(16));
	snprintf(texts[9], 32, "mpu.store_order=%u", below(3));
	snprintf(texts[10], 32, "llc.warm=%u", below(2));
	program = mpu_begin(mode, texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7], texts[8], texts[9],
			    texts[10], NULL);
	return program.mpu;
}

/* each_cycle: none is left out. */
static uint64_t run(struct dare_mpu *mpu, const struct dare_dispatched *program, bool each_cycle)
{
	uint64_t now = 0;

	for (unsigned int i = 0; i < INSTRUCTIONS; i++) {
		if (!each_cycle) {
			now = dare_mpu_dispatch(mpu, &program[i], now) + 1;
			continue;
		}
		for (; !dare_mpu_put(mpu, &program[i], now); now++)
			mpu->next = now + 1;
		now++;
	}
	while (each_cycle && !dare_mpu_is_idle(mpu)) {
		mpu->next = now;
		dare_mpu_advance(mpu, now++);
	}
	return each_cycle ? now - 1 : dare_mpu_drain(mpu, now);
}

static uint64_t measure(const char *mode, uint64_t seed, bool each_cycle, struct dare_time_statistics *statistics)
{
	struct dare_dispatched program[INSTRUCTIONS];
	struct dare_mpu *mpu = any_mpu(mode, seed);
	uint64_t end;

	make_program(program, seed);
	end = run(mpu, program, each_cycle);
	dare_mpu_statistics(mpu, end, statistics);
	dare_mpu_destroy(mpu);
	return end;
}

static const char *const modes[] = { "base", "nvr", "fre", "static", "oracle" };
#define MODES (sizeof(modes) / sizeof(modes[0]))

static void all_modes_demand_the_same_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct dare_time_statistics base, other;

		measure("base", seed, false, &base);
		assert_int_equal(base.rows_prefetched, 0);
		for (size_t i = 1; i < MODES; i++) {
			measure(modes[i], seed, false, &other);
			assert_int_equal(other.rows_demanded, base.rows_demanded);
			assert_int_equal(other.rows_stored, base.rows_stored);
			assert_int_equal(other.issued, base.issued);
			assert_int_equal(other.array_busy, base.array_busy);
		}
	}
}

static void cycles_that_are_left_out_change_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		for (size_t i = 0; i < MODES; i++) {
			struct dare_time_statistics all, some;
			uint64_t end = measure(modes[i], seed, true, &all);

			assert_int_equal(measure(modes[i], seed, false, &some), end);
			assert_memory_equal(&all, &some, sizeof(all));
		}
	}
}

static void two_runs_are_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct dare_time_statistics one, other;
		uint64_t end = measure("fre", seed, false, &one);

		assert_int_equal(measure("fre", seed, false, &other), end);
		assert_memory_equal(&one, &other, sizeof(one));
	}
}

/* Every instruction takes its rows' cycles of the ports at the least, and the oracle's hits no more than others. */
static void the_oracle_is_the_fastest(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct dare_time_statistics statistics;
		uint64_t oracle = measure("oracle", seed, false, &statistics);

		for (size_t i = 0; i + 1 < MODES; i++)
			assert_true(oracle <= measure(modes[i], seed, false, &statistics));
	}
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(all_modes_demand_the_same_rows),
		ON(cycles_that_are_left_out_change_nothing),
		ON(two_runs_are_the_same),
		ON(the_oracle_is_the_fastest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
