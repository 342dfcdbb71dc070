/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_virgo.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "Virgo, daemon trap",
		.device = &contract_virgo,
		.bus = &bus_trap,
		.transport = "daemon",
		.under_mimic_run = true,
		.needs_daemon = true,
	};

	return contract_main(argc, argv, &way);
}
