/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device misbehaves because somebody who writes a driver wants it to (docs/bus.md). */
#ifndef MIMICD_INJECT_H
#define MIMICD_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "mimic/access.h"

struct mimicd_instance;
struct mimicd_engine;

struct mimicd_injection {
	bool loses_interrupt;
	bool delays_answer;
	bool shows_wrong_fault;
	bool ignores_resolve;	/* from the next one on */
	bool hangs;
};

/* INJECT by number (mimic/protocol.h). -EINVAL: no such thing; -ENODEV: no kernel to inject into. */
int mimicd_inject(struct mimicd_engine *engine, struct mimicd_instance *instance, uint32_t what);
/* As after power-on: what lasts until then is over. */
void mimicd_inject_reset(struct mimicd_instance *instance);

bool mimicd_inject_hangs(const struct mimicd_instance *instance);
/* Must the access wait? *due: until when, 0: until the device answers again. */
bool mimicd_inject_holds(struct mimicd_instance *instance, const struct mimic_access *access,
			 uint64_t *due);
/* false: the access has no effect. */
bool mimicd_inject_access(struct mimicd_instance *instance, const struct mimic_access *access);
/* May change a load's answer. */
void mimicd_inject_answer(struct mimicd_instance *instance, struct mimic_access *access);
/* false: the interrupt is not raised. */
bool mimicd_inject_interrupt(struct mimicd_instance *instance);

#endif
