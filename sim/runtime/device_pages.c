/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Pages of devices that the program has mapped, or whose physical addresses it uses: the library
 * of `mimic run`, which `mimic sim` preloads, knows them. It catches the access that comes behind
 * a hook, and makes an operation of the transport "sim" of it.
 */
#include <dlfcn.h>

#include "sim/runtime/internal.h"

static bool (*is_device_page)(uintptr_t address);

void sim_device_pages_begin(void)
{
	void (*watch)(void (*mapped)(uintptr_t page)) =
		(void (*)(void (*)(uintptr_t)))dlsym(RTLD_DEFAULT, "mimic_preload_watch_device_pages");

	is_device_page = (bool (*)(uintptr_t))dlsym(RTLD_DEFAULT, "mimic_preload_is_device_page");
	if (watch)
		watch(sim_frame_forget);
}

bool sim_device_page(uintptr_t page)
{
	return is_device_page && is_device_page(page);
}
