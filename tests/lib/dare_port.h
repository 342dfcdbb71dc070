/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libdare on the plain interpreter instead of a device: tests that look at the
 * instructions themselves, and at each byte that they read and write.
 */
#ifndef TESTS_DARE_PORT_H
#define TESTS_DARE_PORT_H

#include "libdare/internal.h"
#include "tests/lib/dare_oracle.h"

#define DARE_PORT_RANGES 16

struct dare_port {
	struct dare_oracle oracle;
	struct dare_oracle_memory memory;
	struct {
		uint8_t *start;
		size_t size;
		bool is_allocated;
	} ranges[DARE_PORT_RANGES];	/* the only memory there is */
	size_t posts, values;
	int post_error;			/* what the next posts answer, if not 0 */
	bool alloc_fails;
	bool is_closed;
};

/* A context on an interpreter of its own. `port` must outlive it. */
struct dare *dare_port_open(struct dare_port *port);
/* Memory of the test that instructions may reach. */
void dare_port_allow(struct dare_port *port, void *start, size_t size);

#endif
