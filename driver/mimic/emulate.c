// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/processor-flags.h>
#include <asm/processor.h>

#include "compat.h"
#include "emulate.h"

/* Hardware number to place in struct pt_regs. */
static const u16 offset_of[16] = {
	offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
	offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
	offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
	offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
	offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
	offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
};

static unsigned long *mimic_emulate_register(struct pt_regs *regs, unsigned int number)
{
	return (unsigned long *)((u8 *)regs + offset_of[number]);
}

static void mimic_emulate_get_registers(struct mimic_registers *registers, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offset_of); i++)
		registers->gpr[i] = *mimic_emulate_register(regs, i);
	registers->flags = regs->flags;
}

/*
 * The next page is touched only if the instruction goes on in it: it may be
 * absent for good, or not be executable, or be the device's own.
 */
static int mimic_emulate_decode_code(unsigned long ip, struct mimic_instruction *instruction)
{
	const u8 __user *code = (const u8 __user *)ip;
	size_t available = min_t(size_t, PAGE_SIZE - offset_in_page(ip), MIMIC_INSTRUCTION_MAX);
	u8 bytes[MIMIC_INSTRUCTION_MAX];
	int error;

	if (copy_from_user_nofault(bytes, code, available))
		return -EFAULT;
	error = mimic_decode(bytes, available, instruction);
	if (error != -ENODATA)
		return error;
	if (copy_from_user_nofault(bytes + available, code + available,
				   MIMIC_INSTRUCTION_MAX - available))
		return -EFAULT;
	return mimic_decode(bytes, MIMIC_INSTRUCTION_MAX, instruction);
}

static u64 mimic_emulate_address(const struct mimic_instruction *instruction, struct pt_regs *regs)
{
	struct mimic_registers registers;
	u64 fs_base = 0, gs_base = 0;

	mimic_emulate_get_registers(&registers, regs);
	/*
	 * From the processor: where user space may write them (FSGSBASE) the task's
	 * copies are those of the last context switch.
	 */
	if (instruction->segment != MIMIC_SEGMENT_NONE) {
		fs_base = mimic_user_fs_base();
		gs_base = mimic_user_gs_base();
	}
	return mimic_effective_address(instruction, registers.gpr, regs->ip, fs_base, gs_base);
}

int mimic_emulate_decode(struct pt_regs *regs, struct mimic_instruction *instruction,
			 u64 *address)
{
	int error;

	if (!user_64bit_mode(regs))
		return -EOPNOTSUPP;
	error = mimic_emulate_decode_code(regs->ip, instruction);
	if (error)
		return error;
	if (instruction->operand == MIMIC_OPERAND_VECTOR ||
	    instruction->operand == MIMIC_OPERAND_X87)
		return -EOPNOTSUPP;
	*address = mimic_emulate_address(instruction, regs);
	return 0;
}

int mimic_emulate_fault_in(struct pt_regs *regs)
{
	const char __user *code = (const char __user *)regs->ip;

	if (fault_in_readable(code, 1))
		return -EFAULT;
	/* The next page only by trying: the instruction may well end before it. */
	fault_in_readable(code, MIMIC_INSTRUCTION_MAX);
	return 0;
}

u64 mimic_emulate_store_value(const struct mimic_instruction *instruction,
			      struct pt_regs *regs)
{
	struct mimic_registers registers;

	mimic_emulate_get_registers(&registers, regs);
	return mimic_operate_store_value(instruction, &registers);
}

u64 mimic_emulate_update_value(const struct mimic_instruction *instruction,
			       struct pt_regs *regs, u64 memory)
{
	struct mimic_registers registers;

	mimic_emulate_get_registers(&registers, regs);
	return mimic_operate_update_value(instruction, &registers, memory);
}

static void mimic_emulate_finish_load(const struct mimic_instruction *instruction,
				      struct pt_regs *regs, u64 memory)
{
	struct mimic_registers registers;

	mimic_emulate_get_registers(&registers, regs);
	mimic_operate_load(instruction, &registers, memory);
	regs->flags = registers.flags;
	if (instruction->operand == MIMIC_OPERAND_GENERAL)
		*mimic_emulate_register(regs, instruction->reg) = registers.gpr[instruction->reg];
}

/*
 * The processor traps after each instruction while TF is set; this one it has
 * not carried out, so its trap is ours to send, as it would have come: after
 * the step, with the address of the next instruction.
 */
static void mimic_emulate_send_step_trap(unsigned long ip)
{
	struct kernel_siginfo info;

	clear_siginfo(&info);
	info.si_signo = SIGTRAP;
	info.si_code = TRAP_TRACE;
	info.si_addr = (void __user *)ip;
	send_sig_info(SIGTRAP, &info, current);
}

void mimic_emulate_finish(const struct mimic_instruction *instruction, struct pt_regs *regs,
			  u64 memory)
{
	if (!instruction->is_write)
		mimic_emulate_finish_load(instruction, regs, memory);
	regs->ip += instruction->length;
	/* The fault set it; left alone it would hide a breakpoint at the next instruction. */
	regs->flags &= ~X86_EFLAGS_RF;
	/* With TIF_BLOCKSTEP only branches trap. */
	if ((regs->flags & X86_EFLAGS_TF) && !test_thread_flag(TIF_BLOCKSTEP))
		mimic_emulate_send_step_trap(regs->ip);
}
