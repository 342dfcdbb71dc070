/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KIND(name) extern const struct mimic_kind mimic_kind_##name;
#include "devices/kinds.def"
#undef KIND

const struct mimic_kind *mimic_kinds[MIMIC_KINDS_MAX] = {
#define KIND(name) &mimic_kind_##name,
#include "devices/kinds.def"
#undef KIND
};

enum {
	BUILT_IN =
#define KIND(name) 1 +
#include "devices/kinds.def"
#undef KIND
		0
};

static unsigned int count = BUILT_IN;

/* Each after a space. */
static char names[MIMIC_KINDS_MAX * (1 + MIMIC_KIND_NAME_MAX) + 1] =
#define KIND(name) " " #name
#include "devices/kinds.def"
#undef KIND
	;

unsigned int mimic_kind_count(void)
{
	return count;
}

bool mimic_kind_is_plugins(const struct mimic_kind *kind)
{
	return mimic_kind_index(kind) >= BUILT_IN;
}

/* By its name: a kind may be a copy of the one that is registered (libmimic/record/kind.c). */
unsigned int mimic_kind_index(const struct mimic_kind *kind)
{
	unsigned int index = 0;

	while (index < count - 1 && strcmp(mimic_kinds[index]->name, kind->name) != 0)
		index++;
	return index;
}

int mimic_kind_register(const struct mimic_kind *kind, char *reason, size_t size)
{
	size_t length = strlen(names);

	if (!mimic_kind_is_valid(kind, reason, size))
		return -EINVAL;
	if (mimic_kind_find(kind->name, strlen(kind->name))) {
		snprintf(reason, size, "there is a kind '%s' already", kind->name);
		return -EEXIST;
	}
	if (count == MIMIC_KINDS_MAX) {
		snprintf(reason, size, "there are %u kinds already, and no room for '%s'", count, kind->name);
		return -EINVAL;
	}
	snprintf(names + length, sizeof(names) - length, " %s", kind->name);
	mimic_kinds[count++] = kind;
	return 0;
}

const char *mimic_kind_names(void)
{
	return names + 1;
}

const struct mimic_kind *mimic_kind_find(const char *name, size_t length)
{
	for (unsigned int i = 0; i < count; i++) {
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

struct mimic_own_parameters *mimic_parameters_of(const struct mimic_parameters *parameters,
						 const struct mimic_kind *kind)
{
	return (struct mimic_own_parameters *)&parameters->of[mimic_kind_index(kind)];
}
