/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/fake_virgo.h"

#include <stdlib.h>
#include <string.h>

#include "libmimic/base/error.h"

/* The library allocates once at a time; commands reach nothing but the arena. */
#define ALLOCATION_BYTES (1u << 20)

static unsigned char *allocation(const struct fake_virgo *fake)
{
	return fake->fixture->arena + ARENA_BYTES - ALLOCATION_BYTES;
}

/* Three values make a command. */
static void note_value(struct fake_virgo *fake, unsigned int unit, uint64_t value)
{
	uint64_t *values = fake->streams[unit].values;

	values[fake->streams[unit].count++] = value;
	if (fake->streams[unit].count < 3)
		return;
	fake->streams[unit].count = 0;
	if (fake->count == FAKE_VIRGO_COMMANDS)
		return;
	fake->commands[fake->count].unit = unit;
	fake->commands[fake->count].rs1 = values[0];
	fake->commands[fake->count].rs2 = values[1];
	fake->commands[fake->count++].word = (uint32_t)values[2];
}

/* The register that is loaded instead: the same, or the one that answers like a device without room for another waiting load. */
static unsigned int wait_at(struct fake_virgo *fake, unsigned int offset)
{
	const unsigned int block = offset / VIRGO_BLOCK_SIZE * VIRGO_BLOCK_SIZE;

	fake->waits++;
	fake->last_wait = offset - block;
	if (fake->on_wait)
		fake->on_wait(fake);
	if (!fake->at_once)
		return offset;
	fake->at_once--;
	return block + (fake->last_wait == VIRGO_FENCE ? VIRGO_STATUS : VIRGO_LOOPS);
}

static uint64_t load_register(struct fake_virgo *fake, const struct mimic_access *access)
{
	unsigned int offset = access->offset;

	if (fake->identity && access->page == VIRGO_PAGE_CONTROL && offset == VIRGO_CONTROL_IDENTIFY)
		return fake->identity;
	if (access->page == VIRGO_PAGE_UNITS && offset % VIRGO_BLOCK_SIZE >= VIRGO_FENCE)
		offset = wait_at(fake, offset);
	return virgo_load(fake->fixture, access->page, offset, access->size);
}

static void access_register(struct fake_device *device, struct mimic_access *access)
{
	struct fake_virgo *fake = (struct fake_virgo *)device;
	const unsigned int unit = access->offset / VIRGO_BLOCK_SIZE;

	if (!access->is_write) {
		access->data = load_register(fake, access);
		return;
	}
	if (access->page == VIRGO_PAGE_UNITS && access->offset == VIRGO_UNIT_OFFSET(unit, STREAM))
		note_value(fake, unit, access->data);
	if (!virgo_store(fake->fixture, access->page, access->offset, access->size, access->data))
		virgo_run(fake->fixture);
}

static void *allocate(struct fake_device *device, size_t size)
{
	if (size <= ALLOCATION_BYTES)
		return memset(allocation((struct fake_virgo *)device), 0, size);
	mimic_error(-ENOMEM, "no memory here");
	errno = ENOMEM;
	return NULL;
}

static int release(struct fake_device *device, void *memory)
{
	struct fake_virgo *fake = (struct fake_virgo *)device;

	if (fake->on_free)
		fake->on_free(fake, memory);
	if (memory != allocation(fake))
		return mimic_error(-EINVAL, "not allocated");
	return 0;
}

/* All of the arena can be reached without it. */
static int share(struct fake_device *device, void *memory, size_t size)
{
	(void)device;
	(void)memory;
	return size ? 0 : mimic_error(-EINVAL, "0 bytes");
}

int fake_virgo_open_again(struct fake_virgo *fake, struct virgo **virgo)
{
	int error;

	fake_transport_offer(&fake->device);
	error = virgo_open(virgo, NULL);
	fake_transport_offer(NULL);
	return error;
}

struct virgo *fake_virgo_open(struct fake_virgo *fake, const struct virgo_config *config)
{
	struct virgo_config one;
	struct virgo *virgo;

	memset(fake, 0, sizeof(*fake));
	if (config)
		one = *config;
	else
		virgo_config_default(&one);
	one.inline_jobs = 1;
	fake->fixture = virgo_fixture_create(&one, FIXTURE_FILE);
	fake->device = (struct fake_device){
		.kind = "virgo", .access = access_register,
		.memory_file = fake->fixture->shared_file, .memory_size = (size_t)one.shared_kb << 10,
		.alloc = allocate, .free = release, .share = share, .unshare = share,
	};
	return fake_virgo_open_again(fake, &virgo) ? NULL : virgo;
}

void fake_virgo_close(struct fake_virgo *fake, struct virgo *virgo)
{
	virgo_close(virgo);
	virgo_fixture_destroy(fake->fixture);
}
