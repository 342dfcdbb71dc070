/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libmimic/base/decode.h"
#include "libmimic/base/emulate.h"
#include "libmimic/base/emulate_transfer.h"
#include "libmimic/base/operate.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/base/x87.h"
#include "mimic/access.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#include <asm/prctl.h>
#include <cpuid.h>

#define VECTOR_MAX 64u

#define TRAP_PAGE_FAULT 14
#define FAULT_INSTRUCTION_FETCH 0x10

#define FLAG_RF 0x10000u

/* Hardware number to place in gregs. */
static const uint8_t greg_of[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* --- finding the instruction and its operands ---------------------------- */

/* The program jumped to where there is no code: its bytes must not be read. */
static bool is_fetch_fault(const ucontext_t *context)
{
	const greg_t *gregs = context->uc_mcontext.gregs;

	return gregs[REG_TRAPNO] == TRAP_PAGE_FAULT && (gregs[REG_ERR] & FAULT_INSTRUCTION_FETCH);
}

static int decode_at(uintptr_t rip, struct mimic_instruction *instruction)
{
	const uint8_t *bytes = (const uint8_t *)rip;
	size_t available = MIMIC_PAGE_SIZE - rip % MIMIC_PAGE_SIZE;
	int error;

	error = mimic_decode(bytes, available, instruction);
	/*
	 * The processor has decoded the instruction before its access faulted, so
	 * the next page is there if the instruction goes on in it, and only then.
	 */
	if (error == -ENODATA)
		error = mimic_decode(bytes, MIMIC_INSTRUCTION_MAX, instruction);
	return error;
}

static uint64_t segment_base(unsigned int segment)
{
	uint64_t base = 0;

	if (segment == MIMIC_SEGMENT_NONE)
		return 0;
	mimic_raw_syscall(SYS_arch_prctl, segment == MIMIC_SEGMENT_FS ? ARCH_GET_FS : ARCH_GET_GS,
		    (long)&base, 0, 0, 0, 0);
	return base;
}

static void get_registers(struct mimic_registers *registers, const greg_t *gregs)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		registers->gpr[i] = (uint64_t)gregs[greg_of[i]];
	registers->flags = (uint64_t)gregs[REG_EFL];
}

static uintptr_t address_of(const struct mimic_instruction *instruction,
			    const struct mimic_registers *registers, uint64_t rip)
{
	uint64_t base = segment_base(instruction->segment);

	return mimic_effective_address(instruction, registers->gpr, rip, base, base);
}

/* --- the bus ------------------------------------------------------------- */

/* At most 8 bytes. */
static int transfer(mimic_bus_access access, void *bus, uintptr_t address, unsigned int size,
		    bool is_write, uint64_t *value)
{
	int error;

	if (!is_write)
		*value = 0;
	if (address % size)
		return mimic_emulate_transfer(access, bus, address, size, is_write, (uint8_t *)value);
	error = access(bus, address, size, is_write, value);
	*value &= mimic_operate_mask(size);
	return error;
}

/* --- general registers --------------------------------------------------- */

static int emulate_general(const struct mimic_instruction *instruction, greg_t *gregs,
			   struct mimic_registers *registers, uintptr_t address,
			   mimic_bus_access access, void *bus)
{
	unsigned int size = instruction->memory_size;
	uint64_t value = 0, result;
	int error;

	if (instruction->is_write) {
		value = mimic_operate_store_value(instruction, registers);
		return transfer(access, bus, address, size, true, &value);
	}
	error = transfer(access, bus, address, size, false, &value);
	if (!error && instruction->is_update) {
		result = mimic_operate_update_value(instruction, registers, value);
		error = transfer(access, bus, address, size, true, &result);
	}
	if (error)
		return error;
	mimic_operate_load(instruction, registers, value);
	gregs[REG_EFL] = (greg_t)registers->flags;
	if (instruction->operand == MIMIC_OPERAND_GENERAL)
		gregs[greg_of[instruction->reg]] = (greg_t)registers->gpr[instruction->reg];
	return 0;
}

/* --- vector registers ---------------------------------------------------- */

