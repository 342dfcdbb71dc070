/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/process.h"

#include <stdlib.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/function.h"

/* --- owners ----------------------------------------------------------------- */

static struct mimicd_owner **chain_of(struct mimicd_process *process, uint64_t number)
{
	return &process->owners[(number >> MIMICD_OWNER_SHIFT) % MIMICD_THREAD_CHAINS];
}

static struct mimicd_owner *create(struct mimicd_process *process, uint64_t number, pid_t tid)
{
	struct mimicd_owner *owner = calloc(1, sizeof(*owner));
	struct mimicd_owner **chain = chain_of(process, number);

	if (!owner)
		return NULL;
	owner->number = number;
	owner->tid = tid;
	owner->next = *chain;
	*chain = owner;
	return owner;
}

struct mimicd_owner *mimicd_owner_create(struct mimicd_engine *engine, struct mimicd_process *process,
					 pid_t tid)
{
	/* The low bits are a thread's number at its client; here there is none. */
	return create(process, ++engine->last_owner << MIMICD_OWNER_SHIFT, tid);
}

struct mimicd_owner *mimicd_owner_adopt(struct mimicd_process *process, uint64_t number, pid_t tid)
{
	struct mimicd_owner *owner = *chain_of(process, number);

	while (owner && owner->number != number)
		owner = owner->next;
	if (!owner)
		return create(process, number, tid);
	/* One of its records is older than the end of the thread that had this tid. */
	if (!tid)
		owner->tid = 0;
	return owner;
}

struct mimicd_owner *mimicd_owner_of_tid(struct mimicd_process *process, pid_t tid)
{
	for (unsigned int i = 0; tid && i < MIMICD_THREAD_CHAINS; i++) {
		for (struct mimicd_owner *owner = process->owners[i]; owner; owner = owner->next) {
			if (owner->tid == tid)
				return owner;
		}
	}
	return NULL;
}

void mimicd_owner_free_unused(struct mimicd_process *process, struct mimicd_owner *owner)
{
	struct mimicd_owner **link = chain_of(process, owner->number);

	if (owner->traps || owner->thread)
		return;
	while (*link != owner)
		link = &(*link)->next;
	*link = owner->next;
	free(owner);
}

/* --- processes -------------------------------------------------------------- */

struct mimicd_process *mimicd_process_get(struct mimicd_process **list, uint32_t number)
{
	struct mimicd_process *process = *list;

	while (process && process->number != number)
		process = process->next;
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->number = number;
	process->list = list;
	process->next = *list;
	*list = process;
	return process;
}

struct mimicd_process *mimicd_process_find(const struct mimicd_engine *engine, uint32_t number)
{
	const struct mimicd_binding *binding = engine->bindings;

	while (binding && binding->process->number != number)
		binding = binding->next;
	return binding ? binding->process : NULL;
}

void mimicd_process_free_unused(struct mimicd_process *process)
{
	struct mimicd_process **link = process->list;

	if (process->bindings || process->clients)
		return;
	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	free(process);
}

struct mimicd_owner *mimicd_process_join(struct mimicd_engine *engine, struct mimicd_process *process,
					 struct mimicd_thread *thread, pid_t tid)
{
	struct mimicd_owner *owner = mimicd_owner_of_tid(process, tid);

	if (!owner || owner->thread)
		owner = mimicd_owner_create(engine, process, owner ? 0 : tid);
	if (owner)
		owner->thread = thread;
	return owner;
}

void mimicd_process_leave(struct mimicd_process *process, struct mimicd_owner *owner)
{
	owner->thread = NULL;
	mimicd_owner_free_unused(process, owner);
}
