/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/instance.h"

#include <errno.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "libmimic/base/clock.h"

const void *mimicd_instance_parameters(const struct mimicd_instance *instance)
{
	return mimic_parameters_of(&instance->engine->settings.parameters, instance->kind);
}

/* --- by name ------------------------------------------------------------------ */

unsigned int mimicd_instance_place(const struct mimic_kind *kind, unsigned int number)
{
	return mimic_kind_index(kind) * MIMIC_KIND_DEVICES_MAX + number;
}

int mimicd_instance_of(const struct mimicd_engine *engine, const struct mimic_kind *kind,
		       unsigned int number, struct mimicd_instance **found)
{
	*found = number < MIMIC_KIND_DEVICES_MAX ? engine->named[mimicd_instance_place(kind, number)] : NULL;
	return *found ? 0 : -ENODEV;
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

bool mimicd_instance_is_held(const struct mimicd_instance *instance)
{
	bool is_held = instance->client;

	for (unsigned int i = 0; i < instance->context_count; i++)
		is_held |= instance->contexts[i].client != NULL;
	return is_held;
}

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
	instance->shard->calls++;
	instance->model->ops->cancel(instance->model, waiter->owner, mimic_now());
}

struct mimicd_waiter *mimicd_instance_find_waiter(const struct mimicd_instance *instance, uint64_t owner)
{
	struct mimicd_waiter *waiter = instance->waiters;

	while (waiter && waiter->owner != owner)
		waiter = waiter->next;
	return waiter;
}

void mimicd_instance_owner_gone(struct mimicd_instance *instance, uint64_t owner)
{
	struct mimic_model *model = instance->model;

	instance->shard->calls++;
	model->ops->owner_gone(model, owner, mimic_now());
	/* A thread that waited goes on, and may have set off a loop. */
	instance->shard->busy |= model->ops->busy(model);
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
