/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/restored.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/step.h"
#include "daemon/journal/journal.h"
#include "libmimic/base/clock.h"

static char *memory_of(struct mimicd_restored *restored)
{
	return (char *)&restored->owners[restored->owner_count];
}

struct mimicd_restored *mimicd_restored_make(const struct mimicd_instance *instance, const uint64_t *owners,
					     size_t owner_count)
{
	uint64_t memory_size = instance->device_memory.base ? instance->device_memory.size : 0;
	size_t size = mimicd_restored_bytes(owner_count, memory_size);
	struct mimicd_restored *restored = mimicd_journal_is_on() ? mimicd_journal_alloc(size) : calloc(1, size);

	if (!restored)
		return NULL;
	restored->owner_count = owner_count;
	restored->memory_size = memory_size;
	if (owner_count)
		memcpy(restored->owners, owners, owner_count * sizeof(*owners));
	return restored;
}

void mimicd_restored_drop(struct mimicd_restored *restored)
{
	if (mimicd_journal_holds(restored))
		mimicd_journal_free(restored);
	else
		free(restored);
}

/* A successor is to know of it. */
static void set_restored(struct mimicd_instance *instance, struct mimicd_restored *restored)
{
	mimicd_step_note_devices(instance->engine);
	instance->restored = restored;
}

/* Numbers of address spaces are ours from now on; those of the image meant something to the daemon that saved it. */
static void adopt_contexts(struct mimicd_instance *instance, uint64_t waiting)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		struct mimicd_context *context = &instance->contexts[i];

		if (!(waiting >> i & 1) || context->client)
			continue;
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
	set_restored(instance, restored);
	if (restored->memory_size)
		memcpy(memory_of(restored), instance->device_memory.base, restored->memory_size);
	adopt_contexts(instance, ~0ull);
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
	set_restored(instance, NULL);
	instance->shard->calls++;
	if (restored->memory_size)
		memcpy(instance->device_memory.base, memory_of(restored), restored->memory_size);
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

bool mimicd_restored_take_context(struct mimicd_instance *instance, unsigned int index)
{
	if (!instance->contexts[index].is_restored)
		return false;
	mimicd_step_note_devices(instance->engine);
	instance->contexts[index].is_restored = false;
	return true;
}

int mimicd_restored_take_over(struct mimicd_instance *instance, struct mimicd_restored *old, uint64_t waiting)
{
	struct mimicd_restored *restored;

	if (!old) {
		adopt_contexts(instance, waiting);
		return 0;
	}
	restored = mimicd_restored_make(instance, old->owners, old->owner_count);
	if (!restored)
		return -ENOMEM;
	if (restored->memory_size != old->memory_size) {
		mimicd_restored_drop(restored);
		return -EINVAL;
	}
	/* No program has the device, so its memory was in no file, and is empty by now. */
	if (old->memory_size)
		memcpy(instance->device_memory.base, memory_of(old), old->memory_size);
	mimicd_restored_begin(instance, restored);
	return 0;
}

static void detach_contexts(struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		struct mimicd_context *context = &instance->contexts[i];

		if (!context->is_restored)
			continue;
		mimicd_restored_take_context(instance, i);
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
	if (instance->restored) {
		mimicd_restored_drop(instance->restored);
		set_restored(instance, NULL);
	}
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (mimicd_restored_take_context(instance, i))
			instance->contexts[i].address_space = 0;
	}
}
