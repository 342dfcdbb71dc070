/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/lost_store.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "daemon/supervise/inbox.h"

static struct mimicd_inbox inbox;

static void *take_letters(void *unused)
{
	static struct mimicd_letter letter;
	struct pollfd entry = { .fd = inbox.fd, .events = POLLIN };

	(void)unused;
	while (poll(&entry, 1, -1) >= 0) {
		if (!mimicd_inbox_receive(&inbox, &letter))
			mimicd_letter_close(&letter);
	}
	return NULL;
}

bool lost_store_start(void)
{
	sigset_t all, before;
	pthread_t thread;
	bool is_started;

	if (mimicd_inbox_open(&inbox) || setenv("NOTIFY_SOCKET", inbox.name, 1))
		return false;
	/* Signals are the daemon's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_started = !pthread_create(&thread, NULL, take_letters, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_started && !pthread_detach(thread);
}
