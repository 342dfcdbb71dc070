/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Reads a spool: events in the order of time, begins with their ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/trace/trace.h"

/* The slices that a thread can have open at a time: an access, its wait. Signal handlers add more. */
#define OPEN_MAX 64
/* How long a daemon may take after a program's end. */
#define AWAIT_NANOSECONDS 2000000000l
#define AWAIT_STEPS 200

static const struct mimic_trace_event *entry_at(const struct trace_input *input, uint64_t chunk, unsigned int entry)
{
	return (const struct mimic_trace_event *)((const char *)input->header + chunk * MIMIC_SPOOL_CHUNK) +
	       entry;
}

const struct mimic_spool_owner *trace_writer(const struct trace_input *input, const struct trace_record *record)
{
	size_t offset = (size_t)((const char *)record->event - (const char *)input->header);

	return (const struct mimic_spool_owner *)entry_at(input, offset / MIMIC_SPOOL_CHUNK, 0);
}

/* --- reading ---------------------------------------------------------------------------- */

static bool is_event(const struct trace_input *input, const struct mimic_trace_event *event)
{
	return event->kind > MIMIC_TRACE_KIND_NONE && event->kind < MIMIC_TRACE_KIND_COUNT &&
	       event->device < input->devices;
}

/* Of the chunks that were claimed, as many as there are. */
static uint64_t chunks_of(const struct trace_input *input)
{
	uint64_t claimed = atomic_load(&input->header->claimed);
	uint64_t most = input->size / MIMIC_SPOOL_CHUNK;

	return claimed < most ? claimed : most;
}

static size_t count_events(const struct trace_input *input)
{
	size_t count = 0;

	for (uint64_t chunk = 1; chunk < chunks_of(input); chunk++)
		for (unsigned int i = 1; i < MIMIC_SPOOL_EVENTS; i++)
			count += is_event(input, entry_at(input, chunk, i));
	return count;
}

static int collect(struct trace_input *input)
{
	size_t most = count_events(input);

	input->records = calloc(most ? most : 1, sizeof(*input->records));
	if (!input->records)
		return -ENOMEM;
	for (uint64_t chunk = 1; chunk < chunks_of(input); chunk++) {
		for (unsigned int i = 1; i < MIMIC_SPOOL_EVENTS && input->count < most; i++) {
			const struct mimic_trace_event *event = entry_at(input, chunk, i);

			if (is_event(input, event))
				input->records[input->count++].event = event;
		}
	}
	return 0;
}

/* --- time ------------------------------------------------------------------------------------ */

/* A damaged spool may have any time. */
static uint64_t scale_time(uint64_t ticks, double scale)
{
	double time = (double)ticks * scale;

	return time < 0x1p63 ? (uint64_t)time : 1ull << 63;
}

static void scale_times(struct trace_input *input)
{
	const struct mimic_spool_header *header = input->header;
	uint64_t ticks = mimic_spool_ticks(header->clock) - header->start_ticks;
	uint64_t nanoseconds = mimic_spool_ticks(MIMIC_SPOOL_NANOSECONDS) - header->start_nanoseconds;
	double scale = ticks ? (double)nanoseconds / (double)ticks : 1;

	/* A viewer's microsecond is a cycle. */
	if (header->clock == MIMIC_SPOOL_CYCLES)
		scale = 1000;
	for (size_t i = 0; i < input->count; i++) {
		struct trace_record *record = &input->records[i];
		uint64_t from = record->event->time, end = from + record->event->duration;

		/* Earlier than the trace: the clocks of two processors differ slightly. */
		from = from > header->start_ticks ? from - header->start_ticks : 0;
		end = end > header->start_ticks ? end - header->start_ticks : 0;
		record->time = scale_time(from, scale);
		record->end = scale_time(end, scale);
		if (record->end > input->end)
			input->end = record->end;
	}
}

