/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The spool of libmimic/base/spool.h: chunks, several writers, the limit, forks. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/spool.h"

#define THREADS 4
#define EACH 10000u

static struct mimic_spool spool;

/* A spool of so many chunks beside the header's. */
static void open_spool(unsigned int chunks)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(mimic_spool_create(fd, (uint64_t)(chunks + 1) * MIMIC_SPOOL_CHUNK), 0);
	assert_int_equal(mimic_spool_attach(&spool, fd), 0);
	close(fd);
}

static int close_spool(void **state)
{
	(void)state;
	mimic_spool_detach(&spool);
	return 0;
}

static void write_one(uint64_t owner, uint64_t id)
{
	const struct mimic_trace_event event = { .owner = owner, .id = id, .kind = MIMIC_TRACE_produce };

	spool.trace.write(&spool.trace, &event);
}

static const struct mimic_trace_event *event_at(uint64_t chunk, unsigned int entry)
{
	return (const struct mimic_trace_event *)((const char *)spool.header + chunk * MIMIC_SPOOL_CHUNK) +
	       entry;
}

/* Events of each owner; whether each owner's ids are 0, 1, 2, ... in the order of its chunks. */
static uint64_t count_events(uint64_t *by_owner, unsigned int owners, bool *in_order)
{
	uint64_t claimed = atomic_load(&spool.header->claimed), total = 0;

	*in_order = true;
	memset(by_owner, 0, owners * sizeof(*by_owner));
	for (uint64_t chunk = 1; chunk < claimed && chunk < spool.chunks; chunk++) {
		for (unsigned int i = 1; i < MIMIC_SPOOL_EVENTS; i++) {
			const struct mimic_trace_event *event = event_at(chunk, i);

			if (!event->kind)
				continue;
			total++;
			assert_true(event->owner < owners);
			*in_order &= event->id == by_owner[event->owner]++;
		}
	}
	return total;
}

static void events_go_on_in_the_next_chunk(void **state)
{
	uint64_t count;
	bool in_order;

	(void)state;
	open_spool(8);
	for (uint64_t i = 0; i < 3000; i++)
		write_one(0, i);
	assert_int_equal(count_events(&count, 1, &in_order), 3000);
	assert_true(in_order);
	/* The header's chunk, and three with 1023 events each. */
	assert_int_equal(atomic_load(&spool.header->claimed), 4);
}

static void a_full_spool_counts_what_it_does_not_keep(void **state)
{
	uint64_t count;
	bool in_order;

	(void)state;
	open_spool(2);
	for (uint64_t i = 0; i < 200000; i++)
		write_one(0, i);
	assert_int_equal(count_events(&count, 1, &in_order), 2 * (MIMIC_SPOOL_EVENTS - 1));
	assert_true(in_order);
	assert_int_equal(atomic_load(&spool.header->lost), 200000 - 2 * (MIMIC_SPOOL_EVENTS - 1));
}

static void a_chunk_says_whose_it_is(void **state)
{
	const struct mimic_spool_owner *owner;

	(void)state;
	open_spool(2);
	write_one(0, 0);
	owner = (const struct mimic_spool_owner *)event_at(1, 0);
	assert_int_equal(owner->pid, getpid());
	assert_int_equal(owner->tid, gettid());
}

static void *write_many(void *owner)
{
	for (uint64_t i = 0; i < EACH; i++)
		write_one((uintptr_t)owner, i);
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	uint64_t by_owner[THREADS];
	pthread_t threads[THREADS];
	bool in_order;

	(void)state;
	open_spool(64);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, (void *)i), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count_events(by_owner, THREADS, &in_order), THREADS * EACH);
	assert_true(in_order);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(by_owner[i], EACH);
}

static void threads_of_a_full_spool_lose_no_count(void **state)
{
	uint64_t by_owner[THREADS];
	pthread_t threads[THREADS];
	bool in_order;

	(void)state;
	open_spool(5);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, (void *)i), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count_events(by_owner, THREADS, &in_order) + atomic_load(&spool.header->lost),
			 THREADS * EACH);
}

static _Atomic uint64_t from_handler;

static void on_alarm(int number)
{
	(void)number;
	write_one(1, atomic_fetch_add(&from_handler, 1));
}

static void a_signal_handler_may_write_as_well(void **state)
{
	const struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	uint64_t by_owner[2], own = 0;
	bool in_order;
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };

	(void)state;
	open_spool(4096);
	atomic_store(&from_handler, 0);
	sigaction(SIGALRM, &action, NULL);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
	while (atomic_load(&from_handler) < 200 && own < 2000000)
		write_one(0, own++);
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	assert_true(atomic_load(&from_handler) > 0);
	count_events(by_owner, 2, &in_order);
	assert_int_equal(by_owner[0], own);
	assert_int_equal(by_owner[1], atomic_load(&from_handler));
}

