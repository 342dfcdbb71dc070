/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/kept_bus.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/log.h"
#include "daemon/loop/notify.h"
#include "daemon/server.h"
#include "daemon/supervise/supervisor.h"
#include "tests/lib/log_lines.h"

#define PAGE 4096u
/* Open in the supervisor and in each daemon, above all that are kept. */
#define SHARED_FD 900
#define RING_FD 901
#define SLOTS_BYTES ((MIMIC_BUS_SLOTS_SIZE + PAGE - 1) / PAGE * PAGE)
#define KERNEL_OFFSET SLOTS_BYTES
#define KERNEL_BYTES (16u * PAGE)
#define ARENA_OFFSET (KERNEL_OFFSET + KERNEL_BYTES)
#define MEMORY_OFFSET (ARENA_OFFSET + KEPT_ARENA_BYTES)
#define SHARED_BYTES (MEMORY_OFFSET + KEPT_DEVICES * KEPT_MEMORY_BYTES)
#define PATIENCE_MS 20000u
#define RECOVERY_SECONDS 30u

_Static_assert(sizeof(struct kept_kernel) <= KERNEL_BYTES, "the kernel's part of the file");

struct kept_bus kept_bus;

static void map_all(void)
{
	char *shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);

	if (shared == MAP_FAILED)
		_exit(90);
	kept_bus.header = (struct mimic_bus_header *)shared;
	kept_bus.slots = (struct mimic_bus_slot *)(shared + MIMIC_BUS_HEADER_SIZE);
	kept_bus.kernel = (struct kept_kernel *)(shared + KERNEL_OFFSET);
	kept_bus.arena = (uint32_t *)(shared + ARENA_OFFSET);
	kept_bus.memory = shared + MEMORY_OFFSET;
	kept_bus.ring = RING_FD;
}

static void take_lock(void)
{
	if (pthread_mutex_lock(&kept_bus.kernel->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&kept_bus.kernel->lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&kept_bus.kernel->lock);
}

static void ring(void)
{
	const uint64_t one = 1;

	(void)!write(kept_bus.ring, &one, sizeof(one));
}

/* With the lock. */
static void deliver(__u64 *bits, uint32_t slot)
{
	__atomic_fetch_or(&bits[slot / 64], 1ull << slot % 64, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&kept_bus.header->doorbell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&kept_bus.header->sleeping, __ATOMIC_SEQ_CST))
		ring();
}

/* --- the system calls of a daemon --------------------------------------------------------------- */

static int node_open(const char *path)
{
	(void)path;
	kept_bus.kernel->opens++;
	kept_bus.kernel->daemon = getpid();
	memset(kept_bus.kernel->is_registered, 0, sizeof(kept_bus.kernel->is_registered));
	return fcntl(SHARED_FD, F_DUPFD_CLOEXEC, 0);
}

static int do_register(struct mimic_bus_register *wanted)
{
	uint32_t index = (uint32_t)wanted->index;

	if (index >= KEPT_DEVICES)
		return -ENOSPC;
	/* One device of each kind here, but for MAPLE's: DARE and Virgo follow them. */
	index += !strcmp(wanted->kind, "dare") ? 2 : !strcmp(wanted->kind, "virgo") ? 3 : 0;
	kept_bus.kernel->is_registered[index] = true;
	wanted->device = KEPT_DEVICE(index);
	return 0;
}

static void redeliver(void)
{
	__atomic_store_n(&kept_bus.header->sleeping, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < MIMIC_BUS_SLOTS; i++) {
		struct mimic_bus_slot *slot = &kept_bus.slots[i];

		if (!kept_bus.kernel->in_use[i] || __atomic_load_n(&slot->answered, __ATOMIC_ACQUIRE))
			continue;
		kept_bus.kernel->redelivered++;
		if (kept_bus.kernel->has_given_up[i])
			deliver(kept_bus.header->cancelled, i);
		deliver(kept_bus.header->pending, i);
	}
}

