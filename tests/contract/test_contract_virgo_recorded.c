/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/contract_virgo.h"

int main(int argc, char **argv)
{
	static const struct contract_way way = {
		.name = "Virgo, recorded",
		.device = &contract_virgo,
		.bus = &bus_recorded,
		/* What is recorded is the same either way. */
		.slow_profile = BY_STREAM,
	};

	return contract_main(argc, argv, &way);
}
