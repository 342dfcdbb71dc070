/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A mimicd that is built without FUSE serves no state filesystem. */
#include "daemon/filesystem/filesystem.h"

#include <stddef.h>

#include "daemon/loop/log.h"

struct mimicd_filesystem *mimicd_filesystem_create(struct mimicd_engine *engine,
						   const struct mimicd_filesystem_options *options)
{
	(void)engine;
	if (options->path)
		mimicd_log(MIMICD_LOG_WARNING, "no state filesystem: this mimicd was built without FUSE (libfuse 3)");
	return NULL;
}

void mimicd_filesystem_destroy(struct mimicd_filesystem *filesystem)
{
	(void)filesystem;
}
