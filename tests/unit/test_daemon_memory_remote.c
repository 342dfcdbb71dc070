/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A client's memory where the kernel has no memory for its own lists: the client has no fault. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/engine/errands.h"
#include "daemon/engine/memory_internal.h"

#define ROWS 40
#define BYTES 5000	/* of a row: more than a page, no multiple of one */

static size_t most_pieces;	/* of a call that the kernel has memory for */
static size_t most_bytes;
static _Atomic unsigned int calls;	/* by a helper, as those before */

static ssize_t call(long number, pid_t pid, const struct iovec *local, unsigned long local_count,
		    const struct iovec *remote, unsigned long count)
{
	size_t bytes = 0;

	calls++;
	for (unsigned long i = 0; i < count; i++)
		bytes += remote[i].iov_len;
	if (count > most_pieces || local_count > most_pieces || bytes > most_bytes) {
		errno = ENOMEM;
		return -1;
	}
	return syscall(number, pid, local, local_count, remote, count, 0);
}

/* In place of the C library's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
			 const struct iovec *remote, unsigned long count, unsigned long flags)
{
	(void)flags;
	return call(SYS_process_vm_readv, pid, local, local_count, remote, count);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long local_count,
			  const struct iovec *remote, unsigned long count, unsigned long flags)
{
	(void)flags;
	return call(SYS_process_vm_writev, pid, local, local_count, remote, count);
}

static uint8_t theirs[ROWS][BYTES], ours[ROWS * BYTES];
static struct iovec remote[ROWS];
static struct mimicd_loop loop;
static struct mimicd_errands errands;
static struct mimicd_memory memory;
static struct mimicd_memory_slot slot = { .memory = &memory };

static size_t move(bool is_write, const struct iovec *local, size_t local_count, const struct iovec *there,
		   size_t count)
{
	struct mimicd_move all = {
		.slot = &slot, .is_write = is_write, .local = local, .local_count = local_count,
		.remote = there, .count = count,
	};

	return mimicd_memory_move(&memory, &all);
}

static int set_up(void **state)
{
	(void)state;
	mimicd_memory_init(&memory, &errands, getpid(), (int)syscall(SYS_pidfd_open, getpid(), 0), true);
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t k = 0; k < BYTES; k++)
			theirs[i][k] = (uint8_t)(i * 31 + k * 7 + k / 256);
		/* From the last to the first, so that order counts. */
		remote[i] = (struct iovec){ theirs[ROWS - 1 - i], BYTES };
	}
	memset(ours, 0, sizeof(ours));
	calls = 0;
	return 0;
}

static int start(void **state)
{
	(void)state;
	return mimicd_loop_create(&loop) || mimicd_errands_create(&errands, &loop, 0);
}

static int end(void **state)
{
	(void)state;
	mimicd_errands_destroy(&errands);
	mimicd_loop_destroy(&loop);
	return 0;
}

static void expect_rows(size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(ours[i], theirs[ROWS - 1 - i / BYTES][i % BYTES]);
}

static void enough_memory_is_one_call(void **state)
{
	struct iovec local = { ours, sizeof(ours) };

	(void)state;
	most_pieces = most_bytes = SIZE_MAX;
	assert_int_equal(move(false, &local, 1, remote, ROWS), sizeof(ours));
	assert_int_equal(calls, 1);
	expect_rows(sizeof(ours));
}

static void without_memory_it_is_done_by_pieces(void **state)
{
	struct iovec local = { ours, sizeof(ours) };

	(void)state;
	most_pieces = 8;
	most_bytes = 16 * 4096;
	assert_int_equal(move(false, &local, 1, remote, ROWS), sizeof(ours));
	expect_rows(sizeof(ours));
}

static void scattered_pieces_are_put_where_they_belong(void **state)
{
	struct iovec local[2] = { { ours, 12345 }, { ours + 12345, sizeof(ours) - 12345 } };

	(void)state;
	most_pieces = 8;
	most_bytes = 16 * 4096;
	assert_int_equal(move(false, local, 2, remote, ROWS), sizeof(ours));
	expect_rows(sizeof(ours));
}

static void one_large_piece_is_cut(void **state)
{
	static uint8_t from[1 << 20], to[1 << 20];
	struct iovec local = { to, sizeof(to) }, there = { from, sizeof(from) };

	(void)state;
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 13 + i / 4096);
	most_pieces = 8;
	most_bytes = 16 * 4096;
	assert_int_equal(move(false, &local, 1, &there, 1), sizeof(from));
	assert_memory_equal(from, to, sizeof(from));
}

static void stores_are_done_by_pieces_too(void **state)
{
	struct iovec local = { ours, sizeof(ours) };

	(void)state;
	most_pieces = 8;
	most_bytes = 16 * 4096;
	memset(ours, 0x5a, sizeof(ours));
	assert_int_equal(move(true, &local, 1, remote, ROWS), sizeof(ours));
	expect_rows(sizeof(ours));
}

/* Memory that is not there still ends it, where it is. */
static void a_bad_address_ends_it_there(void **state)
{
	struct iovec local = { ours, sizeof(ours) };

	(void)state;
	most_pieces = 8;
	most_bytes = 16 * 4096;
	remote[30].iov_base = (void *)(uintptr_t)4096;
	assert_int_equal(move(false, &local, 1, remote, ROWS), 30 * BYTES);
	expect_rows(30 * BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(enough_memory_is_one_call, set_up),
		cmocka_unit_test_setup(without_memory_it_is_done_by_pieces, set_up),
		cmocka_unit_test_setup(scattered_pieces_are_put_where_they_belong, set_up),
		cmocka_unit_test_setup(one_large_piece_is_cut, set_up),
		cmocka_unit_test_setup(stores_are_done_by_pieces_too, set_up),
		cmocka_unit_test_setup(a_bad_address_ends_it_there, set_up),
	};

	return cmocka_run_group_tests(tests, start, end);
}
