/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The undo log of the step that is not committed. */
#include <stdatomic.h>
#include <string.h>

#include "daemon/journal/internal.h"

struct mimicd_journal mimicd_journal = MIMICD_NO_JOURNAL;
struct mimicd_window *mimicd_window;
struct mimicd_logged mimicd_logged[MIMICD_LOGGED];
uint64_t mimicd_log_step = 1;

static void append(const struct mimicd_undo_entry *entry, const void *bytes)
{
	struct mimicd_window *window = mimicd_window;
	uint64_t used = window->log_used, size = mimicd_log_rounded(entry->size);
	char *to = mimicd_window_log(window) + used;

	if (used + size + sizeof(*entry) > MIMICD_JOURNAL_LOG_BYTES) {
		window->has_overflowed = 1;
		return;
	}
	memcpy(to, bytes, entry->size);
	memcpy(to + size, entry, sizeof(*entry));
	mimicd_journal_place();
	/* The entry is whole before it counts, and counts before the caller changes the bytes. */
	atomic_signal_fence(memory_order_seq_cst);
	window->log_used = used + size + sizeof(*entry);
	atomic_signal_fence(memory_order_seq_cst);
	mimicd_journal_place();
}

void mimicd_log_add_line(uint64_t line)
{
	const struct mimicd_undo_entry entry = { .address = line, .size = MIMICD_LINE, .kind = MIMICD_UNDO_BYTES };
	struct mimicd_logged *logged = mimicd_logged_of(line);

	append(&entry, (const void *)(uintptr_t)line);
	/* Behind it: a line that is known has its entry. */
	*logged = (struct mimicd_logged){ line, mimicd_log_step };
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

void mimicd_journal_commit(void)
{
	mimicd_journal_place();
	atomic_signal_fence(memory_order_seq_cst);
	mimicd_window->log_used = 0;
	mimicd_log_step++;
	atomic_signal_fence(memory_order_seq_cst);
	if (mimicd_window->has_overflowed)
		mimicd_window->has_overflowed = 0;
	if (!mimicd_window->is_complete)
		mimicd_window->is_complete = 1;
	mimicd_journal_place();
}

uint64_t mimicd_journal_level(void)
{
	return mimicd_window->log_used;
}
