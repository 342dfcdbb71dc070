/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* MIMIC_SYNCHRONOUS, by which `mimic run --synchronous` sets the program's devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/config.h"
#include "libmimic/base/error.h"

#define KEY "synchronous"

static void set(struct mimic_settings *settings, const struct mimic_kind *kind)
{
	const unsigned int one = 1;

	for (size_t i = 0; i < kind->key_count; i++) {
		if (!strcmp(kind->keys[i].name, KEY))
			memcpy(mimic_parameters_of(&settings->parameters, kind)->bytes + kind->keys[i].offset,
			       &one, sizeof(one));
	}
}

int mimic_config_synchronous(struct mimic_settings *settings)
{
	const char *value = secure_getenv("MIMIC_SYNCHRONOUS");

	if (!value || !*value || !strcmp(value, "0"))
		return 0;
	if (strcmp(value, "1"))
		return mimic_error(-EINVAL, "MIMIC_SYNCHRONOUS must be 0 or 1, not '%.64s'", value);
	for (size_t i = 0; i < mimic_kind_count(); i++)
		set(settings, mimic_kinds[i]);
	return 0;
}
