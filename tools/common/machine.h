/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The processor that this command was built for: the programs that it starts have the same. */
#ifndef MIMIC_TOOLS_MACHINE_H
#define MIMIC_TOOLS_MACHINE_H

#include <elf.h>
#include <stdbool.h>

#if defined(__x86_64__)
#define TOOL_MACHINE EM_X86_64
#define TOOL_MACHINE_NAME "64-bit x86"
/* Are instructions replaced that have trapped, and is there virtual time? */
#define TOOL_IS_X86 true
#elif defined(__aarch64__)
#define TOOL_MACHINE EM_AARCH64
#define TOOL_MACHINE_NAME "arm64"
#define TOOL_IS_X86 false
#elif defined(__riscv)
#define TOOL_MACHINE EM_RISCV
#define TOOL_MACHINE_NAME "64-bit RISC-V"
#define TOOL_IS_X86 false
#endif

#endif
