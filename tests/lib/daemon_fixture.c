/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/log.h"
#include "daemon/server.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/kinds.h"
#include "tests/lib/log_lines.h"
#include "tests/lib/lost_store.h"

#define PATIENCE_MS 5000

static struct mimicd_server *server;

static void stop(int signal_number)
{
	(void)signal_number;
	mimicd_server_stop(server);
}

void test_sleep_ms(unsigned int milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

static void fill_vfio(const struct served *served, struct mimicd_vfio_options *options)
{
	static const char split[] = ",split";
	static char texts[4][256];

	for (unsigned int i = 0; i < 4 && served->vfio[i]; i++) {
		const char *device = served->vfio[i], *directory = served->directory;
		int name = (int)strcspn(device, ",");
		size_t rest = strlen(device);
		char memory[128] = "";

		if (rest > strlen(split) && !strcmp(device + rest - strlen(split), split)) {
			rest -= strlen(split);
			snprintf(memory, sizeof(memory), ",memory=%s/%.*s-memory.sock", directory, name, device);
		}
		snprintf(texts[i], sizeof(texts[i]), "%s/%.*s.sock%.*s%s", directory, name, device,
			 (int)rest - name, device + name, memory);
		options->sockets[options->count++] = texts[i];
	}
}

static void serve(const struct served *served, unsigned int devices, bool allow_users, int ready)
{
	struct mimicd_options options = {
		.clients = { .socket_path = served->socket, .listen_fd = -1, .allow_users = allow_users },
		.filesystem = { .path = served->state, .allow_users = allow_users },
	};
	struct sigaction action = { .sa_handler = stop };
	char recording[128];
	struct mimicd_quotas quotas;
	const char *wrong;
	int log = open(served->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(0);
	dup2(log, STDERR_FILENO);
	close(log);
	mimic_config_default(&options.settings);
	*count_of(&options.settings, &mimic_kind_maple) = devices;
	*count_of(&options.settings, &mimic_kind_dare) = served->dares;
	*count_of(&options.settings, &mimic_kind_virgo) = served->virgos;
	if ((served->maple_profile && maple_config_profile(maple_of(&options.settings), served->maple_profile)) ||
	    (served->virgo_profile && virgo_config_profile(virgo_of(&options.settings), served->virgo_profile)))
		_exit(1);
	options.threads = served->threads;
	if (!options.threads && getenv("MIMIC_TEST_THREADS"))
		options.threads = (unsigned int)atoi(getenv("MIMIC_TEST_THREADS"));
	options.spreads_at_once = served->spreads || getenv("MIMIC_TEST_SPREAD") != NULL;
	options.recover = served->recovers;
	if (options.recover && !lost_store_start())
		_exit(1);
	mimicd_log_set_level(MIMICD_LOG_DEBUG);
	fill_vfio(served, &options.vfio);
	mimicd_quotas_default(&quotas);
	if (served->quota && mimicd_quotas_parse(&quotas, served->quota, &wrong))
		_exit(1);
	options.clients.quotas = &quotas;
	if (served->recording) {
		snprintf(recording, sizeof(recording), "%s/%s", served->directory, served->recording);
		options.recording = recording;
	}
	if (mimicd_server_create(&server, &options))
		_exit(1);
	sigaction(SIGTERM, &action, NULL);
	(void)!write(ready, "", 1);
	close(ready);
	status = mimicd_server_run(server) ? 1 : 0;
	if (!mimicd_server_destroy(server))
		_exit(status);
	/* exit(): a leak detector has its say. */
	exit(status);
}

static bool start_at(struct served *served, unsigned int devices, bool allow_users)
{
	int ends[2];
	char byte;
	bool up;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	fflush(NULL);
	served->pid = fork();
	if (!served->pid) {
		close(ends[0]);
		serve(served, devices, allow_users, ends[1]);
	}
	close(ends[1]);
	up = served->pid > 0 && read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	return up;
}

bool served_start(struct served *served, unsigned int devices, bool allow_users)
{
	strcpy(served->directory, "/tmp/mimic-test-XXXXXX");
	if (!mkdtemp(served->directory) || chmod(served->directory, 0755))
		return false;
	snprintf(served->socket, sizeof(served->socket), "%s/socket", served->directory);
	snprintf(served->log, sizeof(served->log), "%s/log", served->directory);
	return start_at(served, devices, allow_users);
}

bool served_restart(struct served *served, unsigned int devices)
{
	return start_at(served, devices, false);
}

int served_end(struct served *served, int signal_number)
{
	int status = -1;

	if (served->pid > 0) {
		kill(served->pid, signal_number);
		waitpid(served->pid, &status, 0);
	}
	served->pid = -1;
	return status;
}

void served_clean(struct served *served)
{
	unlink(served->socket);
	unlink(served->log);
	rmdir(served->directory);
}

static int count_descriptors(const struct served *served)
{
	char path[48];
	DIR *directory;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)served->pid);
	directory = opendir(path);
	if (!directory)
		return -1;
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

int served_descriptors(const struct served *served)
{
	int count = count_descriptors(served);
	int steady = 0;

	/* Sessions that have just ended take a moment to go, and threads beside the loop close for them. */
	for (int i = 0; i < 400 && steady < 20; i++) {
		int again;

		test_sleep_ms(5);
		again = count_descriptors(served);
		steady = again == count ? steady + 1 : 0;
		count = again;
	}
	return count;
}

int served_await_descriptors(const struct served *served, int count)
{
	int found = served_descriptors(served);

	for (unsigned int i = 0; i < 50 && found != count; i++)
		found = served_descriptors(served);
	return found;
}

bool served_said(const struct served *served, const char *text)
{
	for (int i = 0; i < 200; i++) {
		if (log_lines_with(served->log, text))
			return true;
		test_sleep_ms(10);
	}
	return false;
}

/* Of all its threads. */
uint64_t served_cpu_ns(const struct served *served)
{
	struct timespec time = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(served->pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

size_t served_resident(const struct served *served)
{
	unsigned long pages = 0;
	char path[48];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)served->pid);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%*u %lu", &pages) != 1)
			pages = 0;
		fclose(file);
	}
	return pages * 4096;
}

