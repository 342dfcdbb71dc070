/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The scripted daemon: the test's end, and the child's beginning. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_server.h"
#include "mimic/virgo_registers.h"

#define WAIT_MS 10000
#define CALL_MS 60000
/* Where a successor has the node. */
#define KEPT_FILE 3

static void doze(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

bool fake_wait(const _Atomic unsigned int *count, unsigned int wanted)
{
	int tries;

	for (tries = 0; *count < wanted && tries < WAIT_MS; tries++)
		doze(1);
	return *count >= wanted;
}

const struct mimic_bus_request *fake_daemon_last(const struct fake_daemon *daemon, unsigned int kind)
{
	unsigned int i = daemon->control->log_count;
	unsigned int oldest = i > FAKE_LOG_MAX ? i - FAKE_LOG_MAX : 0;

	while (i-- > oldest) {
		if (daemon->control->log[i % FAKE_LOG_MAX].kind == kind)
			return &daemon->control->log[i % FAKE_LOG_MAX];
	}
	return NULL;
}

/* --- the child ------------------------------------------------------------ */

__thread sigjmp_buf fake_on_bus_error;
static __thread bool expects_bus_error;

static void bus_error(int signal_number)
{
	if (expects_bus_error)
		siglongjmp(fake_on_bus_error, 1);
	signal(signal_number, SIG_DFL);
}

struct worker_start {
	struct fake_server *server;
	struct fake_worker *worker;
};

static long run_call(struct fake_server *server, struct fake_worker *worker)
{
	fake_call call = (fake_call)worker->call;
	long result;

	if (sigsetjmp(fake_on_bus_error, 1)) {
		expects_bus_error = false;
		return -EFAULT;
	}
	expects_bus_error = true;
	result = call(&server->self, worker->argument);
	expects_bus_error = false;
	return result;
}

static void *work(void *argument)
{
	struct worker_start *start = argument;

	for (;;) {
		while (sem_wait(&start->worker->asked))
			;
		start->worker->result = run_call(start->server, start->worker);
		sem_post(&start->worker->done);
	}
	return NULL;
}

/*
 * Files and mappings of a device that the test has open would be held by their
 * copies here.
 */
static void forget_devices(unsigned int first_file)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long ranges[256][2];
	unsigned int count = 0;
	char line[512];

	while (maps && count < 256 && fgets(line, sizeof(line), maps)) {
		if ((strstr(line, " /dev/m") || strstr(line, " /dev/virgo")) &&
		    sscanf(line, "%lx-%lx", &ranges[count][0], &ranges[count][1]) == 2)
			count++;
	}
	if (maps)
		fclose(maps);
	while (count-- > 0)
		munmap((void *)ranges[count][0], ranges[count][1] - ranges[count][0]);
	close_range(first_file, ~0u, 0);
}

/* 3: the descriptor that the test has kept for it. */
static int take_over(struct fake_server *server, const uint8_t *token)
{
	struct mimic_bus_take_over wanted = { .size = sizeof(wanted) };

	server->self.fd = KEPT_FILE;
	memcpy(wanted.token, token, sizeof(wanted.token));
	return ioctl(server->self.fd, MIMIC_BUS_TAKE_OVER, &wanted) ? -errno : 0;
}

static int open_node(struct fake_server *server)
{
	server->self.fd = open(MIMIC_BUS_NODE, O_RDWR | O_CLOEXEC);
	return server->self.fd < 0 ? -errno : 0;
}

static int map_slots(struct fake_server *server)
{
	void *memory;

	memory = mmap(NULL, MIMIC_BUS_SLOTS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, server->self.fd,
		      (off_t)MIMIC_BUS_SLOTS_OFFSET);
	if (memory == MAP_FAILED)
		return -errno;
	server->self.header = memory;
	server->self.slots = (struct mimic_bus_slot *)((char *)memory + MIMIC_BUS_HEADER_SIZE);
	return 0;
}

