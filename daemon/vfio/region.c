/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads and stores of a machine, by the region that they go to: a BAR or the configuration space. */
#include <errno.h>
#include <string.h>

#include "daemon/engine/instance.h"
#include "daemon/vfio/internal.h"
#include "libmimic/base/clock.h"

/*
 * How long a machine waits for a register. While a load waits, all of its processors do with the one that
 * asks; for a store that is posted only what comes behind it waits. One that then can wait apart does;
 * else it is dropped, which is not to happen because the host is busy. What a page fault holds up may not wait
 * long: the driver that ends it has its accesses behind that.
 */
#define LOAD_NS 1000000u
#define BEHIND_NS 20000000u	/* of the first that then waits apart, and of a load behind such */
#define STORE_NS 100000000u

/* --- the message that is served ---------------------------------------------------------- */

static struct mimicd_vfio_region_access *asked(struct mimicd_machine *machine)
{
	return (struct mimicd_vfio_region_access *)(void *)machine->packet.payload;
}

static bool wants_reply(const struct mimicd_machine *machine)
{
	return !(machine->packet.header.flags & MIMICD_VFIO_NO_REPLY);
}

static void answer_load(struct mimicd_machine *machine, const void *data, size_t size)
{
	struct {
		struct mimicd_vfio_region_access access;
		char data[MIMICD_VFIO_TRANSFER];
	} body;

	body.access = *asked(machine);
	memcpy(body.data, data, size);
	mimicd_vfio_reply(machine, &body, sizeof(body.access) + size, -1);
}

static void answer_store(struct mimicd_machine *machine)
{
	if (wants_reply(machine))
		mimicd_vfio_reply(machine, asked(machine), sizeof(struct mimicd_vfio_region_access), -1);
}

static void refuse(struct mimicd_machine *machine, int error)
{
	if (machine->packet.header.command == MIMICD_VFIO_REGION_READ || wants_reply(machine))
		mimicd_vfio_reply_error(machine, error);
}

/* --- registers of the device ------------------------------------------------------------- */

static uint64_t store_patience(const struct mimicd_machine *machine, const struct mimic_access *body)
{
	if (!mimicd_posted_may_wait(machine, body))
		return STORE_NS;
	return machine->posted[body->page].count ? LOAD_NS : BEHIND_NS;
}

static void wait_a_little(struct mimicd_machine *machine, uint64_t nanoseconds)
{
	mimicd_vfio_pause(machine);
	mimicd_timer_arm(&machine->patience, mimic_now() + nanoseconds);
}

static void go_on(struct mimicd_machine *machine)
{
	mimicd_timer_arm(&machine->patience, 0);
	mimicd_vfio_resume(machine);
}

/* Answered also if it waits in the device now. false: another of its page does. */
static bool begin_store(struct mimicd_machine *machine, const struct mimic_access *body)
{
	int error = mimicd_posted_store(machine, body);

	if (error == -EAGAIN)
		return false;
	if (error)
		refuse(machine, -error);
	else
		answer_store(machine);
	return true;
}

static void answer_direct_load(struct mimicd_machine *machine)
{
	struct mimicd_machine_access *load = &machine->load;

	if (load->state == MIMICD_ACCESS_REFUSED)
		refuse(machine, EINVAL);
	else
		answer_load(machine, &load->body.data, load->body.size);
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
	mimicd_posted_forget_before(machine, body);
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
	if (machine->has_pending_load)
		wait_a_little(machine, BEHIND_NS);
	else if (!start_load(machine, body))
		wait_a_little(machine, LOAD_NS);
}

void mimicd_region_load_is_done(struct mimicd_machine_access *load)
{
	answer_direct_load(load->machine);
	go_on(load->machine);
}

/* This is a call out of the model, in which no other access may begin: those behind it do by the timer, at once. */
void mimicd_region_store_is_done(struct mimicd_machine_access *store)
{
	struct mimicd_machine *machine = store->machine;

	if (machine->has_pending_store || machine->posted[store->body.page].count)
		mimicd_timer_arm(&machine->store_is_done, mimic_now());
}

void mimicd_region_posted_may_go_on(void *context)
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
	answer_store(machine);
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

void mimicd_region_patience_ends(void *context)
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
	const struct mimicd_vfio_region_access *access = asked(machine);
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
			answer_store(machine);
		else
			answer_load(machine, &value, access->count);
	} else if (!is_write) {
		begin_load(machine, &body);
	} else if (!begin_store(machine, &body)) {
		machine->pending_store = body;
		machine->has_pending_store = true;
		wait_a_little(machine, store_patience(machine, &body));
	}
}

/* --- BAR 0 ------------------------------------------------------------------------------- */

