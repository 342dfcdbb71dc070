/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The steps of probe_steps.c on RISC-V. Up to mimic_probe_steps_bytes words are copied, which are aligned: others
 * may take a trap each, or none may. After a fault there, the rest goes byte by byte. From there on a fault ends
 * the step with a2, which is not 0.
 */
#include "libmimic/base/probe_internal.h"

#if MIMIC_PROBE_STEPS && defined(__riscv)

#define FUNCTION(name) \
	"	.globl " #name "\n	.hidden " #name "\n	.type " #name ", @function\n" #name ":\n"
#define END(name) "	.size " #name ", . - " #name "\n"
#define LABEL(name) "	.globl " #name "\n	.hidden " #name "\n" #name ":\n"

__asm__("	.text\n	.balign 16\n"
	LABEL(mimic_probe_steps_start)
	FUNCTION(mimic_probe_step_copy)		/* a0 to, a1 from, a2 bytes */
	"	or	a3, a0, a1\n"
	"	andi	a4, a3, 7\n"
	"	li	a5, 8\n"
	"	bnez	a4, 2f\n"
	"1:	bltu	a2, a5, 2f\n"
	"	ld	a4, 0(a1)\n"
	"	sd	a4, 0(a0)\n"
	"	addi	a1, a1, 8\n"
	"	addi	a0, a0, 8\n"
	"	addi	a2, a2, -8\n"
	"	j	1b\n"
	"2:	andi	a4, a3, 3\n"
	"	li	a5, 4\n"
	"	bnez	a4, mimic_probe_steps_bytes\n"
	"3:	bltu	a2, a5, mimic_probe_steps_bytes\n"
	"	lw	a4, 0(a1)\n"
	"	sw	a4, 0(a0)\n"
	"	addi	a1, a1, 4\n"
	"	addi	a0, a0, 4\n"
	"	addi	a2, a2, -4\n"
	"	j	3b\n"
	LABEL(mimic_probe_steps_bytes)
	"	beqz	a2, 4f\n"
	"	lbu	a4, 0(a1)\n"
	"	sb	a4, 0(a0)\n"
	"	addi	a1, a1, 1\n"
	"	addi	a0, a0, 1\n"
	"	addi	a2, a2, -1\n"
	"	j	mimic_probe_steps_bytes\n"
	LABEL(mimic_probe_steps_failed)
	"4:	mv	a0, a2\n"
	"	ret\n"
	END(mimic_probe_step_copy)

	FUNCTION(mimic_probe_step_load32)	/* a0 address, a1 value */
	"	li	a2, 1\n"
	"	lw	a4, 0(a0)\n"
	"	sw	a4, 0(a1)\n"
	"	li	a0, 0\n"
	"	ret\n"
	END(mimic_probe_step_load32)

	FUNCTION(mimic_probe_step_load64)
	"	li	a2, 1\n"
	"	ld	a4, 0(a0)\n"
	"	sd	a4, 0(a1)\n"
	"	li	a0, 0\n"
	"	ret\n"
	END(mimic_probe_step_load64)

	FUNCTION(mimic_probe_step_add32)	/* a0 address, a1 operand, a2 old value */
	"	amoadd.w.aqrl a4, a1, (a0)\n"
	"	sw	a4, 0(a2)\n"
	"	li	a0, 0\n"
	"	ret\n"
	END(mimic_probe_step_add32)

	FUNCTION(mimic_probe_step_swap32)
	"	amoswap.w.aqrl a4, a1, (a0)\n"
	"	sw	a4, 0(a2)\n"
	"	li	a0, 0\n"
	"	ret\n"
	END(mimic_probe_step_swap32)

	FUNCTION(mimic_probe_step_cas32)	/* a0 address, a1 desired, a2 old value, a3 expected */
	"	sext.w	a3, a3\n"
	"1:	lr.w.aqrl a4, (a0)\n"
	"	mv	a5, a4\n"		/* where it does not match, the old value: it has to be writable */
	"	bne	a4, a3, 2f\n"
	"	mv	a5, a1\n"
	"2:	sc.w.rl	a6, a5, (a0)\n"
	"	bnez	a6, 1b\n"
	"	sw	a4, 0(a2)\n"
	"	li	a0, 0\n"
	"	ret\n"
	END(mimic_probe_step_cas32)
	LABEL(mimic_probe_steps_end));

#endif
