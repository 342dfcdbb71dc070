/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that has something in each vector register while it accesses a device: all of it is still there
 * behind the access, and so are the program's bits in MXCSR.
 */
#include "contract.h"

#include <cpuid.h>
#include <string.h>

#define REGISTERS 32
#define WORDS 96
#define ROUNDS 20
#define ROUNDS_UP 0x5f80u

struct vectors {
	_Alignas(64) uint8_t vector[REGISTERS][64];
	uint64_t mask[8];
	uint32_t control;
};

static struct vectors before, after;
static unsigned int width; /* of a vector register: 32 or 64 bytes */

/* Only the access lies between the two halves, and no instruction of the compiler. */
#define FILL(registers, move, name, masks) \
	".irp n," registers "\n" move " 64*\\n(%[before]), %%" name "\\n\n.endr\n" masks "ldmxcsr 2112(%[before])\n"
#define LOOK(registers, move, name, masks) \
	".irp n," registers "\n" move " %%" name "\\n, 64*\\n(%[after])\n.endr\n" masks "stmxcsr 2112(%[after])\n"
#define LOW "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define ALL LOW ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define FILL_MASKS ".irp n,0,1,2,3,4,5,6,7\nkmovq 2048+8*\\n(%[before]), %%k\\n\n.endr\n"
#define LOOK_MASKS ".irp n,0,1,2,3,4,5,6,7\nkmovq %%k\\n, 2048+8*\\n(%[after])\n.endr\n"
#define NOTHING "vzeroupper\nldmxcsr %[usual]\n"

#define ACCESS(name, instruction) \
	static __attribute__((noinline)) uint64_t name(volatile void *address, uint64_t value) \
	{ \
		static const uint32_t usual = 0x1f80; \
		if (width == 64) \
			__asm__ volatile(FILL(ALL, "vmovups", "zmm", FILL_MASKS) instruction "\n" \
						 LOOK(ALL, "vmovups", "zmm", LOOK_MASKS) NOTHING \
					 : [value] "+r"(value) \
					 : [before] "r"(&before), [after] "r"(&after), [address] "r"(address), \
					   [usual] "m"(usual) \
					 : "memory"); \
		else \
			__asm__ volatile(FILL(LOW, "vmovups", "ymm", "") instruction "\n" \
						 LOOK(LOW, "vmovups", "ymm", "") NOTHING \
					 : [value] "+r"(value) \
					 : [before] "r"(&before), [after] "r"(&after), [address] "r"(address), \
					   [usual] "m"(usual) \
					 : "memory"); \
		return value; \
	}
ACCESS(load_4, "mov (%[address]), %k[value]")
ACCESS(load_8, "mov (%[address]), %q[value]")
ACCESS(store_4, "mov %k[value], (%[address])")
ACCESS(store_8, "mov %q[value], (%[address])")

static void look(const char *access)
{
	unsigned int i;

	for (i = 0; i < (width == 64 ? 32 : 16); i++) {
		if (!memcmp(before.vector[i], after.vector[i], width))
			continue;
		fprintf(stderr, "vector register %u is another one behind %s\n", i, access);
		exit(1);
	}
	CHECK(width == 32 || !memcmp(before.mask, after.mask, sizeof(before.mask)));
	CHECK(before.control == after.control);
}

static volatile void *place(volatile void *page, unsigned int operation, unsigned int queue)
{
	return (volatile char *)page + (operation << 3 | queue << 9);
}

/* Each is looked at once by name, so that a failure says which. */
#define LOAD(size, page, operation, queue) __extension__({ \
	uint64_t loaded_ = load_##size(place(page, operation, queue), 0); \
	look("a load of " #operation); \
	loaded_; })
#define STORE(size, page, operation, queue, value) \
	(store_##size(place(page, operation, queue), value), look("a store of " #operation))

static uint32_t *table;

static void use_maple(volatile void *page)
{
	unsigned int i;

	LOAD(8, page, RESET, 0);
	LOAD(8, page, INIT, WORDS_64);
	CHECK(LOAD(8, page, OPEN_PRODUCER, 0));
	CHECK(LOAD(8, page, OPEN_CONSUMER, 0));
	STORE(4, page, PRODUCE, 0, 7);
	STORE(8, page, PRODUCE, 0, 9ull << 32 | 8);
	CHECK(LOAD(4, page, CONSUME, 0) == 7);
	CHECK(LOAD(8, page, CONSUME, 0) == (9ull << 32 | 8));
	STORE(8, page, SET_BASE32, 0, (uintptr_t)table);
	STORE(8, page, POINTER32, 0, 3);
	CHECK(LOAD(4, page, CONSUME, 0) == table[3]);
	STORE(8, page, SET_BASE64, 0, (uintptr_t)table);
	STORE(8, page, POINTER64, 0, 2);
	CHECK(LOAD(8, page, CONSUME, 0) == ((uint64_t)table[5] << 32 | table[4]));
	/* A loop's fetches come by blocks. */
	STORE(8, page, LIMA_PRODUCE, 0, 0);
	STORE(8, page, SET_BASE32, 0, (uintptr_t)table);
	STORE(8, page, LOOP, 0, 0ull << 32 | WORDS);
	for (i = 0; i < WORDS; i++)
		CHECK(LOAD(4, page, CONSUME, 0) == table[i]);
	LOAD(8, page, STATISTICS, 0);
	LOAD(4, page, DEBUG, 2);
	LOAD(8, page, CLOSE_PRODUCER, 0);
	LOAD(8, page, CLOSE_CONSUMER, 0);
}

/* A store and a load of registers that change nothing, in a device's control block. */
static void use_registers(volatile char *block, unsigned int load, unsigned int store)
{
	load_8(block + load, 0);
	look("a load of a register");
	store_8(block + store, 0);
	look("a store of a register");
	load_4(block + load, 0);
	look("a load of a register");
}

static volatile char *map(const char *path, unsigned int pages)
{
	int fd = open(path, O_RDWR);
	volatile char *address;

	CHECK(fd >= 0);
	address = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(address != MAP_FAILED);
	return address;
}

static unsigned int width_of_registers(void)
{
	unsigned int eax, ebx, ecx, edx, low = 0;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
		return 0;
	__asm__("xgetbv" : "=a"(low) : "c"(0) : "edx");
	if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (low & 6) != 6)
		return 0;
	return (low & 0xe6) == 0xe6 && ebx & bit_AVX512BW ? 64 : 32;
}

int main(void)
{
	volatile char *maple, *virgo, *dare;
	unsigned int i, round;

	width = width_of_registers();
	if (!width)
		return 77;
	for (i = 0; i < sizeof(before.vector); i++)
		before.vector[i / 64][i % 64] = (uint8_t)(i * 37 + i / 64 + 1);
	for (i = 0; i < 8; i++)
		before.mask[i] = 0x0123456789abcdefull * (i + 1);
	before.control = ROUNDS_UP;
	table = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	CHECK(table != MAP_FAILED);
	for (i = 0; i < PAGE / 4; i++)
		table[i] = i * 2654435761u;
	maple = map("/dev/maple0", 1);
	virgo = map("/dev/virgo0", 2);
	dare = map("/dev/dare0", 1);
	for (round = 0; round < ROUNDS; round++) {
		use_maple(maple);
		use_registers(virgo + PAGE, 0x30, 0x10);	/* STATUS and RS1 of unit 0 */
		use_registers(dare, 0x20, 0x00);	/* STATUS and RS1 of context 0 */
	}
	printf("vectors of %u bytes: %u rounds\n", width, ROUNDS);
	return 0;
}
