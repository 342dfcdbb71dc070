/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmimic in a virtual machine: its nodes lead to no socket, and their driver gives lanes of the PCI function. The
 * library and the daemon are the real ones; the machine and its driver are made up here, in this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "devices/kind.h"
#include "libmimic/kernel/kernel.h"
#include "libmimic/mimic.h"
#include "mimic/accelerator_ioctl.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "tests/lib/told.h"
#include "tests/lib/vfio_lanes.h"

#define DATA (GUEST_RAM + 0x200000)

static const struct mimic_options by_nodes = { .transport = MIMIC_TRANSPORT_KERNEL };
static struct mimic_kernel_nodes real_nodes;
static struct served served;

/* --- the driver ---------------------------------------------------------------------------- */

static struct driver {
	pthread_mutex_t lock;	/* one message at a time */
	struct guest guest;
	unsigned int contexts;		/* of a DARE: given so far */
	unsigned int threads[MIMIC_PCI_LANES];	/* of the open lanes; 0: closed */
	unsigned int last_thread;
	unsigned int kicks, waits;
	bool is_gone, has_no_lanes;
} driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A mapping of a node maps BAR 5. */
static int open_node(const char *path)
{
	(void)path;
	return fcntl(driver.guest.rings_fd, F_DUPFD_CLOEXEC, 0);
}

static int node_info(int node, const struct mimic_kind *kind, struct mimic_kernel_info *info)
{
	(void)node;
	*info = (struct mimic_kernel_info){ .version = kind->ioctl_version };
	if (kind->contexts) {
		info->context = driver.contexts++;
		guest_set_register(&driver.guest, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8, 1 << 8 | info->context);
	}
	return 0;
}

static int connect_node(int node, const struct mimic_kind *kind)
{
	(void)node;
	(void)kind;
	return -EOPNOTSUPP;
}

static int find_lane(uint32_t number)
{
	for (unsigned int i = 0; i < MIMIC_PCI_LANES; i++) {
		if (driver.threads[i] &&
		    MIMIC_PCI_LANE_NUMBER(guest_bus(&driver.guest, MIMIC_PCI_LANE(i))) == number)
			return (int)i;
	}
	return -ENOENT;
}

static int open_a_lane(struct accelerator_lane *lane)
{
	unsigned int thread = lane->thread ? lane->thread : ++driver.last_thread, i = 0;
	uint64_t layout;

	while (i < MIMIC_PCI_LANES && driver.threads[i])
		i++;
	if (i == MIMIC_PCI_LANES)
		return -EMFILE;
	if (lane_try(&driver.guest, i, 1, thread, lane->level) != MIMIC_PCI_LANE_IS_OPEN)
		return -EMFILE;
	driver.threads[i] = thread;
	layout = guest_bus(&driver.guest, MIMIC_PCI_LANE_LAYOUT);
	lane->thread = thread;
	lane->lane = MIMIC_PCI_LANE_NUMBER(guest_bus(&driver.guest, MIMIC_PCI_LANE(i)));
	lane->offset = i * (layout & 0xffff) * MIMIC_PCI_PAGE_SIZE;
	lane->command_words = layout >> 16 & 0xffff;
	lane->response_words = layout >> 32 & 0xffff;
	return 0;
}

static int node_lane(int node, const struct mimic_kind *kind, struct accelerator_lane *lane)
{
	int error;

	(void)node;
	(void)kind;
	pthread_mutex_lock(&driver.lock);
	error = driver.is_gone ? -ENODEV : open_a_lane(lane);
	pthread_mutex_unlock(&driver.lock);
	return error;
}

static void close_lanes_of(uint32_t thread)
{
	for (unsigned int i = 0; i < MIMIC_PCI_LANES; i++) {
		if (driver.threads[i] != thread)
			continue;
		lane_close(&driver.guest, i);
		driver.threads[i] = 0;
	}
}

/* With the lock. The word that the library sleeps on. */
static _Atomic uint32_t *sleeping_word(uint32_t number)
{
	uint64_t layout = guest_bus(&driver.guest, MIMIC_PCI_LANE_LAYOUT);
	int lane = find_lane(number);

	if (lane < 0)
		return NULL;
	return (_Atomic uint32_t *)(void *)(driver.guest.rings + (size_t)lane * (layout & 0xffff) * 4096 +
					    MIMIC_PCI_LANE_SLEEPING);
}

