/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/bus/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bus/record.h"
#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/recording.h"
#include "daemon/engine/step.h"

/* --- threads ------------------------------------------------------------------- */

static struct mimicd_trap_thread **thread_link(struct mimicd_bus_binding *binding, uint32_t number)
{
	struct mimicd_trap_thread **link = &binding->threads[number % MIMICD_THREAD_CHAINS];

	while (*link && (*link)->number != number)
		link = &(*link)->next;
	return link;
}

static bool has_owner(const struct mimicd_bus_binding *binding, const struct mimicd_owner *owner)
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
	struct mimic_trace_source *trace = mimicd_recording_trace(instance);

	if (owner->tid && mimic_trace_now(trace))
		MIMIC_TRACE(trace, thread, owner->number, 0, 0ull, 0u, owner->tid, 0ull);
}

static void add_thread(struct mimicd_bus_binding *binding, struct mimicd_trap_thread *thread, uint32_t number,
		       struct mimicd_owner *owner)
{
	struct mimicd_trap_thread **link = thread_link(binding, number);

	owner->traps++;
	thread->number = number;
	thread->owner = owner;
	*link = thread;
	mimicd_step_note_binding(&binding->binding);
}

struct mimicd_owner *mimicd_bus_binding_owner(struct mimicd_bus_binding *binding, uint32_t number,
					      pid_t tid)
{
	struct mimicd_process *process = binding->binding.process;
	struct mimicd_trap_thread *thread = *thread_link(binding, number);
	struct mimicd_owner *owner;

	if (thread)
		return thread->owner;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	owner = mimicd_owner_of_tid(process, tid);
	if (owner && has_owner(binding, owner)) {
		/* That thread has ended, and we shall hear of it: its tid is another's now. */
		owner->tid = 0;
		owner = NULL;
	}
	if (!owner)
		owner = mimicd_owner_create(binding->bus->engine, process, tid);
	if (!owner) {
		free(thread);
		return NULL;
	}
	trace_thread(binding->binding.instance, owner);
	add_thread(binding, thread, number, owner);
	return owner;
}

static void thread_free(struct mimicd_bus_binding *binding, struct mimicd_trap_thread **link)
{
	struct mimicd_trap_thread *thread = *link;

	*link = thread->next;
	mimicd_step_note_binding(&binding->binding);
	thread->owner->traps--;
	mimicd_owner_free_unused(binding->binding.process, thread->owner);
	free(thread);
}

void mimicd_bus_binding_thread_gone(struct mimicd_bus_binding *binding, uint32_t number)
{
	struct mimicd_trap_thread **link = thread_link(binding, number);
	struct mimicd_instance *instance = binding->binding.instance;
	struct mimicd_owner *owner;

	if (!*link)
		return;
	owner = (*link)->owner;
	if (owner->trap && owner->trap->instance == instance)
		mimicd_request_withdraw(mimicd_request_of(owner->trap));
	/* Posts on its lanes are still executed: the THREAD_GONE of its client comes after them. */
	if (!owner->thread)
		mimicd_instance_owner_gone(instance, owner->number);
	thread_free(binding, link);
}

/* --- bindings -------------------------------------------------------------------- */

struct mimicd_bus_binding *mimicd_bus_binding_find(struct mimicd_bus *bus, uint32_t number)
{
	struct mimicd_bus_binding *binding = bus->bindings;

	while (binding && binding->number != number)
		binding = binding->next;
	return binding;
}

static int map_memory_at(const struct mimicd_bus_function *function, void *address)
{
	const struct mimicd_bus *bus = function->bus;

	return bus->ops->map_at(bus->fd, address, function->function.instance->device_memory.size,
				MIMIC_BUS_MEMORY(function->device));
}

int mimicd_bus_binding_map_memory(struct mimicd_function *function, void *address)
{
	return map_memory_at((struct mimicd_bus_function *)function, address);
}

/* The device's memory is the bus's from now on, until mimicd_device_memory_close(). */
static int map_memory(const struct mimicd_bus_function *function)
{
	const struct mimicd_device_memory *memory = &function->function.instance->device_memory;

	/* Of one that is taken over the model has to get its state before. */
	if (!memory->base || function->bus->before)
		return 0;
	return map_memory_at(function, memory->base);
}

