/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The requests and reports of a recorded model to its host: passed on, and written. */
#include "libmimic/record/stream.h"

/* A job asks from a thread of its own, beside the calls. */
static __thread struct record_job *job_of_thread __attribute__((tls_model("initial-exec")));

void mimic_record_host_job(struct record_job *job)
{
	job_of_thread = job;
}

static bool is_of_job(const struct record_stream *stream)
{
	return job_of_thread && job_of_thread->stream == stream;
}

/* Is an event of a call that is recorded? */
static bool is_call(const struct record_stream *stream)
{
	return stream->recording && !is_of_job(stream);
}

/* Where an event goes; NULL: it is not recorded. */
static struct record_sink *begin(struct record_stream *stream, enum record_code code)
{
	struct record_sink *sink;

	if (is_of_job(stream)) {
		sink = &job_of_thread->log;
	} else {
		if (!stream->recording)
			return NULL;
		sink = &stream->sink;
		stream->totals.events++;
	}
	sink_byte(sink, code);
	return sink;
}

static struct record_sink *begin_port(struct record_port *port, enum record_code code)
{
	struct record_sink *sink = begin(port->stream, code);

	if (sink)
		sink_number(sink, port->number);
	return sink;
}

/* --- memory -------------------------------------------------------------------------------- */

static int port_walk(void *context, uint64_t address, uint64_t *frame)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_WALK);
	int error = port->inner.walk(port->inner.context, address, frame);

	if (sink) {
		sink_number(sink, address);
		sink_number(sink, error ? 1 : 0);
		if (!error)
			sink_number(sink, *frame);
	}
	return error;
}

/* How many rows or values came. -EINPROGRESS, the only error that there is, is written as a number that cannot be. */
static size_t put_count(struct record_sink *sink, long got, size_t count)
{
	sink_number(sink, got < 0 ? count + 1 : (uint64_t)got);
	return got < 0 ? 0 : (size_t)got;
}

/* First: memory that answers may be where the addresses are. */
static struct record_sink *begin_gather(struct record_port *port, const uint64_t *addresses, size_t count,
					unsigned int size, uint64_t tag)
{
	struct record_stream *stream = port->stream;
	struct record_indices indices;
	bool is_indexed = is_call(stream) && mimic_record_find_indices(stream, addresses, count, size, &indices);
	struct record_sink *sink = begin_port(port, is_indexed ? RECORD_GATHER_INDEXED : RECORD_GATHER);

	if (!sink)
		return NULL;
	sink_number(sink, count);
	sink_number(sink, size);
	sink_number(sink, tag);
	if (is_indexed) {
		sink_number(sink, indices.distance);
		sink_number(sink, mimic_record_zigzag(indices.base));
	} else {
		sink_addresses(sink, addresses, count);
	}
	return sink;
}

static long port_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
			uint64_t tag, uint64_t *values)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_gather(port, addresses, count, size, tag);
	long got = port->inner.gather(port->inner.context, addresses, count, size, tag, values);
	size_t there;

	if (!sink)
		return got;
	there = put_count(sink, got, count);
	sink_values(sink, values, there, size);
	if (sink == &port->stream->sink)
		history_put_values(&port->stream->values, values, there, size);
	return got;
}

static void keep_words(struct record_stream *stream, const void *words, size_t size)
{
	if (size > HISTORY_READ || size % sizeof(uint32_t))
		return;
	stream->last_read = stream->words.end;
	history_put(&stream->words, words, size);
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_READ);
	int error = port->inner.read(port->inner.context, address, buffer, size);

	if (sink) {
		sink_number(sink, address);
		sink_number(sink, size);
		sink_number(sink, error ? 1 : 0);
		sink_bytes(sink, buffer, size);
		if (sink == &port->stream->sink)
			keep_words(port->stream, buffer, size);
	}
	return error;
}

static void put_rows(struct record_sink *sink, const uint64_t *addresses, size_t count, size_t size)
{
	sink_number(sink, count);
	sink_number(sink, size);
	sink_addresses(sink, addresses, count);
}

static long port_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			   void *rows)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_READ_ROWS);
	long got;

	if (sink)
		put_rows(sink, addresses, count, size);
	got = port->inner.read_rows(port->inner.context, addresses, count, size, rows);
	if (!sink)
		return got;
	count = put_count(sink, got, count);
	for (size_t i = 0; i < count; i++)
		sink_bytes(sink, (char *)rows + 64 * i, size);
	return got;
}

