/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Limits of a daemon for the programs of one user, so that others get their share. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/engine/quota.h"
#include "tests/lib/daemon_fixture.h"

#define NOBODY 65534u
#define PAGE 4096u
#define CONNECTIONS_IN_ALL 256u

static struct served served;

static void raise_descriptors(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool become_nobody(void)
{
	return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY);
}

/* Its exit status. */
static int as_nobody(int (*function)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(become_nobody() ? function() : 77);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How many of them are greeted; the first that is not has `error`. They stay. */
static unsigned int connect_many(unsigned int most, int *error)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	unsigned int count = 0;

	for (*error = 0; !*error && count < most; count += !*error) {
		struct mimic_hello_reply reply;
		int event = -1, fd = raw_connect(served.socket);

		if (fd < 0)
			return count;
		*error = raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply, sizeof(reply), &event);
		/* A refusal is there before HELLO is sent, which may then fail. */
		if (*error == 2 || (*error == 1 && raw_receive(fd, &reply, sizeof(reply), &event) > 0))
			*error = reply.header.error;
		close(event);
	}
	return count;
}

static int expect_connections_end(void)
{
	int error;
	unsigned int count = connect_many(CONNECTIONS_IN_ALL, &error);

	return count == 64 && error == -EDQUOT ? 0 : 1;
}

static void a_user_has_64_connections(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(as_nobody(expect_connections_end), 0);
	assert_true(served_said(&served, "its user has too many programs that are connected already (--quota)"));
}

static int expect_lanes_end(void)
{
	unsigned int count = 0;
	int error = 0;

	for (unsigned int i = 0; !error && i < 8; i++) {
		int fd = raw_client(served.socket);

		for (unsigned int n = 0; !error && n < MIMIC_SESSION_LANES; n++) {
			struct raw_lane lane;

			error = raw_lane(fd, 0, 0, &lane);
			if (!error)
				raw_lane_unmap(&lane);
			count += !error;
		}
	}
	return count == 1024 && error == -EDQUOT ? 0 : 1;
}

static void a_user_has_1024_lanes(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(as_nobody(expect_lanes_end), 0);
}

/* By --quota, for memory of which all pages have to be there. */
#define SHARED (64 << 20)

static int make_memory(off_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return ftruncate(fd, size) || fallocate(fd, 0, 0, size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) ? -1 : fd;
}

static int expect_maps_end(void)
{
	int memory = make_memory(PAGE), error = 0;
	unsigned int count = 0;

	for (unsigned int i = 0; !error && i < 4; i++) {
		int fd = raw_client(served.socket);

		for (uint64_t n = 0; !error && n < MIMIC_SESSION_RANGES; n++) {
			error = raw_memory(fd, MIMIC_MESSAGE_MEMORY_ADD, memory, (n + 1) * 2 * PAGE, PAGE, 0);
			count += !error;
		}
	}
	return count == 8192 && error == -EDQUOT ? 0 : 1;
}

static void a_user_has_8192_ranges(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(as_nobody(expect_maps_end), 0);
}

static int expect_address_space_ends(void)
{
	const uint64_t size = SHARED / 4;
	int memory = make_memory((off_t)size), error = 0;
	int fd = raw_client(served.socket);
	unsigned int count = 0;

	for (; !error && count < 8; count += !error)
		error = raw_memory(fd, MIMIC_MESSAGE_MEMORY_ADD, memory, (count + 1) * 2 * size, size, 0);
	if (count != 4 || error != -EDQUOT)
		return 1;
	/* Memory that is given back can be shared again. */
	if (raw_memory(fd, MIMIC_MESSAGE_MEMORY_REMOVE, -1, 2 * size, size, 0))
		return 2;
	return raw_memory(fd, MIMIC_MESSAGE_MEMORY_ADD, memory, 2 * size, size, 0) ? 3 : 0;
}

static void a_user_has_so_much_address_space(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(as_nobody(expect_address_space_ends), 0);
}

/*
 * One memory in many places costs its program nothing, but mimicd a page of page tables for each 2 MiB that a device
 * has touched. The page tables may take half of the unit's MemoryMax: 4 GiB * 512 / 2.
 */
#define PIECE (256ull << 20)

static unsigned int share_many(uint64_t pieces, int *error)
{
	int memory = make_memory(PIECE), fd = -1;
	unsigned int count = 0;

	for (*error = 0; !*error && count <= pieces; count += !*error) {
		if (count % MIMIC_SESSION_RANGES == 0)
			fd = raw_client(served.socket);
		*error = raw_memory(fd, MIMIC_MESSAGE_MEMORY_ADD, memory, (count + 1) * PIECE, PIECE, 0);
	}
	close(memory);
	return count;
}

static int expect_128_gigabytes(void)
{
	const uint64_t pieces = (128ull << 30) / PIECE;
	int error;

	return share_many(pieces, &error) == pieces && error == -EDQUOT ? 0 : 1;
}

static void address_space_is_bounded_by_what_its_tables_take(void **state)
{
	const uint64_t pieces = (1ull << 40) / PIECE;
	int error;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(as_nobody(expect_128_gigabytes), 0);
	assert_int_equal(share_many(pieces, &error), pieces);
	assert_int_equal(error, -ENOSPC);
}

