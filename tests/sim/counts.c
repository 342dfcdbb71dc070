/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Accesses that one can count by hand, each kind in a phase of its own. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mimic/sim.h>

#define COUNT 1000

static _Alignas(4096) uint32_t words[COUNT];
static _Alignas(4096) uint64_t longs[COUNT];
static _Alignas(4096) volatile uint16_t volatiles[COUNT];
static _Alignas(4096) struct big { char bytes[64]; } structures[2];
static _Alignas(4096) _Atomic uint32_t counter;
static _Alignas(4096) char packed[COUNT * 9];

__attribute__((noinline)) static uint32_t read_words(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < COUNT; i++)
		sum += words[i];
	return sum;
}

__attribute__((noinline)) static void write_longs(uint64_t value)
{
	for (int i = 0; i < COUNT; i++)
		longs[i] = value + (uint64_t)i;
}

__attribute__((noinline)) static unsigned int read_volatiles(void)
{
	unsigned int sum = 0;

	for (int i = 0; i < COUNT; i++)
		sum += volatiles[i];
	return sum;
}

__attribute__((noinline)) static uint32_t count_atomically(void)
{
	uint32_t last = 0;

	for (int i = 0; i < COUNT; i++)
		last = atomic_fetch_add(&counter, 2);
	return last;
}

__attribute__((noinline)) static void copy_structure(struct big *to, const struct big *from)
{
	*to = *from;
}

__attribute__((noinline)) static uint64_t read_unaligned(void)
{
	uint64_t sum = 0, value;

	for (int i = 0; i < COUNT; i++) {
		memcpy(&value, packed + 9 * i, sizeof(value));
		sum += value;
	}
	return sum;
}

__attribute__((noinline)) static void prefetch_words(void)
{
	for (int i = 0; i < COUNT; i++)
		__builtin_prefetch(&words[i]);
}

int main(void)
{
	uint64_t sum = 0;

	mimic_sim_phase_begin("words");
	sum += read_words();
	mimic_sim_phase_begin("longs");
	write_longs(3);
	mimic_sim_phase_begin("volatiles");
	sum += read_volatiles();
	mimic_sim_phase_begin("atomics");
	sum += count_atomically();
	mimic_sim_phase_begin("structure");
	copy_structure(&structures[1], &structures[0]);
	mimic_sim_phase_begin("unaligned");
	sum += read_unaligned();
	mimic_sim_phase_begin("prefetches");
	prefetch_words();
	mimic_sim_phase_begin("again");
	sum += read_words();
	mimic_sim_phase_end();
	printf("%llu %d\n", (unsigned long long)(sum + longs[COUNT - 1]), mimic_sim_is_on());
	return 0;
}
