/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * x86-64: jumps and trampolines.
 *
 * A jump is E9 and a distance of four bytes, little-endian. Over an instruction of five bytes
 * or more it is written whole. Over a shorter one, the distance's high bytes are those that follow the
 * instruction and are not written: they say roughly where the jump leads, and a
 * trampoline has to be there. Prefixes before E9 (48 and others that change nothing of a jump) move
 * the distance, and give other places to choose from.
 */
#include <string.h>

#include "libmimic/preload/patch_plan.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define JUMP_OPCODE 0xe9u
#define JUMP_SIZE 5u /* without prefixes */
#define CONDITIONAL_SIZE 6u
#define PREFIX 0x48u
#define PREFIXES_MAX 3u

#define RSP 4u
#define RCX 1u

/* Where the parts of a trampoline begin; those behind the original, for an original without bytes. */
enum {
	AT_SAVE = 8,
	AT_ADDRESS = 13,
	AT_BRANCH = 33,
	AT_RESTORE = 35,
	AT_FREE = 40,
	AT_ORIGINAL = 48,
	AT_BACK = 48,
	AT_DEVICE = 53,
	AT_RETURNED = 72,
	AT_REFUSED = 74,
	AT_DONE = 76,
	AT_DONE_FREE = 81,
	AT_DONE_BACK = 89,
	AT_ENTER = 94,
	AT_SITE = 102,
	CODE_SIZE = 110,
};

_Static_assert(AT_SITE - AT_RETURNED == PATCH_SITE_OFFSET, "the stub finds the site from its return address");
_Static_assert(CODE_SIZE + MIMIC_INSTRUCTION_MAX <= PATCH_CODE_MAX, "a trampoline has room");

static bool fits_32(int64_t value)
{
	return value == (int32_t)value;
}

/* The displacement of the address while the stack pointer is PATCH_ROOM too low. */
static int64_t displacement(const struct mimic_instruction *instruction)
{
	return instruction->displacement + (instruction->base == RSP ? PATCH_ROOM : 0);
}

enum patch_refusal mimic_preload_patch_form(const struct mimic_instruction *instruction)
{
	if (instruction->rip_relative || instruction->segment != MIMIC_SEGMENT_NONE ||
	    instruction->address_size != 8 || !fits_32(displacement(instruction)))
		return PATCH_FORM;
	if (instruction->operand == MIMIC_OPERAND_VECTOR || instruction->operand == MIMIC_OPERAND_X87 ||
	    instruction->is_update)
		return PATCH_FORM;
	if (instruction->operand == MIMIC_OPERAND_GENERAL && instruction->reg == RSP)
		return PATCH_FORM;
	return PATCH_FITS;
}

/* false: a part of its range is no address of a program. */
static bool make_window(uintptr_t address, const uint8_t *bytes, unsigned int length, unsigned int prefixes,
			struct patch_window *window)
{
	unsigned int end = prefixes + JUMP_SIZE;
	unsigned int free_bytes = length >= end ? 4 : length - prefixes - 1;
	uint64_t fixed = 0;
	int64_t low, high;
	unsigned int i;

	for (i = free_bytes; i < 4; i++)
		fixed |= (uint64_t)bytes[prefixes + 1 + i] << (8 * i);
	if (free_bytes == 4) {
		low = INT32_MIN;
		high = INT32_MAX;
	} else {
		low = (int32_t)fixed;
		high = low + (1ll << (8 * free_bytes)) - 1;
	}
	low += (int64_t)(address + end);
	high += (int64_t)(address + end);
	*window = (struct patch_window){
		.first = low > 0 ? (uintptr_t)low : 0,
		.last = (uintptr_t)high,
		.way = free_bytes == 4 ? PATCH_DIRECT
		       : prefixes      ? PATCH_PADDED
				       : PATCH_PUNNED,
		.prefixes = (uint8_t)prefixes,
		.changed = (uint8_t)(length < end ? length : end),
		.borrowed = (uint8_t)(length < end ? end - length : 0),
		.prefix = PREFIX,
	};
	return high > 0;
}

unsigned int mimic_preload_patch_windows(uintptr_t address, const uint8_t *bytes, size_t available,
					 unsigned int length, struct patch_window windows[PATCH_WINDOWS_MAX])
{
	unsigned int count = 0;
	unsigned int prefixes;

	/* An instruction of one byte has no room for any part of a distance; nor is there a load of one byte.
	 */
	for (prefixes = 0; prefixes <= PREFIXES_MAX && prefixes + 1 <= length && length > 1; prefixes++) {
		if (prefixes + JUMP_SIZE > available && prefixes + JUMP_SIZE > length)
			break;
		if (make_window(address, bytes, length, prefixes, &windows[count]))
			count++;
		if (length >= prefixes + JUMP_SIZE)
			break;
	}
	return count;
}

bool mimic_preload_patch_is_same_window(const struct patch_window *window, const struct patch_window *other)
{
	return window->first == other->first && window->last == other->last &&
	       window->prefixes == other->prefixes && window->changed == other->changed &&
	       window->borrowed == other->borrowed;
}

