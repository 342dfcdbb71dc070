/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices for virtual machines: one for each device that has a socket. */
#ifndef MIMICD_VFIO_FUNCTION_H
#define MIMICD_VFIO_FUNCTION_H

#include "daemon/vfio/listener.h"

/* The device waits for a machine from now on. 0 or -ENOMEM. */
int mimicd_vfio_function_add(struct mimicd_vfio_listener *listener, struct mimicd_instance *instance);
/* It does not any more; the machine that has it loses it. */
void mimicd_vfio_function_remove(struct mimicd_vfio_function *function);
/* Frees those that were removed, when nothing is in the middle of them. */
void mimicd_vfio_functions_free(struct mimicd_vfio *vfio);

#endif
