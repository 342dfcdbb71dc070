/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * In the build of mimicd that can be recovered (mk/recover.mk) the compiler puts a call in front of each store of a
 * model. In loops that compute, those calls cost more than the loops: a file that is in RECOVER_SILENT there has none,
 * and names the bytes of the model's state that it is about to change. Elsewhere this is nothing.
 */
#ifndef MIMIC_DEVICES_CHANGES_H
#define MIMIC_DEVICES_CHANGES_H

#include <stddef.h>

#ifdef MIMIC_NOTES_CHANGES
void mimicd_model_changes(const void *address, size_t size);
#define mimic_changes(address, size) mimicd_model_changes(address, size)
#else
#define mimic_changes(address, size) ((void)(address), (void)(size))
#endif

#endif
