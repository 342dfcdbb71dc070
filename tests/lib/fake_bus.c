/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/session.h"
#include "daemon/loop/log.h"
#include "libmimic/base/probe.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/fake_bus.h"
#include "tests/lib/kinds.h"

#define PAGE 4096u
#define WINDOWS 64u
#define PATIENCE_MS 5000

struct fake_bus fake_bus;

static struct window {
	char *base;
	size_t size;
	uint64_t start;	/* address in the program */
} windows[WINDOWS];

/* Guards all that the server's thread and the test both access, slots apart. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void show_page(const struct window *window, unsigned int page)
{
	static const int protections[] = { PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE };
	uint64_t address = FAKE_ARENA + page * (uint64_t)PAGE;

	if (address < window->start || address - window->start >= window->size)
		return;
	mmap(window->base + (address - window->start), PAGE, protections[fake_bus.pages[page]],
	     MAP_SHARED | MAP_FIXED, fake_bus.arena_file, (off_t)page * PAGE);
}

void fake_bus_page(unsigned int page, enum fake_page state)
{
	pthread_mutex_lock(&lock);
	fake_bus.pages[page] = state;
	for (unsigned int i = 0; i < WINDOWS; i++) {
		if (windows[i].base)
			show_page(&windows[i], page);
	}
	pthread_mutex_unlock(&lock);
}

/* --- the system calls ----------------------------------------------------- */

static int fake_node_open(const char *path)
{
	if (strcmp(path, "/dev/fake"))
		return -ENOENT;
	return fake_bus.open_error ? fake_bus.open_error : dup(fake_bus.node);
}

static int do_register(struct mimic_bus_register *wanted)
{
	uint32_t device = (uint32_t)wanted->index;

	if (device >= FAKE_DEVICES)
		return -ENOSPC;
	if (fake_bus.is_registered[device])
		return -EEXIST;
	fake_bus.is_registered[device] = true;
	wanted->device = 10 + device;
	/* A device that was removed and comes again has the same. */
	if (wanted->memory_size && !fake_bus.registered[device].memory_size) {
		fake_bus.memory_file[device] = memfd_create("device", MFD_CLOEXEC);
		if (ftruncate(fake_bus.memory_file[device], wanted->memory_size))
			return -ENOMEM;
	}
	fake_bus.registered[device] = *wanted;
	return 0;
}

static int do_ioctl(unsigned long request, void *argument)
{
	struct mimic_bus_info *info = argument;
	struct mimic_bus_interrupt *interrupt = argument;
	struct mimic_bus_unregister *unwanted = argument;
	struct mimic_bus_commit *commit = argument;

	switch (request) {
	case MIMIC_BUS_INFO:
		info->version = fake_bus.version;
		info->slots = MIMIC_BUS_SLOTS;
		info->slot_size = sizeof(struct mimic_bus_slot);
		info->slots_size = (MIMIC_BUS_SLOTS_SIZE + PAGE - 1) / PAGE * PAGE;
		return info->size == sizeof(*info) ? 0 : -EINVAL;
	case MIMIC_BUS_REGISTER:
		return do_register(argument);
	case MIMIC_BUS_UNREGISTER:
		fake_bus.is_registered[unwanted->device - 10] = false;
		return 0;
	case MIMIC_BUS_INTERRUPT:
		__atomic_add_fetch(&fake_bus.interrupts[interrupt->device - 10], 1, __ATOMIC_RELEASE);
		return interrupt->line ? -EINVAL : 0;
	case MIMIC_BUS_COMMIT:
		fake_bus.commits++;
		fake_bus.answered[commit->slot] = true;
		if (fake_bus.slots[commit->slot].fd >= 0)
			fake_bus.connected = dup(fake_bus.slots[commit->slot].fd);
		return 0;
	default:
		return -ENOTTY;
	}
}

static int fake_ioctl(int fd, unsigned long request, void *argument)
{
	int error;

	(void)fd;
	pthread_mutex_lock(&lock);
	error = do_ioctl(request, argument);
	pthread_mutex_unlock(&lock);
	return error;
}

static void *fake_map(int fd, size_t size, uint64_t offset)
{
	struct window *window = windows;

	(void)fd;
	if (offset == MIMIC_BUS_SLOTS_OFFSET) {
		fake_bus.uses_slots = true;
		return fake_bus.header;
	}
	pthread_mutex_lock(&lock);
	while (window->base)
		window++;
	window->base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(window->base != MAP_FAILED);
	window->size = size;
	window->start = offset & ((1ull << MIMIC_BUS_WINDOW_SHIFT) - 1);
	for (unsigned int page = 0; page < FAKE_ARENA_PAGES; page++)
		show_page(window, page);
	pthread_mutex_unlock(&lock);
	return window->base;
}

