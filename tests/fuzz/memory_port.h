/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A memory port for fuzz targets: some pages from FUZZ_MEMORY on, and nothing else is there. */
#ifndef TESTS_FUZZ_MEMORY_PORT_H
#define TESTS_FUZZ_MEMORY_PORT_H

#include "devices/model.h"

#define FUZZ_MEMORY 0x10000u
#define FUZZ_MEMORY_BYTES 0x4000u

extern const struct mimic_memory fuzz_memory_port;

/* The same bytes for each input. */
void fuzz_memory_reset(void);

#endif
