// SPDX-License-Identifier: GPL-2.0
/*
 * The channel's io_uring form: a parked FETCH is how a daemon sleeps, its
 * completion how it is woken. COMMIT_AND_FETCH saves a system call.
 */
#include <linux/fs.h>

#include "internal.h"

struct fetch {
	u32 slot;
};

static struct fetch *mimic_uring_fetch(struct io_uring_cmd *command)
{
	BUILD_BUG_ON(sizeof(struct fetch) > sizeof(command->pdu));
	return (struct fetch *)command->pdu;
}

static void mimic_uring_complete(MIMIC_URING_TASK_ARGUMENTS)
{
	struct io_uring_cmd *done = mimic_uring_task_command();

	mimic_uring_done(done, mimic_uring_fetch(done)->slot, mimic_uring_task_flags());
}

void mimic_uring_notify(struct mimic_connection *connection, u32 slot)
{
	unsigned int i;

	for (i = 0; i < MIMIC_FETCHES_MAX; i++) {
		struct io_uring_cmd *command = connection->fetches[i];

		if (!command)
			continue;
		connection->fetches[i] = NULL;
		mimic_uring_fetch(command)->slot = slot;
		io_uring_cmd_complete_in_task(command, mimic_uring_complete);
		return;
	}
}

/* 0: parked; -EIOCBQUEUED is the caller's. A slot number: there is something already. */
static int mimic_uring_park(struct mimic_connection *connection, struct io_uring_cmd *command,
			    unsigned int flags, u32 *slot)
{
	int error = -EBUSY;
	unsigned int i;

	spin_lock(&connection->lock);
	if (connection->dead) {
		error = -ENODEV;
	} else if (mimic_channel_has_pending(connection, slot)) {
		error = -EAGAIN;
	} else {
		for (i = 0; i < MIMIC_FETCHES_MAX && connection->fetches[i]; i++)
			;
		if (i < MIMIC_FETCHES_MAX) {
			connection->fetches[i] = command;
			connection->fetch_files[i] = current->files;
			error = 0;
		}
	}
	spin_unlock(&connection->lock);
	/*
	 * Takes the ring's mutex, so not under our lock. Not too late either: a
	 * completion runs as work of this task, after the system call's submission.
	 */
	if (!error)
		mimic_uring_mark_cancelable(command, flags);
	return error;
}

/* The ring goes away. */
static void mimic_uring_cancel(struct mimic_connection *connection, struct io_uring_cmd *command,
			       unsigned int flags)
{
	bool found = false;
	unsigned int i;

	spin_lock(&connection->lock);
	for (i = 0; i < MIMIC_FETCHES_MAX; i++) {
		if (connection->fetches[i] != command)
			continue;
		connection->fetches[i] = NULL;
		found = true;
	}
	spin_unlock(&connection->lock);
	if (found)
		mimic_uring_done(command, -ENODEV, flags);
}

void mimic_uring_flush(struct mimic_connection *connection, void *files)
{
	struct io_uring_cmd *commands[MIMIC_FETCHES_MAX] = { NULL };
	unsigned int i;

	spin_lock(&connection->lock);
	for (i = 0; i < MIMIC_FETCHES_MAX; i++) {
		if (!connection->fetches[i] || (files && connection->fetch_files[i] != files))
			continue;
		commands[i] = connection->fetches[i];
		connection->fetches[i] = NULL;
	}
	spin_unlock(&connection->lock);
	for (i = 0; i < MIMIC_FETCHES_MAX; i++) {
		if (commands[i])
			mimic_uring_done(commands[i], -ENODEV, IO_URING_F_UNLOCKED);
	}
}

int mimic_uring_command(struct io_uring_cmd *command, unsigned int flags)
{
	struct mimic_connection *connection = command->file->private_data;
	const struct mimic_bus_command *wanted;
	u32 slot = 0;
	int error;

	if (mimic_uring_is_cancel(flags)) {
		mimic_uring_cancel(connection, command, flags);
		return 0;
	}
	/* From a worker thread of the ring, `current` would not be the daemon's thread. */
	if (flags & IO_URING_F_UNLOCKED)
		return -EINVAL;
	wanted = mimic_uring_payload(command, struct mimic_bus_command);
	if (READ_ONCE(wanted->reserved))
		return -EINVAL;
	switch (command->cmd_op) {
	case MIMIC_BUS_COMMAND_COMMIT_AND_FETCH:
		error = mimic_channel_commit(connection, READ_ONCE(wanted->slot));
		if (error)
			return error;
		break;
	case MIMIC_BUS_COMMAND_FETCH:
		break;
	default:
		return -ENOTTY;
	}
	error = mimic_uring_park(connection, command, flags, &slot);
	if (error == -EAGAIN)
		return slot;
	return error ? error : -EIOCBQUEUED;
}
