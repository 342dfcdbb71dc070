/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/edge_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/entries.h"
#include "examples/common/scan.h"

static int parse_id(struct scan *scan, const char *what, uint32_t *id)
{
	uint64_t value;
	int error = scan_unsigned(scan, what, &value);

	if (error)
		return error;
	if (value > EDGE_LIST_ID_MAX)
		return scan_error(scan, -ERANGE, "%s %" PRIu64 " is beyond the largest, %u", what, value,
				  EDGE_LIST_ID_MAX);
	*id = (uint32_t)value;
	return 0;
}

static int parse_edge(struct scan *scan, struct entries *entries)
{
	struct csr_entry entry = { .value.integer = 1 };
	int error;

	error = parse_id(scan, "vertex", &entry.row);
	if (!error)
		error = parse_id(scan, "second vertex", &entry.column);
	if (!error)
		error = scan_end(scan);
	if (error)
		return error;
	if (entries_add(entries, &entry))
		return scan_error(scan, -ENOMEM, "out of memory");
	return 0;
}

static int parse_lines(struct scan *scan, struct entries *entries)
{
	while (scan_line(scan)) {
		const char *start = scan->at;
		struct token token;
		int error;

		if (!scan_token(scan, &token) || *start == '#' || *start == '%')
			continue;
		scan->at = start;
		error = parse_edge(scan, entries);
		if (error)
			return error;
	}
	if (entries->count == 0)
		return message_set(scan->message, -EINVAL, "%s: the file has no edges", scan->name);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* The ids that occur, each once, ascending. */
static uint32_t *distinct_ids(const struct entries *entries, uint64_t *count)
{
	uint32_t *ids = reallocarray(NULL, 2 * entries->count, sizeof(*ids));
	uint64_t distinct = 0;

	if (!ids)
		return NULL;
	for (uint64_t i = 0; i < entries->count; i++) {
		ids[2 * i] = entries->list[i].row;
		ids[2 * i + 1] = entries->list[i].column;
	}
	qsort(ids, 2 * entries->count, sizeof(*ids), compare_ids);
	for (uint64_t i = 0; i < 2 * entries->count; i++) {
		if (distinct == 0 || ids[distinct - 1] != ids[i])
			ids[distinct++] = ids[i];
	}
	*count = distinct;
	return ids;
}

static uint32_t number_of(const uint32_t *ids, uint64_t count, uint32_t id)
{
	const uint32_t *found = bsearch(&id, ids, count, sizeof(*ids), compare_ids);

	return (uint32_t)(found - ids);
}

/* Replaces ids by vertex numbers. */
static int compact(struct entries *entries, uint64_t *vertices)
{
	uint32_t *ids = distinct_ids(entries, vertices);

	if (!ids)
		return -ENOMEM;
	for (uint64_t i = 0; i < entries->count; i++) {
		struct csr_entry *entry = &entries->list[i];

		entry->row = number_of(ids, *vertices, entry->row);
		entry->column = number_of(ids, *vertices, entry->column);
	}
	free(ids);
	return 0;
}

int edge_list_parse(struct csr *csr, const char *name, const char *text, size_t size,
		    struct message *message)
{
	struct entries entries = { 0 };
	struct scan scan;
	uint64_t vertices = 0;
	int error;

	memset(csr, 0, sizeof(*csr));
	scan_start(&scan, name, text, size, message);
	error = parse_lines(&scan, &entries);
	if (!error) {
		error = compact(&entries, &vertices);
		if (!error)
			error = csr_from_entries(csr, vertices, vertices, CSR_INTEGER, entries.list,
						 entries.count);
		if (error)
			message_set(message, error, "%s: out of memory for %" PRIu64 " edges", name,
				    entries.count);
	}
	entries_free(&entries);
	return error;
}
