/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>

#include "devices/dare/time/dare_time.h"
#include "sim/parameters.h"
#include "tests/contract/dare/bus_timed.h"
#include "tests/contract/dare/contract.h"
#include "tests/contract/internal.h"
#include "tests/lib/self_memory.h"

#define WAY 11			/* cycles from a core to the device, and back */
#define CYCLES_OF_MILLISECOND 1000000
#define HANDLES 2

static struct dare_time *devices[HANDLES];
static struct sim_parameters soc;
static struct mimic_memory memory;
static uint64_t now;
static struct {
	bool waits;
	uint64_t answer;
} threads[BUS_THREADS];

static uint64_t parameter(void *context, const char *section, const char *key)
{
	(void)context;
	return sim_parameters_get(&soc, section, key);
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	(void)context;
	return memory.read_rows(memory.context, addresses, count, size, rows);
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context;
	return memory.write_rows(memory.context, addresses, count, size, rows);
}

static void complete(void *context, uint64_t owner, uint64_t data, uint64_t time)
{
	(void)context;
	if (owner < 1 || owner > BUS_THREADS || !threads[owner - 1].waits)
		contract_fail(__FILE__, __LINE__, "the device completes an access of owner %llu that does not wait",
			      (unsigned long long)owner);
	if (time < now)
		contract_fail(__FILE__, __LINE__, "an answer leaves the device before its time");
	threads[owner - 1].waits = false;
	threads[owner - 1].answer = data;
}

static int open_timed(const struct contract_device *kind, const char *configuration)
{
	const struct mimic_time_host host = {
		.parameter = parameter, .read_rows = read_rows, .write_rows = write_rows, .complete = complete,
	};
	struct dare_time_parameters parameters;
	char why[128];

	(void)kind;
	(void)configuration;
	if (sim_parameters_load(&soc, "dare", why, sizeof(why)))
		return -EINVAL;
	memory = self_memory();
	dare_time_parameters(&host, &parameters);
	for (unsigned int i = 0; i < HANDLES; i++) {
		devices[i] = dare_time_create(&parameters, &host);
		if (!devices[i])
			return -errno;
	}
	return 0;
}

static void close_timed(void)
{
	for (unsigned int i = 0; i < HANDLES; i++)
		dare_time_destroy(devices[i]);
}

bool dare_bus_is_timed(void)
{
	return devices[0];
}

static struct dare_time *device_of(enum bus_thread who)
{
	return devices[contract_device.handle_of[who]];
}

static void begin(enum bus_thread who, const struct mimic_access *asked, bool watched)
{
	struct mimic_access access = *asked;
	uint64_t done;

	(void)watched;
	if (threads[who].waits)
		contract_fail(__FILE__, __LINE__, "the case uses thread %c while it waits", "ABC"[who]);
	access.owner = (uint64_t)who + 1;
	access.page += contract_device.model_page[0];
	now += WAY;
	threads[who].waits = true;
	if (!dare_time_access(device_of(who), &access, now, &done))
		return;
	threads[who].waits = false;
	threads[who].answer = access.data;
	now = done + WAY;
}

/* The device works by itself until `who` has an answer, or for `patience` ms. */
static bool is_over(enum bus_thread who, unsigned int patience, uint64_t *answer)
{
	struct dare_time *device = device_of(who);
	uint64_t until = now + (uint64_t)patience * CYCLES_OF_MILLISECOND;

	while (threads[who].waits && dare_time_next(device) <= until) {
		uint64_t next = dare_time_next(device);

		now = next > now ? next : now;
		dare_time_advance(device, now);
	}
	if (threads[who].waits) {
		now = until;
		return false;
	}
	*answer = threads[who].answer;
	return true;
}

static void post(enum bus_thread who, const struct mimic_access *pattern, const uint64_t *values, size_t count)
{
	struct mimic_access access = *pattern;
	uint64_t answer;

	for (size_t i = 0; i < count; i++) {
		access.data = values[i];
		begin(who, &access, false);
		if (!is_over(who, 1000, &answer))
			contract_fail(__FILE__, __LINE__, "a store of a batch waits");
	}
	threads[who].answer = 0;
}

static void call(enum bus_thread who, void (*function)(void *), void *argument)
{
	(void)who;
	function(argument);
}

static void let_pass(unsigned int milliseconds)
{
	now += (uint64_t)milliseconds * CYCLES_OF_MILLISECOND;
	for (unsigned int i = 0; i < HANDLES; i++)
		dare_time_advance(devices[i], now);
}

static void end_owner(enum bus_thread who)
{
	now += WAY;
	dare_time_owner_gone(device_of(who), (uint64_t)who + 1, now);
}

static int no_memory(void **address, size_t size)
{
	(void)address;
	(void)size;
	return -ENXIO;
}

const struct bus dare_bus_timed = {
	.name = "timed", .open = open_timed, .close = close_timed, .begin = begin, .post = post, .call = call,
	.is_over = is_over, .sleep = let_pass, .end_thread = end_owner, .memory = no_memory,
};
