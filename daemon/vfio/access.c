/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses of a device's registers by a machine. */
#include "daemon/engine/inject.h"
#include "daemon/engine/process.h"
#include "daemon/vfio/internal.h"
#include "devices/register.h"
#include "libmimic/base/clock.h"

static struct mimicd_machine_access *access_of(struct mimicd_trap *trap)
{
	return (struct mimicd_machine_access *)trap;
}

static void complete(struct mimicd_trap *trap, uint64_t data)
{
	struct mimicd_machine_access *access = access_of(trap);

	access->state = MIMICD_ACCESS_DONE;
	access->body.data = data;
	access->complete(access);
}

/* Not called: no two accesses of a machine have the same owner. */
static void note_withdrawal(struct mimicd_trap *trap)
{
	access_of(trap)->state = MIMICD_ACCESS_IDLE;
}

static bool is_good(const struct mimicd_instance *instance, const struct mimic_access *body)
{
	bool is_size = body->size == 1 || body->size == 2 || body->size == 4 || body->size == 8;

	return is_size && body->page < instance->kind->device_pages && body->offset <= MIMIC_PAGE_SIZE - body->size;
}

/* For `mimic list`: of the space that has the page's context; of a page of no context, the first. */
static void count(struct mimicd_machine *machine, unsigned int page)
{
	const struct mimicd_instance *instance = machine->instance;
	const struct mimic_kind *kind = instance->kind;
	struct mimicd_binding *binding = instance->binding;

	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (page - kind->contexts->first_page(i) < kind->pages)
			binding = mimicd_instance_context_binding(instance, i);
	}
	if (binding)
		binding->accesses++;
}

static void start(struct mimicd_machine_access *access)
{
	struct mimicd_machine *machine = access->machine;
	struct mimicd_instance *instance = machine->instance;
	struct mimic_access *body = &access->body;

	body->owner = access->owner->number;
	/* Without a binding: there are neither lanes nor another access of this owner that it would come before. */
	if (mimicd_trap_begin(&access->trap, NULL, access->owner)) {
		access->state = MIMICD_ACCESS_REFUSED;
		return;
	}
	count(machine, body->page);
	access->state = MIMICD_ACCESS_DONE;
	if (mimicd_trap_is_lost(instance, body)) {
		body->data = 0;
		return;
	}
	if (mimic_register_role(instance->kind, body) == MIMIC_ROLE_ATTACH)
		mimicd_rings_attach(machine, mimic_attach_context(body->data));
	if (mimicd_trap_access(&access->trap, body) == MIMIC_PARKED)
		access->state = MIMICD_ACCESS_PARKED;
	else if (!body->is_write)
		body->data = mimicd_trap_driver_answer(instance, body);
	if (instance->kind->is_flush && instance->kind->is_flush(body))
		mimicd_spaces_flush(machine);
}

void mimicd_access_begin(struct mimicd_machine_access *access)
{
	struct mimicd_instance *instance = access->machine->instance;
	uint64_t due;

	if (!is_good(instance, &access->body)) {
		access->state = MIMICD_ACCESS_REFUSED;
		return;
	}
	access->trap = (struct mimicd_trap){
		.instance = instance, .complete = complete, .withdrawn = note_withdrawal,
	};
	/* Reset gets through to a device that does nothing else any more. */
	if (mimic_register_role(instance->kind, &access->body) == MIMIC_ROLE_RESET)
		mimicd_inject_reset(&instance->injection);
	if (!mimicd_inject_holds(&instance->injection, &due)) {
		start(access);
		return;
	}
	access->state = MIMICD_ACCESS_HELD;
	access->due = due;
	access->machine->held++;
}

void mimicd_access_withdraw(struct mimicd_machine_access *access)
{
	if (access->state == MIMICD_ACCESS_HELD)
		access->machine->held--;
	else if (access->state == MIMICD_ACCESS_PARKED)
		mimicd_trap_withdraw(&access->trap);
	access->state = MIMICD_ACCESS_IDLE;
}

static bool release(struct mimicd_machine_access *access, uint64_t now)
{
	bool hangs = access->trap.instance && access->trap.instance->injection.hangs;

	if (access->state != MIMICD_ACCESS_HELD || (access->due ? access->due > now : hangs))
		return false;
	access->machine->held--;
	start(access);
	if (!mimicd_access_waits(access))
		access->complete(access);
	return true;
}

bool mimicd_accesses_release(struct mimicd_machine *machine, uint64_t now)
{
	bool worked = false;

	if (!machine->held)
		return false;
	worked = release(&machine->load, now);
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX && machine->held; i++)
		worked |= release(&machine->stores[i], now);
	for (unsigned int i = 0; i < MIMIC_PCI_SLOTS && machine->held; i++)
		worked |= release(&machine->slots[i], now);
	return worked;
}
