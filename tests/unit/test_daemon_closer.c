/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads that close what clients made: when they end, and what comes meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/loop/closer.h"

#define OWNER 1
#define MOST_MS 5000

static struct mimicd_closer *closer;
static int ends[2];
static atomic_bool is_late;	/* something comes when a thread's time is over, and it has not the lock yet */

static void sleep_ms(unsigned int ms)
{
	const struct timespec pause = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&pause, NULL);
}

/* Instead of the C library's: no time passes, and between its end and the lock there is as much as we like. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *due)
{
	(void)condition;
	(void)due;
	pthread_mutex_unlock(lock);
	if (atomic_exchange(&is_late, false))
		mimicd_closer_close(closer, OWNER, ends[0]);
	else
		sleep_ms(1);
	pthread_mutex_lock(lock);
	return ETIMEDOUT;
}

static void what_comes_when_a_thread_gives_up_is_closed(void **state)
{
	int first[2];
	char byte;

	(void)state;
	closer = mimicd_closer_create();
	assert_non_null(closer);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, first), 0);
	atomic_store(&is_late, true);
	mimicd_closer_close(closer, OWNER, first[0]);
	for (unsigned int i = 0; i < MOST_MS && (atomic_load(&is_late) || mimicd_closer_backlog(closer, OWNER)); i++)
		sleep_ms(1);
	assert_int_equal(recv(first[1], &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(ends[1], &byte, 1, MSG_DONTWAIT), 0);
	close(first[1]);
	close(ends[1]);
	mimicd_closer_destroy(closer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_when_a_thread_gives_up_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
