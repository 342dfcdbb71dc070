/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Says why an access waits, in the same words for all commands and libraries. */
#ifndef MIMIC_DEVICES_EXPLAIN_H
#define MIMIC_DEVICES_EXPLAIN_H

#include "devices/kind.h"
#include "devices/text.h"

/* "store of MAPLE PRODUCE [0]". */
void mimic_explain_access(const struct mimic_kind *kind, const struct mimic_access *access,
			  struct mimic_text *text);
/*
 * ": queue 0 is full (32 words), and nobody consumes" of an access that waits, or would; nothing where the
 * kind does not say. Changes nothing. Its owner, page and offset count.
 */
void mimic_explain_reason(const struct mimic_kind *kind, const struct mimic_model *model,
			  const struct mimic_access *access, struct mimic_text *text);

#endif