/* Of REGISTER's device 10 + N. */
static int fake_map_at(int fd, void *address, size_t size, uint64_t offset)
{
	uint64_t device = (offset - MIMIC_BUS_MEMORY(10)) / MIMIC_BUS_MEMORY_MAX;
	int error = fake_bus.map_error;

	(void)fd;
	fake_bus.map_error = 0;
	if (error)
		return error;
	if (device >= FAKE_DEVICES || offset != MIMIC_BUS_MEMORY(10 + device) ||
	    size != fake_bus.registered[device].memory_size)
		return -EINVAL;
	return mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    fake_bus.memory_file[device], 0) == MAP_FAILED ? -errno : 0;
}

static void fake_unmap(void *address, size_t size)
{
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < WINDOWS; i++) {
		if (windows[i].base == address)
			windows[i].base = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (address == fake_bus.header)
		fake_bus.uses_slots = false;
	else
		munmap(address, size);
}

static ssize_t fake_read(int fd, void *buffer, size_t size)
{
	struct mimic_bus_request *requests = buffer;
	size_t count = 0;
	uint64_t woken;

	(void)!read(fd, &woken, sizeof(woken));
	pthread_mutex_lock(&lock);
	fake_bus.reads++;
	while (fake_bus.queued && (count + 1) * sizeof(*requests) <= size) {
		requests[count++] = fake_bus.queue[0];
		memmove(fake_bus.queue, fake_bus.queue + 1, --fake_bus.queued * sizeof(*requests));
	}
	pthread_mutex_unlock(&lock);
	return count ? (ssize_t)(count * sizeof(*requests)) : -EAGAIN;
}

static ssize_t fake_write(int fd, const void *buffer, size_t size)
{
	const struct mimic_bus_answer *answer = buffer;

	(void)fd;
	if (size != sizeof(*answer) || answer->reserved)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	fake_bus.answers[answer->slot] = *answer;
	fake_bus.answered[answer->slot] = true;
	if (answer->fd >= 0)
		fake_bus.connected = dup(answer->fd);
	pthread_mutex_unlock(&lock);
	return (ssize_t)size;
}

static void fake_close(int fd)
{
	close(fd);
}

static int fake_ring_create(int fd, void **ring, int *poll_fd)
{
	(void)fd;
	*ring = &fake_bus;
	*poll_fd = fake_bus.ring;
	return fake_bus.ring_error;
}

static bool is_pending(void)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < MIMIC_BUS_SLOTS / 64; i++)
		bits |= __atomic_load_n(&fake_bus.header->pending[i], __ATOMIC_SEQ_CST) |
			__atomic_load_n(&fake_bus.header->cancelled[i], __ATOMIC_SEQ_CST);
	return bits;
}

/* A FETCH completes: at once if there is something, else when something comes. */
static void complete_fetch(void)
{
	const uint64_t one = 1;

	if (fake_bus.fetch_is_out)
		(void)!write(fake_bus.ring, &one, sizeof(one));
	fake_bus.fetch_is_out = false;
}

static int fake_ring_fetch(void *ring, int slot)
{
	(void)ring;
	pthread_mutex_lock(&lock);
	if (slot >= 0) {
		fake_bus.commits++;
		fake_bus.answered[slot] = true;
	}
	assert_false(fake_bus.fetch_is_out);
	fake_bus.fetch_is_out = true;
	if (fake_bus.fetch_error || is_pending())
		complete_fetch();
	pthread_mutex_unlock(&lock);
	return 0;
}

static int fake_ring_reap(void *ring)
{
	uint64_t woken;

	(void)ring;
	if (read(fake_bus.ring, &woken, sizeof(woken)) < 0)
		return 0;
	return fake_bus.fetch_error ? fake_bus.fetch_error : 1;
}

static void fake_ring_destroy(void *ring)
{
	(void)ring;
	fake_bus.fetch_is_out = false;
}

static const struct mimicd_bus_ops fake_ops = {
	.open = fake_node_open,
	.ioctl = fake_ioctl,
	.map = fake_map,
	.map_at = fake_map_at,
	.unmap = fake_unmap,
	.read = fake_read,
	.write = fake_write,
	.close = fake_close,
	.ring_create = fake_ring_create,
	.ring_fetch = fake_ring_fetch,
	.ring_reap = fake_ring_reap,
	.ring_destroy = fake_ring_destroy,
};

/* --- start and stop --------------------------------------------------------- */

