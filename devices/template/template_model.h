/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The template device's model: the hardware as a state machine of devices/model.h. */
#ifndef TEMPLATE_MODEL_H
#define TEMPLATE_MODEL_H

#include "devices/model.h"
#include "devices/register.h"
#include "devices/state.h"
#include "devices/template/template_registers.h"

/* Accesses that may wait at a time; as many as a kernel's channel has slots. */
#define TEMPLATE_WAITERS_MAX 256

/* The keys of the section [template] of a configuration file. */
struct template_config {
	unsigned int latency;	/* cycles from START to its sum */
};

void template_config_default(struct template_config *config);
/* NULL, or the error; the text begins with the key's name. */
const char *template_config_check(const struct template_config *config);

/* NULL and errno. `config` and `host` are copied. */
struct mimic_model *template_model_create(const struct template_config *config, const struct mimic_host *host);
void template_model_destroy(struct mimic_model *model);

extern const struct mimic_register_block template_user_block;
extern const struct mimic_register_block template_control_block;

#endif
