/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/deliver.h"

#include <errno.h>

#include "daemon/loop/log.h"

static int read_letter(const struct mimicd_letter *letter, pid_t daemon,
		       struct mimicd_manager_message *message)
{
	int error;

	if (letter->sender != daemon) {
		mimicd_log_of(letter->user, MIMICD_LOG_WARNING,
			      "a message of process %d is left out: it is not the daemon",
			      (int)letter->sender);
		return -EPERM;
	}
	error = letter->is_cut ? -EMSGSIZE : mimicd_message_parse(message, letter->text, letter->length);
	if (error)
		mimicd_log_of(letter->user, MIMICD_LOG_WARNING,
			      "a message of the daemon is left out: it is %s",
			      letter->is_cut ? "larger than there is room for" : "malformed");
	return error;
}

int mimicd_letter_deliver(struct mimicd_letter *letter, pid_t daemon, struct mimicd_kept *kept,
			  struct mimicd_manager_message *message)
{
	int error = read_letter(letter, daemon, message);

	if (!error && message->is_put) {
		for (size_t i = 0; i < letter->fd_count; i++)
			mimicd_kept_put(kept, message->name, letter->fds[i]);
		letter->fd_count = 0;
	}
	if (!error && message->is_drop)
		mimicd_kept_drop(kept, message->name);
	mimicd_letter_close(letter);
	return error;
}
