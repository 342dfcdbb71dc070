/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Loops of indirect memory accesses (paper, sections 3.2 and 3.4).
 *
 * Each queue has a FIFO of loops, one loop at work, and its share of the chunk
 * buffer. The loop at work fetches B in chunks of 64 bytes as long as there is
 * a free chunk, then the next loop goes to work, even while the queue is full;
 * so with c chunks a queue takes loops_waiting + 1 + c loops of one chunk.
 */
#include <errno.h>

#include "devices/maple/maple_internal.h"

static struct lima_loop *loops_of(struct maple *m, unsigned int number)
{
	return m->loops + (size_t)number * m->config.lima_loops;
}

static struct lima_chunk *chunks_of(struct maple *m, unsigned int number)
{
	return m->chunks + (size_t)number * m->config.lima_chunks;
}

/* The queues that exist share the buffer evenly. */
static unsigned int chunk_share(const struct maple *m)
{
	unsigned int queues = maple_queues_allocated(m);

	return m->config.lima_chunks / (queues ? queues : 1);
}

void maple_lima_configure_tile(struct maple *m, unsigned int operation, unsigned int field, uint64_t a)
{
	if (!maple_queues_allocated(m)) {
		count(m, MAPLE_COUNTER_illegal, 1);
		return;
	}
	m->state.tile_a = a & address_mask(m);
	m->state.tile_mode = operation & 7;
	m->state.tile_a_set = true;
	m->state.tile_b_coherent = field & 1;
}

void maple_lima_drop(struct maple_queue *q)
{
	q->loop_active = false;
	q->loops_count = 0;
	q->chunks_count = 0;
}

static enum step push(struct maple *m, unsigned int number, const struct lima_loop *loop)
{
	struct maple_queue *q = &m->state.queue[number];
	struct lima_loop *fifo = loops_of(m, number);

	if (loop->next >= loop->end)
		return STEP_DONE;
	maple_lima_advance(m, number);
	if (q->loops_count == m->config.lima_loops) {
		if (!has_quirk(m, MAPLE_QUIRK_loops_dropped))
			return STEP_WAIT;
		count(m, MAPLE_COUNTER_lima_dropped, 1);
		return STEP_DONE;
	}
	fifo[(q->loops_first + q->loops_count) % m->config.lima_loops] = *loop;
	q->loops_count++;
	count(m, MAPLE_COUNTER_lima_loops, 1);
	maple_lima_advance(m, number);
	return STEP_DONE;
}

enum step maple_lima_push_tile(struct maple *m, unsigned int number, uint64_t payload)
{
	struct lima_loop loop = {
		.a = m->state.tile_a, .b = m->state.queue[0].base, .mode = m->state.tile_mode,
		.coherent = m->state.tile_b_coherent,
		.next = (uint32_t)(payload >> 32), .end = (uint32_t)payload,
	};

	if (!m->state.tile_a_set || !m->state.queue[0].base_set) {
		count(m, MAPLE_COUNTER_illegal, 1);
		return STEP_DONE;
	}
	if (loop.mode == 3)	/* operation 51 is 50 again */
		loop.mode = LIMA_MODE_PRODUCE;
	return push(m, number, &loop);
}

static const uint32_t queue_loop_mode[] = {
	LIMA_MODE_POINTER32, LIMA_MODE_POINTER64, LIMA_MODE_LLC32, LIMA_MODE_LLC64,
	LIMA_MODE_PREFETCH32, LIMA_MODE_PREFETCH64,
};

enum step maple_lima_push_queue(struct maple *m, unsigned int number, unsigned int operation,
				uint64_t payload)
{
	struct maple_queue *q = &m->state.queue[number];
	struct lima_loop loop = {
		.a = q->lima_a, .b = q->lima_b,
		.mode = queue_loop_mode[operation - MAPLE_STORE_QUEUE_LOOP_POINTER32], .coherent = true,
		.next = (uint32_t)(payload >> 32), .end = (uint32_t)payload,
	};

	if (!q->lima_b) {
		count(m, MAPLE_COUNTER_illegal, 1);
		return STEP_DONE;
	}
	if (!q->lima_a)	/* "B[i] if A is 0": paper, section 3.2 */
		loop.mode = LIMA_MODE_PRODUCE;
	return push(m, number, &loop);
}

static bool next_loop(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];

	if (q->loop_active)
		return true;
	if (!q->loops_count)
		return false;
	q->active = loops_of(m, number)[q->loops_first];
	q->loops_first = (q->loops_first + 1) % m->config.lima_loops;
	q->loops_count--;
	q->loop_active = true;
	MIMIC_TRACE(&m->model.trace, lima_begin, 0ull, number, q->active.a, q->active.mode, q->active.b,
		    (uint64_t)q->active.next << 32 | q->active.end);
	return true;
}

