/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The ioctls of the nodes as programs were compiled with them: the numbers of version 1, written
 * down from the headers that each device had of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mimic/accelerator_ioctl.h"
#include "mimic/dare_ioctl.h"
#include "mimic/maple_ioctl.h"
#include "mimic/virgo_ioctl.h"

#define EXPECT_FIELD(type, field, offset, size) do { \
	assert_int_equal(offsetof(struct type, field), offset); \
	assert_int_equal(sizeof(((struct type *)NULL)->field), size); \
} while (0)

#define EXPECT_INFO(type) do { \
	assert_int_equal(sizeof(struct type), 80); \
	EXPECT_FIELD(type, size, 0, 4); \
	EXPECT_FIELD(type, version, 4, 4); \
	EXPECT_FIELD(type, index, 8, 4); \
	EXPECT_FIELD(type, pages, 12, 4); \
	EXPECT_FIELD(type, identify, 16, 8); \
	EXPECT_FIELD(type, faults, 24, 8); \
	EXPECT_FIELD(type, unresolved, 32, 8); \
	EXPECT_FIELD(type, shootdowns, 40, 8); \
	EXPECT_FIELD(type, reserved, 64, 16); \
} while (0)

#define EXPECT_DESCRIPTOR(type) do { \
	assert_int_equal(sizeof(struct type), 24); \
	EXPECT_FIELD(type, size, 0, 4); \
	EXPECT_FIELD(type, fd, 4, 4); \
} while (0)

static void info_has_its_fields_where_they_were(void **state)
{
	(void)state;
	EXPECT_INFO(accelerator_info);
	EXPECT_FIELD(accelerator_info, context, 48, 4);
	EXPECT_FIELD(accelerator_info, contexts, 52, 4);
	EXPECT_FIELD(accelerator_info, memory_size, 48, 8);
	EXPECT_FIELD(accelerator_info, unused, 48, 8);
	EXPECT_FIELD(accelerator_info, flags, 56, 8);
	EXPECT_INFO(maple_info);
	EXPECT_FIELD(maple_info, unused, 48, 8);
	EXPECT_FIELD(maple_info, flags, 56, 8);
	EXPECT_INFO(dare_info);
	EXPECT_FIELD(dare_info, context, 48, 4);
	EXPECT_FIELD(dare_info, contexts, 52, 4);
	EXPECT_FIELD(dare_info, flags, 56, 8);
	EXPECT_INFO(virgo_info);
	EXPECT_FIELD(virgo_info, shared_size, 48, 8);
	EXPECT_FIELD(virgo_info, flags, 56, 8);
}

static void eventfd_has_its_fields_where_they_were(void **state)
{
	(void)state;
	EXPECT_DESCRIPTOR(accelerator_eventfd);
	EXPECT_FIELD(accelerator_eventfd, events, 8, 8);
	EXPECT_FIELD(accelerator_eventfd, reserved, 16, 8);
	EXPECT_DESCRIPTOR(maple_eventfd);
	EXPECT_FIELD(maple_eventfd, reserved, 8, 16);
	EXPECT_DESCRIPTOR(dare_eventfd);
	EXPECT_FIELD(dare_eventfd, reserved, 8, 16);
	EXPECT_DESCRIPTOR(virgo_eventfd);
	EXPECT_FIELD(virgo_eventfd, events, 8, 8);
	EXPECT_FIELD(virgo_eventfd, reserved, 16, 8);
}

static void connect_has_its_fields_where_they_were(void **state)
{
	(void)state;
	EXPECT_DESCRIPTOR(accelerator_connect);
	EXPECT_FIELD(accelerator_connect, reserved, 8, 16);
	EXPECT_DESCRIPTOR(maple_connect);
	EXPECT_FIELD(maple_connect, reserved, 8, 16);
	EXPECT_DESCRIPTOR(dare_connect);
	EXPECT_FIELD(dare_connect, reserved, 8, 16);
	EXPECT_DESCRIPTOR(virgo_connect);
	EXPECT_FIELD(virgo_connect, reserved, 8, 16);
}

static void the_numbers_are_those_of_version_1(void **state)
{
	(void)state;
	assert_int_equal(MAPLE_IOCTL_INFO, 0xc050b700);
	assert_int_equal(MAPLE_IOCTL_EVENTFD, 0x4018b701);
	assert_int_equal(MAPLE_IOCTL_CONNECT, 0xc018b702);
	assert_int_equal(DARE_IOCTL_INFO, 0xc050b800);
	assert_int_equal(DARE_IOCTL_EVENTFD, 0x4018b801);
	assert_int_equal(DARE_IOCTL_CONNECT, 0xc018b802);
	assert_int_equal(VIRGO_IOCTL_INFO, 0xc050b900);
	assert_int_equal(VIRGO_IOCTL_EVENTFD, 0x4018b901);
	assert_int_equal(VIRGO_IOCTL_CONNECT, 0xc018b902);
	assert_int_equal(MAPLE_ABI_VERSION, 1);
	assert_int_equal(DARE_ABI_VERSION, 1);
	assert_int_equal(VIRGO_ABI_VERSION, 1);
}

static void a_device_that_has_only_a_type_has_the_same_calls(void **state)
{
	(void)state;
	assert_int_equal(ACCELERATOR_IOCTL_INFO(0xb7), 0xc050b700);
	assert_int_equal(ACCELERATOR_IOCTL_EVENTFD(0xb8), 0x4018b801);
	assert_int_equal(ACCELERATOR_IOCTL_CONNECT(0xb9), 0xc018b902);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_has_its_fields_where_they_were),
		cmocka_unit_test(eventfd_has_its_fields_where_they_were),
		cmocka_unit_test(connect_has_its_fields_where_they_were),
		cmocka_unit_test(the_numbers_are_those_of_version_1),
		cmocka_unit_test(a_device_that_has_only_a_type_has_the_same_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
