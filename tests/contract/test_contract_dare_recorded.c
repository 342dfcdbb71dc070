/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_dare.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "DARE, recorded",
		.device = &contract_dare,
		.bus = &bus_recorded,
	};

	return contract_main(argc, argv, &way);
}
