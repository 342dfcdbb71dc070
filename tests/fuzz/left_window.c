/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/fuzz/left_window.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session.h"
#include "daemon/clients/session_record.h"
#include "daemon/engine/recover.h"
#include "daemon/loop/closer.h"
#include "daemon/supervise/deliver.h"
#include "libmimic/base/kinds.h"
#include "mimic/lane.h"
#include "mimic/maple_registers.h"
#include "tests/fuzz/check.h"

#define RANGE_BYTES (64u << 10)
#define RANGE_ADDRESS 0x10000000ull
#define MODELS_OFFSET (8ull << 30)	/* in the heap */
#define MODELS_MOST (4u << 20)

/* The supervisor's part. */
static struct {
	struct mimicd_inbox inbox;
	pthread_mutex_t lock;
	struct mimicd_kept kept;
	bool is_done;	/* the daemon was killed: others' messages are read, and left out */
} manager = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct mimicd_server *killed;	/* never called again, but its models are read */
static struct left_window *left;
static void *lane_memory;
static pid_t program_pid;

/* --- the supervisor ---------------------------------------------------------------------------- */

static void take_letter(void)
{
	static struct mimicd_letter letter;
	struct mimicd_manager_message message;

	pthread_mutex_lock(&manager.lock);
	if (!mimicd_inbox_receive(&manager.inbox, &letter)) {
		if (manager.is_done)
			mimicd_letter_close(&letter);
		else
			CHECK(!mimicd_letter_deliver(&letter, getpid(), &manager.kept, &message));
	}
	pthread_mutex_unlock(&manager.lock);
}

static void *take_letters(void *argument)
{
	struct pollfd entry = { .fd = manager.inbox.fd, .events = POLLIN };

	(void)argument;
	while (poll(&entry, 1, -1) >= 0)
		take_letter();
	return NULL;
}

void left_window_settle(void)
{
	struct pollfd entry = { .fd = manager.inbox.fd, .events = POLLIN };

	while (poll(&entry, 1, 0) > 0)
		take_letter();
	/* The other thread may have one in its hands. */
	pthread_mutex_lock(&manager.lock);
	pthread_mutex_unlock(&manager.lock);
}

static void start_manager(void)
{
	pthread_t thread;

	CHECK(!mimicd_inbox_open(&manager.inbox));
	CHECK(!setenv("NOTIFY_SOCKET", manager.inbox.name, 1));
	mimicd_kept_begin(&manager.kept, NULL, 0, LEFT_STORED_MOST);
	CHECK(!pthread_create(&thread, NULL, take_letters, NULL));
}

static int find_kept(const char *name)
{
	for (size_t i = 0; i < manager.kept.count; i++) {
		if (!strncmp(manager.kept.list[i].name, name, strlen(name)))
			return manager.kept.list[i].fd;
	}
	abort();
}

/* --- the program ------------------------------------------------------------------------------- */