static int expect_devices_end(void)
{
	unsigned int count = 0;
	int error = 0;

	for (unsigned int i = 0; !error && i < 8; i++) {
		int fd = raw_client(served.socket);

		for (unsigned int n = 0; !error && n < MIMIC_SESSION_PRIVATE_DEVICES; n++) {
			char name[MIMIC_NAME_MAX];
			uint32_t device;

			snprintf(name, sizeof(name), "maple@%u", n);
			error = raw_open(fd, name, &device);
			count += !error;
		}
	}
	return count == 256 && error == -EDQUOT ? 0 : 1;
}

static void a_user_has_256_devices(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(as_nobody(expect_devices_end), 0);
}

static void a_program_that_says_nothing_is_sent_away(void **state)
{
	struct pollfd mute = { .fd = raw_connect(served.socket), .events = POLLRDHUP };
	struct pollfd greeted = { .fd = raw_client(served.socket), .events = POLLRDHUP };

	(void)state;
	assert_true(mute.fd >= 0 && greeted.fd >= 0);
	assert_int_equal(poll(&mute, 1, 4000), 0);
	assert_int_equal(poll(&mute, 1, 20000), 1);
	assert_int_equal(poll(&greeted, 1, 100), 0);
	assert_true(served_said(&served, "it has not said HELLO for 5 s"));
	close(mute.fd);
	close(greeted.fd);
}

/* The daemon of another user, and all connections that there are taken by that user. */
static int fill_own_daemon(int ready, int finished)
{
	char byte;
	int error;

	if (!served_start(&served, 1, true) || !connect_many(CONNECTIONS_IN_ALL, &error) || error != -ENOSPC)
		return 1;
	(void)!write(ready, &served, sizeof(served));
	(void)!read(finished, &byte, 1);
	served_end(&served, SIGTERM);
	served_clean(&served);
	return 0;
}

static void a_place_is_kept_for_root(void **state)
{
	int ready[2], finished[2], status, error;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(pipe(ready) | pipe(finished), 0);
	child = fork();
	if (!child) {
		close(finished[1]);
		_exit(become_nobody() ? fill_own_daemon(ready[1], finished[0]) : 77);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &served, sizeof(served)), sizeof(served));
	assert_int_equal(connect_many(1, &error), 1);
	close(finished[1]);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(finished[0]);
}

static void memory_of_devices_is_given_back(void **state)
{
	size_t before = served_resident(&served), used, after = 0;
	int sockets[20];

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		sockets[i] = raw_client(served.socket);
		for (unsigned int n = 0; n < MIMIC_SESSION_PRIVATE_DEVICES; n++) {
			char name[MIMIC_NAME_MAX];
			uint32_t device;

			snprintf(name, sizeof(name), "maple@%u", n);
			assert_int_equal(raw_open(sockets[i], name, &device), 0);
		}
	}
	used = served_resident(&served);
	assert_true(used > before + (20 << 20));
	/* All but the last: its devices do not keep the others. */
	for (unsigned int i = 0; i < 19; i++)
		close(sockets[i]);
	for (unsigned int i = 0; i < 100; i++) {
		after = served_resident(&served);
		if (after < before + (used - before) / 8)
			break;
		test_sleep_ms(50);
	}
	assert_true(after < before + (used - before) / 8);
	close(sockets[19]);
}

static void a_list_of_quotas_is_understood(void **state)
{
	static const char *const wrong_texts[] = {
		"", "lanes", "lanes=", "lanes=x", "lanes=-1", "pears=4", "lanes=4,", "lanes=4;maps=3", "lanes=4KK",
		"shared=99999999999T",
	};
	struct mimicd_quotas quotas;
	const char *wrong;

	(void)state;
	mimicd_quotas_default(&quotas);
	assert_int_equal(mimicd_quotas_parse(&quotas, "lanes=7,shared=3G", &wrong), 0);
	assert_int_equal(quotas.most[MIMICD_QUOTA_lanes], 7);
	assert_int_equal(quotas.most[MIMICD_QUOTA_shared], 3ull << 30);
	assert_int_equal(quotas.most[MIMICD_QUOTA_maps], 8192);
	for (size_t i = 0; i < sizeof(wrong_texts) / sizeof(wrong_texts[0]); i++)
		assert_int_equal(mimicd_quotas_parse(&quotas, wrong_texts[i], &wrong), -EINVAL);
}

static int start_with(const char *quota)
{
	alarm(120);
	raise_descriptors();
	served.quota = quota;
	return served_start(&served, 1, true) ? 0 : -1;
}

static int start(void **state)
{
	(void)state;
	return start_with("shared=64M");
}

static int start_by_default(void **state)
{
	(void)state;
	return start_with(NULL);
}

static int end(void **state)
{
	int status = served_end(&served, SIGTERM);

	(void)state;
	served_clean(&served);
	return status;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(a_user_has_64_connections),
		TEST(a_user_has_1024_lanes),
		TEST(a_user_has_8192_ranges),
		TEST(a_user_has_so_much_address_space),
		cmocka_unit_test_setup_teardown(address_space_is_bounded_by_what_its_tables_take, start_by_default, end),
		TEST(a_user_has_256_devices),
		TEST(a_program_that_says_nothing_is_sent_away),
		TEST(memory_of_devices_is_given_back),
		cmocka_unit_test(a_place_is_kept_for_root),
		cmocka_unit_test(a_list_of_quotas_is_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
