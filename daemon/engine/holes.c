/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/holes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/engine/memory.h"
#include "mimic/access.h"

/* Kernels' own header has it since 5.11. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

struct mimicd_watched {
	struct mimicd_memory *memory;
	uintptr_t start;
	size_t size;
	struct mimicd_watched *next, **link;	/* that leads here */
};

/*
 * Of the process, as its handlers are. The handler takes the lock, too: no thread reaches a
 * client's memory while it holds it.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mimicd_watched *all;
static int told_fd = -1;
static struct sigaction before;

/* With the lock. Once for each client that ends by it. */
static struct mimicd_watched *find(uintptr_t address)
{
	struct mimicd_watched *watched = all;

	while (watched && address - watched->start >= watched->size)
		watched = watched->next;
	return watched;
}

static bool replace(uintptr_t start, size_t size)
{
	return mmap((void *)start, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == (void *)start;
}

/*
 * Pages of our own in the place of all of the range, until the client has ended: each page for
 * itself would be a mapping, of which there are 65530. If a kernel without overcommitment has not so
 * many pages, it is the one.
 */
static bool cover(uintptr_t address)
{
	const uint64_t one = 1;
	struct mimicd_watched *watched;
	bool is_covered = false;

	pthread_mutex_lock(&lock);
	watched = find(address);
	if (watched && (replace(watched->start, watched->size) ||
			replace(address & ~(uintptr_t)(MIMIC_PAGE_SIZE - 1), MIMIC_PAGE_SIZE))) {
		atomic_store(&watched->memory->has_hole, true);
		(void)!write(told_fd, &one, sizeof(one));
		is_covered = true;
	}
	pthread_mutex_unlock(&lock);
	return is_covered;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR || !cover((uintptr_t)info->si_addr))
		sigaction(number, &before, NULL);
	errno = saved;
}

/* Without it, a client can make us own pages: only MemoryMax= of the unit limits that. */
static int open_userfaultfd(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int mimicd_holes_create(struct mimicd_holes *holes, struct mimicd_loop *loop)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

	holes->fd = open_userfaultfd();
	holes->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (holes->wake_fd < 0)
		return -errno;
	if (holes->fd >= 0 && told_fd < 0 && sigaction(SIGBUS, &action, &before))
		return -errno;
	told_fd = holes->wake_fd;
	return mimicd_loop_watch(loop, holes->wake_fd, EPOLLIN | EPOLLET, &holes->source);
}

void mimicd_holes_destroy(struct mimicd_holes *holes)
{
	if (holes->fd >= 0)
		close(holes->fd);
	if (holes->wake_fd >= 0)
		close(holes->wake_fd);
	holes->fd = holes->wake_fd = -1;
}

int mimicd_holes_watch(struct mimicd_holes *holes, struct mimicd_memory *memory, void *start, size_t size,
		       struct mimicd_watched **result)
{
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)start, .len = size }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct mimicd_watched *watched;

	*result = NULL;
	if (holes->fd < 0)
		return 0;
	watched = malloc(sizeof(*watched));
	if (!watched)
		return -ENOMEM;
	*watched = (struct mimicd_watched){ memory, (uintptr_t)start, size, NULL, &all };
	pthread_mutex_lock(&lock);
	watched->next = all;
	if (all)
		all->link = &watched->next;
	all = watched;
	pthread_mutex_unlock(&lock);
	if (ioctl(holes->fd, UFFDIO_REGISTER, &range)) {
		mimicd_holes_forget(watched);
		return -ENOMEM;
	}
	*result = watched;
	return 0;
}

void mimicd_holes_forget(struct mimicd_watched *watched)
{
	if (!watched)
		return;
	pthread_mutex_lock(&lock);
	*watched->link = watched->next;
	if (watched->next)
		watched->next->link = watched->link;
	pthread_mutex_unlock(&lock);
	free(watched);
}
