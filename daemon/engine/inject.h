/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device misbehaves because the developer of a driver wants it to (docs/bus.md). */
#ifndef MIMICD_INJECT_H
#define MIMICD_INJECT_H

#include <stdbool.h>
#include <stdint.h>

struct mimicd_injection {
	bool loses_interrupt;
	bool delays_answer;
	bool shows_wrong_fault;
	bool ignores_resolve;	/* from the next one on */
	bool hangs;
};

/* INJECT by number (mimic/protocol.h), but for an interrupt out of nothing. -EINVAL: no such thing. */
int mimicd_inject_set(struct mimicd_injection *injection, uint32_t what);
/* As after power-on: injections that last until then are over. */
void mimicd_inject_reset(struct mimicd_injection *injection);

/* Must an access wait? *due: until when, 0: until the device answers again. */
bool mimicd_inject_holds(struct mimicd_injection *injection, uint64_t *due);
/* The address of a fault as the driver gets it. */
uint64_t mimicd_inject_fault_address(struct mimicd_injection *injection, uint64_t address);
/* Is the interrupt that is to be raised lost? */
bool mimicd_inject_loses_interrupt(struct mimicd_injection *injection);

#endif
