/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/matrix_market.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "examples/common/entries.h"
#include "examples/common/scan.h"

#define BANNER "%%MatrixMarket"

enum field { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN };
enum symmetry { SYMMETRY_GENERAL, SYMMETRY_SYMMETRIC, SYMMETRY_SKEW };

struct matrix_market {
	struct scan scan;
	size_t size;
	enum field field;
	enum symmetry symmetry;
	uint64_t rows;
	uint64_t columns;
	uint64_t promised;	/* elements, by the size line */
	uint64_t size_line;
	struct entries entries;
};

bool matrix_market_is(const char *text, size_t size)
{
	size_t length = strlen(BANNER);

	return size >= length && strncasecmp(text, BANNER, length) == 0;
}

uint64_t matrix_market_dimension_limit(size_t size)
{
	uint64_t limit = (1u << 20) + 16 * (uint64_t)size;

	return limit < UINT32_MAX ? limit : UINT32_MAX;
}

static int parse_object(struct matrix_market *file)
{
	struct token token = { 0 };

	if (!scan_token(&file->scan, &token) || !token_is(&token, BANNER))
		return scan_error(&file->scan, -EINVAL, "the file does not start with %s", BANNER);
	if (!scan_token(&file->scan, &token) || !token_is(&token, "matrix"))
		return scan_error(&file->scan, -EINVAL, "the banner's second word is not \"matrix\"");
	if (!scan_token(&file->scan, &token))
		return scan_error(&file->scan, -EINVAL, "the banner names no format");
	if (token_is(&token, "array"))
		return scan_error(&file->scan, -EOPNOTSUPP,
				  "this is a dense matrix (array format); a sparse one is needed (coordinate format)");
	if (!token_is(&token, "coordinate"))
		return scan_error(&file->scan, -EINVAL, "the banner's format is not \"coordinate\"");
	return 0;
}

static int parse_field(struct matrix_market *file)
{
	struct token token = { 0 };

	if (!scan_token(&file->scan, &token))
		return scan_error(&file->scan, -EINVAL, "the banner names no field (real, integer, pattern)");
	if (token_is(&token, "complex"))
		return scan_error(&file->scan, -EOPNOTSUPP, "complex matrices are not supported");
	if (token_is(&token, "real"))
		file->field = FIELD_REAL;
	else if (token_is(&token, "integer"))
		file->field = FIELD_INTEGER;
	else if (token_is(&token, "pattern"))
		file->field = FIELD_PATTERN;
	else
		return scan_error(&file->scan, -EINVAL, "the banner's field is none of real, integer, pattern");
	return 0;
}

static int parse_symmetry(struct matrix_market *file)
{
	struct token token = { 0 };

	if (!scan_token(&file->scan, &token))
		return scan_error(&file->scan, -EINVAL,
				  "the banner names no symmetry (general, symmetric, skew-symmetric)");
	if (token_is(&token, "hermitian"))
		return scan_error(&file->scan, -EOPNOTSUPP, "hermitian matrices are not supported");
	if (token_is(&token, "general"))
		file->symmetry = SYMMETRY_GENERAL;
	else if (token_is(&token, "symmetric"))
		file->symmetry = SYMMETRY_SYMMETRIC;
	else if (token_is(&token, "skew-symmetric"))
		file->symmetry = SYMMETRY_SKEW;
	else
		return scan_error(&file->scan, -EINVAL,
				  "the banner's symmetry is none of general, symmetric, skew-symmetric");
	if (file->symmetry == SYMMETRY_SKEW && file->field == FIELD_PATTERN)
		return scan_error(&file->scan, -EINVAL, "a skew-symmetric matrix cannot be a pattern");
	return 0;
}

static int parse_banner(struct matrix_market *file)
{
	int error;

	if (!scan_line(&file->scan))
		return message_set(file->scan.message, -EINVAL, "%s: the file is empty", file->scan.name);
	error = parse_object(file);
	if (!error)
		error = parse_field(file);
	if (!error)
		error = parse_symmetry(file);
	if (!error)
		error = scan_end(&file->scan);
	return error;
}

/* The next line that is neither blank nor a comment. */
static bool next_data_line(struct scan *scan)
{
	struct token token;

	while (scan_line(scan)) {
		const char *start = scan->at;

		if (start < scan->line_end && *start == '%')
			continue;
		if (!scan_token(scan, &token))
			continue;
		scan->at = start;
		return true;
	}
	return false;
}

static int check_dimension(struct matrix_market *file, const char *what, uint64_t value)
{
	uint64_t limit = matrix_market_dimension_limit(file->size);

	if (value <= limit)
		return 0;
	return scan_error(&file->scan, -ERANGE,
			  "%" PRIu64 " %s are more than a file of %zu bytes may ask for (%" PRIu64 ")",
			  value, what, file->size, limit);
}

