/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The undo logs of the steps that are not committed, one of each thread. */
#include <stdatomic.h>
#include <string.h>

#include "daemon/journal/internal.h"

struct mimicd_journal mimicd_journal = MIMICD_NO_JOURNAL;
struct mimicd_window *mimicd_window;
struct mimicd_log mimicd_logs[MIMICD_JOURNAL_LOGS];
_Thread_local struct mimicd_log *mimicd_log_own = mimicd_logs;
/* A bit for each log that a thread has used. A write to one of the others would cost a page fault. */
static _Atomic uint64_t logs_used;

_Static_assert(MIMICD_JOURNAL_LOGS <= 64, "each log has a bit");

void mimicd_logs_begin(void)
{
	uint64_t used = atomic_load(&logs_used);

	for (unsigned int i = 0; i < MIMICD_JOURNAL_LOGS; i++) {
		if (!(used >> i & 1))
			continue;
		mimicd_logs[i].step++;
		mimicd_logs[i].freed = NULL;
	}
}

void mimicd_journal_use_log(unsigned int number)
{
	atomic_fetch_or(&logs_used, 1ull << number);
	mimicd_log_own = &mimicd_logs[number];
	mimicd_log_own->number = number;
}

unsigned int mimicd_journal_log(void)
{
	return mimicd_log_own->number;
}

static void append(const struct mimicd_undo_entry *entry, const void *bytes)
{
	const unsigned int number = mimicd_log_own->number;
	struct mimicd_log_mark *mark = mimicd_log_own_mark();
	uint64_t used = mark->used, size = mimicd_log_rounded(entry->size);
	char *to = mimicd_window_log(mimicd_window, number) + used;

	/* Until its first commit a successor takes the window before this one, and nothing here is put back. */
	if (!mimicd_window->is_complete) {
		mimicd_journal_place();
		mimicd_journal_place();
		return;
	}
	if (used + size + sizeof(*entry) > mimicd_window_log_bytes(number)) {
		mark->has_overflowed = 1;
		return;
	}
	memcpy(to, bytes, entry->size);
	memcpy(to + size, entry, sizeof(*entry));
	mimicd_journal_place();
	/* The entry is whole before it counts, and counts before the caller changes the bytes. */
	atomic_signal_fence(memory_order_seq_cst);
	mark->used = used + size + sizeof(*entry);
	atomic_signal_fence(memory_order_seq_cst);
	mimicd_journal_place();
}

void mimicd_log_add_line(uint64_t line)
{
	const struct mimicd_undo_entry entry = { .address = line, .size = MIMICD_LINE, .kind = MIMICD_UNDO_BYTES };
	struct mimicd_log *log = mimicd_log_own;

	append(&entry, (const void *)(uintptr_t)line);
	/* Behind it: a line that is known has its entry. */
	log->logged[line / MIMICD_LINE % MIMICD_LOGGED] = (struct mimicd_logged){ line, log->step };
}

void mimicd_journal_note(const void *address, size_t size)
{
	uint64_t start = (uint64_t)(uintptr_t)address;
	const struct mimicd_undo_entry entry = {
		.address = start, .size = (uint32_t)size, .kind = MIMICD_UNDO_BYTES,
	};

	if (!size || !mimicd_journal_holds(address))
		return;
	if (!mimicd_journal_is_heap(start)) {
		/* Programs write there, too, so only these bytes are ours to put back. */
		append(&entry, address);
		return;
	}
	if (size > MIMICD_LINES_MAX * MIMICD_LINE) {
		append(&entry, address);
		return;
	}
	for (uint64_t line = start & ~(MIMICD_LINE - 1ull); line < start + size; line += MIMICD_LINE)
		mimicd_log_line(line);
}

void mimicd_journal_write(void *to, const void *from, size_t size)
{
	mimicd_journal_note(to, size);
	memcpy(to, from, size);
}

void mimicd_journal_note_client(uint64_t client, uint64_t address, const void *old, size_t size)
{
	const struct mimicd_undo_entry entry = {
		.address = address, .size = (uint32_t)size, .kind = MIMICD_UNDO_CLIENT, .client = client,
	};

	append(&entry, old);
}

void mimicd_journal_note_atomic(uint64_t client, uint64_t address, const char *device)
{
	const struct mimicd_undo_entry entry = {
		.address = address, .size = (uint32_t)strlen(device) + 1, .kind = MIMICD_UNDO_ATOMIC, .client = client,
	};

	append(&entry, device);
}

uint64_t mimicd_journal_level(void)
{
	return mimicd_log_own_mark()->used;
}
