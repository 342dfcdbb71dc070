/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/spool.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "libmimic/base/clock.h"
#include "libmimic/base/memory.h"
#include "libmimic/base/raw_syscall.h"

/* Spools that one thread writes into in turn; more share a cursor and waste chunks. */
#define CURSORS 8
#define CHUNK_SHIFT 16
#define POPULATE_WRITE 23	/* MADV_POPULATE_WRITE, since Linux 5.14 */

/*
 * Where this thread writes next: a chunk and an entry in one word, so that a signal
 * handler that comes between cannot get the same place. initial-exec as in thread.c.
 */
struct cursor {
	_Atomic uint64_t at;
	_Atomic uint64_t generation;
};

static __thread struct cursor cursors[CURSORS] __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t last_generation;

/* --- the clock ------------------------------------------------------------------------- */

/* Not mimic_now(), so that this file needs nothing else of libmimic. */
static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)

/* It counts at a constant rate (the "invariant TSC"). */
static bool tsc_is_a_clock(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}

uint64_t mimic_spool_ticks(unsigned int clock)
{
	return clock == MIMIC_SPOOL_TSC ? __rdtsc() : nanoseconds();
}

#else

static bool tsc_is_a_clock(void)
{
	return false;
}

uint64_t mimic_spool_ticks(unsigned int clock)
{
	(void)clock;
	return nanoseconds();
}

#endif

static uint64_t clock_tsc(struct mimic_trace *trace)
{
	(void)trace;
	return mimic_spool_ticks(MIMIC_SPOOL_TSC);
}

static uint64_t clock_nanoseconds(struct mimic_trace *trace)
{
	(void)trace;
	return nanoseconds();
}

/* --- writing ------------------------------------------------------------------------------ */

static struct mimic_trace_event *entry_of(const struct mimic_spool *spool, uint64_t chunk, uint64_t entry)
{
	return (struct mimic_trace_event *)((char *)spool->header + chunk * MIMIC_SPOOL_CHUNK) + entry;
}

/*
 * Memory for the chunk, all at once. A full disk is reported here; a store would end
 * the program by SIGBUS.
 */
static bool populate(void *chunk)
{
	long error = mimic_raw_syscall(SYS_madvise, (long)chunk, MIMIC_SPOOL_CHUNK, POPULATE_WRITE, 0, 0, 0);

	return !error || error == -EINVAL;
}

/* 0: there is no room. */
static uint64_t claim(struct mimic_spool *spool)
{
	uint64_t chunk = spool->chunks;
	struct mimic_spool_owner *owner;

	/* Not claimed for ever: the counter would come round in the end. */
	if (atomic_load_explicit(&spool->header->claimed, memory_order_relaxed) < spool->chunks)
		chunk = atomic_fetch_add_explicit(&spool->header->claimed, 1, memory_order_relaxed);
	if (!chunk || chunk >= spool->chunks || !populate(entry_of(spool, chunk, 0)))
		return 0;
	owner = (struct mimic_spool_owner *)entry_of(spool, chunk, 0);
	owner->pid = (uint32_t)mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	owner->tid = (uint32_t)mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	return chunk;
}

/* A new chunk, and the first place in it. NULL: there is no room. */
static struct mimic_trace_event *next_chunk(struct mimic_spool *spool, struct cursor *cursor)
{
	uint64_t chunk = claim(spool);

	if (!chunk) {
		/* Full, and so it stays: each event is counted, and nothing else is tried. */
		atomic_store_explicit(&cursor->at, MIMIC_SPOOL_EVENTS, memory_order_relaxed);
		atomic_store_explicit(&cursor->generation, spool->generation, memory_order_relaxed);
		return NULL;
	}
	/* The place first: a handler that comes between claims a chunk of its own, and we go on in it. */
	atomic_store_explicit(&cursor->at, chunk << CHUNK_SHIFT | 2, memory_order_relaxed);
	atomic_store_explicit(&cursor->generation, spool->generation, memory_order_relaxed);
	return entry_of(spool, chunk, 1);
}

/* A place of this thread alone. */
static struct mimic_trace_event *next_entry(struct mimic_spool *spool)
{
	struct cursor *cursor = &cursors[spool->slot];
	uint64_t at;

	if (atomic_load_explicit(&cursor->generation, memory_order_relaxed) != spool->generation)
		return next_chunk(spool, cursor);
	at = atomic_fetch_add_explicit(&cursor->at, 1, memory_order_relaxed);
	if ((at & (MIMIC_SPOOL_CHUNK - 1)) < MIMIC_SPOOL_EVENTS)
		return entry_of(spool, at >> CHUNK_SHIFT, at & (MIMIC_SPOOL_CHUNK - 1));
	return next_chunk(spool, cursor);
}

