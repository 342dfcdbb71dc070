/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The argument of --vfio-user: a device, its sockets, its options. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/vfio/listener.h"

struct example {
	const char *text, *device, *path, *memory, *why;
	bool has_msi, has_rings;
};

static void free_paths(struct mimicd_vfio_listener *listener)
{
	free(listener->registers.path);
	free(listener->memory.path);
}

static void good(const struct example *example)
{
	struct mimicd_vfio_listener listener = { .function = NULL };
	const char *why = NULL;

	assert_int_equal(mimicd_vfio_listener_parse(&listener, example->text, &why), 0);
	assert_null(why);
	assert_string_equal(listener.device, example->device);
	assert_string_equal(listener.registers.path, example->path);
	if (example->memory)
		assert_string_equal(listener.memory.path, example->memory);
	else
		assert_null(listener.memory.path);
	assert_int_equal(listener.has_msi, example->has_msi);
	assert_int_equal(listener.has_rings, example->has_rings);
	free_paths(&listener);
}

static void bad(const char *text, const char *expected)
{
	struct mimicd_vfio_listener listener = { .function = NULL };
	const char *why = NULL;

	assert_int_equal(mimicd_vfio_listener_parse(&listener, text, &why), -EINVAL);
	if (expected)
		assert_string_equal(why, expected);
	else
		assert_null(why);
	free_paths(&listener);
}

static void a_device_is_named_or_the_file_is(void **state)
{
	static const struct example examples[] = {
		{ "maple0.sock", "maple0", "maple0.sock", .memory = NULL },
		{ "/run/x/maple0.sock", "maple0", "/run/x/maple0.sock", .memory = NULL },
		{ "maple1=/a", "maple1", "/a", .memory = NULL },
		{ "maple0=b=c.sock", "maple0", "b=c.sock", .memory = NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		good(&examples[i]);
	bad("=/a", NULL);
}

static void options_come_in_any_order(void **state)
{
	static const struct example examples[] = {
		{ "maple0.sock,msi,rings", "maple0", "maple0.sock", .has_msi = true, .has_rings = true },
		{ "maple0=a,b.sock,rings", "maple0", "a,b.sock", .has_rings = true },
		{ "virgo0=a,memory=b", "virgo0", "a", .memory = "b" },
		{ "virgo0.sock,memory=/x/b.sock", "virgo0", "virgo0.sock", .memory = "/x/b.sock" },
		{ "virgo0=a,msi,memory=b,rings", "virgo0", "a", .memory = "b", .has_msi = true, .has_rings = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		good(&examples[i]);
}

static void errors_of_memory_options_are_named(void **state)
{
	(void)state;
	bad("virgo0=a,memory=", "memory= names no path");
	bad("virgo0=a,memory=b,memory=c", "memory= stands there twice");
	bad("virgo0=a,memory=a", "memory= names the path of the registers");
	bad("virgo0=a,memory=b,ring", "behind memory=PATH there is something other than ,msi and ,rings");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_named_or_the_file_is),
		cmocka_unit_test(options_come_in_any_order),
		cmocka_unit_test(errors_of_memory_options_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
