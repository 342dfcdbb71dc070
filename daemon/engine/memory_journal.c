/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The memory port of a daemon that can be recovered: the journal has the bytes that a read
 * overwrites in the model, and those that a write overwrites in the client.
 */
#include <string.h>

#include "daemon/engine/memory_internal.h"
#include "daemon/engine/memory_journal.h"
#include "daemon/journal/journal.h"

#define ROWS_BATCH 16u
#define ROW_BYTES 64u

/* The port as it is without a journal. Its functions are the same for all slots. */
static const struct mimic_memory *plain(void)
{
	static struct mimic_memory port;

	if (!port.gather)
		mimicd_memory_port(&port, NULL);
	return &port;
}

static uint64_t client_of(const struct mimicd_memory_slot *slot)
{
	if (slot->port)
		return slot->binding | MIMICD_UNDO_OF_BINDING;
	return slot->memory ? slot->memory->client : 0;
}

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
		   uint64_t *values)
{
	mimicd_journal_note(values, count * sizeof(*values));
	return plain()->gather(context, addresses, count, size, tag, values);
}

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	mimicd_journal_note(buffer, size);
	return plain()->read(context, address, buffer, size);
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	mimicd_journal_note(rows, count * ROW_BYTES);
	return plain()->read_rows(context, addresses, count, size, rows);
}

/* Rows whose old bytes cannot be read are not written: the page is not there, or has to be waited for. */
static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	struct mimicd_memory_slot *slot = context;
	char old[ROWS_BATCH * ROW_BYTES];
	size_t done = 0;

	while (done < count) {
		size_t batch = count - done < ROWS_BATCH ? count - done : ROWS_BATCH;
		long there = plain()->read_rows(context, addresses + done, batch, size, old), written;
		bool waits = slot->waits;

		if (there <= 0)
			break;
		for (long i = 0; i < there; i++)
			mimicd_journal_note_client(client_of(slot), addresses[done + (size_t)i],
						   old + (size_t)i * ROW_BYTES, size);
		written = plain()->write_rows(context, addresses + done, (size_t)there, size,
					      (const char *)rows + done * ROW_BYTES);
		if (written > 0)
			done += (size_t)written;
		if (written < there)
			break;
		/* The next row could not be read, and the model asks for the reason. */
		slot->waits = waits;
		if ((size_t)there < batch)
			break;
	}
	return (long)done;
}

static int atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		  uint32_t expected, uint32_t *old)
{
	const struct mimicd_memory_slot *slot = context;

	mimicd_journal_note(old, sizeof(*old));
	mimicd_journal_note_atomic(client_of(slot), address, slot->device ? slot->device : "");
	return plain()->atomic(context, address, operation, operand, expected, old);
}

static void prefetch(void *context, uint64_t address)
{
	plain()->prefetch(context, address);
}

void mimicd_memory_journal_port(struct mimic_memory *port, struct mimicd_memory_slot *slot)
{
	/* Before other threads call it. */
	plain();
	*port = (struct mimic_memory){
		.context = slot,
		.gather = gather,
		.read = read_bytes,
		.read_rows = read_rows,
		.write_rows = write_rows,
		.atomic = atomic,
		.prefetch = prefetch,
	};
}
