/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Statistics. A level times the cycles that it lasted is added before the level changes. */
#include "devices/dare/time/internal.h"

void dare_time_count_until(struct dare_mpu *mpu, uint64_t now)
{
	struct dare_time_statistics *statistics = &mpu->statistics;
	uint64_t passed = now - mpu->counted_until;

	if (now <= mpu->counted_until)
		return;
	if (!dare_mpu_is_idle(mpu))
		statistics->busy += passed;
	if (mpu->queued >= mpu->queue_room)
		statistics->queue_full += passed;
	statistics->riq += mpu->queued * passed;
	statistics->vmr += mpu->vmr_taken * passed;
	statistics->lq += mpu->lq.count * passed;
	statistics->sq += mpu->sq.count * passed;
	mpu->counted_until = now;
}

/* The energy of each kind of work is a parameter, so the energy follows from counts. */
static void add_energy(const struct dare_mpu *mpu, struct dare_time_statistics *statistics)
{
	const struct dare_time_parameters *parameters = &mpu->parameters;

	statistics->energy_reads = statistics->rows_demanded * parameters->energy_read;
	statistics->energy_prefetches = statistics->rows_prefetched * parameters->energy_read;
	statistics->energy_writes = statistics->rows_stored * parameters->energy_write;
	statistics->energy_mma = mpu->mma * parameters->energy_mma;
	statistics->energy_macs = mpu->macs * parameters->energy_mac;
	statistics->energy_leakage = statistics->busy * parameters->energy_leakage;
}

void dare_mpu_statistics(struct dare_mpu *mpu, uint64_t now, struct dare_time_statistics *statistics)
{
	dare_mpu_advance(mpu, now);
	dare_time_count_until(mpu, now);
	*statistics = mpu->statistics;
	add_energy(mpu, statistics);
}
