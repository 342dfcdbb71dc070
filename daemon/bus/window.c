/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/bus/window.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "daemon/bus/internal.h"
#include "libmimic/base/probe.h"

#define GRANULE_SIZE (1ull << MIMICD_WINDOW_GRANULE_SHIFT)
#define BATCH 64
#define ROW_BYTES 64	/* from one row to the next (devices/model.h) */
#define LIMIT (1ull << MIMIC_BUS_WINDOW_SHIFT)	/* of a program's addresses */

void mimicd_window_open(struct mimicd_window *window, struct mimicd_bus *bus, uint32_t binding)
{
	memset(window, 0, sizeof(*window));
	window->bus = bus;
	window->binding = binding;
	pthread_rwlock_init(&window->lock, NULL);
}

void mimicd_window_close(struct mimicd_window *window)
{
	for (unsigned int i = 0; i < MIMICD_WINDOW_GRANULES; i++) {
		struct mimicd_granule *granule = &window->granules[i];

		if (granule->base)
			window->bus->ops->unmap(granule->base, GRANULE_SIZE);
		granule->base = NULL;
	}
	pthread_rwlock_destroy(&window->lock);
}

static char *map_granule(struct mimicd_window *window, struct mimicd_granule *granule,
			 uint64_t number)
{
	const struct mimicd_bus *bus = window->bus;

	if (granule->base)
		bus->ops->unmap(granule->base, GRANULE_SIZE);
	granule->number = number;
	granule->base = bus->is_lost ? NULL :
			bus->ops->map(bus->fd, GRANULE_SIZE, MIMIC_BUS_WINDOW(window->binding) +
				      number * GRANULE_SIZE);
	return granule->base;
}

/* Where the granule of a good address is mapped; NULL: it cannot be. */
static inline char *find_granule(struct mimicd_window *window, uint64_t address)
{
	uint64_t number = address >> MIMICD_WINDOW_GRANULE_SHIFT;
	struct mimicd_granule *granule = &window->granules[number % MIMICD_WINDOW_GRANULES];

	if (granule->base && granule->number == number)
		return granule->base;
	return map_granule(window, granule, number);
}

/*
 * The places of the values in our memory, up to the first value that has none
 * or whose granule would take another one's place: values that were translated
 * before must stay mapped until they are read.
 */
static size_t translate(struct mimicd_window *window, const uint64_t *addresses, size_t count,
			unsigned int size, uint64_t *places)
{
	uint64_t current = ~0ull, distance = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t number = addresses[i] >> MIMICD_WINDOW_GRANULE_SHIFT;

		if (__builtin_expect(number != current, 0)) {
			struct mimicd_granule *granule = &window->granules[number % MIMICD_WINDOW_GRANULES];
			char *base;

			if (addresses[i] >= LIMIT)
				return i;
			if (i && granule->base && granule->number != number)
				return i;
			base = find_granule(window, addresses[i]);
			if (!base)
				return i;
			current = number;
			distance = (uint64_t)(uintptr_t)base - number * GRANULE_SIZE;
		}
		/* Past the granule's end another mapping of ours may lie. */
		if (__builtin_expect((addresses[i] & (GRANULE_SIZE - 1)) > GRANULE_SIZE - size, 0))
			return i;
		places[i] = addresses[i] + distance;
	}
	return count;
}

static long port_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
			uint64_t tag, uint64_t *values)
{
	struct mimicd_window *window = context;
	uint64_t places[BATCH];
	size_t done = 0;

	(void)tag;
	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t got;

		wanted = translate(window, addresses + done, wanted, size, places);
		if (!wanted)
			break;
		if (size == sizeof(uint32_t))
			got = mimic_probe_gather32(places, wanted, values + done);
		else
			got = mimic_probe_gather64(places, wanted, values + done);
		done += got;
		if (got < wanted)
			break;
	}
	return (long)done;
}

static long move_rows(struct mimicd_window *window, bool is_write, const uint64_t *addresses,
		      size_t count, size_t size, char *rows)
{
	uint64_t places[BATCH];
	size_t done = 0;

	while (done < count) {
		size_t wanted = count - done < BATCH ? count - done : BATCH;
		size_t got;

		wanted = translate(window, addresses + done, wanted, (unsigned int)size, places);
		if (is_write)
			got = mimic_probe_write_rows(places, wanted, size, rows + done * ROW_BYTES);
		else
			got = mimic_probe_read_rows(places, wanted, size, rows + done * ROW_BYTES);
		done += got;
		if (!wanted || got < wanted)
			break;
	}
	return (long)done;
}

static long port_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			   void *rows)
{
	return move_rows(context, false, addresses, count, size, rows);
}

static long port_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			    const void *rows)
{
	/* Only read: the function is one for both directions. */
	return move_rows(context, true, addresses, count, size, (char *)(uintptr_t)rows);
}

/* --- blocks, for several threads at once ----------------------------------------- */

struct block {
	bool is_write;
	uint64_t address, stride;
	size_t size, count;
	char *buffer;
	size_t buffer_stride;
};