static void a_forked_child_has_chunks_of_its_own(void **state)
{
	uint64_t by_owner[2];
	bool in_order;
	int status;
	pid_t pid;

	(void)state;
	open_spool(8);
	write_one(0, 0);
	pid = fork();
	if (!pid) {
		mimic_spool_after_fork(&spool);
		write_one(1, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	write_one(0, 1);
	assert_int_equal(count_events(by_owner, 2, &in_order), 3);
	assert_true(in_order);
	assert_int_equal(((const struct mimic_spool_owner *)event_at(2, 0))->pid, pid);
}

static void threads_write_to_several_spools_in_turn(void **state)
{
	struct mimic_spool first;
	uint64_t count;
	bool in_order;

	(void)state;
	open_spool(4);
	first = spool;
	open_spool(4);
	for (uint64_t i = 0; i < 1000; i++) {
		write_one(0, i);
		first.trace.write(&first.trace,
				  &(struct mimic_trace_event){ .id = i, .kind = MIMIC_TRACE_produce });
	}
	assert_int_equal(count_events(&count, 1, &in_order), 1000);
	assert_true(in_order);
	assert_int_equal(atomic_load(&spool.header->claimed), 2);
	assert_int_equal(atomic_load(&first.header->claimed), 2);
	mimic_spool_detach(&first);
}

static void a_file_that_is_no_spool_is_refused(void **state)
{
	static const char zeros[3 * MIMIC_SPOOL_CHUNK];
	int fd = memfd_create("none", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(mimic_spool_attach(&spool, fd), -EINVAL);
	assert_int_equal(write(fd, zeros, sizeof(zeros)), sizeof(zeros));
	assert_int_equal(mimic_spool_attach(&spool, fd), -EINVAL);
	close(fd);
}

static void a_spool_that_says_more_than_it_has_is_refused(void **state)
{
	int fd = memfd_create("short", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(mimic_spool_create(fd, 8 * MIMIC_SPOOL_CHUNK), 0);
	assert_int_equal(ftruncate(fd, 4 * MIMIC_SPOOL_CHUNK), 0);
	assert_int_equal(mimic_spool_attach(&spool, fd), -EINVAL);
	close(fd);
}

static void a_claim_beyond_the_file_writes_nothing(void **state)
{
	uint64_t count;
	bool in_order;

	(void)state;
	open_spool(2);
	/* As a client of a daemon could do it. */
	atomic_store(&spool.header->claimed, UINT64_MAX / MIMIC_SPOOL_CHUNK);
	write_one(0, 0);
	atomic_store(&spool.header->claimed, 0);
	write_one(0, 0);
	assert_int_equal(spool.header->magic, MIMIC_SPOOL_MAGIC);
	assert_int_equal(atomic_load(&spool.header->lost), 2);
	assert_int_equal(count_events(&count, 1, &in_order), 0);
}

static void both_clocks_go_forward(void **state)
{
	(void)state;
	for (unsigned int clock = MIMIC_SPOOL_NANOSECONDS; clock <= MIMIC_SPOOL_TSC; clock++) {
		uint64_t before = mimic_spool_ticks(clock), after;

		usleep(1000);
		after = mimic_spool_ticks(clock);
		assert_true(after > before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(events_go_on_in_the_next_chunk, close_spool),
		cmocka_unit_test_teardown(a_full_spool_counts_what_it_does_not_keep, close_spool),
		cmocka_unit_test_teardown(a_chunk_says_whose_it_is, close_spool),
		cmocka_unit_test_teardown(threads_do_not_disturb_each_other, close_spool),
		cmocka_unit_test_teardown(threads_of_a_full_spool_lose_no_count, close_spool),
		cmocka_unit_test_teardown(a_signal_handler_may_write_as_well, close_spool),
		cmocka_unit_test_teardown(a_forked_child_has_chunks_of_its_own, close_spool),
		cmocka_unit_test_teardown(threads_write_to_several_spools_in_turn, close_spool),
		cmocka_unit_test(a_file_that_is_no_spool_is_refused),
		cmocka_unit_test(a_spool_that_says_more_than_it_has_is_refused),
		cmocka_unit_test_teardown(a_claim_beyond_the_file_writes_nothing, close_spool),
		cmocka_unit_test(both_clocks_go_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
