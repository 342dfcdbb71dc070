/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* DARE as the transports know it (devices/kind.h). */
#include <stdio.h>

#include "devices/dare/dare_model.h"
#include "devices/dare/dare_state.h"
#include "devices/dare/isa.h"
#include "devices/dare/time/dare_time.h"
#include "devices/kind.h"
#include "mimic/dare_ioctl.h"

/* Attaches contexts: the operating system's number, which no thread has. */
#define OWNER_SYSTEM UINT64_MAX

static const struct mimic_key keys[] = {
#define _(name) { #name, offsetof(struct dare_config, name), 0 },
	_(contexts)
	_(queue_entries)
	_(tlb_entries)
#undef _
};

static const char *const counters[DARE_COUNTER_COUNT] = {
#define _(name, meaning) #name,
	DARE_COUNTERS(_)
#undef _
};

static void defaults(void *parameters)
{
	dare_config_default(parameters);
}

static const char *check(const void *parameters)
{
	return dare_config_check(parameters);
}

static struct mimic_model *create(const void *parameters, const struct mimic_host *host, void *memory)
{
	(void)memory;
	return dare_model_create(parameters, host);
}

static unsigned int context_count(const void *parameters)
{
	return ((const struct dare_config *)parameters)->contexts;
}

static unsigned int first_page(unsigned int context)
{
	return DARE_PAGE_CONTEXT(context);
}

static uint64_t control_access(struct mimic_model *model, uint32_t offset, bool is_write, uint64_t data,
			       uint64_t now)
{
	struct mimic_access access = {
		.owner = OWNER_SYSTEM,
		.data = data,
		.offset = offset,
		.page = DARE_PAGE_CONTROL,
		.size = sizeof(uint64_t),
		.is_write = is_write,
	};

	model->ops->access(model, &access, now);
	return access.data;
}

static void attach(struct mimic_model *model, unsigned int context, uint64_t address_space,
		   uint64_t now)
{
	control_access(model, DARE_CONTROL_ATTACH, true, address_space << 8 | context, now);
}

/* The oldest first; one that stalls again is the youngest. */
static void retry(struct mimic_model *model, uint64_t now)
{
	for (unsigned int i = 0; i < DARE_CONTEXTS_MAX; i++) {
		uint64_t fault = control_access(model, DARE_CONTROL_FAULT_STATUS, false, 0, now);

		if (!(fault & DARE_FAULT_STALLED))
			return;
		control_access(model, DARE_CONTROL_RESOLVE, true, (fault & 0xff) | DARE_RESOLVE_PRESENT, now);
	}
}

static size_t describe(const struct mimic_model *model, unsigned int context, char *text, size_t size)
{
	struct dare_context_view view;
	int length;

	if (dare_model_context(model, context, &view))
		return 0;
	length = snprintf(text, size, "M=%u K=%u N=%u, %u in the queue%s", view.matrix_m, view.matrix_k,
			  view.matrix_n, view.queue_level, view.stalled ? ", waits for a page" : "");
	return length < 0 ? 0 : (size_t)length;
}

/* All of a context is its program's own. An error that is cleared, a reset: to be seen by its next load. */
static bool may_wait(const struct mimic_access *store)
{
	return store->offset != DARE_ERROR && store->offset != DARE_RESET;
}

static bool is_flush(const struct mimic_access *access)
{
	return access->is_write && !access->page && access->offset == DARE_CONTROL_FLUSH;
}

static const char *command_name(uint32_t word)
{
	struct dare_fields fields;

	return dare_decode(word, &fields) ? NULL : dare_instructions[fields.operation].name;
}

static const struct mimic_summary summary = {
	.title = "CONTEXT",
	.columns = {
		{ "instructions", "INSTRUCTIONS" },
		{ "rows_loaded", "ROWS LOADED" },
		{ "rows_stored", "ROWS STORED" },
		{ "macs_used", "MACS USED" },
		{ "macs_offered", "MACS OFFERED" },
		{ "faults", "FAULTS" },
		{ "errors", "ERRORS" },
	},
};

static const struct mimic_contexts contexts = {
	.count = context_count,
	.first_page = first_page,
	.attach = attach,
	.counters = dare_model_counters,
	.describe = describe,
	.adopt = dare_model_adopt,
};

static const struct mimic_register_block *const blocks[] = {
	&dare_control_block,
	&dare_context_block,
};

const struct mimic_kind mimic_kind_dare = {
	.name = "dare",
	.title = "DARE",
	.default_count = 1,
	.pages = 1,
	.device_pages = DARE_PAGE_COUNT,
	.ioctl_type = DARE_IOCTL,
	.ioctl_version = DARE_ABI_VERSION,
	.batch = 128,	/* instructions of less than a microsecond each */
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_size = MIMIC_PARAMETERS_SIZE(struct dare_config),
	.defaults = defaults,
	.check = check,
	.create = create,
	.destroy = dare_model_destroy,
	.counters = counters,
	.counter_count = DARE_COUNTER_COUNT,
	.summary = &summary,
	.keeps_vectors = MIMIC_KEEPS_VECTORS_IN_KIND,
	.may_wait = may_wait,
	.ordered_posts = true,
	.is_flush = is_flush,
	.contexts = &contexts,
	.retry = retry,
	.resume = dare_model_resume,
	.state = dare_state,
	.explain = dare_explain,
	.time = &dare_kind_time,
	.command_name = command_name,
	.blocks = blocks,
	.block_count = sizeof(blocks) / sizeof(blocks[0]),
};
