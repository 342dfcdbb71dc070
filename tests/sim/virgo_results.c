/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Products of random shapes by libvirgo: for each a line with a hash of the bytes of C. So a run in virtual time can be held
 * against one without.
 *
 *   virgo_results FIRST COUNT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <virgo.h>
#include <virgo_gemm.h>

#define SIDE 200u	/* the most rows or columns */

static uint64_t state;
static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE], bias[SIDE];

/* xorshift64: the same numbers everywhere. */
static unsigned int below(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)(state >> 33) % limit;
}

/* Not whole, so that an order of additions that differs shows. */
static void fill(float *matrix, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		matrix[i] = ((float)below(20001) - 10000) / 7000;
}

/* Small ones are as likely as large ones, and one in five goes to SIDE. */
static unsigned int size(void)
{
	return 1 + below(below(5) ? 1u << (1 + below(7)) : SIDE);
}

static uint64_t hash(const void *bytes, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325;	/* FNV-1a */

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return hash;
}

static struct virgo_product any_product(void)
{
	static const unsigned int flags[] = { VIRGO_TRANSPOSE_A, VIRGO_TRANSPOSE_B, VIRGO_NARROW };
	struct virgo_product product = {
		.type = VIRGO_FP32, .m = size(), .n = size(), .k = size(), .a = a, .lda = SIDE, .b = b, .ldb = SIDE, .c = c,
		.ldc = SIDE, .epilogue = (enum virgo_epilogue)below(3),
	};

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		product.flags |= below(2) ? flags[i] : 0;
	if (product.flags & VIRGO_NARROW)
		product.scale = (float)(1 + below(9)) / 4;
	if (below(2))
		product.bias = bias;
	else if (below(2))
		product.flags |= VIRGO_ADD;
	return product;
}

static int multiply(struct virgo *virgo, unsigned int number)
{
	struct virgo_product product;

	state = 0x9e3779b97f4a7c15 * (number + 1);
	fill(a, SIDE * SIDE);
	fill(b, SIDE * SIDE);
	fill(c, SIDE * SIDE);
	fill(bias, SIDE);
	product = any_product();
	if (virgo_gemm(virgo, 0, &product)) {
		fprintf(stderr, "%u: %s\n", number, virgo_error_text());
		return -1;
	}
	printf("%u %016" PRIx64 "\n", number, hash(c, sizeof(c)));
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int first = argc > 1 ? (unsigned int)atoi(argv[1]) : 0, count = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	struct virgo *virgo;
	int error = 0;

	if (virgo_open(&virgo, NULL)) {
		fprintf(stderr, "%s\n", virgo_error_text());
		return 1;
	}
	for (unsigned int i = first; i < first + count && !error; i++)
		error = multiply(virgo, i);
	virgo_close(virgo);
	return error ? 1 : 0;
}
