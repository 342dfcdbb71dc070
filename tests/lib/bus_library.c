/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libmimic's calls; which transport is the environment's choice. */
#include <string.h>

#include "libmimic/mimic.h"
#include "tests/lib/contract_internal.h"

static struct mimic_device *device;

static void check(long result, long wanted, const char *what)
{
	if (result != wanted)
		contract_fail(__FILE__, __LINE__, "%s: %s", what,
			      result < 0 ? strerror((int)-result) : "a wrong count");
}

/* Watched accesses wait until the device has answered; the others take the batched calls. */
static void perform(struct mimic_access *access, bool watched)
{
	struct mimic_access pattern = *access;
	uint64_t answer = 0;

	if (watched) {
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

static int open_library(const char *profile)
{
	int error = mimic_device_open(&device, "maple0", NULL);

	(void)profile;
	if (error)
		return error;
	bus_threads_start(NULL, perform);
	return 0;
}

static void close_library(void)
{
	bus_threads_stop();
	mimic_device_close(device);
}

const struct bus bus_library = {
	.name = "library",
	.open = open_library,
	.close = close_library,
	.begin = bus_threads_begin,
	.is_over = bus_threads_is_over,
	.sleep = bus_threads_sleep,
	.end_thread = bus_threads_end,
};