/* Woken by the interrupt, as a driver is. */
static int wait_at(const struct accelerator_lane_call *call)
{
	struct pollfd interrupt = { .fd = driver.guest.eventfds[MIMIC_PCI_VECTOR_SLOTS], .events = POLLIN };
	_Atomic uint32_t *word;

	pthread_mutex_lock(&driver.lock);
	driver.waits++;
	word = driver.is_gone ? NULL : sleeping_word(call->number);
	pthread_mutex_unlock(&driver.lock);
	if (!word)
		return -ENODEV;
	for (uint64_t waited = 0; atomic_load(word) == call->value; waited += 10000000) {
		uint64_t count;

		if (waited >= call->nanoseconds)
			return -ETIMEDOUT;
		/* Another thread may take the event: only the word counts. */
		if (poll(&interrupt, 1, 10) == 1)
			(void)!read(interrupt.fd, &count, sizeof(count));
	}
	return 0;
}

static int do_call(const struct accelerator_lane_call *call)
{
	int lane;

	if (driver.is_gone)
		return -ENODEV;
	if (driver.has_no_lanes)
		return -EOPNOTSUPP;
	switch (call->call) {
	case ACCELERATOR_LANE_KICK:
		driver.kicks++;
		guest_set_bus(&driver.guest, MIMIC_PCI_LANE_KICK, 0);
		return 0;
	case ACCELERATOR_LANE_THREAD_END:
		close_lanes_of(call->number);
		return 0;
	default:
		lane = find_lane(call->number);
		break;
	}
	if (lane < 0)
		return lane;
	if (call->call == ACCELERATOR_LANE_CANCEL) {
		guest_set_bus(&driver.guest, MIMIC_PCI_LANE_CANCEL, (uint64_t)lane);
	} else {
		lane_close(&driver.guest, (unsigned int)lane);
		driver.threads[lane] = 0;
	}
	return 0;
}

static int node_lane_call(int node, const struct mimic_kind *kind, const struct accelerator_lane_call *call)
{
	int error;

	(void)node;
	(void)kind;
	if (call->call == ACCELERATOR_LANE_WAIT)
		return wait_at(call);
	pthread_mutex_lock(&driver.lock);
	error = do_call(call);
	pthread_mutex_unlock(&driver.lock);
	return error;
}

/* --- begun and ended ------------------------------------------------------------------------ */

static int setup(void **state)
{
	(void)state;
	alarm(120);
	memset(&served, 0, sizeof(served));
	served.dares = 1;
	served.vfio[0] = "maple0,rings";
	served.vfio[1] = "dare0,rings";
	if (!served_start(&served, 1, false))
		return -1;
	real_nodes = mimic_kernel_nodes;
	mimic_kernel_nodes = (struct mimic_kernel_nodes){
		.directory = "/nowhere", .open = open_node, .info = node_info, .connect = connect_node,
		.lane = node_lane, .lane_call = node_lane_call,
	};
	return 0;
}

static int teardown(void **state)
{
	int status = served_end(&served, SIGTERM);

	(void)state;
	mimic_kernel_nodes = real_nodes;
	served_clean(&served);
	return status;
}

static int end_machine(void **state)
{
	(void)state;
	guest_end(&driver.guest);
	return 0;
}

static void start_machine(const char *name)
{
	memset(driver.threads, 0, sizeof(driver.threads));
	driver.contexts = driver.last_thread = driver.kicks = driver.waits = 0;
	driver.is_gone = driver.has_no_lanes = false;
	guest_start_lanes(&driver.guest, &served, name, false);
	guest_set_mode(&driver.guest, 1, MIMIC_PCI_MODE_PHYSICAL);
}

static sem_t thread_uses, device_is_closed;

/* --- the program ------------------------------------------------------------------------------ */

static uint64_t access_of(struct mimic_device *device, unsigned int offset, unsigned int size, bool is_write,
			  uint64_t value)
{
	struct mimic_access access = {
		.page = 0, .offset = offset, .size = (uint8_t)size, .is_write = is_write, .data = value,
	};

	assert_int_equal(mimic_device_access(device, &access), 0);
	return access.data;
}