static void make_memory(void)
{
	void *memory = NULL;

	assert_int_equal(posix_memalign(&memory, PAGE, MIMIC_BUS_SLOTS_SIZE), 0);
	memset(memory, 0, MIMIC_BUS_SLOTS_SIZE);
	fake_bus.header = memory;
	fake_bus.slots = (struct mimic_bus_slot *)((char *)memory + MIMIC_BUS_HEADER_SIZE);
	fake_bus.header->sleeping = 1;
	fake_bus.arena_file = memfd_create("program", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fake_bus.arena_file, FAKE_ARENA_PAGES * PAGE), 0);
	fake_bus.arena = mmap(NULL, FAKE_ARENA_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fake_bus.arena_file, 0);
	for (unsigned int i = 0; i < FAKE_ARENA_PAGES * PAGE / 4; i++)
		fake_bus.arena[i] = 0xa0000 + i;
}

/* cmocka puts handlers of its own in place for each test. */
static void handle_faults(void)
{
	static struct sigaction ours[2];
	static bool is_known;

	if (!is_known) {
		assert_int_equal(mimic_probe_install_handlers(), 0);
		sigaction(SIGSEGV, NULL, &ours[0]);
		sigaction(SIGBUS, NULL, &ours[1]);
		is_known = true;
	}
	sigaction(SIGSEGV, &ours[0], NULL);
	sigaction(SIGBUS, &ours[1], NULL);
}

int fake_bus_start(unsigned int devices, enum mimicd_kernel kernel, enum mimicd_channel channel)
{
	struct mimicd_options options = {
		.clients.listen_fd = -1,
		.bus = { .kernel = kernel, .channel = channel, .path = "/dev/fake", .ops = &fake_ops },
	};

	if (!fake_bus.version)
		fake_bus.version = MIMIC_BUS_VERSION;
	fake_bus.connected = -1;
	fake_bus.node = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fake_bus.ring = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	make_memory();
	mimic_config_default(&options.settings);
	*count_of(&options.settings, &mimic_kind_maple) = devices;
	*count_of(&options.settings, &mimic_kind_dare) = fake_bus.dares;
	*count_of(&options.settings, &mimic_kind_virgo) = fake_bus.virgos;
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	handle_faults();
	return mimicd_server_create(&fake_bus.server, &options);
}

static void *serve(void *server)
{
	mimicd_server_run(server);
	return NULL;
}

void fake_bus_serve(void)
{
	fake_bus.is_serving = true;
	assert_int_equal(pthread_create(&fake_bus.thread, NULL, serve, fake_bus.server), 0);
}

void fake_bus_pause(void)
{
	if (!fake_bus.is_serving)
		return;
	mimicd_server_stop(fake_bus.server);
	pthread_join(fake_bus.thread, NULL);
	fake_bus.is_serving = false;
}

void fake_bus_stop(void)
{
	fake_bus_pause();
	if (fake_bus.server)
		mimicd_server_destroy(fake_bus.server);
	if (fake_bus.connected >= 0)
		close(fake_bus.connected);
	close(fake_bus.node);
	close(fake_bus.ring);
	close(fake_bus.arena_file);
	for (unsigned int i = 0; i < FAKE_DEVICES; i++) {
		if (fake_bus.registered[i].memory_size)
			close(fake_bus.memory_file[i]);
	}
	munmap(fake_bus.arena, FAKE_ARENA_PAGES * PAGE);
	free(fake_bus.header);
	for (unsigned int i = 0; i < WINDOWS; i++)
		assert_null(windows[i].base);
	memset(&fake_bus, 0, sizeof(fake_bus));
}

void fake_bus_settle(void)
{
	if (!fake_bus.is_serving)
		mimicd_server_settle(fake_bus.server);
}

/* --- requests ----------------------------------------------------------------- */

static void notify(void)
{
	const uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&fake_bus.header->sleeping, __ATOMIC_SEQ_CST))
		return;
	pthread_mutex_lock(&lock);
	complete_fetch();
	pthread_mutex_unlock(&lock);
	(void)!write(fake_bus.node, &one, sizeof(one));
}

static void queue(const struct mimic_bus_request *request)
{
	pthread_mutex_lock(&lock);
	fake_bus.queue[fake_bus.queued++] = *request;
	pthread_mutex_unlock(&lock);
	notify();
}

static void set_bit(__u64 *bits, uint32_t slot)
{
	__atomic_fetch_or(&bits[slot / 64], 1ull << slot % 64, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&fake_bus.header->doorbell, 1, __ATOMIC_SEQ_CST);
	notify();
}

static bool needs_commit(const struct mimic_bus_request *request)
{
	return request->posted || request->kind == MIMIC_BUS_REQUEST_CONNECT;
}

