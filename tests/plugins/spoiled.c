/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The device of examples/plugin, with something wrong: SPOILED_... says what. Its kind and its
 * plugin are put together when the library is loaded.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/plugin.h"

#undef MIMIC_PLUGIN
#define MIMIC_PLUGIN(kind) _Static_assert(sizeof(kind) > 0, "")
#include "examples/plugin/checksum.c"

static struct mimic_kind kind;
static struct mimic_model_ops spoiled_ops;

__attribute__((visibility("default"))) struct mimic_plugin mimic_plugin = {
	.version = MIMIC_PLUGIN_VERSION, .size = sizeof(struct mimic_plugin), .release = mimic_device_release,
	.kind_size = sizeof(struct mimic_kind), .ops_size = sizeof(struct mimic_model_ops),
	.host_size = sizeof(struct mimic_host), .access_size = sizeof(struct mimic_access),
	.block_size = sizeof(struct mimic_register_block), .register_size = sizeof(struct mimic_register),
	.kind = &kind,
};

__attribute__((unused)) static void crash(void)
{
	raise(SIGSEGV);
}

__attribute__((unused)) static void hang(void)
{
	for (;;)
		pause();
}

__attribute__((unused)) static size_t large(const void *parameters)
{
	(void)parameters;
	return (size_t)1 << 40;
}

/* A process that nobody waits for; it ends by itself, so that a test that fails leaves none. */
__attribute__((unused)) static void leave_process(void)
{
	if (fork())
		return;
	alarm(30);
	hang();
}

/* As much memory as it gets. */
__attribute__((unused)) static struct mimic_model *create_greedy(const void *parameters,
								const struct mimic_host *host, void *memory)
{
	size_t size = 64u << 20;
	char *more;

	while ((more = malloc(size)))
		memset(more, 1, size);
	(void)parameters, (void)host, (void)memory;
	errno = ENOMEM;
	return NULL;
}

__attribute__((unused)) static struct mimic_model *create_spoiled(const void *parameters,
								 const struct mimic_host *host, void *memory)
{
	struct mimic_model *model;

#if defined(SPOILED_CREATION_FORKS)
	leave_process();
#elif defined(SPOILED_CREATION_FORKS_AND_CRASHES)
	leave_process();
	crash();
#elif defined(SPOILED_CREATION_CRASHES)
	crash();
#elif defined(SPOILED_CREATION_HANGS)
	hang();
#elif defined(SPOILED_CREATION_EXITS)
	exit(3);
#endif
	model = create(parameters, host, memory);
	model->ops = &spoiled_ops;
	return model;
}

__attribute__((unused)) static void explanation_crashes(const struct mimic_model *model,
							const struct mimic_access *access, struct mimic_text *text)
{
	(void)model, (void)access, (void)text;
	crash();
}

__attribute__((unused)) static void power_on_crashes(struct mimic_model *model, uint64_t now)
{
	(void)model, (void)now;
	crash();
}

__attribute__((unused)) static void defaults_too_large(void *parameters)
{
	memset(parameters, 0, sizeof(struct checksum_config) + 4);
	defaults(parameters);
}

__attribute__((unused)) static void half_a_tree(const struct mimic_model *model, uint64_t now,
						const struct mimic_state_visitor *visitor)
{
	(void)model, (void)now;
	mimic_state_enter(visitor, "config");
}

/* The folder counts, too. */
#if defined(SPOILED_STATE_OF_ONE_VALUE_TOO_MANY)
#define VALUES MIMIC_KIND_STATE_VALUES_MAX
#elif defined(SPOILED_STATE_WITHOUT_END)
#define VALUES UINT32_MAX
#else
#define VALUES (MIMIC_KIND_STATE_VALUES_MAX - 1)	/* no more than a device may show */
#endif

__attribute__((unused)) static void many_values(const struct mimic_model *model, uint64_t now,
						const struct mimic_state_visitor *visitor)
{
	(void)model, (void)now;
	mimic_state_enter(visitor, "words");
	for (unsigned int i = 0; i < VALUES; i++)
		mimic_state_hex_at(visitor, i, i, "a word of the device's memory");
	mimic_state_leave(visitor, "words");
}

__attribute__((unused)) static void long_texts(const struct mimic_model *model, uint64_t now,
					       const struct mimic_state_visitor *visitor)
{
	static char text[1 << 16];

	(void)model, (void)now;
	memset(text, 'x', sizeof(text) - 1);
	for (unsigned int i = 0; i <= MIMIC_KIND_STATE_TEXT_MAX / sizeof(text); i++)
		mimic_state_text_at(visitor, i, text, "a text");
}

__attribute__((constructor)) static void make(void)
{
	kind = mimic_kind_checksum;
	kind.name = "spoiled";
	spoiled_ops = ops;
#if defined(SPOILED_VERSION)
	mimic_plugin.version = 7;
#elif defined(SPOILED_RELEASE)
	mimic_plugin.release = "0.0.9";
#elif defined(SPOILED_SIZE)
	mimic_plugin.size += 8;
#elif defined(SPOILED_SIZES)
	mimic_plugin.kind_size += 8;
#elif defined(SPOILED_WITHOUT_KIND)
	mimic_plugin.kind = NULL;
#elif defined(SPOILED_NAME_BUILT_IN)
	kind.name = "dare";
#elif defined(SPOILED_NAME)
	kind.name = "Check Sum";
#elif defined(SPOILED_MEMORY)
	kind.memory_size = large;
	kind.memory_offset = 4096;
#elif defined(SPOILED_PARAMETERS)
	kind.parameters_size = (size_t)1 << 40;
#elif defined(SPOILED_PAGES)
	kind.device_pages = 1u << 31;
#elif defined(SPOILED_COUNTERS)
	kind.counter_count = (size_t)1 << 40;
#elif defined(SPOILED_WITHOUT_CREATE)
	kind.create = NULL;
#elif defined(SPOILED_WITHOUT_ACCESS)
	spoiled_ops.access = NULL;
	kind.create = create_spoiled;
#elif defined(SPOILED_DEFAULTS)
	kind.defaults = defaults_too_large;
#elif defined(SPOILED_STATE)
	kind.state = half_a_tree;
#elif defined(FULL_STATE) || defined(SPOILED_STATE_OF_ONE_VALUE_TOO_MANY) || defined(SPOILED_STATE_WITHOUT_END)
	kind.state = many_values;
#elif defined(SPOILED_STATE_OF_LONG_TEXTS)
	kind.state = long_texts;
#elif defined(SPOILED_GREEDY)
	kind.create = create_greedy;
#elif defined(SPOILED_LOADING_CRASHES)
	crash();
#elif defined(SPOILED_LOADING_EXITS)
	exit(0);
#elif defined(SPOILED_LOADING_HANGS)
	hang();
#elif defined(SPOILED_EXPLANATION_CRASHES)
	kind.explain = explanation_crashes;
#elif defined(SPOILED_POWER_ON_CRASHES)
	spoiled_ops.power_on = power_on_crashes;
	kind.create = create_spoiled;
#elif defined(SPOILED_CREATION_CRASHES) || defined(SPOILED_CREATION_HANGS) || \
	defined(SPOILED_CREATION_EXITS) || defined(SPOILED_CREATION_FORKS) || \
	defined(SPOILED_CREATION_FORKS_AND_CRASHES)
	kind.create = create_spoiled;
#else
#error "Nothing is spoiled."
#endif
}
