/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Ranges of the guest's memory: which are refused, and which are there. */
#include "tests/fuzz/vfio_machine.h"

#include <errno.h>

#include "tests/fuzz/check.h"

void machine_map(struct input *input)
{
	unsigned int first = byte(input) % (PAGES + 2), count = byte(input) % (PAGES + 2), offset = byte(input) % (PAGES + 2);
	const struct mimicd_vfio_dma_map wanted = {
		.argsz = sizeof(wanted), .flags = 3, .offset = (uint64_t)offset * PAGE, .address = (uint64_t)first * PAGE,
		.size = (uint64_t)count * PAGE,
	};
	int expected = 0, error;

	for (unsigned int i = first; i < first + count && i < PAGES; i++)
		expected = machine.is_mapped[i] ? EEXIST : expected;
	if (!count || (!expected && offset + count > PAGES))
		expected = EINVAL;
	error = machine_ask(MIMICD_VFIO_DMA_MAP, &wanted, sizeof(wanted), machine.ram_fd, NULL, NULL);
	/* Outside of the compared pages other ranges may lie. */
	if (first + count > PAGES) {
		if (!error) {
			const struct mimicd_vfio_dma_unmap undo = { .argsz = sizeof(undo), .address = wanted.address, .size = wanted.size };

			CHECK(!machine_ask(MIMICD_VFIO_DMA_UNMAP, &undo, sizeof(undo), -1, NULL, NULL));
		}
		return;
	}
	CHECK(error == expected);
	if (error)
		return;
	for (unsigned int i = first; i < first + count; i++)
		machine.is_mapped[i] = true;
	machine.begins[first] = true;
}

/* Does a range lie in part outside of these pages? */
static bool cuts_a_range(unsigned int first, unsigned int end)
{
	bool cuts = first < PAGES && machine.is_mapped[first] && !machine.begins[first];

	return cuts || (end < PAGES && machine.is_mapped[end] && !machine.begins[end] && machine.is_mapped[end - 1]);
}

void machine_unmap(struct input *input)
{
	unsigned int first = byte(input) % PAGES, count = byte(input) % (PAGES - first + 1), found = 0;
	const struct mimicd_vfio_dma_unmap unmap = {
		.argsz = sizeof(unmap), .address = (uint64_t)first * PAGE, .size = (uint64_t)count * PAGE,
	};
	int expected = 0;

	for (unsigned int i = first; i < first + count; i++)
		found += machine.is_mapped[i];
	if (!count || cuts_a_range(first, first + count))
		expected = EINVAL;
	else if (!found)
		expected = ENOENT;
	CHECK(machine_ask(MIMICD_VFIO_DMA_UNMAP, &unmap, sizeof(unmap), -1, NULL, NULL) == expected);
	for (unsigned int i = first; !expected && i < first + count; i++)
		machine.is_mapped[i] = machine.begins[i] = false;
}
