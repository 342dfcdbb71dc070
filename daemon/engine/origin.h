/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program that a window is of: only one whose structures are laid out in the same way, and whose devices
 * have the same parameters, can take it over.
 */
#ifndef MIMICD_ORIGIN_H
#define MIMICD_ORIGIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mimicd_stored;
struct mimic_settings;

/* Names the layout of this program's structures. */
void mimicd_origin_build(char *text, size_t size);
/* A sum over all kinds and their parameters. */
uint64_t mimicd_origin_settings(const struct mimic_settings *settings);

/*
 * Could this program take over from the daemon that runs? Its newest window is among the stored descriptors,
 * or open in this process (0: none). Changes nothing there. 0, or -errno with a log line that says the
 * difference.
 */
int mimicd_origin_check(const struct mimic_settings *settings, const struct mimicd_stored *stored,
			size_t count, pid_t process);

#endif