void mimic_preload_patch_jump(const struct patch_window *window, uintptr_t address, uintptr_t place,
			      uint8_t bytes[PATCH_JUMP_MAX])
{
	uint32_t distance = (uint32_t)(place - (address + window->prefixes + JUMP_SIZE));

	memset(bytes, 0, PATCH_JUMP_MAX);
	memset(bytes, window->prefix, window->prefixes);
	bytes[window->prefixes] = JUMP_OPCODE;
	memcpy(bytes + window->prefixes + 1, &distance, sizeof(distance));
}

size_t mimic_preload_patch_code_size(unsigned int length)
{
	return CODE_SIZE + length;
}

/* --- the trampoline ------------------------------------------------------ */

static void put_32(uint8_t *code, int64_t value)
{
	int32_t word = (int32_t)value;

	memcpy(code, &word, sizeof(word));
}

/* lea distance(%rsp), %rsp: no flags. Eight bytes. */
static void put_move_stack(uint8_t *code, int distance)
{
	memcpy(code, "\x48\x8d\xa4\x24", 4);
	put_32(code + 4, distance);
}

/* Above the place that the stub keeps rax in. Five bytes each. */
static void put_save_rcx(uint8_t *code)
{
	memcpy(code, "\x48\x89\x4c\x24\x08", 5); /* mov %rcx, 8(%rsp) */
}

static void put_restore_rcx(uint8_t *code)
{
	memcpy(code, "\x48\x8b\x4c\x24\x08", 5); /* mov 8(%rsp), %rcx */
}

/* lea of the operand's address into rcx, always of eight bytes: a form that has a SIB byte. */
static void put_address(uint8_t *code, const struct mimic_instruction *instruction)
{
	bool has_base = instruction->base != MIMIC_NO_REGISTER;
	bool has_index = instruction->index != MIMIC_NO_REGISTER;
	unsigned int base = has_base ? instruction->base : 5;
	unsigned int index = has_index ? instruction->index : 4;
	unsigned int scale = has_index ? (unsigned int)__builtin_ctz(instruction->scale) : 0;

	code[0] = (uint8_t)(0x48 | (index >> 3) << 1 | base >> 3);
	code[1] = 0x8d;
	code[2] = (uint8_t)((has_base ? 0x80 : 0x00) | RCX << 3 | 4);
	code[3] = (uint8_t)(scale << 6 | (index & 7) << 3 | (base & 7));
	put_32(code + 4, displacement(instruction));
}

/*
 * rcx becomes 0 if the address in it lies in the block. No flags: a rotation of BMI2 brings the key down,
 * a subtraction by lea compares it, jrcxz branches. Of the key 32 bits are compared; the function that the
 * trampoline calls finds another key that agrees in them by chance.
 */
static void put_compare(uint8_t *code, struct patch_block block)
{
	memcpy(code, "\xc4\xe3\xfb\xf0\xc9", 5);
	code[5] = block.shift;
	memcpy(code + 6, "\x8d\x89", 2);
	put_32(code + 8, -(int64_t)block.key);
}

static bool put_jump(uint8_t *code, unsigned int at, uintptr_t place, uintptr_t to)
{
	int64_t distance = (int64_t)(to - (place + at + JUMP_SIZE));

	code[at] = JUMP_OPCODE;
	put_32(code + at + 1, distance);
	return fits_32(distance);
}

static void put_branch(uint8_t *code, unsigned int at, uint8_t opcode, unsigned int to)
{
	code[at] = opcode;
	code[at + 1] = (uint8_t)(to - (at + 2));
}

bool mimic_preload_patch_code(const struct patch_target *target, uintptr_t place, struct patch_block block,
			      uintptr_t enter, uintptr_t site, uint8_t code[PATCH_CODE_MAX])
{
	unsigned int length = target->instruction.length;
	uintptr_t next = target->address + length;

	put_move_stack(code, -PATCH_ROOM);
	put_save_rcx(code + AT_SAVE);
	put_address(code + AT_ADDRESS, &target->instruction);
	put_compare(code + AT_ADDRESS + 8, block);
	put_branch(code, AT_BRANCH, 0xe3, AT_DEVICE + length); /* jrcxz */
	put_restore_rcx(code + AT_RESTORE);
	put_move_stack(code + AT_FREE, PATCH_ROOM);
	memcpy(code + AT_ORIGINAL, target->bytes, length);
	if (!put_jump(code, AT_BACK + length, place, next))
		return false;
	/* The stub gets the address in rcx. */
	put_restore_rcx(code + AT_DEVICE + length);
	put_address(code + AT_DEVICE + length + 5, &target->instruction);
	memcpy(code + AT_DEVICE + length + 13, "\xff\x15", 2); /* call *AT_ENTER(%rip) */
	put_32(code + AT_DEVICE + length + 15, AT_ENTER - AT_RETURNED);
	put_branch(code, AT_RETURNED + length, 0xe3, AT_DONE + length);
	put_branch(code, AT_REFUSED + length, 0xeb, AT_RESTORE);
	put_restore_rcx(code + AT_DONE + length);
	put_move_stack(code + AT_DONE_FREE + length, PATCH_ROOM);
	memcpy(code + AT_ENTER + length, &enter, sizeof(enter));
	memcpy(code + AT_SITE + length, &site, sizeof(site));
	return put_jump(code, AT_DONE_BACK + length, place, next);
}