/* Damaged records name any process and any address, so memory that no program shares is out of reach. */
static void forbid_remote_memory(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

/* The program itself is a process that does nothing. */
static void start_program(void)
{
	pid_t parent = getpid();

	program_pid = fork();
	CHECK(program_pid >= 0);
	if (program_pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* The answer is in *reply. */
static void exchange(int socket, void *request, size_t size, unsigned int type, int fd, void *reply,
		     size_t reply_size)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct mimic_message *header = request;
	struct iovec piece = { request, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	static uint32_t sequence;

	*header = (struct mimic_message){ .size = (uint32_t)size, .type = type, .sequence = ++sequence };
	if (fd >= 0) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(entry), &fd, sizeof(int));
	}
	CHECK(sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size);
	mimicd_server_settle(killed);
	/* The descriptor that comes along is closed by this call. */
	CHECK(recv(socket, reply, reply_size, MSG_DONTWAIT) == (ssize_t)reply_size);
	CHECK(!((struct mimic_message *)reply)->error);
}

static uint32_t open_one(int socket, const char *name)
{
	struct mimic_open request = { .header = { 0 } };
	struct mimic_open_reply reply;

	strcpy(request.name, name);
	exchange(socket, &request, sizeof(request), MIMIC_MESSAGE_OPEN, -1, &reply, sizeof(reply));
	return reply.device;
}

static void share_memory(int socket)
{
	struct mimic_memory_request request = { .address = RANGE_ADDRESS, .size = RANGE_BYTES };
	struct mimic_message reply;
	int fd = memfd_create("range", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && !fallocate(fd, 0, 0, RANGE_BYTES) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	exchange(socket, &request, sizeof(request), MIMIC_MESSAGE_MEMORY_ADD, fd, &reply, sizeof(reply));
	close(fd);
}

static void load(struct mimic_ring_end *ring, uint32_t device, uint16_t offset)
{
	const struct mimic_command command = {
		.kind = MIMIC_COMMAND_LOAD, .device = (uint8_t)device, .size = 4, .offset = offset, .count = 1,
	};

	mimic_ring_put(ring, 0, mimic_command_pack(&command));
	mimic_ring_publish(ring, 1);
}

/* Its last access waits in the device. */
static void use_lane(int socket, uint32_t device)
{
	struct mimic_lane_request request = { .level = 0 };
	struct mimic_lane_reply reply;
	const size_t size = mimic_lane_size(MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS);
	struct mimic_ring_end ring;
	struct mimic_lane *lane;

	exchange(socket, &request, sizeof(request), MIMIC_MESSAGE_LANE, -1, &reply, sizeof(reply));
	left_window_settle();
	lane = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, find_kept("lane"), 0);
	CHECK(lane != MAP_FAILED);
	mimic_ring_attach(&ring, mimic_lane_commands(lane), MIMIC_LANE_COMMAND_WORDS);
	load(&ring, device, MAPLE_OFFSET(MAPLE_LOAD_INIT, 2));
	load(&ring, device, MAPLE_OFFSET(MAPLE_LOAD_OPEN_CONSUMER, 0));
	load(&ring, device, MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0));
	CHECK(!eventfd_write(find_kept("kick"), 1));
	mimicd_server_settle(killed);
	CHECK(killed->clients->sessions->client.lanes->parked);
	lane_memory = malloc(size);
	CHECK(lane_memory);
	memcpy(lane_memory, lane, size);
	munmap(lane, size);
}

static void run_program(int socket)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	uint32_t maple;

	exchange(socket, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply, sizeof(reply));
	maple = open_one(socket, "maple0");
	open_one(socket, "maple@0");
	open_one(socket, "dare0");
	open_one(socket, "dare0");
	open_one(socket, "virgo0");
	share_memory(socket);
	use_lane(socket, maple);
}

/* --- the daemon -------------------------------------------------------------------------------- */

void left_window_options(struct mimicd_options *options)
{
	*options = (struct mimicd_options){ .clients.listen_fd = -1, .recover = true };
	mimic_config_default(&options->settings);
	for (unsigned int i = 0; i < mimic_kind_count(); i++)
		options->settings.counts[i] = i ? 1 : 2;
}

static size_t heap_bytes(int window)
{
	off_t end = (off_t)MIMICD_WINDOW_HEAP, data;

	while ((data = lseek(window, end, SEEK_DATA)) >= 0)
		end = lseek(window, data, SEEK_HOLE);
	return (size_t)end - MIMICD_WINDOW_HEAP;
}

/* A daemon that can be recovered has its models in the window; ones of this program come there so. */
static size_t move_models(unsigned char *to)
{
	const struct mimicd_root_record *root = mimicd_journal_root();
	size_t used = 0;

	for (uint64_t i = 0; i < root->devices->count; i++) {
		struct mimicd_device_record *record = &root->devices->device[i];
		size_t size = malloc_usable_size(record->model);

		CHECK(used + size <= MODELS_MOST);
		memcpy(to + used, record->model, size);
		record->model = (struct mimic_model *)(to + used);
		used += (size + 63) / 64 * 64;
	}
	root->devices->sum = mimicd_devices_record_sum(root->devices);
	return used;
}

static void *copy_of(const void *bytes, size_t size)
{
	void *copy = malloc(size);

	CHECK(copy);
	return memcpy(copy, bytes, size);
}

/* Its memory is mapped where the next daemon maps it. */
static void leave_window(void)
{
	const struct mimicd_root_record *root = mimicd_journal_root();
	const struct mimicd_sessions_record *sessions = root->clients;
	unsigned char *heap = (unsigned char *)mimicd_window + MIMICD_WINDOW_HEAP;
	const uint64_t files = mimicd_journal.start + MIMICD_JOURNAL_HEAP_BYTES;

	CHECK(sessions->count == 1 && root->devices->count == 5);
	sessions->session[0]->pid = program_pid;
	left = calloc(1, sizeof(*left));
	CHECK(left);
	left->heap_bytes = heap_bytes(find_kept("journal"));
	left->program = sessions->session[0]->client.number;
	left->stored_count = manager.kept.count;
	for (size_t i = 0; i < left->stored_count; i++)
		strcpy(left->names[i], manager.kept.list[i].name);
	left->model_bytes = move_models(heap + MODELS_OFFSET);
	left->window = *mimicd_window;
	left->heap = copy_of(heap, left->heap_bytes);
	left->models = copy_of(heap + MODELS_OFFSET, left->model_bytes);
	mimicd_journal_end();
	CHECK(!munmap((void *)(uintptr_t)files, MIMICD_JOURNAL_FILES_BYTES));
}

