/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs for an MPU in time (devices/dare/time/mpu.h), an instruction a call. */
#ifndef MIMIC_TESTS_MPU_PROGRAM_H
#define MIMIC_TESTS_MPU_PROGRAM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "devices/dare/time/internal.h"
#include "sim/parameters.h"

#define LINE 64u

struct mpu_program {
	struct dare_mpu *mpu;
	uint64_t now;			/* the next instruction is not dispatched before */
	unsigned int m, k, n;		/* the shape of those that follow */
};

/* The preset dare in a mode, changed by "key=value" texts up to a NULL. */
static inline struct dare_time_parameters mpu_parameters(const char *mode, va_list changes)
{
	struct dare_time_parameters parameters;
	struct sim_parameters soc;
	const char *change;
	char why[256];

	assert_int_equal(sim_parameters_load(&soc, "dare", why, sizeof(why)), 0);
	assert_int_equal(sim_parameters_mode(&soc, mode, why, sizeof(why)), 0);
	while ((change = va_arg(changes, const char *)))
		assert_int_equal(sim_parameters_set(&soc, change, why, sizeof(why)), 0);
	assert_int_equal(sim_parameters_check(&soc, why, sizeof(why)), 0);
#define _(section, key) parameters.section##_##key = soc.section##_##key;
	DARE_TIME_PARAMETERS(_)
#undef _
	return parameters;
}

static inline struct mpu_program mpu_begin(const char *mode, ...)
{
	struct dare_time_parameters parameters;
	va_list changes;

	va_start(changes, mode);
	parameters = mpu_parameters(mode, changes);
	va_end(changes);
	struct mpu_program program = { .mpu = dare_mpu_create(&parameters), .m = 1, .k = 64, .n = 16 };

	assert_non_null(program.mpu);
	return program;
}

static inline void mpu_shape(struct mpu_program *program, unsigned int m, unsigned int k, unsigned int n)
{
	program->m = m;
	program->k = k;
	program->n = n;
}

static inline struct dare_dispatched mpu_instruction(const struct mpu_program *program,
							   enum dare_operation operation, unsigned int md,
							   unsigned int ms1, unsigned int ms2)
{
	return (struct dare_dispatched){
		.fields = { .operation = operation, .md = md, .ms1 = ms1, .ms2 = ms2 },
		.m = program->m, .k = program->k, .n = program->n,
	};
}

/* Returns the cycle in which it was dispatched. */
static inline uint64_t mpu_put(struct mpu_program *program, const struct dare_dispatched *instruction)
{
	uint64_t cycle = dare_mpu_dispatch(program->mpu, instruction, program->now);

	program->now = cycle + 1;
	return cycle;
}

static inline uint64_t mpu_put_rows(struct mpu_program *program, struct dare_dispatched *instruction,
				    uint64_t address, uint64_t stride)
{
	for (unsigned int row = 0; row < instruction->m; row++)
		instruction->address[row] = address + row * stride;
	return mpu_put(program, instruction);
}

static inline uint64_t mld(struct mpu_program *program, unsigned int md, uint64_t address, uint64_t stride)
{
	struct dare_dispatched instruction = mpu_instruction(program, DARE_MLD, md, 0, 0);

	return mpu_put_rows(program, &instruction, address, stride);
}

static inline uint64_t mst(struct mpu_program *program, unsigned int ms, uint64_t address, uint64_t stride)
{
	struct dare_dispatched instruction = mpu_instruction(program, DARE_MST, 0, 0, ms);

	return mpu_put_rows(program, &instruction, address, stride);
}

static inline uint64_t mgather(struct mpu_program *program, unsigned int md, unsigned int ms1, uint64_t address,
			       uint64_t stride)
{
	struct dare_dispatched instruction = mpu_instruction(program, DARE_MGATHER, md, ms1, 0);

	return mpu_put_rows(program, &instruction, address, stride);
}

static inline uint64_t mscatter(struct mpu_program *program, unsigned int ms2, unsigned int ms1, uint64_t address,
				uint64_t stride)
{
	struct dare_dispatched instruction = mpu_instruction(program, DARE_MSCATTER, 0, ms1, ms2);

	return mpu_put_rows(program, &instruction, address, stride);
}

static inline uint64_t mma(struct mpu_program *program, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	struct dare_dispatched instruction = mpu_instruction(program, DARE_MMA, md, ms1, ms2);

	return mpu_put(program, &instruction);
}

static inline uint64_t mpu_drain(struct mpu_program *program)
{
	return dare_mpu_drain(program->mpu, program->now);
}

/* Lines that hit from then on; returns the cycle in which the next instruction is dispatched. */
static inline uint64_t mpu_warm(struct mpu_program *program, uint64_t address, unsigned int lines)
{
	struct mpu_program load = *program;

	load.m = 1;
	load.k = 4;
	for (unsigned int i = 0; i < lines; i++)
		mld(&load, 7, address + i * LINE, 0);
	program->now = mpu_drain(&load) + 1000;
	return program->now;
}

static inline struct dare_time_statistics mpu_statistics(const struct mpu_program *program)
{
	struct dare_time_statistics statistics;

	dare_mpu_statistics(program->mpu, program->now, &statistics);
	return statistics;
}

/*
 * So that instructions stay in the RIQ: an mma that takes 1001 cycles, as the array's drain is made. It writes
 * md, so that other writers of md wait. Dispatched in 0 it issues in 1, and they from MPU_HOLD on.
 */
#define MPU_SLOW "array.drain=1000"
#define MPU_HOLD 1002u	/* 1 + (1 + 1 + 1 - 2 + 1000) */

static inline void mpu_hold(struct mpu_program *program, unsigned int md)
{
	struct mpu_program one = *program;

	mpu_shape(&one, 1, 4, 1);
	mma(&one, md, 6, 6);
	program->now = one.now;
}

static inline uint64_t mpu_prefetched(const struct mpu_program *program)
{
	return mpu_statistics(program).rows_prefetched;
}

/* It is done in this cycle. */
static inline void mpu_expect(struct mpu_program *program, uint64_t cycle)
{
	assert_int_equal(mpu_drain(program), cycle);
	dare_mpu_destroy(program->mpu);
}

#endif
