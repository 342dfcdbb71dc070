/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* 1024 words read again and again: the counters after mimic_sim_reset(), or with --warm. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "maple.h"
#include <mimic/sim.h>

#define COUNT 1024

/* Not static: gcc would know that nobody writes it. */
_Alignas(4096) uint32_t words[COUNT];

/* noipa: it must be called even where nobody takes its sum. */
__attribute__((noipa)) static uint32_t read_words(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < COUNT; i++)
		sum += words[i];
	return sum;
}

static uint32_t read_in_phase(const char *name)
{
	uint32_t sum;

	mimic_sim_phase_begin(name);
	sum = read_words();
	mimic_sim_phase_end();
	return sum;
}

static void *read_and_reset(void *argument)
{
	read_words();
	mimic_sim_reset();
	read_words();
	return argument;
}

static int exchange(struct maple *maple, uint32_t count)
{
	uint32_t value = 0, wrong = 0;

	for (uint32_t i = 0; i < count; i++)
		wrong |= (uint32_t)maple_produce32(maple, 0, i) | (uint32_t)maple_consume32(maple, 0, &value) | (value ^ i);
	return wrong != 0;
}

static int use_device(void)
{
	struct maple *maple;
	int wrong;

	if (maple_init(&maple, NULL) || maple_open(maple, 0, MAPLE_PRODUCER) || maple_open(maple, 0, MAPLE_CONSUMER))
		return 1;
	wrong = exchange(maple, 10);
	mimic_sim_reset();
	wrong |= exchange(maple, 5);
	maple_fini(maple);
	return wrong;
}

int main(int argc, char **argv)
{
	char way = argc > 1 ? argv[1][0] : 'r';
	pthread_t thread;

	switch (way) {
	case 'r':	/* reset */
		if (read_words())
			return 1;
		mimic_sim_reset();
		return read_words() != 0;
	case 'o':	/* open phase */
		read_in_phase("before");
		mimic_sim_phase_begin("open");
		read_words();
		mimic_sim_reset();
		read_words();
		mimic_sim_phase_end();
		return 0;
	case 'p':	/* phases */
		for (int i = 0; i < 3; i++)
			read_in_phase("three");
		read_in_phase("one");
		return 0;
	case 't':	/* thread */
		pthread_create(&thread, NULL, read_and_reset, NULL);
		pthread_join(thread, NULL);
		return 0;
	default:	/* device */
		return use_device();
	}
}
