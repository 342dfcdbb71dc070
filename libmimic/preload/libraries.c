/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Libraries that a program lets go of: text of theirs that was patched is not there any more. */
#include <dlfcn.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

EXPORT int dlclose(void *library)
{
	int result = NEXT(dlclose)(library);

	if (!result)
		mimic_preload_patch_look_again();
	return result;
}
