/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Null models: the model without one part, on one small data set of each kernel. What
 * they get right, too, is no evidence for that part.
 */
#include <errno.h>
#include <string.h>

#include "bench/figures/figures.h"

/* OLD=NEW: systems of one form run another one. */
static const char *form_of(const struct null_model *model, const char *form)
{
	size_t length = strlen(form);

	return strncmp(model->form, form, length) == 0 && model->form[length] == '=' ? model->form + length + 1 : form;
}

static int add_model(struct nulls *nulls, char *const *fields)
{
	struct null_model *model = &nulls->models[nulls->count];
	char *name;

	if (nulls->count == NULLS_MAX)
		return figures_error("null_models.csv: more than %d models", NULLS_MAX);
	if (asprintf(&name, "null-%zu-", ++nulls->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	*model = (struct null_model){ .name = fields[0], .settings = fields[1], .form = fields[2] };
	if (runs_variant(&model->runs, &nulls->small, name, model->settings, ""))
		return -1;
	for (size_t i = 0; i < model->runs.system_count; i++)
		model->runs.systems[i].form = form_of(model, model->runs.systems[i].form);
	return 0;
}

int nulls_read(struct nulls *nulls, const struct runs *runs, const char *folder)
{
	struct table models;

	if (table_read(&models, folder, "null_models.csv") || table_read(&nulls->rows, folder, "nulls.csv") ||
	    runs_small(&nulls->small, runs))
		return -1;
	nulls->small.same = runs;
	nulls->small.name = "null-0-";	/* of what only null models are held against: sweeps of a data set in no mean */
	for (size_t i = 0; i < models.count; i++) {
		if (add_model(nulls, models.rows[i]))
			return -1;
	}
	for (size_t i = 0; i < nulls->rows.count; i++) {
		if (!nulls_of_row(nulls, nulls->rows.rows[i][0]))
			return figures_error("nulls.csv: %s: null_models.csv has no '%s'", nulls->rows.rows[i][0],
					     nulls->rows.rows[i][3]);
	}
	return 0;
}

const struct null_model *nulls_of_row(const struct nulls *nulls, const char *id)
{
	const char *name = NULL;

	for (size_t i = 0; i < nulls->rows.count; i++) {
		if (strcmp(nulls->rows.rows[i][0], id) == 0)
			name = nulls->rows.rows[i][3];
	}
	for (size_t i = 0; name && i < nulls->count; i++) {
		if (strcmp(nulls->models[i].name, name) == 0)
			return &nulls->models[i];
	}
	return NULL;
}

/* true: a gate that the model passes is closed to this one. */
static bool is_told(const struct null_model *model, const struct gate *own, size_t count)
{
	struct gate gates[GATES_MAX];
	bool is_one_closed = false;

	gates_check(gates, &model->runs);
	for (size_t i = 0; i < count; i++) {
		if (!own[i].is_open || gates[i].is_open)
			continue;
		if (!is_one_closed)
			printf("yes  %s: a gate is closed to it:\n", model->name);
		printf("       %s (%s)\n", gates[i].text, gates[i].seen);
		is_one_closed = true;
	}
	if (!is_one_closed)
		printf("NO   %s: it passes all that the model passes\n", model->name);
	return is_one_closed;
}

unsigned int nulls_check(const struct nulls *nulls)
{
	struct gate own[GATES_MAX];
	size_t count = gates_check(own, &nulls->small);
	unsigned int passed = 0;

	puts("\nNull models, each without one part of the model, must not pass all of these:");
	for (size_t i = 0; i < count; i++) {
		if (!own[i].is_open)
			printf("not counted: %s (%s): the model itself does not pass it on their data sets\n", own[i].text,
			       own[i].seen);
	}
	for (size_t i = 0; i < nulls->count; i++)
		passed += !is_told(&nulls->models[i], own, count);
	return passed;
}
