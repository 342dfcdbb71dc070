/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Makes and destroys devices, and answers the calls of their models. */
#include "daemon/engine/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/memory_journal.h"
#include "daemon/engine/recording.h"
#include "daemon/engine/restored.h"
#include "daemon/engine/step.h"
#include "daemon/engine/trace.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

#define FREE_NS 1000000000ull

/* --- calls of models ---------------------------------------------------------------- */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct mimicd_instance *instance = context;
	struct mimicd_waiter *waiter = mimicd_instance_find_waiter(instance, owner);

	if (!waiter)
		return;
	mimicd_instance_remove_waiter(instance, waiter);
	waiter->complete(waiter->context, data);
}

/* The program that has all of it. NULL: none, or several have contexts. */
static struct mimicd_program *program_of(struct mimicd_instance *instance)
{
	if (instance->binding)
		return &instance->binding->program;
	return instance->client ? &instance->client->program : NULL;
}

/* Once for each program: it can make its device hang as often as it likes. */
static void log_report(void *context, const char *text)
{
	struct mimicd_instance *instance = context;
	struct mimicd_program *program = program_of(instance);

	if (!program || program->was_reported)
		return;
	program->was_reported = true;
	mimicd_log_of(program->uid, MIMICD_LOG_WARNING, "%s (%s, pid %d): %s", instance->name, program->name,
		   (int)program->pid, text);
}

/* To the function driver of the process that has it. 0 or -errno. */
static int raise_interrupt(struct mimicd_instance *instance)
{
	struct mimicd_function *function = instance->binding->function;

	return function->ops->interrupt(function);
}

/*
 * Where a driver serves the device's faults, it makes the page present. The
 * interrupt is raised here and not by the model, which raises none after a
 * program has waived it: that is between program and operating system on the
 * hardware, and here only the driver can end the wait.
 */
static enum mimic_fault_answer ask_driver(struct mimicd_instance *instance)
{
	/* A kind with events has an interrupt that is not waived: its model raises it when it stalls. */
	if (instance->kind->take_events)
		return MIMIC_FAULT_STALL;
	if (mimicd_inject_loses_interrupt(&instance->injection))
		return MIMIC_FAULT_STALL;
	return raise_interrupt(instance) ? MIMIC_FAULT_BAD : MIMIC_FAULT_STALL;
}

/* Of a client there is no driver. Its memory may still have to be waited for. */
static enum mimic_fault_answer ask(struct mimicd_instance *instance, struct mimicd_memory_slot *slot,
				   uint64_t address)
{
	if (mimicd_instance_is_bound(instance))
		return ask_driver(instance);
	return instance->kind->retry ? mimicd_memory_answer(slot, address) : MIMIC_FAULT_BAD;
}

static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	struct mimicd_instance *instance = context;

	(void)source;
	return ask(instance, &instance->memory, address);
}

static enum mimic_fault_answer context_fault(void *context, unsigned int device_context,
					     uint64_t address, bool writes)
{
	struct mimicd_instance *instance = context;

	(void)writes;
	/* Its memory is that of the program that will have it. */
	if (instance->contexts[device_context].is_restored)
		return MIMIC_FAULT_STALL;
	return ask(instance, &instance->contexts[device_context].memory, address);
}

static long read_nothing(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	(void)context, (void)addresses, (void)count, (void)size, (void)rows;
	return 0;
}

static long write_nothing(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context, (void)addresses, (void)count, (void)size, (void)rows;
	return 0;
}

/* Of contexts in an image that no program has: it waits for one (adopt), or it is detached, before it does anything. */
static const struct mimic_memory nobodys_memory = { .read_rows = read_nothing, .write_rows = write_nothing };

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	const struct mimicd_instance *instance = context;
	const struct mimic_memory *unknown = instance->is_restoring ? &nobodys_memory : NULL;

	if (mimicd_instance_is_bound(instance)) {
		const struct mimicd_binding *binding = mimicd_instance_find_binding(instance, address_space);

		if (!binding)
			return unknown;
		return mimicd_journal_is_on() ? &binding->logged_port : &binding->port;
	}
	for (unsigned int i = 0; i < instance->context_count; i++) {
		const struct mimicd_context *one = &instance->contexts[i];

		if ((one->client || one->is_restored) && one->address_space == address_space)
			return &one->port;
	}
	return unknown;
}