static int do_take_over(struct mimic_bus_take_over *wanted)
{
	int error = kept_bus.kernel->take_over_error;

	kept_bus.kernel->take_over_error = 0;
	if (error)
		return error;
	if (!kept_bus.kernel->milliseconds)
		return -ENODEV;
	if (memcmp(wanted->token, kept_bus.kernel->token, sizeof(wanted->token)))
		return -EACCES;
	if (kept_bus.kernel->daemon && !kill(kept_bus.kernel->daemon, 0))
		return -EBUSY;
	kept_bus.kernel->daemon = getpid();
	kept_bus.kernel->take_overs++;
	kept_bus.kernel->is_protected = kept_bus.kernel->program_forks;
	redeliver();
	return 0;
}

static int do_keep(const struct mimic_bus_keep *keep)
{
	if (kept_bus.kernel->daemon != getpid())
		return -EPERM;
	kept_bus.kernel->keeps++;
	kept_bus.kernel->milliseconds = keep->milliseconds;
	memcpy(kept_bus.kernel->token, keep->token, sizeof(keep->token));
	return 0;
}

/* The program's memory in this daemon's window. NULL: it is not mapped. */
static char *window_arena;

static int let_write(void)
{
	kept_bus.kernel->is_protected = false;
	return window_arena && mprotect(window_arena, KEPT_ARENA_BYTES, PROT_READ | PROT_WRITE) ? -errno : 0;
}

static int do_fault_in(const struct mimic_bus_fault_in *wanted)
{
	if (wanted->address - KEPT_ARENA >= KEPT_ARENA_BYTES)
		return -EFAULT;
	kept_bus.kernel->fault_ins++;
	return let_write();
}

static int do_ioctl(unsigned long request, void *argument)
{
	const struct mimic_bus_interrupt *interrupt = argument;
	struct mimic_bus_info *info = argument;

	switch (request) {
	case MIMIC_BUS_INFO:
		info->version = MIMIC_BUS_VERSION;
		info->slots = MIMIC_BUS_SLOTS;
		info->slot_size = sizeof(struct mimic_bus_slot);
		info->slots_size = SLOTS_BYTES;
		return 0;
	case MIMIC_BUS_REGISTER:
		return do_register(argument);
	case MIMIC_BUS_UNREGISTER:
		return 0;
	case MIMIC_BUS_INTERRUPT:
		kept_bus.kernel->interrupts[interrupt->device - KEPT_DEVICE(0)]++;
		return 0;
	case MIMIC_BUS_KEEP:
		return do_keep(argument);
	case MIMIC_BUS_TAKE_OVER:
		return do_take_over(argument);
	case MIMIC_BUS_FAULT_IN:
		return do_fault_in(argument);
	default:
		return request == MIMIC_BUS_COMMIT ? 0 : -ENOTTY;
	}
}

static int node_ioctl(int fd, unsigned long request, void *argument)
{
	int error;

	(void)fd;
	take_lock();
	error = do_ioctl(request, argument);
	give_lock();
	return error;
}

static void *node_map(int fd, size_t size, uint64_t offset)
{
	uint64_t start = offset & ((1ull << MIMIC_BUS_WINDOW_SHIFT) - 1);
	int access = kept_bus.kernel->is_protected ? PROT_READ : PROT_READ | PROT_WRITE;
	char *window;

	(void)fd;
	if (offset == MIMIC_BUS_SLOTS_OFFSET)
		return kept_bus.header;
	window = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (window != MAP_FAILED && KEPT_ARENA >= start && KEPT_ARENA - start < size)
		window_arena = mmap(window + (KEPT_ARENA - start), KEPT_ARENA_BYTES, access, MAP_SHARED | MAP_FIXED,
				    SHARED_FD, ARENA_OFFSET);
	return window == MAP_FAILED ? NULL : window;
}

static int node_map_at(int fd, void *address, size_t size, uint64_t offset)
{
	uint64_t device = (offset - MIMIC_BUS_MEMORY(KEPT_DEVICE(0))) / MIMIC_BUS_MEMORY_MAX;
	void *mapped;

	(void)fd;
	if (device >= KEPT_DEVICES || size > KEPT_MEMORY_BYTES)
		return -EINVAL;
	mapped = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, SHARED_FD,
		      (off_t)(MEMORY_OFFSET + device * KEPT_MEMORY_BYTES));
	return mapped == MAP_FAILED ? -errno : 0;
}

