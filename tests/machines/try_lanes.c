/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes in a BAR, in a stock kernel under a stock QEMU: a MAPLE is used without a trap. TAP. */
#define _GNU_SOURCE
#include "guest_lanes.h"

#include "mimic/maple_registers.h"

static unsigned int tests, failures;

static void check(bool holds, const char *what)
{
	failures += !holds;
	printf("%sok %u - %s\n", holds ? "" : "not ", ++tests, what);
	fflush(stdout);
}

static uint64_t maple_load(struct guest_lane *lane, unsigned int operation, unsigned int field)
{
	return guest_lane_load(lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field), 4);
}

/* 0: not known. Root sees it. */
static uint64_t physical_of(const void *address)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (fd < 0 || pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)address / 4096 * 8)) != sizeof(entry))
		entry = 0;
	if (fd >= 0)
		close(fd);
	return (entry & ((1ull << 55) - 1)) * 4096 + (uintptr_t)address % 4096;
}

static bool start(struct guest_function *maple)
{
	if (!guest_find(maple, MIMIC_PCI_VENDOR, MAPLE_PCI_DEVICE) || !guest_enable(maple))
		return false;
	maple->registers = guest_map_bar(maple, MIMIC_PCI_BAR_REGISTERS);
	maple->rings = guest_map_bar(maple, MIMIC_PCI_BAR_RINGS);
	return maple->registers && maple->rings;
}

static void try_words(struct guest_lane *lane)
{
	unsigned int wrong = 0;

	maple_load(lane, MAPLE_LOAD_INIT, 2);
	check((maple_load(lane, MAPLE_LOAD_OPEN_PRODUCER, 0) & 2) && (maple_load(lane, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1),
	      "a lane's thread has both ends of a queue");
	for (uint32_t i = 0; i < 100000; i++) {
		guest_lane_store(lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, i * 7);
		wrong += maple_load(lane, MAPLE_LOAD_CONSUME, 0) != i * 7;
	}
	check(!wrong, "100000 words go through a queue by a lane");
}

static void try_memory(struct guest_lane *lane)
{
	volatile uint32_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);
	uint64_t physical;
	unsigned int wrong = 0;

	memory[0] = 1;
	physical = physical_of((void *)(uintptr_t)memory);
	for (uint32_t i = 0; i < 1000; i++) {
		memory[i % 1024] = i + 5;
		guest_lane_store(lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8,
				 physical + i % 1024 * 4);
		wrong += maple_load(lane, MAPLE_LOAD_CONSUME, 0) != i + 5;
	}
	check(physical && !wrong, "pointers that a lane gives are fetched");
}

/* Its CPU sleeps after some microseconds without work. */
static void try_sleep(struct guest_lane *lane)
{
	unsigned int kicks = 0, wrong = 0;

	for (int i = 0; i < 20; i++) {
		usleep(20000);
		kicks += atomic_load(&lane->memory->daemon_sleeping);
		wrong += guest_lane_load(lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8) >> 32 !=
			 MAPLE_IDENTIFY_MAGIC;
	}
	check(kicks && !wrong, "a daemon that sleeps is woken by LANE_KICK");
}

int main(void)
{
	struct guest_function maple = { .registers = NULL };
	struct guest_lane lane;

	check(start(&maple), "BAR 0 and BAR 5 can be mapped");
	if (!maple.rings)
		return 1;
	check((guest_bus_load(&maple, MIMIC_PCI_LAYOUT) >> 32 & 0xff) == MIMIC_PCI_LANES, "the bus page says that there are lanes");
	guest_bus_store(&maple, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_PHYSICAL);
	check(guest_open_lane(&maple, &lane, 3, 1), "a lane opens");
	check(guest_lane_load(&lane, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8) >> 32 == MAPLE_IDENTIFY_MAGIC,
	      "a load by a lane is answered");
	try_words(&lane);
	try_memory(&lane);
	try_sleep(&lane);
	guest_bus_store(&maple, MIMIC_PCI_LANE(3), 0);
	check(!guest_bus_load(&maple, MIMIC_PCI_LANE(3)), "a lane closes");
	printf("1..%u\n", tests);
	return failures != 0;
}
