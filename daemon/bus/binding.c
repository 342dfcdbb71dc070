/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/bus/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/client.h"
#include "daemon/engine/execute.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* --- owners ----------------------------------------------------------------- */

static struct mimicd_owner **owner_chain(struct mimicd_process *process, uint64_t number)
{
	return &process->owners[(number >> MIMICD_OWNER_SHIFT) % MIMICD_THREAD_CHAINS];
}

struct mimicd_owner *mimicd_process_find(struct mimicd_process *process, uint64_t number)
{
	struct mimicd_owner *owner = *owner_chain(process, number);

	while (owner && owner->number != number)
		owner = owner->next;
	return owner;
}

static struct mimicd_owner *owner_create(struct mimicd_engine *engine,
					 struct mimicd_process *process, pid_t tid)
{
	struct mimicd_owner *owner = calloc(1, sizeof(*owner));
	struct mimicd_owner **chain;

	if (!owner)
		return NULL;
	/* The low bits are a thread's number in its client; here there is none. */
	owner->number = ++engine->last_owner << MIMICD_OWNER_SHIFT;
	owner->tid = tid;
	chain = owner_chain(process, owner->number);
	owner->next = *chain;
	*chain = owner;
	return owner;
}

static struct mimicd_owner *owner_of_tid(struct mimicd_process *process, pid_t tid)
{
	for (unsigned int i = 0; tid && i < MIMICD_THREAD_CHAINS; i++) {
		for (struct mimicd_owner *owner = process->owners[i]; owner; owner = owner->next) {
			if (owner->tid == tid)
				return owner;
		}
	}
	return NULL;
}

static void owner_free_unused(struct mimicd_process *process, struct mimicd_owner *owner)
{
	struct mimicd_owner **link = owner_chain(process, owner->number);

	if (owner->traps || owner->thread)
		return;
	while (*link != owner)
		link = &(*link)->next;
	*link = owner->next;
	free(owner);
}

struct mimicd_owner *mimicd_process_join(struct mimicd_client *client,
					 struct mimicd_thread *thread, pid_t tid)
{
	struct mimicd_owner *owner = owner_of_tid(client->process, tid);

	if (!owner || owner->thread)
		owner = owner_create(client->engine, client->process, owner ? 0 : tid);
	if (owner)
		owner->thread = thread;
	return owner;
}

void mimicd_process_leave(struct mimicd_process *process, struct mimicd_owner *owner)
{
	owner->thread = NULL;
	owner_free_unused(process, owner);
}

/* --- processes -------------------------------------------------------------- */

static struct mimicd_process *process_get(struct mimicd_bus *bus, uint32_t number)
{
	struct mimicd_process *process = bus->processes;

	while (process && process->number != number)
		process = process->next;
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->number = number;
	process->next = bus->processes;
	bus->processes = process;
	return process;
}

static void process_free_unused(struct mimicd_bus *bus, struct mimicd_process *process)
{
	struct mimicd_process **link = &bus->processes;

	if (process->bindings || process->clients)
		return;
	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	free(process);
}

void mimicd_process_add_client(struct mimicd_process *process)
{
	process->clients++;
}

void mimicd_process_drop_client(struct mimicd_bus *bus, struct mimicd_process *process)
{
	process->clients--;
	process_free_unused(bus, process);
}

/* --- threads of a binding ----------------------------------------------------- */

static struct mimicd_trap_thread **thread_link(struct mimicd_binding *binding, uint32_t number)
{
	struct mimicd_trap_thread **link = &binding->threads[number % MIMICD_THREAD_CHAINS];

	while (*link && (*link)->number != number)
		link = &(*link)->next;
	return link;
}

static bool has_owner(const struct mimicd_binding *binding, const struct mimicd_owner *owner)
{
	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		for (struct mimicd_trap_thread *thread = binding->threads[i]; thread; thread = thread->next) {
			if (thread->owner == owner)
				return true;
		}
	}
	return false;
}

static void trace_thread(struct mimicd_instance *instance, const struct mimicd_owner *owner)
{
	struct mimic_trace_source *trace = &instance->model->trace;

	if (owner->tid && mimic_trace_now(trace))
		MIMIC_TRACE(trace, thread, owner->number, 0, 0ull, 0u, owner->tid, 0ull);
}

