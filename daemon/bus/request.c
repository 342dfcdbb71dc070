/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What each request of the kernel does. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/kind.h"
#include "daemon/engine/client.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/inject.h"
#include "libmimic/base/clock.h"

static struct mimicd_instance *find_device(const struct mimicd_engine *engine, uint32_t number)
{
	for (unsigned int i = 0; i < engine->named_count; i++) {
		struct mimicd_instance *instance = engine->named[i];

		if (instance && instance->on_bus && instance->bus_device == number)
			return instance;
	}
	return NULL;
}

/* --- accesses -------------------------------------------------------------- */

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

static uint64_t owner_number(const struct mimicd_owner *owner)
{
	return owner ? owner->number : MIMICD_OWNER_DRIVER;
}

/* What the process's threads posted on lanes comes before an access that waits for its answer. */
static void drain_lanes(struct mimicd_engine *engine, const struct mimicd_process *process)
{
	for (struct mimicd_client *client = engine->clients; process->clients && client;
	     client = client->next) {
		if (client->process == process && !client->broken)
			mimicd_lanes_drain(client);
	}
}

/* A thread has one access at a time: the one that this one interrupts waits outside. */
static void make_way(struct mimicd_bus *bus, struct mimicd_owner *owner)
{
	if (owner->thread && owner->thread->parked)
		mimicd_lane_withdraw(owner->thread->parked);
	/* The kernel does not ask twice for one thread, unless it has given the first one up. */
	if (owner->parked)
		mimicd_request_withdraw(bus, owner->parked);
}

/*
 * The driver gives a context to somebody. false: it comes too late, a session of the socket
 * has the device by now.
 */
static bool note_attach(struct mimicd_instance *instance, const struct mimic_access *access)
{
	if (mimicd_bus_role(instance->kind, access) != MIMICD_BUS_ATTACH)
		return true;
	if (mimicd_instance_is_held(instance))
		return false;
	mimicd_binding_attached(instance, mimicd_bus_attach_context(access->data),
				mimicd_bus_attach_space(access->data));
	return true;
}

static void forget(struct mimicd_request *request)
{
	if (request->state == MIMICD_REQUEST_HELD)
		request->bus->held--;
	if (request->owner)
		request->owner->parked = NULL;
	request->state = MIMICD_REQUEST_NONE;
	request->owner = NULL;
}

void mimicd_request_withdraw(struct mimicd_bus *bus, struct mimicd_request *request)
{
	bool was_parked = request->state == MIMICD_REQUEST_PARKED;

	forget(request);
	if (was_parked)
		mimicd_instance_withdraw(request->instance, &request->waiter);
	mimicd_bus_answer(bus, request->body.slot, MIMIC_BUS_TAKEN_BACK, 0, -1);
}

/* The model has answered the access that waited. */
static void complete(void *context, uint64_t data)
{
	struct mimicd_request *request = context;

	forget(request);
	mimicd_bus_answer(request->bus, request->body.slot, 0, request->body.is_write ? 0 : data, -1);
}

static void park(struct mimicd_request *request, struct mimicd_owner *owner)
{
	request->state = MIMICD_REQUEST_PARKED;
	request->owner = owner;
	request->waiter = (struct mimicd_waiter){
		.owner = owner_number(owner),
		.complete = complete,
		.context = request,
	};
	if (owner)
		owner->parked = request;
	mimicd_instance_add_waiter(request->instance, &request->waiter);
}

static void begin(struct mimicd_bus *bus, struct mimicd_request *request,
		  struct mimicd_binding *binding, struct mimicd_owner *owner)
{
	const struct mimic_bus_request *body = &request->body;
	struct mimic_model *model = request->instance->model;
	struct mimic_access access = access_of(body, owner_number(owner));

	bus->engine->now = mimic_now();
	if (binding) {
		binding->accesses++;
		drain_lanes(bus->engine, binding->process);
		make_way(bus, owner);
	} else if (mimicd_instance_find_waiter(request->instance, MIMICD_OWNER_DRIVER)) {
		/* The model keeps one waiting access of an owner, and the driver has no use for a second. */
		mimicd_bus_answer(bus, body->slot, -EBUSY, 0, -1);
		return;
	}
	if (!mimicd_inject_access(request->instance, &access) ||
	    !note_attach(request->instance, &access)) {
		mimicd_bus_answer(bus, body->slot, 0, 0, -1);
		return;
	}
	if (model->ops->access(model, &access, bus->engine->now) == MIMIC_DONE) {
		mimicd_inject_answer(request->instance, &access);
		mimicd_bus_answer(bus, body->slot, 0, access.is_write ? 0 : access.data, -1);
	} else {
		park(request, owner);
	}
	bus->engine->busy |= model->ops->busy(model);
}

