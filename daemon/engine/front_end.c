/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/front_end.h"

#include <errno.h>

#include "daemon/engine/engine.h"

void mimicd_front_end_add(struct mimicd_engine *engine, struct mimicd_front_end *front_end)
{
	front_end->next = engine->front_ends;
	engine->front_ends = front_end;
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

bool mimicd_front_ends_have_bus(const struct mimicd_engine *engine)
{
	const struct mimicd_front_end *front_end = engine->front_ends;

	while (front_end && !front_end->ops->add_device)
		front_end = front_end->next;
	return front_end;
}

int mimicd_front_ends_add_device(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	struct mimicd_front_end *front_end = engine->front_ends;
	int error = 0;

	for (; front_end && !error; front_end = front_end->next) {
		if (front_end->ops->add_device)
			error = front_end->ops->add_device(front_end->context, instance);
	}
	return error;
}

void mimicd_front_ends_record(struct mimicd_engine *engine)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->record)
			front_end->ops->record(front_end->context);
	}
}

void mimicd_front_ends_publish(struct mimicd_engine *engine)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->publish)
			front_end->ops->publish(front_end->context);
	}
}

void mimicd_front_ends_recovered(struct mimicd_engine *engine)
{
	for (struct mimicd_front_end *front_end = engine->front_ends; front_end; front_end = front_end->next) {
		if (front_end->ops->recovered)
			front_end->ops->recovered(front_end->context);
	}
}
