/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Instructions of compilers for `*reg |= 1` and for long doubles: they load and store a device's
 * register at once, or use the x87 unit. DARE's RS1 and RS2 keep the values that are stored to them.
 */
#include "contract.h"

#define ADDRESS(page, number) ((volatile uint64_t *)((volatile char *)(page) + 8 * (number)))

/* Each on a register and on a variable; both must end the same, with the same flags. */
#define SAME(text, value) do { \
	uint64_t flags[2], variable = (value); \
	*rs1 = (value); \
	__asm__ volatile("stc\n\t" text "\n\tpushfq\n\tpopq %1" : "+m"(*rs1), "=r"(flags[0]) : "r"(operand) : "cc", "memory"); \
	__asm__ volatile("stc\n\t" text "\n\tpushfq\n\tpopq %1" : "+m"(variable), "=r"(flags[1]) : "r"(operand) : "cc", "memory"); \
	CHECK(*rs1 == variable); \
	/* All but AF, which logic leaves undefined. */ \
	CHECK(((flags[0] ^ flags[1]) & 0x8c5) == 0); \
} while (0)

static void by_instructions(volatile uint64_t *rs1)
{
	static const uint64_t values[] = { 0, 1, ~0ull, 0x7fffffffffffffff, 0x8000000000000000, 0x123456789abcdef0 };
	uint64_t operand = 0xfedcba9876543210;
	unsigned int i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		SAME("orq $1, %0", values[i]);
		SAME("andq $-2, %0", values[i]);
		SAME("xorq %2, %0", values[i]);
		SAME("addq %2, %0", values[i]);
		SAME("adcq $0, %0", values[i]);
		SAME("subq %2, %0", values[i]);
		SAME("sbbq $5, %0", values[i]);
		SAME("incq %0", values[i]);
		SAME("decq %0", values[i]);
		SAME("negq %0", values[i]);
		SAME("notq %0", values[i]);
		SAME("cmpq %2, %0", values[i]);
		SAME("testq %2, %0", values[i]);
	}
}

static void by_the_compiler(volatile uint64_t *rs1)
{
	unsigned int i;

	*rs1 = 0x100;
	*rs1 |= 1;
	CHECK(*rs1 == 0x101);
	*rs1 &= ~0x100ull;
	CHECK(*rs1 == 1);
	*rs1 ^= 0xf0;
	*rs1 += 15;
	CHECK(*rs1 == 0x100);
	for (i = 0; i < 1000; i++)
		++*rs1;
	CHECK(*rs1 == 0x100 + 1000);
	*rs1 -= 0x100;
	CHECK(*rs1 == 1000);
	*rs1 = ~*rs1;
	CHECK(*rs1 == ~1000ull);
}

static void long_doubles(volatile uint64_t *rs1, volatile uint64_t *rs2)
{
	volatile double *from = (volatile double *)rs1;
	volatile double *to = (volatile double *)rs2;
	long double sum = 0;
	uint64_t integer = 0;
	unsigned int i;

	for (i = 1; i < 100; i++) {
		*from = 1.0 / i;
		sum += *from;
		*to = (double)sum;
		CHECK(*to == (double)sum);
	}
	/* A sum of 1 / i in another order and precision. */
	CHECK(sum > 5.17737751 && sum < 5.17737752);
	*rs1 = 4711;
	__asm__ volatile("fildll %1\n\tfistpll %0" : "=m"(integer) : "m"(*rs1));
	CHECK(integer == 4711);
	__asm__ volatile("fildll %1\n\tfistpll %0" : "=m"(*rs2) : "m"(*rs1));
	CHECK(*rs2 == 4711);
}

int main(void)
{
	void *page = map_or_die(open_or_die("/dev/dare0"), 0);

	by_instructions(ADDRESS(page, 0));
	by_the_compiler(ADDRESS(page, 0));
	long_doubles(ADDRESS(page, 0), ADDRESS(page, 1));
	return 0;
}
