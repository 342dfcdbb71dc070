/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/kind.h"

#include <string.h>

const struct mimic_kind *const mimic_kinds[MIMIC_KIND_COUNT] = {
#define _(NAME, name) [MIMIC_KIND_##NAME] = &mimic_kind_##name,
	MIMIC_KINDS(_)
#undef _
};

const struct mimic_kind *mimic_kind_find(const char *name, size_t length)
{
	for (size_t i = 0; i < MIMIC_KIND_COUNT; i++) {
		if (strlen(mimic_kinds[i]->name) == length && !strncmp(mimic_kinds[i]->name, name, length))
			return mimic_kinds[i];
	}
	return NULL;
}

const struct mimic_kind *mimic_kind_of_device(const char *name, const char **rest)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz");

	*rest = name + length;
	return mimic_kind_find(name, length);
}

bool mimic_kind_number(const char *text, unsigned int *number)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 9 || text[digits] || (text[0] == '0' && digits > 1))
		return false;
	*number = 0;
	for (size_t i = 0; i < digits; i++)
		*number = *number * 10 + (unsigned int)(text[i] - '0');
	return true;
}
