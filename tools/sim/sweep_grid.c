/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic sweep: the grid of parameters, and points of it that cannot be. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/parameters.h"
#include "tools/sim/sim.h"
#include "tools/sim/sweep.h"

#define POINTS_MAX 100000

/* A value that does not fit is its points' trouble; a key of which none fits is a mistake. `why`: of the last one. */
static bool takes_some_value(const struct axis *axis, char *why, size_t size)
{
	for (size_t i = 0; i < axis->count; i++) {
		struct sim_parameters parameters;
		char *assignment;
		int error;

		if (sim_parameters_load(&parameters, SIM_PRESET_DEFAULT, why, size) ||
		    asprintf(&assignment, "%s%s", axis->key, axis->values[i]) < 0)
			return false;
		error = sim_parameters_set(&parameters, assignment, why, size);
		free(assignment);
		if (!error)
			return true;
	}
	return false;
}

static int add_axis(struct sweep *sweep, const char *option, const char *text)
{
	struct axis *axis = &sweep->axes[sweep->axis_count++];
	const char *values = text;
	char *copy, *next, why[256];

	axis->option = option;
	axis->key = strdup("");
	if (!strcmp(option, "--set")) {
		const char *equals = strchr(text, '=');

		if (!equals || equals == text)
			return tool_error(EXIT_BAD_INPUT, "sweep: --set %s: it must be KEY=VALUE,...", text);
		free(axis->key);
		axis->key = strndup(text, (size_t)(equals + 1 - text));
		values = equals + 1;
	}
	copy = strdup(values);
	if (!copy || !axis->key)
		return tool_error(EXIT_FAILURE, "sweep: out of memory");
	while ((next = strsep(&copy, ","))) {
		if (!*next)
			return tool_error(EXIT_BAD_INPUT, "sweep: %s %s: a value is empty", option, text);
		if (axis->count == MIMIC_OPTION_VALUES_MAX)
			return tool_error(EXIT_BAD_INPUT, "sweep: %s %s: more than %d values", option, text,
					  MIMIC_OPTION_VALUES_MAX);
		axis->values[axis->count++] = next;
	}
	if (!strcmp(option, "--set") && !takes_some_value(axis, why, sizeof(why)))
		return tool_error(EXIT_BAD_INPUT, "sweep: --set %s: %s", text, why);
	sweep->points *= axis->count;
	if (sweep->points > POINTS_MAX)
		return tool_error(EXIT_BAD_INPUT, "sweep: more than %d points", POINTS_MAX);
	return 0;
}

/* Names that stand for parameters of one preset. */
static const struct choice {
	const char *option, *preset;
	int (*set)(struct sim_parameters *parameters, const char *name, char *why, size_t size);
} choices[] = {
	{ "--mode", SIM_PRESET_MPU, sim_parameters_mode },
	{ "--design", SIM_PRESET_CLUSTER, sim_parameters_design },
};

/* NULL: the axis has other values. */
static const struct choice *choice_of(const struct axis *axis)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (!strcmp(axis->option, choices[i].option))
			return &choices[i];
	return NULL;
}

static int check_choices(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->axis_count; i++) {
		const struct axis *axis = &sweep->axes[i];
		const struct choice *choice = choice_of(axis);
		struct sim_parameters parameters;
		char why[256];

		for (size_t value = 0; choice && value < axis->count; value++)
			if (sim_parameters_load(&parameters, choice->preset, why, sizeof(why)) ||
			    choice->set(&parameters, axis->values[value], why, sizeof(why)))
				return tool_error(EXIT_BAD_INPUT, "sweep: %s: %s", choice->option, why);
	}
	return 0;
}