static long port_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			    const void *rows)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_WRITE_ROWS);
	long got;

	if (sink) {
		put_rows(sink, addresses, count, size);
		for (size_t i = 0; i < count; i++)
			sink_bytes(sink, (const char *)rows + 64 * i, size);
	}
	got = port->inner.write_rows(port->inner.context, addresses, count, size, rows);
	if (sink)
		put_count(sink, got, count);
	return got;
}

static void put_block(struct record_sink *sink, uint64_t address, uint64_t stride, size_t size,
		      size_t count)
{
	sink_number(sink, address);
	sink_number(sink, mimic_record_zigzag(stride));
	sink_number(sink, size);
	sink_number(sink, count);
}

static void put_block_rows(struct record_sink *sink, const void *buffer, size_t buffer_stride,
			   size_t size, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sink_bytes(sink, (const char *)buffer + i * buffer_stride, size);
}

static long port_read_block(void *context, uint64_t address, uint64_t stride, size_t size,
			    size_t count, void *buffer, size_t buffer_stride)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_READ_BLOCK);
	long got = port->inner.read_block(port->inner.context, address, stride, size, count, buffer,
					  buffer_stride);

	if (sink) {
		put_block(sink, address, stride, size, count);
		put_block_rows(sink, buffer, buffer_stride, size, put_count(sink, got, count));
	}
	return got;
}

static long port_write_block(void *context, uint64_t address, uint64_t stride, size_t size,
			     size_t count, const void *buffer, size_t buffer_stride)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_WRITE_BLOCK);
	long got;

	/* First: the memory that is written may be the buffer itself. */
	if (sink) {
		put_block(sink, address, stride, size, count);
		put_block_rows(sink, buffer, buffer_stride, size, count);
	}
	got = port->inner.write_block(port->inner.context, address, stride, size, count, buffer,
				      buffer_stride);
	if (sink)
		put_count(sink, got, count);
	return got;
}

static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation,
		       uint32_t operand, uint32_t expected, uint32_t *old)
{
	struct record_port *port = context;
	struct record_sink *sink = begin_port(port, RECORD_ATOMIC);
	int error = port->inner.atomic(port->inner.context, address, operation, operand, expected, old);

	if (sink) {
		sink_number(sink, address);
		sink_number(sink, operation);
		sink_number(sink, operand);
		sink_number(sink, expected);
		sink_number(sink, error ? 1 : 0);
		if (!error)
			sink_number(sink, *old);
	}
	return error;
}

/* Only functions that the host has: models check for them. */
static void wrap(struct record_port *port, const struct mimic_memory *inner)
{
	struct mimic_memory *wrapped = &port->port;

	port->inner = *inner;
	*wrapped = (struct mimic_memory){ .context = port };
	if (inner->walk)
		wrapped->walk = port_walk;
	if (inner->gather)
		wrapped->gather = port_gather;
	if (inner->read)
		wrapped->read = port_read;
	if (inner->read_rows)
		wrapped->read_rows = port_read_rows;
	if (inner->write_rows)
		wrapped->write_rows = port_write_rows;
	if (inner->read_block)
		wrapped->read_block = port_read_block;
	if (inner->write_block)
		wrapped->write_block = port_write_block;
	if (inner->atomic)
		wrapped->atomic = port_atomic;
}

static void port_prefetch(void *context, uint64_t address)
{
	struct record_port *port = context;

	port->inner.prefetch(port->inner.context, address);
}

static void port_announce(void *context, const uint64_t *addresses, size_t count)
{
	struct record_port *port = context;

	port->inner.announce(port->inner.context, addresses, count);
}

static uint32_t memory_abilities(const struct mimic_memory *memory)
{
	return (memory->walk ? RECORD_HAS_WALK : 0) | (memory->gather ? RECORD_HAS_GATHER : 0) |
	       (memory->read ? RECORD_HAS_READ : 0) | (memory->read_rows ? RECORD_HAS_READ_ROWS : 0) |
	       (memory->write_rows ? RECORD_HAS_WRITE_ROWS : 0) |
	       (memory->read_block ? RECORD_HAS_READ_BLOCK : 0) |
	       (memory->write_block ? RECORD_HAS_WRITE_BLOCK : 0) |
	       (memory->atomic ? RECORD_HAS_ATOMIC : 0);
}

/* The same memory, or another one with the address of one that is gone: it is asked in the same ways then. */
static bool is_as_before(const struct record_port *port, const struct mimic_memory *inner)
{
	return port->of == inner && memory_abilities(&port->inner) == memory_abilities(inner) &&
	       !port->inner.prefetch == !inner->prefetch && !port->inner.announce == !inner->announce;
}

static struct record_port *add_port(struct record_stream *stream, const struct mimic_memory *inner)
{
	struct record_port *port;

