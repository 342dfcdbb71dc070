/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The calls of front ends for their bindings (function.h). */
#ifndef MIMICD_BINDING_H
#define MIMICD_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/engine/function.h"

/* false: a client, or, if it has no contexts, another process has it. */
bool mimicd_binding_may_open(const struct mimicd_instance *instance);
/* The process has the device. 0; -EAGAIN, -ENOMEM: no worker for its jobs. */
int mimicd_binding_open(struct mimicd_binding *binding);
/*
 * The process has it no more: its clients lose the device, and it, or the contexts that were
 * the process's, are as after power-on. The front end has withdrawn its accesses. Nothing reads
 * the port after this.
 */
void mimicd_binding_close(struct mimicd_binding *binding);

/*
 * The function driver attaches a context to an address space, or (0) to none: clients
 * that had it before have it no more. false: it comes too late, a client of the socket has
 * the device by now.
 */
bool mimicd_binding_attach(struct mimicd_instance *instance, unsigned int context,
			   uint64_t address_space);

#endif
