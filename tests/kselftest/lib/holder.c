/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double at_most(double seconds)
{
	return seconds * time_scale();
}

void sleep_ms(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&time, &time))
		;
}

/* --- the device ------------------------------------------------------------ */

int holder_open(struct holder *holder)
{
	holder->fd = open(holder->daemon->node, O_RDWR | O_CLOEXEC);
	return holder->fd < 0 ? -errno : 0;
}

int holder_map(struct holder *holder)
{
	void *pages = mmap(NULL, HOLDER_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, holder->fd, 0);

	if (pages == MAP_FAILED)
		return -errno;
	holder->pages = pages;
	return 0;
}

void holder_close(struct holder *holder)
{
	if (holder->fd >= 0)
		close(holder->fd);
	holder->fd = -1;
}

void holder_unmap(struct holder *holder)
{
	if (holder->pages)
		munmap((void *)holder->pages, HOLDER_PAGES * PAGE);
	holder->pages = NULL;
}

void holder_give_back(struct holder *holder)
{
	holder_unmap(holder);
	holder_close(holder);
}

int holder_start(struct holder *holder, const struct fake_options *options)
{
	struct fake_options none = { .channel = FAKE_SLOTS };
	int error;

	*holder = (struct holder){ .fd = -1 };
	holder->daemon = fake_daemon_start(options ? options : &none);
	if (!holder->daemon)
		return -errno;
	holder->control = holder->daemon->control;
	error = holder_open(holder);
	return error ? error : holder_map(holder);
}

void holder_stop(struct holder *holder)
{
	holder_give_back(holder);
	if (holder->daemon)
		fake_daemon_stop(holder->daemon);
	holder->daemon = NULL;
}

volatile uint64_t *holder_register(const struct holder *holder, unsigned int page,
				   unsigned int offset)
{
	return (volatile uint64_t *)(holder->pages + page * PAGE + offset);
}

volatile uint64_t *holder_held_register(const struct holder *holder)
{
	const struct fake_special special = { .page = 0, .offset = HELD_OFFSET, .action = FAKE_HOLD };

	fake_daemon_special(holder->daemon, &special);
	return holder_register(holder, 0, HELD_OFFSET);
}

/* --- signals --------------------------------------------------------------- */

static __thread sigjmp_buf after_signal;
static __thread siginfo_t caught;
static const int caught_signals[] = { SIGBUS, SIGSEGV, SIGILL, SIGTRAP };

#define CAUGHT_COUNT (sizeof(caught_signals) / sizeof(caught_signals[0]))

static void catch(int number, siginfo_t *info, void *context)
{
	(void)context;
	caught = *info;
	siglongjmp(after_signal, number);
}

/* Handlers are the process's: installed again and again, never taken away. */
static void install_handlers(void)
{
	struct sigaction action = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned int i;

	for (i = 0; i < CAUGHT_COUNT; i++)
		sigaction(caught_signals[i], &action, NULL);
}

int signal_of(void (*body)(void *argument), void *argument, siginfo_t *info)
{
	int number;

	install_handlers();
	number = sigsetjmp(after_signal, 1);
	if (!number)
		body(argument);
	if (number && info)
		*info = caught;
	return number;
}

static void load(void *address)
{
	(void)*(volatile uint64_t *)address;
}

static void store(void *address)
{
	*(volatile uint64_t *)address = 1;
}

int signal_of_load(const volatile void *address, siginfo_t *info)
{
	return signal_of(load, (void *)address, info);
}

int signal_of_store(volatile void *address, siginfo_t *info)
{
	return signal_of(store, (void *)address, info);
}

/* --- children --------------------------------------------------------------- */

int exit_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t child_start(int (*body)(void *argument), void *argument)
{
	pid_t child = fork();
	unsigned int i;

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < CAUGHT_COUNT; i++)
		signal(caught_signals[i], SIG_DFL);
	_exit(body(argument));
}

int in_child(int (*body)(void *argument), void *argument)
{
	pid_t child = child_start(body, argument);

	return child < 0 ? -errno : exit_of(child);
}

/* --- a thread that waits in an access ---------------------------------------- */

static void do_access(void *argument)
{
	struct waiter *waiter = argument;

	if (waiter->stores)
		*waiter->address = waiter->value;
	else
		waiter->value = *waiter->address;
}

static void *wait_in_access(void *argument)
{
	struct waiter *waiter = argument;
	double start = now_seconds();

	waiter->tid = gettid();
	waiter->signal = signal_of(do_access, waiter, NULL);
	waiter->seconds = now_seconds() - start;
	waiter->is_done = 1;
	return NULL;
}

int waiter_run(struct waiter *waiter, volatile uint64_t *address, bool stores)
{
	*waiter = (struct waiter){ .address = address, .stores = stores, .value = 0x5a5a };
	return -pthread_create(&waiter->thread, NULL, wait_in_access, waiter);
}

int waiter_start(struct waiter *waiter, struct holder *holder, volatile uint64_t *address,
		 bool stores)
{
	unsigned int held = holder->control->held;
	int error = waiter_run(waiter, address, stores);

	if (error)
		return error;
	return fake_wait(&holder->control->held, held + 1) ? 0 : -ETIMEDOUT;
}

bool waiter_ends(struct waiter *waiter)
{
	if (!fake_wait(&waiter->is_done, 1))
		return false;
	pthread_join(waiter->thread, NULL);
	return true;
}
