/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Notices that a program gets once each, as a line of the host's report(). */
#ifndef MIMIC_VIRGO_TIME_NOTICES_H
#define MIMIC_VIRGO_TIME_NOTICES_H

#include "devices/time.h"
#include "devices/virgo/time/timing.h"
#include "devices/virgo/virgo_model.h"

/* The notices that have been given. */
struct virgo_notices {
	bool of_unit, of_sizes, of_unit_of_design, of_dma_of_design;
};

/* An access of a unit that is not there. */
void virgo_notice_access(struct virgo_notices *notices, const struct mimic_time_host *host,
			 const struct virgo_config *config, const struct mimic_access *access);
/*
 * A command that takes time, of a program that gives commands by itself: where its unit is not that of the
 * parameters, since the functional model has no such sizes or the design no such part. Kernels have the
 * parameters' sizes.
 */
void virgo_notice_command(struct virgo_notices *notices, const struct mimic_time_host *host,
			  const struct virgo_time_parameters *parameters, const struct virgo_config *config,
			  const struct virgo_time_command *command);

#endif
