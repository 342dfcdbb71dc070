/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices at sockets: one for each device that is named. */
#ifndef MIMICD_VFIO_FUNCTION_H
#define MIMICD_VFIO_FUNCTION_H

#include "daemon/vfio/internal.h"

/* A socket as it was asked for. */
struct mimicd_vfio_socket {
	char device[MIMIC_NAME_MAX];
	char *path;
	bool has_msi;
};

/* The device waits for a machine from now on. 0 or -errno, with a log line. */
int mimicd_vfio_function_add(struct mimicd_vfio *vfio, struct mimicd_instance *instance,
			     const struct mimicd_vfio_socket *socket);
/* It does not any more; the machine that has it loses it. */
void mimicd_vfio_function_remove(struct mimicd_vfio_function *function);
/* Frees those that were removed, when nothing is in the middle of them. */
void mimicd_vfio_functions_free(struct mimicd_vfio *vfio);

#endif
