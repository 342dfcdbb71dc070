/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"

struct served served;
struct mimic_device *served_device;

int daemon_device_start(unsigned int devices)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON };

	alarm(120);
	if (!served_start(&served, devices, false))
		return -1;
	options.socket_path = served.socket;
	return mimic_device_open(&served_device, "maple0", &options);
}

int daemon_device_setup(void **state)
{
	(void)state;
	return daemon_device_start(2);
}

int daemon_device_teardown(void **state)
{
	int status;

	(void)state;
	mimic_device_close(served_device);
	status = served_end(&served, SIGTERM);
	served_clean(&served);
	return status;
}

uint64_t register_load(unsigned int operation, unsigned int field, unsigned int size)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = (uint8_t)size };

	assert_int_equal(mimic_device_access(served_device, &access), 0);
	return access.data;
}

void register_store(unsigned int operation, unsigned int field, unsigned int size, uint64_t value)
{
	struct mimic_access access = { .offset = AT(operation, field), .size = (uint8_t)size,
				       .is_write = 1, .data = value };

	assert_int_equal(mimic_device_access(served_device, &access), 0);
}

void register_post(unsigned int operation, unsigned int field, unsigned int size,
		   const uint64_t *values, size_t count)
{
	struct mimic_access pattern = { .offset = AT(operation, field), .size = (uint8_t)size };

	assert_int_equal(mimic_device_post(served_device, &pattern, values, count), count);
}

void served_init(unsigned int size_code)
{
	register_load(RESET, 0, 4);
	assert_int_equal(register_load(INIT, size_code, 4), 2);
}

void served_open_both(unsigned int queue)
{
	assert_true(register_load(OPEN_PRODUCER, queue, 4) & 2);
	assert_true(register_load(OPEN_CONSUMER, queue, 4) & 1);
}

void *produce_thread(void *argument)
{
	const size_t count = *(size_t *)argument;
	uint64_t *values = malloc(count * sizeof(*values));

	for (size_t i = 0; i < count; i++)
		values[i] = i * 3 + 1;
	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
	register_post(PRODUCE, 0, 4, values, count);
	free(values);
	return NULL;
}
