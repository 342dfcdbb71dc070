/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_virgo.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "Virgo, daemon library",
		.device = &contract_virgo,
		.bus = &bus_library,
		.transport = "daemon",
		.needs_daemon = true,
	};

	return contract_main(argc, argv, &way);
}