/*
 * The signal frame holds the vector registers as XSAVE's standard format (volume
 * 1 of Intel's manual, 13.4): the FXSAVE image, a header, and the components at
 * offsets that CPUID tells. The kernel says how much of it there is in bytes
 * that FXSAVE leaves to software (struct _fpx_sw_bytes of asm/sigcontext.h).
 */
#define XMM_OFFSET		160u
#define SOFTWARE_OFFSET		464u
#define HEADER_OFFSET		512u
#define FRAME_MAGIC		0x46505853u
#define HEADER_COMPACTED	(1ull << 63)

enum component {
	COMPONENT_X87	= 0,
	COMPONENT_SSE	= 1,	/* bytes 0 to 15 of registers 0 to 15 */
	COMPONENT_AVX	= 2,	/* bytes 16 to 31 of them */
	COMPONENT_HIGH	= 6,	/* bytes 32 to 63 of them */
	COMPONENT_MORE	= 7,	/* registers 16 to 31 */
	COMPONENTS,
};

struct software_bytes {
	uint32_t magic;
	uint32_t extended_size;
	uint64_t features;
	uint32_t xstate_size;
};

struct xstate_header {
	uint64_t present;	/* XSTATE_BV: a component that it leaves out is all zero */
	uint64_t compaction;	/* XCOMP_BV */
};

struct vector_frame {
	uint8_t *bytes;
	uint64_t features;	/* components that the kernel restores */
	uint64_t present;
	unsigned int size;
	bool has_header;
};

/* One stretch of a vector register that lies in one piece in the frame. */
struct slice {
	enum component component;
	unsigned int size;
	unsigned int offset;	/* within the component */
};

/*
 * CPUID costs microseconds in a virtual machine, hence kept. Threads that come
 * here at once store the same values.
 */
static unsigned int component_offset(enum component component)
{
	static unsigned int offsets[COMPONENTS];
	unsigned int offset, eax, ecx, edx;

	if (component == COMPONENT_SSE)
		return XMM_OFFSET;
	offset = __atomic_load_n(&offsets[component], __ATOMIC_RELAXED);
	if (offset)
		return offset;
	__cpuid_count(0xd, component, eax, offset, ecx, edx);
	__atomic_store_n(&offsets[component], offset, __ATOMIC_RELAXED);
	return offset;
}

static unsigned int component_size(enum component component)
{
	static const unsigned int sizes[COMPONENTS] = {
		[COMPONENT_SSE] = 16 * 16,
		[COMPONENT_AVX] = 16 * 16,
		[COMPONENT_HIGH] = 16 * 32,
		[COMPONENT_MORE] = 16 * 64,
	};

	return sizes[component];
}

static bool open_frame(struct vector_frame *frame, ucontext_t *context)
{
	struct software_bytes software;
	struct xstate_header header;

	frame->bytes = (uint8_t *)context->uc_mcontext.fpregs;
	if (!frame->bytes)
		return false;
	memcpy(&software, frame->bytes + SOFTWARE_OFFSET, sizeof(software));
	frame->has_header = software.magic == FRAME_MAGIC;
	if (!frame->has_header) {
		frame->features = frame->present = 1u << COMPONENT_SSE | 1u << COMPONENT_X87;
		frame->size = HEADER_OFFSET;
		return true;
	}
	memcpy(&header, frame->bytes + HEADER_OFFSET, sizeof(header));
	frame->features = software.features;
	frame->present = header.present;
	frame->size = software.xstate_size;
	return !(header.compaction & HEADER_COMPACTED);
}

static void close_frame(const struct vector_frame *frame)
{
	if (frame->has_header)
		memcpy(frame->bytes + HEADER_OFFSET, &frame->present, sizeof(frame->present));
}

static bool is_present(const struct vector_frame *frame, enum component component)
{
	return frame->present >> component & 1;
}

/* NULL if the frame has no such component. */
static uint8_t *component_bytes(const struct vector_frame *frame, enum component component)
{
	unsigned int offset;

	if (!(frame->features >> component & 1))
		return NULL;
	offset = component_offset(component);
	if (offset + component_size(component) > frame->size)
		return NULL;
	return frame->bytes + offset;
}

