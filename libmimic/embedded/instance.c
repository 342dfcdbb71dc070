/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/embedded/instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices/text.h"
#include "libmimic/base/config.h"
#include "libmimic/base/error.h"
#include "libmimic/base/memory.h"
#include "libmimic/base/spool.h"
#include "libmimic/base/thread.h"
#include "libmimic/embedded/embedded.h"
#include "libmimic/embedded/state_socket.h"
#include "libmimic/record/record.h"

/* Once made, an instance stays: a thread may read its lanes at any time. */
static struct embedded_instance *_Atomic instances[MIMIC_THREAD_SLOTS];
/* Those of the parent of a fork; no thread can use them, but leak checkers find them here. */
static struct embedded_instance *forgotten;

#define NAMED_SLOTS (MIMIC_KINDS_MAX * MIMIC_KIND_DEVICES_MAX)

/* The slots that have one, so that a thread's end or a fork need not search all. */
static unsigned int filled[MIMIC_THREAD_SLOTS];
static _Atomic unsigned int filled_count;

/* Named ones first, private ones after them. */
static unsigned int slot_of(const struct mimic_kind *kind, unsigned int number, bool is_private)
{
	if (is_private)
		return NAMED_SLOTS + mimic_kind_index(kind) * MIMIC_KIND_PRIVATE_MAX + number;
	return mimic_kind_index(kind) * MIMIC_KIND_DEVICES_MAX + number;
}

static unsigned int count_contexts(const struct mimic_kind *kind, const struct mimic_settings *settings)
{
	return kind->contexts ? kind->contexts->count(mimic_parameters_of(&settings->parameters, kind)) : 1;
}

/* Handles that can be had of the instance in this slot. */
static unsigned int count_free(const struct mimic_kind *kind, unsigned int slot,
			       const struct mimic_settings *settings)
{
	const struct embedded_instance *instance = atomic_load(&instances[slot]);

	if (instance && instance->open)
		return instance->handle_count - instance->users;
	return count_contexts(kind, settings);
}

/* The instance that most can be had of; of several the first. Its slot, or -EBUSY. */
static int find_any(const struct mimic_kind *kind, const struct mimic_settings *settings)
{
	unsigned int count = settings->counts[mimic_kind_index(kind)];
	unsigned int most = 0;
	int found = -EBUSY;

	for (unsigned int number = 0; number < count; number++) {
		unsigned int slot = slot_of(kind, number, false);
		unsigned int room = count_free(kind, slot, settings);

		if (room <= most)
			continue;
		most = room;
		found = (int)slot;
	}
	if (!count)
		return mimic_error(-ENODEV, "there are no %s devices", kind->name);
	if (found < 0)
		return mimic_error(-EBUSY, "all %u %s devices are in use by this process", count, kind->name);
	return found;
}

static int find_private(const struct mimic_kind *kind, const char *name, const char *number)
{
	unsigned int index;

	if (!kind->private_count || !mimic_kind_number(number, &index))
		return mimic_error(-ENOENT, "device '%.64s': no tile number after @", name);
	if (index >= kind->private_count)
		return mimic_error(-ENODEV, "device '%.64s': tiles are 0 to %u", name,
				   kind->private_count - 1);
	return (int)slot_of(kind, index, true);
}

/* The slot that `name` means, or -errno. */
static int find_slot(const char *name, const struct mimic_settings *settings)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);
	unsigned int number, slot;

	if (!kind || (*rest && *rest != '@' && !mimic_kind_number(rest, &number)))
		return mimic_error(-ENOENT, "device '%.64s': a name is a kind (%s) and a number", name,
				   mimic_kind_names());
	if (!*rest)
		return find_any(kind, settings);
	if (*rest == '@')
		return find_private(kind, name, rest + 1);
	if (number >= settings->counts[mimic_kind_index(kind)])
		return mimic_error(-ENODEV, "device '%.64s': there are %u", name,
				   settings->counts[mimic_kind_index(kind)]);
	slot = slot_of(kind, number, false);
	if (!count_free(kind, slot, settings))
		return mimic_error(-EBUSY, "device '%.64s': all its contexts are in use by this process",
				   name);
	return (int)slot;
}

