/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A Virgo cluster on a daemon of the test's own, used through libmimic: commands by
 * hand, and a whole product of fp32 matrices with its expected values. For cmocka
 * programs; virgo_client_* fail the test, or end a child process with status 99.
 */
#ifndef TESTS_VIRGO_CLIENT_H
#define TESTS_VIRGO_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmimic/mimic.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/daemon_fixture.h"

/* The units of the default clusters (profile mixed). */
enum { UNIT_FP32 = 0, UNIT_FP32_SMALL = 1, UNIT_INT8 = 2, UNIT_FP16 = 3 };

/* A daemon with so many clusters and MAPLE devices. For setup functions. */
int virgo_daemon_start(struct served *served, unsigned int clusters, unsigned int maples);
int virgo_daemon_end(struct served *served);
/* Nanoseconds on a CPU so far, of all threads of the daemon. */
uint64_t virgo_daemon_cpu_ns(const struct served *served);

struct mimic_device *virgo_client_open(const struct served *served, const char *name);
uint64_t virgo_client_load(struct mimic_device *device, unsigned int page, unsigned int offset);
void virgo_client_store(struct mimic_device *device, unsigned int page, unsigned int offset, uint64_t value);
uint64_t virgo_client_unit(struct mimic_device *device, unsigned int unit, unsigned int offset);
void virgo_client_command(struct mimic_device *device, unsigned int unit, enum virgo_funct funct,
			  uint64_t rs1, uint64_t rs2);
/* Waits until all of the unit's commands are over; its error, VIRGO_ERROR_NONE if there is none. */
enum virgo_error virgo_client_fence(struct mimic_device *device, unsigned int unit);

/*
 * C = A x B of side x side fp32, side a multiple of 32, in the half of the shared
 * memory that is the unit's. Posts `times` of them, and does not wait.
 */
struct virgo_client_product {
	unsigned int side;
	unsigned int times;
	float *a, *b, *c;
};

/*
 * Small whole numbers, so that every order of sums gives the same; `seed` changes them.
 * C is filled with something else.
 */
void virgo_client_fill(struct virgo_client_product *product, unsigned int seed);
void virgo_client_post(struct mimic_device *device, unsigned int unit,
		       const struct virgo_client_product *product);
/* Elements of C that differ from a plain computation. */
size_t virgo_client_wrong(const struct virgo_client_product *product);
/* Memory for the three, shared with the daemon or the process's own. */
void virgo_client_alloc(struct mimic_device *device, struct virgo_client_product *product,
			unsigned int side, bool shared);

uint64_t virgo_client_now(void);

#endif
