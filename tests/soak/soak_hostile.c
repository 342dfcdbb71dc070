/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * mimicd under hostile programs for a long time: what it has at the end is what it had after the
 * first tenth. usage: soak_hostile MIMICD [SECONDS]
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmimic/mimic.h"
#include "tests/lib/daemon_fixture.h"

#define PAGE 4096u
#define SECONDS 1800
#define AT_ONCE 4		/* hostile programs */
#define PAUSE_MS 40		/* between two of them: half a processor for all */
#define SETTLE_MS 6000		/* threads that have nothing to do end after two seconds */
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, CONSUME = 7, PRODUCE = 8, FULL_POINTER32 = 16,
       WORDS_128 = 7 };

static struct served served;
static uint64_t random_state;

static uint64_t pick(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void die_by_chance(void)
{
	if (pick() % 2)
		kill(getpid(), SIGKILL);
}

/* --- programs: 0 is a good end ---------------------------------------------------------- */

/* It does what programs do, and has to get what it should. */
static int be_honest(void)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_access load = { .size = 4 }, store = { .size = 8, .is_write = 1 };
	struct mimic_device *device;
	uint32_t *shared, value = 4711;

	if (mimic_device_open(&device, "maple0", &options))
		return 1;
	shared = mimic_memory_alloc(device, 16 * PAGE);
	if (!shared)
		return 2;
	load.offset = AT(INIT, WORDS_128);
	if (mimic_device_access(device, &load))
		return 3;
	load.offset = AT(OPEN_PRODUCER, 0);
	mimic_device_access(device, &load);
	load.offset = AT(OPEN_CONSUMER, 0);
	mimic_device_access(device, &load);
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t *target = i % 2 ? &value : &shared[i * 1000 % (16 * PAGE / 4)];

		*target = i * 3;
		store.offset = AT(FULL_POINTER32, 0);
		store.data = (uintptr_t)target;
		load.offset = AT(CONSUME, 0);
		if (mimic_device_access(device, &store) || mimic_device_access(device, &load) || load.data != i * 3)
			return 4;
	}
	mimic_device_close(device);
	return 0;
}

static int send_garbage(void)
{
	static unsigned char bytes[400];
	int fd = pick() % 2 ? raw_client(served.socket) : raw_connect(served.socket);

	for (unsigned int i = 0; i < 50 && fd >= 0; i++) {
		for (unsigned int k = 0; k < sizeof(bytes); k++)
			bytes[k] = (unsigned char)pick();
		if (pick() % 2)
			raw_header(bytes, 8 + pick() % 200, (enum mimic_message_type)(pick() % 40));
		if (!raw_send(fd, bytes, 1 + pick() % sizeof(bytes), NULL, 0))
			break;
	}
	die_by_chance();
	return 0;
}

static int say_nothing(void)
{
	for (unsigned int i = 0; i < 20; i++)
		raw_connect(served.socket);
	test_sleep_ms(200);
	die_by_chance();
	return 0;
}

/* Words of any kind, and positions that cannot be. */
static int spoil_rings(void)
{
	struct raw_lane lane;
	char name[] = "maple@0";
	uint32_t device;
	int event, fd = raw_client_with_event(served.socket, &event);

	name[6] = (char)('0' + pick() % 8);
	if (fd < 0 || raw_open(fd, name, &device) || raw_lane(fd, 0, 0, &lane))
		return 0;
	lane.event_fd = event;
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t words[8];

		for (unsigned int k = 0; k < 8; k++)
			words[k] = mimic_command_pack(&(struct mimic_command){
				.kind = (enum mimic_command_kind)(pick() % 4), .device = (uint8_t)device,
				.size = (uint8_t)(1u << pick() % 4), .offset = (uint16_t)(pick() % 4096 & ~7u),
				.page = (uint8_t)(pick() % 2), .count = (uint32_t)(1 + pick() % 8) });
		raw_post(&lane, words, 1 + pick() % 8);
	}
	if (pick() % 2)
		atomic_store(&lane.commands.ring->head, pick());
	raw_post(&lane, (uint64_t[]){ pick() }, 1);
	test_sleep_ms(5);
	die_by_chance();
	return 0;
}

