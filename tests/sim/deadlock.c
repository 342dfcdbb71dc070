/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A consumer without a producer, and two threads that wait for each other's mutex. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <maple.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *other(void *argument)
{
	pthread_mutex_lock(&second);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&first);
	return argument;
}

static int consume(void)
{
	struct maple *maple;
	uint32_t value;

	if (maple_init(&maple, NULL) || maple_open(maple, 2, MAPLE_CONSUMER))
		return 3;
	return maple_consume32(maple, 2, &value);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	puts("begins");
	if (argc > 1 && !strcmp(argv[1], "consume"))
		return consume();
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	pthread_mutex_lock(&first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&second);
	return 0;
}
