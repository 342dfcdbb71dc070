/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A lane: the memory that one thread of a program and mimicd share.
 *
 * The daemon makes it (a memfd sealed against any change of size) and hands the
 * descriptor over. The thread writes commands (mimic/command.h) into one ring,
 * the daemon answers in another. docs/protocol.md has the rules.
 *
 * Neither side trusts the other: each keeps its positions to itself
 * (struct mimic_ring_end), and the words here are hints about sleeping and
 * CPUs that can do no harm beyond a lost wake-up of the side that lied.
 */
#ifndef MIMIC_LANE_H
#define MIMIC_LANE_H

#include "mimic/command.h"
#include "mimic/protocol.h"
#include "mimic/ring.h"

#define MIMIC_LANE_COMMAND_WORDS 8192u
#define MIMIC_LANE_RESPONSE_WORDS 8192u
/* The sizes that a client accepts from a daemon of another build. Powers of two. */
#define MIMIC_LANE_WORDS_MIN 1024u
#define MIMIC_LANE_WORDS_MAX (1u << 20)
/* Of 64 devices each: a bit for every device that a session can have. */
#define MIMIC_LANE_LOST_WORDS 4

enum mimic_lane_sleep {
	MIMIC_LANE_AWAKE = 0,
	MIMIC_LANE_WAITS_FOR_ANSWER = 1,
	MIMIC_LANE_WAITS_FOR_ROOM = 2,	/* until half of the command ring is free */
};

/*
 * An order word, in the command ring beside those of mimic/command.h: posts of the session's
 * lane of that number, up to that position, come first. So stores that two
 * threads post one after the other stay in that order. With MIMIC_LANE_ORDER they come
 * first as far as the device takes them; with MIMIC_LANE_ORDER_WHOLE this lane waits for all
 * of them, which is for devices whose stores never wait for an action of a program.
 *
 *   [7:0]   MIMIC_LANE_ORDER or MIMIC_LANE_ORDER_WHOLE
 *   [23:8]  the lane's number, its low bits
 *   [63:24] position in its command ring, its low bits
 */
#define MIMIC_LANE_ORDER 0x80u
#define MIMIC_LANE_ORDER_WHOLE 0x81u
#define MIMIC_LANE_POSITION_BITS 40
/* Lanes that a word can tell from each other. */
#define MIMIC_LANE_NUMBERS 0x10000u

static inline uint64_t mimic_lane_order(uint32_t lane, uint64_t position)
{
	return MIMIC_LANE_ORDER | (uint64_t)(lane % MIMIC_LANE_NUMBERS) << 8 | position << 24;
}

static inline uint64_t mimic_lane_order_whole(uint32_t lane, uint64_t position)
{
	return mimic_lane_order(lane, position) | MIMIC_LANE_ORDER_WHOLE;
}

static inline bool mimic_lane_is_order(uint64_t word)
{
	return (word & 0xff) == MIMIC_LANE_ORDER || (word & 0xff) == MIMIC_LANE_ORDER_WHOLE;
}

static inline bool mimic_lane_order_is_whole(uint64_t word)
{
	return (word & 0xff) == MIMIC_LANE_ORDER_WHOLE;
}

static inline uint32_t mimic_lane_order_lane(uint64_t word)
{
	return (word >> 8) % MIMIC_LANE_NUMBERS;
}

/* How many words the order word's position is ahead of `position`; 0 or less: it has been reached. */
static inline int64_t mimic_lane_order_distance(uint64_t word, uint64_t position)
{
	const unsigned int unused = 64 - MIMIC_LANE_POSITION_BITS;

	return (int64_t)(((word >> 24) - position) << unused) >> unused;
}

/*
 * Going to sleep, either side: set the flag, full fence, read the ring again, sleep.
 * The other side: write, full fence, read the flag, clear it and wake.
 */
struct mimic_lane {
	/* The daemon sleeps: a thread that posts writes the session's eventfd. */
	_Alignas(128) _Atomic uint32_t daemon_sleeping;
	_Atomic int32_t daemon_cpu;
	/*
	 * By numbers of devices: the device was removed, reset or lost while the session had it. Set
	 * before the first answer that is not of the device that the program opened.
	 */
	_Atomic uint64_t lost[MIMIC_LANE_LOST_WORDS];
	/* Microseconds that a thread that waits is to spin at most; 0: as HELLO's reply says. */
	_Atomic uint32_t spin_most;
	/* enum mimic_lane_sleep; the futex word that the thread sleeps on. */
	_Alignas(128) _Atomic uint32_t client_sleeping;
	_Atomic int32_t client_cpu;
};

/*
 * The last bytes of a lane, where no message can be sent to the daemon: the reason why the thread waits,
 * as the text of EXPLAIN's reply. The thread sets `asked` and has the daemon kicked, which clears it when
 * the text is there.
 */
struct mimic_lane_note {
	_Alignas(128) _Atomic uint32_t asked;
	char text[MIMIC_EXPLAIN_MAX];
};

/* The full fence of both. Not atomic_thread_fence(): gcc refuses that one under ThreadSanitizer. */
static inline void mimic_lane_fence(void)
{
	__sync_synchronize();
}

static inline bool mimic_lane_has_lost(const struct mimic_lane *lane, unsigned int number)
{
	return atomic_load_explicit(&lane->lost[number / 64], memory_order_relaxed) >> number % 64 & 1;
}

static inline struct mimic_ring *mimic_lane_commands(struct mimic_lane *lane)
{
	return (struct mimic_ring *)(lane + 1);
}

static inline struct mimic_ring *mimic_lane_responses(struct mimic_lane *lane, size_t command_words)
{
	return (struct mimic_ring *)((char *)(lane + 1) + mimic_ring_size(command_words));
}

/* Whole pages. */
static inline size_t mimic_lane_size(size_t command_words, size_t response_words)
{
	size_t size = sizeof(struct mimic_lane) + mimic_ring_size(command_words) +
		      mimic_ring_size(response_words) + sizeof(struct mimic_lane_note);

	return (size + MIMIC_PAGE_SIZE - 1) / MIMIC_PAGE_SIZE * MIMIC_PAGE_SIZE;
}

/* size: mimic_lane_size() */
static inline struct mimic_lane_note *mimic_lane_note(struct mimic_lane *lane, size_t size)
{
	return (struct mimic_lane_note *)((char *)lane + size - sizeof(struct mimic_lane_note));
}

#endif