/* Memory that is shared, in part or not at all, and left behind. */
static int share_memory(void)
{
	int client = raw_client(served.socket);

	for (unsigned int i = 0; i < 64 && client >= 0; i++) {
		int fd = memfd_create("soak", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		uint64_t address = 0x10000000ull + i * 0x100000ull;

		if (fd < 0 || ftruncate(fd, 64 * PAGE))
			return 0;
		if (pick() % 4)
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
		if (pick() % 4)
			(void)!fallocate(fd, 0, 0, 64 * PAGE);
		raw_memory(client, MIMIC_MESSAGE_MEMORY_ADD, fd, address, 64 * PAGE, 0);
		if (pick() % 2)
			raw_memory(client, MIMIC_MESSAGE_MEMORY_REMOVE, -1, address, 64 * PAGE, 0);
		close(fd);
	}
	die_by_chance();
	return 0;
}

/* A page that never comes, or comes late. */
static int have_a_stuck_page(void)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = PAGE };
	static _Alignas(PAGE) char contents[PAGE];
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_copy copy = { .dst = (uintptr_t)page, .src = (uintptr_t)contents, .len = PAGE };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char name[] = "maple@0";
	struct mimic_access load = { .size = 4, .offset = AT(INIT, WORDS_128) };
	struct mimic_access pointer = { .size = 8, .offset = AT(FULL_POINTER32, 0) };
	struct mimic_device *device;

	range.range.start = (uintptr_t)page;
	name[6] = (char)('0' + pick() % 8);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range) ||
	    mimic_device_open(&device, name, &options))
		return 0;
	mimic_device_access(device, &load);
	load.offset = AT(OPEN_PRODUCER, 0);
	mimic_device_access(device, &load);
	mimic_device_post(device, &pointer, (uint64_t[]){ (uintptr_t)page, (uintptr_t)page + 8 }, 2);
	test_sleep_ms((unsigned int)(pick() % 30));
	if (pick() % 2)
		ioctl(fd, UFFDIO_COPY, &copy);
	die_by_chance();
	mimic_device_close(device);
	return 0;
}

static int send_what_lingers(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 1 };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct mimic_memory_request message = { .address = 0x10000, .size = 4096 };
	int client = raw_client(served.socket), listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	static const char bytes[1 << 16];

	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) ||
	    connect(fd, (struct sockaddr *)&address, size) || client < 0)
		return 0;
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_MEMORY_ADD);
	raw_send(client, &message, sizeof(message), &fd, 1);
	return 0;
}

static int take_all(void)
{
	struct raw_lane lane;
	char name[16];
	uint32_t device;
	int client = raw_client(served.socket);

	for (unsigned int i = 0; i < 64 && client >= 0; i++) {
		snprintf(name, sizeof(name), "%s%u", (const char *[]){ "maple@", "dare", "virgo", "maple" }[pick() % 4],
			 (unsigned int)(pick() % 4));
		if (strcmp(name, "maple0") && raw_open(client, name, &device) == 1)
			break;
		if (raw_lane(client, (uint32_t)i, 0, &lane) == 1)
			break;
	}
	die_by_chance();
	return 0;
}

static int (*const programs[])(void) = {
	be_honest, send_garbage, say_nothing, spoil_rings, share_memory, have_a_stuck_page, send_what_lingers, take_all,
};
static const char *const names[] = {
	"honest", "garbage", "mute", "rings", "memory", "stuck pages", "lingering", "takes all",
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* --- what mimicd has ------------------------------------------------------------------------ */

struct sample {
	long rss, descriptors, maps, threads;	/* rss in KB */
};

static long count_lines(const char *what)
{
	char path[48], line[512];
	long count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)served.pid, what);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		count++;
	if (file)
		fclose(file);
	return count;
}

static long count_entries(const char *what)
{
	char path[48];
	DIR *directory;
	long count = -2;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)served.pid, what);
	directory = opendir(path);
	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

static struct sample take_sample(const char *when)
{
	struct sample sample;

	test_sleep_ms(SETTLE_MS);
	sample = (struct sample){ (long)(served_resident(&served) / 1024), count_entries("fd"), count_lines("maps"),
				  count_entries("task") };
	printf("# %-5s RSS %ld KB, %ld descriptors, %ld maps, %ld threads\n", when, sample.rss, sample.descriptors,
	       sample.maps, sample.threads);
	fflush(stdout);
	return sample;
}

