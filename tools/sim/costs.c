/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Cost tables of mimic sim: CSV, a row for each line of code that has accesses. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/sim/sim.h"

#define COLUMNS_MAX 32

/* _(name, is a number); those behind prefetches are 0 where a table has no such column. */
#define COLUMNS(_) \
	_(file, 0) _(function, 0) _(loop, 1) _(first_line, 1) _(last_line, 1) _(instructions, 1) \
	_(loads, 1) _(stores, 1) _(mmio, 1) _(prefetches, 1) _(taken, 1) _(missed, 1) _(multiplies, 1)

enum column {
#define _(name, is_number) COLUMN_##name,
	COLUMNS(_)
#undef _
	COLUMN_COUNT
};

static const struct {
	const char *name;
	bool is_number;
} columns[] = {
#define _(name, is_number) { #name, is_number },
	COLUMNS(_)
#undef _
};

struct table {
	const char *path;
	unsigned long line;
	int place[COLUMN_COUNT];	/* which field is which column */
	bool has_header;
};

static int mistake(const struct table *table, const char *text, const char *value)
{
	return tool_error(EXIT_BAD_INPUT, "%s:%lu: %s%s%s", table->path, table->line, text, value ? " " : "",
			  value ? value : "");
}

static unsigned int split(char *line, char **fields)
{
	unsigned int count = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (line && count < COLUMNS_MAX)
		fields[count++] = strsep(&line, ",");
	return count;
}

static int take_header(struct table *table, char **fields, unsigned int count)
{
	for (unsigned int column = 0; column < COLUMN_COUNT; column++) {
		table->place[column] = -1;
		for (unsigned int i = 0; i < count; i++)
			if (!strcmp(fields[i], columns[column].name))
				table->place[column] = (int)i;
		if (table->place[column] < 0 && column <= COLUMN_prefetches)
			return mistake(table, "the header line has no column", columns[column].name);
	}
	table->has_header = true;
	return 0;
}

static void *grow(void *array, size_t count, size_t size)
{
	/* Twice as much at each power of two. */
	return count & (count - 1) ? array : reallocarray(array, count ? 2 * count : 1, size);
}

/* The loop that the row belongs to; another row of it may have come before. */
static int find_loop(struct sim_costs *costs, struct sim_cost_row *row, const struct sim_loop *loop)
{
	struct sim_loop *loops;

	for (size_t i = 0; i < costs->row_count; i++) {
		const struct sim_cost_row *other = &costs->rows[i];

		if (other->loop != row->loop || strcmp(other->function, row->function) || strcmp(other->file, row->file))
			continue;
		row->index = other->index;
		return 0;
	}
	loops = grow(costs->loops, costs->loop_count, sizeof(*loops));
	if (!loops)
		return -ENOMEM;
	costs->loops = loops;
	row->index = (uint32_t)costs->loop_count;
	loops[costs->loop_count++] = *loop;
	return 0;
}

static int add_row(struct table *table, struct sim_costs *costs, char **texts, const uint64_t *numbers)
{
	const struct sim_loop loop = {
		.instructions = numbers[COLUMN_instructions],
		.accesses = numbers[COLUMN_loads] + numbers[COLUMN_stores] + numbers[COLUMN_mmio] +
			    numbers[COLUMN_prefetches],
		.mmio = numbers[COLUMN_mmio],
		.taken = numbers[COLUMN_taken],
		.missed = numbers[COLUMN_missed],
		.multiplies = numbers[COLUMN_multiplies],
	};
	struct sim_cost_row row = {
		.loop = numbers[COLUMN_loop],
		.first_line = numbers[COLUMN_first_line],
		.last_line = numbers[COLUMN_last_line],
	};
	struct sim_cost_row *rows = grow(costs->rows, costs->row_count, sizeof(*rows));

	if (!rows)
		return mistake(table, "out of memory", NULL);
	costs->rows = rows;
	row.file = strdup(texts[COLUMN_file]);
	row.function = strdup(texts[COLUMN_function]);
	if (!row.file || !row.function || find_loop(costs, &row, &loop))
		return mistake(table, "out of memory", NULL);
	rows[costs->row_count++] = row;
	return 0;
}

