/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmaple: the API of the MAPLE paper in C. This header is its manual; there
 * is a man page for each function, and docs/libmaple.md is the tutorial.
 *
 * MAPLE (Orenes-Vera et al., "Tiny but mighty: designing and realizing scalable
 * latency tolerance for manycore SoCs", ISCA 2022) is an engine on the memory
 * side of a processor. It has a few queues. A thread, the producer, pushes data
 * or pointers; the device fetches the data at these addresses; another thread, the
 * consumer, pops the values in the order of the pushes. Section numbers below
 * are the paper's.
 *
 * Words. A queue is a ring of 32-bit words. A 32-bit operation moves one word, a
 * 64-bit operation two, the low one first. Both kinds mix freely, also between
 * the two ends: one 64-bit push can be popped by two 32-bit pops.
 *
 * Waiting. As on the hardware, a push to a full queue and a pop from an empty
 * one wait, without a time limit. A push may return before it has taken effect;
 * pushes of one thread to one queue take effect in order. A thread that is both
 * producer and consumer of a queue waits for itself for ever if it pushes more
 * words than the queue holds, or pops more than it has pushed. With MIMIC_PATIENCE, a
 * number of seconds, in the environment a thread that has waited so long prints the
 * reason on standard error (mimic_patience(3)).
 *
 * Errors. Functions return 0 or a count, or a negative errno value; nothing is
 * printed, nothing exits. maple_error_text() says more. Each function lists its
 * own errors; beside these, every function that talks to the device may return
 *	-ENOTCONN	the daemon is gone (transport daemon)
 *	-ENODEV		the handle belongs to the parent of a fork
 *
 * Bad pointers. An address that the device cannot read (unmapped, protected,
 * past the end of a file, NULL) gives 0 in its place, and is counted; the
 * program goes on. maple_fault() and maple_counters() show it.
 *
 * Coherence. A word that the device has fetched does not change any more when memory
 * does (section 3.6). MAPLE_DRAM fetches are not coherent with caches on the
 * hardware: use them for arrays that no thread writes meanwhile, else MAPLE_LLC.
 * Here both read the same memory.
 *
 * Threads. Any number of threads may use one handle at the same time. Each role
 * of each queue belongs to one thread, the one that opened it; a role cannot be
 * used or closed by another. When a thread ends its roles are free again. Calls for
 * different queues do not wait for each other.
 *
 * Profiles. The device is configured as the paper has it (8 queues, 1 KB, whole
 * pointers), or as the published hardware is (profile artifact: 4 queues, 512
 * bytes, 64 words a queue at most, pointers of 40 bits). Programs need not care,
 * but on the artifact profile memory that the device fetches from should come
 * from maple_alloc(): addresses of 2^40 and above get -ERANGE. There, NULL as the
 * base of a batch is -EINVAL, and so is a 64-bit fetch through the LLC at an
 * address of 4 mod 8, which would stop the queue for good.
 */
#ifndef MAPLE_H
#define MAPLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* One MAPLE instance that this process holds. */
struct maple;

enum maple_role {
	MAPLE_PRODUCER = 1,
	MAPLE_CONSUMER = 2,
};

/* Where a pointer is fetched from (section 3.6, "Efficient"). */
enum maple_path {
	MAPLE_DRAM = 0,		/* past the caches, not coherent */
	MAPLE_LLC = 1,		/* through the last-level cache, coherent */
};

/* All zero, or no options at all: the defaults. */
struct maple_options {
	const char *device;		/* NULL or "maple": any free instance; "maple0", ...: that one */
	const char *transport;		/* "kernel", "daemon" or "embedded"; NULL or "auto": the first that is there */
	const char *socket_path;	/* of mimicd; NULL: MIMIC_SOCKET, else the usual one */
	const char *config_path;	/* INI file, transport embedded; NULL: MIMIC_CONFIG, else the paper's */
	unsigned int queue_words;	/* of each queue: 8 16 32 48 64 80 96 128; 0: 32 */
};

/**
 * maple_init() - finds a device and makes its queues
 * @maple: where the handle goes; NULL goes there if the call fails
 * @options: settings of the device, NULL for the defaults
 *
 * INIT of section 3.1. Takes an instance for this process, resets it and divides
 * its scratchpad into queues of options->queue_words words. There are as many
 * queues as fit: on the paper profile 8 of up to 32 words, 5 of 48, 4 of 64, 3 of
 * 80, 2 of 96 or 128; on the artifact profile 4 of up to 32 words, 2 of up to 64,
 * 1 of 80 or more, of which 64 are used.
 *
 * A config_path is for the embedded transport: it makes "auto" choose that, and
 * is -EINVAL with "daemon", which ignores MIMIC_CONFIG.
 *
 * All queues are empty and no role is taken. The strings of options are not used
 * after the call. The caller gives the handle back by maple_fini().
 *
 * Returns 0, or
 * -EINVAL: an option has no valid value, or the configuration file is wrong
 * -EBUSY: no instance is free, or this process has this one already
 * -ENODEV: there is no instance of that number
 * -ENOENT: there is no such configuration file
 * -ECONNREFUSED: no daemon answers (transport daemon)
 * -EPROTO: the daemon or the device speaks another version
 * -EIO: the device did not make any queue
 * -ENOMEM: out of memory
 *
 * See also: maple_open(), maple_error_text().
 */
int maple_init(struct maple **maple, const struct maple_options *options);

/**
 * maple_fini() - gives the device back
 * @maple: the handle, or NULL
 *
 * No other thread may use the handle any more. Words in queues, roles and memory
 * of maple_alloc() that was not freed are lost with it.
 *
 * See also: maple_init().
 */
void maple_fini(struct maple *maple);

/**
 * maple_error_text() - says more about an error
 *
 * Returns a line for people about the last error that a function of the library
 * returned to this thread, "" if there was none. It gives the reason. The
 * string is the library's and changes with the thread's next error.
 *
 * See also: maple_init().
 */
const char *maple_error_text(void);

/**
 * maple_transport() - tells how the device is reached
 * @maple: the handle
 *
 * Returns "embedded", "daemon" or "kernel". The string is the library's.
 *
 * See also: maple_init(), maple_device_name().
 */
const char *maple_transport(const struct maple *maple);

/**
 * maple_device_name() - tells which instance this is
 * @maple: the handle
 *
 * Returns "maple0", "maple1" and so on. The string lives as long as the handle.
 *
 * See also: maple_init(), maple_transport().
 */
const char *maple_device_name(const struct maple *maple);

/**
 * maple_queue_count() - tells how many queues there are
 * @maple: the handle
 *
 * Returns the number of queues, 1 to 8; they are numbered from 0.
 *
 * See also: maple_init(), maple_queue_words().
 */
unsigned int maple_queue_count(const struct maple *maple);

/**
 * maple_queue_words() - tells how much a queue holds
 * @maple: the handle
 *
 * Returns the number of 32-bit words that each queue holds. On the artifact
 * profile this is 64 at most, even if more were asked for.
 *
 * See also: maple_init(), maple_queue_count().
 */
unsigned int maple_queue_words(const struct maple *maple);

/**
 * maple_open() - takes a role of a queue for the calling thread
 * @maple: the handle
 * @queue: number of the queue
 * @role: MAPLE_PRODUCER or MAPLE_CONSUMER
 *
 * OPEN of section 3.1. Each role is exclusive. One thread may have both roles of
 * a queue, and roles of any number of queues. To open a role that the
 * thread has does nothing. Words that the queue holds from before are still there.
 *
 * Returns 0, or
 * -EINVAL: no such queue or role
 * -EBUSY: another thread has the role, or maple_spmv_csr() or maple_bfs_csr() uses the queue
 *
 * See also: maple_close(), maple_produce32(), maple_consume32().
 */
int maple_open(struct maple *maple, unsigned int queue, enum maple_role role);

/**
 * maple_close() - gives a role of a queue back
 * @maple: the handle
 * @queue: number of the queue
 * @role: MAPLE_PRODUCER or MAPLE_CONSUMER
 *
 * CLOSE of section 3.1. Nothing is flushed: words in the queue, and LIMA loops
 * that still run, stay for the thread that opens the queue next. Pushes of the calling
 * thread take effect first, so that closing waits while the queue is full.
 *
 * Returns 0, or
 * -EINVAL: no such queue or role
 * -EPERM: this thread does not have that role
 *
 * See also: maple_open().
 */
int maple_close(struct maple *maple, unsigned int queue, enum maple_role role);

/**
 * maple_produce32() - pushes one word
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @data: the word
 *
 * PRODUCE of section 3.1. Waits while the queue is full.
 *
 * Returns 0, or
 * -EINVAL: no such queue
 * -EPERM: this thread is not the producer
 *
 * See also: maple_open(), maple_produce64(), maple_produce32_batch(), maple_consume32().
 */
int maple_produce32(struct maple *maple, unsigned int queue, uint32_t data);

/**
 * maple_produce64() - pushes two words
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @data: the words, the one in the low half first
 *
 * PRODUCE of section 3.1. Waits until the queue has room for both.
 *
 * Returns 0, or
 * -EINVAL: no such queue
 * -EPERM: this thread is not the producer
 *
 * See also: maple_open(), maple_produce32(), maple_produce64_batch(), maple_consume64().
 */
int maple_produce64(struct maple *maple, unsigned int queue, uint64_t data);

/**
 * maple_consume32() - pops one word
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its consumer
 * @data: where the word goes; untouched if the call fails
 *
 * CONSUME of section 3.1. Waits until there is a word.
 *
 * Returns 0, or
 * -EINVAL: no such queue, or data is NULL
 * -EPERM: this thread is not the consumer
 *
 * See also: maple_open(), maple_consume64(), maple_consume32_batch().
 */
int maple_consume32(struct maple *maple, unsigned int queue, uint32_t *data);

/**
 * maple_consume64() - pops two words
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its consumer
 * @data: where they go, the first in the low half; untouched if the call fails
 *
 * CONSUME of section 3.1. Waits until there are two words.
 *
 * Returns 0, or
 * -EINVAL: no such queue, or data is NULL
 * -EPERM: this thread is not the consumer
 *
 * See also: maple_open(), maple_consume32(), maple_consume64_batch().
 */
int maple_consume64(struct maple *maple, unsigned int queue, uint64_t *data);

/**
 * maple_produce32_batch() - pushes an array of words
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @data: the words; the caller's again after the call
 * @count: how many; may be more than the queue holds, and may be 0
 *
 * The same as that many calls of maple_produce32(), and faster.
 *
 * Returns count, or
 * -EINVAL: no such queue, or data is NULL
 * -EPERM: this thread is not the producer
 */
ssize_t maple_produce32_batch(struct maple *maple, unsigned int queue, const uint32_t *data,
			      size_t count);

/**
 * maple_produce64_batch() - pushes an array of 64-bit values
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @data: the values, two words each; the caller's again after the call
 * @count: how many values; may be more than the queue holds, and may be 0
 *
 * The same as that many calls of maple_produce64(), and faster.
 *
 * Returns count, or
 * -EINVAL: no such queue, or data is NULL
 * -EPERM: this thread is not the producer
 */
ssize_t maple_produce64_batch(struct maple *maple, unsigned int queue, const uint64_t *data,
			      size_t count);

/**
 * maple_consume32_batch() - pops an array of words
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its consumer
 * @data: room for count words
 * @count: how many; may be more than the queue holds, and may be 0
 *
 * The same as that many calls of maple_consume32(), and faster. Waits until all
 * words have come.
 *
 * Returns count, or
 * -EINVAL: no such queue, or data is NULL
 * -EPERM: this thread is not the consumer
 */
ssize_t maple_consume32_batch(struct maple *maple, unsigned int queue, uint32_t *data,
			      size_t count);

/**
 * maple_consume64_batch() - pops an array of 64-bit values
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its consumer
 * @data: room for count values, two words each
 * @count: how many values; may be more than the queue holds, and may be 0
 *
 * The same as that many calls of maple_consume64(), and faster. Waits until all
 * words have come.
 *
 * Returns count, or
 * -EINVAL: no such queue, or data is NULL
 * -EPERM: this thread is not the consumer
 */
ssize_t maple_consume64_batch(struct maple *maple, unsigned int queue, uint64_t *data,
			      size_t count);

/**
 * maple_produce_ptr32() - pushes the 4 bytes that a pointer names
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @pointer: address of the 4 bytes, a multiple of 4
 * @path: where the device fetches them, MAPLE_DRAM or MAPLE_LLC
 *
 * PRODUCE_PTR of section 3.1. The device fetches the bytes while the program
 * goes on, and puts them into the queue at the place of this call. Waits while the
 * queue is full. The memory may be read at any time until the word is consumed.
 *
 * Returns 0, or
 * -EINVAL: no such queue or path, or pointer is not a multiple of 4
 * -EPERM: this thread is not the producer
 * -ERANGE: the pointer does not fit in 40 bits (artifact profile)
 *
 * See also: maple_open(), maple_produce_ptr64(), maple_produce_ptr32_batch(), maple_consume32(), maple_fault().
 */
int maple_produce_ptr32(struct maple *maple, unsigned int queue, const void *pointer,
			enum maple_path path);

/**
 * maple_produce_ptr64() - pushes the 8 bytes that a pointer names
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @pointer: address of the 8 bytes, a multiple of 4
 * @path: where the device fetches them, MAPLE_DRAM or MAPLE_LLC
 *
 * PRODUCE_PTR of section 3.1, as maple_produce_ptr32(), with two words.
 *
 * Returns 0, or
 * -EINVAL: no such queue or path, or pointer is not a multiple of 4, or
 *          the artifact profile would hang (MAPLE_LLC at an address of 4 mod 8)
 * -EPERM: this thread is not the producer
 * -ERANGE: the pointer does not fit in 40 bits (artifact profile)
 *
 * See also: maple_open(), maple_produce_ptr64_batch(), maple_consume64(), maple_fault().
 */
int maple_produce_ptr64(struct maple *maple, unsigned int queue, const void *pointer,
			enum maple_path path);

/**
 * maple_produce_ptr32_batch() - pushes elements of an array of 4-byte elements
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @base: the array, a multiple of 4
 * @indices: which elements, in this order; the caller's again after the call
 * @count: how many indices; may be more than the queue holds, and may be 0
 * @path: where the device fetches them, MAPLE_DRAM or MAPLE_LLC
 *
 * The same as maple_produce_ptr32() of base + 4 * indices[i] for each i, and
 * faster: the way to write an Access thread.
 *
 * Returns count, or
 * -EINVAL: no such queue or path, indices is NULL, or base is not a multiple of 4
 * -EPERM: this thread is not the producer
 * -ERANGE: an element does not lie below 2^40 (artifact profile)
 *
 * See also: maple_lima_produce32().
 */
ssize_t maple_produce_ptr32_batch(struct maple *maple, unsigned int queue, const void *base,
				  const uint32_t *indices, size_t count, enum maple_path path);

/**
 * maple_produce_ptr64_batch() - pushes elements of an array of 8-byte elements
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @base: the array, a multiple of 4
 * @indices: which elements, in this order; the caller's again after the call
 * @count: how many indices; may be more than the queue holds, and may be 0
 * @path: where the device fetches them, MAPLE_DRAM or MAPLE_LLC
 *
 * The same as maple_produce_ptr64() of base + 8 * indices[i] for each i, and
 * faster: the way to write an Access thread.
 *
 * Returns count, or
 * -EINVAL: no such queue or path, indices is NULL, base is not a multiple of 4, or
 *          the artifact profile would hang (MAPLE_LLC at an address of 4 mod 8)
 * -EPERM: this thread is not the producer
 * -ERANGE: an element does not lie below 2^40 (artifact profile)
 *
 * See also: maple_lima_produce64().
 */
ssize_t maple_produce_ptr64_batch(struct maple *maple, unsigned int queue, const void *base,
				  const uint32_t *indices, size_t count, enum maple_path path);

/**
 * maple_prefetch() - brings a cache line into the last-level cache
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @pointer: any address in the line
 *
 * PREFETCH of section 3.2. It is speculative: nothing goes into the queue, and a
 * bad pointer does no harm. It goes through the queue's pipeline, behind earlier
 * pushes. On the artifact profile it waits until the queue has two free
 * words, as the hardware does.
 *
 * Returns 0, or
 * -EINVAL: no such queue
 * -EPERM: this thread is not the producer
 * -ERANGE: the pointer does not fit in 40 bits (artifact profile)
 *
 * See also: maple_open(), maple_lima().
 */
int maple_prefetch(struct maple *maple, unsigned int queue, const void *pointer);

/**
 * maple_lima() - prefetches a[b[i]] for a range of i
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @a: the array that is reached indirectly, a multiple of 4; NULL: b itself
 * @element: bytes of an element of a, 4 or 8
 * @b: the indices, a multiple of 4
 * @begin: the first i
 * @end: the last i plus 1; nothing happens if it equals begin
 *
 * LIMA of section 3.2. The device reads b and brings the elements of a into the
 * last-level cache while the program goes on. It is speculative: nothing goes into
 * the queue. The memory of b must stay as it is while the loop runs. Loops of one
 * queue run one after the other; a loop of maple_lima_produce32() before this one
 * must be consumed first. On the artifact profile the library prefetches 4-byte
 * elements one by one, since the hardware knows 8-byte ones only.
 *
 * Returns 0, or
 * -EINVAL: no such queue, end is before begin, element is neither 4 nor 8, or a or b is not a multiple of 4
 * -EPERM: this thread is not the producer
 * -EAGAIN: no room for the loop, and only this thread can make some by consuming (artifact profile)
 * -ERANGE: a or b does not lie below 2^40 (artifact profile)
 *
 * See also: maple_prefetch().
 */
int maple_lima(struct maple *maple, unsigned int queue, const void *a, unsigned int element,
	       const uint32_t *b, uint32_t begin, uint32_t end);

/**
 * maple_lima_produce32() - pushes a[b[i]] for a range of i, 4-byte elements
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @a: the array that is reached indirectly, a multiple of 4; NULL: b[i] itself is pushed
 * @b: the indices, a multiple of 4
 * @begin: the first i
 * @end: the last i plus 1; nothing happens if it equals begin
 * @path: where the device fetches a, MAPLE_DRAM or MAPLE_LLC
 *
 * LIMA_PRODUCE of section 3.2. One call stands for any number of pushes: the
 * device reads b on its own, and fills the queue as it is consumed. It does so
 * while the program goes on; the memory of a and b must stay as it is until the
 * last word is consumed. Loops and pushes of one queue take effect in order.
 *
 * A queue holds a number of loops (256 on the paper profile as shipped, 4 on the
 * artifact profile); the call waits while there is no place for one more. No loop
 * is lost, on the artifact profile neither, where the hardware would drop it
 * silently. Many short ranges are slow: put them together, as maple_bfs_csr() does.
 *
 * Returns 0, or
 * -EINVAL: no such queue or path, end is before begin, or a or b is not a multiple of 4
 * -EPERM: this thread is not the producer
 * -EAGAIN: no room for the loop, and only this thread can make some by consuming (artifact profile)
 * -ERANGE: a or b does not lie below 2^40 (artifact profile)
 *
 * See also: maple_lima_produce64(), maple_lima(), maple_consume32_batch().
 */
int maple_lima_produce32(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
			 uint32_t begin, uint32_t end, enum maple_path path);

/**
 * maple_lima_produce64() - pushes a[b[i]] for a range of i, 8-byte elements
 * @maple: the handle
 * @queue: number of the queue; the calling thread is its producer
 * @a: the array that is reached indirectly, a multiple of 4, not NULL
 * @b: the indices, a multiple of 4
 * @begin: the first i
 * @end: the last i plus 1; nothing happens if it equals begin
 * @path: where the device fetches a, MAPLE_DRAM or MAPLE_LLC
 *
 * LIMA_PRODUCE of section 3.2, as maple_lima_produce32(), with two words for each
 * i. Without a there is no 64-bit form, because elements of b have 32 bits.
 *
 * Returns 0, or
 * -EINVAL: no such queue or path, end is before begin, a is NULL, a or b is not a multiple of 4, or
 *          the artifact profile would hang (MAPLE_LLC, a at 4 mod 8)
 * -EPERM: this thread is not the producer
 * -EAGAIN: no room for the loop, and only this thread can make some by consuming (artifact profile)
 * -ERANGE: a or b does not lie below 2^40 (artifact profile)
 *
 * See also: maple_lima(), maple_consume64_batch().
 */
int maple_lima_produce64(struct maple *maple, unsigned int queue, const void *a, const uint32_t *b,
			 uint32_t begin, uint32_t end, enum maple_path path);

/* The device's own counters, of all queues, since this process got the device. */
struct maple_counters {
	uint64_t produced;	/* words pushed into queues */
	uint64_t consumed;	/* words popped from queues */
	uint64_t fetched;	/* memory fetches for queue entries */
	uint64_t prefetched;	/* prefetches sent to the last-level cache */
	uint64_t atomics;	/* atomic operations done */
	uint64_t lima_loops;	/* loops accepted */
	uint64_t lima_dropped;	/* loops dropped (artifact profile); the library pushes them again */
	uint64_t lima_chunks;	/* 64-byte chunks of B read */
	uint64_t tlb_hits;	/* translations found in the TLB */
	uint64_t tlb_misses;	/* translations that walked the page table */
	uint64_t faults;	/* addresses that could not be translated or read */
	uint64_t shootdowns;	/* TLB flushes and invalidations */
	uint64_t store_waits;	/* stores that had to wait */
	uint64_t load_waits;	/* loads that had to wait */
	uint64_t illegal;	/* accesses that the device answers with 0 or drops */
	uint64_t hangs;		/* operations that hang the artifact's hardware */
	uint64_t page_faults;	/* faults that a kernel driver was asked to resolve */
	uint64_t resolves;	/* of these, the ones that it resolved */
};

/**
 * maple_counters() - reads the device's counters
 * @maple: the handle
 * @counters: where they go
 *
 * Counters only grow. Operations of other threads at the same time may be counted in
 * part.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL
 *
 * See also: maple_statistics(), maple_fault().
 */
int maple_counters(struct maple *maple, struct maple_counters *counters);

/**
 * maple_debug() - reads a debug word of the device
 * @maple: the handle
 * @word: which, 0 to 7
 * @value: where it goes
 *
 * Section 3.1 speaks of debugging functions; the artifact defines the words. 0:
 * bitmap of the scratchpad's words 0 to 63 that are in use. 1: of those that are
 * valid. 2 and above: state of the pipelines, as docs/maple.md lists it.
 *
 * Returns 0, or
 * -EINVAL: no such word, or an argument is NULL
 *
 * See also: maple_statistics(), maple_counters().
 */
int maple_debug(struct maple *maple, unsigned int word, uint64_t *value);

/**
 * maple_statistics() - reads the statistics words of a queue
 * @maple: the handle
 * @queue: number of the queue
 * @words: room for four words
 *
 * The performance counters of section 3.1, as the artifact defines them; each
 * word has two halves. words[0]: 0. words[1]: cycles in which the producer (high)
 * and the consumer (low) had the queue open and idle. words[2]: cycles a store
 * (high) and a load (low) waited. words[3]: words popped from all queues since
 * statistics were read last (high), words popped from this queue (low). A cycle is
 * a nanosecond as long as the device is not timed.
 *
 * Returns 0, or
 * -EINVAL: no such queue, or an argument is NULL
 *
 * See also: maple_counters(), maple_debug().
 */
int maple_statistics(struct maple *maple, unsigned int queue, uint64_t words[4]);

/**
 * maple_fault() - tells which address the device could not read
 * @maple: the handle
 * @address: where the last such address goes, 0 if there was none; a page's address on the artifact profile
 * @count: where the number of faults since maple_init() goes
 *
 * A fault ends with a 0 in the queue (section 3.5 leaves the reaction to the
 * driver; here nothing else happens).
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL
 *
 * See also: maple_counters(), maple_produce_ptr32().
 */
int maple_fault(struct maple *maple, uint64_t *address, uint64_t *count);

/**
 * maple_alloc() - allocates memory that the device reaches directly
 * @maple: the handle
 * @size: bytes, at least 1
 *
 * The memory is zeroed, page aligned, and below 2^40. The daemon shares it, so that
 * a fetch from it costs no system call. It is the caller's until maple_free().
 *
 * Returns the memory, or NULL with errno:
 * EINVAL: size is 0, or the handle is NULL
 * ENOMEM: out of memory
 *
 * See also: maple_register().
 */
void *maple_alloc(struct maple *maple, size_t size);

/**
 * maple_free() - frees memory of maple_alloc()
 * @maple: the handle
 * @memory: memory of maple_alloc(), or NULL
 *
 * Nothing that the device still has to fetch may lie in it.
 *
 * Returns 0, or
 * -EINVAL: the memory is not of maple_alloc()
 */
int maple_free(struct maple *maple, void *memory);

/**
 * maple_register() - lets the device reach the program's own memory directly
 * @maple: the handle
 * @memory: the first byte
 * @size: bytes
 *
 * The device reads any memory of the program without this; the daemon does it
 * faster with it. The whole pages inside the range are replaced in place by shared
 * ones with the same contents. No other thread may write to them during the call.
 * Only private anonymous memory can be registered (malloc or anonymous mmap; not
 * files, not the main stack). It keeps its address, and is not moved below 2^40.
 * On the embedded transport there is nothing to do.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or the memory cannot be registered
 * -ENOMEM: out of memory
 *
 * See also: maple_unregister(), maple_alloc().
 */
int maple_register(struct maple *maple, void *memory, size_t size);

/**
 * maple_unregister() - takes maple_register() back
 * @maple: the handle
 * @memory: the same as there
 * @size: the same as there
 *
 * The memory keeps its contents. Call it before the memory is freed.
 *
 * Returns 0, or
 * -EINVAL: an argument is NULL, or the range is not registered
 */
int maple_unregister(struct maple *maple, void *memory, size_t size);

/* How a kernel reaches its irregular array. */
enum maple_form {
	MAPLE_PLAIN,		/* by loads; the device is not used, and the handle may be NULL */
	MAPLE_DECOUPLED,	/* an access thread pushes pointers, the caller consumes (section 3.1) */
	MAPLE_LIMA,		/* LIMA_PRODUCE by the caller, which also consumes (section 3.2) */
	MAPLE_PREFETCH,		/* LIMA some elements ahead, then loads (section 3.2, figure 4) */
};

/**
 * maple_spmv_csr() - multiplies a sparse matrix by a vector
 * @maple: the handle; may be NULL for MAPLE_PLAIN
 * @form: how x is reached
 * @rows: rows of the matrix
 * @row_start: rows + 1 positions; row r has the elements from row_start[r] to row_start[r + 1] - 1
 * @column: column of each element; each must be an index of x, which is not checked
 * @value: value of each element
 * @x: the vector
 * @y: rows results
 *
 * Computes y[r] = sum of value[k] * x[column[k]] in compressed sparse row format.
 * Products are added in the order of k, in all forms; y is the same bit for bit.
 * row_start need not begin at 0, so that a range of rows can be multiplied.
 *
 * Takes one queue that is empty and closed on both sides for the time of the call;
 * several threads may call it with one handle. MAPLE_DECOUPLED starts a thread and
 * ends it. Longer queues make it faster: set queue_words to 128. x, column and
 * value must not be written meanwhile. If the call fails the contents of y are undefined.
 *
 * Returns 0, or
 * -EINVAL: an array or the handle is NULL, row_start decreases, or no such form
 * -EBUSY: each queue is open or holds data
 * -EAGAIN: no thread could be started
 * -ERANGE: x or column does not lie below 2^40 (artifact profile)
 *
 * See also: maple_bfs_csr(), maple_init(), maple_register().
 */
int maple_spmv_csr(struct maple *maple, enum maple_form form, size_t rows,
		   const uint64_t *row_start, const uint32_t *column, const double *value,
		   const double *x, double *y);

/**
 * maple_bfs_csr() - searches a graph breadth first
 * @maple: the handle; may be NULL for MAPLE_PLAIN
 * @form: how level is reached
 * @vertices: vertices of the graph
 * @row_start: vertices + 1 positions; vertex u has the edges from row_start[u] to row_start[u + 1] - 1
 * @neighbour: where each edge goes
 * @root: where to begin
 * @level: vertices results: edges on the shortest way from root, -1 if there is none
 * @parent: vertices results: the vertex before on such a way, root for root itself,
 *          -1 if there is none; NULL if not wanted
 *
 * Searches one level at a time. Levels are the same in all forms; parents may be any
 * that are right. An edge to a vertex that does not exist is an error.
 *
 * Takes one queue that is empty and closed on both sides for the time of the call.
 * MAPLE_DECOUPLED starts a thread and ends it. Allocates 8 bytes and a bit for each
 * vertex. The graph must not be written meanwhile. If the call fails the
 * contents of level and parent are undefined.
 *
 * Returns 0, or
 * -EINVAL: an array or the handle is NULL, row_start decreases, root or a neighbour is no vertex, or no such form
 * -EBUSY: each queue is open or holds data
 * -EAGAIN: no thread could be started
 * -ENOMEM: out of memory
 * -EOVERFLOW: more than 2^31 - 1 levels
 * -ERANGE: level does not lie below 2^40 (artifact profile)
 *
 * See also: maple_spmv_csr(), maple_init(), maple_register().
 */
int maple_bfs_csr(struct maple *maple, enum maple_form form, size_t vertices,
		  const uint64_t *row_start, const uint32_t *neighbour, uint32_t root,
		  int32_t *level, int64_t *parent);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
