/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/inject.h"

#include <errno.h>

#include "daemon/engine/instance.h"
#include "libmimic/base/clock.h"
#include "mimic/protocol.h"

#define DELAY_NS 500000000ull
/* Added to the page that the fault register shows. */
#define WRONG_PAGE (1ull << 12)

int mimicd_inject(struct mimicd_instance *instance, uint32_t what)
{
	struct mimicd_injection *injection = &instance->injection;
	struct mimicd_function *function = instance->functions;

	/* Misbehaviour is for a driver to see, and for the accesses that go through it. */
	if (!function)
		return -EOPNOTSUPP;
	switch (what) {
	case MIMIC_INJECT_NONE:
		*injection = (struct mimicd_injection){ 0 };
		return 0;
	case MIMIC_INJECT_SPURIOUS_INTERRUPT:
		return function->ops->interrupt(function);
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

bool mimicd_inject_holds(struct mimicd_instance *instance, uint64_t *due)
{
	struct mimicd_injection *injection = &instance->injection;

	*due = 0;
	if (injection->hangs)
		return true;
	if (!injection->delays_answer)
		return false;
	injection->delays_answer = false;
	*due = mimic_now() + DELAY_NS;
	return true;
}

bool mimicd_inject_loses_resolve(const struct mimicd_instance *instance)
{
	return instance->injection.ignores_resolve;
}

uint64_t mimicd_inject_fault_address(struct mimicd_instance *instance, uint64_t address)
{
	bool is_wrong = instance->injection.shows_wrong_fault;

	instance->injection.shows_wrong_fault = false;
	return is_wrong ? address ^ WRONG_PAGE : address;
}

bool mimicd_inject_interrupt(struct mimicd_instance *instance)
{
	bool is_lost = instance->injection.loses_interrupt;

	instance->injection.loses_interrupt = false;
	return !is_lost;
}
