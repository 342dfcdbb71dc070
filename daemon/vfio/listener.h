/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The one or two sockets of a device. They are made once, before mimicd gives up the rights that this needs,
 * and stay when their device is removed: a device that is added by the same name is reached by them again.
 */
#ifndef MIMICD_VFIO_LISTENER_H
#define MIMICD_VFIO_LISTENER_H

#include "daemon/vfio/internal.h"
#include "mimic/protocol.h"

struct mimicd_vfio_socket {
	/* NULL: there is none. Absolute, once it listens: the daemon may change its directory. */
	char *path;
	int fd;			/* -1: it does not listen */
	struct mimicd_source source;
	dev_t file_device;	/* of the socket's file */
	ino_t inode;
};

struct mimicd_vfio_listener {
	struct mimicd_vfio *vfio;
	char device[MIMIC_NAME_MAX];
	bool has_msi, has_rings;
	struct mimicd_vfio_socket registers;	/* and all else, if `memory` is none */
	struct mimicd_vfio_socket memory;
	struct mimicd_vfio_function *function;	/* NULL: there is no such device now */
};

/*
 * [DEVICE=]PATH[,msi][,rings][,memory=PATH]. After either, mimicd_vfio_listener_close(). 0; -EINVAL: no
 * device is named, or *why is wrong; -ENOMEM.
 */
int mimicd_vfio_listener_parse(struct mimicd_vfio_listener *listener, const char *text, const char **why);
/* 0 or -errno, with a log line. */
int mimicd_vfio_listener_open(struct mimicd_vfio_listener *listener);
void mimicd_vfio_listener_close(struct mimicd_vfio_listener *listener);

#endif
