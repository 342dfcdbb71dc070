/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/front_end.h"

#include <errno.h>

#include "daemon/engine/engine.h"

void mimicd_front_end_add(struct mimicd_engine *engine, struct mimicd_front_end *front_end)
{
	struct mimicd_front_end **link = &engine->front_ends;

	while (*link)
		link = &(*link)->next;
	front_end->next = NULL;
	*link = front_end;
}

void mimicd_front_end_remove(struct mimicd_engine *engine, struct mimicd_front_end *front_end)
{
	struct mimicd_front_end **link = &engine->front_ends;

	while (*link && *link != front_end)
		link = &(*link)->next;
	if (*link)
		*link = front_end->next;
}

bool mimicd_front_ends_poll(struct mimicd_engine *engine, bool is_idle)
{
	struct mimicd_front_end *front_end = engine->front_ends;
	bool worked = false;

	for (; front_end; front_end = front_end->next) {
		if (front_end->ops->poll)
			worked |= front_end->ops->poll(front_end->context, is_idle && !worked);
	}
	return worked;
}

int mimicd_front_ends_connect(struct mimicd_engine *engine, const struct mimicd_binding *binding, int *fd)
{
	struct mimicd_front_end *front_end = engine->front_ends;

	while (front_end && !front_end->ops->connect)
		front_end = front_end->next;
	return front_end ? front_end->ops->connect(front_end->context, binding, fd) : -EOPNOTSUPP;
}
