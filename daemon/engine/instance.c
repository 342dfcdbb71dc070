/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* --- accesses that wait ------------------------------------------------------ */

void mimicd_instance_add_waiter(struct mimicd_instance *instance, struct mimicd_waiter *waiter)
{
	waiter->next = instance->waiters;
	instance->waiters = waiter;
}

void mimicd_instance_remove_waiter(struct mimicd_instance *instance, struct mimicd_waiter *waiter)
{
	struct mimicd_waiter **link = &instance->waiters;

	while (*link != waiter)
		link = &(*link)->next;
	*link = waiter->next;
}

void mimicd_instance_withdraw(struct mimicd_instance *instance, struct mimicd_waiter *waiter)
{
	mimicd_instance_remove_waiter(instance, waiter);
	instance->model->ops->cancel(instance->model, waiter->owner, mimic_now());
}

struct mimicd_waiter *mimicd_instance_find_waiter(const struct mimicd_instance *instance, uint64_t owner)
{
	struct mimicd_waiter *waiter = instance->waiters;

	while (waiter && waiter->owner != owner)
		waiter = waiter->next;
	return waiter;
}

/* --- functions and bindings -------------------------------------------------------- */

void mimicd_instance_add_function(struct mimicd_instance *instance, struct mimicd_function *function)
{
	function->instance = instance;
	function->next = instance->functions;
	instance->functions = function;
}

void mimicd_instance_remove_function(struct mimicd_instance *instance, struct mimicd_function *function)
{
	struct mimicd_function **link = &instance->functions;

	while (*link != function)
		link = &(*link)->next;
	*link = function->next;
}

bool mimicd_instance_is_on(const struct mimicd_instance *instance, const char *transport)
{
	const struct mimicd_function *function = instance->functions;

	while (function && strcmp(function->ops->transport, transport))
		function = function->next;
	return function;
}

struct mimicd_binding *mimicd_instance_find_binding(const struct mimicd_instance *instance, uint64_t number)
{
	struct mimicd_binding *binding = instance->binding;

	while (binding && binding->number != number)
		binding = binding->next_on_device;
	return binding;
}

struct mimicd_binding *mimicd_instance_context_binding(const struct mimicd_instance *instance,
						       unsigned int context)
{
	if (context >= instance->context_count || !instance->contexts[context].address_space)
		return NULL;
	return mimicd_instance_find_binding(instance, instance->contexts[context].address_space);
}

/* --- what a model asks of its host ---------------------------------------------- */

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
	mimicd_log(MIMICD_LOG_WARNING, "%s (%s, pid %d): %s", instance->name, program->name,
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
	if (!mimicd_instance_is_bound(instance))
		return MIMIC_FAULT_BAD;
	/* A kind with events has an interrupt that is not waived: its model raises it when it stalls. */
	if (instance->kind->take_events)
		return MIMIC_FAULT_STALL;
	if (!mimicd_inject_interrupt(instance))
		return MIMIC_FAULT_STALL;
	return raise_interrupt(instance) ? MIMIC_FAULT_BAD : MIMIC_FAULT_STALL;
}

static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	(void)address;
	(void)source;
	return ask_driver(context);
}

static enum mimic_fault_answer context_fault(void *context, unsigned int device_context,
					     uint64_t address, bool writes)
{
	(void)device_context;
	(void)address;
	(void)writes;
	return ask_driver(context);
}

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	const struct mimicd_instance *instance = context;

	if (mimicd_instance_is_bound(instance)) {
		const struct mimicd_binding *binding = mimicd_instance_find_binding(instance, address_space);

		return binding ? &binding->port : NULL;
	}
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client && instance->contexts[i].address_space == address_space)
			return &instance->contexts[i].port;
	}
	return NULL;
}

static int create_contexts(struct mimicd_instance *instance, const void *parameters)
{
	unsigned int count = instance->kind->contexts->count(parameters);

	instance->contexts = calloc(count, sizeof(*instance->contexts));
	if (!instance->contexts)
		return -ENOMEM;
	instance->context_count = count;
	for (unsigned int i = 0; i < count; i++)
		mimicd_memory_port(&instance->contexts[i].port, &instance->contexts[i].memory);
	return 0;
}

/* A model's interrupt, inside of its calls: of kinds with events, which raise it for a page, too. */
static void interrupt(void *context)
{
	struct mimicd_instance *instance = context;

	if (!mimicd_instance_is_bound(instance))
		mimicd_events_raise(instance);
	else if (mimicd_inject_interrupt(instance))
		raise_interrupt(instance);
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
	};
	if (instance->kind->jobs)
		mimicd_memory_job_port(&host->memory, &instance->memory);
	else
		mimicd_memory_port(&host->memory, &instance->memory);
}

static int create_model(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	const struct mimic_kind *kind = instance->kind;
	struct mimic_own_parameters parameters =
		*mimic_parameters_of(&engine->settings.parameters, kind);
	struct mimic_host host;
	int error = kind->contexts ? create_contexts(instance, &parameters) : 0;

	instance->engine = engine;
	if (!error)
		error = mimicd_device_memory_create(&instance->device_memory, kind->memory_size ?
						    kind->memory_size(&parameters) : 0);
	if (error)
		return error;
	fill_host(instance, &host);
	if (kind->jobs)
		kind->jobs->enable(&parameters);
	instance->model = kind->create(&parameters, &host, instance->device_memory.base);
	return instance->model ? 0 : -errno;
}