uint32_t fake_bus_put(const struct mimic_bus_request *request)
{
	uint32_t number = fake_bus.next_slot++ % MIMIC_BUS_SLOTS;
	struct mimic_bus_slot *slot = &fake_bus.slots[number];

	handle_faults();
	slot->request = *request;
	slot->request.slot = number;
	fake_bus.answered[number] = false;
	__atomic_store_n(&slot->answered, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->waiter_sleeps, needs_commit(request), __ATOMIC_RELAXED);
	if (fake_bus.uses_slots)
		set_bit(fake_bus.header->pending, number);
	else
		queue(&slot->request);
	fake_bus_settle();
	return number;
}

static bool is_answered(uint32_t number)
{
	bool yes;

	/* The kernel does not read the answer of a slot that needs a commit before that. */
	if (fake_bus.uses_slots && !needs_commit(&fake_bus.slots[number].request))
		return __atomic_load_n(&fake_bus.slots[number].answered, __ATOMIC_ACQUIRE);
	pthread_mutex_lock(&lock);
	yes = fake_bus.answered[number];
	pthread_mutex_unlock(&lock);
	return yes;
}

bool fake_bus_waits(uint32_t number)
{
	if (fake_bus.is_serving)
		test_sleep_ms(20);
	return !is_answered(number);
}

int fake_bus_status(uint32_t number, uint64_t *data)
{
	uint64_t ignored;

	data = data ? data : &ignored;
	for (int i = 0; fake_bus.is_serving && !is_answered(number) && i < PATIENCE_MS; i++)
		test_sleep_ms(1);
	if (!is_answered(number))
		return FAKE_STILL_WAITING;
	if (!fake_bus.uses_slots) {
		*data = fake_bus.answers[number].data;
		return fake_bus.answers[number].status;
	}
	*data = fake_bus.slots[number].data;
	return fake_bus.slots[number].status;
}

void fake_bus_cancel(uint32_t number)
{
	struct mimic_bus_request request = fake_bus.slots[number].request;

	request.size = 0;
	if (fake_bus.uses_slots)
		set_bit(fake_bus.header->cancelled, number);
	else
		queue(&request);
	fake_bus_settle();
}

int fake_bus_open(uint32_t device, uint32_t binding, uint32_t process)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_OPEN,
		.device = 10 + device,
		.binding = binding,
		.process = process,
		.pid = getpid(),
		.uid = getuid(),
		.program = "test",
	};

	return fake_bus_status(fake_bus_put(&request), NULL);
}

int fake_bus_request(enum mimic_bus_request_kind kind, uint32_t device, uint32_t binding, uint32_t thread)
{
	const struct mimic_bus_request request = {
		.kind = kind, .device = 10 + device, .binding = binding, .thread = thread,
	};

	return fake_bus_status(fake_bus_put(&request), NULL);
}

static uint32_t begin(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
		       unsigned int size, bool is_write, uint64_t value)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_ACCESS,
		.device = 10 + (binding ? binding - 1 : 0),
		.binding = binding,
		.thread = thread,
		.page = (uint8_t)page,
		.offset = offset,
		.size = (uint8_t)size,
		.is_write = is_write,
		.data = value,
		/* Threads that do not exist, but for the first of each binding, which is the test's own. */
		.pid = thread == 1 ? gettid() : (int)(thread ? 4000000 + thread : 0),
	};

	return fake_bus_put(&request);
}

uint32_t fake_bus_load_begin(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
			 unsigned int size)
{
	return begin(binding, thread, page, offset, size, false, 0);
}

uint32_t fake_bus_store_begin(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
			  unsigned int size, uint64_t value)
{
	return begin(binding, thread, page, offset, size, true, value);
}

uint64_t fake_bus_load(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
		       unsigned int size)
{
	uint64_t data = 0;

	assert_int_equal(fake_bus_status(fake_bus_load_begin(binding, thread, page, offset, size), &data), 0);
	return data;
}

void fake_bus_store(uint32_t binding, uint32_t thread, unsigned int page, unsigned int offset,
		    unsigned int size, uint64_t value)
{
	assert_int_equal(fake_bus_status(fake_bus_store_begin(binding, thread, page, offset, size, value), NULL), 0);
}

void fake_bus_greet(int fd)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	int event_fd;

	assert_int_equal(raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply,
				     sizeof(reply), &event_fd), 0);
	close(event_fd);
}

void fake_bus_sessions(int *sockets, unsigned int count)
{
	/* The loop's thread has the clients to itself from then on. */
	assert_false(fake_bus.is_serving);
	for (unsigned int i = 0; i < count; i++) {
		int ends[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
		assert_int_equal(mimicd_session_create(fake_bus.server->clients, ends[0]), 0);
		sockets[i] = ends[1];
	}
	fake_bus_serve();
	for (unsigned int i = 0; i < count; i++)
		fake_bus_greet(sockets[i]);
}

int fake_bus_session(void)
{
	int socket;

	fake_bus_sessions(&socket, 1);
	return socket;
}
