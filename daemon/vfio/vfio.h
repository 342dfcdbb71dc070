/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The front end for virtual machines: each device that is named has a socket, to which a stock QEMU
 * connects (vfio-user), and is then a function of the machine's PCI bus (docs/pci.md).
 *
 *   vfio.c, listener.c       the front end; a socket
 *   function.c               a device at it, as the engine knows it
 *   connection.c             a machine at the socket
 *   packet.c, messages.c     its messages
 *   region.c                 its loads and stores, by where they go
 *   last_replies.c           replies when its connection ends
 *   machine.c                it has the device: made, reset, ended
 *   registers.c, bus_page.c  loads and stores of BAR 0
 *   posted.c                 stores that wait
 *   memory_function.c        its memory as a function beside it
 *   access.c, interrupt.c    registers of the device, its interrupts
 *   rings.c                  lanes of the machine's programs, in a BAR
 *   bars.c, config_space.c   the function's BARs and configuration space
 *   spaces.c                 the machine's address spaces
 *   guest_memory.c, space.c, page_walk.c   the machine's memory, and the address spaces in it
 */
#ifndef MIMICD_VFIO_H
#define MIMICD_VFIO_H

struct mimicd_engine;
struct mimicd_keeper;
struct mimicd_vfio;

#define MIMICD_VFIO_SOCKETS_MAX 64u

/*
 * Sockets that were asked for, each as [DEVICE=]PATH[,msi][,rings][,memory=PATH]. If no device is named it is
 * the file's name without ".sock". MSI instead of MSI-X: with it QEMU 11 can take a device out of a running
 * machine. Rings: a BAR has lanes for the machine's programs. Memory: a second function, with a socket of its
 * own, has the BARs that are memory, so that QEMU posts stores of the first.
 */
struct mimicd_vfio_options {
	const char *sockets[MIMICD_VFIO_SOCKETS_MAX];
	unsigned int count;
};

/*
 * The keeper (NULL: there is none) gets the connections, too. 0, with *created NULL if no socket was asked for; or
 * -errno with a log line: -ENODEV: there is no such device; -EADDRINUSE: another process answers at the path.
 */
int mimicd_vfio_create(struct mimicd_vfio **created, struct mimicd_engine *engine,
		       struct mimicd_keeper *keeper, const struct mimicd_vfio_options *options);
/* NULL: nothing happens. */
void mimicd_vfio_destroy(struct mimicd_vfio *vfio);

#endif
