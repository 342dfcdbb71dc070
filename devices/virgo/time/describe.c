/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Says what each warp of a kernel waits for, if the kernel does not end. */
#include <stdio.h>

#include "devices/virgo/time/internal.h"

static const char *waits_for(const struct core *core, const struct warp *warp)
{
	const struct lsu *lsu = &core->lsu;

	if (warp->at_barrier)
		return "at the barrier";
	if (lsu->count && lsu->queue[lsu->first].instruction.operation == OP_FENCE)
		return "for a fence";
	if (warp->queued)
		return "for an instruction that a unit does not take";
	return "for a register";
}

size_t virgo_time_describe(const struct virgo_timing *timing, char *text, size_t size)
{
	size_t length = 0;

	for (unsigned int i = 0; i < timing->parameters.cluster_cores; i++) {
		const struct core *core = &timing->core[i];

		for (unsigned int number = 0; number < timing->parameters.cluster_warps; number++) {
			const struct warp *warp = &core->warp[number];
			size_t left = length < size ? size - length : 0;

			if (!warp->code)
				continue;
			length += (size_t)snprintf(left ? text + length : NULL, left, "warp %u of core %u waits %s\n", number, i,
						   waits_for(core, warp));
		}
	}
	return length;
}
