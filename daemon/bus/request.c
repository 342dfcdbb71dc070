/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Requests that wait: in a model, or held back. */
#include <errno.h>

#include "daemon/bus/internal.h"

/* For the earliest of those that are due at a time. */
static void arm_timer(struct mimicd_bus *bus)
{
	uint64_t due = 0;

	for (unsigned int i = 0; bus->held && i < MIMIC_BUS_SLOTS; i++) {
		const struct mimicd_request *request = &bus->requests[i];

		if (request->state == MIMICD_REQUEST_HELD && request->due && (!due || request->due < due))
			due = request->due;
	}
	mimicd_timer_arm(&bus->timer, due);
}

void mimicd_request_hold(struct mimicd_request *request, uint64_t due)
{
	request->state = MIMICD_REQUEST_HELD;
	request->due = due;
	request->bus->held++;
	arm_timer(request->bus);
}

void mimicd_request_take(struct mimicd_request *request)
{
	request->state = MIMICD_REQUEST_NONE;
	request->bus->held--;
	arm_timer(request->bus);
}

void mimicd_request_withdraw(struct mimicd_request *request)
{
	if (request->state == MIMICD_REQUEST_HELD)
		mimicd_request_take(request);
	else if (request->trap.is_parked)
		mimicd_trap_withdraw(&request->trap);
	request->state = MIMICD_REQUEST_NONE;
	mimicd_bus_answer(request->bus, request->body.slot, MIMIC_BUS_TAKEN_BACK, 0, -1);
}

void mimicd_requests_withdraw(struct mimicd_bus *bus, uint32_t binding)
{
	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS; i++) {
		struct mimicd_request *request = &bus->requests[i];

		if (request->state != MIMICD_REQUEST_NONE && request->body.binding == binding)
			mimicd_request_withdraw(request);
	}
}

void mimicd_requests_drop(struct mimicd_bus *bus, const struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS; i++) {
		struct mimicd_request *request = &bus->requests[i];

		if (request->state == MIMICD_REQUEST_NONE || request->trap.instance != instance)
			continue;
		if (request->state == MIMICD_REQUEST_HELD)
			mimicd_request_take(request);
		else
			mimicd_trap_forget(&request->trap);
		request->state = MIMICD_REQUEST_NONE;
		mimicd_bus_answer(bus, i, -ENODEV, 0, -1);
	}
}
