/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <string.h>

#include "libmimic/base/emulate_transfer.h"
#include "libmimic/base/operate.h"

int mimic_emulate_transfer(mimic_bus_access access, void *bus, uintptr_t address, unsigned int size,
			   bool is_write, uint8_t *bytes)
{
	unsigned int piece;
	uint64_t data;
	int error;

	for (; size; size -= piece, address += piece, bytes += piece) {
		piece = mimic_operate_piece(address, size);
		data = 0;
		if (is_write)
			memcpy(&data, bytes, piece);
		error = access(bus, address, piece, is_write, &data);
		if (error)
			return error;
		if (!is_write)
			memcpy(bytes, &data, piece);
	}
	return 0;
}
