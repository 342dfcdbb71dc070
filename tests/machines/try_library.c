/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmimic in a virtual machine, by lanes that the project's drivers give: words, the process's memory, page faults beside,
 * threads that sleep, more threads than lanes, programs that are hostile or end, a device that is taken away. TAP.
 *
 *	try_library MODULE	the PCI driver to be unbound
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/mimic.h"
#include "mimic/accelerator_ioctl.h"
#include "mimic/lane.h"
#include "mimic/maple_ioctl.h"
#include "mimic/maple_registers.h"
#include "mimic/pci.h"

#define NODE "/dev/maple0"
#define PAGE 4096u
#define THREADS 70

static const struct mimic_options by_nodes = { .transport = MIMIC_TRANSPORT_KERNEL };
static unsigned int tests, failures;

static void check(bool holds, const char *what)
{
	failures += !holds;
	printf("%sok %u - %s\n", holds ? "" : "not ", ++tests, what);
	fflush(stdout);
}

/* --- the device ---------------------------------------------------------------------------- */

static int access_device(struct mimic_device *device, unsigned int offset, unsigned int size, bool is_write,
			 uint64_t *value)
{
	struct mimic_access access = {
		.offset = offset, .size = (uint8_t)size, .is_write = is_write, .data = is_write ? *value : 0,
	};
	int error = mimic_device_access(device, &access);

	*value = access.data;
	return error;
}

static uint64_t load(struct mimic_device *device, unsigned int operation, unsigned int field)
{
	uint64_t value;

	return access_device(device, MAPLE_OFFSET(operation, field), 4, false, &value) ? UINT64_MAX : value;
}

static bool store(struct mimic_device *device, unsigned int operation, unsigned int size, uint64_t value)
{
	return !access_device(device, MAPLE_OFFSET(operation, 0), size, true, &value);
}

static bool is_there(struct mimic_device *device)
{
	uint64_t value;

	return !access_device(device, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8, false, &value) &&
	       value >> 32 == MAPLE_IDENTIFY_MAGIC;
}

/* With one queue, both ends of it this thread's. */
static struct mimic_device *start(void)
{
	struct mimic_device *device = NULL;
	int error = mimic_device_open(&device, "maple0", &by_nodes);

	if (error) {
		printf("# %s\n", mimic_error_text());
		return NULL;
	}
	load(device, MAPLE_LOAD_INIT, 2);
	load(device, MAPLE_LOAD_OPEN_PRODUCER, 0);
	load(device, MAPLE_LOAD_OPEN_CONSUMER, 0);
	return device;
}

