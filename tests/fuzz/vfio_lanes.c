/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes: which states they go through. */
#include "tests/fuzz/vfio_machine.h"

#include <string.h>

#include "tests/fuzz/check.h"

uint64_t machine_lane_register(unsigned int number)
{
	static struct transfer body;
	uint64_t value;

	body.access = (struct mimicd_vfio_region_access){ MIMIC_PCI_LANE(number), MIMIC_PCI_BAR_REGISTERS, 8 };
	CHECK(!machine_transfer(false, &body));
	memcpy(&value, body.data, sizeof(value));
	return value;
}

static void set_lane_register(unsigned int number, uint64_t value)
{
	static struct transfer body;

	body.access = (struct mimicd_vfio_region_access){ MIMIC_PCI_LANE(number), MIMIC_PCI_BAR_REGISTERS, 8 };
	memcpy(body.data, &value, sizeof(value));
	CHECK(!machine_transfer(true, &body));
}

/* A Virgo has one space, whose mode must be one; a lane that is open stays, but for lies of its program. */
static void open_or_close_lane(struct input *input)
{
	unsigned int number = byte(input) % LANES, space = byte(input) % 3, thread = byte(input) % 3, level = byte(input) % 9;
	uint64_t value = byte(input) % 4 ? MIMIC_PCI_LANE_OPEN(space, thread, level) : 0, after;
	unsigned int before = MIMIC_PCI_LANE_STATE(machine_lane_register(number)), state;
	bool is_good = space == 1 && thread && level < MIMIC_PCI_LANE_LEVELS && machine.modes[0];

	set_lane_register(number, value);
	after = machine_lane_register(number);
	state = MIMIC_PCI_LANE_STATE(after);
	if (state == MIMIC_PCI_LANE_IS_BROKEN)
		CHECK(machine.lies && (!value || is_good || before == MIMIC_PCI_LANE_IS_OPEN));
	else if (!value)
		CHECK(state == MIMIC_PCI_LANE_IS_CLOSED || state == MIMIC_PCI_LANE_IS_CLOSING);
	else if (before == MIMIC_PCI_LANE_IS_OPEN)
		CHECK(state == MIMIC_PCI_LANE_IS_OPEN || machine.lies);
	else
		CHECK(state == (is_good ? MIMIC_PCI_LANE_IS_OPEN : MIMIC_PCI_LANE_IS_REFUSED));
	if (value && before != MIMIC_PCI_LANE_IS_OPEN)
		CHECK((uint32_t)after == value);
}

/* Writes as a program: some bytes anywhere, or words at the ring's beginning, with the head behind them. */
static void write_lane(struct input *input, bool is_ring)
{
	static struct transfer body;
	unsigned int number = byte(input) % LANES, offset = (unsigned int)bytes(input, 2) % (LANE_SIZE - 512);
	unsigned int words = byte(input) % 16;
	uint64_t head = words;

	machine.lies = true;
	body.access = (struct mimicd_vfio_region_access){
		number * LANE_SIZE + (is_ring ? 512 : offset), MIMIC_PCI_BAR_RINGS, 8 * words + !words,
	};
	for (unsigned int i = 0; i < words; i++) {
		uint64_t word = bytes(input, 8);

		memcpy(body.data + 8 * i, &word, sizeof(word));
	}
	CHECK(!machine_transfer(true, &body));
	if (!is_ring)
		return;
	body.access = (struct mimicd_vfio_region_access){ number * LANE_SIZE + 256, MIMIC_PCI_BAR_RINGS, 8 };
	memcpy(body.data, &head, sizeof(head));
	CHECK(!machine_transfer(true, &body));
}

void machine_use_lanes(struct input *input)
{
	unsigned int what = byte(input);

	if (what % 3)
		write_lane(input, what & 4);
	else
		open_or_close_lane(input);
	for (unsigned int i = 0; i < LANES && !machine.modes[0]; i++) {
		unsigned int state = MIMIC_PCI_LANE_STATE(machine_lane_register(i));

		CHECK(state != MIMIC_PCI_LANE_IS_OPEN && state != MIMIC_PCI_LANE_IS_CLOSING);
	}
}