static int parse_size(struct matrix_market *file)
{
	struct scan *scan = &file->scan;
	int error;

	if (!next_data_line(scan))
		return scan_error(scan, -EINVAL, "the file ends before the line with its size");
	file->size_line = scan->line;
	error = scan_unsigned(scan, "number of rows", &file->rows);
	if (!error)
		error = scan_unsigned(scan, "number of columns", &file->columns);
	if (!error)
		error = scan_unsigned(scan, "number of entries", &file->promised);
	if (!error)
		error = scan_end(scan);
	if (!error)
		error = check_dimension(file, "rows", file->rows);
	if (!error)
		error = check_dimension(file, "columns", file->columns);
	if (!error && file->symmetry != SYMMETRY_GENERAL && file->rows != file->columns)
		error = scan_error(scan, -EINVAL, "a symmetric matrix of %" PRIu64 " by %" PRIu64 " is not square",
				   file->rows, file->columns);
	return error;
}

static int parse_index(struct matrix_market *file, const char *what, uint64_t limit, uint32_t *index)
{
	uint64_t value;
	int error = scan_unsigned(&file->scan, what, &value);

	if (error)
		return error;
	if (value == 0)
		return scan_error(&file->scan, -ERANGE, "%s is 0; the first is 1", what);
	if (value > limit)
		return scan_error(&file->scan, -ERANGE, "%s %" PRIu64 " is beyond the %" PRIu64 " %ss",
				  what, value, limit, what);
	*index = (uint32_t)(value - 1);
	return 0;
}

static int parse_value(struct matrix_market *file, union csr_value *value)
{
	switch (file->field) {
	case FIELD_REAL:
		return scan_real(&file->scan, "value", &value->real);
	case FIELD_INTEGER:
		return scan_signed(&file->scan, "value", &value->integer);
	case FIELD_PATTERN:
		value->integer = 1;
		return 0;
	}
	return -EINVAL;
}

static int negate(struct matrix_market *file, union csr_value *value)
{
	if (file->field == FIELD_REAL)
		value->real = -value->real;
	else if (value->integer == INT64_MIN)
		return scan_error(&file->scan, -ERANGE, "the opposite of value %" PRId64 " is out of range",
				  value->integer);
	else
		value->integer = -value->integer;
	return 0;
}

static int add_entry(struct matrix_market *file, const struct csr_entry *entry)
{
	if (entries_add(&file->entries, entry) == 0)
		return 0;
	return scan_error(&file->scan, -ENOMEM, "out of memory");
}

static int parse_entry(struct matrix_market *file)
{
	struct csr_entry entry;
	uint32_t row;
	int error;

	error = parse_index(file, "row", file->rows, &entry.row);
	if (!error)
		error = parse_index(file, "column", file->columns, &entry.column);
	if (!error)
		error = parse_value(file, &entry.value);
	if (!error)
		error = scan_end(&file->scan);
	if (!error)
		error = add_entry(file, &entry);
	if (error || file->symmetry == SYMMETRY_GENERAL)
		return error;

	if (entry.row == entry.column) {
		if (file->symmetry == SYMMETRY_SKEW)
			return scan_error(&file->scan, -EINVAL,
					  "an entry on the diagonal of a skew-symmetric matrix");
		return 0;
	}
	row = entry.row;
	entry.row = entry.column;
	entry.column = row;
	if (file->symmetry == SYMMETRY_SKEW)
		error = negate(file, &entry.value);
	return error ? error : add_entry(file, &entry);
}

static int parse_entries(struct matrix_market *file)
{
	for (uint64_t i = 0; i < file->promised; i++) {
		int error;

		if (!next_data_line(&file->scan))
			return scan_error(&file->scan, -EINVAL,
					  "the file ends after %" PRIu64 " entries; line %" PRIu64 " promises %" PRIu64,
					  i, file->size_line, file->promised);
		error = parse_entry(file);
		if (error)
			return error;
	}
	if (next_data_line(&file->scan))
		return scan_error(&file->scan, -EINVAL,
				  "more entries than the %" PRIu64 " that line %" PRIu64 " promises",
				  file->promised, file->size_line);
	return 0;
}

int matrix_market_parse(struct csr *csr, const char *name, const char *text, size_t size,
			struct message *message)
{
	struct matrix_market file = { .size = size };
	int error;

	memset(csr, 0, sizeof(*csr));
	scan_start(&file.scan, name, text, size, message);
	error = parse_banner(&file);
	if (!error)
		error = parse_size(&file);
	if (!error)
		error = parse_entries(&file);
	if (!error) {
		error = csr_from_entries(csr, file.rows, file.columns,
					 file.field == FIELD_REAL ? CSR_REAL : CSR_INTEGER,
					 file.entries.list, file.entries.count);
		if (error)
			message_set(message, error, "%s: out of memory for %" PRIu64 " rows and %" PRIu64 " entries",
				    name, file.rows, file.entries.count);
	}
	entries_free(&file.entries);
	return error;
}