static int take_row(struct table *table, struct sim_costs *costs, char **fields, unsigned int count)
{
	uint64_t numbers[COLUMN_COUNT];
	char *texts[COLUMN_COUNT], *end;

	for (unsigned int column = 0; column < COLUMN_COUNT; column++) {
		numbers[column] = 0;
		if (table->place[column] < 0)
			continue;
		if (table->place[column] >= (int)count)
			return mistake(table, "there is no value for", columns[column].name);
		texts[column] = fields[table->place[column]];
		if (!columns[column].is_number)
			continue;
		errno = 0;
		numbers[column] = strtoull(texts[column], &end, 10);
		if (errno || *end || end == texts[column] || texts[column][0] == '-' || numbers[column] > UINT32_MAX)
			return mistake(table, "no number:", texts[column]);
	}
	return add_row(table, costs, texts, numbers);
}

static int read_table(struct sim_costs *costs, const char *path)
{
	struct table table = { .path = path };
	FILE *file = fopen(path, "re");
	char *line = NULL, *fields[COLUMNS_MAX];
	size_t size = 0;
	int status = 0;

	if (!file)
		return tool_error(EXIT_BAD_INPUT, "%s: %s", path, strerror(errno));
	while (!status && getline(&line, &size, file) >= 0) {
		unsigned int count;

		table.line++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		count = split(line, fields);
		status = table.has_header ? take_row(&table, costs, fields, count) : take_header(&table, fields, count);
	}
	if (!status && ferror(file))
		status = tool_error(EXIT_BAD_INPUT, "%s: cannot be read", path);
	free(line);
	fclose(file);
	return status;
}

static int is_table(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".csv");
}

/* mimic's own tables lie beside its command. */
static int read_own(struct sim_costs *costs)
{
	char folder[PATH_MAX], path[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	struct dirent **entries;
	int count, status = 0;

	if (length < 0)
		return 0;
	folder[length] = '\0';
	*strrchr(folder, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../share/mimic/costs", folder);
	count = scandir(path, &entries, is_table, alphasort);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/../share/mimic/costs/%s", folder, entries[i]->d_name);
		if (!status)
			status = read_table(costs, path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return status;
}

int tool_sim_costs_read(struct sim_costs *costs, const struct mimic_option_values *files)
{
	int status = 0;

	memset(costs, 0, sizeof(*costs));
	costs->loops = malloc(sizeof(*costs->loops));
	if (!costs->loops)
		return tool_error(EXIT_FAILURE, "out of memory");
	costs->loops[0] = (struct sim_loop){ .instructions = SIM_DEFAULT_INSTRUCTIONS, .accesses = 1 };
	costs->loop_count = 1;
	for (size_t i = 0; i < files->count && !status; i++)
		status = read_table(costs, files->values[i]);
	return files->count ? status : read_own(costs);
}

void tool_sim_costs_free(struct sim_costs *costs)
{
	for (size_t i = 0; i < costs->row_count; i++) {
		free(costs->rows[i].file);
		free(costs->rows[i].function);
	}
	free(costs->rows);
	free(costs->loops);
}

/*
 * The shorter range of lines. A loop may stand on one line with its header, which has a row of the code
 * around the loop: where only one of two rows has accesses, that one, else the inner loop, which has the
 * higher number.
 */
static bool is_nearer(const struct sim_costs *costs, const struct sim_cost_row *row,
		      const struct sim_cost_row *than)
{
	uint64_t length = row->last_line - row->first_line, other = than->last_line - than->first_line;
	bool has_access = costs->loops[row->index].accesses, other_has = costs->loops[than->index].accesses;

	if (length != other)
		return length < other;
	if (has_access != other_has)
		return has_access;
	/* Numbers of other functions' loops say nothing. */
	return row->loop > than->loop && !strcmp(row->function, than->function);
}

/* `function` NULL: in any. */
static const struct sim_cost_row *find_row(const struct sim_costs *costs, const char *file, const char *function,
					   uint64_t line)
{
	const struct sim_cost_row *found = NULL;

	for (size_t i = 0; i < costs->row_count; i++) {
		const struct sim_cost_row *row = &costs->rows[i];

		if (line < row->first_line || line > row->last_line || (function && strcmp(row->function, function)) ||
		    strcmp(row->file, file))
			continue;
		if (!found || is_nearer(costs, row, found))
			found = row;
	}
	return found;
}

const struct sim_cost_row *tool_sim_costs_find(const struct sim_costs *costs, const char *file,
					       const char *function, uint64_t line)
{
	const struct sim_cost_row *row = find_row(costs, file, function, line);

	/* The compiler of the table may have put a function's code into others', or not, where that of the program did not. */
	return row ? row : find_row(costs, file, NULL, line);
}
