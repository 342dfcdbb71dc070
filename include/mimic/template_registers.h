/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of the template device, each listed once: a small adder, made to
 * be copied. docs/writing-a-driver.md says how.
 *
 * Two numbers go in, START adds them, a little later their sum is there and the
 * device raises its interrupt. Page 0 is for programs, page 1 for the driver.
 */
#ifndef MIMIC_TEMPLATE_REGISTERS_H
#define MIMIC_TEMPLATE_REGISTERS_H

/* _(number, name, meaning) */
#define TEMPLATE_PAGES(_) \
	_(0, USER, "operands and results; programs map it") \
	_(1, CONTROL, "identity and events; the driver's")

/* _(page, offset, name, access, reset value, meaning); access: R, W or RW; all of 8 bytes */
#define TEMPLATE_REGISTERS(_) \
	_(USER, 0x00, A, RW, 0, "the first number") \
	_(USER, 0x08, B, RW, 0, "the second number") \
	_(USER, 0x10, START, W, 0, "any value: waits for an addition that is under way, then adds A and B") \
	_(USER, 0x18, SUM, R, 0, "the last sum; waits for an addition that is under way") \
	_(USER, 0x20, COUNT, R, 0, "additions done") \
	_(CONTROL, 0x00, IDENTIFY, R, TEMPLATE_IDENTITY, "magic [63:32], version [31:0]") \
	_(CONTROL, 0x08, EVENTS, R, 0, "what the interrupt is about: 1, an addition is done") \
	_(CONTROL, 0x10, ACKNOWLEDGE, W, 0, "the events that are 1 here go")

#define TEMPLATE_MAGIC 0x54504c54ull
#define TEMPLATE_VERSION 1
#define TEMPLATE_IDENTITY (TEMPLATE_MAGIC << 32 | TEMPLATE_VERSION)

#define TEMPLATE_EVENT_DONE 1u

enum template_page {
#define _(number, name, meaning) TEMPLATE_PAGE_##name = number,
	TEMPLATE_PAGES(_)
#undef _
	TEMPLATE_PAGE_COUNT
};

/* TEMPLATE_A, ...: offsets in their page */
enum template_offset {
#define _(page, offset, name, access, reset, meaning) TEMPLATE_##name = offset,
	TEMPLATE_REGISTERS(_)
#undef _
};

#endif
