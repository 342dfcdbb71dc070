/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/signaller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A request of one byte of /dev/null, over at once: only its end matters, which signals `fd`. */
static int submit(const struct mimicd_signaller *signaller, int fd, unsigned int operation)
{
	static char byte;
	struct iocb request = {
		.aio_lio_opcode = (uint16_t)operation,
		.aio_fildes = (uint32_t)signaller->null_fd,
		.aio_buf = (uintptr_t)&byte,
		.aio_nbytes = sizeof(byte),
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)fd,
	};
	struct iocb *requests[] = { &request };
	struct io_event event;

	if (syscall(SYS_io_submit, signaller->context, 1L, requests) != 1)
		return -errno;
	syscall(SYS_io_getevents, signaller->context, 1L, 1L, &event, NULL);
	return 0;
}

static int prepare(struct mimicd_signaller *signaller)
{
	int error;

	if (signaller->context)
		return 0;
	signaller->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (signaller->null_fd < 0)
		return -errno;
	if (!syscall(SYS_io_setup, 1U, &signaller->context))
		return 0;
	error = -errno;
	close(signaller->null_fd);
	return error;
}

/*
 * A write to a descriptor that is open for reading only fails with EBADF, but not before the
 * kernel has looked at the eventfd, which stays as it is.
 */
int mimicd_signaller_check(struct mimicd_signaller *signaller, int fd)
{
	int error = prepare(signaller);

	if (error)
		return error;
	return submit(signaller, fd, IOCB_CMD_PWRITE) == -EBADF ? 0 : -EINVAL;
}

void mimicd_signaller_signal(struct mimicd_signaller *signaller, int fd)
{
	submit(signaller, fd, IOCB_CMD_PREAD);
}

void mimicd_signaller_destroy(struct mimicd_signaller *signaller)
{
	if (!signaller->context)
		return;
	syscall(SYS_io_destroy, signaller->context);
	close(signaller->null_fd);
	signaller->context = 0;
}
