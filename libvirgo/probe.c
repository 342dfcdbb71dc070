/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Is memory there that this thread is about to use? System calls return an error where
 * the thread itself would get a signal.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "internal.h"

#define PAGE 4096
#define PAGES_AT_ONCE 256
#define POPULATE_WRITE 23	/* MADV_POPULATE_WRITE, since Linux 5.14 */

static uintptr_t next_page(uintptr_t at)
{
	return (at / PAGE + 1) * PAGE;
}

/* One byte of each page. */
int virgo_probe_read(const void *start, size_t size)
{
	const uintptr_t end = (uintptr_t)start + size;
	struct iovec pages[PAGES_AT_ONCE];
	char bytes[PAGES_AT_ONCE];

	for (uintptr_t at = (uintptr_t)start; at < end;) {
		const struct iovec to = { .iov_base = bytes, .iov_len = PAGES_AT_ONCE };
		size_t count = 0;
		ssize_t got;

		for (; at < end && count < PAGES_AT_ONCE; at = next_page(at))
			pages[count++] = (struct iovec){ .iov_base = (void *)at, .iov_len = 1 };
		got = process_vm_readv(getpid(), &to, 1, pages, count, 0);
		if (got < 0)
			return -errno;
		if (got != (ssize_t)count)
			return -EFAULT;
	}
	return 0;
}

/* All pages by one call, as if each were written. false: not all can be, or the kernel cannot tell. */
static bool is_writable(uintptr_t start, uintptr_t end)
{
	const uintptr_t first = start / PAGE * PAGE;

	return end > start && !madvise((void *)first, end - first, POPULATE_WRITE);
}

/*
 * To find a page that cannot be written, a word of each becomes itself or 0, in one step: other threads
 * may write beside it meanwhile. This is the only call that stores atomically to memory of any kind.
 */
int virgo_probe_write(const void *start, size_t size, uintptr_t *where)
{
	const uintptr_t end = (uintptr_t)start + size;
	uint32_t nobody = 0;

	/* A call for each page takes a millisecond for 4 MB. */
	if (is_writable((uintptr_t)start, end))
		return 0;
	for (uintptr_t at = (uintptr_t)start & ~(uintptr_t)3; at < end; at = next_page(at)) {
		if (syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, at,
			    FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0)) >= 0 || errno != EFAULT)
			continue;
		*where = at;
		return -EFAULT;
	}
	return 0;
}
