/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The promises of pthreads hold in virtual time. Prints the errors, or "right". */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 200

static int failures;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_key_t key;
static sem_t semaphore;
static long counters[3], turns, destroyed, initialised;
static _Thread_local int own;

#define CHECK(condition_) \
	do { \
		if (condition_) \
			break; \
		printf("wrong: line %d: %s\n", __LINE__, #condition_); \
		failures++; \
	} while (0)

static void *run(void *(*start)(void *), void *argument)
{
	pthread_t thread;
	void *result = NULL;

	CHECK(!pthread_create(&thread, NULL, start, argument));
	start(argument);
	CHECK(!pthread_join(thread, &result));
	return result;
}

/* --- one after the other ------------------------------------------------------------------ */

static void *add(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		counters[0]++;
		pthread_mutex_unlock(&mutex);
		pthread_spin_lock(&spin);
		counters[1]++;
		pthread_spin_unlock(&spin);
		pthread_rwlock_wrlock(&rwlock);
		counters[2]++;
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	return argument;
}

static void *take_turns(void *argument)
{
	static long threads;
	long mine;

	pthread_mutex_lock(&mutex);
	CHECK(pthread_mutex_trylock(&mutex) == EBUSY);
	mine = threads++;
	for (int i = 0; i < ROUNDS; i++) {
		while ((turns & 1) != mine)
			pthread_cond_wait(&condition, &mutex);
		turns++;
		pthread_cond_signal(&condition);
	}
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void *meet(void *argument)
{
	static long arrived;
	long *serial = argument;

	for (int i = 1; i <= ROUNDS; i++) {
		__atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			++*serial;
		CHECK(__atomic_load_n(&arrived, __ATOMIC_RELAXED) == 2 * i);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* --- a thread's own variables ---------------------------------------------------------------- */

static void destroy(void *value)
{
	destroyed += value == &key;
}

static void *keep_own(void *argument)
{
	int mine = own = argument ? 1 : 2;
	void *memory;

	pthread_setspecific(key, argument);
	errno = mine;
	for (int i = 0; i < ROUNDS; i++) {
		memory = malloc((size_t)(100 + i));
		memset(memory, mine, (size_t)(100 + i));
		sched_yield();
		CHECK(own == mine && errno == mine && pthread_getspecific(key) == argument);
		free(memory);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

static void *owner(void *argument)
{
	own = 7;
	pthread_setspecific(key, &key);
	return keep_own(argument);
}

static void *leave(void *argument)
{
	pthread_setspecific(key, &key);
	pthread_exit(argument);
}

/* --- one for another -------------------------------------------------------------------------- */

static void initialise(void)
{
	sched_yield();
	initialised++;
}

static void *do_once(void *argument)
{
	pthread_once(&once, initialise);
	CHECK(initialised == 1);
	return argument;
}

static void *post(void *argument)
{
	const struct timespec pause = { .tv_nsec = 50000 };

	nanosleep(&pause, NULL);
	sem_post(&semaphore);
	return argument;
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void wait_for_others(void)
{
	struct timespec deadline;
	pthread_attr_t attributes;
	pthread_t thread;
	uint64_t before;

	sem_init(&semaphore, 0, 0);
	before = now(CLOCK_MONOTONIC);
	CHECK(!pthread_create(&thread, NULL, post, NULL));
	CHECK(!sem_wait(&semaphore) && now(CLOCK_MONOTONIC) - before >= 50000);
	CHECK(!pthread_join(thread, NULL));
	CHECK(sem_trywait(&semaphore) && errno == EAGAIN);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += 1000;
	CHECK(sem_timedwait(&semaphore, &deadline) && errno == ETIMEDOUT);
	pthread_mutex_lock(&mutex);
	deadline.tv_nsec += 100000;
	deadline.tv_sec += deadline.tv_nsec / 1000000000;
	deadline.tv_nsec %= 1000000000;
	CHECK(pthread_cond_timedwait(&condition, &mutex, &deadline) == ETIMEDOUT);
	CHECK(now(CLOCK_REALTIME) >= (uint64_t)deadline.tv_sec * 1000000000u + (uint64_t)deadline.tv_nsec);
	pthread_mutex_unlock(&mutex);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	CHECK(!pthread_create(&thread, &attributes, post, NULL));
	CHECK(!sem_wait(&semaphore));
}

static void lock_twice(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t checked;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &attributes);
	CHECK(!pthread_mutex_lock(&checked) && pthread_mutex_lock(&checked) == EDEADLK);
	CHECK(!pthread_mutex_unlock(&checked) && pthread_mutex_unlock(&checked) == EPERM);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&checked, &attributes);
	CHECK(!pthread_mutex_lock(&checked) && !pthread_mutex_lock(&checked));
}

int main(void)
{
	pthread_t thread;
	long serial = 0;
	void *result;

	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_key_create(&key, destroy);
	CHECK(run(add, &key) == &key);
	for (int i = 0; i < 3; i++)
		CHECK(counters[i] == 2 * ROUNDS);
	run(take_turns, NULL);
	CHECK(turns == 2 * ROUNDS);
	run(meet, &serial);
	CHECK(serial == ROUNDS);
	CHECK(!pthread_create(&thread, NULL, owner, &key));
	keep_own(NULL);
	CHECK(!pthread_join(thread, &result) && result == &key && destroyed == 1);
	CHECK(!pthread_create(&thread, NULL, leave, counters));
	CHECK(!pthread_join(thread, &result) && result == counters && destroyed == 2);
	run(do_once, NULL);
	wait_for_others();
	lock_twice();
	/* Cores are free again: as many threads as one likes, one after the other. */
	for (int i = 0; i < 20; i++)
		run(do_once, NULL);
	puts(failures ? "wrong" : "right");
	return failures != 0;
}
