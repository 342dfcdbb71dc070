/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/order.h"

#include <string.h>

#include "mimic/maple_registers.h"

static bool maple_store_may_wait(const struct mimic_access *store)
{
	unsigned int operation = store->offset >> MAPLE_OPERATION_SHIFT & 63;

	if (store->page != MAPLE_PAGE_MAPLE)
		return false;
	switch (operation) {
	case MAPLE_STORE_PRODUCE:
	case MAPLE_STORE_POINTER32:
	case MAPLE_STORE_POINTER64:
	case MAPLE_STORE_LOOP:
		return true;
	default:
		/* atomics, prefetch, coherent pointers; whole pointers and loops of one queue */
		return (operation >= MAPLE_STORE_ATOMIC_ADD && operation <= MAPLE_STORE_LLC_POINTER64) ||
		       (operation >= MAPLE_STORE_FULL_POINTER32 &&
			operation <= MAPLE_STORE_QUEUE_LOOP_PREFETCH64);
	}
}

bool mimic_store_may_wait_in_ring(const char *name, const struct mimic_access *store)
{
	if (!strncmp(name, "maple", strlen("maple")))
		return maple_store_may_wait(store);
	return false;
}
