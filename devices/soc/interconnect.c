/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/soc/interconnect.h"

static unsigned int distance(unsigned int one, unsigned int other)
{
	return one < other ? other - one : one - other;
}

unsigned int mimic_mesh_hops(unsigned int width, unsigned int from, unsigned int to)
{
	return distance(from % width, to % width) + distance(from / width, to / width);
}
