/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The registers of the device, for the model and for programs. All have 64 bits. */
#ifndef CHECKSUM_REGISTERS_H
#define CHECKSUM_REGISTERS_H

/* _(offset, NAME, access, value after reset, role between device and driver, format, meaning) */
#define CHECKSUM_REGISTERS(_) \
	_(0x00, IDENTIFY, R, 0, IDENTIFY, HEX, "number of this kind of device") \
	_(0x08, ADDRESS, RW, 0, NONE, HEX, "where the bytes begin, in the program's memory") \
	_(0x10, LENGTH, W, 0, NONE, DECIMAL, "adds up so many bytes, at once") \
	_(0x18, SUM, R, 0, NONE, DECIMAL, "of the last LENGTH") \
	_(0x20, STATUS, R, 0, NONE, DECIMAL, "0: SUM is right; 1: no memory there; 2: LENGTH was too large") \
	_(0x28, RESET, W, 0, RESET, HEX, "all registers as after power-on")

enum checksum_register {
#define _(offset, name, access, reset, role, format, meaning) CHECKSUM_##name = offset,
	CHECKSUM_REGISTERS(_)
#undef _
};

#define CHECKSUM_MAGIC 0x636b73756dull	/* "cksum" */

#endif
