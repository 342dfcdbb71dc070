/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Inspection requests: those of the state filesystem, and messages of clients that only
 * ask. They are served in the loop that serves the devices, so they take turns with it.
 */
#ifndef MIMICD_INSPECTION_H
#define MIMICD_INSPECTION_H

#include <stdbool.h>
#include <stdint.h>

struct mimicd_engine;

/* false: it is the lanes' turn. The descriptor stays readable, and is asked again. */
bool mimicd_inspection_may_begin(const struct mimicd_engine *engine, uint64_t now);
/* If the lanes had work when it began, they now get as long as it took. */
void mimicd_inspection_ended(struct mimicd_engine *engine, uint64_t begun);

#endif