static void run_child(const struct fake_daemon *daemon, int ready, bool takes_over)
{
	const struct fake_options *options = &daemon->options;
	struct fake_control *control = daemon->control;
	static struct fake_server server;
	static struct worker_start starts[FAKE_WORKERS];
	pthread_t thread;
	sigset_t none;
	int i, error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "fake-daemon");
	if (dup2(ready, 0) != 0 || (takes_over && dup2(daemon->kept, KEPT_FILE) != KEPT_FILE))
		_exit(2);
	forget_devices(takes_over ? KEPT_FILE + 1 : KEPT_FILE);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (i = 1; i < SIGRTMIN; i++)
		signal(i, SIG_DFL);
	alarm(0);
	signal(SIGBUS, bus_error);
	server.self.control = control;
	server.control = control;
	server.channel = options->channel;
	server.is_paper = options->is_paper;
	server.memory_size = options->memory_size;
	server.uncommitted = -1;
	server.thread = pthread_self();
	pthread_mutex_init(&server.lock, NULL);
	error = takes_over ? take_over(&server, daemon->token) : open_node(&server);
	if (!error)
		error = map_slots(&server);
	for (i = 0; !error && i < FAKE_WORKERS; i++) {
		starts[i] = (struct worker_start){ &server, &control->workers[i] };
		error = -pthread_create(&thread, NULL, work, &starts[i]);
	}
	if (write(0, &error, sizeof(error)) != sizeof(error) || error)
		_exit(2);
	close(0);
	while (control->is_paused)
		doze(1);
	fake_serve(&server);
	_exit(0);
}

/* --- calls ---------------------------------------------------------------- */

static bool is_dead(struct fake_daemon *daemon)
{
	if (!daemon->pid)
		return true;
	if (waitpid(daemon->pid, NULL, WNOHANG) != daemon->pid)
		return false;
	daemon->pid = 0;
	return true;
}

static void ask(struct fake_daemon *daemon, struct fake_worker *worker, fake_call call,
		const void *argument, size_t size)
{
	(void)daemon;
	if (size > FAKE_ARGUMENT_MAX)
		abort();
	worker->call = (void *)call;
	if (size)
		memcpy(worker->argument, argument, size);
	sem_post(&worker->asked);
}

static long await(struct fake_daemon *daemon, struct fake_worker *worker, void *argument, size_t size)
{
	struct timespec until;
	int rounds;

	for (rounds = 0; rounds < CALL_MS / 50; rounds++) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (!sem_timedwait(&worker->done, &until)) {
			if (size)
				memcpy(argument, worker->argument, size);
			return worker->result;
		}
		if (is_dead(daemon))
			return -ESRCH;
	}
	return -ETIMEDOUT;
}

long fake_daemon_call(struct fake_daemon *daemon, fake_call call, void *argument, size_t size)
{
	struct fake_worker *worker = &daemon->control->workers[0];

	if (is_dead(daemon))
		return -ESRCH;
	ask(daemon, worker, call, argument, size);
	return await(daemon, worker, argument, size);
}

void fake_daemon_call_start(struct fake_daemon *daemon, fake_call call, const void *argument,
			    size_t size)
{
	ask(daemon, &daemon->control->workers[1], call, argument, size);
}

long fake_daemon_call_finish(struct fake_daemon *daemon, void *argument, size_t size)
{
	return await(daemon, &daemon->control->workers[1], argument, size);
}

static long call_register(struct fake_self *self, void *argument)
{
	struct mimic_bus_register *wanted = argument;

	if (ioctl(self->fd, MIMIC_BUS_REGISTER, wanted))
		return -errno;
	self->control->device = wanted->device;
	self->control->index = wanted->index;
	self->control->pages = wanted->pages;
	return 0;
}

static long call_unregister(struct fake_self *self, void *argument)
{
	struct mimic_bus_unregister wanted = { .size = sizeof(wanted), .device = self->control->device };

	(void)argument;
	return ioctl(self->fd, MIMIC_BUS_UNREGISTER, &wanted) ? -errno : 0;
}

static long call_interrupt(struct fake_self *self, void *argument)
{
	struct mimic_bus_interrupt wanted = {
		.size = sizeof(wanted), .device = self->control->device, .line = *(unsigned int *)argument,
	};

	return ioctl(self->fd, MIMIC_BUS_INTERRUPT, &wanted) ? -errno : 0;
}

static long call_release(struct fake_self *self, void *argument)
{
	(void)argument;
	return fake_release_held((struct fake_server *)self);
}

