/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_host.h"

static uint32_t *word_at(struct fake_host *host, uint64_t address)
{
	uint64_t index = (address - FAKE_BASE) / 4;

	return address >= FAKE_BASE && index < FAKE_WORDS ? &host->words[index] : NULL;
}

static bool read_value(struct fake_host *host, uint64_t address, unsigned int size, uint64_t *value)
{
	const uint32_t *low = word_at(host, address), *high = word_at(host, address + size - 4);

	*value = 0;
	if (!low || !high)
		return false;
	*value = size == 8 ? (uint64_t)*high << 32 | *low : *low;
	return true;
}

static int walk(void *context, uint64_t address, uint64_t *frame)
{
	struct fake_host *host = context;
	uint64_t page = (address - FAKE_BASE) / 4096;

	if (address < FAKE_BASE || page >= FAKE_PAGES || host->absent[page])
		return -EFAULT;
	*frame = host->frame_of[page] ? host->frame_of[page] : address & ~4095ull;
	return 0;
}

static void note_unannounced(struct fake_host *host, uint64_t address)
{
	for (unsigned int i = 0; i < host->announced_count && i < FAKE_DEFERRED; i++) {
		if (host->announced[i] == address)
			return;
	}
	host->unannounced_count++;
}

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
		   uint64_t tag, uint64_t *values)
{
	struct fake_host *host = context;

	for (size_t i = 0; i < count; i++) {
		note_unannounced(host, addresses[i]);
		if (host->defer) {
			host->deferred[host->deferred_count++ % FAKE_DEFERRED] =
				(struct fake_fetch){ tag + i, addresses[i], size };
			continue;
		}
		if (!read_value(host, addresses[i], size, &values[i]))
			return (long)i;
	}
	return host->defer ? -EINPROGRESS : (long)count;
}

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	unsigned char *bytes = buffer;
	int error = 0;

	for (size_t i = 0; i < size; i++) {
		const uint32_t *word = word_at(context, address + i);

		bytes[i] = word ? (unsigned char)(*word >> 8 * ((address + i) & 3)) : 0;
		if (!word)
			error = -EFAULT;
	}
	return error;
}

static int atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		  uint32_t expected, uint32_t *old)
{
	uint32_t *word = word_at(context, address);

	if (!word)
		return -EFAULT;
	*old = *word;
	/* Each operation is tested through the contract; here two are enough. */
	if (operation == MIMIC_ATOMIC_ADD)
		*word += operand;
	else if (operation != MIMIC_ATOMIC_CAS || *word == expected)
		*word = operand;
	return 0;
}

static void prefetch(void *context, uint64_t address)
{
	struct fake_host *host = context;

	host->prefetched[host->prefetched_count++ % FAKE_DEFERRED] = address;
}

static void announce(void *context, const uint64_t *addresses, size_t count)
{
	struct fake_host *host = context;

	for (size_t i = 0; i < count; i++)
		host->announced[host->announced_count++ % FAKE_DEFERRED] = addresses[i];
}

static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct fake_host *host = context;

	if (owner >= FAKE_OWNERS || !host->parked[owner]) {
		host->unexpected++;
		return;
	}
	host->parked[owner] = false;
	host->completed[owner] = true;
	host->answer[owner] = data;
}

static void interrupt(void *context)
{
	((struct fake_host *)context)->interrupts++;
}

static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	struct fake_host *host = context;
	uint64_t page = (address - FAKE_BASE) / 4096;

	host->faults++;
	host->fault_address = address;
	host->fault_source = source;
	if (host->fault_maps_page && page < FAKE_PAGES)
		host->absent[page] = false;
	return host->fault_answer;
}

static uint64_t read_clock(void *context)
{
	struct fake_host *host = context;

	host->clock_readings++;
	return host->clock;
}

struct fake_host *fake_host_create(const struct maple_config *config, unsigned int options)
{
	struct fake_host *host = calloc(1, sizeof(*host));
	struct mimic_host for_model = {
		.context = host, .complete = complete, .interrupt = interrupt,
		.memory = { .context = host, .gather = gather, .read = read_bytes, .atomic = atomic,
			    .prefetch = prefetch, .announce = announce },
	};