static struct embedded_instance *get_instance(const struct mimic_kind *kind, unsigned int slot)
{
	struct embedded_instance *instance = atomic_load(&instances[slot]);

	if (instance)
		return instance;
	instance = aligned_alloc(128, (sizeof(*instance) + 127) / 128 * 128);
	if (!instance)
		return NULL;
	memset(instance, 0, sizeof(*instance));
	instance->kind = mimic_record_kind(kind);
	instance->slot = slot;
	instance->event_fd = -1;
	instance->jobs.kind = instance->kind->jobs;
	mimic_memory_port(&instance->memory);
	atomic_store(&instances[slot], instance);
	filled[atomic_load(&filled_count)] = slot;
	atomic_fetch_add(&filled_count, 1);
	return instance;
}

struct embedded_instance *mimic_embedded_instance_at(unsigned int slot)
{
	return atomic_load(&instances[slot]);
}

bool mimic_embedded_instance_is_private(const struct embedded_instance *instance)
{
	return instance->slot >= NAMED_SLOTS;
}

void mimic_embedded_instance_name(const struct embedded_instance *instance, char *name, size_t size)
{
	struct mimic_text text;

	mimic_text_begin(&text, name, size);
	mimic_text_add(&text, instance->kind->name);
	if (mimic_embedded_instance_is_private(instance)) {
		mimic_text_add(&text, "@");
		mimic_text_add_decimal(&text, (instance->slot - NAMED_SLOTS) % MIMIC_KIND_PRIVATE_MAX);
		return;
	}
	mimic_text_add_decimal(&text, instance->slot % MIMIC_KIND_DEVICES_MAX);
}

static struct embedded_device *make_handle(struct embedded_instance *instance, unsigned int context)
{
	struct embedded_device *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->device.transport = &mimic_embedded_transport;
	handle->device.report = &instance->report;
	handle->instance = instance;
	handle->context = context;
	mimic_embedded_instance_name(instance, handle->device.name, sizeof(handle->device.name));
	instance->handles[context] = handle;
	return handle;
}

/* One that is not open. NULL: no memory. */
static struct embedded_device *get_handle(struct embedded_instance *instance)
{
	unsigned int context = 0;

	while (instance->handles[context] && instance->handles[context]->open)
		context++;
	return instance->handles[context] ? instance->handles[context] : make_handle(instance, context);
}

/* With the lock: an open instance has one handle more. */
static void start_handle(struct embedded_instance *instance, struct embedded_device *handle)
{
	const struct mimic_contexts *contexts = instance->kind->contexts;

	handle->first_page = 0;
	handle->pages = UINT8_MAX;	/* the model knows which there are */
	if (contexts) {
		/* Posts of the context's last user must not reach the next user's context. */
		mimic_embedded_drain(instance);
		contexts->attach(instance->model, handle->context, 1, instance->clock.now);
		handle->first_page = (uint8_t)contexts->first_page(handle->context);
		handle->pages = (uint8_t)instance->kind->pages;
	}
	handle->open = true;
	instance->users++;
}

/* Everything of a device that is about to open. */
static int make(struct embedded_instance *instance, const struct mimic_settings *settings,
		struct embedded_model *made)
{
	int error = mimic_embedded_model_make(instance, settings, made);

	if (error)
		return mimic_error(error, "no device model: %s", strerror(-error));
	instance->spin_microseconds = settings->spin_microseconds;
	error = mimic_embedded_jobs_start(instance,
					  mimic_parameters_of(&settings->parameters, instance->kind));
	if (!error)
		return 0;
	mimic_embedded_model_free(instance->kind, made);
	return mimic_error(error, "no thread for the device's work: %s", strerror(-error));
}

/* Without the lock, of a device that is not open. */
static void unmake(struct embedded_instance *instance, struct embedded_model *made)
{
	if (instance->jobs.kind)
		mimic_embedded_jobs_stop(instance);
	mimic_embedded_model_free(instance->kind, made);
}

