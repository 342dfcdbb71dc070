/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_DARE_STATE_H
#define MIMIC_DARE_STATE_H

#include "devices/model.h"
#include "devices/register.h"
#include "devices/state.h"
#include "devices/text.h"

/* state.c: see struct mimic_kind */
void dare_state(const struct mimic_model *model, uint64_t now,
		const struct mimic_state_visitor *visitor);
/* explain.c: see struct mimic_kind */
void dare_explain(const struct mimic_model *model, const struct mimic_access *access,
		  struct mimic_text *text);

/* control.c, context.c: the registers of page 0 and of a context. */
extern const struct mimic_register_block dare_control_block;
extern const struct mimic_register_block dare_context_block;

#endif
