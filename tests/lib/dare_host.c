/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/dare_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_BASE 0x7000000u

/* Page p lies in frame 5 p mod 16: neighbours are apart. */
static uint64_t frame_of(uint64_t page)
{
	return FRAME_BASE + page * 5 % HOST_PAGES * HOST_PAGE;
}

static int page_of_frame(uint64_t address)
{
	uint64_t frame = (address - FRAME_BASE) / HOST_PAGE;

	/* 5 * 13 = 65 = 1 mod 16 */
	return address < FRAME_BASE || frame >= HOST_PAGES ? -1 : (int)(frame * 13 % HOST_PAGES);
}

static int walk(void *context, uint64_t address, uint64_t *frame)
{
	struct host_space *space = context;
	uint64_t page = (address - HOST_BASE) / HOST_PAGE;

	if (address < HOST_BASE || page >= HOST_PAGES || space->absent[page])
		return -EFAULT;
	*frame = frame_of(page);
	return 0;
}

/* Where the port finds `size` bytes, or NULL. */
static uint8_t *find(struct host_space *space, uint64_t address, size_t size, bool writes)
{
	bool walks = space->port.walk != NULL;
	int page = walks ? page_of_frame(address) : -1;

	if (!walks && address >= HOST_BASE && address < HOST_BASE + HOST_PAGES * HOST_PAGE)
		page = (int)((address - HOST_BASE) / HOST_PAGE);
	if (page < 0 || space->unreadable[page] || (writes && space->read_only[page]))
		return NULL;
	/* With a page table a read of a page that has gone is one by a stale translation. */
	if (space->absent[page]) {
		if (walks)
			space->host->unexpected++;
		return NULL;
	}
	if (address % HOST_PAGE + size > HOST_PAGE)
		return NULL;
	return space->bytes + (size_t)page * HOST_PAGE + address % HOST_PAGE;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	struct host_space *space = context;

	space->reads++;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *from = find(space, addresses[i], size, false);

		if (!from)
			return (long)i;
		memset((uint8_t *)rows + 64 * i, 0, 64);
		memcpy((uint8_t *)rows + 64 * i, from, size);
	}
	return (long)count;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
		       const void *rows)
{
	struct host_space *space = context;

	space->writes++;
	for (size_t i = 0; i < count; i++) {
		uint8_t *to = find(space, addresses[i], size, true);

		if (!to)
			return (long)i;
		memcpy(to, (const uint8_t *)rows + 64 * i, size);
	}
	return (long)count;
}

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	struct dare_host *host = context;

	return address_space >= 1 && address_space <= HOST_SPACES ? &host->space[address_space - 1].port : NULL;
}

static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct dare_host *host = context;

	if (owner >= HOST_OWNERS || !host->parked[owner]) {
		host->unexpected++;
		return;
	}
	host->parked[owner] = false;
	host->completed[owner] = true;
	host->answer[owner] = data;
	host->order[host->order_count++ % HOST_OWNERS] = (unsigned int)owner;
}

static void interrupt(void *context)
{
	((struct dare_host *)context)->interrupts++;
}

static enum mimic_fault_answer context_fault(void *context, unsigned int device_context,
					     uint64_t address, bool writes)
{
	struct dare_host *host = context;
	uint64_t page = (address - HOST_BASE) / HOST_PAGE;

	host->faults++;
	host->fault_context = device_context;
	host->fault_address = address;
	host->fault_writes = writes;
	if (host->fault_maps_page && page < HOST_PAGES)
		host->space[device_context].absent[page] = false;
	return host->fault_answer;
}

struct dare_host *host_create_with(unsigned int options, const struct dare_config *config)
{
	struct dare_host *host = calloc(1, sizeof(*host));
	struct mimic_host for_model = {
		.context = host, .complete = complete, .interrupt = interrupt, .memory_of = memory_of,
		.context_fault = options & HOST_FAULTS ? context_fault : NULL,
	};
	struct dare_config standard;

	dare_config_default(&standard);
	for (unsigned int i = 0; i < HOST_SPACES; i++) {
		host->space[i].host = host;
		host->space[i].port = (struct mimic_memory){
			.context = &host->space[i], .walk = options & HOST_WALKS ? walk : NULL,
			.read_rows = read_rows, .write_rows = write_rows,
		};
	}
	host->model = dare_model_create(config ? config : &standard, &for_model);
	if (!host->model) {
		free(host);
		return NULL;
	}
	host_attach(host, 0, 1);
	if (!config || config->contexts > 1)
		host_attach(host, 1, 2);
	return host;
}

struct dare_host *host_create(unsigned int options)
{
	return host_create_with(options, NULL);
}

void host_destroy(struct dare_host *host)
{
	assert_int_equal(host->unexpected, 0);
	dare_model_destroy(host->model);
	free(host);
}

uint8_t *host_bytes(struct dare_host *host, unsigned int space, uint64_t address)
{
	return host->space[space - 1].bytes + (address - HOST_BASE);
}

