/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DARE in cycles: the functional model of devices/dare with an MPU in time (mpu.h).
 *
 * An instruction is executed when the host dispatches it, so that it has the data that the program
 * had in memory then, and its rows are timed afterwards. A store that dispatches one is
 * acknowledged when the queue has taken it; FENCE is answered when all that was dispatched is
 * done in time. Other registers show instructions as soon as they are executed.
 */
#ifndef MIMIC_DARE_TIME_H
#define MIMIC_DARE_TIME_H

#include "devices/dare/dare_model.h"
#include "devices/dare/time/mpu.h"
#include "devices/time.h"

struct dare_time;

void dare_time_parameters(const struct mimic_time_host *host, struct dare_time_parameters *parameters);

/* Its first context belongs to the program. NULL with errno. */
struct dare_time *dare_time_create(const struct dare_time_parameters *parameters, const struct mimic_time_host *host);
void dare_time_destroy(struct dare_time *device);

/* As those of struct mimic_time (devices/time.h). */
bool dare_time_access(struct dare_time *device, struct mimic_access *access, uint64_t now, uint64_t *done);
size_t dare_time_post(struct dare_time *device, const struct mimic_access *pattern, const uint64_t *values,
		      size_t count, uint64_t *now, uint64_t until, bool *waits);
void dare_time_owner_gone(struct dare_time *device, uint64_t owner, uint64_t now);
void dare_time_power_on(struct dare_time *device, uint64_t now);
void dare_time_advance(struct dare_time *device, uint64_t now);
uint64_t dare_time_advance_until(struct dare_time *device, uint64_t until);
uint64_t dare_time_next(const struct dare_time *device);
struct mimic_model *dare_time_model(struct dare_time *device);
void dare_time_statistics(struct dare_time *device, uint64_t now, struct dare_time_statistics *statistics);

/* All this as struct mimic_kind has it. */
extern const struct mimic_time dare_kind_time;

#endif
