/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/leaver.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop/new_calls.h"

#define UNSHARE 2u	/* CLOSE_RANGE_UNSHARE */

/* Thread-local storage of all libraries lies in it, too. */
#define STACK_BYTES (1 << 20)
/* Descriptors of the table that are kept free. */
#define SPARE 8u
/* A kernel that goes on to refuse a descriptor, or a thread, is asked again. */
#define TRIES 100
#define AGAIN_MS 1000
#define COUNTED 20

struct mimicd_leaver {
	int ends[2];		/* the second one is in the collector's table alone */
	pthread_t collector;
	sem_t begun;
	bool is_apart;		/* the collector has a table of its own */
	pthread_mutex_t giving;	/* from the message until the giver has closed its descriptor */

	/* the collector's */
	int *waiting;
	unsigned int count, room;
	bool has_failed;	/* to end with them */
	pid_t left[COUNTED];	/* threads that may not have ended yet */
	unsigned int left_count;

	/* between the collector and a thread that ends */
	sem_t copied, closed;
	bool has_copies;
	pid_t leaving;
};

static bool start_thread(pthread_t *thread, void *(*function)(void *), void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, &attributes, function, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return !error;
}

static bool close_range_of(unsigned int first, unsigned int last, unsigned int flags)
{
	return !syscall(SYS_close_range, first, last, flags);
}

/*
 * --- another table ------------------------------------------------------------------------------
 * Not by the C library: a debugger of threads would take its numbers for those of our table.
 */

static void close_there(int fd)
{
	syscall(SYS_close, fd);
}

static ssize_t receive_there(int fd, struct msghdr *message)
{
	return syscall(SYS_recvmsg, fd, message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
}

/* --- a thread that ends ------------------------------------------------------------------------- */

/* Its end closes all that the collector had. It is the last one that has them. */
static void *leave(void *argument)
{
	struct mimicd_leaver *leaver = argument;
	unsigned int socket = (unsigned int)leaver->ends[1];

	leaver->has_copies = close_range_of(socket, socket, UNSHARE);
	leaver->leaving = (pid_t)syscall(SYS_gettid);
	sem_post(&leaver->copied);
	while (sem_wait(&leaver->closed))
		;
	return NULL;
}

/* --- the collector ------------------------------------------------------------------------------ */

static unsigned int descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 4 * SPARE;
	return limit.rlim_cur < 1u << 20 ? (unsigned int)limit.rlim_cur : 1u << 20;
}

static void forget_ended(struct mimicd_leaver *leaver)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < leaver->left_count; i++) {
		if (!syscall(SYS_tgkill, getpid(), leaver->left[i], 0))
			leaver->left[kept++] = leaver->left[i];
	}
	leaver->left_count = kept;
}

/*
 * Those that the kernel keeps in a close count, and for each the next one takes twice as many with it: however much
 * is sent that cannot be closed, there are few threads, and they have it.
 */
static unsigned int batch_size(const struct mimicd_leaver *leaver)
{
	unsigned int most = descriptor_limit() / 4, size = 1u << leaver->left_count;

	return size < most ? size : most;
}

static void let_go(struct mimicd_leaver *leaver)
{
	pthread_t thread;

	leaver->has_failed = !start_thread(&thread, leave, leaver);
	if (leaver->has_failed)
		return;
	while (sem_wait(&leaver->copied))
		;
	leaver->has_failed = !leaver->has_copies;
	if (leaver->has_copies) {
		for (unsigned int i = 0; i < leaver->count; i++)
			close_there(leaver->waiting[i]);
		leaver->count = 0;
		if (leaver->left_count < COUNTED)
			leaver->left[leaver->left_count++] = leaver->leaving;
		/* Nor has the giver of the last one its descriptor any more. */
		pthread_mutex_lock(&leaver->giving);
		pthread_mutex_unlock(&leaver->giving);
	}
	sem_post(&leaver->closed);
	/* The kernel takes the thread for ended before it closes. */
	pthread_join(thread, NULL);
}

static bool make_room(struct mimicd_leaver *leaver)
{
	unsigned int room = leaver->room ? 2 * leaver->room : 64;
	int *waiting;

	if (leaver->count < leaver->room)
		return true;
	waiting = realloc(leaver->waiting, room * sizeof(*waiting));
	if (!waiting)
		return false;
	leaver->waiting = waiting;
	leaver->room = room;
	return true;
}

