/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/timed_maple.h"

#define FIRST_ADDRESS 65536

static void log_request(struct timed_request *log, unsigned int *count, struct timed_request request)
{
	if (*count < TIMED_LOG)
		log[(*count)++] = request;
}

static uint64_t read_time(void *context, uint64_t address, unsigned int size, bool through_l2, uint64_t now)
{
	struct timed_maple *timed = context;

	log_request(timed->request, &timed->requests, (struct timed_request){ now, address, size, through_l2 });
	return now + (through_l2 ? timed->llc : timed->dram);
}

static uint64_t write_time(void *context, uint64_t address, unsigned int size, uint64_t now)
{
	return read_time(context, address, size, true, now);
}

static void prefetch(void *context, uint64_t address, uint64_t now)
{
	struct timed_maple *timed = context;

	log_request(timed->prefetched, &timed->prefetches, (struct timed_request){ now, address, 0, true });
}

static uint64_t walk_time(void *context, uint64_t address, uint64_t now)
{
	struct timed_maple *timed = context;

	log_request(timed->walked, &timed->walks, (struct timed_request){ now, address, 0, true });
	return now + timed->walk;
}

static bool is_readable(const struct timed_maple *timed, uint64_t address, unsigned int size)
{
	if (!timed->memory_size)
		return address >= FIRST_ADDRESS;
	return address >= timed->memory && address + size <= timed->memory + timed->memory_size;
}

static int read_bytes(void *context, uint64_t address, void *buffer, unsigned int size)
{
	memset(buffer, 0, size);
	if (!is_readable(context, address, size))
		return -EFAULT;
	memcpy(buffer, (const void *)(uintptr_t)address, size);
	return 0;
}

static int add(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
	       uint32_t expected, uint32_t *old)
{
	(void)operation;
	(void)expected;
	if (!is_readable(context, address, sizeof(*old)))
		return -EFAULT;
	*old = *(uint32_t *)(uintptr_t)address;
	*(uint32_t *)(uintptr_t)address += operand;
	return 0;
}

static void complete(void *context, uint64_t owner, uint64_t data, uint64_t time)
{
	struct timed_maple *timed = context;

	timed->owner[owner].is_over = true;
	timed->owner[owner].time = time;
	timed->owner[owner].data = data;
	timed->owner[owner].count++;
}

struct sim_parameters timed_parameters(void)
{
	struct sim_parameters parameters;

#define _(section, key, fpga, ...) parameters.section##_##key = fpga;
	SIM_PARAMETERS(_)
#undef _
	parameters.maple_translation = 0;
	return parameters;
}

static uint64_t parameter(void *context, const char *section, const char *key)
{
	return sim_parameters_get(context, section, key);
}

struct maple_time_parameters timed_device_parameters(const struct sim_parameters *parameters)
{
	const struct mimic_time_host host = { .context = (void *)parameters, .parameter = parameter };
	struct maple_time_parameters taken;

	maple_time_parameters(&host, &taken);
	return taken;
}

struct timed_maple *timed_new(const struct sim_parameters *parameters, const struct maple_config *config)
{
	struct timed_maple *timed = calloc(1, sizeof(*timed));
	struct mimic_time_host host = {
		.context = timed, .read_time = read_time, .write_time = write_time, .prefetch = prefetch,
		.walk_time = walk_time, .read = read_bytes, .atomic = add, .complete = complete,
	};

	struct maple_time_parameters taken = timed_device_parameters(parameters);

	if (!timed)
		return NULL;
	timed->parameters = *parameters;
	timed->dram = 300;
	timed->llc = 30;
	timed->walk = 50;
	timed->device = maple_time_create(&taken, config, &host);
	if (timed->device)
		return timed;
	free(timed);
	return NULL;
}

void timed_free(struct timed_maple *timed)
{
	maple_time_destroy(timed->device);
	free(timed);
}

void timed_access(struct timed_maple *timed, uint64_t owner, struct mimic_access access, uint64_t now)
{
	uint64_t done;

	access.owner = owner;
	timed->owner[owner].is_over = false;
	if (!maple_time_access(timed->device, &access, now, &done))
		return;
	timed->owner[owner].is_over = true;
	timed->owner[owner].time = done;
	timed->owner[owner].data = access.data;
}

void timed_store(struct timed_maple *timed, uint64_t owner, unsigned int operation, unsigned int queue,
		 unsigned int size, uint64_t data, uint64_t now)
{
	struct mimic_access access = {
		.offset = MAPLE_OFFSET(operation, queue), .size = (uint8_t)size, .is_write = 1, .data = data,
	};

	timed_access(timed, owner, access, now);
}

void timed_load(struct timed_maple *timed, uint64_t owner, unsigned int operation, unsigned int queue,
		unsigned int size, uint64_t now)
{
	struct mimic_access access = { .offset = MAPLE_OFFSET(operation, queue), .size = (uint8_t)size };

	timed_access(timed, owner, access, now);
}

void timed_take_role(struct timed_maple *timed, uint64_t owner, bool is_producer, unsigned int queue)
{
	timed_load(timed, owner, is_producer ? MAPLE_LOAD_OPEN_PRODUCER : MAPLE_LOAD_OPEN_CONSUMER, queue, 4, 0);
}

void timed_open(struct timed_maple *timed, unsigned int size_code, unsigned int queue)
{
	timed_load(timed, 1, MAPLE_LOAD_INIT, size_code, 4, 0);
	timed_take_role(timed, 1, true, queue);
	timed_take_role(timed, 2, false, queue);
}

uint64_t timed_run(struct timed_maple *timed)
{
	uint64_t time = 0, next;

	while ((next = maple_time_next(timed->device)) != UINT64_MAX) {
		time = next;
		maple_time_advance(timed->device, time);
	}
	return time;
}
