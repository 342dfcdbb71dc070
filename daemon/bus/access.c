/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses that the kernel has trapped, and those of function drivers. */
#include <errno.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/internal.h"
#include "daemon/engine/inject.h"
#include "devices/register.h"
#include "libmimic/base/clock.h"

static int check_access(const struct mimicd_instance *instance, const struct mimic_bus_request *body)
{
	bool is_size = body->size == 1 || body->size == 2 || body->size == 4 || body->size == 8;

	return is_size && body->page < instance->kind->device_pages &&
	       body->offset <= MIMIC_PAGE_SIZE - body->size ? 0 : -EINVAL;
}

static struct mimic_access access_of(const struct mimic_bus_request *body, uint64_t owner)
{
	return (struct mimic_access){
		.owner = owner,
		.data = body->data,
		.offset = body->offset,
		.page = body->page,
		.size = body->size,
		.is_write = body->is_write != 0,
	};
}

/* --- answers that come later ------------------------------------------------ */

static void complete(struct mimicd_trap *trap, uint64_t data)
{
	struct mimicd_request *request = mimicd_request_of(trap);

	request->state = MIMICD_REQUEST_NONE;
	mimicd_bus_answer(request->bus, request->body.slot, 0, request->body.is_write ? 0 : data, -1);
}

static void note_withdrawal(struct mimicd_trap *trap)
{
	struct mimicd_request *request = mimicd_request_of(trap);

	request->state = MIMICD_REQUEST_NONE;
	mimicd_bus_answer(request->bus, request->body.slot, MIMIC_BUS_TAKEN_BACK, 0, -1);
}

/* --- accesses ---------------------------------------------------------------- */

static uint64_t answer_of(struct mimicd_instance *instance, const struct mimic_access *access)
{
	if (access->is_write)
		return 0;
	return access->owner == MIMICD_OWNER_DRIVER ? mimicd_trap_driver_answer(instance, access) : access->data;
}

static void park(struct mimicd_request *request)
{
	request->state = MIMICD_REQUEST_PARKED;
	mimicd_bus_note_parked(request);
}

static int begin(struct mimicd_request *request, struct mimicd_bus_binding *binding,
		 struct mimicd_owner *owner)
{
	struct mimicd_instance *instance = request->trap.instance;
	struct mimic_access access = access_of(&request->body, mimicd_trap_owner(owner));
	int error = mimicd_trap_begin(&request->trap, binding ? &binding->binding : NULL, owner);

	if (error)
		return error;
	if (mimicd_trap_is_lost(instance, &access)) {
		mimicd_bus_answer(request->bus, request->body.slot, 0, 0, -1);
		return 0;
	}
	if (mimicd_trap_access(&request->trap, &access) == MIMIC_DONE)
		mimicd_bus_answer(request->bus, request->body.slot, 0, answer_of(instance, &access), -1);
	else
		park(request);
	return 0;
}

/* A binding or its owner may be gone when a held access begins: looked up then. */
static int start(struct mimicd_request *request)
{
	const struct mimic_bus_request *body = &request->body;
	struct mimicd_bus_binding *binding;
	struct mimicd_owner *owner;
	int error;

	if (!body->binding)
		return begin(request, NULL, NULL);
	binding = mimicd_bus_binding_find(request->bus, body->binding);
	if (!binding || binding->binding.instance != request->trap.instance)
		return -ENODEV;
	owner = mimicd_bus_binding_owner(binding, body->thread, body->pid);
	error = owner ? begin(request, binding, owner) : -ENOMEM;
	if (error != -EAGAIN)
		return error;
	/* Its lanes have more to do than a turn: others have theirs before it. */
	mimicd_request_hold(request, mimic_now());
	return 0;
}

int mimicd_bus_access(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_request *request = &bus->requests[body->slot];
	struct mimicd_bus_function *function = mimicd_bus_function_find(bus, body->device);
	struct mimic_access access = access_of(body, MIMICD_OWNER_DRIVER);
	struct mimicd_instance *instance;
	uint64_t due;
	int error;

	if (!function)
		return -ENODEV;
	if (request->state != MIMICD_REQUEST_NONE)
		return -EBUSY;
	instance = function->function.instance;
	error = check_access(instance, body);
	if (error)
		return error;
	request->bus = bus;
	request->body = *body;
	request->trap = (struct mimicd_trap){
		.instance = instance, .complete = complete, .withdrawn = note_withdrawal,
	};
	/* Reset gets through to a device that does nothing else any more. */
	if (mimic_register_role(instance->kind, &access) == MIMIC_ROLE_RESET)
		mimicd_inject_reset(&instance->injection);
	if (!mimicd_inject_holds(&instance->injection, &due))
		return start(request);
	mimicd_request_hold(request, due);
	return 0;
}

static bool is_released(const struct mimicd_request *request, uint64_t now)
{
	if (request->state != MIMICD_REQUEST_HELD)
		return false;
	return request->due ? request->due <= now : !request->trap.instance->injection.hangs;
}

bool mimicd_bus_accesses_release(struct mimicd_bus *bus, uint64_t now)
{
	bool worked = false;

	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS && bus->held; i++) {
		struct mimicd_request *request = &bus->requests[i];
		int error;

		if (!is_released(request, now))
			continue;
		mimicd_request_take(request);
		error = start(request);
		if (error)
			mimicd_bus_answer(bus, i, error, 0, -1);
		worked = true;
	}
	return worked;
}