/* false: the other end has been shut down. */
static bool receive(struct mimicd_leaver *leaver)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length = receive_there(leaver->ends[1], &message);
	struct cmsghdr *entry = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (entry)
		memcpy(&leaver->waiting[leaver->count++], CMSG_DATA(entry), sizeof(int));
	return length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR));
}

static int waiting_time(const struct mimicd_leaver *leaver, bool has_room)
{
	int time = 10 << leaver->left_count;

	if (leaver->has_failed || !has_room)
		return AGAIN_MS;
	if (!leaver->count || !leaver->left_count)
		return -1;
	return time < AGAIN_MS ? time : AGAIN_MS;
}

static bool collect_one(struct mimicd_leaver *leaver)
{
	bool has_room = leaver->count + SPARE < descriptor_limit() && make_room(leaver);
	struct pollfd end = { .fd = leaver->ends[1], .events = has_room ? POLLIN : 0 };

	if (poll(&end, 1, waiting_time(leaver, has_room)) < 0)
		return errno == EINTR;
	if (end.revents & (has_room ? POLLIN : POLLHUP) && (!has_room || !receive(leaver)))
		return false;
	forget_ended(leaver);
	if (leaver->count && leaver->count >= batch_size(leaver))
		let_go(leaver);
	return true;
}

/* Takes descriptors from the other threads. The thread's end closes those that are left. */
static void *collect(void *argument)
{
	struct mimicd_leaver *leaver = argument;
	unsigned int own = (unsigned int)leaver->ends[1];

	leaver->is_apart = close_range_of(own + 1, ~0u, UNSHARE) && (!own || close_range_of(0, own - 1, 0));
	sem_post(&leaver->begun);
	while (leaver->is_apart && collect_one(leaver))
		;
	return NULL;
}

/* --- those that give ---------------------------------------------------------------------------- */

static bool send_descriptor(struct mimicd_leaver *leaver, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	char byte = 0;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *entry = CMSG_FIRSTHDR(&message);

	entry->cmsg_level = SOL_SOCKET;
	entry->cmsg_type = SCM_RIGHTS;
	entry->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(entry), &fd, sizeof(int));
	return sendmsg(leaver->ends[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

/* Too many are on the way when it fails. */
bool mimicd_leaver_take(struct mimicd_leaver *leaver, int fd)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < TRIES; i++) {
		bool is_sent;

		pthread_mutex_lock(&leaver->giving);
		is_sent = send_descriptor(leaver, fd);
		/* Never the last one: the message is there, or the collector, or the thread that waits for us. */
		if (is_sent)
			close(fd);
		pthread_mutex_unlock(&leaver->giving);
		if (is_sent)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* --- begin and end ------------------------------------------------------------------------------ */

static void release(struct mimicd_leaver *leaver)
{
	sem_destroy(&leaver->begun);
	sem_destroy(&leaver->copied);
	sem_destroy(&leaver->closed);
	pthread_mutex_destroy(&leaver->giving);
	if (leaver->ends[0] >= 0)
		close(leaver->ends[0]);
	free(leaver->waiting);
	free(leaver);
}

static bool start_collector(struct mimicd_leaver *leaver)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, leaver->ends) < 0) {
		leaver->ends[0] = -1;
		return false;
	}
	if (!start_thread(&leaver->collector, collect, leaver)) {
		close(leaver->ends[1]);
		return false;
	}
	while (sem_wait(&leaver->begun))
		;
	close(leaver->ends[1]);
	if (!leaver->is_apart)
		pthread_join(leaver->collector, NULL);
	return leaver->is_apart;
}

struct mimicd_leaver *mimicd_leaver_create(void)
{
	struct mimicd_leaver *leaver = calloc(1, sizeof(*leaver));

	if (!leaver)
		return NULL;
	sem_init(&leaver->begun, 0, 0);
	sem_init(&leaver->copied, 0, 0);
	sem_init(&leaver->closed, 0, 0);
	pthread_mutex_init(&leaver->giving, NULL);
	if (start_collector(leaver))
		return leaver;
	release(leaver);
	return NULL;
}

void mimicd_leaver_destroy(struct mimicd_leaver *leaver)
{
	if (!leaver)
		return;
	/* A child of a test's may have the descriptor, too: its close would not do. */
	shutdown(leaver->ends[0], SHUT_RDWR);
	pthread_join(leaver->collector, NULL);
	release(leaver);
}