	for (unsigned int i = 1; i < stream->port_count; i++) {
		port = &stream->ports[i];
		if (is_as_before(port, inner)) {
			port->inner = *inner;
			return port;
		}
	}
	if (stream->port_count == RECORD_PORTS_MAX)
		return NULL;
	port = &stream->ports[stream->port_count];
	port->stream = stream;
	port->number = stream->port_count++;
	port->of = inner;
	wrap(port, inner);
	/* Hints: not recorded. */
	if (inner->prefetch)
		port->port.prefetch = port_prefetch;
	if (inner->announce)
		port->port.announce = port_announce;
	return port;
}

/* --- everything else -------------------------------------------------------------------------- */

static void host_complete(void *context, uint64_t owner, uint64_t data)
{
	struct record_stream *stream = context;
	struct record_sink *sink = begin(stream, RECORD_COMPLETE);

	if (sink) {
		sink_number(sink, owner);
		sink_number(sink, data);
	}
	stream->host.complete(stream->host.context, owner, data);
}

static void host_interrupt(void *context)
{
	struct record_stream *stream = context;

	begin(stream, RECORD_INTERRUPT);
	stream->host.interrupt(stream->host.context);
}

static void host_report(void *context, const char *text)
{
	struct record_stream *stream = context;
	struct record_sink *sink = begin(stream, RECORD_REPORT);

	if (sink)
		sink_text(sink, text, RECORD_TEXT_MAX);
	stream->host.report(stream->host.context, text);
}

static enum mimic_fault_answer host_page_fault(void *context, uint64_t address, unsigned int source)
{
	struct record_stream *stream = context;
	struct record_sink *sink = begin(stream, RECORD_PAGE_FAULT);
	enum mimic_fault_answer answer = stream->host.page_fault(stream->host.context, address, source);

	if (sink) {
		sink_number(sink, address);
		sink_number(sink, source);
		sink_number(sink, answer);
	}
	return answer;
}

static const struct mimic_memory *host_memory_of(void *context, uint64_t address_space)
{
	struct record_stream *stream = context;
	const struct mimic_memory *inner = stream->host.memory_of(stream->host.context, address_space);
	struct record_port *port = inner ? add_port(stream, inner) : NULL;
	struct record_sink *sink = begin(stream, RECORD_MEMORY_OF);

	/* More than there are numbers: this one is not seen any more, so the recording ends here. */
	if (inner && !port)
		stream->sink.failed = true;
	if (sink) {
		sink_number(sink, address_space);
		sink_number(sink, port ? port->number : 0);
		sink_number(sink, port ? memory_abilities(inner) : 0);
	}
	return port ? &port->port : inner;
}

static enum mimic_fault_answer host_context_fault(void *context, unsigned int device_context,
						  uint64_t address, bool writes)
{
	struct record_stream *stream = context;
	struct record_sink *sink = begin(stream, RECORD_CONTEXT_FAULT);
	enum mimic_fault_answer answer =
		stream->host.context_fault(stream->host.context, device_context, address, writes);

	if (sink) {
		sink_number(sink, device_context);
		sink_number(sink, address);
		sink_number(sink, writes);
		sink_number(sink, answer);
	}
	return answer;
}

void mimic_record_host_make(struct record_stream *stream, struct mimic_host *host)
{
	const struct mimic_host *inner = &stream->host;

	*host = (struct mimic_host){ .context = stream };
	if (inner->complete)
		host->complete = host_complete;
	if (inner->interrupt)
		host->interrupt = host_interrupt;
	if (inner->report)
		host->report = host_report;
	if (inner->page_fault)
		host->page_fault = host_page_fault;
	if (inner->memory_of)
		host->memory_of = host_memory_of;
	if (inner->context_fault)
		host->context_fault = host_context_fault;
	host->memory = add_port(stream, &inner->memory)->port;
}

uint32_t mimic_record_abilities(const struct record_stream *stream)
{
	const struct mimic_host *host = &stream->host;

	return memory_abilities(&host->memory) | (host->complete ? RECORD_HAS_COMPLETE : 0) |
	       (host->interrupt ? RECORD_HAS_INTERRUPT : 0) | (host->report ? RECORD_HAS_REPORT : 0) |
	       (host->page_fault ? RECORD_HAS_PAGE_FAULT : 0) |
	       (host->memory_of ? RECORD_HAS_MEMORY_OF : 0) |
	       (host->context_fault ? RECORD_HAS_CONTEXT_FAULT : 0) |
	       (stream->jobs ? RECORD_HAS_JOBS : 0);
}
