/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of the template device, each listed once: a small adder, made to be copied
 * (docs/your-device.md).
 *
 * Two numbers go in, START adds them, a little later their sum is there and the device
 * raises its interrupt. Page 0 is for programs, page 1 for the driver. Registers have 64 bits
 * and take accesses of 8 bytes; any other access reads 0, is dropped and counted.
 *
 * Programs, the driver and the model include this file: it needs no other.
 */
#ifndef TEMPLATE_REGISTERS_H
#define TEMPLATE_REGISTERS_H

#define TEMPLATE_PAGE_USER 0
#define TEMPLATE_PAGE_CONTROL 1
#define TEMPLATE_PAGE_COUNT 2

#define TEMPLATE_MAGIC 0x54504c54ull
#define TEMPLATE_VERSION 1
#define TEMPLATE_IDENTITY (TEMPLATE_MAGIC << 32 | TEMPLATE_VERSION)

#define TEMPLATE_EVENT_DONE 1u

/* The calls of its nodes (mimic/accelerator_ioctl.h): the type in their numbers, INFO's version. */
#define TEMPLATE_IOCTL 0xba
#define TEMPLATE_ABI_VERSION 1

/*
 * _(offset, NAME, access (R load, W store, RW), reset value, role between device and driver
 * (devices/register.h), how it is shown, meaning)
 */
#define TEMPLATE_USER_REGISTERS(_) \
	_(0x00, A, RW, 0, NONE, DECIMAL, "the first number") \
	_(0x08, B, RW, 0, NONE, DECIMAL, "the second number") \
	_(0x10, START, W, 0, NONE, HEX, "any value: waits for an addition that is under way, then adds A and B") \
	_(0x18, SUM, R, 0, NONE, DECIMAL, "the last sum; waits for an addition that is under way") \
	_(0x20, COUNT, R, 0, NONE, DECIMAL, "additions done")

/* The same of the driver's page. */
#define TEMPLATE_CONTROL_REGISTERS(_) \
	_(0x00, IDENTIFY, R, TEMPLATE_IDENTITY, IDENTIFY, HEX, "magic [63:32], version [31:0]") \
	_(0x08, EVENTS, R, 0, NONE, HEX, "causes of the interrupt: bit 0, an addition is done") \
	_(0x10, ACKNOWLEDGE, W, 0, NONE, HEX, "the events that are 1 here go")

/* TEMPLATE_A, ...: offsets in their page */
enum template_register {
#define _(offset, name, access, reset, role, format, meaning) TEMPLATE_##name = offset,
	TEMPLATE_USER_REGISTERS(_)
	TEMPLATE_CONTROL_REGISTERS(_)
#undef _
};

/* _(name, meaning): the device's counters, cleared by power-on only */
#define TEMPLATE_COUNTERS(_) \
	_(additions, "sums that were made") \
	_(waits, "accesses that had to wait") \
	_(illegal, "accesses of no register, or of the wrong kind: 0 or dropped")

enum template_counter {
#define _(name, meaning) TEMPLATE_COUNTER_##name,
	TEMPLATE_COUNTERS(_)
#undef _
	TEMPLATE_COUNTER_COUNT
};

#endif
