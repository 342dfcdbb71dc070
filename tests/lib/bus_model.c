/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bare model: threads are owner numbers, a waiting access is a parked one. */
#include <errno.h>
#include <string.h>

#include "devices/maple/maple_model.h"
#include "tests/lib/contract_internal.h"
#include "tests/lib/self_memory.h"

static struct mimic_model *model;
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

static int open_model(const char *profile)
{
	struct mimic_host host = { .complete = complete };
	struct maple_config config;
	int error = maple_config_profile(&config, profile);

	if (error)
		return error;
	host.memory = self_memory();
	model = maple_model_create(&config, &host);
	return model ? 0 : -errno;
}

static void close_model(void)
{
	maple_model_destroy(model);
}

static void begin_on_model(enum bus_thread who, const struct mimic_access *asked, bool watched)
{
	struct mimic_access access = *asked;

	(void)watched;
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

static void sleep_on_model(unsigned int milliseconds)
{
	now += (uint64_t)milliseconds * 1000000;
	model->ops->tick(model, now);
}

static bool is_over_on_model(enum bus_thread who, unsigned int patience, uint64_t *answer)
{
	if (threads[who].waits) {
		/* No tick: what can go on must go on by itself. */
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

const struct bus bus_model = {
	.name = "model",
	.open = open_model,
	.close = close_model,
	.begin = begin_on_model,
	.is_over = is_over_on_model,
	.sleep = sleep_on_model,
	.end_thread = end_thread_on_model,
};
