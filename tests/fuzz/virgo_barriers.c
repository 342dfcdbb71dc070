/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/fuzz/virgo_barriers.h"

#include <string.h>

#include "tests/fuzz/virgo_side.h"

#define COMPARED 4	/* barriers that are used */

static struct {
	unsigned int participants;
	uint64_t opened;
	bool waits[OWNERS];
} barriers[COMPARED];
/* The owners that the model has to answer in this call, and its answers. */
static uint64_t answer[OWNERS];
static bool is_due[OWNERS];

static unsigned int arrived(unsigned int barrier)
{
	unsigned int n = 0;

	for (unsigned int owner = 0; owner < OWNERS; owner++)
		n += barriers[barrier].waits[owner];
	return n;
}

static unsigned int participants(unsigned int barrier)
{
	return barriers[barrier].participants ? barriers[barrier].participants : side.config.cores;
}

static void open_barrier(unsigned int barrier)
{
	for (unsigned int owner = 0; owner < OWNERS; owner++) {
		if (!barriers[barrier].waits[owner])
			continue;
		barriers[barrier].waits[owner] = false;
		is_due[owner] = true;
		answer[owner] = barriers[barrier].opened;
	}
	barriers[barrier].opened++;
}

void barriers_start(void)
{
	memset(barriers, 0, sizeof(barriers));
	memset(is_due, 0, sizeof(is_due));
}

void barriers_reset(void)
{
	barriers_start();
}

void barriers_complete(unsigned int owner, uint64_t data)
{
	if (virgo_expected_releasing == UNITS)
		return;
	CHECK(is_due[owner] && data == answer[owner]);
	is_due[owner] = false;
}

void barriers_withdraw(unsigned int owner)
{
	for (unsigned int i = 0; i < COMPARED; i++)
		barriers[i].waits[owner] = false;
}

static void all_were_answered(void)
{
	for (unsigned int owner = 0; owner < OWNERS; owner++)
		CHECK(!is_due[owner]);
}

void barriers_arrive(unsigned int owner, unsigned int barrier)
{
	unsigned int n = barrier % COMPARED;
	struct mimic_access access = {
		.owner = owner, .page = VIRGO_PAGE_CONTROL, .offset = VIRGO_BARRIER_WAIT(n), .size = 8,
	};
	uint64_t before = barriers[n].opened;
	bool opens = arrived(n) + 1 >= participants(n);

	if (opens)
		open_barrier(n);
	CHECK(virgo_side_access(&access) == (opens ? MIMIC_DONE : MIMIC_PARKED));
	if (opens)
		CHECK(access.data == before);
	else
		barriers[n].waits[owner] = true;
	all_were_answered();
}

void barriers_set_participants(unsigned int barrier, unsigned int count)
{
	unsigned int n = barrier % COMPARED;

	barriers[n].participants = count;
	if (arrived(n) && arrived(n) >= participants(n))
		open_barrier(n);
	virgo_side_store(VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(n), count);
	all_were_answered();
}

void barriers_compare(void)
{
	for (unsigned int i = 0; i < COMPARED; i++)
		CHECK(virgo_side_load(VIRGO_PAGE_CONTROL, VIRGO_BARRIER_STATUS(i)) ==
		      (barriers[i].opened << 8 | arrived(i)));
}
