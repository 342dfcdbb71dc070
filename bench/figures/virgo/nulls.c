/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The model without one of its mechanisms: null models of rows, and gate 5. */
#include <errno.h>
#include <string.h>

#include "bench/figures/virgo/virgo.h"

static const struct virgo_null *find_model(const struct virgo_nulls *nulls, const char *name)
{
	for (size_t i = 0; i < nulls->count; i++) {
		if (strcmp(nulls->models[i].name, name) == 0)
			return &nulls->models[i];
	}
	return NULL;
}

static int add_model(struct virgo_nulls *nulls, const struct virgo_runs *runs, char *const *fields)
{
	struct virgo_null *model = &nulls->models[nulls->count];
	char *name;

	if (nulls->count == VIRGO_NULLS)
		return figures_error("virgo_null_models.csv: more than %d models", VIRGO_NULLS);
	if (asprintf(&name, "null-%zu-", ++nulls->count) < 0)
		return figures_error("%s", strerror(ENOMEM));
	*model = (struct virgo_null){
		.name = fields[0], .moves = fields[2], .is_slight = strcmp(fields[3], "slight") == 0, .is_gate = *fields[3] != '\0',
		/* Those whose time it does not touch at any size need not run at all sizes. */
		.runs = virgo_runs_variant(runs, fields[4], name, fields[1]),
	};
	return model->runs ? 0 : -1;
}

int virgo_nulls_read(struct virgo_nulls *nulls, const struct virgo_runs *runs, const char *folder)
{
	if (table_read(&nulls->table, folder, "virgo_null_models.csv") || table_read(&nulls->rows, folder, "virgo_nulls.csv"))
		return -1;
	for (size_t i = 0; i < nulls->table.count; i++) {
		if (add_model(nulls, runs, nulls->table.rows[i]))
			return -1;
	}
	for (size_t i = 0; i < nulls->rows.count; i++) {
		if (!find_model(nulls, nulls->rows.rows[i][3]))
			return figures_error("virgo_nulls.csv: %s: virgo_null_models.csv has no '%s'", nulls->rows.rows[i][0],
					     nulls->rows.rows[i][3]);
	}
	return 0;
}

const struct virgo_null *virgo_nulls_next(const struct virgo_nulls *nulls, const char *id, size_t *next)
{
	while (*next < nulls->rows.count) {
		char *const *fields = nulls->rows.rows[(*next)++];

		if (strcmp(fields[0], id) == 0)
			return find_model(nulls, fields[3]);
	}
	return NULL;
}

bool virgo_null_change(const struct virgo_null *null, const struct virgo_runs *runs, const char *design, double *change)
{
	double before = virgo_cycles(runs, virgo_sizes[0], design), after = virgo_cycles(null->runs, virgo_sizes[0], design);

	if (before <= 0 || after <= 0)
		return false;
	*change = 100 * (after / before - 1);
	return true;
}

bool virgo_null_moves(const struct virgo_null *null, const char *design)
{
	return table_has_word(null->moves, design);
}
