/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Two threads: one sends pointers to MAPLE, the other consumes the fetched words. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <maple.h>

#define COUNT 1000

static struct maple *maple;
static uint32_t data[COUNT];
static uint32_t place[COUNT];

static void *produce(void *argument)
{
	(void)argument;
	if (maple_open(maple, 0, MAPLE_PRODUCER))
		exit(3);
	for (unsigned int i = 0; i < COUNT; i++)
		if (maple_produce_ptr32(maple, 0, &data[place[i]], MAPLE_DRAM))
			exit(3);
	return maple_close(maple, 0, MAPLE_PRODUCER) ? argument : NULL;
}

static uint64_t consume(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < COUNT; i++) {
		uint32_t value;

		if (maple_consume32(maple, 0, &value))
			exit(3);
		sum += (uint64_t)value * (i + 1);
	}
	return sum;
}

int main(void)
{
	uint64_t expected = 0, sum;
	pthread_t thread;

	for (unsigned int i = 0; i < COUNT; i++) {
		data[i] = i * 2654435761u;
		place[i] = i * 7 % COUNT;
	}
	for (unsigned int i = 0; i < COUNT; i++)
		expected += (uint64_t)data[place[i]] * (i + 1);
	if (maple_init(&maple, NULL) || maple_open(maple, 0, MAPLE_CONSUMER)) {
		fprintf(stderr, "%s\n", maple_error_text());
		return 3;
	}
	pthread_create(&thread, NULL, produce, NULL);
	sum = consume();
	pthread_join(thread, NULL);
	printf("%s %s\n", maple_transport(maple), sum == expected ? "right" : "wrong");
	maple_fini(maple);
	return sum != expected;
}
