/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A command of the functional model, part by part, as operations of the timed unit's engines. */
#ifndef MIMIC_VIRGO_TIME_COMMANDS_H
#define MIMIC_VIRGO_TIME_COMMANDS_H

#include "devices/virgo/time/timing.h"
#include "devices/virgo/virgo_model.h"

void virgo_time_command_begin(struct virgo_time_command *command);
/* `dim`: of the unit. */
void virgo_time_command_add(struct virgo_time_command *command, const struct virgo_time_parameters *parameters,
			    unsigned int dim, const struct virgo_watched *part);
/* All its parts have been added. */
void virgo_time_command_end(struct virgo_time_command *command, bool is_loop);

#endif
