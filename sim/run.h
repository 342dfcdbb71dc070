/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Definitions of libmimic-sim for its public header. */
#ifndef MIMIC_SIM_RUN_H
#define MIMIC_SIM_RUN_H

#define MIMIC_SIM_API __attribute__((visibility("default")))
#include "mimic/sim.h"

#endif
