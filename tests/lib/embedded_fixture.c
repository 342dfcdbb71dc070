/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/embedded_fixture.h"

#include <signal.h>
#include <stdlib.h>

const struct mimic_options embedded_options = {
	.transport = MIMIC_TRANSPORT_EMBEDDED,
	.config_path = "paper",
	.devices = "maple:2",
};

struct mimic_device *device;
static struct sigaction fault_actions[2];

struct mimic_access device_pattern(unsigned int operation, unsigned int queue, uint8_t size)
{
	return (struct mimic_access) { .offset = MAPLE_OFFSET(operation, queue), .size = size };
}

int device_try_load(unsigned int operation, unsigned int queue, uint8_t size, uint64_t *data)
{
	struct mimic_access access = device_pattern(operation, queue, size);
	int error = mimic_device_access(device, &access);

	*data = access.data;
	return error;
}

/* Calls of helper threads cannot use cmocka's asserts. */
uint64_t device_load(unsigned int operation, unsigned int queue)
{
	uint64_t data;

	if (device_try_load(operation, queue, 8, &data))
		abort();
	return data;
}

uint32_t device_consume32(unsigned int queue)
{
	uint64_t data;

	if (device_try_load(MAPLE_LOAD_CONSUME, queue, 4, &data))
		abort();
	return (uint32_t)data;
}

void device_post(unsigned int operation, unsigned int queue, uint8_t size, const uint64_t *values,
		 size_t count)
{
	struct mimic_access access = device_pattern(operation, queue, size);

	if (mimic_device_post(device, &access, values, count) != (ssize_t)count)
		abort();
}

void device_post_one(unsigned int operation, unsigned int queue, uint8_t size, uint64_t value)
{
	device_post(operation, queue, size, &value, 1);
}

void device_take(unsigned int queue, uint8_t size, void *values, size_t count)
{
	struct mimic_access access = device_pattern(MAPLE_LOAD_CONSUME, queue, size);

	if (mimic_device_load(device, &access, values, count) != (ssize_t)count)
		abort();
}

uint64_t device_counter(enum maple_counter which)
{
	uint64_t counters[MAPLE_COUNTER_COUNT];

	assert_int_equal(mimic_device_counters(device, counters, MAPLE_COUNTER_COUNT),
			 MAPLE_COUNTER_COUNT);
	return counters[which];
}

/* cmocka puts handlers of its own before every test. */
void device_restore_handlers(void)
{
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
}

int device_open(void **state)
{
	(void)state;
	if (mimic_device_open(&device, "maple0", &embedded_options))
		return -1;
	return (device_load(MAPLE_LOAD_INIT, SIZE_CODE) & 2) ? 0 : -1;
}

int device_close(void **state)
{
	(void)state;
	mimic_device_close(device);
	return 0;
}

void device_open_both(unsigned int queue)
{
	device_load(MAPLE_LOAD_OPEN_PRODUCER, queue);
	device_load(MAPLE_LOAD_OPEN_CONSUMER, queue);
}

int device_run_tests(const char *name, const struct CMUnitTest *tests, size_t count)
{
	/* The first open installs the handlers; cmocka replaces them in every test. */
	if (mimic_device_open(&device, "maple0", &embedded_options))
		return 1;
	mimic_device_close(device);
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
	return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}
