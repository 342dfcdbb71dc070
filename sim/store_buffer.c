/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Stores wait here for the L1, and leave in order. One begins each cycle; one that
 * misses begins when fewer than core.store_misses are on their way. With an L1.5 they leave for that: the L1 is written through,
 * and takes no line for a store. With core.store_merging a store may join one that has not begun. A store begins in its
 * own time, not when it is made: other cores' accesses up to then must change the caches
 * before it.
 */
#include "sim/soc_internal.h"

#define WORD 8ull	/* bytes of an entry of the buffer, where stores may join */

static struct pending_store *entry_at(struct store_buffer *buffer, uint64_t position)
{
	return &buffer->entry[position % STORE_BUFFER_MAX];
}

static void free_retired(struct store_buffer *buffer, uint64_t now)
{
	while (buffer->first < buffer->begun && entry_at(buffer, buffer->first)->retired <= now)
		buffer->first++;
}

/* When the next store that waits can begin; UINT64_MAX: none waits. */
static uint64_t next_begin(const struct soc_core *core)
{
	const struct store_buffer *buffer = &core->stores;
	uint64_t entered;

	if (buffer->begun == buffer->end)
		return UINT64_MAX;
	entered = buffer->entry[buffer->begun % STORE_BUFFER_MAX].entered;
	return entered > buffer->next_begin ? entered : buffer->next_begin;
}

static bool is_mine(const struct mimic_cache_line *line)
{
	return line && line->state >= MIMIC_CACHE_EXCLUSIVE;
}

/* When the store that begins at `now` has written; 0: it misses, and too many misses are on their way. */
static uint64_t write_line(struct soc *soc, struct soc_core *core, uint64_t address, uint64_t now)
{
	struct store_buffer *buffer = &core->stores;
	struct mimic_cache_line *line = mimic_cache_find(core->coherent, address);
	uint64_t *miss_end = &buffer->miss_end[buffer->misses % soc->parameters.core_store_misses];
	uint64_t done = now + soc->write_latency;

	if (is_mine(line)) {
		core->counters.l1_hits++;
		line->state = MIMIC_CACHE_MODIFIED;
		return line->ready > done ? line->ready : done;
	}
	if (*miss_end > now) {
		buffer->next_begin = *miss_end;
		return 0;
	}
	core->counters.l1_misses++;
	buffer->misses++;
	*miss_end = soc_take_line(soc, core, line, address, now);
	return *miss_end;
}

static void begin(struct soc *soc, struct soc_core *core, uint64_t now)
{
	struct store_buffer *buffer = &core->stores;
	struct pending_store *store = entry_at(buffer, buffer->begun);
	uint64_t done = write_line(soc, core, store->address, now);

	if (!done)
		return;
	buffer->begun++;
	buffer->next_begin = now + 1;
	if (done > buffer->last_retired)
		buffer->last_retired = done;
	store->retired = buffer->last_retired;
}

void soc_store_buffer_begin(struct soc *soc, struct soc_core *core, uint64_t now)
{
	begin(soc, core, now);
	soc_earliest_set(&soc->storing, core->index, next_begin(core));
}

static void begin_all_until(struct soc *soc, struct soc_core *core, uint64_t until)
{
	uint64_t next;

	while ((next = next_begin(core)) <= until && next != UINT64_MAX)
		begin(soc, core, next);
	soc_earliest_set(&soc->storing, core->index, next);
	soc_schedule(soc);
}

/* Which of the aligned 8 bytes that its first one lies in an access has, a bit each; 0: it reaches into the next ones. */
static unsigned int bytes_of(uint64_t address, unsigned int size)
{
	unsigned int first = address & (WORD - 1);

	return first + size <= WORD ? ((1u << size) - 1) << first : 0;
}

/* The latest store that waits and is of the same 8 bytes. */
static struct pending_store *find_word(struct store_buffer *buffer, uint64_t address)
{
	for (uint64_t i = buffer->end; i-- > buffer->begun;) {
		struct pending_store *store = entry_at(buffer, i);

		if (store->bytes && store->address / WORD == address / WORD)
			return store;
	}
	return NULL;
}

static bool merge(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int bytes)
{
	struct pending_store *store = NULL;

	if (soc->parameters.core_store_merging && bytes)
		store = find_word(&core->stores, address);
	if (!store)
		return false;
	store->bytes |= bytes;
	core->counters.store_merges++;
	return true;
}

void soc_store_buffer_add(struct soc *soc, struct soc_core *core, uint64_t address, unsigned int size)
{
	struct store_buffer *buffer = &core->stores;
	unsigned int bytes = bytes_of(address, size);

	if (merge(soc, core, address, bytes))
		return;
	free_retired(buffer, core->clock);
	if (buffer->end - buffer->first == soc->parameters.core_store_buffer) {
		uint64_t room = entry_at(buffer, buffer->first)->retired;

		core->counters.store_stalls += room - core->clock;
		core->clock = room;
		buffer->first++;
	}
	*entry_at(buffer, buffer->end++) = (struct pending_store){
		.address = address, .size = size, .bytes = bytes, .entered = core->clock
	};
	/* One that waited for room begins later than now. */
	begin_all_until(soc, core, soc->now);
}

uint64_t soc_store_buffer_finish(struct soc *soc, struct soc_core *core)
{
	begin_all_until(soc, core, UINT64_MAX);
	core->stores.first = core->stores.end;
	return core->stores.last_retired;
}

/* The same of one store. A store that has joined it need not lie beside it. */
static enum store_match match(const struct pending_store *store, uint64_t address, unsigned int size)
{
	uint64_t first = store->bytes ? store->address & ~(WORD - 1) : store->address;
	uint64_t last = store->bytes ? first + WORD : first + store->size;
	uint64_t from = address > first ? address : first, until = address + size < last ? address + size : last;
	unsigned int wanted;

	if (from >= until)
		return STORE_NONE;
	wanted = store->bytes ? bytes_of(from, (unsigned int)(until - from)) : 1;
	if (store->bytes && !(wanted & store->bytes))
		return STORE_NONE;
	if (until - from < size || (store->bytes && (wanted & ~store->bytes)))
		return STORE_OVERLAPS;
	return STORE_COVERS;
}

enum store_match soc_store_buffer_match(const struct soc_core *core, uint64_t address, unsigned int size,
					uint64_t now)
{
	const struct store_buffer *buffer = &core->stores;
	enum store_match found;

	/* The load gets the latest store of these bytes. */
	for (uint64_t i = buffer->end; i-- > buffer->first;) {
		const struct pending_store *store = &buffer->entry[i % STORE_BUFFER_MAX];

		if (i < buffer->begun && store->retired <= now)
			break;
		found = match(store, address, size);
		if (found != STORE_NONE)
			return found;
	}
	return STORE_NONE;
}
