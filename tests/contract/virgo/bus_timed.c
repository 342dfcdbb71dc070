/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <string.h>

#include "devices/virgo/time/virgo_time.h"
#include "sim/parameters.h"
#include "tests/contract/virgo/bus_timed.h"
#include "tests/contract/virgo/internal.h"
#include "tests/lib/self_memory.h"

#define WAY 11			/* cycles from a core to the device, and back */
#define CYCLES_OF_MILLISECOND 1000000
#define PATIENCE_FOR_WORK 1000
#define LOOK 100		/* cycles for a case without patience: fewer than it keeps a unit busy */

static struct virgo_time *device;
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
		.memory = kind->model_memory(),
	};
	struct virgo_time_parameters parameters;
	struct virgo_config config;
	char why[128];

	(void)configuration;
	if (sim_parameters_load(&soc, "virgo", why, sizeof(why)))
		return -EINVAL;
	memory = self_memory();
	virgo_time_parameters(&host, &parameters);
	/* Of kernels, which the cases have none of: they have to fit the memory of each unit. */
	parameters.matrix_tile_m = parameters.matrix_tile_n = parameters.matrix_tile_k = 16;
	virgo_contract_config(&config);
	device = virgo_timed_create(&parameters, &config, &host);
	return device ? 0 : -errno;
}

static void close_timed(void)
{
	virgo_timed_destroy(device);
}

static void begin(enum bus_thread who, const struct mimic_access *asked, bool watched)
{
	struct mimic_access access = *asked;
	uint64_t done;

	(void)watched;
	if (threads[who].waits)
		contract_fail(__FILE__, __LINE__, "the case uses thread %c while it waits", "ABC"[who]);
	access.owner = (uint64_t)who + 1;
	now += WAY;
	threads[who].waits = true;
	if (!virgo_timed_access(device, &access, now, &done))
		return;
	threads[who].waits = false;
	threads[who].answer = access.data;
	now = done + WAY;
}

/* The device works by itself until `who` has an answer, or until cycle `until`. */
static void work_until(enum bus_thread who, uint64_t until)
{
	while (threads[who].waits && virgo_timed_next(device) <= until) {
		uint64_t time = virgo_timed_advance_until(device, until + 1);

		now = time > now ? time : now;
	}
}

static bool is_over(enum bus_thread who, unsigned int patience, uint64_t *answer)
{
	uint64_t until = now + (patience < PATIENCE_FOR_WORK ? LOOK : (uint64_t)patience * CYCLES_OF_MILLISECOND);

	work_until(who, until);
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
		if (!is_over(who, PATIENCE_FOR_WORK, &answer))
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
	virgo_timed_advance(device, now);
}

static void end_owner(enum bus_thread who)
{
	now += WAY;
	virgo_timed_owner_gone(device, (uint64_t)who + 1, now);
}

static int shared_of_model(void **address, size_t size)
{
	(void)size;
	*address = contract_device.model_memory();
	return 0;
}

const struct bus virgo_bus_timed = {
	.name = "timed", .is_stepped = true, .open = open_timed, .close = close_timed, .begin = begin, .post = post,
	.call = call, .is_over = is_over, .sleep = let_pass, .end_thread = end_owner, .memory = shared_of_model,
};
