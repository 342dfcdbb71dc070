/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* More threads at a daemon than CPUs: they are told, and spin less. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/daemon_device.h"
#include "tests/lib/fake_daemon.h"

#define LANES 64
/* Until a lane says what it has to. The daemon counts for a millisecond. */
#define PATIENCE_MS 20000
/* Longer than the test waits for the thread to sleep. */
#define LONG_SPIN_US 60000000u

static struct fake_daemon fake;

/* --- what the daemon says ------------------------------------------------------------- */

static struct crowd {
	int socket, event_fd;
	struct raw_lane lanes[LANES];
	uint64_t command;
} crowd;

/* So the number of CPUs is known: LANES are many more. */
static void use_two_cpus(void)
{
	cpu_set_t all, two;
	int found = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&two);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_SET(cpu, &two);
		found++;
	}
	assert_int_equal(sched_setaffinity(0, sizeof(two), &two), 0);
}

static int start_crowd(void **state)
{
	uint32_t number;

	use_two_cpus();
	if (daemon_device_setup(state))
		return -1;
	crowd.socket = raw_client_with_event(served.socket, &crowd.event_fd);
	assert_int_equal(raw_open(crowd.socket, "maple", &number), 0);
	for (unsigned int i = 0; i < LANES; i++)
		assert_int_equal(raw_lane(crowd.socket, 0, 0, &crowd.lanes[i]), 0);
	crowd.command = mimic_command_pack(&(struct mimic_command){ .kind = MIMIC_COMMAND_LOAD,
		.device = (uint8_t)number, .size = 4, .offset = AT(FAULT_COUNT, 0), .count = 1 });
	return 0;
}

static int end_crowd(void **state)
{
	for (unsigned int i = 0; i < LANES; i++)
		raw_lane_unmap(&crowd.lanes[i]);
	close(crowd.event_fd);
	close(crowd.socket);
	return daemon_device_teardown(state);
}

/* An access of each of so many lanes, at the same time. */
static void make_accesses(unsigned int lanes)
{
	uint64_t answer;

	for (unsigned int i = 0; i < lanes; i++) {
		/* One kick, when all are there. */
		crowd.lanes[i].event_fd = i == lanes - 1 ? crowd.event_fd : -1;
		raw_post(&crowd.lanes[i], &crowd.command, 1);
	}
	for (unsigned int i = 0; i < lanes; i++)
		assert_true(raw_answer(&crowd.lanes[i], &answer));
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Lanes that say that their threads are to spin less, when all say so or none does, or it takes too long. */
static unsigned int told_after_accesses_of(unsigned int lanes, unsigned int wanted)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	unsigned int told;

	do {
		make_accesses(lanes);
		told = 0;
		for (unsigned int i = 0; i < LANES; i++)
			told += atomic_load(&crowd.lanes[i].memory->spin_most) != 0;
	} while (told != wanted && now_ms() < end);
	return told;
}

static void threads_are_told_when_they_are_more_than_the_cpus(void **state)
{
	(void)state;
	assert_int_equal(told_after_accesses_of(LANES, LANES), LANES);
}

static void one_thread_that_goes_on_alone_may_spin_as_before(void **state)
{
	(void)state;
	assert_int_equal(told_after_accesses_of(LANES, LANES), LANES);
	assert_int_equal(told_after_accesses_of(1, 0), 0);
}

/* 4 billion prefetches, which nobody waits for. */
static void start_long_loop(void)
{
	static uint32_t table[1024];
	const struct {
		enum mimic_command_kind kind;
		uint32_t offset;
		uint64_t data;
	} steps[] = {
		{ MIMIC_COMMAND_LOAD, AT(INIT, WORDS_32), 0 },
		{ MIMIC_COMMAND_LOAD, AT(OPEN_PRODUCER, 0), 0 },
		{ MIMIC_COMMAND_LOAD, AT(OPEN_CONSUMER, 0), 0 },
		{ MIMIC_COMMAND_STORE, AT(SET_BASE32, 0), (uintptr_t)table },
		{ MIMIC_COMMAND_STORE, AT(LIMA_PREFETCH, 0), (uintptr_t)table },
		{ MIMIC_COMMAND_STORE, AT(LOOP, 0), 0xffffffff },
	};
	struct mimic_command command;

	assert_true(mimic_command_unpack(crowd.command, &command));
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t words[2] = { 0, steps[i].data }, answer;

		command.kind = steps[i].kind;
		command.offset = (uint16_t)steps[i].offset;
		words[0] = mimic_command_pack(&command);
		crowd.lanes[0].event_fd = crowd.event_fd;
		raw_post(&crowd.lanes[0], words, command.kind == MIMIC_COMMAND_STORE ? 2 : 1);
		if (command.kind == MIMIC_COMMAND_LOAD)
			assert_true(raw_answer(&crowd.lanes[0], &answer));
	}
}

/* Clients of a crowd are all on one of the daemon's threads, and work of devices is to be done by all of them. */
static void threads_whose_devices_are_at_work_are_no_crowd(void **state)
{
	uint64_t end;

	(void)state;
	start_long_loop();
	for (end = now_ms() + 300; now_ms() < end;)
		make_accesses(LANES);
	for (unsigned int i = 0; i < LANES; i++)
		assert_int_equal(atomic_load(&crowd.lanes[i].memory->spin_most), 0);
}

/* --- what a program's thread does ------------------------------------------------------ */

static int start_fake(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.pid = (uint32_t)getpid();
	fake.spin_microseconds = LONG_SPIN_US;
	alarm(60);
	return fake_daemon_start(&fake) ? 0 : -1;
}

static int end_fake(void **state)
{
	(void)state;
	fake_daemon_end(&fake);
	return 0;
}

static void *load_once(void *context)
{
	struct mimic_access access = { .size = 8 };

	return mimic_device_access(context, &access) ? context : NULL;
}

static bool sleeps_soon(const struct mimic_lane *lane)
{
	uint64_t end = now_ms() + 5000;

	while (!atomic_load(&lane->client_sleeping) && now_ms() < end)
		test_sleep_ms(1);
	return atomic_load(&lane->client_sleeping);
}

static void a_thread_that_is_told_sleeps_soon(void **state)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = fake.socket };
	struct mimic_device *device;
	bool has_slept;
	pthread_t thread;
	void *failed;

	(void)state;
	assert_int_equal(mimic_device_open(&device, "maple0", &options), 0);
	/* The thread that it is about has its own lane, which is there before it has to wait. */
	atomic_store(&fake.spin_most, 1);
	atomic_store(&fake.silent, true);
	assert_int_equal(pthread_create(&thread, NULL, load_once, device), 0);
	while (!atomic_load(&fake.lane_count))
		test_sleep_ms(1);
	has_slept = sleeps_soon(fake.lanes[0].memory);
	atomic_store(&fake.silent, false);
	assert_int_equal(pthread_join(thread, &failed), 0);
	mimic_device_close(device);
	assert_null(failed);
	assert_true(has_slept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_are_told_when_they_are_more_than_the_cpus, start_crowd, end_crowd),
		cmocka_unit_test_setup_teardown(one_thread_that_goes_on_alone_may_spin_as_before, start_crowd, end_crowd),
		cmocka_unit_test_setup_teardown(threads_whose_devices_are_at_work_are_no_crowd, start_crowd, end_crowd),
		cmocka_unit_test_setup_teardown(a_thread_that_is_told_sleeps_soon, start_fake, end_fake),
	};

	return cmocka_run_group_tests_name("crowds", tests, NULL, NULL);
}