unsigned int mimic_preload_patch_moved_length(const struct patch_target *target)
{
	unsigned int length = target->instruction.length;
	struct patch_branch branch;

	if (!mimic_preload_patch_branch(target->bytes, length, &branch))
		return length;
	return branch.is_conditional ? CONDITIONAL_SIZE : JUMP_SIZE;
}

size_t mimic_preload_patch_moved_size(const struct patch_target *target)
{
	return mimic_preload_patch_moved_length(target) + JUMP_SIZE;
}

static bool put_conditional(uint8_t *code, uintptr_t place, uint8_t condition, uintptr_t to)
{
	int64_t distance = (int64_t)(to - (place + CONDITIONAL_SIZE));

	code[0] = 0x0f;
	code[1] = 0x80 | condition;
	put_32(code + 2, distance);
	return fits_32(distance);
}

bool mimic_preload_patch_moved_code(const struct patch_target *target, uintptr_t place,
				    uint8_t code[PATCH_CODE_MAX])
{
	unsigned int length = target->instruction.length;
	uintptr_t next = target->address + length;
	struct patch_branch branch;
	bool reaches = true;

	if (!mimic_preload_patch_branch(target->bytes, length, &branch))
		memcpy(code, target->bytes, length);
	else if (branch.is_conditional)
		reaches = put_conditional(code, place, branch.condition, next + (uintptr_t)(intptr_t)branch.distance);
	else
		reaches = put_jump(code, 0, place, next + (uintptr_t)(intptr_t)branch.distance);
	return put_jump(code, mimic_preload_patch_moved_length(target), place, next) && reaches;
}

unsigned int mimic_preload_patch_original(void)
{
	return AT_ORIGINAL;
}

/* An instruction of the trampoline that a thread stands at has not been executed yet. */
struct patch_moment mimic_preload_patch_moment(unsigned int length, unsigned int offset, uint64_t scratch)
{
	struct patch_moment before = { .has_frame = true, .has_saved = true };
	struct patch_moment after = { .is_after = true, .has_frame = true, .has_saved = true };

	if (offset == 0 || offset == AT_ORIGINAL)
		return (struct patch_moment){ 0 };
	if (offset == AT_SAVE || offset == AT_FREE)
		return (struct patch_moment){ .has_frame = true };
	if (offset < AT_ORIGINAL)
		return before;
	offset -= length;
	if (offset == AT_BACK || offset == AT_DONE_BACK)
		return (struct patch_moment){ .is_after = true };
	if (offset == AT_DONE_FREE)
		return (struct patch_moment){ .is_after = true, .has_frame = true };
	if (offset == AT_DONE || (offset == AT_RETURNED && !scratch))
		return after;
	return before;
}

#else

/* No jumps here yet: everything keeps trapping. */
enum patch_refusal mimic_preload_patch_form(const struct mimic_instruction *instruction)
{
	(void)instruction;
	return PATCH_FORM;
}

unsigned int mimic_preload_patch_windows(uintptr_t address, const uint8_t *bytes, size_t available,
					 unsigned int length, struct patch_window windows[PATCH_WINDOWS_MAX])
{
	(void)address, (void)bytes, (void)available, (void)length, (void)windows;
	return 0;
}

bool mimic_preload_patch_is_same_window(const struct patch_window *window, const struct patch_window *other)
{
	(void)window, (void)other;
	return false;
}

void mimic_preload_patch_jump(const struct patch_window *window, uintptr_t address, uintptr_t place,
			      uint8_t bytes[PATCH_JUMP_MAX])
{
	(void)window, (void)address, (void)place, (void)bytes;
}

size_t mimic_preload_patch_code_size(unsigned int length)
{
	return length;
}

bool mimic_preload_patch_code(const struct patch_target *target, uintptr_t place, struct patch_block block,
			      uintptr_t enter, uintptr_t site, uint8_t code[PATCH_CODE_MAX])
{
	(void)target, (void)place, (void)block, (void)enter, (void)site, (void)code;
	return false;
}

unsigned int mimic_preload_patch_moved_length(const struct patch_target *target)
{
	return target->instruction.length;
}

size_t mimic_preload_patch_moved_size(const struct patch_target *target)
{
	return target->instruction.length;
}

bool mimic_preload_patch_moved_code(const struct patch_target *target, uintptr_t place,
				    uint8_t code[PATCH_CODE_MAX])
{
	(void)target, (void)place, (void)code;
	return false;
}

struct patch_moment mimic_preload_patch_moment(unsigned int length, unsigned int offset, uint64_t scratch)
{
	(void)length, (void)offset, (void)scratch;
	return (struct patch_moment){ 0 };
}

unsigned int mimic_preload_patch_original(void)
{
	return 0;
}

#endif
