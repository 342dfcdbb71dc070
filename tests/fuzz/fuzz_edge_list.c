/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The edge list reader on any bytes: it accepts and rejects as the model below does, and reads the same edges. */
#include "examples/common/edge_list.h"
#include "tests/fuzz/text_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool model_edge(const struct model_line *line, struct csr_entry *entry)
{
	uint64_t from, to;

	if (line->has_nul || line->words != 2 || !model_unsigned(line->word[0], &from) ||
	    !model_unsigned(line->word[1], &to) || from > 4294967294u || to > 4294967294u)
		return false;
	entry->row = from;
	entry->column = to;
	entry->value.integer = 1;
	return true;
}

/* Returns the number of edges, 0 if the file must be rejected. */
static size_t model_parse(struct csr_entry *edges, const uint8_t *data, size_t size)
{
	size_t count = 0;

	for (size_t at = 0; at < size;) {
		struct model_line line;
		bool good = true;

		at = model_cut(&line, data, size, at);
		if (!line.is_comment && !line.is_hash && line.words > 0) {
			good = model_edge(&line, &edges[count]);
			count++;
		}
		free(line.text);
		if (!good)
			return 0;
	}
	return count;
}

/* The ids in order of size, each once: by inserting them one after the other. */
static size_t model_ids(const struct csr_entry *edges, size_t count, uint32_t *ids)
{
	size_t distinct = 0;

	for (size_t i = 0; i < 2 * count; i++) {
		uint32_t id = i & 1 ? edges[i / 2].column : edges[i / 2].row;
		size_t at = distinct;

		while (at > 0 && ids[at - 1] > id)
			at--;
		if (at > 0 && ids[at - 1] == id)
			continue;
		memmove(ids + at + 1, ids + at, (distinct - at) * sizeof(*ids));
		ids[at] = id;
		distinct++;
	}
	return distinct;
}

static uint32_t model_number(const uint32_t *ids, uint32_t id)
{
	uint32_t number = 0;

	while (ids[number] != id)
		number++;
	return number;
}

static void compare(const struct csr *csr, const struct csr_entry *edges, size_t count)
{
	struct model_entry *entries = calloc(count, sizeof(*entries));
	uint32_t *ids = calloc(2 * count + 1, sizeof(*ids));

	check(entries && ids);
	check(csr->kind == CSR_INTEGER && csr->rows == csr->columns);
	check(csr->rows == model_ids(edges, count, ids));
	for (size_t i = 0; i < count; i++) {
		entries[i].entry.row = model_number(ids, edges[i].row);
		entries[i].entry.column = model_number(ids, edges[i].column);
		entries[i].entry.value.integer = 1;
		entries[i].order = i;
	}
	model_check(csr, entries, count);
	free(entries);
	free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct csr_entry *edges = calloc(size + 1, sizeof(*edges));
	struct message message = { "" };
	char *copy = malloc(size ? size : 1);
	struct csr csr;
	size_t count;
	int error;

	check(edges && copy);
	if (size)
		memcpy(copy, data, size);
	error = edge_list_parse(&csr, "fuzz", copy, size, &message);
	count = model_parse(edges, data, size);
	check((count > 0) == (error == 0));
	if (error) {
		check(strncmp(message.text, "fuzz:", 5) == 0 && csr.row_start == NULL);
	} else {
		compare(&csr, edges, count);
		csr_free(&csr);
	}
	free(copy);
	free(edges);
	return 0;
}
