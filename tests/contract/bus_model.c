/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bare model: threads are owner numbers, a waiting access is a parked one. */
#include <errno.h>
#include <string.h>

#include "devices/model.h"
#include "tests/contract/internal.h"
#include "tests/lib/self_memory.h"

#define PATIENCE_FOR_WORK 1000

static const struct contract_device *opened;
static struct mimic_model *model;
static struct mimic_memory memory;
static uint64_t now;
static struct {
	bool waits;
	uint64_t answer;
} threads[BUS_THREADS];

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	if (owner < 1 || owner > BUS_THREADS || !threads[owner - 1].waits)
		contract_fail(__FILE__, __LINE__, "the model completes an access of owner %llu that is not parked",
			      (unsigned long long)owner);
	threads[owner - 1].waits = false;
	threads[owner - 1].answer = data;
}

/* Every address space is this process. */
static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	(void)context;
	(void)address_space;
	return &memory;
}

static int open_model(const struct contract_device *device, const char *configuration)
{
	struct mimic_host host = { .complete = complete, .memory_of = memory_of };

	memory = self_memory();
	host.memory = memory;
	opened = device;
	model = device->create_model(configuration, &host);
	return model ? 0 : -errno;
}

static void close_model(void)
{
	opened->destroy_model(model);
}

/* Does all the work that a device does by itself. */
static void work_off(void)
{
	while (opened->works_by_ticks && model->ops->busy(model))
		model->ops->tick(model, ++now);
}

static void begin_on_model(enum bus_thread who, const struct mimic_access *asked, bool watched)
{
	struct mimic_access access = *asked;

	(void)watched;
	access.page += opened->model_page[opened->handle_of[who]];
	if (threads[who].waits)
		contract_fail(__FILE__, __LINE__, "the case uses thread %c while it waits", "ABC"[who]);
	access.owner = (uint64_t)who + 1;
	now += 10;
	threads[who].waits = true;
	if (model->ops->access(model, &access, now) == MIMIC_PARKED)
		return;
	threads[who].waits = false;
	threads[who].answer = access.data;
}

/* As a transport does it: in batches, and singly each store at which a batch stops. */
static void post_on_model(enum bus_thread who, const struct mimic_access *asked, const uint64_t *values,
			  size_t count)
{
	struct mimic_access access = *asked, pattern = *asked;
	size_t done = 0;

	pattern.owner = (uint64_t)who + 1;
	pattern.page += opened->model_page[opened->handle_of[who]];
	while (done < count) {
		now += 10;
		done += model->ops->store_many(model, &pattern, values + done, count - done, now);
		if (done == count)
			break;
		access.data = values[done++];
		begin_on_model(who, &access, false);
		if (threads[who].waits)
			work_off();
		if (threads[who].waits)
			contract_fail(__FILE__, __LINE__, "a store of a batch waits");
	}
	threads[who].answer = 0;
}

static void call_on_model(enum bus_thread who, void (*function)(void *), void *argument)
{
	(void)who;
	function(argument);
}

static void sleep_on_model(unsigned int milliseconds)
{
	now += (uint64_t)milliseconds * 1000000;
	model->ops->tick(model, now);
	work_off();
}

static bool is_over_on_model(enum bus_thread who, unsigned int patience, uint64_t *answer)
{
	/* A case that only looks whether it still waits sees the device before it works. */
	if (threads[who].waits && patience >= PATIENCE_FOR_WORK)
		work_off();
	if (threads[who].waits) {
		/* No tick: an access that can end must end without one. */
		now += (uint64_t)patience * 1000000;
		return false;
	}
	*answer = threads[who].answer;
	return true;
}

static void end_thread_on_model(enum bus_thread who)
{
	now += 10;
	model->ops->owner_gone(model, (uint64_t)who + 1, now);
}

static int memory_on_model(void **address, size_t size)
{
	(void)size;
	*address = opened->model_memory ? opened->model_memory() : NULL;
	return *address ? 0 : -ENXIO;
}

const struct bus bus_model = {
	.name = "model",
	.is_stepped = true,
	.open = open_model,
	.close = close_model,
	.begin = begin_on_model,
	.post = post_on_model,
	.call = call_on_model,
	.is_over = is_over_on_model,
	.sleep = sleep_on_model,
	.end_thread = end_thread_on_model,
	.memory = memory_on_model,
};
