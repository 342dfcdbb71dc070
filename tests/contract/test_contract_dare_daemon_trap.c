/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_dare.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "DARE, daemon trap",
		.device = &contract_dare,
		.bus = &bus_trap,
		.transport = "daemon",
		.under_mimic_run = true,
		.needs_daemon = true,
	};

	return contract_main(argc, argv, &way);
}
