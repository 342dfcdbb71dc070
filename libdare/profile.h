/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The faster form of a sparse kernel: read from a profile, or reported for one by a run in virtual time. */
#ifndef DARE_PROFILE_H
#define DARE_PROFILE_H

#include "blocks.h"
#include "internal.h"

/* The clock of virtual time; 0 outside of it. */
uint64_t dare_profile_now(void);
/* A kernel has run from cycle `begin` on; `width` columns of the dense operands. Does nothing outside of virtual time. */
void dare_profile_ran(enum dare_profiled kernel, enum dare_form form, const struct dare_blocks *blocks, size_t width,
		      uint64_t begin);
/* The form that the handle's profile names for a block size: DARE_AUTO if it names none. */
enum dare_form dare_profile_form(const struct dare *dare, enum dare_profiled kernel, unsigned int block);
/* The profile that the environment names, if it names one. 0, or -errno with text. */
int dare_profile_from_environment(struct dare *dare);

#endif