void host_fill(struct dare_host *host)
{
	for (unsigned int space = 0; space < HOST_SPACES; space++)
		for (unsigned int i = 0; i < sizeof(host->space[0].bytes); i++)
			host->space[space].bytes[i] = (uint8_t)(i * 7 + i / 251 + 1 + 50 * space);
}

enum mimic_outcome host_access(struct dare_host *host, struct mimic_access *access)
{
	uint64_t owner = access->owner;
	enum mimic_outcome outcome;

	host->now += 10;
	host->completed[owner] = false;
	outcome = host->model->ops->access(host->model, access, host->now);
	if (outcome == MIMIC_PARKED)
		host->parked[owner] = true;
	return outcome;
}

uint64_t host_load_as(struct dare_host *host, uint64_t owner, unsigned int context, unsigned int offset)
{
	struct mimic_access access = {
		.owner = owner, .page = (uint8_t)(context + 1), .offset = offset, .size = 8,
	};

	return host_access(host, &access) == MIMIC_PARKED ? HOST_PARKED : access.data;
}

uint64_t host_load(struct dare_host *host, unsigned int context, unsigned int offset)
{
	return host_load_as(host, 1, context, offset);
}

bool host_store_as(struct dare_host *host, uint64_t owner, unsigned int context, unsigned int offset,
		   uint64_t value)
{
	struct mimic_access access = {
		.owner = owner, .page = (uint8_t)(context + 1), .offset = offset, .size = 8,
		.is_write = 1, .data = value,
	};

	return host_access(host, &access) == MIMIC_DONE;
}

bool host_store(struct dare_host *host, unsigned int context, unsigned int offset, uint64_t value)
{
	return host_store_as(host, 1, context, offset, value);
}

uint64_t host_control_load(struct dare_host *host, unsigned int offset)
{
	struct mimic_access access = { .owner = 599, .page = 0, .offset = offset, .size = 8 };

	host_access(host, &access);
	return access.data;
}

void host_control_store(struct dare_host *host, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.owner = 599, .page = 0, .offset = offset, .size = 8, .is_write = 1, .data = value,
	};

	host_access(host, &access);
}

void host_attach(struct dare_host *host, unsigned int context, uint64_t space)
{
	host_control_store(host, 0x08, space << 8 | context);
}

void host_resolve(struct dare_host *host, bool present)
{
	host_control_store(host, 0x18, present ? 0x100 : 0);
}

void host_map_and_resolve(struct dare_host *host, unsigned int context)
{
	uint64_t status = host_control_load(host, 0x10);

	assert_int_equal(status & 0xff, context);
	host->space[context].absent[((status & ~0xfffull) - HOST_BASE) / HOST_PAGE] = false;
	host_control_store(host, 0x18, 0x100 | context);
}

bool host_run_in(struct dare_host *host, unsigned int context, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	host_store(host, context, 0x00, rs1);
	host_store(host, context, 0x08, rs2);
	return host_store(host, context, 0x10, word);
}

bool host_run(struct dare_host *host, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	return host_run_in(host, 0, word, rs1, rs2);
}

void host_set_shape(struct dare_host *host, unsigned int m, unsigned int k, unsigned int n)
{
	host_run(host, W_MCFG, 0, m);
	host_run(host, W_MCFG, 1, k);
	host_run(host, W_MCFG, 2, n);
}

const uint8_t *host_matrix_row(struct dare_host *host, unsigned int number, unsigned int row)
{
	struct dare_context_view view;

	assert_int_equal(dare_model_context(host->model, 0, &view), 0);
	return (const uint8_t *)view.registers[number] + 64 * row;
}

void host_set_matrix(struct dare_host *host, unsigned int number, const void *bytes)
{
	uint64_t address = HOST_BASE + 15 * HOST_PAGE;

	memcpy(host_bytes(host, 1, address), bytes, 1024);
	host_set_shape(host, 16, 64, 16);
	host_run(host, W_MLD(number), address, 64);
	host_assert_no_error(host);
}

void host_set_addresses(struct dare_host *host, unsigned int number, const uint64_t addresses[16])
{
	uint8_t rows[16][64];

	memset(rows, 0xa5, sizeof(rows));
	for (unsigned int row = 0; row < 16; row++)
		for (unsigned int byte = 0; byte < 8; byte++)
			rows[row][byte] = (uint8_t)(addresses[row] >> 8 * byte);
	host_set_matrix(host, number, rows);
}

uint64_t host_counter(struct dare_host *host, unsigned int context, enum dare_counter counter)
{
	return host_load(host, context, 0x100 + 8 * counter);
}

void host_assert_no_error(struct dare_host *host)
{
	assert_int_equal(host_load(host, 0, 0x58), 0);
}

void host_assert_error(struct dare_host *host, enum dare_error error, uint32_t word, uint64_t address,
		  uint64_t row)
{
	assert_int_equal(host_load(host, 0, 0x58), error);
	assert_int_equal(host_load(host, 0, 0x60), word);
	assert_int_equal(host_load(host, 0, 0x70), address);
	assert_int_equal(host_load(host, 0, 0x78), row);
}