static void node_unmap(void *address, size_t size)
{
	if (address != kept_bus.header)
		munmap(address, size);
}

static ssize_t node_read(int fd, void *buffer, size_t size)
{
	(void)fd;
	(void)buffer;
	(void)size;
	return -EAGAIN;
}

static ssize_t node_write(int fd, const void *buffer, size_t size)
{
	(void)fd;
	(void)buffer;
	(void)size;
	return -EINVAL;
}

static void node_close(int fd)
{
	close(fd);
}

static int ring_create(int fd, void **created, int *poll_fd)
{
	(void)fd;
	*created = &kept_bus;
	*poll_fd = RING_FD;
	return 0;
}

static int ring_fetch(void *context, int slot)
{
	(void)context;
	(void)slot;
	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS / 64; i++) {
		if (kept_bus.header->pending[i] | kept_bus.header->cancelled[i])
			ring();
	}
	return 0;
}

static int ring_reap(void *context)
{
	uint64_t count;

	(void)context;
	return read(RING_FD, &count, sizeof(count)) == (ssize_t)sizeof(count);
}

static void ring_destroy(void *context)
{
	(void)context;
}

static const struct mimicd_bus_ops node_ops = {
	.open = node_open,
	.ioctl = node_ioctl,
	.map = node_map,
	.map_at = node_map_at,
	.unmap = node_unmap,
	.read = node_read,
	.write = node_write,
	.close = node_close,
	.ring_create = ring_create,
	.ring_fetch = ring_fetch,
	.ring_reap = ring_reap,
	.ring_destroy = ring_destroy,
};

/* --- the daemon --------------------------------------------------------------------------------- */

static struct mimicd_server *server;

static void stop_serving(int signal_number)
{
	(void)signal_number;
	mimicd_server_stop(server);
}

static void serve(const char *devices)
{
	struct mimicd_options options = {
		.clients = { .listen_fd = -1, .recovery_seconds = RECOVERY_SECONDS },
		.bus = { .kernel = MIMICD_KERNEL_REQUIRED, .path = "/dev/kept", .ops = &node_ops,
			 .recovery_seconds = RECOVERY_SECONDS },
		.recover = true,
	};

	map_all();
	mimic_config_default(&options.settings);
	options.settings.spin_microseconds = 20;
	if (mimic_config_devices(devices, &options.settings) || mimicd_store_take(&options.stored, &options.stored_count) ||
	    mimicd_server_create(&server, &options))
		_exit(91);
	signal(SIGTERM, stop_serving);
	let_write();
	kept_bus.kernel->ready = kept_bus.kernel->take_overs + 1;
	mimicd_notify("READY=1");
	if (mimicd_server_run(server))
		_exit(92);
	mimicd_notify("STOPPING=1");
	mimicd_server_destroy(server);
	_exit(0);
}

void kept_bus_daemon(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--kept-daemon"))
		serve(argv[2]);
}

/* --- start and stop ----------------------------------------------------------------------------- */

static void sleep_us(long microseconds)
{
	const struct timespec time = { .tv_nsec = microseconds * 1000 };

	nanosleep(&time, NULL);
}

static void make_shared(void)
{
	pthread_mutexattr_t attributes;
	int file = memfd_create("kept bus", 0), event = eventfd(0, EFD_NONBLOCK);

	if (file < 0 || event < 0 || ftruncate(file, SHARED_BYTES) || dup2(file, SHARED_FD) < 0 ||
	    dup2(event, RING_FD) < 0)
		_exit(89);
	close(file);
	close(event);
	map_all();
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&kept_bus.kernel->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	kept_bus.header->sleeping = 1;
}

