/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * `mimic cflags` includes this in front of a program's files: the compiler's hooks tell of
 * loads and stores, but not of software prefetches.
 */
#ifndef MIMIC_SIM_PREFETCH_H
#define MIMIC_SIM_PREFETCH_H

#ifdef __cplusplus
extern "C"
#endif
void mimic_sim_prefetch(const volatile void *address, ...);

#define __builtin_prefetch(...) mimic_sim_prefetch(__VA_ARGS__)

#endif
