/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/dare_setup.h"

struct dare_host *host;

static int start_with(unsigned int options)
{
	host = host_create(options);
	assert_non_null(host);
	host_fill(host);
	if (options & HOST_FAULTS)
		host->fault_answer = MIMIC_FAULT_STALL;
	return 0;
}

int host_start(void **state)
{
	(void)state;
	return start_with(HOST_IDENTITY);
}

int host_start_walking(void **state)
{
	(void)state;
	return start_with(HOST_WALKS);
}

int host_start_stalling(void **state)
{
	(void)state;
	return start_with(HOST_WALKS | HOST_FAULTS);
}

int host_start_stalling_identity(void **state)
{
	(void)state;
	return start_with(HOST_IDENTITY | HOST_FAULTS);
}

int host_stop(void **state)
{
	(void)state;
	host_destroy(host);
	return 0;
}

void assert_zero(const void *bytes, size_t size)
{
	static const uint8_t zeros[1024];

	assert_memory_equal(bytes, zeros, size);
}
