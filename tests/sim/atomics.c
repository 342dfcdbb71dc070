/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Every atomic operation of every size gives C's result, under the hooks as without them. */
#include <stdint.h>
#include <stdio.h>

static int failures;

static void check(int is_right, const char *what, unsigned int bits)
{
	if (is_right)
		return;
	printf("wrong: %s of %u bits\n", what, bits);
	failures++;
}

#define CHECK(type) \
	do { \
		static type cell; \
		const unsigned int bits = 8 * sizeof(type); \
		const type a = (type)0x5b, b = (type)~(type)0x0e; \
		type expected = b; \
\
		__atomic_store_n(&cell, a, __ATOMIC_RELEASE); \
		check(__atomic_load_n(&cell, __ATOMIC_ACQUIRE) == a, "load", bits); \
		check(__atomic_exchange_n(&cell, b, __ATOMIC_SEQ_CST) == a && cell == b, "exchange", bits); \
		cell = a; \
		check(__atomic_fetch_add(&cell, b, __ATOMIC_RELAXED) == a && cell == (type)(a + b), "add", bits); \
		cell = a; \
		check(__atomic_fetch_sub(&cell, b, __ATOMIC_RELAXED) == a && cell == (type)(a - b), "sub", bits); \
		cell = a; \
		check(__atomic_fetch_and(&cell, b, __ATOMIC_RELAXED) == a && cell == (type)(a & b), "and", bits); \
		cell = a; \
		check(__atomic_fetch_or(&cell, b, __ATOMIC_RELAXED) == a && cell == (type)(a | b), "or", bits); \
		cell = a; \
		check(__atomic_fetch_xor(&cell, b, __ATOMIC_RELAXED) == a && cell == (type)(a ^ b), "xor", bits); \
		cell = a; \
		check(__atomic_fetch_nand(&cell, b, __ATOMIC_RELAXED) == a && cell == (type)~(a & b), "nand", bits); \
		cell = a; \
		check(!__atomic_compare_exchange_n(&cell, &expected, b, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) && \
		      expected == a && cell == a, "compare and exchange, refused", bits); \
		check(__atomic_compare_exchange_n(&cell, &expected, b, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) && \
		      cell == b, "compare and exchange", bits); \
	} while (0)

int main(void)
{
	CHECK(uint8_t);
	CHECK(uint16_t);
	CHECK(uint32_t);
	CHECK(uint64_t);
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
	CHECK(unsigned __int128);
#endif
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	puts(failures ? "wrong" : "right");
	return failures != 0;
}
