/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef PRINT_BLOCKS_H
#define PRINT_BLOCKS_H

#include "devices/register.h"

/* The registers of a block as a table of the docs. Those of counters are left out: they have a list of their own. */
void print_block(const char *title, const struct mimic_register_block *block);

#endif
