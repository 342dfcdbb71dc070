/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_virgo.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "Virgo, kernel trap",
		.device = &contract_virgo,
		.bus = &bus_trap,
		.transport = "kernel",
		.needs_node = true,
		.slow_profile = BY_REGISTERS,
		/* The others are convolutions in parts, thousands of stores each. */
		.slow_profile_only = true,
	};

	return contract_main(argc, argv, &way);
}
