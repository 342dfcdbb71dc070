/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The Matrix Market reader on any bytes: it accepts and rejects as the model below does, and reads the same entries. */
#include <math.h>
#include <strings.h>

#include "examples/common/matrix_market.h"
#include "tests/fuzz/text_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct model {
	bool is_real, is_integer, is_symmetric, is_skew;
	bool has_banner, has_size;
	uint64_t rows, columns, promised, seen;
	struct model_entry *entries;
	size_t count;
};

static bool model_banner(struct model *model, const struct model_line *line)
{
	if (line->words != 5 || strcasecmp(line->word[0], "%%MatrixMarket") || strcasecmp(line->word[1], "matrix") ||
	    strcasecmp(line->word[2], "coordinate"))
		return false;
	model->is_real = !strcasecmp(line->word[3], "real");
	model->is_integer = !strcasecmp(line->word[3], "integer");
	if (!model->is_real && !model->is_integer && strcasecmp(line->word[3], "pattern"))
		return false;
	model->is_symmetric = !strcasecmp(line->word[4], "symmetric");
	model->is_skew = !strcasecmp(line->word[4], "skew-symmetric");
	if (!model->is_symmetric && !model->is_skew && strcasecmp(line->word[4], "general"))
		return false;
	return !model->is_skew || model->is_real || model->is_integer;
}

static bool model_size(struct model *model, const struct model_line *line, size_t size)
{
	uint64_t limit = 1048576 + 16 * (uint64_t)size;

	return line->words == 3 && model_unsigned(line->word[0], &model->rows) &&
	       model_unsigned(line->word[1], &model->columns) && model_unsigned(line->word[2], &model->promised) &&
	       model->rows <= limit && model->columns <= limit &&
	       ((!model->is_symmetric && !model->is_skew) || model->rows == model->columns);
}

static bool model_value(const struct model *model, const char *word, union csr_value *value)
{
	if (model->is_integer) {
		errno = 0;
		value->integer = strtoll(word, NULL, 10);
		return model_matches(word, "^[+-]?[0-9]+$") && errno == 0;
	}
	if (!model_matches(word, "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$") || strlen(word) > 512)
		return false;
	value->real = strtod(word, NULL);
	return isfinite(value->real);
}

static void model_add(struct model *model, const struct csr_entry *entry)
{
	model->entries[model->count].entry = *entry;
	model->entries[model->count].order = model->count;
	model->count++;
}

static bool model_entry(struct model *model, const struct model_line *line)
{
	bool has_value = model->is_real || model->is_integer;
	struct csr_entry entry = { .value.integer = 1 }, mirrored;
	uint64_t row, column;

	if (line->words != (has_value ? 3 : 2) || !model_unsigned(line->word[0], &row) ||
	    !model_unsigned(line->word[1], &column))
		return false;
	if (row < 1 || row > model->rows || column < 1 || column > model->columns)
		return false;
	if (has_value && !model_value(model, line->word[2], &entry.value))
		return false;
	entry.row = row - 1;
	entry.column = column - 1;
	model_add(model, &entry);
	if (!model->is_symmetric && !model->is_skew)
		return true;
	if (row == column)
		return !model->is_skew;
	mirrored = entry;
	mirrored.row = entry.column;
	mirrored.column = entry.row;
	if (model->is_skew && model->is_integer && entry.value.integer == INT64_MIN)
		return false;
	if (model->is_skew && model->is_integer)
		mirrored.value.integer = 0 - entry.value.integer;
	else if (model->is_skew)
		mirrored.value.real = -entry.value.real;
	model_add(model, &mirrored);
	return true;
}

static bool model_take(struct model *model, const struct model_line *line, size_t size)
{
	if (!model->has_banner) {
		model->has_banner = true;
		return !line->has_nul && model_banner(model, line);
	}
	if (line->is_comment || line->words == 0)
		return true;
	if (line->has_nul)
		return false;
	if (!model->has_size) {
		model->has_size = true;
		return model_size(model, line, size);
	}
	return model->seen++ < model->promised && model_entry(model, line);
}

static bool model_parse(struct model *model, const uint8_t *data, size_t size)
{
	bool good = true;

	for (size_t at = 0; good && at < size;) {
		struct model_line line;

		at = model_cut(&line, data, size, at);
		good = model_take(model, &line, size);
		free(line.text);
	}
	return good && model->has_size && model->seen == model->promised;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model model = { .entries = calloc(size + 1, sizeof(*model.entries)) };
	struct message message = { "" };
	char *copy = malloc(size ? size : 1);
	struct csr csr;
	int error;

	check(model.entries && copy);
	if (size)
		memcpy(copy, data, size);
	error = matrix_market_parse(&csr, "fuzz", copy, size, &message);
	check(model_parse(&model, data, size) == (error == 0));
	if (error) {
		check(strncmp(message.text, "fuzz:", 5) == 0 && csr.row_start == NULL);
	} else {
		check(csr.rows == model.rows && csr.columns == model.columns);
		check(csr.kind == (model.is_real ? CSR_REAL : CSR_INTEGER));
		model_check(&csr, model.entries, model.count);
		csr_free(&csr);
	}
	free(copy);
	free(model.entries);
	return 0;
}