/* A new model each time: the configuration may be another, and it is as after power-on. */
static int start(struct embedded_instance *instance, struct embedded_device *handle,
		 const struct mimic_settings *settings)
{
	struct mimic_thread *self = mimic_thread_self();
	struct embedded_model made = { .model = NULL }, before = { .model = NULL };
	int error;

	if (!self)
		return -ENOMEM;
	/* -EDEADLK: a handler left this very section by siglongjmp(), and no thread enters it again. */
	error = mimic_embedded_take(instance, self->number);
	if (error)
		return error;
	mimic_embedded_release(instance);
	if (!instance->open)
		error = make(instance, settings, &made);
	if (error)
		return error;
	mimic_embedded_take(instance, self->number);
	if (made.model) {
		before.model = instance->model;
		instance->model = made.model;
		instance->reads_clock = !made.model->ops->asks_now;
		instance->device_memory = made.memory;
		instance->handle_count = count_contexts(instance->kind, settings);
		instance->open = true;
	}
	start_handle(instance, handle);
	mimic_embedded_leave(instance);
	mimic_embedded_model_free(instance->kind, &before);
	return 0;
}

int mimic_embedded_open(struct mimic_device **device, const char *name,
			const struct mimic_options *options)
{
	struct embedded_instance *instance;
	struct embedded_device *handle;
	struct mimic_settings settings;
	const char *rest;
	int slot, error;

	error = mimic_config_load(options->config_path, &settings);
	if (!error)
		error = mimic_config_devices(options->devices, &settings);
	if (error)
		return error;
	slot = find_slot(name, &settings);
	if (slot < 0)
		return slot;
	error = mimic_record_start();
	if (error < 0)
		return error;
	instance = get_instance(mimic_kind_of_device(name, &rest), (unsigned int)slot);
	handle = instance ? get_handle(instance) : NULL;
	if (!handle)
		return -ENOMEM;
	mimic_fence_prepare();
	error = start(instance, handle, &settings);
	if (error)
		return error;
	mimic_embedded_socket_start();
	*device = &handle->device;
	return 0;
}

/* With the lock: the device has just closed. The caller frees `gone` without the lock. */
static void stop(struct embedded_instance *instance, struct embedded_model *gone)
{
	mimic_embedded_discard(instance);
	gone->memory = instance->device_memory;
	instance->device_memory.address = NULL;
	if (instance->event_fd >= 0)
		close(instance->event_fd);
	instance->event_fd = -1;
	if (instance->jobs.kind)
		mimic_embedded_jobs_end(instance);
}

void mimic_embedded_close(struct mimic_device *device)
{
	struct embedded_device *handle = (struct embedded_device *)device;
	struct embedded_instance *instance = handle->instance;
	struct embedded_model gone = { .model = NULL };
	struct mimic_thread *self = mimic_thread_self();
	bool is_over;

	if (!self || mimic_embedded_take(instance, self->number))
		return;
	/* Posts still reach memory. The next open of the instance gets a new model. */
	mimic_embedded_drain(instance);
	if (instance->kind->contexts)
		instance->kind->contexts->attach(instance->model, handle->context, 0, instance->clock.now);
	handle->open = false;
	handle->pages = 0;
	instance->open = --instance->users > 0;
	is_over = !instance->open;
	if (is_over)
		stop(instance, &gone);
	mimic_embedded_leave(instance);
	if (is_over)
		unmake(instance, &gone);
	/* When nothing reads or writes it any more. */
	mimic_memory_private_end(device);
}

void mimic_embedded_thread_gone(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	for (unsigned int i = 0; self && i < atomic_load(&filled_count); i++) {
		unsigned int slot = filled[i];

		if (self->lanes[slot])
			mimic_embedded_lane_end(atomic_load(&instances[slot]), self->lanes[slot]);
		self->lanes[slot] = NULL;
	}
}

void mimic_embedded_after_fork(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	for (unsigned int i = 0; i < atomic_load(&filled_count); i++) {
		struct embedded_instance *instance = atomic_load(&instances[filled[i]]);

		if (self)
			self->lanes[filled[i]] = NULL;
		/* The memory itself is not mapped here. */
		if (instance->device_memory.address)
			close(instance->device_memory.fd);
		if (instance->event_fd >= 0)
			close(instance->event_fd);
		instance->forgotten = forgotten;
		forgotten = instance;
		atomic_store(&instances[filled[i]], NULL);
	}
	atomic_store(&filled_count, 0);
	mimic_memory_after_fork();
	mimic_process_trace_after_fork();
	mimic_record_after_fork();
	mimic_embedded_socket_after_fork();
}
