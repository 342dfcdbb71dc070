/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/shards.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/stalls.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"
#include "libmimic/base/clock.h"
#include "mimic/lane.h"

/* Empty rounds between two readings of the clock; between two times that others may have the CPU. */
#define ROUNDS_PER_CLOCK 16
#define ROUNDS_PER_YIELD 64
/* Without work, while a client needs our CPU. */
#define CROWDED_ROUNDS 16

/* Of mimicd_shard.wanted. */
enum { NOT_WANTED, WANTED, AWAITED };

/* --- the shard's thread ------------------------------------------------------------ */

/* The loop's thread has the shard meanwhile. */
static void step_aside(struct mimicd_shard *shard)
{
	uint32_t wanted = WANTED;

	pthread_mutex_unlock(&shard->lock);
	atomic_compare_exchange_strong(&shard->wanted, &wanted, AWAITED);
	while (atomic_load(&shard->wanted) == AWAITED)
		mimic_futex_wait(&shard->wanted, AWAITED, 0, MIMIC_FUTEX_PRIVATE);
	pthread_mutex_lock(&shard->lock);
	/* That was no sleep which users have made. */
	shard->seen = mimic_now();
}

static void look_whether_due(struct mimicd_shard *shard)
{
	if (!shard->due || mimic_now() < shard->due)
		return;
	shard->due = 0;
	mimicd_shard_wake_again(shard);
}

static bool serve_once(struct mimicd_shard *shard)
{
	bool worked = mimicd_shard_round(shard);

	atomic_store_explicit(&shard->is_owed, false, memory_order_relaxed);
	worked |= mimicd_shard_go_on(shard);
	look_whether_due(shard);
	/* The next one who has the shard may be another thread. */
	mimicd_step_commit(shard->engine);
	return worked;
}

/* true: there was nothing for so long that the thread should sleep; false: the loop's thread wants the shard. */
static bool serve(struct mimicd_shard *shard)
{
	const uint64_t spin_ns = shard->engine->settings.spin_microseconds * 1000ull;
	unsigned int idle = 0;

	mimicd_shard_publish_cpu(shard);
	while (atomic_load_explicit(&shard->wanted, memory_order_relaxed) == NOT_WANTED) {
		uint64_t now;

		if (serve_once(shard)) {
			idle = 0;
			continue;
		}
		idle++;
		if (shard->now < shard->crowded_until) {
			if (idle > CROWDED_ROUNDS || !mimic_yield(&shard->yields))
				return true;
			continue;
		}
		mimic_pause_cpu();
		if (idle % ROUNDS_PER_CLOCK)
			continue;
		if (idle % ROUNDS_PER_YIELD == 0)
			mimic_yield(&shard->yields);
		now = mimic_now();
		mimicd_stalls_look(shard, now);
		if (now - shard->now >= spin_ns)
			return true;
	}
	return false;
}

/* Milliseconds for epoll, rounded up; -1: for ever. */
static int timeout_of(const struct mimicd_shard *shard)
{
	uint64_t now = mimic_now();

	if (!shard->due)
		return -1;
	return shard->due <= now ? 0 : (int)((shard->due - now) / 1000000 + 1);
}

/* Until a client of the shard writes its eventfd, or the loop's thread has made work. */
static void sleep_until_woken(struct mimicd_shard *shard)
{
	struct epoll_event events[8];
	int timeout;

	mimicd_stalls_look(shard, mimic_now());
	mimicd_shard_publish_sleep(shard, true);
	/* Pairs with the fence of a client between its command and its read of the flag. */
	mimic_lane_fence();
	if (!mimicd_shard_has_work(shard)) {
		timeout = timeout_of(shard);
		shard->slept_until = shard->due;
		shard->sleeps = true;
		pthread_mutex_unlock(&shard->lock);
		epoll_wait(shard->epoll_fd, events, 8, timeout);
		pthread_mutex_lock(&shard->lock);
		shard->sleeps = false;
		shard->seen = mimic_now();
	}
	mimicd_shard_publish_sleep(shard, false);
	/* Operands did not wake us (mimic_kind.is_operand); the event that did may show them. */
	serve_once(shard);
}

static void *work(void *context)
{
	struct mimicd_shard *shard = context;

	mimicd_journal_use_log((unsigned int)(shard - shard->engine->shards) + 1);
	pthread_mutex_lock(&shard->lock);
	shard->seen = mimic_now();
	while (!shard->engine->shards_stop) {
		if (atomic_load(&shard->wanted) != NOT_WANTED)
			step_aside(shard);
		else if (serve(shard))
			sleep_until_woken(shard);
	}
	pthread_mutex_unlock(&shard->lock);
	return NULL;
}

/* --- on the loop's thread ------------------------------------------------------------ */

