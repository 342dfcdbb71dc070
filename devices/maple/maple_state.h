/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_MAPLE_STATE_H
#define MIMIC_MAPLE_STATE_H

#include "devices/model.h"
#include "devices/register.h"
#include "devices/state.h"
#include "devices/text.h"
#include "mimic/maple_registers.h"

struct maple;
struct mimic_credits;
struct side_clock;

/* state.c: see struct mimic_kind */
void maple_state(const struct mimic_model *model, uint64_t now,
		 const struct mimic_state_visitor *visitor);
/* explain.c: see struct mimic_kind */
void maple_explain(const struct mimic_model *model, const struct mimic_access *access,
		   struct mimic_text *text);

/* loads.c, stores.c: the registers, by page. */
extern const struct mimic_register_block maple_load_blocks[MAPLE_PAGE_COUNT];
extern const struct mimic_register_block maple_store_blocks[MAPLE_PAGE_COUNT];

/* loads.c */
void maple_state_registers(const struct maple *m, uint64_t now,
			   const struct mimic_state_visitor *visitor);
/* Cycles that a side has waited, or been open and not waited, until now. */
uint64_t maple_state_clock(const struct side_clock *clock, bool waiting, uint64_t now);

/* credit.c: see struct mimic_kind */
extern const struct mimic_credits maple_credits;

/* physical.c: see struct mimic_kind */
extern const struct mimic_physical maple_physical;

#endif