int tool_sweep_make_grid(struct sweep *sweep)
{
	int status = 0;

	sweep->points = 1;
	if (sweep->soc)
		status = add_axis(sweep, "--soc", sweep->soc);
	if (!status && sweep->mode)
		status = add_axis(sweep, "--mode", sweep->mode);
	if (!status && sweep->design)
		status = add_axis(sweep, "--design", sweep->design);
	if (!status)
		status = check_choices(sweep);
	if (!status && sweep->cores)
		status = add_axis(sweep, "--cores", sweep->cores);
	if (!status && sweep->warm)
		status = add_axis(sweep, "--warm", sweep->warm);
	for (size_t i = 0; i < sweep->sets.count && !status; i++)
		status = add_axis(sweep, "--set", sweep->sets.values[i]);
	return status;
}

const char *tool_sweep_value(const struct sweep *sweep, size_t point, size_t axis)
{
	for (size_t i = sweep->axis_count; i-- > axis + 1; )
		point /= sweep->axes[i].count;
	return sweep->axes[axis].values[point % sweep->axes[axis].count];
}

/* --- points that cannot be ------------------------------------------------------------------ */

/* A mistake, and the number of points that have it. */
struct refusal {
	char *why;
	size_t points;
};

struct refusals {
	struct refusal *list;
	size_t count;
};

static int set_axis(struct sim_parameters *parameters, const struct axis *axis, const char *value, char *why, size_t size)
{
	const struct choice *choice = choice_of(axis);
	char *assignment;
	int error;

	if (choice)
		return choice->set(parameters, value, why, size);
	if (strcmp(axis->option, "--cores") != 0 && strcmp(axis->option, "--set") != 0)
		return 0;
	if (asprintf(&assignment, "%s%s", axis->key[0] ? axis->key : "core.count=", value) < 0)
		return -ENOMEM;
	error = sim_parameters_set(parameters, assignment, why, size);
	free(assignment);
	return error;
}

/* Could mimic sim have these parameters? --soc is the first axis. */
static int check_point(const struct sweep *sweep, size_t point, char *why, size_t size)
{
	struct sim_parameters parameters;
	int error = sim_parameters_load(&parameters, sweep->soc ? tool_sweep_value(sweep, point, 0) : SIM_PRESET_DEFAULT, why, size);

	for (size_t i = 0; i < sweep->axis_count && !error; i++)
		error = set_axis(&parameters, &sweep->axes[i], tool_sweep_value(sweep, point, i), why, size);
	return error ? error : tool_sim_fits(&parameters, why, size);
}

static int add_refusal(struct refusals *refusals, const char *why)
{
	struct refusal *larger;

	for (size_t i = 0; i < refusals->count; i++) {
		if (strcmp(refusals->list[i].why, why) != 0)
			continue;
		refusals->list[i].points++;
		return 0;
	}
	larger = reallocarray(refusals->list, refusals->count + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	refusals->list = larger;
	larger[refusals->count] = (struct refusal){ .why = strdup(why), .points = 1 };
	return larger[refusals->count].why ? (refusals->count++, 0) : -ENOMEM;
}

static void tell_refusals(const struct sweep *sweep, struct refusals *refusals)
{
	for (size_t i = 0; i < refusals->count; i++) {
		tool_error(0, "sweep: %s (%zu of %zu points, which do not run)", refusals->list[i].why,
			   refusals->list[i].points, sweep->points);
		free(refusals->list[i].why);
	}
	free(refusals->list);
}

int tool_sweep_check_points(struct sweep *sweep)
{
	struct refusals refusals = { 0 };
	int error = 0;

	sweep->is_refused = calloc(sweep->points, sizeof(*sweep->is_refused));
	for (size_t point = 0; sweep->is_refused && point < sweep->points && !error; point++) {
		char why[256] = "";

		sweep->is_refused[point] = check_point(sweep, point, why, sizeof(why)) != 0;
		if (sweep->is_refused[point])
			error = add_refusal(&refusals, why[0] ? why : "a parameter is not possible");
	}
	tell_refusals(sweep, &refusals);
	return error || !sweep->is_refused ? tool_error(EXIT_FAILURE, "sweep: out of memory") : 0;
}
