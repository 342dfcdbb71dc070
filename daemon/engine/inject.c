/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/inject.h"

#include <errno.h>

#include "libmimic/base/clock.h"
#include "mimic/protocol.h"

#define DELAY_NS 500000000ull
/* Added to the page that the fault register shows. */
#define WRONG_PAGE (1ull << 12)

int mimicd_inject_set(struct mimicd_injection *injection, uint32_t what)
{
	switch (what) {
	case MIMIC_INJECT_NONE:
		*injection = (struct mimicd_injection){ 0 };
		return 0;
	case MIMIC_INJECT_LOST_INTERRUPT:
		injection->loses_interrupt = true;
		return 0;
	case MIMIC_INJECT_DELAYED_ANSWER:
		injection->delays_answer = true;
		return 0;
	case MIMIC_INJECT_WRONG_FAULT_ADDRESS:
		injection->shows_wrong_fault = true;
		return 0;
	case MIMIC_INJECT_UNRESOLVED_FAULT:
		injection->ignores_resolve = true;
		return 0;
	case MIMIC_INJECT_HANG:
		injection->hangs = true;
		return 0;
	default:
		return -EINVAL;
	}
}

void mimicd_inject_reset(struct mimicd_injection *injection)
{
	injection->ignores_resolve = false;
	injection->hangs = false;
}

bool mimicd_inject_holds(struct mimicd_injection *injection, uint64_t *due)
{
	*due = 0;
	if (injection->hangs)
		return true;
	if (!injection->delays_answer)
		return false;
	injection->delays_answer = false;
	*due = mimic_now() + DELAY_NS;
	return true;
}

uint64_t mimicd_inject_fault_address(struct mimicd_injection *injection, uint64_t address)
{
	bool is_wrong = injection->shows_wrong_fault;

	injection->shows_wrong_fault = false;
	return is_wrong ? address ^ WRONG_PAGE : address;
}

bool mimicd_inject_loses_interrupt(struct mimicd_injection *injection)
{
	bool is_lost = injection->loses_interrupt;

	injection->loses_interrupt = false;
	return is_lost;
}
