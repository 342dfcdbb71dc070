/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The systolic array, output stationary: an mma of M rows, N columns and K elements takes
 * max(K, M) cycles to take its sources in, then the next one can begin. Its result is in md
 * K + M + N - 2 cycles behind its begin, and as many more as the array takes to drain. On
 * an array that is smaller than M x N, parts follow one another.
 */
#include "devices/dare/time/internal.h"

static unsigned int larger(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

static unsigned int parts(unsigned int size, unsigned int of)
{
	return (size + of - 1) / of;
}

void dare_time_array_shape(const struct dare_mpu *mpu, const struct dare_dispatched *instruction,
			   struct entry *entry)
{
	unsigned int rows = (unsigned int)mpu->parameters.array_rows;
	unsigned int columns = (unsigned int)mpu->parameters.array_columns;
	unsigned int passes = parts(instruction->m, rows) * parts(instruction->n, columns);
	unsigned int k = instruction->k / dare_instructions[instruction->fields.operation].element;
	unsigned int m = instruction->m < rows ? instruction->m : rows;
	unsigned int n = instruction->n < columns ? instruction->n : columns;
	unsigned int one = larger(k, m);

	entry->latency = (passes - 1) * one + k + m + n - 2 + (uint32_t)mpu->parameters.array_drain;
	entry->occupancy = mpu->parameters.array_pipelined ? passes * one : entry->latency;
	entry->macs = instruction->m * instruction->n * k;
}

/* Registers stay the mma's: its sources until they are taken in, md until the result is there. */
void dare_time_array_begin(struct dare_mpu *mpu, const struct entry *entry)
{
	struct running *running = &mpu->running[mpu->running_count++];
	*running = (struct running){
		.read_end = mpu->now + entry->occupancy, .write_end = mpu->now + entry->latency,
		.sources = entry->reads, .md = entry->md, .reads = true,
	};
	hold_sources(mpu, entry->reads);
	hold_register(mpu->mmas_to, &mpu->written_by_mmas, entry->md);
	mpu->array_free = running->read_end;
	if (mpu->running_count == 1 || running->read_end < mpu->array_next)
		mpu->array_next = running->read_end;
	mpu->statistics.array_busy += entry->occupancy;
	if (is_traced(mpu))
		dare_time_trace_array(mpu, entry);
	mpu->mma++;
	mpu->macs += entry->macs;
}

static void end_reads(struct dare_mpu *mpu, struct running *running)
{
	release_sources(mpu, running->sources);
	running->reads = false;
	mpu->may_issue = true;
}

void dare_time_array_end(struct dare_mpu *mpu)
{
	unsigned int kept = 0;
	uint64_t next = NEVER;

	for (unsigned int i = 0; i < mpu->running_count; i++) {
		struct running *running = &mpu->running[i];
		uint64_t time;

		if (running->reads && running->read_end <= mpu->now)
			end_reads(mpu, running);
		if (running->write_end <= mpu->now) {
			release_register(mpu->mmas_to, &mpu->written_by_mmas, running->md);
			mpu->may_issue = true;
			continue;
		}
		time = running->reads ? running->read_end : running->write_end;
		if (time < next)
			next = time;
		mpu->running[kept++] = *running;
	}
	mpu->running_count = kept;
	mpu->array_next = next;
}
