/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An interconnect between tiles: a mesh, so many tiles in a row, numbered row by row from
 * 0 on. A message goes along a row and along a column, a hop from each tile to the next.
 */
#ifndef MIMIC_DEVICES_INTERCONNECT_H
#define MIMIC_DEVICES_INTERCONNECT_H

/* `width`: tiles in a row, not 0. */
unsigned int mimic_mesh_hops(unsigned int width, unsigned int from, unsigned int to);

#endif
