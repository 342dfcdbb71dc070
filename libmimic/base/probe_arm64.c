/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The steps of probe_steps.c on arm64. Up to mimic_probe_steps_bytes words are copied: after a fault there, the
 * rest goes byte by byte. From there on a fault ends the step with X2, which is not 0.
 */
#include "libmimic/base/probe_internal.h"

#if MIMIC_PROBE_STEPS && defined(__aarch64__)

#define FUNCTION(name) \
	"	.globl " #name "\n	.hidden " #name "\n	.type " #name ", %function\n" #name ":\n"
#define END(name) "	.size " #name ", . - " #name "\n"
#define LABEL(name) "	.globl " #name "\n	.hidden " #name "\n" #name ":\n"

__asm__("	.text\n	.balign 16\n"
	LABEL(mimic_probe_steps_start)
	FUNCTION(mimic_probe_step_copy)		/* X0 to, X1 from, X2 bytes */
	"1:	cmp	x2, #8\n"
	"	b.lo	2f\n"
	"	ldr	x4, [x1]\n"
	"	str	x4, [x0]\n"
	"	add	x1, x1, #8\n"
	"	add	x0, x0, #8\n"
	"	sub	x2, x2, #8\n"
	"	b	1b\n"
	"2:	cmp	x2, #4\n"
	"	b.lo	mimic_probe_steps_bytes\n"
	"	ldr	w4, [x1]\n"
	"	str	w4, [x0]\n"
	"	add	x1, x1, #4\n"
	"	add	x0, x0, #4\n"
	"	sub	x2, x2, #4\n"
	LABEL(mimic_probe_steps_bytes)
	"	cbz	x2, 3f\n"
	"	ldrb	w4, [x1]\n"
	"	strb	w4, [x0]\n"
	"	add	x1, x1, #1\n"
	"	add	x0, x0, #1\n"
	"	sub	x2, x2, #1\n"
	"	b	mimic_probe_steps_bytes\n"
	LABEL(mimic_probe_steps_failed)
	"3:	mov	x0, x2\n"
	"	ret\n"
	END(mimic_probe_step_copy)

	FUNCTION(mimic_probe_step_load32)	/* X0 address, X1 value */
	"	mov	x2, #1\n"
	"	ldr	w4, [x0]\n"
	"	str	w4, [x1]\n"
	"	mov	x0, #0\n"
	"	ret\n"
	END(mimic_probe_step_load32)

	FUNCTION(mimic_probe_step_load64)
	"	mov	x2, #1\n"
	"	ldr	x4, [x0]\n"
	"	str	x4, [x1]\n"
	"	mov	x0, #0\n"
	"	ret\n"
	END(mimic_probe_step_load64)

	FUNCTION(mimic_probe_step_add32)	/* X0 address, W1 operand, X2 old value */
	"1:	ldaxr	w4, [x0]\n"
	"	add	w5, w4, w1\n"
	"	stlxr	w6, w5, [x0]\n"
	"	cbnz	w6, 1b\n"
	"	str	w4, [x2]\n"
	"	mov	x0, #0\n"
	"	ret\n"
	END(mimic_probe_step_add32)

	FUNCTION(mimic_probe_step_swap32)
	"1:	ldaxr	w4, [x0]\n"
	"	stlxr	w6, w1, [x0]\n"
	"	cbnz	w6, 1b\n"
	"	str	w4, [x2]\n"
	"	mov	x0, #0\n"
	"	ret\n"
	END(mimic_probe_step_swap32)

	FUNCTION(mimic_probe_step_cas32)	/* X0 address, W1 desired, X2 old value, W3 expected */
	"1:	ldaxr	w4, [x0]\n"
	"	cmp	w4, w3\n"
	"	csel	w5, w1, w4, eq\n"	/* where it does not match, the old value: it has to be writable */
	"	stlxr	w6, w5, [x0]\n"
	"	cbnz	w6, 1b\n"
	"	str	w4, [x2]\n"
	"	mov	x0, #0\n"
	"	ret\n"
	END(mimic_probe_step_cas32)
	LABEL(mimic_probe_steps_end));

#endif