int raw_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

bool raw_send(int socket, const void *bytes, size_t size, const int *fds, unsigned int count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (count) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(entry), fds, count * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

ssize_t raw_receive(int socket, void *bytes, size_t size, int *fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec piece = { bytes, size };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct pollfd entry = { .fd = socket, .events = POLLIN };
	struct cmsghdr *header;
	ssize_t length;

	*fd = -1;
	if (poll(&entry, 1, PATIENCE_MS) != 1)
		return -1;
	length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	if (length < 0)
		return 0;	/* reset: it closed with our message unread */
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(int));
	return length;
}

void raw_header(void *message, size_t size, enum mimic_message_type type)
{
	struct mimic_message *header = message;

	memset(header, 0, sizeof(*header));
	header->size = (uint32_t)size;
	header->type = (uint16_t)type;
	header->sequence = 77;
}

int raw_request(int socket, void *message, size_t size, enum mimic_message_type type, int fd,
		void *reply, size_t reply_size, int *reply_fd)
{
	struct mimic_message plain;
	struct mimic_message *header = reply ? reply : &plain;
	int ignored;
	ssize_t length;

	raw_header(message, size, type);
	if (!raw_send(socket, message, size, &fd, fd >= 0))
		return 1;
	length = raw_receive(socket, header, reply ? reply_size : sizeof(plain),
			     reply_fd ? reply_fd : &ignored);
	if (length <= 0)
		return 1;
	if (header->sequence != 77 || header->type != (type | MIMIC_MESSAGE_REPLY))
		return 2;
	return header->error;
}

int raw_client_with_event(const char *path, int *event_fd)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct mimic_hello_reply reply;
	int fd = raw_connect(path);

	if (fd < 0)
		return -1;
	if (raw_request(fd, &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply, sizeof(reply),
			event_fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

int raw_client(const char *path)
{
	int event_fd = -1;
	int fd = raw_client_with_event(path, &event_fd);

	if (event_fd >= 0)
		close(event_fd);
	return fd;
}

int raw_open(int socket, const char *name, uint32_t *device)
{
	struct mimic_open message = { 0 };
	struct mimic_open_reply reply = { 0 };
	int error;

	snprintf(message.name, sizeof(message.name), "%s", name);
	error = raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_OPEN, -1, &reply,
			    sizeof(reply), NULL);
	*device = reply.device;
	return error;
}

int raw_number(int socket, enum mimic_message_type type, uint32_t number)
{
	struct mimic_number_request message = { .number = number };

	return raw_request(socket, &message, sizeof(message), type, -1, NULL, 0, NULL);
}

int raw_memory(int socket, enum mimic_message_type type, int fd, uint64_t address, uint64_t size,
	       uint64_t offset)
{
	struct mimic_memory_request message = { .address = address, .size = size, .offset = offset };

	return raw_request(socket, &message, sizeof(message), type, fd, NULL, 0, NULL);
}

int raw_lane(int socket, uint32_t thread, uint32_t level, struct raw_lane *lane)
{
	struct mimic_lane_request message = { .thread = thread, .level = level };
	struct mimic_lane_reply reply = { 0 };
	int fd = -1;
	int error = raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_LANE, -1, &reply,
				sizeof(reply), &fd);

	memset(lane, 0, sizeof(*lane));
	lane->event_fd = -1;
	if (error)
		return error;
	lane->number = reply.lane;
	lane->thread = reply.thread;
	lane->size = mimic_lane_size(reply.command_words, reply.response_words);
	lane->memory = mmap(NULL, lane->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (lane->memory == MAP_FAILED)
		return 3;
	mimic_ring_attach(&lane->commands, mimic_lane_commands(lane->memory), reply.command_words);
	mimic_ring_attach(&lane->responses, mimic_lane_responses(lane->memory, reply.command_words),
			  reply.response_words);
	return 0;
}

void raw_lane_unmap(struct raw_lane *lane)
{
	munmap(lane->memory, lane->size);
}

void raw_post(struct raw_lane *lane, const uint64_t *words, size_t count)
{
	const uint64_t one = 1;

	for (size_t i = 0; i < count; i++)
		mimic_ring_put(&lane->commands, i, words[i]);
	mimic_ring_publish(&lane->commands, count);
	if (lane->event_fd >= 0)
		(void)!write(lane->event_fd, &one, sizeof(one));
}

bool raw_answer(struct raw_lane *lane, uint64_t *word)
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (mimic_ring_level(&lane->responses, 1) > 0) {
			*word = mimic_ring_get(&lane->responses, 0);
			mimic_ring_release(&lane->responses, 1);
			return true;
		}
		test_sleep_ms(1);
	}
	return false;
}
