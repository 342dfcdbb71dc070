/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that knows nothing of mimic's libraries: it uses MAPLE by loads and stores of pages
 * of /dev/maple0, or of its physical addresses ("physical"). Two threads: one gives MAPLE pointers
 * to irregular elements, one consumes the fetched elements. "round_trips": only loads before that. "forks":
 * first of all a child uses a device of its own. "node_first", "physical_first": one thread has the page of
 * the node and the other one the physical address, which are one device in virtual time.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unmodified/contract.h"

#define ELEMENTS 256u
#define QUEUE 1u
#define ROUND_TRIPS 100u

static void *maple;
static void *consumer;	/* MAPLE as the consuming thread has it */
static uint32_t values[ELEMENTS * 64];
static unsigned int indices[ELEMENTS];
static uint32_t sum;

static void access_elements(void)
{
	store64(maple, SET_BASE32, QUEUE, address_of(values));
	for (unsigned int i = 0; i < ELEMENTS; i++)
		store64(maple, POINTER32, QUEUE, indices[i]);
}

/* It comes first: MAPLE answers when the queue has an element. */
static void *execute(void *unused)
{
	(void)unused;
	CHECK(load32(consumer, OPEN_CONSUMER, QUEUE) & 1);
	for (unsigned int i = 0; i < ELEMENTS; i++)
		sum += load32(consumer, CONSUME, QUEUE);
	return NULL;
}

static void round_trips(void)
{
	for (unsigned int i = 0; i < ROUND_TRIPS; i++)
		CHECK(load32(maple, CLOSE_CONSUMER, 3) == 0);
}

static void *map_maple(void)
{
	return map_or_die(open_or_die("/dev/maple0"), 0);
}

static void use_in_child(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		maple = map_maple();
		load32(maple, RESET, 0);
		_exit(load32(maple, INIT, WORDS_32) == 2 ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void find_maple(const char *how)
{
	void *tile = (void *)tile_address(PHYSICAL_MAPLE, 0);

	maple = strcmp(how, "physical") && strcmp(how, "physical_first") ? map_maple() : tile;
	consumer = maple;
	if (!strcmp(how, "node_first"))
		consumer = tile;
	if (!strcmp(how, "physical_first")) {
		load32(maple, RESET, 0);
		consumer = map_maple();
	}
}

int main(int argc, char **argv)
{
	pthread_t executing;
	uint32_t expected = 0;

	if (argc > 1 && !strcmp(argv[1], "forks"))
		use_in_child();
	find_maple(argc > 1 ? argv[1] : "node");
	for (unsigned int i = 0; i < ELEMENTS; i++)
		indices[i] = i * 167 % ELEMENTS * 64;
	for (unsigned int i = 0; i < ELEMENTS * 64; i++)
		values[i] = i * 3;
	for (unsigned int i = 0; i < ELEMENTS; i++)
		expected += values[indices[i]];
	load32(maple, RESET, 0);
	CHECK(load32(maple, INIT, WORDS_32) == 2);
	CHECK(load32(maple, OPEN_PRODUCER, QUEUE) & 2);
	round_trips();
	if (argc > 1 && !strcmp(argv[1], "round_trips")) {
		puts("right");
		return 0;
	}
	CHECK(!pthread_create(&executing, NULL, execute, NULL));
	access_elements();
	CHECK(!pthread_join(executing, NULL));
	printf("%s\n", sum == expected ? "right" : "wrong");
	return sum != expected;
}
