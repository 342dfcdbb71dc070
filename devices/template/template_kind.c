/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The template device as libmimic, mimicd and the commands know it (devices/kind.h). */
#include "devices/kind.h"
#include "devices/template/template_model.h"

static const struct mimic_key keys[] = {
	{ "latency", offsetof(struct template_config, latency), 0 },
};

static const char *const counters[TEMPLATE_COUNTER_COUNT] = {
#define _(name, meaning) #name,
	TEMPLATE_COUNTERS(_)
#undef _
};

static const char *const counter_meanings[TEMPLATE_COUNTER_COUNT] = {
#define _(name, meaning) meaning,
	TEMPLATE_COUNTERS(_)
#undef _
};

static void defaults(void *parameters)
{
	template_config_default(parameters);
}

static const char *check(const void *parameters)
{
	return template_config_check(parameters);
}

static struct mimic_model *create(const void *parameters, const struct mimic_host *host, void *memory)
{
	(void)memory;	/* it has none that programs map */
	return template_model_create(parameters, host);
}

/* Programs look for the effect of each store at once, or wait for it. */
static bool may_wait(const struct mimic_access *store)
{
	return store->page == TEMPLATE_PAGE_USER && (store->offset == TEMPLATE_A || store->offset == TEMPLATE_B);
}

static void state(const struct mimic_model *model, uint64_t now, const struct mimic_state_visitor *visitor)
{
	uint64_t values[TEMPLATE_COUNTER_COUNT];

	mimic_state_enter(visitor, "registers");
	mimic_state_register_rows(visitor, &template_user_block, model, 0, now);
	mimic_state_register_rows(visitor, &template_control_block, model, 0, now);
	mimic_state_leave(visitor, "registers");
	model->ops->counters(model, values, TEMPLATE_COUNTER_COUNT);
	mimic_state_enter(visitor, "counters");
	for (unsigned int i = 0; i < TEMPLATE_COUNTER_COUNT; i++)
		mimic_state_decimal(visitor, counters[i], values[i], counter_meanings[i]);
	mimic_state_leave(visitor, "counters");
}

/* Nothing else of it makes an access wait. */
static void explain(const struct mimic_model *model, const struct mimic_access *access,
		    struct mimic_text *text)
{
	(void)model, (void)access;
	mimic_text_add(text, "the addition is not over");
}

static const struct mimic_register_block *const blocks[] = {
	&template_user_block,
	&template_control_block,
};

const struct mimic_kind mimic_kind_template = {
	.name = "template",
	.default_count = 1,
	.pages = 1,		/* the driver's is not the program's */
	.device_pages = TEMPLATE_PAGE_COUNT,
	.ioctl_type = TEMPLATE_IOCTL,
	.ioctl_version = TEMPLATE_ABI_VERSION,
	.batch = 128,
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_size = MIMIC_PARAMETERS_SIZE(struct template_config),
	.defaults = defaults,
	.check = check,
	.create = create,
	.destroy = template_model_destroy,
	.counters = counters,
	.counter_count = TEMPLATE_COUNTER_COUNT,
	.may_wait = may_wait,
	.ordered_posts = true,
	.state = state,
	.explain = explain,
	.blocks = blocks,
	.block_count = sizeof(blocks) / sizeof(blocks[0]),
};
