/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For --stat: the function and the source line of an instruction. libdw of elfutils reads them, if it is
 * installed: it is loaded at the end of the program only, into the process itself. A child process would be
 * seen by the program's handler of SIGCHLD, and by its calls of wait().
 */
#include <string.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define LIBDW "libdw.so.1"

#ifndef MIMIC_WITHOUT_LIBDW

#include <elfutils/libdwfl.h>

#define FUNCTIONS(each) \
	each(dwfl_begin) each(dwfl_end) each(dwfl_linux_proc_report) each(dwfl_linux_proc_find_elf) \
		each(dwfl_build_id_find_debuginfo) each(dwfl_report_end) each(dwfl_addrmodule) \
			each(dwfl_module_addrinfo) each(dwfl_module_getsrc) each(dwfl_lineinfo)

#define DECLARE(name) __typeof__(&(name)) name##_;
static struct {
	FUNCTIONS(DECLARE)
} dw;

static Dwfl *dwfl;

static bool load(void)
{
	void *library = dlopen(LIBDW, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
#define FIND(name) \
	dw.name##_ = (__typeof__(dw.name##_))dlsym(library, #name); \
	if (!dw.name##_) \
		return false;
	FUNCTIONS(FIND)
	return true;
}

bool mimic_preload_lines_open(void)
{
	/* Kept until dwfl_end(). Separate debugging information is looked for on this machine, never in the
	 * net. */
	static Dwfl_Callbacks callbacks;
	long process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	if (!load())
		return false;
	callbacks.find_elf = dw.dwfl_linux_proc_find_elf_;
	callbacks.find_debuginfo = dw.dwfl_build_id_find_debuginfo_;
	dwfl = dw.dwfl_begin_(&callbacks);
	if (!dwfl)
		return false;
	if (!dw.dwfl_linux_proc_report_(dwfl, (pid_t)process) && !dw.dwfl_report_end_(dwfl, NULL, NULL))
		return true;
	mimic_preload_lines_close();
	return false;
}

void mimic_preload_lines_close(void)
{
	if (dwfl)
		dw.dwfl_end_(dwfl);
	dwfl = NULL;
}

void mimic_preload_lines_find(uintptr_t address, struct source_place *place)
{
	Dwfl_Module *module = dwfl ? dw.dwfl_addrmodule_(dwfl, address) : NULL;
	GElf_Sym symbol;
	GElf_Off offset = 0;
	Dwfl_Line *line;

	memset(place, 0, sizeof(*place));
	if (!module)
		return;
	place->function = dw.dwfl_module_addrinfo_(module, address, &offset, &symbol, NULL, NULL, NULL);
	place->offset = offset;
	line = dw.dwfl_module_getsrc_(module, address);
	if (line)
		place->file = dw.dwfl_lineinfo_(line, NULL, &place->line, NULL, NULL, NULL);
}

#else

bool mimic_preload_lines_open(void)
{
	return false;
}

void mimic_preload_lines_close(void)
{
}

void mimic_preload_lines_find(uintptr_t address, struct source_place *place)
{
	(void)address;
	memset(place, 0, sizeof(*place));
}

#endif
