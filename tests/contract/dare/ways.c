/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A way that DARE has beside the usual ones: in virtual time. */
#include "tests/contract/dare/bus_timed.h"
#include "tests/contract/dare/contract.h"

const struct contract_way dare_ways[] = {
	{
		.program = "timed",
		.name = "timed",
		.bus = &dare_bus_timed,
	},
	{ 0 }
};