/* Where byte `start` of register `reg` and those behind it live. */
static struct slice slice_at(unsigned int reg, unsigned int start)
{
	if (reg >= 16)
		return (struct slice){ COMPONENT_MORE, 64, (reg - 16) * 64 };
	if (start < 16)
		return (struct slice){ COMPONENT_SSE, 16, reg * 16 };
	if (start < 32)
		return (struct slice){ COMPONENT_AVX, 16, reg * 16 };
	return (struct slice){ COMPONENT_HIGH, 32, reg * 32 };
}

/* Does the frame hold bytes 0 to size - 1 of the register? */
static bool frame_holds(const struct vector_frame *frame, unsigned int reg, unsigned int size)
{
	unsigned int start;

	for (start = 0; start < size; start += 16) {
		if (!component_bytes(frame, slice_at(reg, start).component))
			return false;
	}
	return true;
}

/* The lowest `size` bytes; value[] holds zeros before. */
static void read_vector(const struct vector_frame *frame, unsigned int reg,
			uint8_t value[VECTOR_MAX], unsigned int size)
{
	struct slice slice;
	unsigned int start;

	for (start = 0; start < size; start += slice.size) {
		slice = slice_at(reg, start);
		if (!is_present(frame, slice.component))
			continue;
		memcpy(value + start, component_bytes(frame, slice.component) + slice.offset,
		       size - start < slice.size ? size - start : slice.size);
	}
}

/* Replaces the lowest `size` bytes, and with `clears_upper` zeroes all above. */
static void write_vector(struct vector_frame *frame, unsigned int reg,
			 const uint8_t value[VECTOR_MAX], unsigned int size, bool clears_upper)
{
	unsigned int end = clears_upper ? VECTOR_MAX : size;
	struct slice slice;
	unsigned int start;
	uint8_t *bytes;

	for (start = 0; start < end; start += slice.size) {
		slice = slice_at(reg, start);
		bytes = component_bytes(frame, slice.component);
		if (!bytes)
			continue;
		if (!is_present(frame, slice.component)) {
			/* Registers that are missing in the frame are zero already. */
			if (start >= size)
				continue;
			memset(bytes, 0, component_size(slice.component));
			frame->present |= 1ull << slice.component;
		}
		memcpy(bytes + slice.offset, value + start, slice.size);
	}
	close_frame(frame);
}

static int emulate_vector(const struct mimic_instruction *instruction, ucontext_t *context,
			  uintptr_t address, mimic_bus_access access, void *bus)
{
	unsigned int merge = instruction->merge_register;
	uint8_t value[VECTOR_MAX] = { 0 };
	uint8_t *memory = value + instruction->register_offset;
	struct vector_frame frame;
	int error;

	if (!open_frame(&frame, context))
		return -EOPNOTSUPP;
	if (!frame_holds(&frame, instruction->reg, instruction->register_size))
		return -EOPNOTSUPP;
	if (instruction->is_write) {
		read_vector(&frame, instruction->reg, value,
			    instruction->register_offset + instruction->register_size);
		return mimic_emulate_transfer(access, bus, address, instruction->memory_size, true,
				       memory);
	}
	if (merge != MIMIC_NO_REGISTER) {
		if (!frame_holds(&frame, merge, 16))
			return -EOPNOTSUPP;
		read_vector(&frame, merge, value, 16);
	}
	error = mimic_emulate_transfer(access, bus, address, instruction->memory_size, false, memory);
	if (error)
		return error;
	write_vector(&frame, instruction->reg, value, instruction->register_size,
		     instruction->clears_upper);
	return 0;
}

/* --- x87 ----------------------------------------------------------------- */

static int emulate_x87(const struct mimic_instruction *instruction, ucontext_t *context,
		       uintptr_t address, mimic_bus_access access, void *bus)
{
	unsigned int size = instruction->memory_size;
	struct vector_frame frame;
	uint64_t value = 0;
	int error = 0;

	if (!open_frame(&frame, context))
		return -EOPNOTSUPP;
	if (!is_present(&frame, COMPONENT_X87))
		mimic_x87_initial(frame.bytes);
	frame.present |= 1u << COMPONENT_X87;
	if (!instruction->is_write)
		error = transfer(access, bus, address, size, false, &value);
	if (!error)
		error = mimic_x87_execute(instruction->reg, instruction->is_write, frame.bytes, &value,
					  (uintptr_t)context->uc_mcontext.gregs[REG_RIP], address);
	if (!error && instruction->is_write)
		error = transfer(access, bus, address, size, true, &value);
	if (!error)
		close_frame(&frame);
	return error;
}

