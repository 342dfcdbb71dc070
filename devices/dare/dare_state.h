/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMIC_DARE_STATE_H
#define MIMIC_DARE_STATE_H

#include "devices/model.h"
#include "devices/state.h"

struct dare;
struct dare_context;

/* state.c: see struct mimic_kind */
void dare_state(const struct mimic_model *model, uint64_t now,
		const struct mimic_state_visitor *visitor);

/* names.c: see struct mimic_kind */
size_t dare_access_name(const struct mimic_access *access, char *text, size_t size);

/* state_registers.c: the folder "registers", of page 0 and of a context */
void mpu_state_control_registers(const struct dare *d, const struct mimic_state_visitor *visitor);
void mpu_state_context_registers(const struct dare *d, const struct dare_context *c,
				 const struct mimic_state_visitor *visitor);

#endif