/* A model's interrupt, inside of its calls: of kinds with events, which raise it for a page, too. */
static void interrupt(void *context)
{
	struct mimicd_instance *instance = context;

	if (!mimicd_instance_is_bound(instance))
		mimicd_events_raise(&instance->events);
	else if (!mimicd_inject_loses_interrupt(&instance->injection))
		raise_interrupt(instance);
}

/* --- made ----------------------------------------------------------------------- */

static void fill_port(struct mimic_memory *port, struct mimicd_memory_slot *slot)
{
	if (mimicd_journal_is_on())
		mimicd_memory_journal_port(port, slot);
	else
		mimicd_memory_port(port, slot);
}

/* Are its jobs done by other threads? In a daemon that can be recovered its model does them. */
static bool has_jobs(const struct mimicd_instance *instance)
{
	return instance->kind->jobs && !mimicd_journal_is_on();
}

static int create_contexts(struct mimicd_instance *instance, const void *parameters)
{
	unsigned int count = instance->kind->contexts->count(parameters);

	instance->contexts = calloc(count, sizeof(*instance->contexts));
	if (!instance->contexts)
		return -ENOMEM;
	instance->context_count = count;
	for (unsigned int i = 0; i < count; i++) {
		instance->contexts[i].memory.can_wait = instance->kind->retry;
		fill_port(&instance->contexts[i].port, &instance->contexts[i].memory);
	}
	return 0;
}

static uint64_t on_now(void *context)
{
	(void)context;
	return mimic_now();
}

static void fill_host(struct mimicd_instance *instance, struct mimic_host *host)
{
	*host = (struct mimic_host){
		.context = instance,
		.complete = complete,
		.interrupt = instance->kind->take_events ? interrupt : NULL,
		.report = log_report,
		.page_fault = page_fault,
		.context_fault = context_fault,
		.memory_of = memory_of,
		.now = on_now,
	};
	instance->memory.can_wait = instance->kind->retry;
	instance->memory.device = instance->name;
	if (has_jobs(instance))
		mimicd_memory_job_port(&host->memory, &instance->memory);
	else
		fill_port(&host->memory, &instance->memory);
}

/* A plugin's model has memory of its own, which ends with the daemon; its successor would find all states damaged. */
static bool can_recover(const struct mimicd_instance *instance)
{
	if (!mimicd_journal_is_on() || !mimic_kind_is_plugins(instance->kind))
		return true;
	mimicd_log(MIMICD_LOG_ERROR, "%s is a plugin's device: a mimicd that can be recovered (--supervise, --recover) has none of these",
		   instance->name);
	return false;
}

static int create_model(struct mimicd_instance *instance)
{
	struct mimicd_engine *engine = instance->engine;
	const struct mimic_kind *kind = instance->kind;
	struct mimic_own_parameters parameters = *mimic_parameters_of(&engine->settings.parameters, kind);
	struct mimic_host host;
	int error = kind->contexts ? create_contexts(instance, &parameters) : 0;

	if (!error)
		error = mimicd_device_memory_create(&instance->device_memory, kind->memory_size ?
						    kind->memory_size(&parameters) : 0);
	if (error)
		return error;
	fill_host(instance, &host);
	if (has_jobs(instance))
		kind->jobs->enable(&parameters);
	instance->model = mimicd_recording_make_model(instance, &parameters, &host);
	if (!instance->model)
		return -errno;
	if (!can_recover(instance))
		return -EPERM;
	instance->jobs = (struct mimicd_device_jobs){
		.jobs = &engine->jobs, .ops = has_jobs(instance) ? kind->jobs : NULL,
		.model = instance->model, .name = instance->name,
	};
	instance->events = (struct mimicd_device_events){
		.events = &engine->events, .kind = kind, .model = instance->model,
	};
	return 0;
}

