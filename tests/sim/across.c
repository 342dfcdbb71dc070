/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Accesses whose bytes lie in two pages. The pages are touched in the order first, third, second, so that the
 * frame behind the first one's is the third one's. The lines at the edge of the first two are in the L1, the third's is not.
 */
#include <stdint.h>
#include <string.h>

#include <mimic/sim.h>

#define PAGE 4096

struct __attribute__((packed)) word {
	uint64_t value;
};

static _Alignas(PAGE) volatile char pages[3 * PAGE];
static char copy[16];

int main(int argc, char **argv)
{
	volatile struct word *across = (volatile struct word *)&pages[PAGE - 3];
	size_t size = (size_t)argc * sizeof(copy);

	(void)argv;
	pages[PAGE - 1] = 1;
	pages[2 * PAGE + PAGE / 2] = 1;
	pages[PAGE] = 1;
	memset(copy, 0, size);
	/* So long that all of these stores have left their buffer. */
	for (unsigned int i = 0; i < 2000; i++)
		pages[0];
	mimic_sim_phase_begin("load");
	across->value;
	mimic_sim_phase_end();
	mimic_sim_phase_begin("store");
	across->value = 2;
	/* The store leaves its buffer meanwhile. */
	for (unsigned int i = 0; i < 100; i++)
		pages[PAGE - 1];
	mimic_sim_phase_end();
	mimic_sim_phase_begin("copy");
	memcpy(copy, (const char *)pages + PAGE - 3, size);
	mimic_sim_phase_end();
	return 0;
}