static bool is_flat(const char *what, long before, long after, long slack)
{
	bool is_ok = after <= before + slack;

	printf("%s - %s: %ld, then %ld (at most %ld more)\n", is_ok ? "ok" : "not ok", what, before, after, slack);
	return is_ok;
}

/* --- the run -------------------------------------------------------------------------------- */

static pid_t running[AT_ONCE];
static size_t kinds[AT_ONCE];
static unsigned long started[PROGRAMS], failed;

static void note_end(unsigned int place, int status)
{
	running[place] = 0;
	if (kinds[place] || status == 0)
		return;
	failed++;
	printf("# an honest program ended with status %#x\n", (unsigned int)status);
	fflush(stdout);
}

static void start_program(unsigned int place, size_t kind)
{
	pid_t child;

	pick();
	fflush(NULL);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		alarm(60);
		_exit(programs[kind]());
	}
	running[place] = child;
	kinds[place] = kind;
	started[kind]++;
}

/* The first place is the honest program's, which is one at a time: it has the device to itself. */
static void run_for(uint64_t milliseconds)
{
	uint64_t end = now_ms() + milliseconds;
	int status;

	while (now_ms() < end) {
		for (unsigned int i = 0; i < AT_ONCE; i++) {
			if (running[i] && waitpid(running[i], &status, WNOHANG) == running[i])
				note_end(i, status);
			if (!running[i])
				start_program(i, i ? 1 + pick() % (PROGRAMS - 1) : 0);
			test_sleep_ms(PAUSE_MS / AT_ONCE);
		}
	}
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		if (running[i] && waitpid(running[i], &status, 0) == running[i])
			note_end(i, status);
	}
}

static bool start_mimicd(const char *path)
{
	char socket[128];
	int fd;

	strcpy(served.directory, "/tmp/mimic-soak-XXXXXX");
	if (!mkdtemp(served.directory))
		return false;
	snprintf(served.socket, sizeof(served.socket), "%s/socket", served.directory);
	snprintf(served.log, sizeof(served.log), "%s/log", served.directory);
	snprintf(socket, sizeof(socket), "--socket=%s", served.socket);
	served.pid = fork();
	if (!served.pid) {
		int log = open(served.log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(log, STDERR_FILENO);
		execl(path, path, socket, "--kernel=off", (char *)NULL);
		_exit(127);
	}
	for (unsigned int i = 0; i < 500; i++) {
		fd = raw_client(served.socket);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		test_sleep_ms(10);
	}
	return false;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : SECONDS;
	struct sample before, after;
	bool is_ok;
	int status;

	random_state = 88172645463325252ull;
	if (argc < 2 || !start_mimicd(argv[1])) {
		fprintf(stderr, "usage: soak_hostile MIMICD [SECONDS]; mimicd does not answer\n");
		return 2;
	}
	/* The kernel's own faults on such a page take privileges, which the program then is to have. */
	if ((status = (int)syscall(SYS_userfaultfd, O_CLOEXEC)) < 0)
		printf("# stuck pages: not possible here (%s): run it as root\n", strerror(errno));
	else
		close(status);
	run_for(seconds * 100);
	before = take_sample("start");
	run_for(seconds * 900);
	after = take_sample("end");
	for (size_t i = 0; i < PROGRAMS; i++)
		printf("# %lu programs: %s\n", started[i], names[i]);
	is_ok = is_flat("RSS in KB", before.rss, after.rss, before.rss / 10 + 1024);
	is_ok &= is_flat("descriptors", before.descriptors, after.descriptors, 0);
	is_ok &= is_flat("maps", before.maps, after.maps, 16);
	is_ok &= is_flat("threads", before.threads, after.threads, 0);
	is_ok &= is_flat("honest programs that failed", 0, (long)failed, 0);
	status = served_end(&served, SIGTERM);
	printf("%s - mimicd ends by SIGTERM with status 0\n", status ? "not ok" : "ok");
	served_clean(&served);
	return is_ok && !status ? 0 : 1;
}
