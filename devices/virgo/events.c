/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Events of the cluster: its parts raise them, and the host is interrupted by those that are enabled. */
#include "devices/virgo/virgo_internal.h"

void virgo_raise(struct virgo *v, uint32_t events)
{
	uint32_t before = v->cluster.events & v->cluster.events_enabled;

	v->cluster.events |= events;
	/* 0: the enabled events have changed */
	if (events && !(events & v->cluster.events_enabled & ~before))
		return;
	if (v->cluster.events & v->cluster.events_enabled && v->host.interrupt)
		v->host.interrupt(v->host.context);
}
