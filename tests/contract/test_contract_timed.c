/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/bus_timed.h"
#include "tests/lib/contract.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "timed",
		.device = &contract_maple,
		.bus = &bus_timed,
	};

	return contract_main(argc, argv, &way);
}
