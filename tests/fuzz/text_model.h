/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Lines, words and numbers for the oracles of the loaders' fuzzers: slow, by
 * copies and regular expressions, and nothing of the loaders' own code.
 */
#ifndef TESTS_FUZZ_TEXT_MODEL_H
#define TESTS_FUZZ_TEXT_MODEL_H

#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/csr.h"

#define MODEL_WORDS 8	/* more on a line are only counted */

struct model_line {
	char *text;			/* its own copy, words cut apart by NULs */
	bool is_comment;		/* starts with % */
	bool is_hash;			/* starts with # */
	bool has_nul;			/* a NUL in a word makes it no number */
	unsigned int words;
	char *word[MODEL_WORDS];
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

/* Cuts the line that starts at `at`; returns where the next one starts. */
static size_t model_cut(struct model_line *line, const uint8_t *data, size_t size, size_t at)
{
	size_t end = at, length;

	while (end < size && data[end] != '\n')
		end++;
	length = end - at;
	if (length > 0 && data[end - 1] == '\r')
		length--;
	memset(line, 0, sizeof(*line));
	line->text = calloc(length + 1, 1);
	check(line->text != NULL);
	memcpy(line->text, data + at, length);
	line->is_comment = line->text[0] == '%';
	line->is_hash = line->text[0] == '#';
	for (size_t i = 0; i < length; i++) {
		if (line->text[i] == '\0') {
			line->has_nul = true;
			line->text[i] = '?';
		}
	}
	for (size_t i = 0; i < length; i++) {
		if (line->text[i] == ' ' || line->text[i] == '\t') {
			line->text[i] = '\0';
			continue;
		}
		if (i > 0 && line->text[i - 1] != '\0')
			continue;
		if (line->words < MODEL_WORDS)
			line->word[line->words] = line->text + i;
		line->words++;
	}
	return end < size ? end + 1 : size;
}

static bool model_matches(const char *word, const char *pattern)
{
	regex_t regex;
	bool matches;

	check(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
	matches = regexec(&regex, word, 0, NULL, 0) == 0;
	regfree(&regex);
	return matches;
}

static bool model_unsigned(const char *word, uint64_t *value)
{
	if (!model_matches(word, "^[0-9]+$"))
		return false;
	errno = 0;
	*value = strtoull(word, NULL, 10);
	return errno == 0;
}

struct model_entry {
	struct csr_entry entry;
	size_t order;
};

static int model_compare(const void *a, const void *b)
{
	const struct model_entry *left = a, *right = b;

	if (left->entry.row != right->entry.row)
		return left->entry.row < right->entry.row ? -1 : 1;
	if (left->entry.column != right->entry.column)
		return left->entry.column < right->entry.column ? -1 : 1;
	return left->order < right->order ? -1 : 1;
}

/* The matrix must hold just these entries, sorted, equal places in the order they came. */
static void model_check(const struct csr *csr, struct model_entry *entries, size_t count)
{
	size_t next = 0;

	check(csr->nonzeros == count);
	qsort(entries, count, sizeof(*entries), model_compare);
	check(csr->row_start[0] == 0);
	for (uint64_t row = 0; row < csr->rows; row++) {
		check(csr->row_start[row] == next);
		for (; next < count && entries[next].entry.row == row; next++) {
			check(csr->column[next] == entries[next].entry.column);
			check(csr->value[next].integer == entries[next].entry.value.integer);
		}
	}
	check(next == count && csr->row_start[csr->rows] == count);
}

#endif
