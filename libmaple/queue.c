/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Pushes and pops of a queue's words, and the device's fetches for it. */
#include "internal.h"

static struct mimic_access data_pattern(unsigned int operation, unsigned int queue,
					unsigned int size, bool is_write)
{
	return (struct mimic_access){
		.offset = MAPLE_OFFSET(operation, queue),
		.page = MAPLE_PAGE_MAPLE,
		.size = (uint8_t)size,
		.is_write = is_write,
	};
}

static ssize_t produce(struct maple *maple, unsigned int queue, unsigned int size,
		       const uint64_t *values, size_t count)
{
	const struct mimic_access pattern = data_pattern(MAPLE_STORE_PRODUCE, queue, size, true);
	ssize_t posted = mimic_device_post(maple->device, &pattern, values, count);

	if (unlikely(posted < 0))
		return mimic_library_error((int)posted);
	maple_count(&maple->queues[queue].produced, count * (size / 4));
	return posted;
}

/*
 * Elements of one load. Where the producer of queue 0 counts the room it has
 * (artifact.c), consumed words have to be counted before the queue has run dry.
 */
static size_t consume_piece(const struct maple *maple, unsigned int queue, unsigned int size)
{
	if (queue == 0 && maple->encoding == &maple_artifact_encoding)
		return maple->queue_words / 2 / (size / 4);
	return SIZE_MAX;
}

static ssize_t consume(struct maple *maple, unsigned int queue, unsigned int size, void *values,
		       size_t count)
{
	const struct mimic_access pattern = data_pattern(MAPLE_LOAD_CONSUME, queue, size, false);
	size_t most, piece, done;
	ssize_t got;
	int error;

	error = maple_check_role(maple, queue, MAPLE_CONSUMER);
	if (unlikely(error))
		return error;
	if (unlikely(!values && count > 0))
		return maple_error(-EINVAL, "queue %u: no place for the consumed values", queue);
	most = consume_piece(maple, queue, size);
	for (done = 0; done < count; done += piece) {
		piece = count - done < most ? count - done : most;
		got = mimic_device_load(maple->device, &pattern, (char *)values + done * size,
					piece);
		if (unlikely(got < 0))
			return mimic_library_error((int)got);
		maple_count(&maple->queues[queue].consumed, piece * (size / 4));
	}
	return (ssize_t)count;
}

/* The values' words are counted as they come: see consume_piece(). */
struct consumer {
	struct maple_queue *queue;
	mimic_take take;
	void *context;
};

static void take_values(void *context, const void *values, size_t count)
{
	const struct consumer *consumer = context;

	maple_count(&consumer->queue->consumed, count * (sizeof(uint64_t) / 4));
	consumer->take(consumer->context, values, count);
}

int maple_consume64_pieces(struct maple *maple, unsigned int queue, size_t count, mimic_take take, void *context)
{
	const struct mimic_access pattern = data_pattern(MAPLE_LOAD_CONSUME, queue, sizeof(uint64_t), false);
	struct consumer consumer = { &maple->queues[queue], take, context };
	size_t most = consume_piece(maple, queue, sizeof(uint64_t)), piece;
	int error = maple_check_role(maple, queue, MAPLE_CONSUMER);

	if (unlikely(error))
		return error;
	for (; count > 0; count -= piece) {
		ssize_t got;

		piece = count < most ? count : most;
		got = mimic_device_load_pieces(maple->device, &pattern, piece, take_values, &consumer);
		if (unlikely(got < 0))
			return mimic_library_error((int)got);
	}
	return 0;
}

static int check_batch(struct maple *maple, unsigned int queue, const void *values, size_t count)
{
	int error = maple_check_role(maple, queue, MAPLE_PRODUCER);

	if (unlikely(error))
		return error;
	if (unlikely(!values && count > 0))
		return maple_error(-EINVAL, "queue %u: the array is NULL", queue);
	return 0;
}

int maple_produce32(struct maple *maple, unsigned int queue, uint32_t data)
{
	const uint64_t value = data;
	int error = maple_check_role(maple, queue, MAPLE_PRODUCER);
	ssize_t posted;

	if (unlikely(error))
		return error;
	posted = produce(maple, queue, 4, &value, 1);
	return posted < 0 ? (int)posted : 0;
}

