/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/embedded_instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/config.h"
#include "libmimic/embedded.h"
#include "libmimic/memory.h"
#include "libmimic/thread.h"

#define TILE_SLOT MIMIC_MAPLE_COUNT_MAX

/* Once made, an instance stays: a thread may look at its lanes at any time. */
static struct embedded_instance *_Atomic instances[MIMIC_THREAD_SLOTS];
/* Those of the process that forked us; nobody can use them, but they are not lost. */
static struct embedded_instance *forgotten;

_Static_assert(TILE_SLOT + MAPLE_PHYSICAL_TILES <= MIMIC_THREAD_SLOTS, "a slot for each instance");

/* From inside the model, so with the lock. */
static void on_complete(void *context, uint64_t owner, uint64_t data)
{
	struct embedded_instance *instance = context;
	struct embedded_lane *lane;

	for (lane = atomic_load_explicit(&instance->lanes, memory_order_relaxed); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (lane->holder != owner ||
		    atomic_load_explicit(&lane->waiting, memory_order_relaxed) !=
		    EMBEDDED_WAIT_ANSWER)
			continue;
		lane->answer = data;
		embedded_settle(instance, lane);
		return;
	}
}

/* A decimal number without sign or leading zero. */
static bool parse_index(const char *text, unsigned int *index)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 4 || text[digits] || (text[0] == '0' && digits > 1))
		return false;
	*index = (unsigned int)strtoul(text, NULL, 10);
	return true;
}

static bool is_free(unsigned int slot)
{
	struct embedded_instance *instance = atomic_load(&instances[slot]);

	return !instance || !instance->open;
}

/* The slot that `name` means, or -errno. */
static int find_slot(const char *name, unsigned int count)
{
	static const char kind[] = "maple";
	const char *rest = name + strlen(kind);
	unsigned int index;

	if (strncmp(name, kind, strlen(kind)))
		return mimic_error(-ENOENT, "device '%.64s': only maple is known", name);
	if (!*rest) {
		for (index = 0; index < count; index++) {
			if (is_free(index))
				return (int)index;
		}
		return mimic_error(-EBUSY, "all %u maple devices are in use by this process", count);
	}
	if (*rest == '@') {
		if (!parse_index(rest + 1, &index))
			return mimic_error(-ENOENT, "device '%.64s': no tile number after @", name);
		if (index >= MAPLE_PHYSICAL_TILES)
			return mimic_error(-ENODEV, "device '%.64s': tiles are 0 to %d", name,
					   MAPLE_PHYSICAL_TILES - 1);
		return TILE_SLOT + (int)index;
	}
	if (!parse_index(rest, &index))
		return mimic_error(-ENOENT, "device '%.64s': only maple is known", name);
	if (index >= count)
		return mimic_error(-ENODEV, "device '%.64s': there are %u", name, count);
	return (int)index;
}

static struct embedded_instance *get_instance(unsigned int slot)
{
	struct embedded_instance *instance = atomic_load(&instances[slot]);

	if (instance)
		return instance;
	instance = aligned_alloc(128, (sizeof(*instance) + 127) / 128 * 128);
	if (!instance)
		return NULL;
	memset(instance, 0, sizeof(*instance));
	instance->slot = slot;
	instance->device.transport = &mimic_embedded_transport;
	if (slot < TILE_SLOT)
		snprintf(instance->device.name, sizeof(instance->device.name), "maple%u", slot);
	else
		snprintf(instance->device.name, sizeof(instance->device.name), "maple@%u",
			 slot - TILE_SLOT);
	atomic_store(&instances[slot], instance);
	return instance;
}

static void on_report(void *context, const char *text)
{
	struct embedded_instance *instance = context;

	atomic_store_explicit(&instance->report, text, memory_order_relaxed);
}

static struct mimic_model *make_model(struct embedded_instance *instance,
				      const struct mimic_settings *settings)
{
	struct mimic_host host = { .context = instance, .complete = on_complete, .report = on_report };

	mimic_memory_port(&host.memory);
	return maple_model_create(&settings->maple, &host);
}

/* A new model each time: the configuration may be another, and it is as after power-on. */
static int start(struct embedded_instance *instance, const struct mimic_settings *settings)
{
	struct mimic_thread *self = mimic_thread_self();
	struct mimic_model *model, *before;
	int error;

	if (!self)
		return -ENOMEM;
	model = make_model(instance, settings);
	if (!model)
		return mimic_error(-errno, "no device model: %s", strerror(errno));
	error = mimic_lock_acquire(&instance->lock, self->number);
	if (error) {
		maple_model_destroy(model);
		return error;
	}
	before = instance->model;
	instance->model = model;
	instance->spin_microseconds = settings->spin_microseconds;
	instance->open = true;
	embedded_leave(instance);
	if (before)
		maple_model_destroy(before);
	return 0;
}

int embedded_open(struct mimic_device **device, const char *name,
		  const struct mimic_options *options)
{
	struct embedded_instance *instance;
	struct mimic_settings settings;
	int slot, error;

	error = mimic_config_load(options->config_path, &settings);
	if (!error)
		error = mimic_config_devices(options->devices, &settings);
	if (error)
		return error;
	slot = find_slot(name, settings.maple_count);
	if (slot < 0)
		return slot;
	instance = get_instance((unsigned int)slot);
	if (!instance)
		return -ENOMEM;
	mimic_fence_prepare();
	error = start(instance, &settings);
	if (error)
		return error;
	*device = &instance->device;
	return 0;
}

void embedded_close(struct mimic_device *device)
{
	struct embedded_instance *instance = (struct embedded_instance *)device;
	struct mimic_thread *self = mimic_thread_self();

	if (!self || mimic_lock_acquire(&instance->lock, self->number))
		return;
	/* What was posted still reaches memory (atomics). The next open gets a new model. */
	embedded_drain(instance);
	instance->open = false;
	embedded_discard(instance);
	embedded_leave(instance);
}

void embedded_thread_gone(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	for (unsigned int slot = 0; self && slot < MIMIC_THREAD_SLOTS; slot++) {
		struct embedded_instance *instance = atomic_load(&instances[slot]);

		if (instance && self->lanes[slot])
			embedded_lane_end(instance, self->lanes[slot]);
		self->lanes[slot] = NULL;
	}
}

void embedded_after_fork(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	if (self)
		memset(self->lanes, 0, sizeof(self->lanes));
	for (unsigned int slot = 0; slot < MIMIC_THREAD_SLOTS; slot++) {
		struct embedded_instance *instance = atomic_load(&instances[slot]);

		if (!instance)
			continue;
		instance->forgotten = forgotten;
		forgotten = instance;
		atomic_store(&instances[slot], NULL);
	}
	mimic_memory_after_fork();
}
