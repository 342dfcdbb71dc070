/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A Virgo cluster on the embedded transport. Everything but the setup functions aborts
 * on an error, so that any thread and any child process may use it.
 */
#ifndef TESTS_VIRGO_EMBEDDED_H
#define TESTS_VIRGO_EMBEDDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above */
#include <cmocka.h>

#include "libmimic/mimic.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"

/* The units of the default clusters (profile mixed). */
enum { UNIT_FP32, UNIT_FP32_SMALL, UNIT_INT8, UNIT_FP16 };
#define ROW_BYTES 32	/* of the scratchpad of UNIT_FP32 */

extern const struct mimic_options cluster_options;
extern struct mimic_device *cluster;	/* virgo0 */

int cluster_open(void **state);
int cluster_close(void **state);
/* cmocka puts handlers of SIGSEGV and SIGBUS of its own before every test: ours back, for bad addresses. */
void cluster_restore_handlers(void);
int cluster_run_tests(const char *name, const struct CMUnitTest *tests, size_t count);
#define CLUSTER_TEST(name) cmocka_unit_test_setup_teardown(name, cluster_open, cluster_close)

uint64_t cluster_load(struct mimic_device *device, unsigned int page, unsigned int offset);
void cluster_store(struct mimic_device *device, unsigned int page, unsigned int offset, uint64_t value);
uint64_t unit_load(struct mimic_device *device, unsigned int unit, unsigned int offset);
void unit_store(struct mimic_device *device, unsigned int unit, unsigned int offset, uint64_t value);
/* To STREAM. */
void unit_command(struct mimic_device *device, unsigned int unit, unsigned int funct, uint64_t rs1,
		  uint64_t rs2);
/* FENCE; aborts if the unit has an error. */
void unit_fence(struct mimic_device *device, unsigned int unit);
unsigned char *cluster_memory(struct mimic_device *device, size_t *size);

/* Of UNIT_FP32: rows of 32 bytes between memory and row `row` of the scratchpad, after unit_configure(). */
void unit_configure(struct mimic_device *device);
void unit_move_in(struct mimic_device *device, const void *from, uint32_t row, unsigned int rows);
void unit_move_out(struct mimic_device *device, void *to, uint32_t row, unsigned int rows);
/* Multiplies 64 x 64 x 64 in the accumulator, `count` times: about 15 us each. */
void unit_work(struct mimic_device *device, unsigned int unit, unsigned int count);

#endif
