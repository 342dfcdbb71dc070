/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_MAPLE_STATE_H
#define MIMIC_MAPLE_STATE_H

#include "devices/model.h"
#include "devices/state.h"

struct maple;
struct side_clock;

/* state.c: see struct mimic_kind */
void maple_state(const struct mimic_model *model, uint64_t now,
		 const struct mimic_state_visitor *visitor);

/* names.c: see struct mimic_kind */
size_t maple_access_name(const struct mimic_access *access, char *text, size_t size);

/* state_registers.c */
void maple_state_registers(const struct maple *m, uint64_t now,
			   const struct mimic_state_visitor *visitor);
/* Cycles that a side has waited, or been open and not waited, until now. */
uint64_t maple_state_clock(const struct side_clock *clock, bool waiting, uint64_t now);

#endif