int fake_daemon_interrupt(struct fake_daemon *daemon, unsigned int line)
{
	return (int)fake_daemon_call(daemon, call_interrupt, &line, sizeof(line));
}

int fake_daemon_unregister(struct fake_daemon *daemon)
{
	return (int)fake_daemon_call(daemon, call_unregister, NULL, 0);
}

int fake_daemon_release(struct fake_daemon *daemon)
{
	return (int)fake_daemon_call(daemon, call_release, NULL, 0);
}

int fake_daemon_fault(struct fake_daemon *daemon, const volatile void *address, bool writes)
{
	daemon->control->fault_word = ((uintptr_t)address & ~4095ull) | MAPLE_FAULT_PIPES |
				      MAPLE_FAULT_STALLED | (writes ? MAPLE_FAULT_WRITES : 0);
	return fake_daemon_interrupt(daemon, 0);
}

void fake_daemon_special(struct fake_daemon *daemon, const struct fake_special *special)
{
	unsigned int place = daemon->control->special_count;

	if (place == FAKE_SPECIALS_MAX)
		abort();
	daemon->control->specials[place] = *special;
	daemon->control->special_count = place + 1;
}

void fake_daemon_no_specials(struct fake_daemon *daemon)
{
	daemon->control->special_count = 0;
}

/* --- start and stop ------------------------------------------------------- */

static int start_child(struct fake_daemon *daemon, bool takes_over)
{
	int ready[2], error = -EIO, i;

	for (i = 0; i < FAKE_WORKERS; i++) {
		sem_init(&daemon->control->workers[i].asked, 1, 0);
		sem_init(&daemon->control->workers[i].done, 1, 0);
	}
	daemon->control->held = 0;
	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	daemon->pid = fork();
	if (daemon->pid < 0) {
		close(ready[0]);
		close(ready[1]);
		daemon->pid = 0;
		return -errno;
	}
	if (!daemon->pid)
		run_child(daemon, ready[1], takes_over);
	close(ready[1]);
	if (read(ready[0], &error, sizeof(error)) != sizeof(error))
		error = -EIO;
	close(ready[0]);
	daemon->control->pid = daemon->pid;
	return error;
}

static const char *kind_of(const struct fake_options *options)
{
	if (options->kind)
		return options->kind;
	return options->memory_size ? "virgo" : "maple";
}

int fake_daemon_register(struct fake_daemon *daemon)
{
	const struct fake_options *options = &daemon->options;
	struct mimic_bus_register wanted = {
		.size = sizeof(wanted),
		.index = options->index - 1,
		.pages = options->pages ? options->pages :
			 options->memory_size ? VIRGO_PAGE_COUNT : MAPLE_PAGE_COUNT,
		.interrupts = options->interrupts ? options->interrupts : 1,
		.capabilities = options->capabilities ? options->capabilities :
							MIMIC_BUS_TRAPS | MIMIC_BUS_WINDOW_ACCESS,
		.memory_size = options->memory_size,
		.void_pages = options->void_pages,
	};

	snprintf(wanted.kind, sizeof(wanted.kind), "%s", kind_of(options));
	return (int)fake_daemon_call(daemon, call_register, &wanted, sizeof(wanted));
}

static bool wait_for_node(const struct fake_daemon *daemon, bool is_there)
{
	int tries;

	for (tries = 0; tries < WAIT_MS; tries++) {
		if (!access(daemon->node, F_OK) == is_there)
			return true;
		doze(1);
	}
	return false;
}

static int start_device(struct fake_daemon *daemon)
{
	int error = fake_daemon_register(daemon);

	if (error)
		return error;
	snprintf(daemon->node, sizeof(daemon->node), "/dev/%s%d", kind_of(&daemon->options),
		 daemon->control->index);
	/* From now on the same one again. */
	daemon->options.index = daemon->control->index + 1;
	if (daemon->options.without_node)
		return 0;
	return wait_for_node(daemon, true) ? 0 : -ETIMEDOUT;
}

static void free_daemon(struct fake_daemon *daemon)
{
	fake_daemon_kill(daemon);
	munmap(daemon->control, sizeof(*daemon->control));
	free(daemon);
}

