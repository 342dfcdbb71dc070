/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Queues and access threads of the kernels. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "lane.h"
#include "libmimic/pause.h"

#define SPINS 1000

/*
 * Spins before it sleeps: a wake-up costs tens of microseconds, more than a
 * small level of a search takes. With one processor it would hold the other up.
 */
static unsigned int spins_here(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2)
		return 0;
	return SPINS;
}

static void take(struct maple_lane *lane, sem_t *semaphore)
{
	for (unsigned int i = 0; i < lane->spins; i++) {
		if (sem_trywait(semaphore) == 0)
			return;
		mimic_pause_cpu();
	}
	while (sem_wait(semaphore) != 0 && errno == EINTR)
		;
}

/* Only an empty queue: words that are left in one belong to the program, because CLOSE keeps them. */
static bool claim(struct maple_queue *queue)
{
	if (atomic_exchange(&queue->is_claimed, true))
		return false;
	if (maple_queue_level(queue) == 0 && atomic_load(&queue->producer) == 0 &&
	    atomic_load(&queue->consumer) == 0)
		return true;
	atomic_store(&queue->is_claimed, false);
	return false;
}

static int claim_any(struct maple_lane *lane)
{
	struct maple *maple = lane->maple;

	/* From the top, since queue 0 of the artifact profile is slow (artifact.c). */
	for (unsigned int i = maple->queue_count; i-- > 0;) {
		if (!claim(&maple->queues[i]))
			continue;
		lane->queue = i;
		return 0;
	}
	return maple_error(-EBUSY, "%s: each of its %u queues is open or holds data",
			   maple_device_name(maple), maple->queue_count);
}

static void release(struct maple_lane *lane)
{
	atomic_store(&lane->maple->queues[lane->queue].is_claimed, false);
}

/* Error texts belong to threads, so the access thread's is handed over. */
static void set_result(struct maple_lane *lane, int result)
{
	lane->result = result;
	if (result)
		snprintf(lane->text, sizeof(lane->text), "%s", maple_error_text());
}

static int give_result(const struct maple_lane *lane)
{
	return lane->result ? maple_error(lane->result, "%s", lane->text) : 0;
}

/* The first answer tells whether the caller had the role; then one for each piece of work. */
static void *access_thread(void *argument)
{
	struct maple_lane *lane = argument;

	set_result(lane, maple_open_role(lane->maple, lane->queue, MAPLE_PRODUCER));
	sem_post(&lane->done);
	if (lane->result)
		return NULL;
	for (;;) {
		take(lane, &lane->work);
		if (!lane->feed)
			break;
		set_result(lane, lane->feed(lane, lane->argument));
		sem_post(&lane->done);
	}
	set_result(lane, maple_close(lane->maple, lane->queue, MAPLE_PRODUCER));
	return NULL;
}

static int start_thread(struct maple_lane *lane)
{
	int error;

	lane->spins = spins_here();
	sem_init(&lane->work, 0, 0);
	sem_init(&lane->done, 0, 0);
	error = -pthread_create(&lane->thread, NULL, access_thread, lane);
	if (error) {
		maple_error(error, "no access thread: %s", strerror(-error));
	} else {
		take(lane, &lane->done);
		error = give_result(lane);
		if (!error)
			return 0;
		pthread_join(lane->thread, NULL);
	}
	sem_destroy(&lane->work);
	sem_destroy(&lane->done);
	return error;
}

static int stop_thread(struct maple_lane *lane)
{
	lane->feed = NULL;
	sem_post(&lane->work);
	pthread_join(lane->thread, NULL);
	sem_destroy(&lane->work);
	sem_destroy(&lane->done);
	return give_result(lane);
}

int maple_lane_open(struct maple_lane *lane, struct maple *maple, bool is_decoupled)
{
	int error;

	if (!maple)
		return maple_error(-EINVAL, "the handle is NULL");
	memset(lane, 0, sizeof(*lane));
	lane->maple = maple;
	lane->is_decoupled = is_decoupled;
	error = claim_any(lane);
	if (error)
		return error;
	error = maple_open_role(maple, lane->queue, MAPLE_CONSUMER);
	if (!error) {
		error = is_decoupled ? start_thread(lane)
				     : maple_open_role(maple, lane->queue, MAPLE_PRODUCER);
		if (error)
			maple_close(maple, lane->queue, MAPLE_CONSUMER);
	}
	if (error)
		release(lane);
	return error;
}

int maple_lane_close(struct maple_lane *lane, int error)
{
	char text[256];
	int first;

	/* The calls below may fail as well, with a less precise text. */
	snprintf(text, sizeof(text), "%s", maple_error_text());
	first = lane->is_decoupled ? stop_thread(lane)
				   : maple_close(lane->maple, lane->queue, MAPLE_PRODUCER);
	if (first)
		maple_close(lane->maple, lane->queue, MAPLE_CONSUMER);
	else
		first = maple_close(lane->maple, lane->queue, MAPLE_CONSUMER);
	release(lane);
	return error ? maple_error(error, "%s", text) : first;
}

void maple_lane_feed(struct maple_lane *lane, maple_feed feed, void *argument)
{
	lane->feed = feed;
	lane->argument = argument;
	sem_post(&lane->work);
}

int maple_lane_wait(struct maple_lane *lane)
{
	take(lane, &lane->done);
	return give_result(lane);
}

int maple_lane_fill(struct maple_lane *lane, uint64_t words, int error)
{
	static const uint32_t zeros[MAPLE_PIECE];
	uint64_t piece;
	char text[256];

	snprintf(text, sizeof(text), "%s", maple_error_text());
	/* If this fails too the device is gone, and the consumer learns it from its own call. */
	for (; words > 0; words -= piece) {
		piece = words < MAPLE_PIECE ? words : MAPLE_PIECE;
		if (maple_produce32_batch(lane->maple, lane->queue, zeros, piece) < 0)
			break;
	}
	return maple_error(error, "%s", text);
}

int maple_check_rows(size_t rows, const uint64_t *row_start)
{
	bool is_wrong = false;

	/* Without a branch, so that it runs at memory speed; the place is looked for only if there is one. */
	for (size_t i = 0; i < rows; i++)
		is_wrong |= row_start[i + 1] < row_start[i];
	if (!is_wrong)
		return 0;
	for (size_t i = 0; i < rows; i++) {
		if (row_start[i + 1] < row_start[i])
			return maple_error(-EINVAL, "row %zu starts at %llu and ends at %llu", i,
					   (unsigned long long)row_start[i],
					   (unsigned long long)row_start[i + 1]);
	}
	return -EINVAL;
}
