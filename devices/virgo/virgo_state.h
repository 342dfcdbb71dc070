/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_VIRGO_STATE_H
#define MIMIC_VIRGO_STATE_H

#include "devices/model.h"
#include "devices/register.h"
#include "devices/state.h"
#include "devices/text.h"

struct unit;
struct virgo;

/* state.c: see struct mimic_kind */
void virgo_state(const struct mimic_model *model, uint64_t now,
		 const struct mimic_state_visitor *visitor);
/* explain.c: see struct mimic_kind */
void virgo_explain(const struct mimic_model *model, const struct mimic_access *access,
		   struct mimic_text *text);

/* control.c, barrier.c, unit.c: the registers of page 0, the barriers' there, and a unit's. */
extern const struct mimic_register_block virgo_control_block;
extern const struct mimic_register_block virgo_barrier_block;
extern const struct mimic_register_block virgo_unit_block;

/* state_unit.c */
void virgo_unit_state(const struct virgo *v, const struct unit *u, uint64_t now,
		      const struct mimic_state_visitor *visitor);

#endif
