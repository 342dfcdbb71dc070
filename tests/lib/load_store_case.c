/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/load_store_case.h"

#define EXPECT(field) do { \
	if (is.field != test->expected.field) \
		fail_msg("%s: " #field " is %lld, not %lld", test->text, (long long)is.field, \
			 (long long)test->expected.field); \
} while (0)

static void check(load_store_decoder decode, const struct load_store_case *test)
{
	struct mimic_load_store is;
	int error = decode(test->instruction, &is);

	if (error != test->error)
		fail_msg("%s: %d, not %d", test->text, error, test->error);
	if (error)
		return;
	EXPECT(length);
	EXPECT(is_write);
	EXPECT(memory_size);
	EXPECT(count);
	EXPECT(reg[0]);
	EXPECT(reg[1]);
	EXPECT(is_vector);
	EXPECT(sign_size);
	EXPECT(base);
	EXPECT(displacement);
	EXPECT(index);
	EXPECT(index_size);
	EXPECT(index_is_signed);
	EXPECT(shift);
	EXPECT(is_behind);
	EXPECT(writes_base);
}

void load_store_check(load_store_decoder decode, const struct load_store_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(decode, &cases[i]);
}
