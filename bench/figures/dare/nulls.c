/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Null models of DARE's rows: the model without one part, on small data sets. */
#include <errno.h>
#include <string.h>

#include "bench/figures/dare/dare.h"

static const struct dare_null *find_model(const struct dare_nulls *nulls, const char *name)
{
	for (size_t i = 0; i < nulls->count; i++) {
		if (strcmp(nulls->models[i].name, name) == 0)
			return &nulls->models[i];
	}
	return NULL;
}

static int add_model(struct dare_nulls *nulls, char *const *fields)
{
	struct dare_null *model = &nulls->models[nulls->count];
	struct dare_change change = { .modes = fields[1], .settings = fields[2], .instead = fields[3] };
	char *name;

	if (nulls->count == DARE_NULLS)
		return figures_error("dare_null_models.csv: more than %d models", DARE_NULLS);
	if (asprintf(&name, "null-%zu-", ++nulls->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	change.name = name;
	model->name = fields[0];
	model->runs = dare_runs_variant(nulls->small, &change);
	return model->runs ? 0 : -1;
}

int dare_nulls_read(struct dare_nulls *nulls, const struct dare_runs *runs, const char *folder)
{
	if (table_read(&nulls->table, folder, "dare_null_models.csv") || table_read(&nulls->rows, folder, "dare_nulls.csv"))
		return -1;
	nulls->small = dare_runs_small(runs);
	if (!nulls->small)
		return -1;
	for (size_t i = 0; i < nulls->table.count; i++) {
		if (add_model(nulls, nulls->table.rows[i]))
			return -1;
	}
	for (size_t i = 0; i < nulls->rows.count; i++) {
		if (!find_model(nulls, nulls->rows.rows[i][3]))
			return figures_error("dare_nulls.csv: %s: dare_null_models.csv has no '%s'", nulls->rows.rows[i][0],
					     nulls->rows.rows[i][3]);
	}
	return 0;
}

int dare_nulls_execute(struct dare_nulls *nulls, struct dare_runs *runs)
{
	struct dare_runs *all[DARE_NULLS + 2] = { runs, nulls->small };

	for (size_t i = 0; i < nulls->count; i++)
		all[i + 2] = nulls->models[i].runs;
	return dare_runs_execute(all, nulls->count + 2);
}

const struct dare_null *dare_nulls_next(const struct dare_nulls *nulls, const char *id, size_t *next)
{
	while (*next < nulls->rows.count) {
		char *const *fields = nulls->rows.rows[(*next)++];

		if (strcmp(fields[0], id) == 0)
			return find_model(nulls, fields[3]);
	}
	return NULL;
}

unsigned int dare_nulls_check(const struct dare_nulls *nulls, const struct table *texts)
{
	struct gate own[DARE_GATES], gates[DARE_GATES];
	unsigned int passed = 0;

	dare_gates(own, texts, nulls->small);
	nulls_tell(own, DARE_GATES);
	for (size_t i = 0; i < nulls->count; i++) {
		dare_gates(gates, texts, nulls->models[i].runs);
		passed += !null_tell(nulls->models[i].name, own, gates, DARE_GATES);
	}
	return passed;
}
