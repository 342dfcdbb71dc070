/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The template device's model: what the hardware does, as a state machine of
 * devices/model.h. Its driver is template_daemon.c, or a unit test.
 */
#ifndef MIMIC_TEMPLATE_MODEL_H
#define MIMIC_TEMPLATE_MODEL_H

#include "devices/model.h"
#include "mimic/template_registers.h"

/* Accesses that may wait at a time; as many as a kernel's channel has slots. */
#define TEMPLATE_WAITERS_MAX 256
/* Cycles from START to its sum. */
#define TEMPLATE_LATENCY 1000

/* _(name, meaning) */
#define TEMPLATE_COUNTERS(_) \
	_(additions, "sums that were made") \
	_(waits, "accesses that had to wait") \
	_(illegal, "accesses of no register, or of the wrong kind: 0 or dropped")

enum template_counter {
#define _(name, meaning) TEMPLATE_COUNTER_##name,
	TEMPLATE_COUNTERS(_)
#undef _
	TEMPLATE_COUNTER_COUNT
};

/* NULL and errno. `host` is copied. */
struct mimic_model *template_model_create(const struct mimic_host *host, uint64_t now);
void template_model_destroy(struct mimic_model *model);

#endif
