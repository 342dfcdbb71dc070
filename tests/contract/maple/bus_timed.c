/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>

#include "tests/contract/maple/bus_timed.h"
#include "tests/contract/internal.h"
#include "tests/lib/self_memory.h"
#include "tests/lib/timed_maple.h"

#define WAY 11			/* cycles from a core to the device, and back */
#define CYCLES_OF_MILLISECOND 1000000

static struct maple_time *device;
static struct mimic_memory memory;
static uint64_t now;
static struct {
	bool waits;
	uint64_t answer;
} threads[BUS_THREADS];

/* Longer or shorter by address, so that data comes back out of order. */
static uint64_t read_time(void *context, uint64_t address, unsigned int size, bool through_l2, uint64_t time)
{
	(void)context;
	(void)size;
	if (through_l2)
		return time + 30 + (address >> 6 & 1) * 300;
	return time + 300 + (address >> 2 & 3) * 40;
}

static uint64_t write_time(void *context, uint64_t address, unsigned int size, uint64_t time)
{
	return read_time(context, address, size, true, time);
}

static void prefetch(void *context, uint64_t address, uint64_t time)
{
	(void)context;
	(void)address;
	(void)time;
}

static int read_bytes(void *context, uint64_t address, void *buffer, unsigned int size)
{
	(void)context;
	return memory.read(memory.context, address, buffer, size);
}

static int do_atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		     uint32_t expected, uint32_t *old)
{
	(void)context;
	return memory.atomic(memory.context, address, operation, operand, expected, old);
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

static int open_device(const char *configuration, bool walks)
{
	const struct mimic_time_host host = {
		.read_time = read_time, .write_time = write_time, .prefetch = prefetch,
		.read = read_bytes, .atomic = do_atomic, .complete = complete,
	};
	struct sim_parameters parameters = timed_parameters();
	struct maple_time_parameters taken;
	struct maple_config config;
	int error = maple_config_profile(&config, configuration);

	if (error)
		return error;
	parameters.maple_translation = walks;
	parameters.maple_walk = 30;
	memory = self_memory();
	taken = timed_device_parameters(&parameters);
	device = maple_time_create(&taken, &config, &host);
	return device ? 0 : -errno;
}

static int open_timed(const struct contract_device *kind, const char *configuration)
{
	(void)kind;
	return open_device(configuration, false);
}

static int open_timed_walks(const struct contract_device *kind, const char *configuration)
{
	(void)kind;
	return open_device(configuration, true);
}

static void close_timed(void)
{
	maple_time_destroy(device);
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
	if (!maple_time_access(device, &access, now, &done))
		return;
	threads[who].waits = false;
	threads[who].answer = access.data;
	now = done + WAY;
}

/* The device works by itself until `who` has an answer, or for `patience` ms. */
static bool is_over(enum bus_thread who, unsigned int patience, uint64_t *answer)
{
	uint64_t until = now + (uint64_t)patience * CYCLES_OF_MILLISECOND;

	while (threads[who].waits && maple_time_next(device) <= until) {
		uint64_t next = maple_time_next(device);

		now = next > now ? next : now;
		maple_time_advance(device, now);
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
	maple_time_advance(device, now);
}

static void end_owner(enum bus_thread who)
{
	now += WAY;
	maple_time_owner_gone(device, (uint64_t)who + 1, now);
}

static int no_memory(void **address, size_t size)
{
	(void)address;
	(void)size;
	return -ENXIO;
}

#define TIMED_BUS(text, opens) { \
	.name = text, .open = opens, .close = close_timed, .begin = begin, .post = post, .call = call, \
	.is_over = is_over, .sleep = let_pass, .end_thread = end_owner, .memory = no_memory, \
}

const struct bus bus_timed = TIMED_BUS("timed", open_timed);
const struct bus bus_timed_walks = TIMED_BUS("timed, with walks", open_timed_walks);
