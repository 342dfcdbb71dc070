/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/explain.h"

void mimic_explain_access(const struct mimic_kind *kind, const struct mimic_access *access,
			  struct mimic_text *text)
{
	char name[64];

	mimic_register_name(kind, access, name, sizeof(name));
	mimic_text_add(text, access->is_write ? "store of " : "load of ");
	mimic_text_add(text, name);
}

void mimic_explain_reason(const struct mimic_kind *kind, const struct mimic_model *model,
			  const struct mimic_access *access, struct mimic_text *text)
{
	char bytes[160];
	struct mimic_text reason;

	if (!kind->explain)
		return;
	mimic_text_begin(&reason, bytes, sizeof(bytes));
	kind->explain(model, access, &reason);
	if (!reason.length)
		return;
	mimic_text_add(text, ": ");
	mimic_text_add(text, bytes);
}
