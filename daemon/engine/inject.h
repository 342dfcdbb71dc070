/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device misbehaves because a person who writes a driver wants it to (docs/bus.md). */
#ifndef MIMICD_INJECT_H
#define MIMICD_INJECT_H

#include <stdbool.h>
#include <stdint.h>

struct mimicd_instance;

struct mimicd_injection {
	bool loses_interrupt;
	bool delays_answer;
	bool shows_wrong_fault;
	bool ignores_resolve;	/* from the next one on */
	bool hangs;
};

/* INJECT by number (mimic/protocol.h). -EINVAL: no such thing; -EOPNOTSUPP: no driver that would see it. */
int mimicd_inject(struct mimicd_instance *instance, uint32_t what);
/* As after power-on: what lasts until then is over. */
void mimicd_inject_reset(struct mimicd_instance *instance);

bool mimicd_inject_hangs(const struct mimicd_instance *instance);
/* Must an access wait? *due: until when, 0: until the device answers again. */
bool mimicd_inject_holds(struct mimicd_instance *instance, uint64_t *due);
/* Does the device ignore that the driver has resolved a fault? */
bool mimicd_inject_loses_resolve(const struct mimicd_instance *instance);
/* The address of a fault as the driver gets it. */
uint64_t mimicd_inject_fault_address(struct mimicd_instance *instance, uint64_t address);
/* false: the interrupt is not raised. */
bool mimicd_inject_interrupt(struct mimicd_instance *instance);

#endif
