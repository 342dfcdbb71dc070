/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/slow_page.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/kselftest/lib/memory.h"
#include "tests/kselftest/lib/time_scale.h"

int slow_page_make(void *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register wanted = {
		.range = { .start = (uintptr_t)page, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &wanted))
		return -1;
	return fd;
}

bool slow_page_is_wanted(int slow)
{
	struct pollfd entry = { .fd = slow, .events = POLLIN };
	struct uffd_msg message;

	return poll(&entry, 1, 5000 * (int)time_scale()) == 1 && read(slow, &message, sizeof(message)) > 0;
}

int slow_page_give(int slow, void *page, uint64_t value)
{
	static uint64_t contents[PAGE / 8];
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page, .src = (uintptr_t)contents, .len = PAGE,
	};

	contents[0] = value;
	return ioctl(slow, UFFDIO_COPY, &copy);
}
