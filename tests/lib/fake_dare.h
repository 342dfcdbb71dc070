/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libdare on the plain interpreter instead of a device: tests that look at the
 * instructions themselves, and at each byte that they read and write.
 */
#ifndef TESTS_FAKE_DARE_H
#define TESTS_FAKE_DARE_H

#include "libdare/internal.h"
#include "tests/lib/dare_oracle.h"
#include "tests/lib/fake_transport.h"

#define FAKE_DARE_RANGES 16

struct fake_dare {
	struct fake_device device;
	struct dare_oracle oracle;
	struct dare_oracle_memory memory;
	struct {
		uint8_t *start;
		size_t size;
		bool is_allocated;
	} ranges[FAKE_DARE_RANGES];	/* the only memory there is */
};

/* A context on an interpreter of its own. `fake` must outlive it. */
struct dare *fake_dare_open(struct fake_dare *fake);
/* Memory of the test that instructions may reach. */
void fake_dare_allow(struct fake_dare *fake, void *start, size_t size);

#endif
