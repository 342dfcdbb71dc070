/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Records in the window of a daemon that was killed, before they are used. A daemon leaves them whole; a
 * window that is damaged is refused, with a defect that names the part, as far as records show it. The
 * models' own memory is not looked at.
 */
#ifndef MIMICD_RECORD_CHECK_H
#define MIMICD_RECORD_CHECK_H

#include "daemon/engine/record.h"

/* Of the root and the devices. NULL: none. */
const char *mimicd_record_defect(const struct mimicd_journal_left *left);
/* Of a client's record and its arrays. */
const char *mimicd_client_record_defect(const struct mimicd_journal_left *left,
					struct mimicd_client_record *record);

#endif
