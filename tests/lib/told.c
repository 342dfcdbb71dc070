/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/mimic.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char line[512];
static atomic_uint count;

static void tell(void *context, const char *text)
{
	/* The context is the one that was given, and a line is one line. */
	if (context != &count || strchr(text, '\n'))
		text = "no line";
	pthread_mutex_lock(&lock);
	snprintf(line, sizeof(line), "%s", text);
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&count, 1);
}

void told_begin(unsigned int milliseconds)
{
	atomic_store(&count, 0);
	line[0] = 0;
	mimic_patience(milliseconds, tell, &count);
}

void told_end(void)
{
	mimic_patience(0, NULL, NULL);
}

unsigned int told_count(void)
{
	return atomic_load(&count);
}

bool told_wait(unsigned int wanted)
{
	for (int i = 0; i < 2000 && told_count() < wanted; i++)
		usleep(10000);
	return told_count() >= wanted;
}

const char *told_line(void)
{
	return line;
}

const char *told_wait_of(const char *device)
{
	unsigned long thread;
	char name[64];
	double seconds;
	int length = 0;

	if (sscanf(line, "%63[^:]: thread %lu has waited %lf s for %n", name, &thread, &seconds, &length) !=
		    3 ||
	    !length)
		fail_msg("'%s'", line);
	assert_string_equal(name, device);
	return line + length;
}

static void *run(void *thread)
{
	((struct told_thread *)thread)->run();
	return NULL;
}

void told_start(struct told_thread *thread, void (*function)(void))
{
	thread->run = function;
	assert_int_equal(pthread_create(&thread->thread, NULL, run, thread), 0);
}

void told_join(struct told_thread *thread)
{
	assert_int_equal(pthread_join(thread->thread, NULL), 0);
}
