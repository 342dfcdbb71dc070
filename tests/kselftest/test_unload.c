/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimic.ko is unloaded while a thread is on its way out of an access: its mapping and the file are
 * gone, so that nothing but the module itself can know of it. A delay at the access's end
 * (test_delay_ms) makes it sure.
 */
#include "kselftest_harness.h"

#include <stdlib.h>

#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

#define DELAY_SECONDS 0.5
#define PARAMETER "/sys/module/mimic/parameters/test_delay_ms"
/* The kernel's own list of modules, last one first. */
#define UNLOAD "cd /mimic/modules && for m in $(sed '1!G;h;$!d' order | grep -v '^mimic$'); do rmmod $m || exit; done"
#define LOAD "cd /mimic/modules && for m in $(cat order); do insmod $m.ko || exit; done"

TEST(a_thread_that_comes_out_of_an_access_is_waited_for)
{
	struct waiter waiter = { 0 };
	struct holder holder;
	double start;

	if (access("/mimic/modules/order", R_OK))
		SKIP(return, "not in a guest of tests/vm");
	ASSERT_EQ(0, holder_start(&holder, NULL));
	ASSERT_EQ(0, waiter_start(&waiter, &holder, holder_held_register(&holder), false));
	ASSERT_TRUE(memory_write_text(PARAMETER, "500"));
	holder_give_back(&holder);
	ASSERT_EQ(0, system(UNLOAD));
	start = now_seconds();
	fake_daemon_kill(holder.daemon);
	/* With io_uring and the like the node may be closed a moment later. */
	while (system("rmmod mimic 2>/dev/null") && now_seconds() - start < at_most(5))
		sleep_ms(1);
	EXPECT_NE(0, access("/sys/module/mimic", F_OK));
	EXPECT_LT(DELAY_SECONDS * 0.9, now_seconds() - start);
	EXPECT_TRUE(waiter_ends(&waiter));
	EXPECT_EQ(SIGSEGV, waiter.signal);
	EXPECT_EQ(0, system(LOAD));
	fake_daemon_no_specials(holder.daemon);
	holder_stop(&holder);
}

TEST_HARNESS_MAIN