/* false: the walk stalled. A B that cannot be read gives indices 0. */
static bool read_b(struct maple *m, unsigned int number, uint64_t address, uint32_t *index,
		   unsigned int words)
{
	const struct requester who = { (uint8_t)number, MAPLE_FAULT_LIMA, false };
	const struct mimic_memory *memory = &m->host.memory;
	uint64_t begin = mimic_trace_now(&m->model.trace), physical;
	int error;

	do {
		error = maple_translate(m, address, who, &physical, NULL);
		if (error)
			break;
		if (!memory->read(memory->context, physical, index, 4 * words)) {
			MIMIC_TRACE_FROM(&m->model.trace, begin, fetch, 0ull, number, address,
					 4 * words, 0ull, 1ull);
			maple_read_succeeded(m, address, who);
			return true;
		}
		error = maple_read_failed(m, address, who);
		if (!error)
			error = -EBUSY;
	} while (error == -EBUSY);
	if (error == -EAGAIN)
		return false;
	memset(index, 0, 4 * words);
	return true;
}

static unsigned int element_size(uint32_t mode)
{
	return mode == LIMA_MODE_POINTER64 || mode == LIMA_MODE_LLC64 ? 8 : 4;
}

/* Where steps take virtual time, elements are read much later than their indices: the host's caches are asked ahead. */
static void prefetch_elements(const struct maple *m, const struct lima_loop *loop, const uint32_t *index,
			      unsigned int count)
{
	unsigned int shift = element_size(loop->mode) == 8 ? 3 : 2;

	if (!is_paced(m) || loop->mode == LIMA_MODE_PRODUCE || loop->mode >= LIMA_MODE_PREFETCH64)
		return;
	for (unsigned int i = 0; i < count; i++)
		__builtin_prefetch((const void *)(uintptr_t)((loop->a + ((uint64_t)index[i] << shift)) & address_mask(m)));
}

/*
 * Fills free chunks with the next indices of the loop at work. All indices of one
 * page are one read, because a read may be a system call of the model's driver.
 */
static bool fetch_chunks(struct maple *m, unsigned int number, unsigned int free)
{
	struct maple_queue *q = &m->state.queue[number];
	uint32_t index[MAPLE_MAX_LIMA_CHUNKS * CHUNK_WORDS];
	uint64_t address = (q->active.b + 4ull * q->active.next) & address_mask(m) & ~3ull;
	unsigned int first = CHUNK_WORDS - (unsigned int)(address / 4 % CHUNK_WORDS);
	unsigned int words = first + (free - 1) * CHUNK_WORDS;
	unsigned int in_page = (unsigned int)(4096 - address % 4096) / 4;
	uint32_t left = q->active.end - q->active.next;
	enum maple_step step = q->active.coherent ? MAPLE_STEP_LIMA_LLC_CHUNK : MAPLE_STEP_LIMA_CHUNK;
	unsigned int done = 0;
	bool is_read;

	words = words < in_page ? words : in_page;
	words = words < left ? words : left;
	words = (unsigned int)pace_begin(m, number, step, words < first || !is_paced(m) ? words : first);
	is_read = words && read_b(m, number, address, index, words);
	pace_end(m, number, step, is_read ? words : 0);
	if (!is_read)
		return false;
	while (done < words) {
		unsigned int piece = done ? CHUNK_WORDS : first;
		struct lima_chunk *chunk = &chunks_of(m, number)[(q->chunks_first + q->chunks_count) %
								 m->config.lima_chunks];

		piece = piece < words - done ? piece : words - done;
		chunk->a = q->active.a;
		chunk->mode = q->active.mode;
		chunk->count = piece;
		chunk->position = 0;
		memcpy(chunk->index, index + done, 4 * piece);
		q->chunks_count++;
		count(m, MAPLE_COUNTER_lima_chunks, 1);
		done += piece;
	}
	prefetch_elements(m, &q->active, index, words);
	q->active.next += words;
	if (q->active.next == q->active.end) {
		q->loop_active = false;
		MIMIC_TRACE(&m->model.trace, lima_end, 0ull, number, 0ull, 0u, 0ull, 0ull);
	}
	return true;
}

static bool fill_chunks(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];
	unsigned int share = chunk_share(m);
	bool moved = false;

	while (next_loop(m, number) && q->chunks_count < share) {
		if (maple_mmu_stall(m, MAPLE_FAULT_LIMA)->stalled)
			break;
		if (!fetch_chunks(m, number, share - q->chunks_count))
			break;
		moved = true;
	}
	return moved;
}

static unsigned int produce_indices(struct maple *m, struct maple_queue *q,
				    struct lima_chunk *chunk)
{
	unsigned int number = (unsigned int)(q - m->state.queue);
	unsigned int n = chunk->count - chunk->position, room = maple_queue_room(q);

	n = n < room ? n : room;
	if (!n)
		return 0;
	n = (unsigned int)pace_begin(m, number, MAPLE_STEP_LIMA_PRODUCE, n);
	for (unsigned int i = 0; i < n; i++)
		maple_queue_push(m, q, chunk->index[chunk->position++], false);
	pace_end(m, number, MAPLE_STEP_LIMA_PRODUCE, n);
	return n;
}