int maple_produce64(struct maple *maple, unsigned int queue, uint64_t data)
{
	int error = maple_check_role(maple, queue, MAPLE_PRODUCER);
	ssize_t posted;

	if (unlikely(error))
		return error;
	posted = produce(maple, queue, 8, &data, 1);
	return posted < 0 ? (int)posted : 0;
}

ssize_t maple_produce32_batch(struct maple *maple, unsigned int queue, const uint32_t *data,
			      size_t count)
{
	uint64_t values[MAPLE_PIECE];
	size_t done, piece;
	ssize_t posted;
	int error;

	error = check_batch(maple, queue, data, count);
	if (unlikely(error))
		return error;
	for (done = 0; done < count; done += piece) {
		piece = count - done < MAPLE_PIECE ? count - done : MAPLE_PIECE;
		for (size_t i = 0; i < piece; i++)
			values[i] = data[done + i];
		posted = produce(maple, queue, 4, values, piece);
		if (unlikely(posted < 0))
			return posted;
	}
	return (ssize_t)count;
}

ssize_t maple_produce64_batch(struct maple *maple, unsigned int queue, const uint64_t *data,
			      size_t count)
{
	int error = check_batch(maple, queue, data, count);

	if (unlikely(error))
		return error;
	return count == 0 ? 0 : produce(maple, queue, 8, data, count);
}

int maple_consume32(struct maple *maple, unsigned int queue, uint32_t *data)
{
	ssize_t got = consume(maple, queue, 4, data, 1);

	return got < 0 ? (int)got : 0;
}

int maple_consume64(struct maple *maple, unsigned int queue, uint64_t *data)
{
	ssize_t got = consume(maple, queue, 8, data, 1);

	return got < 0 ? (int)got : 0;
}

ssize_t maple_consume32_batch(struct maple *maple, unsigned int queue, uint32_t *data, size_t count)
{
	return consume(maple, queue, 4, data, count);
}

ssize_t maple_consume64_batch(struct maple *maple, unsigned int queue, uint64_t *data, size_t count)
{
	return consume(maple, queue, 8, data, count);
}

/* The device ignores address bits [1:0] (contract A5) and would fetch something else. */
static int check_pointer(const char *what, const void *pointer)
{
	if (unlikely((uintptr_t)pointer & 3))
		return maple_error(-EINVAL, "%s %p: not a multiple of 4", what, pointer);
	return 0;
}

static int check_path(enum maple_path path)
{
	if (unlikely(path != MAPLE_DRAM && path != MAPLE_LLC))
		return maple_error(-EINVAL, "path %d: neither DRAM nor LLC", (int)path);
	return 0;
}

static int produce_pointer(struct maple *maple, unsigned int queue, const void *pointer,
			   unsigned int element, enum maple_path path)
{
	int error = maple_check_role(maple, queue, MAPLE_PRODUCER);

	if (!error)
		error = check_path(path);
	if (!error)
		error = check_pointer("pointer", pointer);
	if (unlikely(error))
		return error;
	error = maple->encoding->pointer(maple, queue, (uintptr_t)pointer, element, path);
	if (unlikely(error))
		return error;
	maple_count(&maple->queues[queue].produced, element / 4);
	return 0;
}

int maple_produce_ptr32(struct maple *maple, unsigned int queue, const void *pointer,
			enum maple_path path)
{
	return produce_pointer(maple, queue, pointer, 4, path);
}

int maple_produce_ptr64(struct maple *maple, unsigned int queue, const void *pointer,
			enum maple_path path)
{
	return produce_pointer(maple, queue, pointer, 8, path);
}

static ssize_t produce_indices(struct maple *maple, unsigned int queue, const void *base,
			       unsigned int element, const uint32_t *indices, size_t count,
			       enum maple_path path)
{
	int error = check_batch(maple, queue, indices, count);

	if (!error)
		error = check_path(path);
	if (!error)
		error = check_pointer("base", base);
	if (unlikely(error))
		return error;
	if (count == 0)
		return 0;
	return maple->encoding->indices(maple, queue, (uintptr_t)base, element, indices, count,
					path);
}

