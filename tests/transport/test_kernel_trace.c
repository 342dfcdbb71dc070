/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The message TRACE_BUS: it traces devices that programs use through the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/spool.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"

#define CHUNKS 8
#define SIZE (CHUNKS * (size_t)MIMIC_SPOOL_CHUNK)
#define PATIENCE_MS 5000

enum { FIRST = 1, SECOND = 2 };		/* bindings, of maple0 and maple1 */
enum { THREAD = 1 };

struct spool {
	int fd;
	struct mimic_spool_header *header;
};

static int start(void **state)
{
	(void)state;
	return fake_bus_start(2, MIMICD_KERNEL_REQUIRED, MIMICD_CHANNEL_AUTO);
}

static int stop(void **state)
{
	(void)state;
	fake_bus_stop();
	return 0;
}

static struct spool make_spool(void)
{
	struct spool spool = { .fd = memfd_create("spool", MFD_CLOEXEC | MFD_ALLOW_SEALING) };

	assert_true(spool.fd >= 0);
	assert_int_equal(mimic_spool_create(spool.fd, SIZE), 0);
	assert_int_equal(fallocate(spool.fd, 0, 0, SIZE), 0);
	assert_int_equal(fcntl(spool.fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	spool.header = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, spool.fd, 0);
	assert_ptr_not_equal(spool.header, MAP_FAILED);
	return spool;
}

static void drop_spool(struct spool *spool)
{
	munmap(spool->header, SIZE);
	close(spool->fd);
}

/* By a process that is not ours: spools say of those only that their devices are open. */
static void open_by_another(uint32_t device, uint32_t binding)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_OPEN, .device = 10 + device, .binding = binding, .process = 7,
		.pid = 1, .uid = getuid(),
	};

	assert_int_equal(fake_bus_status(fake_bus_put(&request), NULL), 0);
}

static int trace(int session, const struct spool *spool)
{
	struct mimic_message message = { .flags = 0 }, reply;

	return raw_request(session, &message, sizeof(message), MIMIC_MESSAGE_TRACE_BUS, spool->fd, &reply,
			   sizeof(reply), NULL);
}

/* Of one kind, with that value. */
static unsigned int count(const struct spool *spool, enum mimic_trace_kind kind, uint64_t value)
{
	const struct mimic_trace_event *event = (const struct mimic_trace_event *)spool->header;
	unsigned int found = 0;

	for (size_t i = MIMIC_SPOOL_EVENTS; i < CHUNKS * MIMIC_SPOOL_EVENTS; i++)
		found += i % MIMIC_SPOOL_EVENTS && __atomic_load_n(&event[i].kind, __ATOMIC_ACQUIRE) == kind &&
			 event[i].value == value;
	return found;
}

static void store(uint32_t binding, uint64_t value)
{
	fake_bus_store(binding, THREAD, PAGE_MMU, 0, 8, value);
}

static void assert_closed(const struct spool *spool, unsigned int device)
{
	for (unsigned int i = 0; i < PATIENCE_MS && atomic_load(&spool->header->device[device].is_open); i++)
		test_sleep_ms(1);
	assert_int_equal(atomic_load(&spool->header->device[device].is_open), 0);
}

static void devices_that_processes_have_or_open_later_are_traced(void **state)
{
	struct spool spool = make_spool();
	int session = fake_bus_session();

	(void)state;
	assert_int_equal(fake_bus_open(0, FIRST, 7), 0);
	store(FIRST, 0x1111);
	assert_int_equal(trace(session, &spool), 0);
	assert_string_equal(spool.header->device[0].name, "maple0");
	assert_int_equal(spool.header->device[0].pid, getpid());
	store(FIRST, 0x2222);
	assert_int_equal(fake_bus_open(1, SECOND, 7), 0);
	assert_string_equal(spool.header->device[1].name, "maple1");
	store(SECOND, 0x3333);
	assert_int_equal(count(&spool, MIMIC_TRACE_access, 0x1111), 0);
	assert_int_equal(count(&spool, MIMIC_TRACE_access, 0x2222), 1);
	assert_int_equal(count(&spool, MIMIC_TRACE_access, 0x3333), 1);
	close(session);
	drop_spool(&spool);
}

static void a_device_that_is_closed_writes_no_more(void **state)
{
	struct spool spool = make_spool();
	int session = fake_bus_session();

	(void)state;
	assert_int_equal(trace(session, &spool), 0);
	open_by_another(0, FIRST);
	assert_int_equal(atomic_load(&spool.header->device[0].is_open), 1);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, FIRST, 0), 0);
	assert_int_equal(atomic_load(&spool.header->device[0].is_open), 0);
	close(session);
	drop_spool(&spool);
}

static void the_trace_ends_with_its_session_and_another_can_begin(void **state)
{
	struct spool spool = make_spool(), others = make_spool();
	int sockets[2], session, other;

	(void)state;
	fake_bus_sessions(sockets, 2);
	session = sockets[0];
	other = sockets[1];
	open_by_another(0, FIRST);
	assert_int_equal(trace(session, &spool), 0);
	assert_int_equal(atomic_load(&spool.header->device[0].is_open), 1);
	assert_int_equal(trace(session, &spool), -EBUSY);
	assert_int_equal(trace(other, &others), -EBUSY);
	close(session);
	assert_closed(&spool, 0);
	store(FIRST, 0x4444);
	assert_int_equal(count(&spool, MIMIC_TRACE_access, 0x4444), 0);
	assert_int_equal(trace(other, &others), 0);
	store(FIRST, 0x5555);
	assert_int_equal(count(&others, MIMIC_TRACE_access, 0x5555), 1);
	assert_int_equal(count(&spool, MIMIC_TRACE_access, 0x5555), 0);
	close(other);
	drop_spool(&spool);
	drop_spool(&others);
}

static void a_stranger_may_not_see_what_others_do(void **state)
{
	const struct mimic_bus_request open_it = {
		.kind = MIMIC_BUS_REQUEST_OPEN, .device = 10, .binding = FIRST, .process = 7,
		.pid = getpid(), .uid = 54321,
	};
	struct spool spool = make_spool();

	(void)state;
	fake_bus_serve();
	assert_int_equal(fake_bus_status(fake_bus_put(&open_it), NULL), 0);
	assert_int_equal(fake_bus_request(MIMIC_BUS_REQUEST_CONNECT, 0, FIRST, 0), 0);
	fake_bus_greet(fake_bus.connected);
	assert_int_equal(trace(fake_bus.connected, &spool), -EPERM);
	assert_int_equal(atomic_load(&spool.header->devices), 0);
	drop_spool(&spool);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(devices_that_processes_have_or_open_later_are_traced),
		TEST(a_device_that_is_closed_writes_no_more),
		TEST(the_trace_ends_with_its_session_and_another_can_begin),
		TEST(a_stranger_may_not_see_what_others_do),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