static void supervise(const char *devices)
{
	char name[] = "kept", option[] = "--kept-daemon", list[64];
	char *const arguments[] = { name, option, list, NULL };
	const struct mimicd_supervisor_options options = {
		.program = "/proc/self/exe", .arguments = arguments, .recovery_seconds = RECOVERY_SECONDS,
	};
	int log = open(kept_bus.log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	/* A test that fails leaves nothing behind. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(list, sizeof(list), "%s", devices);
	dup2(log, STDERR_FILENO);
	exit(mimicd_supervise(&options));
}

bool kept_bus_start(const char *devices)
{
	make_shared();
	snprintf(kept_bus.log, sizeof(kept_bus.log), "/tmp/mimic-kept-%d", (int)getpid());
	fflush(NULL);
	kept_bus.supervisor = fork();
	if (!kept_bus.supervisor)
		supervise(devices);
	for (unsigned int i = 0; i < PATIENCE_MS * 10 && !kept_bus.kernel->ready; i++)
		sleep_us(100);
	return kept_bus.kernel->ready;
}

bool kept_bus_stop(void)
{
	int status = -1;

	kill(kept_bus.supervisor, SIGTERM);
	waitpid(kept_bus.supervisor, &status, 0);
	unlink(kept_bus.log);
	munmap(kept_bus.header, SHARED_BYTES);
	close(SHARED_FD);
	close(RING_FD);
	memset(&kept_bus, 0, sizeof(kept_bus));
	return !status;
}

void kept_bus_kill(void)
{
	pid_t daemon = kept_bus.kernel->daemon;

	kill(daemon, SIGKILL);
	/* It may serve until it has the signal, and is there until the supervisor has seen its end. */
	for (unsigned int i = 0; i < PATIENCE_MS * 10 && !kill(daemon, 0); i++)
		sleep_us(100);
}

unsigned int kept_bus_said(const char *text)
{
	return log_lines_with(kept_bus.log, text);
}

/* --- requests ----------------------------------------------------------------------------------- */

uint32_t kept_bus_put(const struct mimic_bus_request *request)
{
	struct mimic_bus_slot *slot;
	uint32_t number = 0;

	take_lock();
	while (kept_bus.kernel->in_use[number])
		number++;
	slot = &kept_bus.slots[number];
	slot->request = *request;
	slot->request.slot = number;
	slot->serial = ++kept_bus.kernel->last_serial;
	slot->waiter_sleeps = request->posted;
	__atomic_store_n(&slot->answered, 0, __ATOMIC_RELEASE);
	__atomic_fetch_and(&kept_bus.header->cancelled[number / 64], ~(1ull << number % 64), __ATOMIC_SEQ_CST);
	kept_bus.kernel->has_given_up[number] = false;
	kept_bus.kernel->in_use[number] = true;
	deliver(kept_bus.header->pending, number);
	give_lock();
	return number;
}

int kept_bus_wait(uint32_t number, uint64_t *data)
{
	struct mimic_bus_slot *slot = &kept_bus.slots[number];
	int status;

	for (unsigned int i = 0; !__atomic_load_n(&slot->answered, __ATOMIC_ACQUIRE); i++) {
		if (i == PATIENCE_MS * 20)
			return -ETIMEDOUT;
		if (i > 1000)
			sleep_us(10);
	}
	status = slot->status;
	if (data)
		*data = slot->data;
	take_lock();
	kept_bus.kernel->in_use[number] = false;
	give_lock();
	return status;
}

void kept_bus_cancel(uint32_t slot)
{
	take_lock();
	kept_bus.kernel->has_given_up[slot] = true;
	deliver(kept_bus.header->cancelled, slot);
	give_lock();
}

int kept_bus_request(enum mimic_bus_request_kind kind, uint32_t device, uint32_t binding, uint32_t thread)
{
	const struct mimic_bus_request request = {
		.kind = kind, .device = KEPT_DEVICE(device), .binding = binding, .thread = thread,
	};

	return kept_bus_wait(kept_bus_put(&request), NULL);
}

int kept_bus_open(uint32_t device, uint32_t binding, uint32_t process)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_OPEN, .device = KEPT_DEVICE(device), .binding = binding, .process = process,
		.pid = getpid(), .uid = getuid(), .program = "test",
	};

	return kept_bus_wait(kept_bus_put(&request), NULL);
}

int kept_bus_access(struct mimic_bus_request access, uint64_t *data)
{
	int status;

	access.kind = MIMIC_BUS_REQUEST_ACCESS;
	if (access.is_write)
		access.data = *data;
	/* A cancellation of the slot's last request may have come too late for that one. */
	do
		status = kept_bus_wait(kept_bus_put(&access), data);
	while (status == MIMIC_BUS_TAKEN_BACK);
	return status;
}
