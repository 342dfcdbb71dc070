/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libmimic's calls; which transport is the environment's choice. */
#include <errno.h>
#include <string.h>

#include "libmimic/mimic.h"
#include "tests/contract/internal.h"

static const struct contract_device *opened;
static struct mimic_device *handles[CONTRACT_HANDLES];

static void check(long result, long wanted, const char *what)
{
	if (result != wanted)
		contract_fail(__FILE__, __LINE__, "%s: %s", what,
			      result < 0 ? strerror((int)-result) : "a wrong count");
}

/* Watched accesses wait until the device has answered; the others take the batched calls. */
static void perform(enum bus_thread who, struct bus_work *work)
{
	struct mimic_device *device = handles[opened->handle_of[who]];
	struct mimic_access *access = &work->access, pattern = *access;
	uint64_t answer = 0;

	if (work->count) {
		check(mimic_device_post(device, &pattern, work->values, work->count), (long)work->count,
		      "mimic_device_post");
		return;
	}
	if (work->watched) {
		check(mimic_device_access(device, access), 0, "mimic_device_access");
		return;
	}
	pattern.data = 0;
	if (access->is_write) {
		check(mimic_device_post(device, &pattern, &access->data, 1), 1, "mimic_device_post");
		return;
	}
	check(mimic_device_load(device, &pattern, &answer, 1), 1, "mimic_device_load");
	access->data = answer;
}

static int open_library(const struct contract_device *device, const char *configuration)
{
	int error;

	(void)configuration;
	opened = device;
	for (unsigned int i = 0; i < device->handles; i++) {
		error = mimic_device_open(&handles[i], device->name, NULL);
		if (error)
			return error;
	}
	bus_threads_start(perform);
	return 0;
}

static void close_library(void)
{
	bus_threads_stop();
	for (unsigned int i = 0; i < opened->handles; i++)
		mimic_device_close(handles[i]);
}

static int memory_by_library(void **address, size_t size)
{
	size_t actual = 0;
	int error = mimic_device_memory(handles[0], address, &actual);

	if (error)
		return error;
	return actual == size ? 0 : -EMSGSIZE;
}

const struct bus bus_library = {
	.name = "library",
	.open = open_library,
	.close = close_library,
	.begin = bus_threads_begin,
	.post = bus_threads_post,
	.call = bus_threads_call,
	.is_over = bus_threads_is_over,
	.sleep = bus_threads_sleep,
	.end_thread = bus_threads_end,
	.memory = memory_by_library,
};
