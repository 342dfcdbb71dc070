/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Section numbers are those of the Intel 64 and IA-32 Architectures Software
 * Developer's Manual, volume 2.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "libmimic/base/decode_internal.h"

/* --- prefixes ------------------------------------------------------------ */

/* A legacy prefix takes effect and true is returned; anything else: false. */
static bool mimic_decode_legacy_prefix(struct decoder *decoder, uint8_t byte)
{
	struct mimic_instruction *instruction = decoder->instruction;

	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e:
		/*
		 * es, cs, ss, ds are null prefixes in 64-bit mode (volume 1, 3.4.2.1):
		 * they do not even take an earlier fs or gs back.
		 */
		return true;
	case 0x64:
		instruction->segment = MIMIC_SEGMENT_FS;
		return true;
	case 0x65:
		instruction->segment = MIMIC_SEGMENT_GS;
		return true;
	case 0x66:
		decoder->operand_16 = true;
		return true;
	case 0x67:
		instruction->address_size = 4;
		return true;
	case 0xf0:
		decoder->lock = true;
		return true;
	case 0xf2: case 0xf3:
		decoder->repeat = byte;
		return true;
	}
	return false;
}

/* Reads all prefixes and returns the byte after them. */
static uint8_t mimic_decode_prefixes(struct decoder *decoder)
{
	uint8_t rex = 0;
	uint8_t byte;

	for (;;) {
		byte = mimic_decode_fetch_byte(decoder);
		if ((byte & 0xf0) == 0x40) {
			rex = byte;
			continue;
		}
		if (!mimic_decode_legacy_prefix(decoder, byte))
			break;
		/* A REX that does not stand right before the opcode is ignored (2.2.1). */
		rex = 0;
	}
	decoder->rex = rex != 0;
	decoder->w = rex & 8;
	decoder->reg_high = rex & 4 ? 8 : 0;
	decoder->index_high = rex & 2 ? 8 : 0;
	decoder->base_high = rex & 1 ? 8 : 0;
	return byte;
}

/* --- general registers --------------------------------------------------- */

/* REX.W goes before 66 (2.2.1.2). */
static unsigned int mimic_decode_operand_size(const struct decoder *decoder)
{
	return decoder->w ? 8 : decoder->operand_16 ? 2 : 4;
}

/* The lowest bit of nearly every opcode: 0 for bytes. */
static unsigned int mimic_decode_size_of(const struct decoder *decoder, uint8_t opcode)
{
	return opcode & 1 ? mimic_decode_operand_size(decoder) : 1;
}

static void mimic_decode_general_register(struct decoder *decoder, unsigned int number, unsigned int size)
{
	struct mimic_instruction *instruction = decoder->instruction;

	instruction->operand = MIMIC_OPERAND_GENERAL;
	instruction->register_size = size;
	instruction->high_byte = size == 1 && !decoder->rex && number >= 4;
	instruction->reg = instruction->high_byte ? number - 4 : number;
}

static int mimic_decode_general(struct decoder *decoder, bool is_write, unsigned int memory_size,
				unsigned int register_size)
{
	struct mimic_instruction *instruction = decoder->instruction;
	int error = mimic_decode_memory(decoder);

	if (error)
		return error;
	instruction->is_write = is_write;
	instruction->memory_size = memory_size;
	mimic_decode_general_register(decoder, decoder->modrm_reg | decoder->reg_high, register_size);
	return 0;
}

static int mimic_decode_extending(struct decoder *decoder, unsigned int memory_size, bool sign)
{
	decoder->instruction->sign_extend = sign;
	return mimic_decode_general(decoder, false, memory_size, mimic_decode_operand_size(decoder));
}

/* mov between al, ax, eax, rax and an address in the instruction (A0 to A3). */
static int mimic_decode_absolute(struct decoder *decoder, uint8_t opcode)
{
	struct mimic_instruction *instruction = decoder->instruction;

	instruction->displacement = (int64_t)mimic_decode_fetch(decoder, instruction->address_size);
	instruction->is_write = opcode >= 0xa2;
	instruction->memory_size = mimic_decode_size_of(decoder, opcode);
	mimic_decode_general_register(decoder, 0, instruction->memory_size);
	return 0;
}

static bool mimic_decode_only_reads(unsigned int operation)
{
	return operation == MIMIC_OPERATION_CMP || operation == MIMIC_OPERATION_TEST;
}

/* Memory that is the first operand of an operation, or the target of a move. */
static void mimic_decode_first_operand(struct decoder *decoder, unsigned int operation, unsigned int size)
{
	struct mimic_instruction *instruction = decoder->instruction;

	instruction->operation = operation;
	instruction->is_write = operation == MIMIC_OPERATION_MOVE;
	instruction->is_update = !instruction->is_write && !mimic_decode_only_reads(operation);
	instruction->memory_first = !instruction->is_write;
	instruction->memory_size = size;
}

