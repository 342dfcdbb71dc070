/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/inject.h"

#include <errno.h>
#include <string.h>

#include "daemon/bus/binding.h"
#include "daemon/bus/kind.h"
#include "daemon/engine/instance.h"
#include "libmimic/base/clock.h"
#include "mimic/protocol.h"

#define DELAY_NS 500000000ull
/* Added to the page that the fault register shows. */
#define WRONG_PAGE (1ull << 12)

int mimicd_inject(struct mimicd_engine *engine, struct mimicd_instance *instance, uint32_t what)
{
	struct mimicd_injection *injection = &instance->injection;

	switch (what) {
	case MIMIC_INJECT_NONE:
		*injection = (struct mimicd_injection){ 0 };
		return 0;
	case MIMIC_INJECT_SPURIOUS_INTERRUPT:
		return mimicd_bus_interrupt(engine, instance);
	case MIMIC_INJECT_LOST_INTERRUPT:
		injection->loses_interrupt = true;
		break;
	case MIMIC_INJECT_DELAYED_ANSWER:
		injection->delays_answer = true;
		break;
	case MIMIC_INJECT_WRONG_FAULT_ADDRESS:
		injection->shows_wrong_fault = true;
		break;
	case MIMIC_INJECT_UNRESOLVED_FAULT:
		injection->ignores_resolve = true;
		break;
	case MIMIC_INJECT_HANG:
		injection->hangs = true;
		break;
	default:
		return -EINVAL;
	}
	return 0;
}

void mimicd_inject_reset(struct mimicd_instance *instance)
{
	instance->injection.ignores_resolve = false;
	instance->injection.hangs = false;
}

bool mimicd_inject_hangs(const struct mimicd_instance *instance)
{
	return instance->injection.hangs;
}

bool mimicd_inject_holds(struct mimicd_instance *instance, const struct mimic_access *access,
			 uint64_t *due)
{
	struct mimicd_injection *injection = &instance->injection;

	*due = 0;
	/* Reset gets through to a device that does nothing else any more. */
	if (mimicd_bus_role(instance->kind, access) == MIMICD_BUS_RESET)
		mimicd_inject_reset(instance);
	if (injection->hangs)
		return true;
	if (!injection->delays_answer)
		return false;
	injection->delays_answer = false;
	*due = mimic_now() + DELAY_NS;
	return true;
}

bool mimicd_inject_access(struct mimicd_instance *instance, const struct mimic_access *access)
{
	return !instance->injection.ignores_resolve ||
	       mimicd_bus_role(instance->kind, access) != MIMICD_BUS_RESOLVE;
}

void mimicd_inject_answer(struct mimicd_instance *instance, struct mimic_access *access)
{
	struct mimicd_injection *injection = &instance->injection;

	/* The driver's looks only, and only those that show something. */
	if (!injection->shows_wrong_fault || access->owner != MIMICD_OWNER_DRIVER ||
	    mimicd_bus_role(instance->kind, access) != MIMICD_BUS_FAULT || !access->data)
		return;
	injection->shows_wrong_fault = false;
	access->data ^= WRONG_PAGE;
}

bool mimicd_inject_interrupt(struct mimicd_instance *instance)
{
	bool is_lost = instance->injection.loses_interrupt;

	instance->injection.loses_interrupt = false;
	return !is_lost;
}
