/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon dies, the program closes, and the driver leaves the device, all at once, in each
 * order: mimic.ko's own delay (test_delay_ms) keeps the daemon's end where the test wants it. KASAN
 * reports uses of freed memory (make check-kernel-debug), or slub_debug=P does.
 */
#include "kselftest_harness.h"

#include <fcntl.h>
#include <stdio.h>

#include "tests/kselftest/lib/holder.h"
#include "tests/kselftest/lib/memory.h"

#define DELAY_MS 200
#define PARAMETER "/sys/module/mimic/parameters/test_delay_ms"

FIXTURE(race)
{
	struct holder holder;
};

/* How long after the daemon's death the program closes: before its driver hears of it, or while it does. */
FIXTURE_VARIANT(race)
{
	unsigned int close_ms;
};

FIXTURE_VARIANT_ADD(race, before_the_driver_hears) { .close_ms = DELAY_MS / 4 };
FIXTURE_VARIANT_ADD(race, while_the_driver_hears) { .close_ms = DELAY_MS * 5 / 4 };

FIXTURE_SETUP(race)
{
	struct fake_options options = { .channel = FAKE_READ_WRITE };

	ASSERT_EQ(0, holder_start(&self->holder, &options));
}

FIXTURE_TEARDOWN(race)
{
	memory_write_text(PARAMETER, "0");
	holder_stop(&self->holder);
}

static bool unbind_driver(const struct fake_daemon *daemon)
{
	char name[16];

	snprintf(name, sizeof(name), "maple%d", daemon->control->index);
	return memory_write_text("/sys/bus/mimic/drivers/maple/unbind", name);
}

TEST_F(race, death_close_and_unbind)
{
	struct fake_daemon *daemon = self->holder.daemon;
	char delay[16];
	double start;

	snprintf(delay, sizeof(delay), "%d", DELAY_MS);
	ASSERT_TRUE(memory_write_text(PARAMETER, delay));
	start = now_seconds();
	ASSERT_EQ(0, kill(daemon->pid, SIGKILL));
	sleep_ms(variant->close_ms);
	holder_give_back(&self->holder);
	EXPECT_TRUE(unbind_driver(daemon));
	EXPECT_TRUE(fake_daemon_has_died(daemon));
	/* Else the delay was not where the test thinks. */
	EXPECT_LT(DELAY_MS * 0.9e-3, now_seconds() - start);
	ASSERT_TRUE(memory_write_text(PARAMETER, "0"));
	/* The driver takes it again, when it has a daemon. */
	ASSERT_EQ(0, fake_daemon_restart(daemon));
	ASSERT_EQ(0, holder_open(&self->holder));
	ASSERT_EQ(0, holder_map(&self->holder));
	*holder_register(&self->holder, 0, 0x80) = 7;
	EXPECT_EQ(7, *holder_register(&self->holder, 0, 0x80));
}

TEST_HARNESS_MAIN