void left_window_make(void)
{
	struct mimicd_options options;
	int ends[2];

	start_program();
	start_manager();
	left_window_options(&options);
	CHECK(!mimicd_server_create(&killed, &options));
	forbid_remote_memory();
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
	CHECK(!mimicd_session_create(killed->clients, ends[0]));
	run_program(ends[1]);
	/* Threads beside the loop close descriptors. */
	while (mimicd_closer_backlog(killed->loop.closer, getuid()))
		sched_yield();
	left_window_settle();
	manager.is_done = true;
	leave_window();
	close(ends[1]);
}

/* --- for the next one --------------------------------------------------------------------------- */

struct left_window *left_window_copy(void)
{
	struct left_window *copy = copy_of(left, sizeof(*copy));

	copy->heap = copy_of(left->heap, left->heap_bytes);
	return copy;
}

void left_window_sign(struct left_window *copy)
{
	const uint64_t start = left->window.address + MIMICD_WINDOW_HEAP;
	const struct mimicd_root_record *root =
		(const void *)(left->heap + ((uint64_t)(uintptr_t)left->window.root - start));
	const uint64_t offset = (uint64_t)(uintptr_t)root->devices - start;
	const struct mimicd_devices_record *before = (const void *)(left->heap + offset);
	struct mimicd_devices_record *after = (void *)(copy->heap + offset);

	for (uint64_t i = 0; i < before->count; i++)
		after->device[i].model = before->device[i].model;
	if (after->count <= before->count)
		after->sum = mimicd_devices_record_sum(after);
}

void left_window_free(struct left_window *copy)
{
	free(copy->heap);
	free(copy);
}

static void put(int fd, const void *bytes, size_t size, uint64_t offset)
{
	CHECK(pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size);
}

static void put_log(int fd, const struct left_window *copy, unsigned int number)
{
	uint64_t used = copy->window.logs[number].used, place = MIMICD_WINDOW_LOG + (number ? MIMICD_JOURNAL_LOG_BYTES : 0);

	put(fd, copy->log[number], used < LEFT_LOG_BYTES ? used : LEFT_LOG_BYTES, place);
}

static int make_file(const struct left_window *copy)
{
	int fd = memfd_create("left window", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)MIMICD_WINDOW_FILE_BYTES));
	put(fd, copy->header, sizeof(copy->header), 0);
	for (unsigned int i = 0; i < LEFT_LOGS; i++)
		put_log(fd, copy, i);
	put(fd, copy->heap, copy->heap_bytes, MIMICD_WINDOW_HEAP);
	put(fd, copy->models, copy->model_bytes, MIMICD_WINDOW_HEAP + MODELS_OFFSET);
	return fd;
}

static int open_stored(const char *name, const struct left_window *copy, int kept, int socket)
{
	const size_t size = mimic_lane_size(MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS);

	if (!strncmp(name, "journal", 7))
		return make_file(copy);
	if (!strncmp(name, "socket", 6))
		return socket;
	if (!strncmp(name, "process", 7))
		return (int)syscall(SYS_pidfd_open, program_pid, 0);
	if (!strncmp(name, "lane", 4))
		put(kept, lane_memory, size, 0);
	return fcntl(kept, F_DUPFD_CLOEXEC, 3);
}

struct mimicd_stored *left_window_store(const struct left_window *copy, size_t *count, int *program)
{
	struct mimicd_stored *list = calloc(manager.kept.count, sizeof(*list));
	int ends[2];

	CHECK(list && !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
	*program = ends[1];
	*count = 0;
	for (size_t i = 0; i < manager.kept.count; i++) {
		struct mimicd_stored *stored = &list[*count];

		stored->fd = open_stored(manager.kept.list[i].name, copy, manager.kept.list[i].fd, ends[0]);
		CHECK(stored->fd >= 0);
		strcpy(stored->name, copy->names[i]);
		if (copy->is_dropped[i])
			close(stored->fd);
		else
			++*count;
	}
	return list;
}
