/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/restored.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "libmimic/base/clock.h"

struct mimicd_restored *mimicd_restored_make(const struct mimicd_instance *instance, const uint64_t *owners,
					     size_t owner_count)
{
	struct mimicd_restored *restored = calloc(1, sizeof(*restored) + owner_count * sizeof(*owners));

	if (!restored)
		return NULL;
	restored->owner_count = owner_count;
	if (owner_count)
		memcpy(restored->owners, owners, owner_count * sizeof(*owners));
	if (!instance->device_memory.base)
		return restored;
	restored->memory = malloc(instance->device_memory.size);
	if (restored->memory)
		return restored;
	free(restored);
	return NULL;
}

void mimicd_restored_drop(struct mimicd_restored *restored)
{
	if (restored)
		free(restored->memory);
	free(restored);
}

/* Numbers of address spaces are ours from now on; those of the image meant something to the daemon that saved it. */
static void adopt_contexts(struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		struct mimicd_context *context = &instance->contexts[i];

		context->address_space = ++instance->engine->last_address_space;
		context->is_restored = true;
		if (instance->kind->contexts->adopt(instance->model, i, context->address_space))
			continue;
		context->address_space = 0;
		context->is_restored = false;
	}
}

void mimicd_restored_begin(struct mimicd_instance *instance, struct mimicd_restored *restored)
{
	mimicd_restored_drop(instance->restored);
	instance->restored = restored;
	if (restored->memory)
		memcpy(restored->memory, instance->device_memory.base, instance->device_memory.size);
	adopt_contexts(instance);
	instance->shard->calls++;
	if (instance->kind->resume)
		instance->kind->resume(instance->model, mimic_now());
}

void mimicd_restored_wake(struct mimicd_instance *instance)
{
	struct mimicd_restored *restored = instance->restored;
	struct mimic_model *model = instance->model;
	uint64_t now = mimic_now();

	if (!restored)
		return;
	instance->restored = NULL;
	instance->shard->calls++;
	if (restored->memory)
		memcpy(instance->device_memory.base, restored->memory, instance->device_memory.size);
	if (instance->kind->resume)
		instance->kind->resume(model, now);
	for (size_t i = 0; i < restored->owner_count; i++)
		model->ops->owner_gone(model, restored->owners[i], now);
	mimicd_restored_drop(restored);
	/* Pages that it waited for are looked for in this program's memory. */
	if (instance->kind->retry)
		instance->kind->retry(model, now);
	instance->shard->busy |= model->ops->busy(model);
}

static void detach_contexts(struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		struct mimicd_context *context = &instance->contexts[i];

		if (!context->is_restored)
			continue;
		context->is_restored = false;
		context->address_space = 0;
		instance->kind->contexts->attach(instance->model, i, 0, mimic_now());
	}
}

void mimicd_restored_wake_bound(struct mimicd_instance *instance)
{
	detach_contexts(instance);
	mimicd_restored_wake(instance);
}

void mimicd_restored_forget(struct mimicd_instance *instance)
{
	mimicd_restored_drop(instance->restored);
	instance->restored = NULL;
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (!instance->contexts[i].is_restored)
			continue;
		instance->contexts[i].is_restored = false;
		instance->contexts[i].address_space = 0;
	}
}
