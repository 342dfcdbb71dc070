/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The kinds of devices that this process knows: those that are built in, and those that
 * were registered. A kind is registered while the process has one thread, and stays.
 */
#ifndef LIBMIMIC_KINDS_H
#define LIBMIMIC_KINDS_H

#include "devices/kind.h"

/* Room for the reason why a kind cannot be registered. */
#define MIMIC_KIND_REASON_MAX 160

/* The parameters of every kind: mimic_parameters_of(). */
struct mimic_parameters {
	struct mimic_own_parameters of[MIMIC_KINDS_MAX];
};

#pragma GCC visibility push(default)

/* By index; those above mimic_kind_count() are NULL. */
extern const struct mimic_kind *mimic_kinds[MIMIC_KINDS_MAX];

unsigned int mimic_kind_count(void);
/* Of a kind that is registered. */
unsigned int mimic_kind_index(const struct mimic_kind *kind);
/* NULL: there is no kind of exactly this name. */
const struct mimic_kind *mimic_kind_find(const char *name, size_t length);
/*
 * The kind that a device's name begins with; NULL: none. *rest: the text behind it, "" or a
 * number ("3") or anything.
 */
const struct mimic_kind *mimic_kind_of_device(const char *name, const char **rest);
/* A decimal number as it stands in a device's name: no sign, no leading 0, nothing after it. */
bool mimic_kind_number(const char *text, unsigned int *number);

#pragma GCC visibility pop

/*
 * The kind is found from now on, as those that are built in; *kind stays as long as the
 * process. 0, -EEXIST or -EINVAL, and `reason` has the message.
 */
int mimic_kind_register(const struct mimic_kind *kind, char *reason, size_t size);

/* Was it registered, and not built in? */
bool mimic_kind_is_plugins(const struct mimic_kind *kind);

/* kind_check.c: has the kind all required parts, within the limits? false: `reason` names a defect. */
bool mimic_kind_is_valid(const struct mimic_kind *kind, char *reason, size_t size);
/* The same of parameters: the kind's own check(), and limits that depend on them. */
bool mimic_kind_takes(const struct mimic_kind *kind, const void *parameters, char *reason, size_t size);
/* Of a model of the kind: has it all functions? */
bool mimic_kind_model_is_valid(const struct mimic_model *model, char *reason, size_t size);

/* The names of all kinds in one text, with a space between. */
const char *mimic_kind_names(void);
/* As strchr(): the result may be changed if *parameters may be. */
struct mimic_own_parameters *mimic_parameters_of(const struct mimic_parameters *parameters,
						 const struct mimic_kind *kind);

#endif