/* After ModRM: an immediate of `bytes`, with memory of `size`. */
static int mimic_decode_immediate(struct decoder *decoder, unsigned int operation, unsigned int size,
				  unsigned int bytes)
{
	struct mimic_instruction *instruction = decoder->instruction;

	mimic_decode_first_operand(decoder, operation, size);
	instruction->operand = MIMIC_OPERAND_IMMEDIATE;
	instruction->register_size = size;
	if (bytes)
		instruction->immediate = (uint64_t)mimic_decode_fetch_signed(decoder, bytes);
	return 0;
}

/* There is no 8-byte immediate with memory: 4 bytes are sign extended. */
static unsigned int mimic_decode_immediate_size(unsigned int size)
{
	return size == 8 ? 4 : size;
}

/* Opcodes whose ModRM.reg selects the instruction. */
static int mimic_decode_group(struct decoder *decoder, uint8_t opcode)
{
	unsigned int size = mimic_decode_size_of(decoder, opcode);
	unsigned int bytes = mimic_decode_immediate_size(size);
	int error = mimic_decode_memory(decoder);
	unsigned int which = decoder->modrm_reg;

	if (error)
		return error;
	switch (opcode) {
	case 0x80: case 0x81:
		return mimic_decode_immediate(decoder, which, size, bytes);
	case 0x83:
		return mimic_decode_immediate(decoder, which, size, 1);
	case 0xc6: case 0xc7:
		return which ? -EOPNOTSUPP : mimic_decode_immediate(decoder, MIMIC_OPERATION_MOVE, size, bytes);
	case 0xf6: case 0xf7:
		/* /1 is an undocumented twin of /0. */
		if (which < 2)
			return mimic_decode_immediate(decoder, MIMIC_OPERATION_TEST, size, bytes);
		if (which > 3)
			return -EOPNOTSUPP;
		return mimic_decode_immediate(decoder, MIMIC_OPERATION_NOT + which - 2, size, 0);
	}
	if (which > 1)
		return -EOPNOTSUPP;
	decoder->instruction->immediate = 1;
	return mimic_decode_immediate(decoder, MIMIC_OPERATION_INC + which, size, 0);
}

/* Opcodes 00 to 3F: eight operations, each with memory as destination (0, 1) or source (2, 3). */
static int mimic_decode_arithmetic(struct decoder *decoder, uint8_t opcode)
{
	unsigned int size = mimic_decode_size_of(decoder, opcode);
	unsigned int form = opcode & 7;
	int error;

	if (form > 3)
		return -EOPNOTSUPP;
	error = mimic_decode_general(decoder, false, size, size);
	if (form < 2)
		mimic_decode_first_operand(decoder, opcode >> 3, size);
	else
		decoder->instruction->operation = opcode >> 3;
	return error;
}

/*
 * Opcodes D8 to DF, by ModRM.reg: bytes of memory, and STORES. 0: an
 * environment, 10 bytes, or no instruction.
 */
#define STORES 0x80

static const uint8_t x87_bytes[8][8] = {
	{ 4, 4, 4, 4, 4, 4, 4, 4 },
	{ 4, 0, 4 | STORES, 4 | STORES, 0, 0, 0, 0 },
	{ 4, 4, 4, 4, 4, 4, 4, 4 },
	{ 4, 4 | STORES, 4 | STORES, 4 | STORES, 0, 0, 0, 0 },
	{ 8, 8, 8, 8, 8, 8, 8, 8 },
	{ 8, 8 | STORES, 8 | STORES, 8 | STORES, 0, 0, 0, 0 },
	{ 2, 2, 2, 2, 2, 2, 2, 2 },
	{ 2, 2 | STORES, 2 | STORES, 2 | STORES, 0, 8, 0, 8 | STORES },
};

static int mimic_decode_x87(struct decoder *decoder, uint8_t opcode)
{
	struct mimic_instruction *instruction = decoder->instruction;
	int error = mimic_decode_memory(decoder);
	uint8_t bytes;

	if (error)
		return error;
	bytes = x87_bytes[opcode & 7][decoder->modrm_reg];
	if (!bytes)
		return -EOPNOTSUPP;
	instruction->operand = MIMIC_OPERAND_X87;
	instruction->is_write = !!(bytes & STORES);
	instruction->memory_size = bytes & ~STORES;
	instruction->register_size = instruction->memory_size;
	instruction->reg = (opcode & 7) << 3 | decoder->modrm_reg;
	return 0;
}

static int mimic_decode_primary_map(struct decoder *decoder, uint8_t opcode)
{
	unsigned int size = mimic_decode_size_of(decoder, opcode);
	int error;

	switch (opcode) {
	case 0x88: case 0x89:
		return mimic_decode_general(decoder, true, size, size);
	case 0x8a: case 0x8b:
		return mimic_decode_general(decoder, false, size, size);
	case 0xa0: case 0xa1: case 0xa2: case 0xa3:
		return mimic_decode_absolute(decoder, opcode);
	case 0x80: case 0x81: case 0x83: case 0xc6: case 0xc7: case 0xf6: case 0xf7: case 0xfe: case 0xff:
		return mimic_decode_group(decoder, opcode);
	case 0xd8: case 0xd9: case 0xda: case 0xdb: case 0xdc: case 0xdd: case 0xde: case 0xdf:
		return mimic_decode_x87(decoder, opcode);
	case 0x63:
		/* movsxd; without REX.W it extends nothing, and with 66 it reads 2 bytes. */
		size = mimic_decode_operand_size(decoder);
		return mimic_decode_extending(decoder, size == 8 ? 4 : size, true);
	case 0x84: case 0x85:
		decoder->instruction->operation = MIMIC_OPERATION_TEST;
		decoder->instruction->memory_first = 1;
		return mimic_decode_general(decoder, false, size, size);
	case 0x86: case 0x87:
		/* xchg with memory locks without being asked to. */
		error = mimic_decode_memory(decoder);
		return error ? error : -ENOLCK;
	}
	return opcode < 0x40 ? mimic_decode_arithmetic(decoder, opcode) : -EOPNOTSUPP;
}

