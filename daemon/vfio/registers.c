/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* BAR 0 of a device: the bus page, and the device's registers behind it. */
#include <errno.h>

#include "daemon/engine/instance.h"
#include "daemon/vfio/internal.h"
#include "libmimic/base/clock.h"

/*
 * How long a machine waits for a register. While a load waits, all of its processors do with the one that
 * asks; for a posted store only accesses behind it wait. One that then can wait apart does;
 * else it is dropped, which is not to happen because the host is busy. A store that a page fault holds up
 * may not wait long: the accesses of the driver that ends the fault come behind it.
 */
#define LOAD_NS 1000000u
#define BEHIND_NS 2000000u	/* of the first store that then waits apart */
#define STORE_NS 100000000u

/* --- registers of the device ------------------------------------------------------------- */

static uint64_t store_patience(const struct mimicd_machine *machine, const struct mimic_access *body)
{
	if (!mimicd_posted_may_wait(machine, body))
		return STORE_NS;
	return machine->posted[body->page].count ? LOAD_NS : BEHIND_NS;
}

static void wait_a_little(struct mimicd_machine *machine, uint64_t nanoseconds)
{
	mimicd_vfio_pause(&machine->connection);
	mimicd_timer_arm(&machine->patience, mimic_now() + nanoseconds);
}

static void go_on(struct mimicd_machine *machine)
{
	mimicd_timer_arm(&machine->patience, 0);
	mimicd_vfio_resume(&machine->connection);
}

/* Answered also if it waits in the device now. false: another of its page does. */
static bool begin_store(struct mimicd_machine *machine, const struct mimic_access *body)
{
	int error = mimicd_posted_store(machine, body);

	if (error == -EAGAIN)
		return false;
	if (error)
		mimicd_region_refuse(&machine->connection, -error);
	else
		mimicd_region_answer_store(&machine->connection);
	return true;
}

static void answer_direct_load(struct mimicd_machine *machine)
{
	struct mimicd_machine_access *load = &machine->load;

	if (load->state == MIMICD_ACCESS_REFUSED)
		mimicd_region_refuse(&machine->connection, EINVAL);
	else
		mimicd_region_answer_load(&machine->connection, &load->body.data, load->body.size);
	load->state = MIMICD_ACCESS_IDLE;
}

/* false: it waits in the device. */
static bool start_load(struct mimicd_machine *machine, const struct mimic_access *body)
{
	struct mimicd_machine_access *load = &machine->load;
	const struct mimic_kind *kind = machine->instance->kind;

	load->body = *body;
	load->owner = machine->loads_owner;
	if (kind->is_for_stores && kind->is_for_stores(body))
		load->owner = machine->stores[body->page].owner;
	mimicd_posted_forget_before(load);
	mimicd_access_begin(load);
	if (mimicd_access_waits(load))
		return false;
	answer_direct_load(machine);
	return true;
}

static void begin_load(struct mimicd_machine *machine, const struct mimic_access *body)
{
	machine->has_pending_load = mimicd_posted_precede(machine, body);
	machine->load.body = *body;
	if (machine->has_pending_load || !start_load(machine, body))
		wait_a_little(machine, LOAD_NS);
}

void mimicd_registers_load_is_done(struct mimicd_machine_access *load)
{
	answer_direct_load(load->machine);
	go_on(load->machine);
}

/* This is a call out of the model, in which no other access may begin: those behind it do by the timer, at once. */
void mimicd_registers_store_is_done(struct mimicd_machine_access *store)
{
	struct mimicd_machine *machine = store->machine;

	if (machine->has_pending_store || machine->posted[store->body.page].count)
		mimicd_timer_arm(&machine->store_is_done, mimic_now());
}

void mimicd_registers_posted_may_go_on(void *context)
{
	struct mimicd_machine *machine = context;
	const struct mimic_access load = machine->load.body;

	mimicd_posted_go_on(machine);
	if (machine->has_pending_store && begin_store(machine, &machine->pending_store)) {
		machine->has_pending_store = false;
		go_on(machine);
	} else if (machine->has_pending_load && !mimicd_posted_precede(machine, &load)) {
		machine->has_pending_load = false;
		if (start_load(machine, &load))
			go_on(machine);
		else
			mimicd_timer_arm(&machine->patience, mimic_now() + LOAD_NS);
	}
}

/* Its time is over. */
static void end_pending_store(struct mimicd_machine *machine)
{
	machine->has_pending_store = false;
	if (begin_store(machine, &machine->pending_store))
		return;
	machine->not_ready += !mimicd_posted_wait(machine, &machine->pending_store);
	mimicd_region_answer_store(&machine->connection);
}

static void end_load(struct mimicd_machine *machine)
{
	struct mimicd_machine_access *load = &machine->load;

	machine->has_pending_load = false;
	mimicd_access_withdraw(load);
	load->state = MIMICD_ACCESS_DONE;
	load->body.data = ~0ull;
	machine->not_ready++;
	answer_direct_load(machine);
}

void mimicd_registers_patience_ends(void *context)
{
	struct mimicd_machine *machine = context;

	if (machine->has_pending_store)
		end_pending_store(machine);
	else if (machine->has_pending_load || mimicd_access_waits(&machine->load))
		end_load(machine);
	else
		return;
	go_on(machine);
}

static void serve_device(struct mimicd_machine *machine, bool is_write, uint64_t value)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(&machine->connection);
	uint64_t place = access->offset - MIMIC_PCI_PAGE_SIZE;
	const struct mimic_access body = {
		.page = (uint8_t)(place / MIMIC_PCI_PAGE_SIZE),
		.offset = place % MIMIC_PCI_PAGE_SIZE,
		.size = (uint8_t)access->count,
		.is_write = is_write,
		.data = value,
	};

	if (body.page >= machine->instance->kind->device_pages) {
		/* The BAR's size is a power of two: behind the last page there is nothing. */
		if (is_write)
			mimicd_region_answer_store(&machine->connection);
		else
			mimicd_region_answer_load(&machine->connection, &value, access->count);
	} else if (!is_write) {
		begin_load(machine, &body);
	} else if (!begin_store(machine, &body)) {
		machine->pending_store = body;
		machine->has_pending_store = true;
		wait_a_little(machine, store_patience(machine, &body));
	}
}

/* --- BAR 0 ------------------------------------------------------------------------------- */

void mimicd_registers_access(struct mimicd_machine *machine, bool is_write, uint64_t value)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(&machine->connection);
	unsigned int size = access->count;

	if (access->offset >= MIMIC_PCI_PAGE_SIZE) {
		serve_device(machine, is_write, value);
		return;
	}
	/* Smaller or crooked ones have no effect on the bus page, and read 0. */
	if (is_write) {
		if (size >= 4 && access->offset % size == 0)
			mimicd_bus_page_store(machine, (unsigned int)access->offset, size, value);
		mimicd_region_answer_store(&machine->connection);
		return;
	}
	if (size >= 4 && access->offset % size == 0)
		value = mimicd_bus_page_load(machine, (unsigned int)access->offset, size);
	mimicd_region_answer_load(&machine->connection, &value, size);
}