static void write_event(struct mimic_trace *trace, const struct mimic_trace_event *event)
{
	struct mimic_spool *spool = (struct mimic_spool *)trace;
	struct mimic_trace_event *entry = next_entry(spool);
	const size_t last = offsetof(struct mimic_trace_event, device);
	uint64_t end;

	if (!entry) {
		atomic_fetch_add_explicit(&spool->header->lost, 1, memory_order_relaxed);
		return;
	}
	memcpy(entry, event, last);
	memcpy(&end, (const char *)event + last, sizeof(end));
	/* The kind is in it: a program that is killed leaves whole events, or none. */
	__atomic_store_n((uint64_t *)((char *)entry + last), end, __ATOMIC_RELEASE);
}

/* --- making and mapping -------------------------------------------------------------------- */

int mimic_spool_create(int fd, uint64_t bytes)
{
	struct mimic_spool_header header = {
		.magic = MIMIC_SPOOL_MAGIC,
		.version = MIMIC_SPOOL_VERSION,
		.clock = tsc_is_a_clock() ? MIMIC_SPOOL_TSC : MIMIC_SPOOL_NANOSECONDS,
		.chunks = bytes / MIMIC_SPOOL_CHUNK,
	};

	if (header.chunks < 2)
		return -EINVAL;
	atomic_init(&header.claimed, 1);
	header.start_nanoseconds = nanoseconds();
	header.start_ticks = mimic_spool_ticks(header.clock);
	if (mimic_memory_resize(fd, (off_t)(header.chunks * MIMIC_SPOOL_CHUNK)))
		return -errno;
	if (pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return -EIO;
	return 0;
}

static int check(const struct mimic_spool_header *header, size_t size)
{
	if (header->magic != MIMIC_SPOOL_MAGIC || header->version != MIMIC_SPOOL_VERSION ||
	    header->clock > MIMIC_SPOOL_CYCLES || header->chunks > size / MIMIC_SPOOL_CHUNK ||
	    header->chunks < 2)
		return -EINVAL;
	return 0;
}

int mimic_spool_attach(struct mimic_spool *spool, int fd)
{
	struct mimic_spool_header *header;
	struct stat status;
	int error;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_size < (off_t)(2 * MIMIC_SPOOL_CHUNK))
		return -EINVAL;
	header = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return -errno;
	error = check(header, (size_t)status.st_size);
	if (error) {
		munmap(header, (size_t)status.st_size);
		return error;
	}
	*spool = (struct mimic_spool){
		.trace.clock = header->clock == MIMIC_SPOOL_TSC ? clock_tsc : clock_nanoseconds,
		.trace.write = write_event,
		.header = header,
		.generation = atomic_fetch_add(&last_generation, 1) + 1,
		.size = (size_t)status.st_size,
		/* Any process that has the file can write the header; the size was asked of the kernel. */
		.chunks = (uint64_t)status.st_size / MIMIC_SPOOL_CHUNK,
	};
	spool->slot = spool->generation % CURSORS;
	return 0;
}

void mimic_spool_detach(struct mimic_spool *spool)
{
	if (spool->header)
		munmap(spool->header, spool->size);
	spool->header = NULL;
}

void mimic_spool_after_fork(struct mimic_spool *spool)
{
	spool->generation = atomic_fetch_add(&last_generation, 1) + 1;
}

uint16_t mimic_spool_device(struct mimic_spool *spool, const char *name, pid_t pid)
{
	uint32_t number = atomic_fetch_add(&spool->header->devices, 1);
	struct mimic_spool_device *device;

	if (number >= MIMIC_SPOOL_DEVICES)
		return MIMIC_SPOOL_DEVICES - 1;
	device = &spool->header->device[number];
	device->pid = (uint32_t)pid;
	snprintf(device->name, sizeof(device->name), "%s", name);
	atomic_store(&device->is_open, pid != getpid());
	return (uint16_t)number;
}

void mimic_spool_device_closed(struct mimic_spool *spool, uint16_t device)
{
	if (device < MIMIC_SPOOL_DEVICES)
		atomic_store(&spool->header->device[device].is_open, 0);
}

bool mimic_spool_is(const struct mimic_trace *trace)
{
	return trace && trace->write == write_event;
}