ssize_t maple_produce_ptr32_batch(struct maple *maple, unsigned int queue, const void *base,
				  const uint32_t *indices, size_t count, enum maple_path path)
{
	return produce_indices(maple, queue, base, 4, indices, count, path);
}

ssize_t maple_produce_ptr64_batch(struct maple *maple, unsigned int queue, const void *base,
				  const uint32_t *indices, size_t count, enum maple_path path)
{
	return produce_indices(maple, queue, base, 8, indices, count, path);
}

/*
 * On the embedded transport no thread does the posted operations until one waits for
 * the device, and a prefetch that comes after its use is none. Any access runs it.
 * It is left for later while words are in the queue, behind which it may have to
 * wait: for a consumer that may be this thread.
 */
static int run_prefetches(struct maple *maple, unsigned int queue)
{
	uint64_t ignored;

	if (!maple->is_embedded || maple_queue_level(&maple->queues[queue]) > 0)
		return 0;
	return maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_DEBUG, 0, 8, &ignored);
}

int maple_prefetch(struct maple *maple, unsigned int queue, const void *pointer)
{
	const uint64_t address = (uintptr_t)pointer & ~(uint64_t)3;
	int error = maple_check_role(maple, queue, MAPLE_PRODUCER);

	if (error)
		return error;
	error = maple->encoding->prefetch(maple, queue, &address, 1);
	return error ? error : run_prefetches(maple, queue);
}

static int check_lima(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
		      uint32_t begin, uint32_t end)
{
	int error = maple_check_role(maple, queue, MAPLE_PRODUCER);

	if (error)
		return error;
	if (begin > end)
		return maple_error(-EINVAL, "LIMA from %u to %u: the end is before the beginning",
				   begin, end);
	error = check_pointer("A", a);
	return error ? error : check_pointer("B", b);
}

/* "B[i] if A is 0" (section 3.2): B is brought into the LLC itself, line by line. */
static int prefetch_range(struct maple *maple, unsigned int queue, const uint32_t *b,
			  uint32_t begin, uint32_t end)
{
	uint64_t line = (uintptr_t)(b + begin) & ~(uint64_t)63;
	uint64_t last = (uintptr_t)(b + end);
	uint64_t addresses[MAPLE_PIECE];
	size_t count;
	int error;

	while (line < last) {
		for (count = 0; count < MAPLE_PIECE && line < last; count++, line += 64)
			addresses[count] = line;
		error = maple->encoding->prefetch(maple, queue, addresses, count);
		if (error)
			return error;
	}
	return 0;
}

int maple_lima(struct maple *maple, unsigned int queue, const void *a, unsigned int element,
	       const uint32_t *b, uint32_t begin, uint32_t end)
{
	int error = check_lima(maple, queue, a, b, begin, end);

	if (error)
		return error;
	if (element != 4 && element != 8)
		return maple_error(-EINVAL, "LIMA of elements of %u bytes: neither 4 nor 8",
				   element);
	if (begin == end)
		return 0;
	if (!a)
		error = prefetch_range(maple, queue, b, begin, end);
	else
		error = maple->encoding->lima_prefetch(maple, queue, a, element, b, begin, end);
	return error ? error : run_prefetches(maple, queue);
}

static int lima_produce(struct maple *maple, unsigned int queue, const void *a,
			unsigned int element, const uint32_t *b, uint32_t begin, uint32_t end,
			enum maple_path path)
{
	int error = check_lima(maple, queue, a, b, begin, end);

	if (!error)
		error = check_path(path);
	if (error || begin == end)
		return error;
	error = maple->encoding->lima_produce(maple, queue, a, element, b, begin, end, path);
	if (error)
		return error;
	maple_count(&maple->queues[queue].produced, (uint64_t)(end - begin) * (element / 4));
	return 0;
}

int maple_lima_produce32(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
			 uint32_t begin, uint32_t end, enum maple_path path)
{
	return lima_produce(maple, queue, a, 4, b, begin, end, path);
}

int maple_lima_produce64(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
			 uint32_t begin, uint32_t end, enum maple_path path)
{
	if (!a)
		return maple_error(-EINVAL,
				   "LIMA without A pushes 32-bit elements of B: use maple_lima_produce32");
	return lima_produce(maple, queue, a, 8, b, begin, end, path);
}
