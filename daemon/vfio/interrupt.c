/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Interrupts of a function: eventfds of the machine's QEMU, by the vectors of MSI or MSI-X. */
#include <errno.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/loop/closer.h"
#include "daemon/vfio/internal.h"

static unsigned int own_index(const struct mimicd_machine *machine)
{
	return machine->function->has_msi ? MIMICD_VFIO_MSI : MIMICD_VFIO_MSIX;
}

unsigned int mimicd_interrupt_count(const struct mimicd_machine *machine, unsigned int index)
{
	return index == own_index(machine) ? MIMIC_PCI_VECTORS : 0;
}

/* The descriptor came from outside, so its last close is not for the loop's thread. */
static void take_away(struct mimicd_machine *machine, int *eventfd)
{
	if (*eventfd >= 0)
		mimicd_closer_close(machine->connection.loop->closer, machine->connection.uid, *eventfd);
	*eventfd = -1;
}

void mimicd_interrupt_forget(struct mimicd_machine *machine)
{
	for (unsigned int index = 0; index < MIMICD_VFIO_INTERRUPTS; index++) {
		for (unsigned int i = 0; i < MIMIC_PCI_VECTORS; i++)
			take_away(machine, &machine->eventfds[index][i]);
	}
}

static int check_all(struct mimicd_machine *machine, const int *fds, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		int error = mimicd_signaller_check(&machine->function->vfio->signaller, fds[i]);

		if (error)
			return error;
	}
	return 0;
}

/*
 * QEMU gives eventfds for vectors from `start` on, or none to take them away; a count of 0
 * takes away all. It plays masks and pending bits itself.
 */
int mimicd_interrupt_set(struct mimicd_machine *machine, const struct mimicd_vfio_irq_set *set,
			 const int *fds, unsigned int fd_count)
{
	unsigned int count = mimicd_interrupt_count(machine, set->index);
	bool gives = set->flags & MIMICD_VFIO_SET_DATA_EVENTFD && fd_count;
	unsigned int end = set->count ? set->start + set->count : count;
	int error;

	if (set->index >= MIMICD_VFIO_INTERRUPTS || set->start > count || set->count > count - set->start ||
	    (gives && fd_count != set->count))
		return -EINVAL;
	if (!(set->flags & MIMICD_VFIO_SET_ACTION_TRIGGER))
		return 0;	/* masks */
	error = gives ? check_all(machine, fds, fd_count) : 0;
	if (error)
		return error;
	for (unsigned int i = set->start; i < end; i++) {
		int *eventfd = &machine->eventfds[set->index][i];
		int copy = gives ? dup(fds[i - set->start]) : -1;

		if (gives && copy < 0)
			return -errno;
		take_away(machine, eventfd);
		*eventfd = copy;
	}
	return 0;
}

int mimicd_interrupt_raise(struct mimicd_machine *machine, uint64_t cause, unsigned int vector)
{
	const int *eventfds = machine->eventfds[own_index(machine)];
	int fd = eventfds[vector] >= 0 ? eventfds[vector] : eventfds[0];

	machine->status |= cause;
	if (fd < 0)
		return -ENOTCONN;
	mimicd_signaller_signal(&machine->function->vfio->signaller, fd);
	return 0;
}