/* --- the calls ----------------------------------------------------------- */

int mimic_emulate_instruction(ucontext_t *context, const struct mimic_instruction *instruction,
			      mimic_bus_access access, void *bus)
{
	greg_t *gregs = context->uc_mcontext.gregs;
	struct mimic_registers registers;
	uintptr_t address;
	int error;

	get_registers(&registers, gregs);
	address = address_of(instruction, &registers, (uint64_t)gregs[REG_RIP]);
	if (instruction->operand == MIMIC_OPERAND_VECTOR)
		error = emulate_vector(instruction, context, address, access, bus);
	else if (instruction->operand == MIMIC_OPERAND_X87)
		error = emulate_x87(instruction, context, address, access, bus);
	else
		error = emulate_general(instruction, gregs, &registers, address, access, bus);
	if (error)
		return error;
	gregs[REG_RIP] += instruction->length;
	/* The fault set it; left alone it would hide a debugger's breakpoint at the next instruction. */
	gregs[REG_EFL] &= ~(greg_t)FLAG_RF;
	return 0;
}

int mimic_emulate(ucontext_t *context, mimic_bus_access access, void *bus)
{
	struct mimic_instruction instruction;
	int error;

	if (is_fetch_fault(context))
		return -EOPNOTSUPP;
	error = decode_at((uintptr_t)context->uc_mcontext.gregs[REG_RIP], &instruction);
	return error ? error : mimic_emulate_instruction(context, &instruction, access, bus);
}

/*
 * Reads through the kernel, for the bytes may not be there at all: a fetch
 * fault, or an instruction that we do not know at the end of a page. Returns
 * how many could be read.
 */
static size_t read_code(const ucontext_t *context, uint8_t bytes[MIMIC_INSTRUCTION_MAX])
{
	uintptr_t rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	size_t in_page = MIMIC_PAGE_SIZE - rip % MIMIC_PAGE_SIZE;
	size_t first = in_page < MIMIC_INSTRUCTION_MAX ? in_page : MIMIC_INSTRUCTION_MAX;
	struct iovec local = { bytes, MIMIC_INSTRUCTION_MAX };
	struct iovec remote[2] = {
		{ (void *)rip, first },
		{ (void *)(rip + first), MIMIC_INSTRUCTION_MAX - first },
	};
	long pid = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long count = mimic_raw_syscall(SYS_process_vm_readv, pid, (long)&local, 1, (long)remote, 2, 0);

	if (count >= 0)
		return (size_t)count;
	/* A filter of system calls may forbid it. The code is readable unless fetching it failed. */
	if ((count != -EPERM && count != -ENOSYS) || is_fetch_fault(context))
		return 0;
	memcpy(bytes, (const void *)rip, first);
	return first;
}

size_t mimic_instruction_text(const ucontext_t *context, char *text, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[MIMIC_INSTRUCTION_MAX];
	struct mimic_instruction instruction;
	size_t count, used = 0, i;

	if (!size)
		return 0;
	count = read_code(context, bytes);
	if (!mimic_decode(bytes, count, &instruction))
		count = instruction.length;
	for (i = 0; i < count && used + 4 <= size; i++) {
		if (i)
			text[used++] = ' ';
		text[used++] = digits[bytes[i] >> 4];
		text[used++] = digits[bytes[i] & 15];
	}
	text[used] = '\0';
	return used;
}

#else

/* x86-64's decoder knows no instruction of this processor; emulate_load_store.c has those that do. */
int mimic_emulate_instruction(ucontext_t *context, const struct mimic_instruction *instruction,
			      mimic_bus_access access, void *bus)
{
	(void)context;
	(void)instruction;
	(void)access;
	(void)bus;
	return -EOPNOTSUPP;
}

#endif
