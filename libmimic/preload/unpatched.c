/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * In place of all patch*.c on processors that have no patch_plan of their own: no instruction is replaced, and
 * each access of a device is a trap. The calls of patch.h that other files make.
 */
#include <errno.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

void mimic_preload_patch_start(void)
{
}

void mimic_preload_perf_start(void)
{
}

bool mimic_preload_patch_is_on(void)
{
	return false;
}

void mimic_preload_patch_stop(void)
{
}

void mimic_preload_patch_forget(uintptr_t start, size_t length, bool is_gone)
{
	(void)start, (void)length, (void)is_gone;
}

void mimic_preload_patch_make_way(uintptr_t start, size_t length)
{
	(void)start, (void)length;
}

void mimic_preload_patch_look_again(void)
{
}

void mimic_preload_patch_before_fork(void)
{
}

void mimic_preload_patch_after_fork(void)
{
}

void mimic_preload_patch_count_anew(void)
{
}

/* Asked only where instructions are replaced. */
int mimic_preload_code_synchronize(void)
{
	return -ENOSYS;
}

/* Each signal's context is the program's own. */
void mimic_preload_patch_show(ucontext_t *context, struct patch_shown *shown)
{
	(void)context;
	shown->is_other = false;
}

void mimic_preload_patch_resume(ucontext_t *context, const struct patch_shown *shown)
{
	(void)context, (void)shown;
}
