/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The times of the forms of libraries' kernels, for a profile (mimic sim --profile). */
#include <stdio.h>
#include <string.h>

#include "sim/run.h"
#include "sim/runtime/internal.h"

/* NULL: no room. */
static struct sim_kernel *find(const char *name, unsigned int block, const char *form)
{
	struct sim_setup *setup = sim.setup;
	struct sim_kernel *kernel = setup->kernels;

	for (; kernel < setup->kernels + setup->kernel_count; kernel++)
		if (kernel->block == block && !strncmp(kernel->name, name, SIM_KERNEL_NAME - 1) &&
		    !strncmp(kernel->form, form, SIM_KERNEL_NAME - 1))
			return kernel;
	if (setup->kernel_count == SIM_KERNELS)
		return NULL;
	setup->kernel_count++;
	*kernel = (struct sim_kernel){ .block = block };
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	snprintf(kernel->form, sizeof(kernel->form), "%s", form);
	return kernel;
}

SIM_EXPORT void mimic_sim_kernel(const char *name, unsigned int block, const char *form, uint64_t units, uint64_t cycles)
{
	struct sim_thread *self = sim_enter();
	struct sim_kernel *kernel;

	if (!self)
		return;
	/* A phase that only warms the caches up is not counted here either. */
	kernel = units && !sim_phases_are_warming() ? find(name, block, form) : NULL;
	if (kernel) {
		kernel->times++;
		kernel->units += units;
		kernel->cycles += cycles;
	}
	sim_leave();
}

void sim_forget_kernels(void)
{
	sim.setup->kernel_count = 0;
}
