/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_dare.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "DARE, kernel trap",
		.device = &contract_dare,
		.bus = &bus_trap,
		.transport = "kernel",
		.needs_node = true,
		.slow_profile = BY_REGISTERS,
	};

	return contract_main(argc, argv, &way);
}
