/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libvirgo on a cluster of the test, without threads: tests that look at the commands
 * themselves, and at each byte that they read and write.
 */
#ifndef TESTS_FAKE_VIRGO_H
#define TESTS_FAKE_VIRGO_H

#include "libvirgo/internal.h"
#include "tests/lib/fake_transport.h"
#include "tests/lib/virgo_fixture.h"

#define FAKE_VIRGO_COMMANDS 4096

struct fake_virgo {
	struct fake_device device;
	struct virgo_fixture *fixture;
	/* The commands that were posted; only the first of them, if there are more than this. */
	struct {
		unsigned int unit;
		uint64_t rs1, rs2;
		uint32_t word;
	} commands[FAKE_VIRGO_COMMANDS];
	size_t count;
	/* Of each unit: values of a command that is not complete. */
	struct {
		uint64_t values[3];
		unsigned int count;
	} streams[VIRGO_UNITS_MAX];
	unsigned int last_wait;		/* FENCE or WAIT_LOOPS_n, the last that was loaded */
	unsigned int waits;		/* how many of these were */
	unsigned int at_once;		/* so many of the next are answered without a wait */
	uint64_t identity;		/* instead of the cluster's, if not 0 */
	/* Called before it happens; may be NULL. */
	void (*on_wait)(struct fake_virgo *fake);
	void (*on_free)(struct fake_virgo *fake, void *memory);
};

/* A handle on a cluster of its own; NULL config: the default. `fake` must outlive it. */
struct virgo *fake_virgo_open(struct fake_virgo *fake, const struct virgo_config *config);
/* One more on the same cluster. 0, or virgo_open()'s error. */
int fake_virgo_open_again(struct fake_virgo *fake, struct virgo **virgo);
/* Closes the handle, and destroys the cluster. */
void fake_virgo_close(struct fake_virgo *fake, struct virgo *virgo);

#endif
