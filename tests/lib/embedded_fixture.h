/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One device on the embedded transport, and its accesses in short form. */
#ifndef TESTS_EMBEDDED_FIXTURE_H
#define TESTS_EMBEDDED_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above */
#include <cmocka.h>

#include "libmimic/mimic.h"
#include "mimic/maple_registers.h"

/* Size code 2: words of each queue. */
#define WORDS 32
#define SIZE_CODE 2

extern const struct mimic_options embedded_options;
extern struct mimic_device *device;

/* All but counter() abort on an error: cmocka's asserts are not for other threads. */
struct mimic_access device_pattern(unsigned int operation, unsigned int queue, uint8_t size);
int device_try_load(unsigned int operation, unsigned int queue, uint8_t size, uint64_t *data);
uint64_t device_load(unsigned int operation, unsigned int queue);
uint32_t device_consume32(unsigned int queue);
void device_post(unsigned int operation, unsigned int queue, uint8_t size, const uint64_t *values,
		 size_t count);
void device_post_one(unsigned int operation, unsigned int queue, uint8_t size, uint64_t value);
void device_take(unsigned int queue, uint8_t size, void *values, size_t count);
uint64_t device_counter(enum maple_counter which);
void device_open_both(unsigned int queue);
/* cmocka puts handlers of SIGSEGV and SIGBUS of its own before every test. */
void device_restore_handlers(void);

int device_open(void **state);
int device_close(void **state);
int device_run_tests(const char *name, const struct CMUnitTest *tests, size_t count);

#define DEVICE_TEST(name) cmocka_unit_test_setup_teardown(name, device_open, device_close)

#endif