static unsigned long long counter(const char *name)
{
	unsigned long long value = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/maple0/%s", name);
	file = fopen(path, "r");
	if (file && fscanf(file, "%llu", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

/* --- words and memory ------------------------------------------------------------------------ */

static void try_words(struct mimic_device *device)
{
	unsigned int wrong = 0;

	for (uint32_t i = 0; i < 20000; i++) {
		store(device, MAPLE_STORE_PRODUCE, 4, i * 7);
		wrong += load(device, MAPLE_LOAD_CONSUME, 0) != (uint32_t)(i * 7);
	}
	check(!wrong, "20000 words go through a queue");
}

static uint32_t *fresh_pages(void *at, size_t count)
{
	void *memory = mmap(at, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0),
			    -1, 0);

	madvise(memory, count * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static uint64_t fetch(struct mimic_device *device, const uint32_t *word)
{
	store(device, MAPLE_STORE_FULL_POINTER32, 8, (uintptr_t)word);
	return load(device, MAPLE_LOAD_CONSUME, 0);
}

static void try_memory(struct mimic_device *device)
{
	unsigned long long faults = counter("faults"), interrupts = counter("interrupts");
	uint32_t *memory = fresh_pages(NULL, 64);
	unsigned int wrong = 0;

	for (uint32_t i = 0; i < 64; i++)
		wrong += fetch(device, &memory[i * PAGE / 4]) != 0;
	check(!wrong && counter("faults") >= faults + 64, "pages that are not there are brought for pointers by a lane");
	check(counter("interrupts") > interrupts, "and the device's interrupt tells of them");
	for (uint32_t i = 0; i < 64 * PAGE / 4; i++)
		memory[i] = i + 3;
	for (uint32_t i = 0; i < 2000; i++)
		wrong += fetch(device, &memory[i * 31 % (64 * PAGE / 4)]) != i * 31 % (64 * PAGE / 4) + 3;
	check(!wrong, "the process's memory is read");
	for (uint32_t i = 0; i < 200; i++) {
		memory = fresh_pages(memory, 1);
		wrong += fetch(device, memory) != 0;
		*memory = i + 1;
		wrong += fetch(device, memory) != i + 1;
	}
	check(!wrong, "and never a page that is gone");
	munmap(memory, 64 * PAGE);
}

/* --- threads ---------------------------------------------------------------------------------- */

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct waiter {
	struct mimic_device *device;
	uint64_t value;
	double slept, worked;
	int error;
};

static void *wait_for_word(void *context)
{
	struct waiter *waiter = context;
	double real = seconds(CLOCK_MONOTONIC), own = seconds(CLOCK_THREAD_CPUTIME_ID);

	load(waiter->device, MAPLE_LOAD_OPEN_CONSUMER, 0);
	waiter->error = access_device(waiter->device, MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0), 4, false, &waiter->value);
	waiter->slept = seconds(CLOCK_MONOTONIC) - real;
	waiter->worked = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
	return NULL;
}

static void try_sleep(struct mimic_device *device)
{
	struct waiter waiter = { .device = device };
	pthread_t thread;

	load(device, MAPLE_LOAD_CLOSE_CONSUMER, 0);
	pthread_create(&thread, NULL, wait_for_word, &waiter);
	sleep(2);
	store(device, MAPLE_STORE_PRODUCE, 4, 4711);
	pthread_join(thread, NULL);
	check(waiter.value == 4711 && waiter.slept > 1.5, "a load waits for its word in a thread");
	check(waiter.worked < 0.5, "which sleeps meanwhile");
	check(load(device, MAPLE_LOAD_OPEN_CONSUMER, 0) & 1, "its role is free when it ends");
}

static pthread_barrier_t all_have_one;

static void *use_a_lane(void *context)
{
	uint64_t value;
	int error = access_device(context, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8, false, &value);

	pthread_barrier_wait(&all_have_one);
	return (void *)(intptr_t)error;
}

/* How many of them get a lane; -1: an error that is none. */
static int count_lanes(struct mimic_device *device)
{
	pthread_t threads[THREADS];
	int count = 0;

	pthread_barrier_init(&all_have_one, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use_a_lane, device);
	for (unsigned int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		if (!result && count >= 0)
			count++;
		else if ((intptr_t)result != -EMFILE && result)
			count = -1;
	}
	pthread_barrier_destroy(&all_have_one);
	return count;
}

static void try_threads(struct mimic_device *device)
{
	check(count_lanes(device) == MIMIC_PCI_LANES - 1, "a thread more than there are lanes gets EMFILE");
	check(count_lanes(device) == MIMIC_PCI_LANES - 1, "the lanes of threads that have ended are free");
	check(is_there(device), "the first one goes on");
}

/* --- other processes ---------------------------------------------------------------------------- */

static int in_child(int (*function)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		_exit(function());
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int open_in_vain(void)
{
	struct mimic_device *device;

	return mimic_device_open(&device, "maple0", &by_nodes) != -EBUSY;
}

static int use_and_leave_words(void)
{
	struct mimic_device *device = start();

	if (!device || !is_there(device))
		return 1;
	for (uint32_t i = 0; i < 10; i++)
		store(device, MAPLE_STORE_PRODUCE, 4, i);
	return 0;
}

static int close_and_stay(void)
{
	struct mimic_device *device = start();

	if (!device || !is_there(device))
		return 1;
	store(device, MAPLE_STORE_PRODUCE, 4, 99);
	mimic_device_close(device);
	return in_child(use_and_leave_words);
}

static void try_processes(void)
{
	struct mimic_device *device;

	check(in_child(use_and_leave_words) == 0, "another process has the device when it is closed");
	check(in_child(close_and_stay) == 0, "also while that one goes on");
	device = start();
	check(device && load(device, MAPLE_LOAD_DEBUG, 0) != UINT64_MAX && is_there(device), "and the next one");
	if (!device)
		return;
	store(device, MAPLE_STORE_PRODUCE, 4, 1234);
	check(load(device, MAPLE_LOAD_CONSUME, 0) == 1234, "nothing that a process has left is there");
	mimic_device_close(device);
}

/* --- without the library ------------------------------------------------------------------------- */

static int lane_call(int node, unsigned int what, uint32_t number, uint32_t value, uint64_t nanoseconds)
{
	struct accelerator_lane_call call = {
		.size = sizeof(call), .call = what, .number = number, .value = value, .nanoseconds = nanoseconds,
	};

	return ioctl(node, ACCELERATOR_IOCTL_LANE_CALL(MAPLE_IOCTL), &call) ? errno : 0;
}

static int get_lane(int node, struct accelerator_lane *lane)
{
	lane->size = sizeof(*lane);
	return ioctl(node, ACCELERATOR_IOCTL_LANE(MAPLE_IOCTL), lane) ? errno : 0;
}

static char *map_lane(int node, uint64_t offset, size_t size, int flags)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, node, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

static void try_mappings(int node, const struct accelerator_lane *lane, size_t size)
{
	char *memory = map_lane(node, lane->offset, size, MAP_SHARED);
	const uint64_t *lost = (const uint64_t *)(const void *)(memory + MIMIC_PCI_LANE_LOST);
	struct accelerator_lane kept = { .thread = lane->thread };

	check(memory && !*lost, "a lane can be mapped");
	if (!memory)
		return;
	check(!map_lane(node, lane->offset, size, MAP_PRIVATE) && !map_lane(node, lane->offset, size + PAGE, MAP_SHARED) &&
	      !map_lane(node, lane->offset + size, PAGE, MAP_SHARED), "not as a copy, and none of the next one's pages");
	check(mremap(memory, size, size + PAGE, MREMAP_MAYMOVE) == MAP_FAILED, "and it does not grow");
	check(lane_call(node, ACCELERATOR_LANE_WAIT, lane->lane, 0, 20000000) == ETIMEDOUT, "a wait ends in time");
	check(!lane_call(node, ACCELERATOR_LANE_WAIT, lane->lane, 1, 20000000), "or is not needed");
	check(!lane_call(node, ACCELERATOR_LANE_CLOSE, lane->lane, 0, 0), "a lane is closed");
	check(*lost == UINT64_MAX, "then it says that its devices are lost");
	memset(memory, 0x55, size);
	check(lane_call(node, ACCELERATOR_LANE_WAIT, lane->lane, 0, 1) == ENOENT &&
	      lane_call(node, ACCELERATOR_LANE_CLOSE, lane->lane, 0, 0) == ENOENT, "and is none any more");
	check(!get_lane(node, &kept) && kept.thread == lane->thread, "its thread gets another one");
	check(!lane_call(node, ACCELERATOR_LANE_THREAD_END, kept.thread, 0, 0) && get_lane(node, &kept) == ENOENT,
	      "until the thread ends");
	munmap(memory, size);
}

static void try_calls(void)
{
	struct accelerator_lane lane = { .level = 0 }, bad = { .level = MIMIC_PCI_LANE_LEVELS };
	int node = open(NODE, O_RDWR | O_CLOEXEC);
	size_t size;

	check(get_lane(node, &bad) == EINVAL && get_lane(node, &(struct accelerator_lane){ .thread = 9 }) == ENOENT &&
	      lane_call(node, 77, 0, 0, 0) == EINVAL && lane_call(node, ACCELERATOR_LANE_KICK, 0, 1, 0) == EINVAL,
	      "calls that mean nothing are refused");
	check(!get_lane(node, &lane) && lane.thread && lane.command_words && lane.response_words, "LANE gives a lane");
	size = mimic_lane_size(lane.command_words, lane.response_words);
	try_mappings(node, &lane, size);
	close(node);
}

/* All lanes that there are, full of words at random. */
static int be_hostile(void)
{
	int node = open(NODE, O_RDWR | O_CLOEXEC);
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 3 * MIMIC_PCI_LANES; i++) {
		struct accelerator_lane lane = { .level = 0 };
		uint32_t *memory;

		if (get_lane(node, &lane))
			continue;
		memory = (uint32_t *)(void *)map_lane(node, lane.offset, PAGE, MAP_SHARED);
		if (!memory)
			return 1;
		for (unsigned int at = 0; at < PAGE / 4; at++)
			memory[at] = (uint32_t)rand_r(&seed);
		lane_call(node, ACCELERATOR_LANE_KICK, 0, 0, 0);
		lane_call(node, ACCELERATOR_LANE_WAIT, lane.lane, memory[MIMIC_PCI_LANE_SLEEPING / 4], 1000000);
		lane_call(node, ACCELERATOR_LANE_CANCEL, lane.lane, 0, 0);
		if (i % 3 == 0)
			lane_call(node, ACCELERATOR_LANE_CLOSE, lane.lane, 0, 0);
	}
	return 0;
}

static void try_hostile(void)
{
	struct mimic_device *device;

	check(in_child(be_hostile) == 0, "a program writes what it likes");
	device = start();
	check(device && is_there(device) && count_lanes(device) == MIMIC_PCI_LANES - 1, "and harms nobody else");
	if (device)
		mimic_device_close(device);
}

/* --- the device goes -------------------------------------------------------------------------- */

/* Of the function whose device maple0 is. */
static bool tell_driver(const char *driver, const char *file, char function[64])
{
	char path[PATH_MAX];
	bool done = false;
	int fd;

	if (!function[0] && realpath("/sys/bus/mimic/devices/maple0/..", path))
		snprintf(function, 64, "%.63s", strrchr(path, '/') + 1);
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/%s", driver, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		done = write(fd, function, strlen(function)) > 0;
		close(fd);
	}
	return done;
}

static void try_unbind(const char *driver)
{
	struct mimic_device *device = start();
	struct waiter waiter = { .device = device };
	char function[64] = "";
	pthread_t thread;

	if (!device) {
		check(false, "the device opens");
		return;
	}
	load(device, MAPLE_LOAD_CLOSE_CONSUMER, 0);
	pthread_create(&thread, NULL, wait_for_word, &waiter);
	sleep(1);
	check(tell_driver(driver, "unbind", function), "the function is taken from its driver");
	pthread_join(thread, NULL);
	check(waiter.error < 0, "a thread that waits at a lane gets an error, and no signal");
	check(!is_there(device), "as does any other");
	mimic_device_close(device);
	check(tell_driver(driver, "bind", function), "the driver takes it again");
	device = start();
	check(device && is_there(device), "a program that opens it has it again");
	if (device)
		mimic_device_close(device);
}

int main(int argc, char **argv)
{
	struct mimic_device *device = start();

	if (!device || argc < 2)
		return 1;
	check(!strcmp(mimic_device_transport(device), "kernel") && is_there(device), "libmimic uses the driver's lanes");
	try_words(device);
	try_memory(device);
	try_sleep(device);
	try_threads(device);
	check(in_child(open_in_vain) == 0, "the device is one process's");
	mimic_device_close(device);
	try_processes();
	try_calls();
	try_hostile();
	try_unbind(argv[1]);
	printf("1..%u\n", tests);
	return failures != 0;
}
