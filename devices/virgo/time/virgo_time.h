/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A Virgo cluster in virtual time: the functional model, and its time (timing.h). The model executes a
 * command when it is dispatched; its parts then take their time in the engines of the timed unit, and the
 * model keeps its place in the queue until that is over. So accesses wait for a unit, and queues overflow, in
 * the model. A program gets the functional model's results, with any parameters.
 *
 * A product of the library can be a kernel of the modelled cluster: it takes the kernel's time, and the
 * functional model computes it when that is over.
 */
#ifndef MIMIC_VIRGO_TIME_H
#define MIMIC_VIRGO_TIME_H

#include "devices/time.h"
#include "devices/virgo/time/timing.h"
#include "devices/virgo/virgo_model.h"

/* The shape of a kernel (begin_kernel() of devices/time.h): elements, and FPU instructions of an activation for each. */
enum virgo_kernel_shape { VIRGO_KERNEL_M, VIRGO_KERNEL_N, VIRGO_KERNEL_K, VIRGO_KERNEL_SWISH, VIRGO_KERNEL_SHAPE };

struct virgo_time;

void virgo_time_parameters(const struct mimic_time_host *host, struct virgo_time_parameters *parameters);

/*
 * As those of struct mimic_time (devices/time.h). `config`: of the functional model; its numbers and sizes replace those of
 * the parameters, so its units may differ. NULL: virgo_timed_config().
 */
struct virgo_time *virgo_timed_create(const struct virgo_time_parameters *parameters, const struct virgo_config *config,
				      const struct mimic_time_host *host);
void virgo_timed_destroy(struct virgo_time *device);
bool virgo_timed_access(struct virgo_time *device, struct mimic_access *access, uint64_t now, uint64_t *done);
bool virgo_timed_memory(struct virgo_time *device, const struct virgo_time_shared_access *access, uint64_t now,
			uint64_t *over);
int virgo_timed_begin_kernel(struct virgo_time *device, uint64_t owner, unsigned int unit, const uint64_t *shape,
			     size_t count, uint64_t now);
void virgo_timed_end_kernel(struct virgo_time *device, unsigned int unit, uint64_t now);
void virgo_timed_owner_gone(struct virgo_time *device, uint64_t owner, uint64_t now);
void virgo_timed_power_on(struct virgo_time *device, uint64_t now);
void virgo_timed_advance(struct virgo_time *device, uint64_t now);
uint64_t virgo_timed_advance_until(struct virgo_time *device, uint64_t until);
uint64_t virgo_timed_next(const struct virgo_time *device);
struct mimic_model *virgo_timed_model(struct virgo_time *device);
void virgo_timed_statistics(struct virgo_time *device, uint64_t now, struct virgo_time_statistics *statistics);

/* The parameters that the functional model can have, which is all that programs see of their size. */
void virgo_timed_config(const struct virgo_time_parameters *parameters, struct virgo_config *config);

/* All this as struct mimic_kind has it. */
extern const struct mimic_time virgo_kind_time;

#endif
