/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A PCI function as root's program in a guest reaches it without a driver: its BARs by sysfs. The program
 * itself opens lanes and does the driver's other work.
 */
#ifndef TESTS_GUEST_LANES_H
#define TESTS_GUEST_LANES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mimic/lane.h"
#include "mimic/pci.h"

struct guest_function {
	char folder[300];	/* of sysfs */
	volatile char *registers;	/* BAR 0 */
	char *rings;		/* BAR 5; NULL: there is none */
};

struct guest_lane {
	struct guest_function *function;
	struct mimic_lane *memory;
	struct mimic_ring_end commands, responses;
};

static inline bool guest_has_number(const char *folder, const char *file, unsigned int wanted)
{
	char path[400];
	unsigned int number = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	stream = fopen(path, "r");
	if (!stream)
		return false;
	if (fscanf(stream, "%x", &number) != 1)
		number = 0;
	fclose(stream);
	return number == wanted;
}

static inline bool guest_has_bar(const struct guest_function *function, unsigned int bar)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/resource%u", function->folder, bar);
	return !access(path, F_OK);
}

/* A function of these numbers, with the BAR or without it. */
static inline bool guest_find_with(struct guest_function *function, unsigned int vendor, unsigned int device,
				   unsigned int bar, bool has_bar)
{
	DIR *functions = opendir("/sys/bus/pci/devices");
	struct dirent *entry;
	bool found = false;

	while (functions && !found && (entry = readdir(functions))) {
		snprintf(function->folder, sizeof(function->folder), "/sys/bus/pci/devices/%s", entry->d_name);
		found = guest_has_number(function->folder, "vendor", vendor) &&
			guest_has_number(function->folder, "device", device) &&
			guest_has_bar(function, bar) == has_bar;
	}
	if (functions)
		closedir(functions);
	return found;
}

/* The first one that has registers. */
static inline bool guest_find(struct guest_function *function, unsigned int vendor, unsigned int device)
{
	return guest_find_with(function, vendor, device, MIMIC_PCI_BAR_REGISTERS, true);
}

static inline void *guest_map_bar(const struct guest_function *function, unsigned int bar)
{
	struct stat status;
	char path[400];
	void *base;
	int fd;

	snprintf(path, sizeof(path), "%s/resource%u", function->folder, bar);
	fd = open(path, O_RDWR);
	if (fd < 0 || fstat(fd, &status))
		return NULL;
	base = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return base == MAP_FAILED ? NULL : base;
}

static inline bool guest_enable(const struct guest_function *function)
{
	char path[400];
	int fd, written;

	snprintf(path, sizeof(path), "%s/enable", function->folder);
	fd = open(path, O_WRONLY);
	written = fd < 0 ? 0 : (int)write(fd, "1", 1);
	if (fd >= 0)
		close(fd);
	return written == 1;
}

static inline uint64_t guest_bus_load(const struct guest_function *function, unsigned int offset)
{
	return *(volatile uint64_t *)(function->registers + offset);
}

static inline void guest_bus_store(const struct guest_function *function, unsigned int offset, uint64_t value)
{
	*(volatile uint64_t *)(function->registers + offset) = value;
}

/* false: it does not open. Space 1 has a mode. */
static inline bool guest_open_lane(struct guest_function *function, struct guest_lane *lane, unsigned int number,
				   unsigned int thread)
{
	uint64_t layout = guest_bus_load(function, MIMIC_PCI_LANE_LAYOUT);
	size_t commands = layout >> 16 & 0xffff, answers = layout >> 32 & 0xffff;
	size_t size = (layout & 0xffff) * MIMIC_PCI_PAGE_SIZE;

	guest_bus_store(function, MIMIC_PCI_LANE(number), MIMIC_PCI_LANE_OPEN(1, thread, 0));
	if (MIMIC_PCI_LANE_STATE(guest_bus_load(function, MIMIC_PCI_LANE(number))) != MIMIC_PCI_LANE_IS_OPEN)
		return false;
	lane->function = function;
	lane->memory = (struct mimic_lane *)(void *)(function->rings + number * size);
	mimic_ring_attach(&lane->commands, mimic_lane_commands(lane->memory), commands);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(lane->memory, commands), answers);
	return true;
}

static inline uint64_t guest_word(enum mimic_command_kind kind, unsigned int page, unsigned int offset,
				  unsigned int size, uint32_t count)
{
	const struct mimic_command command = {
		.kind = kind, .page = (uint8_t)page, .size = (uint8_t)size, .offset = (uint16_t)offset, .count = count,
	};

	return mimic_command_pack(&command);
}

static inline void guest_publish(struct guest_lane *lane, uint64_t words)
{
	mimic_ring_publish(&lane->commands, words);
	mimic_lane_fence();
	if (atomic_load_explicit(&lane->memory->daemon_sleeping, memory_order_relaxed) &&
	    atomic_exchange(&lane->memory->daemon_sleeping, 0))
		guest_bus_store(lane->function, MIMIC_PCI_LANE_KICK, 1);
}

/* All ones where no answer comes for ten seconds. */
static inline uint64_t guest_answer(struct guest_lane *lane)
{
	time_t end = time(NULL) + 10;
	uint64_t word, spins = 0;

	while (mimic_ring_level(&lane->responses, 1) <= 0) {
		if (++spins % 4096 == 0 && time(NULL) > end)
			return ~0ull;
	}
	word = mimic_ring_get(&lane->responses, 0);
	mimic_ring_release(&lane->responses, 1);
	return word;
}

static inline uint64_t guest_lane_load(struct guest_lane *lane, unsigned int page, unsigned int offset,
				       unsigned int size)
{
	mimic_ring_put(&lane->commands, 0, guest_word(MIMIC_COMMAND_LOAD, page, offset, size, 1));
	guest_publish(lane, 1);
	return guest_answer(lane);
}

static inline void guest_lane_store(struct guest_lane *lane, unsigned int page, unsigned int offset,
				    unsigned int size, uint64_t value)
{
	mimic_ring_put(&lane->commands, 0, guest_word(MIMIC_COMMAND_STORE, page, offset, size, 1));
	mimic_ring_put(&lane->commands, 1, value);
	guest_publish(lane, 2);
}

#endif
