/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <dlfcn.h>
#include <stdlib.h>

#include "sim/runtime/real.h"

void *sim_real_find(enum sim_real which)
{
	static const char *const names[] = {
#define _(name) #name,
		SIM_REAL(_)
#undef _
	};
	static void *found[SIM_REAL_COUNT];
	void *function = __atomic_load_n(&found[which], __ATOMIC_RELAXED);

	/* Not all at the beginning: constructors of other libraries may call before ours has run. */
	if (!function) {
		function = dlsym(RTLD_NEXT, names[which]);
		if (!function)
			abort();
		__atomic_store_n(&found[which], function, __ATOMIC_RELAXED);
	}
	return function;
}
