/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A way that Virgo has beside the usual ones: in virtual time. */
#include "tests/contract/virgo/bus_timed.h"
#include "tests/contract/virgo/contract.h"

const struct contract_way virgo_ways[] = {
	{
		.program = "timed",
		.name = "timed",
		.bus = &virgo_bus_timed,
	},
	{ 0 }
};
