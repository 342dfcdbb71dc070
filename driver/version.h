/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Of all modules, as modinfo says it and DKMS compares it: that of the Makefile
 * (tests/scripts/test-commands.sh).
 */
#ifndef MIMIC_DRIVER_VERSION_H
#define MIMIC_DRIVER_VERSION_H

#define MIMIC_DRIVER_VERSION "0.1.0"

#endif
