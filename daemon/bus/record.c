/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The part of the window that is the bus's: bindings, and how the request of each slot was answered. */
#include "daemon/bus/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/internal.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/record.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/log.h"

/* --- answers ------------------------------------------------------------------------------------ */

static void write_answer(struct mimicd_bus *bus, uint32_t slot, const struct mimicd_answer_record *record)
{
	mimicd_journal_write(&bus->record->answers[slot], record, sizeof(*record));
}

void mimicd_bus_note_answer(struct mimicd_bus *bus, uint32_t slot, int status, uint64_t data, int fd)
{
	struct mimicd_late_answer *late = &bus->late[bus->late_count++];

	*late = (struct mimicd_late_answer){ .slot = slot, .status = status, .data = data, .fd = -1 };
	if (fd >= 0)
		late->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && late->fd < 0)
		late->status = -errno;
	write_answer(bus, slot, &(struct mimicd_answer_record){
		.serial = bus->serials[slot], .data = data, .status = late->status, .state = MIMICD_ANSWER_GIVEN });
	bus->engine->has_answers = true;
}

void mimicd_bus_note_parked(const struct mimicd_request *request)
{
	struct mimicd_bus *bus = request->bus;
	uint32_t slot = request->body.slot;

	if (!bus->record)
		return;
	write_answer(bus, slot, &(struct mimicd_answer_record){
		.serial = bus->serials[slot], .state = MIMICD_ANSWER_PARKED,
		.owner = mimicd_trap_owner(request->trap.owner), .device = request->body.device });
}

const struct mimicd_answer_record *mimicd_bus_last_answer(const struct mimicd_bus *bus, uint32_t slot)
{
	const struct mimicd_answer_record *record = bus->record ? &bus->record->answers[slot] : NULL;

	/* Of CONNECT the descriptor is lost, and no program has it: it is made once more. */
	if (!record || record->state != MIMICD_ANSWER_GIVEN || record->serial != bus->serials[slot] ||
	    bus->slots[slot].request.kind == MIMIC_BUS_REQUEST_CONNECT)
		return NULL;
	return record;
}

/* --- bindings ----------------------------------------------------------------------------------- */

static uint64_t count_threads(const struct mimicd_bus_binding *binding)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		for (const struct mimicd_trap_thread *thread = binding->threads[i]; thread; thread = thread->next)
			count++;
	}
	return count;
}

static uint64_t contexts_of(const struct mimicd_binding *binding)
{
	uint64_t contexts = 0;

	for (unsigned int i = 0; i < binding->instance->context_count; i++) {
		if (mimicd_instance_context_binding(binding->instance, i) == binding)
			contexts |= 1ull << i;
	}
	return contexts;
}

static void fill(const struct mimicd_bus_binding *binding, struct mimicd_binding_record *record)
{
	const struct mimicd_binding *common = &binding->binding;
	const struct mimicd_bus_function *function = (const struct mimicd_bus_function *)common->function;
	struct mimicd_trap_thread_record *to = record->thread;

	record->number = binding->number;
	record->device = function->device;
	record->process = common->process->number;
	record->pid = common->program.pid;
	record->uid = common->program.uid;
	memcpy(record->name, common->program.name, sizeof(record->name));
	record->accesses = common->accesses;
	record->contexts = contexts_of(common);
	record->threads = count_threads(binding);
	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		for (const struct mimicd_trap_thread *thread = binding->threads[i]; thread; thread = thread->next)
			*to++ = (struct mimicd_trap_thread_record){
				.number = thread->number, .tid = thread->owner->tid, .owner = thread->owner->number,
			};
	}
}

/* In its place, if it is as long as before. false: there is no memory. */
static bool write_binding(struct mimicd_bus_binding *binding)
{
	size_t size = sizeof(struct mimicd_binding_record) +
		      count_threads(binding) * sizeof(struct mimicd_trap_thread_record);
	struct mimicd_binding_record *record = calloc(1, size);

	if (!record)
		return false;
	fill(binding, record);
	if (!binding->record || binding->record_size != size) {
		mimicd_journal_free(binding->record);
		binding->record = mimicd_journal_alloc(size);
		binding->record_size = size;
		binding->bus->has_other_bindings = true;
	}
	if (binding->record)
		mimicd_journal_write(binding->record, record, size);
	free(record);
	binding->binding.has_changed = !binding->record;
	return binding->record;
}

static bool write_list(struct mimicd_bus *bus)
{
	struct mimicd_bindings_record *old = bus->record->bindings, *list;
	uint64_t count = 0;

	for (const struct mimicd_bus_binding *binding = bus->bindings; binding; binding = binding->next)
		count++;
	list = mimicd_journal_alloc(sizeof(*list) + count * sizeof(list->binding[0]));
	for (const struct mimicd_bus_binding *binding = bus->bindings; binding; binding = binding->next) {
		if (list && binding->record)
			list->binding[list->count++] = binding->record;
	}
	/* Without memory there is none: the old one names records that are freed, perhaps other structures. */
	mimicd_journal_write(&bus->record->bindings, &list, sizeof(list));
	mimicd_journal_free(old);
	return list;
}

void mimicd_bus_record(void *context)
{
	struct mimicd_bus *bus = context;
	struct mimicd_root_record *root = mimicd_journal_root();
	void *record = bus->record;
	bool is_whole = true;

	if (root->bus != record)
		mimicd_journal_write(&root->bus, &record, sizeof(record));
	if (!record)
		return;
	for (struct mimicd_bus_binding *binding = bus->bindings; binding; binding = binding->next) {
		if (binding->binding.has_changed)
			is_whole &= write_binding(binding);
	}
	if (bus->has_other_bindings)
		is_whole &= write_list(bus);
	bus->has_other_bindings = !is_whole;
	/* One line, not one for each step until there is memory. */
	if (!is_whole && !bus->lacks_memory)
		mimicd_log(MIMICD_LOG_ERROR, "recovery: no memory for the records of the kernel's programs");
	bus->lacks_memory = !is_whole;
}
