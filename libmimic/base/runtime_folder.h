/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The folder of a user's sockets: /run/mimic for root, else $XDG_RUNTIME_DIR/mimic if the variable names a folder of
 * the user, else /run/user/UID/mimic if there is such a session, else /tmp/mimic-UID. In the last one another user may
 * have been first, so that nothing may be made there before mimic_runtime_folder_make() has checked it.
 */
#ifndef MIMIC_RUNTIME_FOLDER_H
#define MIMIC_RUNTIME_FOLDER_H

#include <stddef.h>

/* Its path. 0 or -ENAMETOOLONG. */
int mimic_runtime_folder(char *path, size_t size);
/*
 * Makes it, or finds it made. 0 or -errno; -EPERM: it belongs to another user, others may write to it, or it is no
 * folder.
 */
int mimic_runtime_folder_make(const char *path);

#endif