struct mimicd_owner *mimicd_binding_owner(struct mimicd_bus *bus, struct mimicd_binding *binding,
					  uint32_t number, pid_t tid)
{
	struct mimicd_trap_thread **link = thread_link(binding, number);
	struct mimicd_trap_thread *thread = *link;
	struct mimicd_owner *owner;

	if (thread)
		return thread->owner;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	owner = owner_of_tid(binding->process, tid);
	if (owner && has_owner(binding, owner)) {
		/* That thread has ended, and we shall hear of it: its tid is another's now. */
		owner->tid = 0;
		owner = NULL;
	}
	if (!owner)
		owner = owner_create(bus->engine, binding->process, tid);
	if (!owner) {
		free(thread);
		return NULL;
	}
	owner->traps++;
	trace_thread(binding->instance, owner);
	thread->number = number;
	thread->owner = owner;
	*link = thread;
	return owner;
}

static void thread_free(struct mimicd_binding *binding, struct mimicd_trap_thread **link)
{
	struct mimicd_trap_thread *thread = *link;

	*link = thread->next;
	thread->owner->traps--;
	owner_free_unused(binding->process, thread->owner);
	free(thread);
}

void mimicd_binding_thread_gone(struct mimicd_bus *bus, struct mimicd_binding *binding,
				uint32_t number)
{
	struct mimicd_trap_thread **link = thread_link(binding, number);
	struct mimic_model *model = binding->instance->model;
	struct mimicd_owner *owner;

	if (!*link)
		return;
	owner = (*link)->owner;
	if (owner->parked && owner->parked->instance == binding->instance)
		mimicd_request_withdraw(bus, owner->parked);
	/* What it posted on its lanes is still done: its session's THREAD_GONE comes after that. */
	if (!owner->thread) {
		model->ops->owner_gone(model, owner->number, mimic_now());
		bus->engine->busy |= model->ops->busy(model);
	}
	thread_free(binding, link);
}

/* --- bindings ----------------------------------------------------------------- */

struct mimicd_binding *mimicd_binding_find(struct mimicd_bus *bus, uint32_t number)
{
	struct mimicd_binding *binding = bus->bindings;

	while (binding && binding->number != number)
		binding = binding->next;
	return binding;
}

const struct mimic_memory *mimicd_binding_memory(const struct mimicd_instance *instance,
						 uint64_t number)
{
	for (struct mimicd_binding *binding = instance->binding; binding; binding = binding->next_on_device) {
		if (binding->number == number)
			return &binding->port;
	}
	return NULL;
}

struct mimicd_binding *mimicd_binding_of_context(const struct mimicd_instance *instance,
						 unsigned int context)
{
	struct mimicd_binding *binding = instance->binding;

	if (context >= instance->context_count || !instance->contexts[context].address_space)
		return NULL;
	while (binding && binding->number != instance->contexts[context].address_space)
		binding = binding->next_on_device;
	return binding;
}

bool mimicd_binding_may_use(const struct mimicd_instance *instance,
			    const struct mimicd_process *process, unsigned int context)
{
	const struct mimicd_binding *binding = mimicd_binding_of_context(instance, context);

	return binding && binding->process == process;
}

void mimicd_binding_attached(struct mimicd_instance *instance, unsigned int context,
			     uint64_t address_space)
{
	struct mimicd_client *client;

	if (context >= instance->context_count)
		return;
	for (client = instance->engine->clients; client; client = client->next)
		mimicd_client_detach_context(client, instance, context);
	instance->contexts[context].address_space =
		mimicd_binding_memory(instance, address_space) ? address_space : 0;
}

struct mimicd_owner *mimicd_binding_find_owner(const struct mimicd_instance *instance,
					       uint64_t number)
{
	struct mimicd_binding *binding = instance->binding;
	struct mimicd_owner *owner = NULL;

	for (; !owner && binding; binding = binding->next_on_device)
		owner = mimicd_process_find(binding->process, number);
	return owner;
}

static void enter_device(struct mimicd_instance *instance, struct mimicd_binding *binding)
{
	struct mimicd_binding **link = &instance->binding;

	while (*link)
		link = &(*link)->next_on_device;
	*link = binding;
	binding->instance = instance;
	if (instance->kind->jobs)
		mimicd_window_job_port(&binding->port, &binding->window);
	else
		mimicd_window_port(&binding->port, &binding->window);
	if (!instance->kind->contexts)
		instance->memory.port = &binding->port;
}

