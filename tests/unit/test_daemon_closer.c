/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads that close descriptors of clients: when they end, and items that come meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* The other end of a pipe, or of a pair of sockets. */
static bool is_closed(int other)
{
	char byte;

	fcntl(other, F_SETFL, O_NONBLOCK);
	for (unsigned int i = 0; i < MOST_MS; i++) {
		if (!read(other, &byte, 1))
			return true;
		sleep_ms(1);
	}
	return false;
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

static void an_item_that_comes_when_a_thread_gives_up_is_closed(void **state)
{
	int first[2];

	(void)state;
	closer = mimicd_closer_create();
	assert_non_null(closer);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, first), 0);
	atomic_store(&is_late, true);
	mimicd_closer_close(closer, OWNER, first[0]);
	for (unsigned int i = 0; i < MOST_MS && (atomic_load(&is_late) || mimicd_closer_backlog(closer, OWNER)); i++)
		sleep_ms(1);
	assert_true(is_closed(first[1]));
	assert_true(is_closed(ends[1]));
	close(first[1]);
	close(ends[1]);
	mimicd_closer_destroy(closer);
}

/* --- closes that do not end --------------------------------------------------------------------- */

#define DESCRIPTORS 1024

static atomic_bool is_kept[DESCRIPTORS];
static atomic_uint kept;
static sem_t released;

/* Instead of the C library's: the kernel keeps a thread that closes one of these. */
int close(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS && atomic_load(&is_kept[fd])) {
		atomic_fetch_add(&kept, 1);
		while (sem_wait(&released))
			;
		atomic_store(&is_kept[fd], false);
		atomic_fetch_sub(&kept, 1);
	}
	return (int)syscall(SYS_close, fd);
}

/* Neither a socket nor memory. *other says when it is closed. */
static int make_pipe(int *other)
{
	int pair[2];

	assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
	*other = pair[0];
	return pair[1];
}

static void hand_over_kept(uint32_t owner)
{
	int other, fd = make_pipe(&other);

	close(other);
	assert_true(fd < DESCRIPTORS);
	atomic_store(&is_kept[fd], true);
	mimicd_closer_close(closer, owner, fd);
}

static void release_all(unsigned int count)
{
	while (count--)
		sem_post(&released);
}

static bool is_done(uint32_t owner)
{
	for (unsigned int i = 0; i < MOST_MS && mimicd_closer_backlog(closer, owner); i++)
		sleep_ms(1);
	return !mimicd_closer_backlog(closer, owner);
}

static void start_closer(void)
{
	closer = mimicd_closer_create();
	assert_non_null(closer);
	assert_int_equal(sem_init(&released, 0, 0), 0);
}

static void an_owner_waits_for_its_own_closes_only(void **state)
{
	int other, fd;
	char byte;

	(void)state;
	start_closer();
	for (unsigned int i = 0; i < 4; i++)
		hand_over_kept(OWNER);
	fd = make_pipe(&other);
	mimicd_closer_close(closer, OWNER, fd);
	sleep_ms(100);
	assert_int_equal(mimicd_closer_backlog(closer, OWNER), 5);
	assert_int_equal(read(other, &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
	close(other);
	fd = make_pipe(&other);
	mimicd_closer_close(closer, OWNER + 1, fd);
	assert_true(is_closed(other));
	close(other);
	release_all(4);
	assert_true(is_done(OWNER));
	mimicd_closer_destroy(closer);
}

/* Many owners: all threads that there are for it are lost. */
#define OWNERS 100u

static void closes_that_end_do_not_wait_for_those_that_do_not(void **state)
{
	int memory, other, fd;

	(void)state;
	start_closer();
	for (unsigned int i = 0; i < OWNERS; i++) {
		hand_over_kept(1000000 + i);
		hand_over_kept(1000000 + i);
	}
	sleep_ms(100);
	memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(memory >= 0);
	mimicd_closer_close(closer, 2000000, memory);
	assert_true(is_done(2000000));
	fd = make_pipe(&other);
	mimicd_closer_close_ours(closer, 2000000, fd);
	assert_true(is_closed(other));
	close(other);
	/* A descriptor of root, of any kind, is closed at once. */
	fd = make_pipe(&other);
	mimicd_closer_close(closer, 0, fd);
	assert_true(is_closed(other));
	close(other);
	release_all(2 * OWNERS);
	for (unsigned int i = 0; i < OWNERS; i++)
		assert_true(is_done(1000000 + i));
	mimicd_closer_destroy(closer);
}

static void an_owner_with_much_that_waits_is_full(void **state)
{
	(void)state;
	start_closer();
	for (unsigned int i = 0; i < MIMICD_CLOSER_BACKLOG; i++)
		hand_over_kept(1000000);
	assert_false(mimicd_closer_is_full(closer, 1000000));
	hand_over_kept(1000000);
	assert_true(mimicd_closer_is_full(closer, 1000000));
	assert_false(mimicd_closer_is_full(closer, 1000001));
	release_all(MIMICD_CLOSER_BACKLOG + 1);
	assert_true(is_done(1000000));
	mimicd_closer_destroy(closer);
}

/* Half of the descriptors, in all. */
static void much_that_waits_of_all_binds_all_but_root(void **state)
{
	const struct rlimit few = { 100, 100 };
	struct rlimit before;

	(void)state;
	assert_int_equal(prlimit(0, RLIMIT_NOFILE, NULL, &before), 0);
	assert_int_equal(prlimit(0, RLIMIT_NOFILE, &(struct rlimit){ few.rlim_cur, before.rlim_max }, NULL), 0);
	start_closer();
	assert_int_equal(prlimit(0, RLIMIT_NOFILE, &before, NULL), 0);
	for (unsigned int i = 0; i < OWNERS; i++)
		hand_over_kept(1000000 + i % 10);
	assert_true(mimicd_closer_is_full(closer, 2000000));
	assert_false(mimicd_closer_is_full(closer, 0));
	release_all(OWNERS);
	for (unsigned int i = 0; i < 10; i++)
		assert_true(is_done(1000000 + i));
	assert_false(mimicd_closer_is_full(closer, 2000000));
	mimicd_closer_destroy(closer);
}

/* --- without tables of threads' own -------------------------------------------------------------- */

static void forbid_close_range(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
}

static void sockets_are_closed_where_a_filter_forbids_the_tables(void **state)
{
	int first[2], second[2], status;
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, first), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, second), 0);
	child = fork();
	if (!child) {
		forbid_close_range();
		start_closer();
		mimicd_closer_close(closer, OWNER, first[0]);
		mimicd_closer_hang_up(closer, OWNER, second[0], "", 1);
		if (!is_done(OWNER))
			_exit(2);
		_exit(fcntl(first[0], F_GETFD) != -1 || fcntl(second[0], F_GETFD) != -1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(recv(second[1], &byte, 1, 0), 1);
	for (unsigned int i = 0; i < 2; i++) {
		close(first[i]);
		close(second[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/*
		 * It starts threads in a child of fork(), which ThreadSanitizer allows only while its parent has no
		 * others: threads of the tests below may still be about to end.
		 */
		cmocka_unit_test(sockets_are_closed_where_a_filter_forbids_the_tables),
		cmocka_unit_test(an_item_that_comes_when_a_thread_gives_up_is_closed),
		cmocka_unit_test(an_owner_waits_for_its_own_closes_only),
		cmocka_unit_test(closes_that_end_do_not_wait_for_those_that_do_not),
		cmocka_unit_test(an_owner_with_much_that_waits_is_full),
		cmocka_unit_test(much_that_waits_of_all_binds_all_but_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
