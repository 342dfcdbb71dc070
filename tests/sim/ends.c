/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Ways in which a program, its threads and its children end. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int data[100];
static volatile int stays;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;

static void work(void)
{
	for (int i = 0; i < 100; i++)
		data[i]++;
}

static void *do_exit(void *argument)
{
	work();
	exit(*(const int *)argument);
}

static void *do_work(void *argument)
{
	work();
	puts("worked");
	return argument;
}

static int forks(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		pthread_t thread;

		/* Of its own, and of the system: it runs as always. */
		pthread_create(&thread, NULL, do_work, NULL);
		pthread_join(thread, NULL);
		exit(data[0]);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	return system("exit 5") == 5 << 8 ? 0 : 1;
}

static void *stay(void *argument)
{
	while (stays)
		work();
	return argument;
}

/* Calls with a time limit wait until then, and no longer. */
static int times_out(void)
{
	pthread_condattr_t attributes;
	struct timespec soon;
	pthread_t thread;
	int late = 0;

	stays = 1;
	pthread_create(&thread, NULL, stay, NULL);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 10000;
	late += pthread_tryjoin_np(thread, NULL) != EBUSY;
	late += pthread_timedjoin_np(thread, NULL, &soon) != ETIMEDOUT;
	stays = 0;
	late += pthread_join(thread, NULL) != 0;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&condition, &attributes);
	pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_MONOTONIC, &soon);
	soon.tv_nsec += 10000;
	late += pthread_cond_timedwait(&condition, &mutex, &soon) != ETIMEDOUT;
	clock_gettime(CLOCK_MONOTONIC, &soon);
	late += soon.tv_nsec < 10000;
	soon.tv_nsec += 10000;
	late += pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon) != ETIMEDOUT;
	return late;
}

int main(int argc, char **argv)
{
	static int status = 4;
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t thread;

	work();
	if (!strcmp(way, "fork"))
		return forks();
	if (!strcmp(way, "times"))
		return times_out();
	if (!strcmp(way, "crash"))
		raise(SIGABRT);
	if (!strcmp(way, "_exit"))
		_exit(6);
	if (!strcmp(way, "exit")) {
		pthread_create(&thread, NULL, do_exit, &status);
		pthread_join(thread, NULL);
	}
	if (!strcmp(way, "pthread_exit")) {
		pthread_create(&thread, NULL, do_work, NULL);
		pthread_exit(NULL);
	}
	return 7;
}
