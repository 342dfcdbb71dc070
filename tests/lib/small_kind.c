/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/small_kind.h"

#include <errno.h>

static void defaults(void *parameters)
{
	*(struct small_parameters *)parameters = (struct small_parameters){ .depth = 4 };
}

static const char *check(const void *parameters)
{
	return ((const struct small_parameters *)parameters)->depth ? NULL : "depth must not be 0";
}

static struct mimic_model *create(const void *parameters, const struct mimic_host *host, void *memory)
{
	(void)parameters;
	(void)host;
	(void)memory;
	errno = ENOSYS;
	return NULL;
}

static void destroy(struct mimic_model *model)
{
	(void)model;
}

static bool may_wait(const struct mimic_access *store)
{
	(void)store;
	return false;
}

static void state(const struct mimic_model *model, uint64_t now, const struct mimic_state_visitor *visitor)
{
	(void)model;
	(void)now;
	(void)visitor;
}

void small_kind(struct mimic_kind *kind)
{
	static const struct mimic_key keys[] = {
		{ "depth", offsetof(struct small_parameters, depth), 0 },
		{ "memory_pages", offsetof(struct small_parameters, memory_pages), 0 },
	};
	static const char *const counters[] = { "loads", "stores" };

	*kind = (struct mimic_kind){
		.name = "small", .default_count = 1, .pages = 1, .device_pages = 1, .batch = 1,
		.keys = keys, .key_count = 2, .parameters_size = MIMIC_PARAMETERS_SIZE(struct small_parameters),
		.defaults = defaults, .check = check, .create = create, .destroy = destroy,
		.counters = counters, .counter_count = 2, .may_wait = may_wait, .state = state,
	};
}
