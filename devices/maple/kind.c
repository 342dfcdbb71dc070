/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* MAPLE as the transports know it (devices/kind.h). */
#include <errno.h>

#include "devices/kind.h"
#include "devices/maple/maple_model.h"
#include "devices/maple/maple_state.h"
#include "devices/maple/time/maple_time.h"
#include "mimic/maple_ioctl.h"

static const struct mimic_key keys[] = {
#define _(name) { #name, offsetof(struct maple_config, name), 0 },
	_(queues)
	_(scratchpad_words)
	_(tlb_entries)
	_(address_bits)
	_(lima_loops)
	_(lima_chunks)
	_(custom_commands)
	_(custom_responses)
#undef _
#define _(bit, name, meaning) { #name, offsetof(struct maple_config, quirks), 1u << (bit) },
	MAPLE_QUIRKS(_)
#undef _
};

static const char *const counters[MAPLE_COUNTER_COUNT] = {
#define _(name, meaning) #name,
	MAPLE_COUNTERS(_)
#undef _
};

static void defaults(void *parameters)
{
	maple_config_profile(parameters, "paper");
}

static int profile(void *parameters, const char *name)
{
	return maple_config_profile(parameters, name);
}

static const char *profile_name(const void *parameters)
{
	return ((const struct maple_config *)parameters)->profile;
}

static const char *check(const void *parameters)
{
	return maple_config_check(parameters);
}

static struct mimic_model *create(const void *parameters, const struct mimic_host *host, void *memory)
{
	(void)memory;
	return maple_model_create(parameters, host);
}

/* Produced is by stores, consumed by loads. */
static bool is_for_stores(const struct mimic_access *load)
{
	unsigned int operation = load->offset >> MAPLE_OPERATION_SHIFT & 63;

	return operation == MAPLE_LOAD_OPEN_PRODUCER || operation == MAPLE_LOAD_CLOSE_PRODUCER;
}

/* The load that flushes; a new root flushes, too. */
static bool is_flush(const struct mimic_access *access)
{
	unsigned int operation = access->offset >> MAPLE_OPERATION_SHIFT & 63;
	unsigned int field = access->offset >> MAPLE_QUEUE_SHIFT & 7;

	if (access->page != MAPLE_PAGE_MMU)
		return false;
	if (access->is_write)
		return operation == MAPLE_STORE_MMU && field == MAPLE_MMU_ROOT;
	return operation == MAPLE_LOAD_DEBUG && field == MAPLE_MMU_FLUSH;
}

/* A queue belongs to its producer; a base pointer, the tile's A, the MMU, the custom page do not. */
static bool may_wait(const struct mimic_access *store)
{
	unsigned int operation = store->offset >> MAPLE_OPERATION_SHIFT & 63;

	if (store->page != MAPLE_PAGE_MAPLE)
		return false;
	switch (operation) {
	case MAPLE_STORE_PRODUCE:
	case MAPLE_STORE_POINTER32:
	case MAPLE_STORE_POINTER64:
	case MAPLE_STORE_LOOP:
		return true;
	default:
		/* atomics, prefetch, coherent pointers; whole pointers and loops of one queue */
		return (operation >= MAPLE_STORE_ATOMIC_ADD && operation <= MAPLE_STORE_LLC_POINTER64) ||
		       (operation >= MAPLE_STORE_FULL_POINTER32 &&
			operation <= MAPLE_STORE_QUEUE_LOOP_PREFETCH64);
	}
}

static const struct mimic_register_block *const blocks[] = {
#define _(number, name, meaning) &maple_load_blocks[number], &maple_store_blocks[number],
	MAPLE_PAGES(_)
#undef _
};

const struct mimic_kind mimic_kind_maple = {
	.name = "maple",
	.title = "MAPLE",
	.default_count = 2,
	.pages = MAPLE_PAGE_COUNT,
	.device_pages = MAPLE_PAGE_COUNT,
	.void_pages = 1u << MAPLE_PAGE_NIBBLER,
	.ioctl_type = MAPLE_IOCTL,
	.ioctl_version = MAPLE_ABI_VERSION,
	.private_count = MAPLE_PHYSICAL_TILES,
	.physical = &maple_physical,
	.keeps_vectors = MIMIC_KEEPS_VECTORS_IN_MODELS,
	.batch = SIZE_MAX,	/* long work goes on by itself (busy) */
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_size = MIMIC_PARAMETERS_SIZE(struct maple_config),
	.defaults = defaults,
	.profile = profile,
	.profiles = "paper or artifact",
	.profile_name = profile_name,
	.check = check,
	.create = create,
	.destroy = maple_model_destroy,
	.counters = counters,
	.counter_count = MAPLE_COUNTER_COUNT,
	.may_wait = may_wait,
	.credits = &maple_credits,
	.is_for_stores = is_for_stores,
	.is_flush = is_flush,
	.retry = maple_model_retry,
	.resume = maple_model_resume,
	.state = maple_state,
	.explain = maple_explain,
	.time = &maple_kind_time,
	.blocks = blocks,
	.block_count = sizeof(blocks) / sizeof(blocks[0]),
};
