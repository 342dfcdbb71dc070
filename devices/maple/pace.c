/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Steps in virtual time (struct mimic_pace): the timed device says how far the model may go. */
#include "devices/maple/maple_internal.h"

size_t maple_pace_ask(struct maple *m, unsigned int number, enum maple_step step, size_t n)
{
	return m->host.pace->begin(m->host.pace->context, number, step, n);
}

void maple_pace_tell(struct maple *m, unsigned int number, enum maple_step step, size_t n)
{
	m->host.pace->end(m->host.pace->context, number, step, n);
}

size_t maple_pace_fetch(struct maple *m, unsigned int number, uint64_t *addresses, size_t n,
			unsigned int size, enum maple_step step)
{
	enum maple_fault_source source = step < MAPLE_STEP_LIMA_CHUNK ? MAPLE_FAULT_PIPES : MAPLE_FAULT_LIMA;

	n = maple_pace_ask(m, number, step, n);
	if (!n)
		return 0;
	n = maple_fetch_into_queue(m, number, addresses, n, size, source);
	maple_pace_tell(m, number, step, n);
	return n;
}

void maple_pace_drop(struct maple *m, unsigned int number)
{
	m->host.pace->drop(m->host.pace->context, number);
}