struct fake_daemon *fake_daemon_start(const struct fake_options *options)
{
	struct fake_daemon *daemon = calloc(1, sizeof(*daemon));
	int error;

	if (!daemon)
		return NULL;
	daemon->options = *options;
	daemon->control = mmap(NULL, sizeof(*daemon->control), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (daemon->control == MAP_FAILED) {
		free(daemon);
		return NULL;
	}
	error = start_child(daemon, false);
	if (!error && !options->without_device)
		error = start_device(daemon);
	if (!error)
		return daemon;
	free_daemon(daemon);
	errno = -error;
	return NULL;
}

void fake_daemon_kill(struct fake_daemon *daemon)
{
	if (!daemon->pid)
		return;
	kill(daemon->pid, SIGKILL);
	waitpid(daemon->pid, NULL, 0);
	daemon->pid = 0;
}

bool fake_daemon_has_died(struct fake_daemon *daemon)
{
	int tries;

	for (tries = 0; tries < WAIT_MS; tries++) {
		if (is_dead(daemon))
			return true;
		doze(1);
	}
	return false;
}

/*
 * Where io_uring held the node it is closed a moment after the process is gone,
 * and until then the device is the dead daemon's.
 */
static void wait_for_its_end(const struct fake_daemon *daemon)
{
	char path[96], served = '0';
	int tries, file;

	snprintf(path, sizeof(path), "/sys/bus/mimic/devices/%s/served",
		 daemon->node + strlen("/dev/"));
	for (tries = 0; tries < WAIT_MS; tries++) {
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file < 0 || read(file, &served, 1) != 1)
			served = '0';
		if (file >= 0)
			close(file);
		if (served == '0')
			return;
		doze(1);
	}
}

int fake_daemon_restart(struct fake_daemon *daemon)
{
	int error;

	fake_daemon_kill(daemon);
	wait_for_its_end(daemon);
	error = start_child(daemon, false);
	return error ? error : start_device(daemon);
}

/* --- successors ----------------------------------------------------------- */

static long call_keep(struct fake_self *self, void *argument)
{
	/* The test's copy of the descriptor is of its number. */
	return ioctl(self->fd, MIMIC_BUS_KEEP, argument) ? -errno : self->fd;
}

static int copy_descriptor(const struct fake_daemon *daemon, int number)
{
	int process = (int)syscall(SYS_pidfd_open, daemon->pid, 0);
	int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
	int error = copy < 0 ? -errno : 0;

	if (process >= 0)
		close(process);
	return error ? error : copy;
}

int fake_daemon_keep(struct fake_daemon *daemon, unsigned int milliseconds)
{
	struct mimic_bus_keep wanted = { .size = sizeof(wanted), .milliseconds = milliseconds };
	int result;

	memset(daemon->token, 0x5c, sizeof(daemon->token));
	memcpy(wanted.token, daemon->token, sizeof(wanted.token));
	result = (int)fake_daemon_call(daemon, call_keep, &wanted, sizeof(wanted));
	if (result < 0 || daemon->kept)
		return result < 0 ? result : 0;
	result = copy_descriptor(daemon, result);
	daemon->kept = result < 0 ? 0 : result;
	return result < 0 ? result : 0;
}

void fake_daemon_forget(struct fake_daemon *daemon)
{
	if (daemon->kept)
		close(daemon->kept);
	daemon->kept = 0;
}

int fake_daemon_succeed(struct fake_daemon *daemon)
{
	int error;

	fake_daemon_kill(daemon);
	error = start_child(daemon, true);
	return error ? error : start_device(daemon);
}

void fake_daemon_stop(struct fake_daemon *daemon)
{
	bool has_device = !daemon->options.without_device && daemon->node[0];

	fake_daemon_forget(daemon);
	fake_daemon_no_specials(daemon);
	daemon->control->is_paused = false;
	daemon->control->hold_kinds = 0;
	daemon->control->dies_before_taking = false;
	if (has_device && is_dead(daemon))
		fake_daemon_restart(daemon);
	if (has_device && fake_daemon_unregister(daemon) == 0 && !daemon->options.without_node)
		wait_for_node(daemon, false);
	free_daemon(daemon);
}