static uint64_t maple_load(struct mimic_device *device, unsigned int operation, unsigned int field)
{
	return access_of(device, MAPLE_OFFSET(operation, field), 4, false, 0);
}

static struct mimic_device *open_device(const char *name)
{
	struct mimic_device *device = NULL;

	assert_int_equal(mimic_device_open(&device, name, &by_nodes), 0);
	return device;
}

static struct mimic_device *start_maple(void)
{
	struct mimic_device *device;

	start_machine("maple0");
	device = open_device("maple0");
	maple_load(device, MAPLE_LOAD_INIT, 2);
	assert_true(maple_load(device, MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	assert_true(maple_load(device, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	return device;
}

static void a_device_is_used_by_a_lane(void **state)
{
	struct mimic_device *device = start_maple();

	(void)state;
	assert_string_equal(mimic_device_name(device), "maple0");
	assert_int_equal(access_of(device, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8, false, 0) >> 32, MAPLE_IDENTIFY_MAGIC);
	for (uint32_t i = 0; i < 100; i++) {
		access_of(device, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, true, i * 3);
		assert_int_equal(maple_load(device, MAPLE_LOAD_CONSUME, 0), i * 3);
	}
	assert_int_equal(driver.last_thread, 1);
	mimic_device_close(device);
}

static void many_words_are_posted_and_loaded(void **state)
{
	const struct mimic_access fetch = {
		.offset = MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), .size = 8, .is_write = 1,
	};
	const struct mimic_access consume = { .offset = MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), .size = 4 };
	struct mimic_device *device = start_maple();
	uint64_t addresses[30];
	uint32_t values[30];

	(void)state;
	for (unsigned int i = 0; i < 30; i++) {
		addresses[i] = DATA + 4 * i;
		((uint32_t *)(void *)guest_word(&driver.guest, DATA))[i] = 1000 + i;
	}
	for (unsigned int round = 0; round < 200; round++) {
		assert_int_equal(mimic_device_post(device, &fetch, addresses, 30), 30);
		assert_int_equal(mimic_device_load(device, &consume, values, 30), 30);
		for (unsigned int i = 0; i < 30; i++)
			assert_int_equal(values[i], 1000 + i);
	}
	mimic_device_close(device);
}

static void *consume_by_thread(void *context)
{
	struct mimic_device *device = context;

	assert_true(maple_load(device, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	return (void *)(uintptr_t)maple_load(device, MAPLE_LOAD_CONSUME, 0);
}

static void a_thread_that_waits_sleeps_until_the_interrupt(void **state)
{
	struct mimic_device *device = start_maple();
	pthread_t thread;
	void *value;

	(void)state;
	maple_load(device, MAPLE_LOAD_CLOSE_CONSUMER, 0);
	pthread_create(&thread, NULL, consume_by_thread, device);
	for (unsigned int i = 0; i < 5000; i++) {
		bool waits;

		pthread_mutex_lock(&driver.lock);
		waits = driver.waits;
		pthread_mutex_unlock(&driver.lock);
		if (waits)
			break;
		test_sleep_ms(1);
	}
	access_of(device, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, true, 4711);
	pthread_join(thread, &value);
	assert_int_equal((uintptr_t)value, 4711);
	assert_true(driver.waits > 0);
	/* The thread has ended: its lane is closed, and its role is free. */
	assert_int_equal(driver.threads[1], 0);
	assert_true(maple_load(device, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	mimic_device_close(device);
}

static void a_daemon_that_sleeps_is_woken(void **state)
{
	struct mimic_device *device = start_maple();

	(void)state;
	test_sleep_ms(50);
	assert_int_equal(access_of(device, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8, false, 0) >> 32, MAPLE_IDENTIFY_MAGIC);
	assert_true(driver.kicks > 0);
	mimic_device_close(device);
}

/* How often this process has memory of BAR 5 mapped. The machine's own view of it is one. */
static unsigned int mapped_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "memfd:mimic lanes") != NULL;
	fclose(maps);
	return count;
}

static void *use_and_wait(void *context)
{
	struct mimic_device *device = context;
	struct mimic_access access = { .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), .size = 8 };

	access_of(device, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8, false, 0);
	sem_post(&thread_uses);
	sem_wait(&device_is_closed);
	/* Of the next open: this thread had a lane of the one before. */
	device = open_device("maple0");
	assert_int_equal(mimic_device_access(device, &access), 0);
	mimic_device_close(device);
	return NULL;
}

/* A mapping of a node keeps it open, and the device taken. */
static void no_lane_keeps_the_node_when_the_device_is_closed(void **state)
{
	struct mimic_device *device = start_maple();
	pthread_t thread;

	(void)state;
	sem_init(&thread_uses, 0, 0);
	sem_init(&device_is_closed, 0, 0);
	pthread_create(&thread, NULL, use_and_wait, device);
	sem_wait(&thread_uses);
	assert_int_equal(mapped_rings(), 3);
	mimic_device_close(device);
	assert_int_equal(mapped_rings(), 1);
	sem_post(&device_is_closed);
	pthread_join(thread, NULL);
	assert_int_equal(mapped_rings(), 1);
}

static void contexts_of_a_device_are_one_session(void **state)
{
	struct mimic_device *first, *second;

	(void)state;
	start_machine("dare0");
	first = open_device("dare0");
	second = open_device("dare0");
	access_of(first, DARE_RS1, 8, true, 11);
	access_of(second, DARE_RS1, 8, true, 22);
	assert_int_equal(access_of(first, DARE_RS1, 8, false, 0), 11);
	assert_int_equal(access_of(second, DARE_RS1, 8, false, 0), 22);
	assert_int_equal(guest_register(&driver.guest, DARE_PAGE_CONTEXT(1), DARE_RS1, 8), 22);
	assert_int_equal(driver.last_thread, 1);
	/* The session goes on by the other node. */
	mimic_device_close(first);
	assert_int_equal(access_of(second, DARE_RS1, 8, false, 0), 22);
	mimic_device_close(second);
}

static void a_device_that_goes_is_an_error(void **state)
{
	struct mimic_access access = { .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), .size = 8 };
	struct mimic_device *device = start_maple();

	(void)state;
	/* The program's space is closed, as when its driver is unbound. */
	guest_set_mode(&driver.guest, 1, MIMIC_PCI_MODE_NONE);
	driver.is_gone = true;
	assert_int_not_equal(mimic_device_access(device, &access), 0);
	mimic_device_close(device);
	guest_end(&driver.guest);
	/* And the next open begins anew. */
	mimic_device_close(start_maple());
}

static struct mimic_device *waited_for;

static void consume_one(void)
{
	maple_load(waited_for, MAPLE_LOAD_OPEN_CONSUMER, 0);
	maple_load(waited_for, MAPLE_LOAD_CONSUME, 0);
}

static void a_thread_that_waits_long_says_what_for(void **state)
{
	struct told_thread thread;

	(void)state;
	start_machine("maple0");
	waited_for = open_device("maple0");
	maple_load(waited_for, MAPLE_LOAD_INIT, 2);
	told_begin(300);
	told_start(&thread, consume_one);
	assert_true(told_wait(1));
	assert_string_equal(told_wait_of("maple0"),
			    "a load of MAPLE CONSUME [0]: queue 0 is empty, and nobody produces");
	told_end();
	assert_true(maple_load(waited_for, MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	access_of(waited_for, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, true, 1);
	told_join(&thread);
	mimic_device_close(waited_for);
}

static void a_driver_without_lanes_is_an_error_at_open(void **state)
{
	struct mimic_device *device = NULL;

	(void)state;
	start_machine("maple0");
	driver.has_no_lanes = true;
	assert_int_equal(mimic_device_open(&device, "maple0", &by_nodes), -EOPNOTSUPP);
	assert_non_null(strstr(mimic_error_text(), ",rings"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, end_machine)
	const struct CMUnitTest tests[] = {
		TEST(a_device_is_used_by_a_lane),
		TEST(many_words_are_posted_and_loaded),
		TEST(a_thread_that_waits_sleeps_until_the_interrupt),
		TEST(a_daemon_that_sleeps_is_woken),
		TEST(no_lane_keeps_the_node_when_the_device_is_closed),
		TEST(contexts_of_a_device_are_one_session),
		TEST(a_device_that_goes_is_an_error),
		TEST(a_thread_that_waits_long_says_what_for),
		TEST(a_driver_without_lanes_is_an_error_at_open),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
