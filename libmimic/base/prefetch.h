/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef LIBMIMIC_BASE_PREFETCH_H
#define LIBMIMIC_BASE_PREFETCH_H

/* The line will be written soon, and another processor may have it now. */
static inline void mimic_prefetch_to_write(const void *address)
{
#ifdef __x86_64__
	/*
	 * __builtin_prefetch() asks for a copy to read where compilers may not take this instruction for granted.
	 * Processors of this architecture that do not know it do nothing.
	 */
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
#endif
}

#endif