static void leave_device(struct mimicd_instance *instance, struct mimicd_binding *binding)
{
	struct mimicd_binding **link = &instance->binding;

	while (*link != binding)
		link = &(*link)->next_on_device;
	*link = binding->next_on_device;
	instance->memory.port = NULL;
}

/* What a device that belongs to one process has to itself: its memory, and its jobs. */
static int take_device(struct mimicd_bus *bus, struct mimicd_instance *instance)
{
	int error = mimicd_bus_map_memory(bus, instance);

	if (!error)
		error = mimicd_jobs_open(instance);
	if (error)
		mimicd_device_memory_close(&instance->device_memory);
	return error;
}

int mimicd_binding_create(struct mimicd_bus *bus, struct mimicd_instance *instance,
			  const struct mimic_bus_request *request)
{
	struct mimicd_binding *binding;
	int error;

	if (mimicd_instance_is_held(instance) ||
	    (mimicd_instance_is_bound(instance) && !instance->kind->contexts))
		return -EBUSY;
	if (!request->binding || mimicd_binding_find(bus, request->binding))
		return -EINVAL;
	binding = calloc(1, sizeof(*binding));
	if (!binding)
		return -ENOMEM;
	binding->process = process_get(bus, request->process);
	error = binding->process ? take_device(bus, instance) : -ENOMEM;
	if (error) {
		if (binding->process)
			process_free_unused(bus, binding->process);
		free(binding);
		return error;
	}
	binding->process->bindings++;
	binding->number = request->binding;
	binding->pid = request->pid;
	binding->uid = request->uid;
	memcpy(binding->program, request->program, sizeof(binding->program) - 1);
	mimicd_window_open(&binding->window, bus, binding->number);
	binding->next = bus->bindings;
	bus->bindings = binding;
	enter_device(instance, binding);
	mimicd_trace_bound(instance, binding->pid);
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) opened %s through the kernel", (int)binding->pid,
		   binding->program, instance->name);
	return 0;
}

static void withdraw_all(struct mimicd_bus *bus, const struct mimicd_binding *binding)
{
	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS; i++) {
		struct mimicd_request *request = &bus->requests[i];

		if (request->state != MIMICD_REQUEST_NONE && request->body.binding == binding->number)
			mimicd_request_withdraw(bus, request);
	}
}

/* Sessions of the process lose the device; one whose process has none left ends. */
static void leave_clients(struct mimicd_engine *engine, const struct mimicd_binding *binding)
{
	struct mimicd_process *process = binding->process;

	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		if (client->process != process)
			continue;
		mimicd_client_detach(client, binding->instance);
		if (process->bindings)
			continue;
		client->broken = true;
		engine->reap = true;
	}
}

/* Before the window goes: nothing of the model reads it any more. */
static void power_on(struct mimicd_instance *instance, const struct mimicd_binding *binding)
{
	if (!instance->kind->contexts)
		instance->model->ops->power_on(instance->model, mimic_now());
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (mimicd_binding_of_context(instance, i) != binding)
			continue;
		instance->kind->contexts->attach(instance->model, i, 0, mimic_now());
		instance->contexts[i].address_space = 0;
	}
	/* Others that have contexts are not to notice. */
	if (!binding->next_on_device && instance->binding == binding)
		mimicd_inject_reset(instance);
}

void mimicd_binding_close(struct mimicd_bus *bus, struct mimicd_binding *binding)
{
	struct mimicd_binding **link = &bus->bindings;
	struct mimicd_instance *instance = binding->instance;
	struct mimicd_process *process = binding->process;

	withdraw_all(bus, binding);
	process->bindings--;
	leave_clients(bus->engine, binding);
	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		while (binding->threads[i])
			thread_free(binding, &binding->threads[i]);
	}
	power_on(instance, binding);
	/* No worker looks into the window after this. */
	mimicd_jobs_close(instance);
	mimicd_window_close(&binding->window);
	leave_device(instance, binding);
	if (!instance->binding)
		mimicd_trace_close(instance);
	mimicd_device_memory_close(&instance->device_memory);
	while (*link != binding)
		link = &(*link)->next;
	*link = binding->next;
	mimicd_log(MIMICD_LOG_DEBUG, "process %d (%s) closed %s", (int)binding->pid, binding->program,
		   instance->name);
	free(binding);
	process_free_unused(bus, process);
}
