/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Bindings that the daemon before had: their processes have the devices still, and wait. */
#include <errno.h>
#include <string.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/internal.h"
#include "daemon/bus/record.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/recover.h"
#include "daemon/engine/step.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* 0 is no owner; the low bits are those of a client's thread, and of the driver (1). */
static bool are_owners(const struct mimicd_binding_record *record)
{
	for (uint64_t i = 0; i < record->threads; i++) {
		uint64_t owner = record->thread[i].owner;

		if (!owner || owner & ((1ull << MIMICD_OWNER_SHIFT) - 1))
			return false;
	}
	return true;
}

/* NULL: none. */
static const char *find_defect(const struct mimicd_journal_left *left, const struct mimicd_binding_record *record)
{
	if (!mimicd_journal_left_has(left, record, sizeof(*record)))
		return "where it lies";
	if (!memchr(record->name, 0, sizeof(record->name)))
		return "the program's name";
	if (record->threads > left->size || !mimicd_journal_left_has(left, record, sizeof(*record) +
					      record->threads * sizeof(record->thread[0])))
		return "its threads";
	return are_owners(record) ? NULL : "the owner of a thread";
}

static int recover_binding(struct mimicd_bus *bus, const struct mimicd_binding_record *record)
{
	struct mimicd_bus_function *function = mimicd_bus_function_find(bus, record->device);
	struct mimic_bus_request request = {
		.binding = record->number, .process = record->process, .pid = record->pid, .uid = record->uid,
	};
	struct mimicd_bus_binding *binding;
	int error;

	if (!function)
		return -ENODEV;
	memcpy(request.program, record->name, sizeof(request.program));
	error = mimicd_bus_binding_open(function, &request);
	if (error)
		return error;
	binding = mimicd_bus_binding_find(bus, record->number);
	error = mimicd_bus_binding_adopt(binding, record);
	if (error)
		mimicd_bus_binding_close(binding);
	return error;
}

/* false: its program has lost the device. */
static bool recover_one(struct mimicd_bus *bus, const struct mimicd_binding_record *record)
{
	const char *defect = find_defect(&bus->engine->predecessor->left, record);
	int error;

	if (defect) {
		mimicd_log(MIMICD_LOG_ERROR, "recovery: a program loses its device: its record is damaged: %s", defect);
		return false;
	}
	error = recover_binding(bus, record);
	if (error)
		mimicd_log_of(record->uid, MIMICD_LOG_ERROR, "recovery: process %d (%s) loses a device of the kernel's bus: %s",
			      (int)record->pid, record->name, strerror(-error));
	return !error;
}

/* NULL: it is damaged. */
static const struct mimicd_bindings_record *find_list(const struct mimicd_bus *bus)
{
	const struct mimicd_journal_left *left = &bus->engine->predecessor->left;
	const struct mimicd_bindings_record *list = bus->before->bindings;

	if (mimicd_journal_left_has(left, list, sizeof(*list)) && list->count <= MIMIC_BUS_BINDINGS_MAX &&
	    mimicd_journal_left_has(left, list, sizeof(*list) + list->count * sizeof(list->binding[0])))
		return list;
	mimicd_log(MIMICD_LOG_ERROR, "recovery: the list of the kernel's programs is damaged; they lose their devices");
	return NULL;
}

void mimicd_bus_recover(struct mimicd_bus *bus)
{
	const struct mimicd_bindings_record *list;
	bool are_all_there = true;

	if (!bus->before || !bus->before->bindings)
		return;
	list = find_list(bus);
	are_all_there = list;
	/* The newest comes first in the list, and last here. */
	for (uint64_t i = list ? list->count : 0; i-- > 0;)
		are_all_there &= recover_one(bus, list->binding[i]);
	if (!are_all_there)
		bus->engine->predecessor->has_lost_programs = true;
}

/* The kernel gives us its request once more, and it has had no effect. */
static void withdraw(struct mimicd_bus *bus, const struct mimicd_answer_record *record)
{
	const struct mimicd_bus_function *function = mimicd_bus_function_find(bus, record->device);
	struct mimic_model *model = function ? function->function.instance->model : NULL;

	if (model)
		model->ops->cancel(model, record->owner, mimic_now());
}

void mimicd_bus_recovered(void *context)
{
	struct mimicd_bus *bus = context;

	if (!bus->before)
		return;
	for (uint32_t i = 0; i < MIMIC_BUS_SLOTS; i++) {
		const struct mimicd_answer_record *before = &bus->before->answers[i];

		if (before->state == MIMICD_ANSWER_PARKED)
			withdraw(bus, before);
		else
			mimicd_journal_write(&bus->record->answers[i], before, sizeof(*before));
	}
	bus->before = NULL;
}