void mimicd_requests_drop(struct mimicd_bus *bus, const struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS; i++) {
		struct mimicd_request *request = &bus->requests[i];

		if (request->state == MIMICD_REQUEST_NONE || request->instance != instance)
			continue;
		if (request->state == MIMICD_REQUEST_PARKED)
			mimicd_instance_remove_waiter(request->instance, &request->waiter);
		forget(request);
		mimicd_bus_answer(bus, i, -ENODEV, 0, -1);
	}
}

/* A binding or its owner may be gone when a held access begins: looked up then. */
static int start(struct mimicd_bus *bus, struct mimicd_request *request)
{
	const struct mimic_bus_request *body = &request->body;
	struct mimicd_binding *binding = NULL;
	struct mimicd_owner *owner = NULL;

	if (body->binding) {
		binding = mimicd_binding_find(bus, body->binding);
		if (!binding || binding->instance != request->instance)
			return -ENODEV;
		owner = mimicd_binding_owner(bus, binding, body->thread, body->pid);
		if (!owner)
			return -ENOMEM;
	}
	begin(bus, request, binding, owner);
	return 0;
}

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

static int do_access(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_request *request = &bus->requests[body->slot];
	struct mimicd_instance *instance = find_device(bus->engine, body->device);
	struct mimic_access access = access_of(body, MIMICD_OWNER_DRIVER);
	int error;

	if (!instance)
		return -ENODEV;
	error = check_access(instance, body);
	if (error)
		return error;
	request->bus = bus;
	request->instance = instance;
	request->body = *body;
	if (mimicd_inject_holds(instance, &access, &request->due)) {
		request->state = MIMICD_REQUEST_HELD;
		bus->held++;
		arm_timer(bus);
		return 0;
	}
	return start(bus, request);
}

static bool is_released(const struct mimicd_request *request, uint64_t now)
{
	if (request->state != MIMICD_REQUEST_HELD)
		return false;
	return request->due ? request->due <= now : !mimicd_inject_hangs(request->instance);
}

bool mimicd_requests_release(struct mimicd_bus *bus, uint64_t now)
{
	bool worked = false;

	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS && bus->held; i++) {
		struct mimicd_request *request = &bus->requests[i];
		int error;

		if (!is_released(request, now))
			continue;
		forget(request);
		error = start(bus, request);
		if (error)
			mimicd_bus_answer(bus, i, error, 0, -1);
		worked = true;
	}
	if (worked)
		arm_timer(bus);
	return worked;
}

/* --- everything else -------------------------------------------------------- */

static int do_open(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_instance *instance = find_device(bus->engine, body->device);

	return instance ? mimicd_binding_create(bus, instance, body) : -ENODEV;
}

static int do_close(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_binding *binding = mimicd_binding_find(bus, body->binding);

	/* An OPEN that failed, or that its process did not wait for, may be closed too. */
	if (binding)
		mimicd_binding_close(bus, binding);
	return 0;
}

static int do_thread_gone(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	struct mimicd_binding *binding = mimicd_binding_find(bus, body->binding);

	if (binding)
		mimicd_binding_thread_gone(bus, binding, body->thread);
	return 0;
}

static int do_connect(struct mimicd_bus *bus, const struct mimic_bus_request *body, int *fd)
{
	struct mimicd_binding *binding = mimicd_binding_find(bus, body->binding);

	return binding ? mimicd_front_ends_connect(bus->engine, binding, fd) : -ENODEV;
}

void mimicd_request_do(struct mimicd_bus *bus, const struct mimic_bus_request *body)
{
	int status;
	int fd = -1;

	switch (body->kind) {
	case MIMIC_BUS_REQUEST_ACCESS:
		status = do_access(bus, body);
		if (!status)
			return;		/* it is answered, or will be */
		break;
	case MIMIC_BUS_REQUEST_OPEN:
		status = do_open(bus, body);
		break;
	case MIMIC_BUS_REQUEST_CLOSE:
		status = do_close(bus, body);
		break;
	case MIMIC_BUS_REQUEST_THREAD_GONE:
		status = do_thread_gone(bus, body);
		break;
	case MIMIC_BUS_REQUEST_CONNECT:
		status = do_connect(bus, body, &fd);
		break;
	default:
		status = -EOPNOTSUPP;
		break;
	}
	mimicd_bus_answer(bus, body->slot, status, 0, fd);
	if (fd >= 0)
		close(fd);
}
