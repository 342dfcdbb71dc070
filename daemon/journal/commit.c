/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The end of a thread's step. */
#include <stdatomic.h>

#include "daemon/journal/internal.h"

void mimicd_journal_commit(void)
{
	struct mimicd_log *log = mimicd_log_own;
	struct mimicd_log_mark *mark = mimicd_log_own_mark();

	mimicd_journal_place();
	atomic_signal_fence(memory_order_seq_cst);
	mark->used = 0;
	log->step++;
	atomic_signal_fence(memory_order_seq_cst);
	if (mark->has_overflowed)
		mark->has_overflowed = 0;
	/* Other threads begin behind the first thread's first commit. */
	if (!log->number && !mimicd_window->is_complete)
		mimicd_window->is_complete = 1;
	/* Behind the commit: another thread that gets a block logs its lines, and no line may be in two logs. */
	if (log->freed)
		mimicd_heap_take_back(log->freed);
	log->freed = NULL;
	mimicd_journal_place();
}