/* --- opcode maps of the legacy encoding ---------------------------------- */

/* F2 and F3 go before 66 as mandatory prefixes (2.1.2), the last of them counts. */
static uint8_t mimic_decode_mandatory_prefix(const struct decoder *decoder)
{
	if (decoder->repeat)
		return decoder->repeat == 0xf3 ? P_F3 : P_F2;
	return decoder->operand_16 ? P_66 : P_NONE;
}

static int mimic_decode_map_0f38(struct decoder *decoder)
{
	uint8_t opcode = mimic_decode_fetch_byte(decoder);
	unsigned int size;

	if ((opcode & 0xfe) != 0xf0)
		return mimic_decode_vector(decoder, 2, opcode);
	/* With F2 this is crc32, with F3 it is nothing. */
	if (decoder->repeat)
		return -EOPNOTSUPP;
	decoder->instruction->byte_swap = 1;
	size = mimic_decode_operand_size(decoder);
	return mimic_decode_general(decoder, opcode == 0xf1, size, size);
}

static int mimic_decode_map_0f(struct decoder *decoder)
{
	uint8_t opcode = mimic_decode_fetch_byte(decoder);

	decoder->mandatory = mimic_decode_mandatory_prefix(decoder);
	switch (opcode) {
	case 0x38:
		return mimic_decode_map_0f38(decoder);
	case 0xb6: case 0xb7:
		return mimic_decode_extending(decoder, opcode & 1 ? 2 : 1, false);
	case 0xbe: case 0xbf:
		return mimic_decode_extending(decoder, opcode & 1 ? 2 : 1, true);
	case 0xc3:
		/* movnti is invalid with any prefix that others use as mandatory. */
		if (decoder->mandatory != P_NONE)
			return -EOPNOTSUPP;
		return mimic_decode_general(decoder, true, mimic_decode_operand_size(decoder),
					    mimic_decode_operand_size(decoder));
	}
	return mimic_decode_vector(decoder, 1, opcode);
}

static int mimic_decode_all(struct decoder *decoder)
{
	uint8_t opcode = mimic_decode_prefixes(decoder);

	/* With anything but an update of memory it is invalid. */
	if (decoder->lock)
		return -ENOLCK;
	switch (opcode) {
	case 0x0f:
		return mimic_decode_map_0f(decoder);
	case 0xc4: case 0xc5:
		return mimic_decode_vex(decoder, opcode);
	case 0x62:
		return mimic_decode_evex(decoder);
	}
	return mimic_decode_primary_map(decoder, opcode);
}

int mimic_decode(const uint8_t *bytes, size_t available, struct mimic_instruction *instruction)
{
	struct decoder decoder = {
		.instruction = instruction,
		.bytes = bytes,
		.available = available < MIMIC_INSTRUCTION_MAX ? available : MIMIC_INSTRUCTION_MAX,
		.encoding = LEGACY,
		.vector_size = 16,
		.displacement_unit = 1,
	};
	int error;

	*instruction = (struct mimic_instruction){
		.operation = MIMIC_OPERATION_MOVE,
		.merge_register = MIMIC_NO_REGISTER,
		.base = MIMIC_NO_REGISTER,
		.index = MIMIC_NO_REGISTER,
		.address_size = 8,
	};
	error = mimic_decode_all(&decoder);
	/* More than 15 bytes are an invalid instruction (2.3.11). */
	if (decoder.is_short)
		return available < MIMIC_INSTRUCTION_MAX ? -ENODATA : -EOPNOTSUPP;
	instruction->length = decoder.position;
	return error;
}

uint64_t mimic_effective_address(const struct mimic_instruction *instruction,
				 const uint64_t gpr[16], uint64_t rip,
				 uint64_t fs_base, uint64_t gs_base)
{
	uint64_t address = (uint64_t)instruction->displacement;

	if (instruction->rip_relative)
		address += rip + instruction->length;
	if (instruction->base != MIMIC_NO_REGISTER)
		address += gpr[instruction->base];
	if (instruction->index != MIMIC_NO_REGISTER)
		address += gpr[instruction->index] * instruction->scale;
	if (instruction->address_size == 4)
		address = (uint32_t)address;
	if (instruction->segment == MIMIC_SEGMENT_FS)
		address += fs_base;
	else if (instruction->segment == MIMIC_SEGMENT_GS)
		address += gs_base;
	return address;
}
