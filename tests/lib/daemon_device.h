/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A device on a daemon of the test's own, used through libmimic. For cmocka programs. */
#ifndef TESTS_DAEMON_DEVICE_H
#define TESTS_DAEMON_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "libmimic/mimic.h"
#include "tests/lib/daemon_fixture.h"

/* As the contract numbers them (docs/maple.md). */
enum {
	INIT = 0, RESET = 1, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, FAULT_ADDRESS = 18,
	FAULT_COUNT = 19,
	PRODUCE = 8, POINTER32 = 10, LOOP = 14, FULL_POINTER32 = 16, ATOMIC_ADD = 32, LIMA_PREFETCH = 54, SET_BASE32 = 57,
};
#define AT(operation, field) ((operation) << 3 | (field) << 9)
/* Size codes of INIT. */
#define WORDS_32 2
#define WORDS_128 7

extern struct served served;
extern struct mimic_device *served_device;

/* maple0 of a new daemon with so many devices. For setup functions. */
int daemon_device_start(unsigned int devices);
int daemon_device_setup(void **state);	/* with two */
/* Fails if the daemon does not end well; a leak is found here. */
int daemon_device_teardown(void **state);

uint64_t register_load(unsigned int operation, unsigned int field, unsigned int size);
void register_store(unsigned int operation, unsigned int field, unsigned int size, uint64_t value);
void register_post(unsigned int operation, unsigned int field, unsigned int size,
		   const uint64_t *values, size_t count);
/* RESET and INIT. */
void served_init(unsigned int size_code);
/* Both roles of a queue for this thread. */
void served_open_both(unsigned int queue);

/* A thread function: becomes queue 0's producer and posts i * 3 + 1 for each i below *(size_t *)count. */
void *produce_thread(void *count);

#endif
