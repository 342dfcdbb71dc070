/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Writes to the state filesystem, allowed ones and refused ones. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/engine/instance.h"
#include "tests/lib/state_mounted.h"

static void reset_makes_a_device_as_after_power_on(void **unused)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = mounted.socket };

	(void)unused;
	served_init(WORDS_32);
	served_open_both(0);
	register_store(PRODUCE, 0, 4, 5);
	assert_file("devices/maple0/queues/0/level", "1\n");
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/reset", "1\n"), 0);
	assert_false(is_there("maple0/queues/0/level"));
	assert_file("devices/maple0/counters/produced", "0\n");
	/* The session that had it opens it anew. */
	mimic_device_close(served_device);
	assert_int_equal(mimic_device_open(&served_device, "maple0", &options), 0);
	served_init(WORDS_32);
	assert_file("devices/maple0/queues/0/level", "0\n");
}

static void clear_counters_leaves_the_rest_alone(void **unused)
{
	(void)unused;
	served_init(WORDS_32);
	served_open_both(0);
	register_store(PRODUCE, 0, 4, 5);
	assert_file("devices/maple0/counters/produced", "1\n");
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/clear_counters", "1"), 0);
	assert_file("devices/maple0/counters/produced", "0\n");
	assert_file("devices/maple0/queues/0/level", "1\n");
}

static void invalid_words_are_refused(void **unused)
{
	(void)unused;
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/reset", "2\n"), -EINVAL);
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/reset", "11"), -EINVAL);
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/inject", "explode\n"), -EINVAL);
	/* It is not on the kernel's bus. */
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/inject", "hang\n"), -EOPNOTSUPP);
}

static void a_text_that_crosses_a_page_is_one_write(void **unused)
{
	size_t page = (size_t)getpagesize();
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	assert_true(pages != MAP_FAILED);
	memcpy(pages + page - 1, "hang", sizeof("hang"));
	/* Split, it would begin with the word "h", which is -EINVAL. */
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/control/inject", pages + page - 1), -EOPNOTSUPP);
	munmap(pages, 2 * page);
}

static bool hangs(const char *device)
{
	bool does = state_mount_take(&mounted, device)->injection.hangs;

	state_mount_give_back(&mounted);
	return does;
}

static void inject_makes_a_device_of_the_bus_misbehave(void **unused)
{
	static const struct mimicd_function_ops ops = { .transport = "kernel" };
	struct mimicd_function function = { .ops = &ops };

	(void)unused;
	mimicd_instance_add_function(state_mount_take(&mounted, "maple1"), &function);
	state_mount_give_back(&mounted);
	assert_int_equal(state_mount_write(&mounted, "devices/maple1/control/inject", "hang\n"), 0);
	assert_true(hangs("maple1"));
	assert_int_equal(state_mount_write(&mounted, "devices/maple1/control/inject", "none"), 0);
	assert_false(hangs("maple1"));
	mimicd_instance_remove_function(state_mount_take(&mounted, "maple1"), &function);
	state_mount_give_back(&mounted);
}

static void nothing_else_can_be_written_made_or_removed(void **unused)
{
	char path[200], other[200];

	(void)unused;
	assert_int_equal(state_mount_write(&mounted, "version", "2"), -EACCES);
	assert_int_equal(state_mount_write(&mounted, "devices/maple0/counters/produced", "2"), -EACCES);
	assert_int_equal(open_file("new", O_WRONLY | O_CREAT), -1);
	assert_int_equal(errno, EPERM);
	snprintf(path, sizeof(path), "%s/devices/maple0", mounted.path);
	snprintf(other, sizeof(other), "%s/devices/other", mounted.path);
	assert_int_equal(rename(path, other), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(mkdir(other, 0700), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(rmdir(path), -1);
	assert_int_equal(chmod(path, 0777), -1);
	assert_int_equal(errno, EPERM);
	snprintf(other, sizeof(other), "%s/version", mounted.path);
	assert_int_equal(unlink(other), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(truncate(other, 0), -1);
}

#define TESTS(_) \
	_(reset_makes_a_device_as_after_power_on) \
	_(clear_counters_leaves_the_rest_alone) \
	_(invalid_words_are_refused) \
	_(a_text_that_crosses_a_page_is_one_write) \
	_(inject_makes_a_device_of_the_bus_misbehave) \
	_(nothing_else_can_be_written_made_or_removed)
TESTS(STATE_TEST)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TESTS(STATE_ENTRY)
	};

	return cmocka_run_group_tests_name("filesystem writes", tests, NULL, NULL);
}
