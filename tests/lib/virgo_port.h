/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libvirgo on a cluster of the test, without transport and threads: tests that look
 * at the commands themselves, and at each byte that they read and write.
 */
#ifndef TESTS_VIRGO_PORT_H
#define TESTS_VIRGO_PORT_H

#include "libvirgo/internal.h"
#include "tests/lib/virgo_fixture.h"

#define VIRGO_PORT_COMMANDS 4096

struct virgo_port {
	struct virgo_fixture *fixture;
	/* What was posted, if it is not more than this. */
	struct {
		unsigned int unit;
		uint64_t rs1, rs2;
		uint32_t word;
	} commands[VIRGO_PORT_COMMANDS];
	size_t count, posts;
	unsigned int last_wait;		/* FENCE or WAIT_LOOPS_n, the last that was loaded */
	unsigned int waits;		/* how many of these were */
	unsigned int at_once;		/* so many of the next are answered without a wait */
	uint64_t identity;		/* instead of the cluster's, if not 0 */
	int post_error;			/* what the next posts answer, if not 0 */
	bool alloc_fails;
	int fd;				/* of the last eventfd() */
	uint64_t events;
	bool is_closed;
	/* Called before it happens; NULL: nothing is. */
	void (*on_post)(struct virgo_port *port);
	void (*on_wait)(struct virgo_port *port);
	void (*on_free)(struct virgo_port *port, void *memory);
};

/* A handle on a cluster of its own; NULL config: the default. The port must outlive it. */
struct virgo *virgo_port_open(struct virgo_port *port, const struct virgo_config *config);
/* 0, or virgo_open_port()'s error. */
int virgo_port_try(struct virgo_port *port, struct virgo **virgo);
/* Closes the handle, and throws the cluster away. */
void virgo_port_close(struct virgo_port *port, struct virgo *virgo);

#endif
