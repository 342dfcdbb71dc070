/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/journal/journal.h"

_Atomic uint64_t mimicd_journal_places_left;
uint64_t mimicd_journal_replies_left;

void mimicd_journal_kill(void)
{
	kill(getpid(), SIGKILL);
	/* The sandbox does not allow that, and this is as abrupt. */
	_exit(128 + SIGKILL);
}

static uint64_t number_of(const char *variable)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : 0;
}

void mimicd_journal_count_places(bool is_successor)
{
	mimicd_journal_places_left = number_of(is_successor ? "MIMIC_TEST_KILL_SUCCESSOR_AT" : "MIMIC_TEST_KILL_AT");
	mimicd_journal_replies_left = is_successor ? 0 : number_of("MIMIC_TEST_KILL_BEHIND_REPLY");
}
