/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/slow_memory.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

struct slow_memory slow_memory;

static struct {
	int fd, stop[2];
	char *start;
	pthread_t thread;
	bool runs;
} pager;

static void serve_page(uint64_t address)
{
	static _Alignas(SLOW_PAGE) uint32_t contents[SLOW_PAGE / 4];
	struct uffdio_copy copy = {
		.dst = address & ~(uint64_t)(SLOW_PAGE - 1), .src = (uintptr_t)contents, .len = SLOW_PAGE,
	};

	usleep(slow_memory.sleep_us);
	for (unsigned int i = 0; i < SLOW_PAGE / 4; i++)
		contents[i] = (uint32_t)((copy.dst - (uintptr_t)pager.start) / SLOW_PAGE);
	/* Before the daemon goes on. */
	atomic_fetch_add(&slow_memory.served, 1);
	ioctl(pager.fd, UFFDIO_COPY, &copy);
}

static void *serve_pages(void *argument)
{
	struct pollfd entries[2] = { { .fd = pager.fd, .events = POLLIN }, { .fd = pager.stop[0], .events = POLLIN } };
	struct uffd_msg message;

	while (poll(entries, 2, -1) > 0 && !entries[1].revents) {
		if (read(pager.fd, &message, sizeof(message)) == sizeof(message))
			serve_page(message.arg.pagefault.address);
	}
	return argument;
}

bool slow_memory_begin(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	memset(&slow_memory, 0, sizeof(slow_memory));
	pager.runs = false;
	pager.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (pager.fd < 0)
		print_message("skipped: there is no userfaultfd\n");
	return pager.fd >= 0 && !ioctl(pager.fd, UFFDIO_API, &api);
}

void slow_memory_end(void)
{
	if (pager.runs) {
		close(pager.stop[1]);
		pthread_join(pager.thread, NULL);
		close(pager.stop[0]);
	}
	close(pager.fd);
}

/* In the place of the daemon's mapping. */
static void make_slow(const struct mimicd_range *range)
{
	struct uffdio_register region = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	pager.start = mmap(range->base, range->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(pager.start, range->base);
	region.range.start = (uintptr_t)pager.start;
	region.range.len = range->size;
	assert_int_equal(ioctl(pager.fd, UFFDIO_REGISTER, &region), 0);
	assert_int_equal(pipe(pager.stop), 0);
	assert_int_equal(pthread_create(&pager.thread, NULL, serve_pages, NULL), 0);
	pager.runs = true;
}

void slow_memory_share(struct turns_program *program)
{
	struct mimic_memory_request message = { .address = SLOW_ADDRESS, .size = SLOW_PAGES * SLOW_PAGE };
	int fd = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct mimic_message reply;

	assert_int_equal(ftruncate(fd, SLOW_PAGES * SLOW_PAGE), 0);
	assert_int_equal(fallocate(fd, 0, 0, SLOW_PAGES * SLOW_PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	turns_go_on();
	assert_int_equal(raw_request(program->socket, &message, sizeof(message), MIMIC_MESSAGE_MEMORY_ADD, fd, &reply,
				     sizeof(reply), NULL), 0);
	turns_pause();
	close(fd);
	make_slow(&program->session->client.memory.ranges[0]);
}
