/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/journal/journal.h"

uint64_t mimicd_journal_places_left;

void mimicd_journal_kill(void)
{
	/* As abrupt as a signal, and allowed in the sandbox. */
	_exit(128 + SIGKILL);
}

void mimicd_journal_count_places(bool is_successor)
{
	const char *text = getenv(is_successor ? "MIMIC_TEST_KILL_SUCCESSOR_AT" : "MIMIC_TEST_KILL_AT");

	mimicd_journal_places_left = text ? strtoull(text, NULL, 10) : 0;
}
