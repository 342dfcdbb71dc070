/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Null models: the model without one part, on one small data set of each kernel. A row
 * that they get right, too, is no evidence for that part.
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
	nulls->small.name = "null-0-";	/* of runs that only null models are compared with: sweeps of a data set in no mean */
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

unsigned int nulls_check(const struct nulls *nulls)
{
	struct gate own[GATES_MAX], gates[GATES_MAX];
	size_t count = gates_check(own, &nulls->small);
	unsigned int passed = 0;

	nulls_tell(own, count);
	for (size_t i = 0; i < nulls->count; i++) {
		gates_check(gates, &nulls->models[i].runs);
		passed += !null_tell(nulls->models[i].name, own, gates, count);
	}
	return passed;
}
