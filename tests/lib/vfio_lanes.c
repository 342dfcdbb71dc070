/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/vfio_lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* --- the driver ------------------------------------------------------------------------ */

void guest_start_lanes(struct guest *guest, const struct served *served, const char *device, bool has_msi)
{
	guest_start(guest, served, device);
	guest_take_interrupts(guest, has_msi ? MIMICD_VFIO_MSI : MIMICD_VFIO_MSIX);
	guest_map_rings(guest, guest);
}

void guest_map_rings(struct guest *guest, struct guest *function)
{
	int fd = -1;
	struct mimicd_vfio_region_info info = guest_region(function, MIMIC_PCI_BAR_RINGS, &fd);

	assert_int_equal(info.flags, 7);	/* read, write, map */
	guest->rings_size = info.size;
	guest->rings = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(guest->rings, MAP_FAILED);
	guest->rings_fd = fd;
}

void guest_set_mode(struct guest *guest, unsigned int space, uint64_t mode)
{
	guest_set_bus(guest, MIMIC_PCI_SPACE(space) + MIMIC_PCI_SPACE_MODE, mode);
}

unsigned int lane_state(struct guest *guest, unsigned int number)
{
	return MIMIC_PCI_LANE_STATE(guest_bus(guest, MIMIC_PCI_LANE(number)));
}

unsigned int lane_try(struct guest *guest, unsigned int number, unsigned int space, unsigned int thread,
		      unsigned int level)
{
	guest_set_bus(guest, MIMIC_PCI_LANE(number), MIMIC_PCI_LANE_OPEN(space, thread, level));
	return lane_state(guest, number);
}

struct raw_lane lane_at(struct guest *guest, unsigned int number)
{
	uint64_t layout = guest_bus(guest, MIMIC_PCI_LANE_LAYOUT);
	size_t commands = layout >> 16 & 0xffff, answers = layout >> 32 & 0xffff;
	struct raw_lane lane = { .size = (layout & 0xffff) * MIMIC_PCI_PAGE_SIZE, .event_fd = -1 };

	lane.number = MIMIC_PCI_LANE_NUMBER(guest_bus(guest, MIMIC_PCI_LANE(number)));

	lane.memory = (struct mimic_lane *)(void *)(guest->rings + number * lane.size);
	mimic_ring_attach(&lane.commands, mimic_lane_commands(lane.memory), commands);
	mimic_ring_attach(&lane.responses, mimic_lane_responses(lane.memory, commands), answers);
	return lane;
}

struct raw_lane lane_open(struct guest *guest, unsigned int number, unsigned int space, unsigned int thread)
{
	assert_int_equal(lane_try(guest, number, space, thread, 0), MIMIC_PCI_LANE_IS_OPEN);
	return lane_at(guest, number);
}

void lane_close(struct guest *guest, unsigned int number)
{
	guest_set_bus(guest, MIMIC_PCI_LANE(number), 0);
}

/* --- the program ------------------------------------------------------------------------ */

void lane_post(struct guest *guest, struct raw_lane *lane, const uint64_t *words, size_t count)
{
	raw_post(lane, words, count);
	mimic_lane_fence();
	if (atomic_load(&lane->memory->daemon_sleeping))
		guest_set_bus(guest, MIMIC_PCI_LANE_KICK, 1);
}

uint64_t lane_word(enum mimic_command_kind kind, unsigned int device, unsigned int page, unsigned int offset,
		   unsigned int size, uint32_t count)
{
	const struct mimic_command command = {
		.kind = kind, .device = (uint8_t)device, .page = (uint8_t)page, .size = (uint8_t)size,
		.offset = (uint16_t)offset, .count = count,
	};

	return mimic_command_pack(&command);
}

uint64_t lane_load(struct guest *guest, struct raw_lane *lane, unsigned int device, unsigned int page,
		   unsigned int offset, unsigned int size)
{
	const uint64_t word = lane_word(MIMIC_COMMAND_LOAD, device, page, offset, size, 1);
	uint64_t answer = 0;

	lane_post(guest, lane, &word, 1);
	assert_true(raw_answer(lane, &answer));
	return answer;
}

void lane_store(struct guest *guest, struct raw_lane *lane, unsigned int device, unsigned int page,
		unsigned int offset, unsigned int size, uint64_t value)
{
	const uint64_t words[] = { lane_word(MIMIC_COMMAND_STORE, device, page, offset, size, 1), value };

	lane_post(guest, lane, words, 2);
}
