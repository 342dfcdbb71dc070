/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Steps of the engine's threads: none of them has a shard while the log of another one has a part of it. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/shards.h"
#include "daemon/engine/step.h"
#include "daemon/journal/journal.h"

static struct mimicd_engine engine;
static struct mimicd_instance device;
static struct mimic_model model;
static uint64_t *word;		/* of the window */
static _Atomic unsigned int calls;
static int window;

/* Between two steps: a change that no commit follows of itself. */
static bool change_in_passing(const struct mimic_model *unused)
{
	uint64_t value = *word + 1;

	(void)unused;
	mimicd_journal_write(word, &value, sizeof(value));
	atomic_fetch_add(&calls, 1);
	return false;
}

static void record_nothing(void *unused)
{
	(void)unused;
}

static const struct mimic_model_ops ops = { .busy = change_in_passing };
static const struct mimicd_recorder recorder = { .record = record_nothing };

static int start(void **unused)
{
	(void)unused;
	if (mimicd_journal_create(1, "a layout", &window))
		return -1;
	word = mimicd_journal_alloc(sizeof(*word));
	mimicd_journal_set_root(word);
	model.ops = &ops;
	device.model = &model;
	engine.recorder = &recorder;
	mimicd_shard_init(&engine.loop_shard, &engine);
	if (mimicd_shards_create(&engine, 2))
		return -1;
	mimicd_journal_commit();
	mimicd_shards_hold(&engine);
	engine.shards[0].devices = &device;
	if (mimicd_shard_start(&engine.shards[0]))
		return -1;
	mimicd_shards_release(&engine);
	return 0;
}

static int stop(void **unused)
{
	(void)unused;
	mimicd_shards_stop(&engine);
	mimicd_shards_destroy(&engine);
	mimicd_shard_destroy(&engine.loop_shard);
	mimicd_journal_end();
	close(window);
	return 0;
}

static uint64_t level_of(unsigned int log)
{
	uint64_t level;

	mimicd_journal_use_log(log);
	level = mimicd_journal_level();
	mimicd_journal_use_log(0);
	return level;
}

static void a_thread_has_committed_when_the_loop_gets_its_shard(void **unused)
{
	(void)unused;
	for (unsigned int i = 0; i < 100; i++) {
		unsigned int before = atomic_load(&calls);
		uint64_t level;

		mimicd_shards_hold(&engine);
		engine.shards[0].busy = true;
		mimicd_shards_release(&engine);
		while (atomic_load(&calls) == before)
			sched_yield();
		mimicd_shards_hold(&engine);
		level = level_of(1);
		mimicd_shards_release(&engine);
		assert_int_equal(level, 0);
	}
	assert_true(*word >= 100);
}

static void the_loop_has_committed_when_a_thread_gets_its_shard_back(void **unused)
{
	const uint64_t value = 1000000;
	uint64_t held, held_still;

	(void)unused;
	mimicd_shards_hold(&engine);
	mimicd_shards_hold(&engine);
	mimicd_journal_write(word, &value, sizeof(value));
	held = level_of(0);
	mimicd_shards_release(&engine);
	held_still = level_of(0);
	mimicd_shards_release(&engine);
	assert_int_not_equal(held, 0);
	assert_int_equal(held_still, held);
	assert_int_equal(level_of(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_thread_has_committed_when_the_loop_gets_its_shard, start, stop),
		cmocka_unit_test_setup_teardown(the_loop_has_committed_when_a_thread_gets_its_shard_back, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
