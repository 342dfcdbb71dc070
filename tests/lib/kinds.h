/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The settings of the built-in kinds, which are the kinds' own structures. */
#ifndef TESTS_LIB_KINDS_H
#define TESTS_LIB_KINDS_H

#include "devices/dare/dare_model.h"
#include "devices/maple/maple_model.h"
#include "devices/virgo/virgo_model.h"
#include "libmimic/base/config.h"

static inline struct maple_config *maple_of(const struct mimic_settings *settings)
{
	return (struct maple_config *)mimic_parameters_of(&settings->parameters, &mimic_kind_maple);
}

static inline struct dare_config *dare_of(const struct mimic_settings *settings)
{
	return (struct dare_config *)mimic_parameters_of(&settings->parameters, &mimic_kind_dare);
}

static inline struct virgo_config *virgo_of(const struct mimic_settings *settings)
{
	return (struct virgo_config *)mimic_parameters_of(&settings->parameters, &mimic_kind_virgo);
}

/* How many devices there are. */
static inline unsigned int *count_of(struct mimic_settings *settings, const struct mimic_kind *kind)
{
	return &settings->counts[mimic_kind_index(kind)];
}

#endif
