/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Signals eventfds that belong to other programs.
 *
 * Trust boundary: the descriptor is a program's, and so are its flags and its
 * value: a write could wait for ever. So the kernel signals it, by a request of
 * asynchronous I/O that names it, and that never waits.
 */
#ifndef MIMICD_SIGNALLER_H
#define MIMICD_SIGNALLER_H

/* All 0: nothing was prepared yet. */
struct mimicd_signaller {
	unsigned long context;	/* of asynchronous I/O; 0: not made yet */
	int null_fd;		/* the target of its requests; open if there is a context */
};

/*
 * Can it be signalled? 0, -EINVAL: that is no eventfd; -EMFILE; -ENOSYS, -EAGAIN: the kernel
 * gives no asynchronous I/O.
 */
int mimicd_signaller_check(struct mimicd_signaller *signaller, int fd);
/* Adds 1 to its value. It has been checked. */
void mimicd_signaller_signal(struct mimicd_signaller *signaller, int fd);
void mimicd_signaller_destroy(struct mimicd_signaller *signaller);

#endif
