/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Ways that MAPLE alone has: in virtual time. */
#include "tests/contract/maple/bus_timed.h"
#include "tests/contract/maple/contract.h"

const struct contract_way maple_ways[] = {
	{
		.program = "timed",
		.name = "timed",
		.bus = &bus_timed,
	}, {
		.program = "timed_walks",
		.name = "timed, with walks",
		.bus = &bus_timed_walks,
	},
	{ 0 }
};