/* LIMA_PREFETCH scales by 8 for elements of any size (cr:340-361 of the artifact: docs/sources.md). */
static unsigned int prefetch_indices(struct maple *m, unsigned int number, struct lima_chunk *chunk)
{
	unsigned int shift = chunk->mode == LIMA_MODE_PREFETCH32 ? 2 : 3, n = 0, most;

	most = (unsigned int)pace_begin(m, number, MAPLE_STEP_LIMA_PREFETCH, chunk->count - chunk->position);
	while (n < most) {
		uint64_t offset;

		if (!m->prefetch_budget) {
			m->unfinished = true;
			break;
		}
		m->prefetch_budget--;
		offset = (uint64_t)chunk->index[chunk->position++] << shift;

		maple_prefetch_address(m, (chunk->a + offset) & address_mask(m), MAPLE_FAULT_LIMA);
		n++;
	}
	pace_end(m, number, MAPLE_STEP_LIMA_PREFETCH, n);
	if (n)
		MIMIC_TRACE(&m->model.trace, prefetch, 0ull, number,
			    chunk->a + ((uint64_t)chunk->index[chunk->position - n] << shift), 0u, 0ull,
			    (uint64_t)n);
	return n;
}

/* Of a register's width: without vectors a loop with a constant shift is half as long. */
static inline void shift_indices(uint64_t *address, const uint32_t *index, unsigned int n, unsigned int shift,
				 uint64_t a, uint64_t mask)
{
#pragma GCC unroll 4
	for (unsigned int i = 0; i < n; i++)
		address[i] = (a + ((uint64_t)index[i] << shift)) & mask;
}

/* Of the chunk's next elements, `most` at most. Returns how many. */
static unsigned int put_addresses(const struct lima_chunk *chunk, uint64_t *address, unsigned int most, uint64_t mask)
{
	const uint32_t *index = chunk->index + chunk->position;
	unsigned int n = chunk->count - chunk->position;

	n = n < most ? n : most;
	if (element_size(chunk->mode) == 8)
		shift_indices(address, index, n, 3, chunk->a, mask);
	else
		shift_indices(address, index, n, 2, chunk->a, mask);
	return n;
}

/*
 * Fetches for as many words as the queue has room for, from as many chunks of
 * the same kind as it takes: memory likes many addresses at once.
 */
static unsigned int fetch_indices(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];
	struct lima_chunk *chunks = chunks_of(m, number), *chunk = &chunks[q->chunks_first];
	uint64_t mask = address_mask(m) & ~3ull, a = chunk->a;
	uint32_t mode = chunk->mode;
	unsigned int size = element_size(mode);
	unsigned int room = maple_queue_room(q) / (size / 4), n = 0, got;
	enum maple_step step;
	uint64_t address[FETCH_BLOCK];

	if (room > FETCH_BLOCK)
		room = FETCH_BLOCK;
	for (unsigned int c = 0; c < q->chunks_count && n < room; c++) {
		chunk = &chunks[(q->chunks_first + c) % m->config.lima_chunks];
		if (chunk->mode != mode || chunk->a != a)
			break;
		n += put_addresses(chunk, address + n, room - n, mask);
	}
	if (!n)
		return 0;
	step = mode >= LIMA_MODE_LLC32 ? MAPLE_STEP_LIMA_LLC_POINTER : MAPLE_STEP_LIMA_POINTER;
	got = (unsigned int)fetch_at_pace(m, number, address, n, size, step);
	for (unsigned int left = got; left;) {
		unsigned int piece;

		chunk = &chunks[q->chunks_first];
		piece = chunk->count - chunk->position < left ? chunk->count - chunk->position : left;
		chunk->position += piece;
		left -= piece;
		if (chunk->position < chunk->count)
			break;
		q->chunks_first = (q->chunks_first + 1) % m->config.lima_chunks;
		q->chunks_count--;
	}
	return got;
}

static bool drain_chunks(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];
	bool moved = false;

	while (q->chunks_count && !maple_mmu_stall(m, MAPLE_FAULT_LIMA)->stalled) {
		struct lima_chunk *chunk = &chunks_of(m, number)[q->chunks_first];
		unsigned int n;

		if (chunk->mode == LIMA_MODE_PRODUCE)
			n = produce_indices(m, q, chunk);
		else if (chunk->mode >= LIMA_MODE_PREFETCH64)
			n = prefetch_indices(m, number, chunk);
		else
			n = fetch_indices(m, number);
		if (!n)
			break;
		moved = true;
		if (chunk->position == chunk->count && q->chunks_count &&
		    chunk == &chunks_of(m, number)[q->chunks_first]) {
			q->chunks_first = (q->chunks_first + 1) % m->config.lima_chunks;
			q->chunks_count--;
		}
	}
	return moved;
}

bool maple_lima_advance(struct maple *m, unsigned int number)
{
	struct maple_queue *q = &m->state.queue[number];
	bool moved = false;

	while (lima_backlog(q)) {
		bool filled = fill_chunks(m, number);
		bool drained = drain_chunks(m, number);

		if (!filled && !drained)
			break;
		moved = true;
	}
	return moved;
}