/* NULL: it cannot be mapped. Else it stays until the lock is given up. */
static const char *hold_granule(struct mimicd_window *window, uint64_t address)
{
	uint64_t number = address >> MIMICD_WINDOW_GRANULE_SHIFT;
	const struct mimicd_granule *granule = &window->granules[number % MIMICD_WINDOW_GRANULES];
	const char *base;

	if (address >= LIMIT)
		return NULL;
	pthread_rwlock_rdlock(&window->lock);
	if (granule->base && granule->number == number)
		return granule->base;
	pthread_rwlock_unlock(&window->lock);
	pthread_rwlock_wrlock(&window->lock);
	base = find_granule(window, address);
	if (!base)
		pthread_rwlock_unlock(&window->lock);
	return base;
}

static size_t left_in_granule(uint64_t address)
{
	return GRANULE_SIZE - (address & (GRANULE_SIZE - 1));
}

/* Rows that lie in the first one's granule as a whole. */
static size_t rows_in_granule(const struct block *block)
{
	uint64_t number = block->address >> MIMICD_WINDOW_GRANULE_SHIFT;
	size_t row;

	for (row = 0; row < block->count; row++) {
		uint64_t address = block->address + row * block->stride;

		if (address >> MIMICD_WINDOW_GRANULE_SHIFT != number || left_in_granule(address) < block->size)
			break;
	}
	return row;
}

/* Of one granule. Returns how many rows came. */
static size_t move_rows_of_granule(struct mimicd_window *window, const struct block *block)
{
	const char *base = hold_granule(window, block->address);
	uint64_t place;
	size_t done;

	if (!base)
		return 0;
	place = (uint64_t)(uintptr_t)base + (block->address & (GRANULE_SIZE - 1));
	if (block->is_write)
		done = mimic_probe_write_block(place, block->stride, block->size, block->count, block->buffer,
					       block->buffer_stride);
	else
		done = mimic_probe_read_block(place, block->stride, block->size, block->count, block->buffer,
					      block->buffer_stride);
	pthread_rwlock_unlock(&window->lock);
	return done;
}

/* A row that goes on in the next granule. */
static bool move_split_row(struct mimicd_window *window, const struct block *block)
{
	struct block piece = *block;
	size_t done = 0;

	piece.count = 1;
	while (done < block->size) {
		size_t left = left_in_granule(piece.address);

		piece.size = block->size - done < left ? block->size - done : left;
		if (!move_rows_of_granule(window, &piece))
			return false;
		done += piece.size;
		piece.address += piece.size;
		piece.buffer += piece.size;
	}
	return true;
}

static long move_block(struct mimicd_window *window, struct block block)
{
	size_t total = block.count;

	while (block.count) {
		struct block part = block;
		size_t done;

		part.count = rows_in_granule(&block);
		if (part.count)
			done = move_rows_of_granule(window, &part);
		else
			done = part.count = move_split_row(window, &block);
		block.count -= done;
		if (!done || done < part.count)
			break;
		block.address += done * block.stride;
		block.buffer += done * block.buffer_stride;
	}
	return (long)(total - block.count);
}

static long port_read_block(void *context, uint64_t address, uint64_t stride, size_t size,
			    size_t count, void *buffer, size_t buffer_stride)
{
	return move_block(context, (struct block){ false, address, stride, size, count, buffer,
						  buffer_stride });
}

static long port_write_block(void *context, uint64_t address, uint64_t stride, size_t size,
			     size_t count, const void *buffer, size_t buffer_stride)
{
	/* Only read: the functions are one for both directions. */
	return move_block(context, (struct block){ true, address, stride, size, count,
						  (char *)(uintptr_t)buffer, buffer_stride });
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct mimicd_window *window = context;
	char *to = buffer;

	while (size) {
		size_t piece = size;
		char *base = NULL;

		if (address < LIMIT) {
			uint64_t left = GRANULE_SIZE - (address & (GRANULE_SIZE - 1));

			piece = left < size ? left : size;
			base = find_granule(window, address);
		}
		if (!base || mimic_probe_read((uint64_t)(uintptr_t)base + (address & (GRANULE_SIZE - 1)),
					      to, piece)) {
			/* The probe has zeroed the bytes of its piece that it could not read. */
			memset(base ? to + piece : to, 0, base ? size - piece : size);
			return -EFAULT;
		}
		address += piece;
		to += piece;
		size -= piece;
	}
	return 0;
}

static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation,
		       uint32_t operand, uint32_t expected, uint32_t *old)
{
	uint64_t place;

	if (address % sizeof(uint32_t) || !translate(context, &address, 1, sizeof(uint32_t), &place))
		return -EFAULT;
	return mimic_probe_atomic(place, operation, operand, expected, old);
}

static void port_prefetch(void *context, uint64_t address)
{
	uint64_t place;

	/* The instruction never faults: a page that is not present is simply not fetched. */
	if (translate(context, &address, 1, 1, &place))
		mimic_probe_prefetch(place);
}

void mimicd_window_port(struct mimic_memory *port, struct mimicd_window *window)
{
	*port = (struct mimic_memory){
		.context = window,
		.gather = port_gather,
		.read = port_read,
		.read_rows = port_read_rows,
		.write_rows = port_write_rows,
		.atomic = port_atomic,
		.prefetch = port_prefetch,
	};
}

void mimicd_window_job_port(struct mimic_memory *port, struct mimicd_window *window)
{
	*port = (struct mimic_memory){
		.context = window,
		.read_block = port_read_block,
		.write_block = port_write_block,
	};
}