void mimicd_instance_destroy(struct mimicd_instance *instance)
{
	if (instance->jobs.places) {
		instance->model->ops->power_on(instance->model, mimic_now());
		mimicd_jobs_close(instance);
	}
	mimicd_events_forget(instance);
	if (instance->model) {
		mimicd_trace_close(instance);
		instance->kind->destroy(instance->model);
	}
	mimicd_device_memory_destroy(&instance->device_memory);
	free(instance->contexts);
	free(instance);
}

/* Place of a device among the server's. */
static unsigned int place_of(const struct mimic_kind *kind, unsigned int number)
{
	return mimic_kind_index(kind) * MIMIC_KIND_DEVICES_MAX + number;
}

int mimicd_instance_of(const struct mimicd_engine *engine, const struct mimic_kind *kind,
		       unsigned int number, struct mimicd_instance **found)
{
	*found = number < MIMIC_KIND_DEVICES_MAX ? engine->named[place_of(kind, number)] : NULL;
	return *found ? 0 : -ENODEV;
}

static int create_named(struct mimicd_engine *engine, const struct mimic_kind *kind,
			unsigned int number)
{
	struct mimicd_instance *instance = calloc(1, sizeof(*instance));
	unsigned int place = place_of(kind, number);
	int error;

	if (!instance)
		return -ENOMEM;
	instance->kind = kind;
	instance->index = number;
	snprintf(instance->name, sizeof(instance->name), "%s%u", kind->name, number);
	error = create_model(engine, instance);
	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "cannot make %s: %s", instance->name, strerror(-error));
		mimicd_instance_destroy(instance);
		return error;
	}
	engine->named[place] = instance;
	if (place >= engine->named_count)
		engine->named_count = place + 1;
	return 0;
}

static void remove_named(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	engine->named[place_of(instance->kind, instance->index)] = NULL;
	mimicd_instance_destroy(instance);
	while (engine->named_count && !engine->named[engine->named_count - 1])
		engine->named_count--;
}

int mimicd_instance_create_private(struct mimicd_engine *engine, const struct mimic_kind *kind,
				   unsigned int number, struct mimicd_instance **created)
{
	struct mimicd_instance *instance = calloc(1, sizeof(*instance));
	int error;

	if (!instance)
		return -ENOMEM;
	instance->kind = kind;
	snprintf(instance->name, sizeof(instance->name), "%s@%u", kind->name, number);
	instance->is_private = true;
	error = create_model(engine, instance);
	if (error)
		mimicd_instance_destroy(instance);
	else
		*created = instance;
	return error;
}

int mimicd_instances_create(struct mimicd_engine *engine)
{
	int error = 0;

	for (size_t kind = 0; kind < mimic_kind_count(); kind++) {
		for (unsigned int i = 0; !error && i < engine->settings.counts[kind]; i++)
			error = create_named(engine, mimic_kinds[kind], i);
	}
	return error;
}

void mimicd_instances_destroy(struct mimicd_engine *engine)
{
	for (unsigned int i = 0; i < engine->named_count; i++) {
		if (engine->named[i])
			mimicd_instance_destroy(engine->named[i]);
		engine->named[i] = NULL;
	}
	engine->named_count = 0;
}

bool mimicd_instance_is_held(const struct mimicd_instance *instance)
{
	bool is_held = instance->client;

	for (unsigned int i = 0; i < instance->context_count; i++)
		is_held |= instance->contexts[i].client != NULL;
	return is_held;
}

int mimicd_instance_find(struct mimicd_engine *engine, const char *name,
			 struct mimicd_instance **found)
{
	unsigned int number;
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);

	if (!kind || !mimic_kind_number(rest, &number))
		return -ENOENT;
	return mimicd_instance_of(engine, kind, number, found);
}

int mimicd_instance_add(struct mimicd_engine *engine, const char *name_of_kind, char *name)
{
	const struct mimic_kind *kind = mimic_kind_find(name_of_kind, strlen(name_of_kind));
	int error = -ENOSPC;

	if (!kind)
		return -ENOENT;
	for (unsigned int number = 0; number < MIMIC_KIND_DEVICES_MAX; number++) {
		struct mimicd_instance *instance;

		if (!mimicd_instance_of(engine, kind, number, &instance))
			continue;
		error = create_named(engine, kind, number);
		if (error)
			return error;
		instance = engine->named[place_of(kind, number)];
		error = mimicd_front_ends_add_device(engine, instance);
		if (!error) {
			strcpy(name, instance->name);
			mimicd_log(MIMICD_LOG_INFO, "%s was added", name);
			return 0;
		}
		remove_named(engine, instance);
		/* Another daemon's of that number is no reason to have none. */
		if (error != -EEXIST)
			return error;
	}
	return error;
}

/* Sessions of the socket that have it, or contexts of it. */
static void detach_holders(struct mimicd_instance *instance)
{
	if (instance->client)
		mimicd_client_detach(instance->client, instance);
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].client)
			mimicd_client_detach(instance->contexts[i].client, instance);
	}
}

int mimicd_instance_remove(struct mimicd_engine *engine, const char *name)
{
	struct mimicd_instance *instance;
	int error = mimicd_instance_find(engine, name, &instance);

	if (error)
		return error;
	mimicd_log(MIMICD_LOG_INFO, "%s is removed%s", instance->name,
		   mimicd_instance_is_held(instance) || mimicd_instance_is_bound(instance) ?
		   " while a program has it" : "");
	while (instance->functions)
		instance->functions->ops->remove(instance->functions);
	detach_holders(instance);
	remove_named(engine, instance);
	return 0;
}
