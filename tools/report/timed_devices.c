/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The counters of the devices of a run in virtual time: a table for each kind, and lines over
 * the run's cycles. Each kind lists its numbers (struct mimic_time).
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "tools/report/report.h"

/* --- numbers ------------------------------------------------------------------------------------ */

/* Of a kind: names of its model's counters, or of its counters of time. */
static unsigned int add_columns(struct report_device_column *columns, unsigned int count, const char *kind,
				const char *const *names, const char *suffix)
{
	for (; names && *names && count < REPORT_DEVICE_COLUMNS; names++) {
		struct report_device_column *column = &columns[count++];

		*column = (struct report_device_column){ .kind = kind, .name = *names };
		snprintf(column->part, sizeof(column->part), "%s%s", kind, suffix);
	}
	return count;
}

unsigned int report_device_columns(struct report_device_column columns[REPORT_DEVICE_COLUMNS])
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < mimic_kind_count(); i++) {
		const struct mimic_kind *kind = mimic_kinds[i];

		if (!kind->time)
			continue;
		count = add_columns(columns, count, kind->name, kind->time->columns, "");
		count = add_columns(columns, count, kind->name, kind->time->time_columns, "_time");
	}
	return count;
}

static struct json_object *field(struct json_object *object, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

/* Of a statistic with several values their sum. */
static uint64_t number(struct json_object *value)
{
	uint64_t sum = 0;

	if (!json_object_is_type(value, json_type_array))
		return json_object_get_uint64(value);
	for (size_t i = 0; i < json_object_array_length(value); i++)
		sum += json_object_get_uint64(json_object_array_get_idx(value, i));
	return sum;
}

struct report_device *report_device_add(struct report_timed_row *row, const char *kind, const char *name)
{
	struct report_device *devices = reallocarray(row->devices, row->device_count + 1, sizeof(*devices)), *device;

	if (!devices)
		return NULL;
	row->devices = devices;
	device = &devices[row->device_count];
	*device = (struct report_device){ .kind = kind, .values = calloc(REPORT_DEVICE_COLUMNS, sizeof(*device->values)) };
	if (!device->values)
		return NULL;
	snprintf(device->name, sizeof(device->name), "%s", name);
	row->device_count++;
	return device;
}

/* Those of a kind that are in the object; one that has none of it is none. */
static bool take_device(struct report_timed_row *row, struct json_object *object, const char *kind, const char *name)
{
	struct report_device_column columns[REPORT_DEVICE_COLUMNS];
	unsigned int count = report_device_columns(columns);
	struct report_device *device;

	if (!field(object, kind))
		return true;
	device = report_device_add(row, kind, name);
	for (unsigned int i = 0; device && i < count; i++)
		if (!strcmp(columns[i].kind, kind))
			device->values[i] = number(field(field(object, columns[i].part), columns[i].name));
	return device;
}

bool report_devices_take(struct report_timed_row *row, struct json_object *phase)
{
	struct json_object *devices = field(phase, "devices");
	size_t count = json_object_is_type(devices, json_type_array) ? json_object_array_length(devices) : 0;
	bool is_right = true;

	for (unsigned int i = 0; i < mimic_kind_count() && is_right; i++) {
		const struct mimic_kind *kind = mimic_kinds[i];
		char name[32];

		if (!kind->time)
			continue;
		for (size_t number = 0; number < count && is_right; number++) {
			struct json_object *device = json_object_array_get_idx(devices, number);
			struct json_object *text = field(device, "name");

			is_right = take_device(row, device, kind->name, text ? json_object_get_string(text) : "");
		}
		/* The only one has no list. */
		snprintf(name, sizeof(name), "%s0", kind->name);
		if (!count && is_right)
			is_right = take_device(row, phase, kind->name, name);
	}
	return is_right;
}

void report_devices_free(struct report_timed_row *row)
{
	for (size_t i = 0; i < row->device_count; i++)
		free(row->devices[i].values);
	free(row->devices);
}

/* --- a table -------------------------------------------------------------------------------------- */

#define ROWS_MOST 1000

static bool is_of(const struct report_timed_row *row, const char *phase)
{
	return !strcmp(row->phase, phase);
}

/* Does any device of the kind have something there? */
static bool has_numbers(const struct report_timed *timed, const char *phase, const char *kind, unsigned int column)
{
	for (size_t i = 0; i < timed->count; i++) {
		const struct report_timed_row *row = &timed->rows[i];

		for (size_t d = 0; d < row->device_count && is_of(row, phase); d++)
			if (!strcmp(row->devices[d].kind, kind) && row->devices[d].values[column])
				return true;
	}
	return false;
}

static void print_row(FILE *out, const struct report_timed_row *row, const struct report_device *device,
		      const unsigned int *shown, unsigned int count)
{
	plot_print(out, "<tr><th scope=\"row\">%s</th><td>%s</td>", *row->label ? row->label : row->phase, device->name);
	for (unsigned int i = 0; i < count; i++)
		report_table_number(out, device->values[shown[i]]);
	fputs("</tr>\n", out);
}

static void print_kind(FILE *out, const struct report_timed *timed, const char *phase, const char *kind)
{
	struct report_device_column columns[REPORT_DEVICE_COLUMNS];
	unsigned int count = report_device_columns(columns), shown[REPORT_DEVICE_COLUMNS], shown_count = 0;
	size_t rows = 0;

	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(columns[i].kind, kind) && has_numbers(timed, phase, kind, i))
			shown[shown_count++] = i;
	if (!shown_count)
		return;
	plot_print(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Devices: %s\"><table>\n<thead><tr>"
		   "<th scope=\"col\">run</th><th scope=\"col\">device</th>", kind);
	for (unsigned int i = 0; i < shown_count; i++)
		plot_print(out, "<th scope=\"col\" class=\"number\">%s</th>", columns[shown[i]].name);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (size_t i = 0; i < timed->count && rows < ROWS_MOST; i++) {
		const struct report_timed_row *row = &timed->rows[i];

		for (size_t d = 0; d < row->device_count && rows < ROWS_MOST && is_of(row, phase); d++) {
			if (strcmp(row->devices[d].kind, kind))
				continue;
			print_row(out, row, &row->devices[d], shown, shown_count);
			rows++;
		}
	}
	fputs("</tbody></table></div>\n", out);
}

