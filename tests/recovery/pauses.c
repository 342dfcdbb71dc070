/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that stops in the middle of one behaviour, so that its daemon can be killed there:
 *
 *   pauses NAME   prints "ready" when it is there, goes on at a line of standard input, and prints the result
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmaple/maple.h"
#include "libvirgo/virgo.h"

#define WORDS 100u	/* more than a queue holds */
#define PAUSE_US 20000u	/* so long that another thread's access waits in the device */
#define WAIT_MS 20000
#define HANGS_S 60	/* SIGALRM ends it then */

static long check(long result, const char *call)
{
	if (result >= 0)
		return result;
	printf("%s: %s\n", call, strerror((int)-result));
	fflush(stdout);
	_Exit(EXIT_FAILURE);
}

#define CHECK(call) check((long)(call), #call)

static void pause_here(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
}

static struct maple *open_maple(void)
{
	const struct maple_options options = { .device = "maple1", .transport = "daemon" };
	struct maple *maple;

	CHECK(maple_init(&maple, &options));
	return maple;
}

static void *consume_one(void *maple)
{
	uint32_t word = 0;

	CHECK(maple_open(maple, 0, MAPLE_CONSUMER));
	CHECK(maple_consume32(maple, 0, &word));
	printf("word %u\n", word);
	return NULL;
}

/* A thread waits for a word. */
static void wait_for_word(void)
{
	struct maple *maple = open_maple();
	pthread_t thread;

	CHECK(-pthread_create(&thread, NULL, consume_one, maple));
	usleep(PAUSE_US);
	pause_here();
	CHECK(maple_open(maple, 0, MAPLE_PRODUCER));
	CHECK(maple_produce32(maple, 0, 4711));
	pthread_join(thread, NULL);
	maple_fini(maple);
}

static void *post_and_end(void *maple)
{
	uint32_t words[WORDS];

	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = 1000 + i;
	CHECK(maple_open(maple, 1, MAPLE_PRODUCER));
	CHECK(maple_produce32_batch(maple, 1, words, WORDS));
	return NULL;
}

/* A thread has ended, and its last words wait for room. */
static void leave_posts(void)
{
	struct maple *maple = open_maple();
	uint32_t words[WORDS];
	pthread_t thread;

	CHECK(maple_open(maple, 1, MAPLE_CONSUMER));
	CHECK(-pthread_create(&thread, NULL, post_and_end, maple));
	pthread_join(thread, NULL);
	usleep(PAUSE_US);
	pause_here();
	CHECK(maple_consume32_batch(maple, 1, words, WORDS));
	for (uint32_t i = 0; i < WORDS; i++)
		CHECK(words[i] == 1000 + i ? 0 : -EILSEQ);
	printf("%u words\n", WORDS);
	maple_fini(maple);
}

static void *meet(void *virgo)
{
	CHECK(virgo_barrier(virgo, 0));
	puts("met");
	return NULL;
}

/* One thread waits at a barrier, another one will sleep until an event. */
static void wait_for_event(void)
{
	const struct virgo_options options = { .transport = "daemon" };
	struct virgo *virgo;
	struct pollfd entry = { .events = POLLIN };
	static char memory[4096];
	pthread_t thread;

	CHECK(virgo_open(&virgo, &options));
	CHECK(virgo_barrier_participants(virgo, 0, 2));
	CHECK(-pthread_create(&thread, NULL, meet, virgo));
	entry.fd = (int)CHECK(virgo_event_fd(virgo, VIRGO_EVENT_IDLE(0)));
	usleep(PAUSE_US);
	pause_here();
	CHECK(virgo_config_load(virgo, 0, 0, 16, 1, 0));
	CHECK(virgo_mvin(virgo, 0, 0, memory, 0, 4, 4));
	CHECK(virgo_flush(virgo, 0));
	CHECK(poll(&entry, 1, WAIT_MS) == 1 ? 0 : -ETIMEDOUT);
	puts("event");
	CHECK(virgo_barrier(virgo, 0));
	pthread_join(thread, NULL);
	virgo_close(virgo);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "word", wait_for_word }, { "posts", leave_posts }, { "event", wait_for_event },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (argc != 2 || strcmp(argv[1], all[i].name))
			continue;
		alarm(HANGS_S);
		all[i].run();
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	fputs("usage: pauses word|posts|event\n", stderr);
	return 2;
}