/* NULL with errno. */
static struct mimicd_instance *create(struct mimicd_engine *engine, const struct mimic_kind *kind,
				      unsigned int number, bool is_private)
{
	struct mimicd_instance *instance = calloc(1, sizeof(*instance));
	int error;

	if (!instance)
		return NULL;
	instance->engine = engine;
	instance->is_private = is_private;
	instance->kind = mimicd_recording_kind(engine, kind);
	instance->index = number;
	instance->device_memory.fd = -1;
	snprintf(instance->name, sizeof(instance->name), "%s%s%u", kind->name, is_private ? "@" : "", number);
	instance->shard = &engine->loop_shard;
	error = create_model(instance);
	if (!error)
		return instance;
	mimicd_device_destroy(instance);
	errno = -error;
	return NULL;
}

/* In the order of their places. */
static void add_named(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	struct mimicd_instance **link = &engine->first_named;

	while (*link && (*link)->place < instance->place)
		link = &(*link)->next_named;
	instance->next_named = *link;
	*link = instance;
}

int mimicd_device_create(struct mimicd_engine *engine, const struct mimic_kind *kind,
			 unsigned int number, struct mimicd_instance **created)
{
	unsigned int place = mimicd_instance_place(kind, number);
	struct mimicd_instance *instance = create(engine, kind, number, false);
	int error = -errno;

	if (!instance) {
		mimicd_log(MIMICD_LOG_ERROR, "cannot make %s%u: %s", kind->name, number, strerror(-error));
		return error;
	}
	engine->named[place] = instance;
	instance->place = place;
	add_named(engine, instance);
	mimicd_shard_add_device(&engine->loop_shard, instance);
	mimicd_step_note_devices(engine);
	*created = instance;
	return 0;
}

int mimicd_device_create_private(struct mimicd_engine *engine, const struct mimic_kind *kind,
				 unsigned int number, struct mimicd_instance **created)
{
	struct mimicd_instance *instance = create(engine, kind, number, true);

	if (!instance)
		return -errno;
	mimicd_step_note_devices(engine);
	*created = instance;
	return 0;
}

int mimicd_devices_create(struct mimicd_engine *engine)
{
	struct mimicd_instance *created;
	int error = 0;

	for (size_t kind = 0; kind < mimic_kind_count(); kind++) {
		for (unsigned int i = 0; !error && i < engine->settings.counts[kind]; i++)
			error = mimicd_device_create(engine, mimic_kinds[kind], i, &created);
	}
	return error;
}

/* --- destroyed ------------------------------------------------------------------ */

void mimicd_device_hide(struct mimicd_instance *instance)
{
	struct mimicd_engine *engine = instance->engine;
	struct mimicd_instance **link = &engine->first_named;

	if (instance->is_private || engine->named[instance->place] != instance)
		return;
	engine->named[instance->place] = NULL;
	while (*link != instance)
		link = &(*link)->next_named;
	*link = instance->next_named;
	mimicd_shard_remove_device(instance);
}

/* A second later, so that programs that come and go cost it once a second at most. */
static void note_freed(struct mimicd_engine *engine)
{
	if (!engine->frees)
		mimicd_timer_arm(&engine->free_timer, mimic_now() + FREE_NS);
	engine->frees = true;
}

void mimicd_device_destroy(struct mimicd_instance *instance)
{
	struct mimicd_engine *engine = instance->engine;

	mimicd_device_hide(instance);
	mimicd_step_note_devices(engine);
	mimicd_restored_forget(instance);
	if (instance->jobs.places) {
		instance->model->ops->power_on(instance->model, mimic_now());
		mimicd_jobs_close(&instance->jobs);
	}
	mimicd_memory_slot_clear(&instance->memory);
	if (instance->model) {
		mimicd_events_forget(&instance->events);
		mimicd_trace_close(instance);
		instance->kind->destroy(instance->model);
	}
	mimicd_device_memory_destroy(&instance->device_memory);
	free(instance->contexts);
	free(instance);
	note_freed(engine);
}

void mimicd_devices_destroy(struct mimicd_engine *engine)
{
	while (engine->first_named)
		mimicd_device_destroy(engine->first_named);
}
