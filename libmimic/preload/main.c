/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The library's start, before the program's main(). */
#include <elf.h>
#include <malloc.h>
#include <sys/auxv.h>

#include "patch.h"
#include "preload.h"

/*
 * A program that is not position independent may give devices pointers of 32 bits
 * or 40, because that is how wide their registers are: its heap must stay where
 * brk() grows, just above the program, and not go to mmap().
 */
bool mimic_preload_program_is_fixed(void)
{
	const Elf64_Phdr *header = (const Elf64_Phdr *)getauxval(AT_PHDR);
	unsigned long count = getauxval(AT_PHNUM);
	unsigned long i;

	for (i = 0; header && i < count; i++)
		if (header[i].p_type == PT_PHDR)
			return header[i].p_vaddr == (uintptr_t)header;
	return false;
}

static void keep_heap_low(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_ARENA_MAX, 1);
}

__attribute__((constructor)) static void start(void)
{
	mimic_preload_exec_remember_environment();
	mimic_preload_nodes_start();
	if (mimic_preload_program_is_fixed())
		keep_heap_low();
	mimic_faults_are_handled();
	mimic_preload_patch_start();
	mimic_preload_perf_start();
	mimic_preload_signals_start();
	mimic_preload_fork_start();
}
