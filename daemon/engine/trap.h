/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Accesses that do not come by a lane: a front end has trapped them, one at a time, of a
 * thread of a bound process or of the device's function driver.
 */
#ifndef MIMICD_TRAP_H
#define MIMICD_TRAP_H

#include "daemon/engine/binding.h"
#include "daemon/engine/instance.h"

/* The function driver's number as an owner; those of threads are larger. */
#define MIMICD_OWNER_DRIVER 1u

/* The front end embeds it in its request, and fills in the instance and the two functions. */
struct mimicd_trap {
	struct mimicd_instance *instance;
	/* The access waited, and is over; for a load `data` is its answer. */
	void (*complete)(struct mimicd_trap *trap, uint64_t data);
	/* It waited, and was taken back: a later access of its thread has come. It has no effect. */
	void (*withdrawn)(struct mimicd_trap *trap);

	struct mimicd_owner *owner;	/* NULL: the function driver's */
	bool is_parked;			/* it waits in the model */
	struct mimicd_waiter waiter;
};

static inline uint64_t mimicd_trap_owner(const struct mimicd_owner *owner)
{
	return owner ? owner->number : MIMICD_OWNER_DRIVER;
}

/*
 * Before each access: posts of its process on lanes are done, and an access of the same thread
 * that waits makes way. Without a binding it is the function driver's; -EBUSY: one of its
 * waits, and it has no use for a second. -EAGAIN: the turn was over before all was done; again in the next.
 */
int mimicd_trap_begin(struct mimicd_trap *trap, struct mimicd_binding *binding,
		      struct mimicd_owner *owner);
/* Gives it to the model. MIMIC_DONE: access->data is the answer; MIMIC_PARKED: complete() comes. */
enum mimic_outcome mimicd_trap_access(struct mimicd_trap *trap, struct mimic_access *access);
/*
 * Is it to have no effect, so that it is not given to the model? A person wants the device to ignore it,
 * or the function driver gives a context away too late.
 */
bool mimicd_trap_is_lost(struct mimicd_instance *instance, const struct mimic_access *access);
/* Of a load of the function driver that is done: the answer, which a person may want to be wrong. */
uint64_t mimicd_trap_driver_answer(struct mimicd_instance *instance, const struct mimic_access *access);
/* It waits no longer, and its function is not called. */
void mimicd_trap_withdraw(struct mimicd_trap *trap);
/* The same when its device goes away: the model is not told either. */
void mimicd_trap_forget(struct mimicd_trap *trap);

#endif
