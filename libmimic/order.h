/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which stores may wait in the ring of the thread that posts them.
 *
 * Posts of different threads lie in different rings, and nothing orders one
 * ring against another. That is harmless for a store that works on what its
 * owner has to itself, such as a queue it produces to. A store that others
 * depend on (a base pointer, the tile's A, the MMU, the custom page) must have
 * happened when the call returns.
 */
#ifndef MIMIC_ORDER_H
#define MIMIC_ORDER_H

#include <stdbool.h>

#include "mimic/access.h"

/* `name` is the device's name, which begins with its kind: "maple0". */
bool mimic_store_may_wait_in_ring(const char *name, const struct mimic_access *store);

#endif
