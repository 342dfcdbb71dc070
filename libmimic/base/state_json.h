/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a device (devices/state.h) as JSON. A folder is an object of its
 * entries; a value is { "value": ..., "meaning": "..." }, so an object is a value
 * if its "value" is there and is no object itself. docs/state.md has the rest.
 */
#ifndef MIMIC_STATE_JSON_H
#define MIMIC_STATE_JSON_H

#include "devices/kind.h"

struct json_object;
struct mimic_state_copy;

enum mimic_state_json_flags {
	MIMIC_STATE_JSON_BYTES = 1,	/* memories too, as hexadecimal texts; else only their sizes */
};

/*
 * To be called as a function of the model: the caller serialises them. The result is
 * a copy, to be printed after that; json_object_put() frees it. NULL with errno
 * (ENOMEM).
 */
struct json_object *mimic_state_json(const struct mimic_kind *kind, const struct mimic_model *model,
				     uint64_t now, unsigned int flags);
/* The same of a copy, which is no call of the model. Memories have bytes if the copy has them. */
struct json_object *mimic_state_copy_json(const struct mimic_state_copy *copy);

#endif
