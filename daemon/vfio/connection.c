/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The connection of a machine: what comes in is served, until it ends. */
#include <string.h>

#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"

#define MESSAGES_A_TURN 64u	/* then others have theirs */

static void end_for(struct mimicd_machine *machine, int error, const char *why)
{
	if (why)
		mimicd_log_of(machine->uid, MIMICD_LOG_WARNING, "%s: a virtual machine (pid %d): %s; it is cut off",
			      machine->function->path, (int)machine->pid, why);
	else
		mimicd_log(MIMICD_LOG_DEBUG, "%s: a virtual machine (pid %d) has gone: %s", machine->function->path,
			   (int)machine->pid, strerror(-error));
	mimicd_machine_end(machine);
}

static void hear(void *context)
{
	struct mimicd_machine *machine = context;

	for (unsigned int i = 0; i < MESSAGES_A_TURN && !machine->has_ended && !machine->is_paused; i++) {
		const char *why = NULL;
		int got = mimicd_vfio_receive(machine, &why);

		if (!got)
			return;
		if (got < 0) {
			end_for(machine, got, why);
			return;
		}
		mimicd_vfio_serve(machine);
		if (machine->is_lost)
			mimicd_machine_end(machine);
		else if (!machine->is_paused)
			mimicd_vfio_packet_close(machine);
	}
}

void mimicd_connection_begin(struct mimicd_vfio_function *function, int fd)
{
	static const struct mimicd_machine_calls calls = {
		.hear = hear,
		.load_is_done = mimicd_region_load_is_done,
		.store_is_done = mimicd_region_store_is_done,
		.patience_ends = mimicd_region_patience_ends,
		.posted_may_go_on = mimicd_region_posted_may_go_on,
	};

	mimicd_machine_create(function, fd, &calls);
}
