/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Included before each file, ours and those of `mimic costs`: a software prefetch is one instruction, which gcc 12 has none for on RISC-V. */
#define __builtin_prefetch(address, ...) \
	__asm__ volatile("lb zero,%0 # prefetch" : : "m"(*(const volatile char *)(address)))
