/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/trap.h"

#include <errno.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/inject.h"
#include "devices/register.h"
#include "libmimic/base/clock.h"

static void unpark(struct mimicd_trap *trap)
{
	trap->is_parked = false;
	if (trap->owner)
		trap->owner->trap = NULL;
	trap->owner = NULL;
}

void mimicd_trap_withdraw(struct mimicd_trap *trap)
{
	unpark(trap);
	mimicd_instance_withdraw(trap->instance, &trap->waiter);
}

void mimicd_trap_forget(struct mimicd_trap *trap)
{
	unpark(trap);
	mimicd_instance_remove_waiter(trap->instance, &trap->waiter);
}

/* The model has answered. */
static void complete(void *context, uint64_t data)
{
	struct mimicd_trap *trap = context;

	unpark(trap);
	trap->complete(trap, data);
}

static void park(struct mimicd_trap *trap, uint64_t owner)
{
	trap->is_parked = true;
	trap->waiter = (struct mimicd_waiter){ .owner = owner, .complete = complete, .context = trap };
	if (trap->owner)
		trap->owner->trap = trap;
	mimicd_instance_add_waiter(trap->instance, &trap->waiter);
}

/* Posts that the process's threads made on lanes come before an access that waits for its answer. */
static bool drain_lanes(struct mimicd_engine *engine, const struct mimicd_process *process)
{
	struct mimicd_client *client = engine->clients;

	for (; process->clients && client; client = client->next) {
		if (client->process == process && !client->broken && !mimicd_lanes_drain(client))
			return false;
	}
	return true;
}

/* A thread has one access at a time: the one that this one interrupts is taken back. */
static void make_way(struct mimicd_owner *owner)
{
	struct mimicd_trap *other;

	if (owner->thread && owner->thread->parked)
		mimicd_lane_withdraw(owner->thread->parked);
	other = owner->trap;
	if (!other)
		return;
	/* A driver does not ask twice for one thread, unless it has given the first one up. */
	mimicd_trap_withdraw(other);
	other->withdrawn(other);
}

int mimicd_trap_begin(struct mimicd_trap *trap, struct mimicd_binding *binding,
		      struct mimicd_owner *owner)
{
	struct mimicd_engine *engine = trap->instance->engine;

	engine->loop_shard.now = mimic_now();
	trap->owner = owner;
	if (!binding)
		return mimicd_instance_find_waiter(trap->instance, MIMICD_OWNER_DRIVER) ? -EBUSY : 0;
	if (!drain_lanes(engine, binding->process))
		return -EAGAIN;
	binding->accesses++;
	make_way(owner);
	return 0;
}

enum mimic_outcome mimicd_trap_access(struct mimicd_trap *trap, struct mimic_access *access)
{
	struct mimicd_instance *instance = trap->instance;
	enum mimic_outcome outcome;

	outcome = instance->model->ops->access(instance->model, access, instance->shard->now);
	if (outcome == MIMIC_PARKED)
		park(trap, access->owner);
	instance->shard->busy |= instance->model->ops->busy(instance->model);
	return outcome;
}

bool mimicd_trap_is_lost(struct mimicd_instance *instance, const struct mimic_access *access)
{
	enum mimic_role role = mimic_register_role(instance->kind, access);

	if (role == MIMIC_ROLE_RESOLVE)
		return instance->injection.ignores_resolve;
	if (role != MIMIC_ROLE_ATTACH)
		return false;
	return !mimicd_binding_attach(instance, mimic_attach_context(access->data),
				      mimic_attach_space(access->data));
}

/* Of the loads of the fault register, those that show a fault, may be falsified. */
uint64_t mimicd_trap_driver_answer(struct mimicd_instance *instance, const struct mimic_access *access)
{
	if (!access->data || mimic_register_role(instance->kind, access) != MIMIC_ROLE_FAULT)
		return access->data;
	return mimicd_inject_fault_address(&instance->injection, access->data);
}