static void fill(struct mimicd_bus_binding *binding, struct mimicd_bus_function *function,
		 const struct mimic_bus_request *request)
{
	struct mimicd_binding *common = &binding->binding;

	binding->bus = function->bus;
	binding->number = request->binding;
	mimicd_window_open(&binding->window, binding->bus, binding->number);
	common->function = &function->function;
	common->number = request->binding;
	common->program = (struct mimicd_program){ .pid = request->pid, .uid = request->uid };
	memcpy(common->program.name, request->program, sizeof(common->program.name) - 1);
	/* A daemon that can be recovered has no workers: the model moves rows. */
	if (function->function.instance->kind->jobs && !binding->bus->record)
		mimicd_window_job_port(&common->port, &binding->window);
	else
		mimicd_window_port(&common->port, &binding->window);
}

static void undo(struct mimicd_bus_binding *binding)
{
	mimicd_window_close(&binding->window);
	if (binding->binding.process)
		mimicd_process_free_unused(binding->binding.process);
	free(binding);
}

static int open_filled(struct mimicd_bus_binding *binding, struct mimicd_bus_function *function,
		       uint32_t process)
{
	int error;

	binding->binding.process = mimicd_process_get(&binding->bus->processes, process);
	if (!binding->binding.process)
		return -ENOMEM;
	error = map_memory(function);
	if (!error)
		error = mimicd_binding_open(&binding->binding);
	if (error)
		mimicd_device_memory_close(&function->function.instance->device_memory);
	return error;
}

int mimicd_bus_binding_open(struct mimicd_bus_function *function, const struct mimic_bus_request *request)
{
	struct mimicd_bus *bus = function->bus;
	struct mimicd_bus_binding *binding;
	int error;

	if (!mimicd_binding_may_open(function->function.instance))
		return -EBUSY;
	if (!request->binding || mimicd_bus_binding_find(bus, request->binding))
		return -EINVAL;
	binding = calloc(1, sizeof(*binding));
	if (!binding)
		return -ENOMEM;
	fill(binding, function, request);
	error = open_filled(binding, function, request->process);
	if (error) {
		undo(binding);
		return error;
	}
	binding->next = bus->bindings;
	bus->bindings = binding;
	return 0;
}

int mimicd_bus_binding_adopt(struct mimicd_bus_binding *binding, const struct mimicd_binding_record *record)
{
	struct mimicd_instance *instance = binding->binding.instance;

	binding->binding.accesses = record->accesses;
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (record->contexts & 1ull << i)
			instance->contexts[i].address_space = binding->binding.number;
	}
	for (uint64_t i = 0; i < record->threads; i++) {
		const struct mimicd_trap_thread_record *one = &record->thread[i];
		struct mimicd_trap_thread *thread = calloc(1, sizeof(*thread));
		struct mimicd_owner *owner = NULL;

		if (thread && !*thread_link(binding, one->number))
			owner = mimicd_owner_adopt(binding->binding.process, one->owner, one->tid);
		if (!owner) {
			free(thread);
			return -ENOMEM;
		}
		add_thread(binding, thread, one->number, owner);
	}
	return 0;
}

void mimicd_bus_binding_close(struct mimicd_bus_binding *binding)
{
	struct mimicd_instance *instance = binding->binding.instance;
	struct mimicd_process *process = binding->binding.process;
	struct mimicd_bus_binding **link = &binding->bus->bindings;

	mimicd_requests_withdraw(binding->bus, binding->number);
	mimicd_journal_free(binding->record);
	binding->bus->has_other_bindings = true;
	mimicd_binding_close(&binding->binding);
	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		while (binding->threads[i])
			thread_free(binding, &binding->threads[i]);
	}
	mimicd_window_close(&binding->window);
	mimicd_device_memory_close(&instance->device_memory);
	while (*link != binding)
		link = &(*link)->next;
	*link = binding->next;
	free(binding);
	mimicd_process_free_unused(process);
}

int mimicd_bus_binding_fault_in(struct mimicd_binding *binding, uint64_t address)
{
	struct mimicd_bus_binding *self = (struct mimicd_bus_binding *)binding;
	struct mimic_bus_fault_in wanted = {
		.size = sizeof(wanted), .binding = self->number, .address = address, .writes = 1,
	};

	return mimicd_bus_ioctl(self->bus, MIMIC_BUS_FAULT_IN, &wanted);
}

void mimicd_bus_binding_lose(struct mimicd_binding *binding)
{
	mimicd_bus_binding_close((struct mimicd_bus_binding *)binding);
}

void mimicd_bus_bindings_close(struct mimicd_bus_function *function)
{
	struct mimicd_bus_binding *binding = function->bus->bindings;

	while (binding) {
		struct mimicd_bus_binding *next = binding->next;

		if (binding->binding.function == &function->function)
			mimicd_bus_binding_close(binding);
		binding = next;
	}
}