void report_devices_tables(FILE *out, const struct report_timed *timed, const char *phase)
{
	for (unsigned int i = 0; i < mimic_kind_count(); i++)
		if (mimic_kinds[i]->time)
			print_kind(out, timed, phase, mimic_kinds[i]->name);
}

/* --- over the run's cycles -------------------------------------------------------------------------- */

/* Of a state the value at the end of the interval; of a counter its increase per cycle. */
static bool is_state(const struct mimic_time *time, const char *name)
{
	for (unsigned int i = 0; i < time->statistic_count; i++)
		if (!strcmp(time->statistics[i].name, name))
			return time->statistics[i].is_most;
	return false;
}

/* Of the intervals [first, end). */
static struct report_point make_point(struct json_object *intervals, size_t first, size_t end, const char *part,
				      const char *name, bool state)
{
	double sum = 0, cycles = 0;
	struct report_point point = { 0 };

	for (size_t i = first; i < end; i++) {
		struct json_object *interval = json_object_array_get_idx(intervals, i);
		double length = (double)number(field(interval, "cycles"));

		if (i == first)
			point.from = (double)number(field(interval, "begin"));
		point.to = (double)number(field(interval, "begin")) + length;
		sum += (double)number(field(field(interval, part), name)) * (state ? length : 1);
		cycles += length;
	}
	point.mean = point.most = cycles > 0 ? sum / cycles : 0;
	return point;
}

static void plot_one(FILE *out, struct json_object *intervals, const struct mimic_kind *kind, const char *name)
{
	size_t count = json_object_array_length(intervals), step = (count + REPORT_POINTS_MAX - 1) / REPORT_POINTS_MAX;
	bool state = is_state(kind->time, name);
	struct report_line line = { .name = name };
	struct report_plot plot = {
		.unit = state ? "cycles" : "in a cycle", .lines = &line, .line_count = 1, .is_in_cycles = true,
	};
	char part[32], title[64];

	snprintf(part, sizeof(part), "%s_time", kind->name);
	snprintf(title, sizeof(title), "%s: %s", kind->name, name);
	plot.title = title;
	line.series.mean = make_point(intervals, 0, count, part, name, state).mean;
	for (size_t first = 0; first < count; first += step) {
		struct report_point *point = &line.series.points[line.series.count++];

		*point = make_point(intervals, first, first + step < count ? first + step : count, part, name, state);
		plot.seconds = point->to;
		if (point->most > line.series.most)
			line.series.most = point->most;
	}
	snprintf(line.note, sizeof(line.note), "%.2f in the mean", line.series.mean);
	if (line.series.most > 0)
		report_plot(out, &plot);
}

void report_devices_plots(FILE *out, struct json_object *intervals)
{
	for (unsigned int i = 0; i < mimic_kind_count(); i++) {
		const struct mimic_kind *kind = mimic_kinds[i];
		const char *const *names = kind->time ? kind->time->interval_columns : NULL;

		if (!names || !json_object_array_length(intervals) ||
		    !field(json_object_array_get_idx(intervals, 0), kind->name))
			continue;
		fputs("<article class=\"card\">\n", out);
		for (; *names; names++)
			plot_one(out, intervals, kind, *names);
		fputs("</article>\n", out);
	}
}