static int less_first(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* At one time: slices that may contain others, the longest first; then the rest in their order. */
static int compare(const void *a, const void *b)
{
	const struct mimic_trace_event *x = ((const struct trace_record *)a)->event;
	const struct mimic_trace_event *y = ((const struct trace_record *)b)->event;
	bool x_is_slice = mimic_trace_descriptions[x->kind].phase == MIMIC_TRACE_SLICE;
	bool y_is_slice = mimic_trace_descriptions[y->kind].phase == MIMIC_TRACE_SLICE;

	if (x->time != y->time)
		return less_first(x->time, y->time);
	if (x->device != y->device)
		return less_first(x->device, y->device);
	if (x_is_slice != y_is_slice)
		return x_is_slice ? -1 : 1;
	if (x_is_slice && x->duration != y->duration)
		return less_first(y->duration, x->duration);
	return less_first(x->order, y->order);
}

/* --- open slices ------------------------------------------------------------------------------ */

/* Begun by one thread, or by one unit, of one device, and not ended yet. */
struct open_list {
	uint64_t key;
	struct trace_record *record[OPEN_MAX];
	unsigned int count;
	bool is_used;
};

struct open_table {
	struct open_list *lists;
	size_t size;		/* a power of two */
	size_t used;
};

static uint64_t key_of(const struct mimic_trace_event *event)
{
	enum mimic_trace_track track = mimic_trace_descriptions[event->kind].track;
	uint64_t who = track == MIMIC_TRACE_TRACK_THREAD ? event->owner : event->unit;

	return who * 0x9e3779b97f4a7c15ull ^ (uint64_t)event->device << 8 ^ track;
}

static struct open_list *find(struct open_list *lists, size_t size, uint64_t key)
{
	size_t at = (size_t)(key ^ key >> 32) & (size - 1);

	while (lists[at].is_used && lists[at].key != key)
		at = (at + 1) & (size - 1);
	return &lists[at];
}

static bool grow(struct open_table *table)
{
	size_t size = table->size ? 2 * table->size : 64;
	struct open_list *lists = calloc(size, sizeof(*lists));

	if (!lists)
		return false;
	for (size_t i = 0; i < table->size; i++) {
		if (table->lists[i].is_used)
			*find(lists, size, table->lists[i].key) = table->lists[i];
	}
	free(table->lists);
	table->lists = lists;
	table->size = size;
	return true;
}

/* NULL: no memory. */
static struct open_list *list_of(struct open_table *table, const struct mimic_trace_event *event)
{
	uint64_t key = key_of(event);
	struct open_list *list;

	if (2 * (table->used + 1) > table->size && !grow(table))
		return NULL;
	list = find(table->lists, table->size, key);
	table->used += !list->is_used;
	list->is_used = true;
	list->key = key;
	return list;
}

/* In the list of events the end of a slice follows the event `kind` that begins it. */
static void end_last(struct open_list *list, struct trace_record *end)
{
	unsigned int i = list->count;

	while (i && list->record[i - 1]->event->kind + 1 != end->event->kind)
		i--;
	/* The end of a slice that began before the trace, or was not kept. */
	if (!i)
		return;
	/* Slices that were begun inside of it and have no end of their own end with it. */
	for (unsigned int inner = i; inner < list->count; inner++)
		list->record[inner]->end = end->time;
	list->record[i - 1]->end = end->time;
	list->count = i - 1;
}

static int match(struct trace_input *input)
{
	struct open_table table = { NULL, 0, 0 };
	int error = 0;

	for (size_t i = 0; i < input->count && !error; i++) {
		struct trace_record *record = &input->records[i];
		enum mimic_trace_phase phase = mimic_trace_descriptions[record->event->kind].phase;
		struct open_list *list;

		if (phase != MIMIC_TRACE_BEGIN && phase != MIMIC_TRACE_END)
			continue;
		list = list_of(&table, record->event);
		if (!list) {
			error = -ENOMEM;
		} else if (phase == MIMIC_TRACE_END) {
			record->is_idle = true;
			end_last(list, record);
		} else if (list->count < OPEN_MAX) {
			list->record[list->count++] = record;
		} else {
			record->is_idle = true;
		}
	}
	for (size_t i = 0; i < table.size; i++) {
		for (unsigned int j = 0; j < table.lists[i].count; j++) {
			table.lists[i].record[j]->end = input->end;
			table.lists[i].record[j]->is_open = true;
		}
	}
	free(table.lists);
	return error;
}

/* --- the whole ------------------------------------------------------------------------------------ */

static int map(struct trace_input *input, int fd)
{
	struct stat status;
	void *address;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_size < (off_t)(2 * MIMIC_SPOOL_CHUNK))
		return -EINVAL;
	address = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (address == MAP_FAILED)
		return -errno;
	input->header = address;
	input->size = (size_t)status.st_size;
	input->devices = atomic_load(&input->header->devices);
	if (input->devices > MIMIC_SPOOL_DEVICES)
		input->devices = MIMIC_SPOOL_DEVICES;
	input->lost = atomic_load(&input->header->lost);
	return 0;
}

/*
 * The chunks that were claimed, in memory of our own. Not the file's: a hole in it, of a chunk that
 * found no room, is a SIGBUS where the file system is full, also for a process that only reads.
 */
static int copy(struct trace_input *input, int fd)
{
	size_t size = chunks_of(input) * MIMIC_SPOOL_CHUNK, done = 0;
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	while (done < size) {
		ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);

		if (got <= 0) {
			munmap(bytes, size);
			return got ? -errno : -EIO;
		}
		done += (size_t)got;
	}
	/* By the count of the copy, which no writer changes. */
	munmap((void *)(uintptr_t)input->header, input->size);
	input->header = (const struct mimic_spool_header *)(const void *)bytes;
	input->size = size;
	return 0;
}

/* One that was claimed and found no memory: its owner is not there. */
static bool has_empty_chunk(const struct trace_input *input)
{
	for (uint64_t chunk = 1; chunk < chunks_of(input); chunk++) {
		if (!((const struct mimic_spool_owner *)entry_at(input, chunk, 0))->pid)
			return true;
	}
	return false;
}

static bool has_open_device(const struct trace_input *input)
{
	for (unsigned int i = 0; i < input->devices; i++) {
		if (atomic_load(&input->header->device[i].is_open))
			return true;
	}
	return false;
}

void trace_await_daemon(int fd)
{
	const struct timespec pause = { .tv_nsec = AWAIT_NANOSECONDS / AWAIT_STEPS };
	struct trace_input input = { .header = NULL };

	if (map(&input, fd))
		return;
	for (int i = 0; i < AWAIT_STEPS && has_open_device(&input); i++)
		nanosleep(&pause, NULL);
	trace_free(&input);
}

int trace_read(struct trace_input *input, int fd)
{
	int error;

	memset(input, 0, sizeof(*input));
	error = map(input, fd);
	if (!error)
		error = copy(input, fd);
	if (!error)
		error = collect(input);
	if (error)
		return error;
	input->is_short = input->lost && has_empty_chunk(input);
	scale_times(input);
	qsort(input->records, input->count, sizeof(*input->records), compare);
	return match(input);
}

void trace_free(struct trace_input *input)
{
	if (input->header)
		munmap((void *)(uintptr_t)input->header, input->size);
	free(input->records);
	memset(input, 0, sizeof(*input));
}
