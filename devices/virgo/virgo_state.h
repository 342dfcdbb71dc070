/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_VIRGO_STATE_H
#define MIMIC_VIRGO_STATE_H

#include "devices/model.h"
#include "devices/state.h"

struct unit;
struct virgo;

/* state.c: see struct mimic_kind */
void virgo_state(const struct mimic_model *model, uint64_t now,
		 const struct mimic_state_visitor *visitor);

/* names.c: see struct mimic_kind */
size_t virgo_access_name(const struct mimic_access *access, char *text, size_t size);

/* state_registers.c: the folder "registers", of page 0 and of a unit's block */
void cluster_state_registers(const struct virgo *v, const struct mimic_state_visitor *visitor);
void unit_state_registers(const struct virgo *v, const struct unit *u,
			  const struct mimic_state_visitor *visitor);

/* state_unit.c */
void unit_state(const struct virgo *v, const struct unit *u, const struct mimic_state_visitor *visitor);

#endif