static uint64_t value_of(const void *data, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, data, size);
	return value;
}

static void serve_registers(struct mimicd_machine *machine, bool is_write, const void *data)
{
	const struct mimicd_vfio_region_access *access = asked(machine);
	unsigned int size = access->count;
	uint64_t value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		refuse(machine, EINVAL);
		return;
	}
	if (is_write)
		value = value_of(data, size);
	if (access->offset >= MIMIC_PCI_PAGE_SIZE) {
		serve_device(machine, is_write, value);
		return;
	}
	/* Smaller or crooked ones have no effect on the bus page, and read 0. */
	if (is_write) {
		if (size >= 4 && access->offset % size == 0)
			mimicd_bus_page_store(machine, (unsigned int)access->offset, size, value);
		answer_store(machine);
		return;
	}
	if (size >= 4 && access->offset % size == 0)
		value = mimicd_bus_page_load(machine, (unsigned int)access->offset, size);
	answer_load(machine, &value, size);
}

/* --- the other regions ------------------------------------------------------------------- */

static void serve_config(struct mimicd_machine *machine, bool is_write, const void *data)
{
	const struct mimicd_vfio_region_access *access = asked(machine);
	char bytes[MIMICD_CONFIG_SIZE];

	if (is_write) {
		mimicd_config_write(&machine->config, access->offset, data, access->count);
		mimicd_spaces_place_memory(machine);
		answer_store(machine);
	} else {
		mimicd_config_read(&machine->config, access->offset, bytes, access->count);
		answer_load(machine, bytes, access->count);
	}
}

/* Memory in a BAR; NULL, and *size 0: there is none. */
static char *memory_of(const struct mimicd_machine *machine, unsigned int region, uint64_t *size)
{
	const struct mimicd_device_memory *memory = &machine->instance->device_memory;

	*size = 0;
	if (region == MIMIC_PCI_BAR_RINGS && machine->rings) {
		*size = mimicd_rings_size();
		return mimicd_rings_memory(machine);
	}
	if (region != MIMIC_PCI_BAR_MEMORY)
		return NULL;
	*size = memory->size;
	return memory->base;
}

/* Of memory what the machine has not mapped; behind its end, as in the table of MSI-X, zeros. */
static void serve_memory(struct mimicd_machine *machine, bool is_write, const void *data)
{
	const struct mimicd_vfio_region_access *access = asked(machine);
	char bytes[MIMICD_VFIO_TRANSFER] = { 0 };
	size_t size = access->count;
	uint64_t memory_size;
	char *memory = memory_of(machine, access->region, &memory_size);

	if (access->offset >= memory_size)
		size = 0;
	else if (size > memory_size - access->offset)
		size = memory_size - access->offset;
	if (is_write) {
		if (size)
			memcpy(memory + access->offset, data, size);
		answer_store(machine);
		return;
	}
	if (size)
		memcpy(bytes, memory + access->offset, size);
	answer_load(machine, bytes, access->count);
}

/* 0, or the errno that the machine is to see. */
static int check(const struct mimicd_machine *machine, const struct mimicd_vfio_region_access *access)
{
	struct mimicd_vfio_region_info info;

	if (access->region >= MIMICD_VFIO_REGIONS)
		return EINVAL;
	mimicd_bars_region(machine, access->region, &info);
	if (!access->count || access->count > MIMICD_VFIO_TRANSFER || access->offset > info.size ||
	    access->count > info.size - access->offset)
		return EINVAL;
	return 0;
}

static void serve(struct mimicd_machine *machine, bool is_write)
{
	const struct mimicd_vfio_region_access *access = asked(machine);
	int error = check(machine, access);

	if (error)
		refuse(machine, error);
	else if (access->region == MIMIC_PCI_BAR_REGISTERS)
		serve_registers(machine, is_write, access + 1);
	else if (access->region == MIMICD_VFIO_REGION_CONFIG)
		serve_config(machine, is_write, access + 1);
	else
		serve_memory(machine, is_write, access + 1);
}

void mimicd_region_load(struct mimicd_machine *machine)
{
	size_t size = machine->packet.header.size - sizeof(struct mimicd_vfio_header);

	if (size == sizeof(struct mimicd_vfio_region_access))
		serve(machine, false);
	else
		refuse(machine, EINVAL);
}

void mimicd_region_store(struct mimicd_machine *machine)
{
	size_t size = machine->packet.header.size - sizeof(struct mimicd_vfio_header);
	const struct mimicd_vfio_region_access *access = asked(machine);

	if (size > sizeof(*access) && size == sizeof(*access) + access->count)
		serve(machine, true);
	else
		refuse(machine, EINVAL);
}