/* Messages that follow each other closely leave the lanes a round in between. */
static void let_have_turn(struct mimicd_shard *shard)
{
	uint64_t end = 0;

	while (atomic_load(&shard->is_owed)) {
		if (!end)
			end = mimic_now() + 2 * MIMICD_TURN_NS;
		else if (mimic_now() >= end)
			break;
		sched_yield();
	}
	atomic_store(&shard->is_owed, false);
}

static void wake(struct mimicd_shard *shard)
{
	const uint64_t one = 1;

	(void)!write(shard->wake_fd, &one, sizeof(one));
}

static void give_back(struct mimicd_shard *shard)
{
	/* Pairs with the fence of a client: its lane may be new here. */
	mimic_lane_fence();
	if (shard->sleeps && (mimicd_shard_has_work(shard) || shard->due != shard->slept_until ||
			      shard->engine->shards_stop))
		wake(shard);
	pthread_mutex_unlock(&shard->lock);
	if (atomic_load(&shard->wanted) == AWAITED)
		atomic_store(&shard->is_owed, true);
	if (atomic_exchange(&shard->wanted, NOT_WANTED) == AWAITED)
		mimic_futex_wake(&shard->wanted, 1, MIMIC_FUTEX_PRIVATE);
}

void mimicd_shards_hold(struct mimicd_engine *engine)
{
	if (engine->held++ || !engine->started)
		return;
	for (unsigned int i = 0; i < engine->started; i++)
		let_have_turn(&engine->shards[i]);
	/* All at once: each is given up at the end of a round. */
	for (unsigned int i = 0; i < engine->started; i++)
		atomic_store(&engine->shards[i].wanted, WANTED);
	for (unsigned int i = 0; i < engine->started; i++)
		pthread_mutex_lock(&engine->shards[i].lock);
	engine->loop_shard.seen = mimic_now();
}

void mimicd_shards_release(struct mimicd_engine *engine)
{
	/* Shards' threads go on with what this one has changed. */
	if (engine->held == 1)
		mimicd_step_commit(engine);
	if (--engine->held)
		return;
	for (unsigned int i = 0; i < engine->started; i++)
		give_back(&engine->shards[i]);
}

bool mimicd_shards_have_clients(const struct mimicd_engine *engine)
{
	for (unsigned int i = 0; i < engine->started; i++) {
		if (engine->shards[i].clients)
			return true;
	}
	return false;
}

uint64_t mimicd_shards_worked(const struct mimicd_engine *engine)
{
	uint64_t last = engine->loop_shard.now;

	for (unsigned int i = 0; i < engine->started; i++)
		last = last < engine->shards[i].now ? engine->shards[i].now : last;
	return last;
}

int mimicd_shard_start(struct mimicd_shard *shard)
{
	sigset_t all, before;
	int error;

	if (shard < shard->engine->shards + shard->engine->started)
		return 0;
	atomic_store(&shard->wanted, WANTED);
	pthread_mutex_lock(&shard->lock);
	sigfillset(&all);
	/* Faults that are handled where they come (holes.h, libmimic/base/probe.h). */
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&shard->thread, NULL, work, shard);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		pthread_mutex_unlock(&shard->lock);
		return -error;
	}
	pthread_setname_np(shard->thread, "mimicd shard");
	shard->engine->started++;
	return 0;
}

static int create(struct mimicd_shard *shard, struct mimicd_engine *engine)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	mimicd_shard_init(shard, engine);
	pthread_mutex_init(&shard->lock, NULL);
	shard->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	shard->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shard->epoll_fd < 0 || shard->wake_fd < 0 ||
	    epoll_ctl(shard->epoll_fd, EPOLL_CTL_ADD, shard->wake_fd, &event))
		return -errno;
	return 0;
}

int mimicd_shards_create(struct mimicd_engine *engine, unsigned int count)
{
	if (count < 2)
		return 0;
	engine->shards = calloc(count - 1, sizeof(*engine->shards));
	if (!engine->shards)
		return -ENOMEM;
	for (unsigned int i = 0; i < count - 1; i++) {
		int error = create(&engine->shards[i], engine);

		engine->shard_count = i + 1;
		if (error)
			return error;
	}
	return 0;
}

void mimicd_shards_stop(struct mimicd_engine *engine)
{
	mimicd_shards_hold(engine);
	engine->shards_stop = true;
	mimicd_shards_release(engine);
	for (unsigned int i = 0; i < engine->started; i++)
		pthread_join(engine->shards[i].thread, NULL);
	engine->started = 0;
}

void mimicd_shards_destroy(struct mimicd_engine *engine)
{
	for (unsigned int i = 0; i < engine->shard_count; i++) {
		struct mimicd_shard *shard = &engine->shards[i];

		mimicd_shard_destroy(shard);
		pthread_mutex_destroy(&shard->lock);
		if (shard->epoll_fd >= 0)
			close(shard->epoll_fd);
		if (shard->wake_fd >= 0)
			close(shard->wake_fd);
	}
	free(engine->shards);
	engine->shards = NULL;
	engine->shard_count = 0;
}