	if (options & FAKE_WALKS)
		for_model.memory.walk = walk;
	if (options & FAKE_FAULTS)
		for_model.page_fault = page_fault;
	if (options & FAKE_CLOCK)
		for_model.now = read_clock;
	for (unsigned int i = 0; i < FAKE_WORDS; i++)
		host->words[i] = 0xf0000000 + i;
	host->model = maple_model_create(config, &for_model);
	if (host->model)
		return host;
	free(host);
	return NULL;
}

struct fake_host *fake_host_profile(const char *profile, unsigned int options)
{
	struct maple_config config;

	return maple_config_profile(&config, profile) ? NULL : fake_host_create(&config, options);
}

void fake_host_destroy(struct fake_host *host)
{
	maple_model_destroy(host->model);
	free(host);
}

enum mimic_outcome fake_access(struct fake_host *host, struct mimic_access *access)
{
	uint64_t owner = access->owner;
	enum mimic_outcome outcome;

	host->now += 10;
	host->parked[owner] = true;
	host->completed[owner] = false;
	outcome = host->model->ops->access(host->model, access, host->now);
	if (outcome == MIMIC_DONE)
		host->parked[owner] = false;
	return outcome;
}

static uint64_t load_from(struct fake_host *host, uint64_t owner, unsigned int page,
			  unsigned int offset, unsigned int size)
{
	struct mimic_access access = {
		.owner = owner, .page = (uint8_t)page, .offset = offset, .size = (uint8_t)size,
	};

	return fake_access(host, &access) == MIMIC_PARKED ? FAKE_PARKED : access.data;
}

static bool store_to(struct fake_host *host, uint64_t owner, unsigned int page, unsigned int offset,
		     unsigned int size, uint64_t value)
{
	struct mimic_access access = {
		.owner = owner, .page = (uint8_t)page, .offset = offset, .size = (uint8_t)size,
		.is_write = 1, .data = value,
	};

	return fake_access(host, &access) == MIMIC_DONE;
}

uint64_t fake_load(struct fake_host *host, uint64_t owner, unsigned int operation,
		   unsigned int queue, unsigned int size)
{
	return load_from(host, owner, PAGE_MAPLE, AT(operation, queue), size);
}

bool fake_store(struct fake_host *host, uint64_t owner, unsigned int operation,
		unsigned int queue, unsigned int size, uint64_t value)
{
	return store_to(host, owner, PAGE_MAPLE, AT(operation, queue), size, value);
}

uint64_t fake_mmu_load(struct fake_host *host, unsigned int what)
{
	return load_from(host, 3, PAGE_MMU, AT(DEBUG, what), 8);
}

void fake_mmu_store(struct fake_host *host, unsigned int what, uint64_t value)
{
	store_to(host, 3, PAGE_MMU, AT(MMU_STORE, what), 8, value);
}

void fake_open(struct fake_host *host, unsigned int size_code, unsigned int queues)
{
	fake_load(host, 1, INIT, size_code, 4);
	for (unsigned int queue = 0; queue < queues; queue++) {
		fake_load(host, 1, OPEN_PRODUCER, queue, 4);
		fake_load(host, 2, OPEN_CONSUMER, queue, 4);
	}
}

void fake_fill(struct fake_host *host, unsigned int i)
{
	const struct fake_fetch *fetch = &host->deferred[i % FAKE_DEFERRED];
	uint64_t value;
	bool there = read_value(host, fetch->address, fetch->size, &value);

	maple_model_fill(host->model, fetch->tag, there ? 0 : -EFAULT, value, host->now);
}

uint64_t fake_counter(struct fake_host *host, enum maple_counter counter)
{
	uint64_t values[MAPLE_COUNTER_COUNT];

	host->model->ops->counters(host->model, values, MAPLE_COUNTER_COUNT);
	return values[counter];
}

void fake_tick(struct fake_host *host)
{
	host->now += 10;
	host->model->ops->tick(host->model, host->now);
}
