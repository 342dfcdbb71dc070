/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/binding.h"

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/memory_journal.h"
#include "daemon/engine/restored.h"
#include "daemon/engine/step.h"
#include "daemon/engine/trace.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* --- contexts ------------------------------------------------------------------ */

bool mimicd_binding_attach(struct mimicd_instance *instance, unsigned int context,
			   uint64_t address_space)
{
	struct mimicd_client *client = instance->engine->clients;

	if (mimicd_instance_is_held(instance))
		return false;
	if (context >= instance->context_count)
		return true;
	for (; client; client = client->next)
		mimicd_client_detach_context(client, instance, context);
	for (struct mimicd_binding *binding = instance->binding; binding; binding = binding->next_on_device)
		mimicd_step_note_binding(binding);
	instance->contexts[context].address_space =
		mimicd_instance_find_binding(instance, address_space) ? address_space : 0;
	return true;
}

/* --- open ---------------------------------------------------------------------- */

bool mimicd_binding_may_open(const struct mimicd_instance *instance)
{
	return !mimicd_instance_is_held(instance) &&
	       (!mimicd_instance_is_bound(instance) || instance->kind->contexts);
}

static void enter_device(struct mimicd_binding *binding)
{
	struct mimicd_instance *instance = binding->instance;
	struct mimicd_binding **link = &instance->binding;

	while (*link)
		link = &(*link)->next_on_device;
	binding->next_on_device = NULL;
	*link = binding;
	if (!instance->kind->contexts) {
		instance->memory.port = &binding->port;
		instance->memory.binding = binding->number;
	}
	binding->slot = (struct mimicd_memory_slot){ .port = &binding->port, .binding = binding->number };
	mimicd_memory_journal_port(&binding->logged_port, &binding->slot);
}

int mimicd_binding_open(struct mimicd_binding *binding)
{
	struct mimicd_instance *instance = binding->function->instance;
	int error = mimicd_jobs_open(&instance->jobs, mimicd_instance_parameters(instance), true);

	if (error)
		return error;
	binding->instance = instance;
	binding->process->bindings++;
	binding->next = instance->engine->bindings;
	instance->engine->bindings = binding;
	enter_device(binding);
	mimicd_step_note_binding(binding);
	mimicd_restored_wake_bound(instance);
	mimicd_trace_bound(instance, binding->program.pid);
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) opened %s through the %s", (int)binding->program.pid,
		   binding->program.name, instance->name, binding->function->ops->transport);
	return 0;
}

/* --- close --------------------------------------------------------------------- */

/* Clients of the process lose the device; one whose process has none left ends. */
static void leave_clients(const struct mimicd_binding *binding)
{
	const struct mimicd_process *process = binding->process;
	struct mimicd_client *client = binding->instance->engine->clients;

	for (; client; client = client->next) {
		if (client->process != process)
			continue;
		mimicd_client_detach(client, binding->instance);
		if (!process->bindings)
			mimicd_client_leave(client);
	}
}

/* While its process's memory is still there: nothing of the model reads it afterwards. */
static void power_on(struct mimicd_instance *instance, const struct mimicd_binding *binding)
{
	if (!instance->kind->contexts)
		instance->model->ops->power_on(instance->model, mimic_now());
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (mimicd_instance_context_binding(instance, i) != binding)
			continue;
		instance->kind->contexts->attach(instance->model, i, 0, mimic_now());
		instance->contexts[i].address_space = 0;
	}
	/* Others that have contexts are not to notice. */
	if (!binding->next_on_device && instance->binding == binding)
		mimicd_inject_reset(&instance->injection);
}

static void leave_device(struct mimicd_binding *binding)
{
	struct mimicd_instance *instance = binding->instance;
	struct mimicd_binding **link = &instance->binding;

	while (*link != binding)
		link = &(*link)->next_on_device;
	*link = binding->next_on_device;
	instance->memory.port = NULL;
	if (!instance->binding)
		mimicd_trace_close(instance);
}

void mimicd_binding_close(struct mimicd_binding *binding)
{
	struct mimicd_instance *instance = binding->instance;
	struct mimicd_binding **link = &instance->engine->bindings;

	mimicd_step_note_binding(binding);
	binding->process->bindings--;
	leave_clients(binding);
	power_on(instance, binding);
	/* No worker reads the process's memory after this. */
	mimicd_jobs_close(&instance->jobs);
	leave_device(binding);
	while (*link != binding)
		link = &(*link)->next;
	*link = binding->next;
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) closed %s", (int)binding->program.pid,
		   binding->program.name, instance->name);
}
