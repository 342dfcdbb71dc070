/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/dare_script.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dare.h"
#include "dare_assembly.h"

#define DATA_MAX (1ull << 30)	/* bytes of one .data */

static const struct {
	const char *name;
	size_t size;
} types[SCRIPT_TYPES] = {
	[SCRIPT_FP32] = { "fp32", 4 }, [SCRIPT_BF16] = { "bf16", 2 }, [SCRIPT_INT8] = { "int8", 1 },
	[SCRIPT_INT32] = { "int32", 4 }, [SCRIPT_HEX] = { "hex", 1 },
};

struct reader {
	struct script *script;
	const char *name;
	unsigned long line;
	const char *text;	/* the line */
	const char *position;
	struct message *message;
};

struct word {
	const char *text;
	size_t length;		/* 0: the end of the line */
};

const char *script_type_name(enum script_type type)
{
	return types[type].name;
}

size_t script_type_size(enum script_type type)
{
	return types[type].size;
}

/* --- words of a line --------------------------------------------------------------------- */

static bool is_end(const char *text)
{
	return !*text || *text == '#' || (text[0] == '/' && text[1] == '/');
}

/* Spaces and commas separate words; one in quotes may hold them. */
static struct word next_word(struct reader *reader)
{
	struct word word;

	reader->position += strspn(reader->position, " \t\r,");
	word = (struct word){ reader->position, 0 };
	if (*word.text == '"') {
		word.length = 1 + strcspn(word.text + 1, "\"");
		word.length += word.text[word.length] == '"';
	} else {
		while (!is_end(word.text + word.length) && !strchr(" \t\r,", word.text[word.length]))
			word.length++;
	}
	reader->position += word.length;
	return word;
}

static bool word_is(struct word word, const char *text)
{
	return strlen(text) == word.length && !memcmp(word.text, text, word.length);
}

static int wrong(const struct reader *reader, struct word word, const char *what)
{
	char shown[41] = "the end of the line";
	size_t i;

	for (i = 0; i < word.length && i < sizeof(shown) - 1; i++)
		shown[i] = word.text[i] < ' ' || word.text[i] > '~' ? '?' : word.text[i];
	if (i)
		shown[i] = '\0';
	return message_set(reader->message, -EINVAL, "%s:%lu:%zu: %s: %s", reader->name, reader->line,
			   (size_t)(word.text - reader->text) + 1, shown, what);
}

static int no_memory(const struct reader *reader)
{
	return message_set(reader->message, -ENOMEM, "%s:%lu: out of memory", reader->name, reader->line);
}

static int take_end(struct reader *reader)
{
	struct word word = next_word(reader);

	return word.length ? wrong(reader, word, "nothing may follow here") : 0;
}

/* A word with a null byte, for the functions that want one. Numbers are short. */
static bool copy_word(struct word word, char *copy, size_t size)
{
	if (!word.length || word.length >= size)
		return false;
	memcpy(copy, word.text, word.length);
	copy[word.length] = '\0';
	return true;
}

/* A whole number as C writes it, -2^63 to 2^64 - 1. */
static bool whole_number(struct word word, uint64_t *value)
{
	char copy[40], *end;
	const char *digits = copy;

	if (!copy_word(word, copy, sizeof(copy)))
		return false;
	digits += copy[0] == '-' || copy[0] == '+';
	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	if (copy[0] == '-')
		*value = (uint64_t)strtoll(copy, &end, 0);
	else
		*value = strtoull(copy, &end, 0);
	return !errno && !*end;
}

static int take_number(struct reader *reader, uint64_t *value)
{
	struct word word = next_word(reader);

	return whole_number(word, value) ? 0 : wrong(reader, word, "a whole number must be here");
}

static int take_count(struct reader *reader, uint64_t maximum, uint64_t *value)
{
	struct word word = next_word(reader);

	if (whole_number(word, value) && *value >= 1 && *value <= maximum && *word.text != '-')
		return 0;
	return wrong(reader, word, "a number must be here, at least 1, and not too large");
}

static int take_register(struct reader *reader, unsigned int *number)
{
	struct word word = next_word(reader);
	int found = dare_scalar_register(word.text, word.length);

	if (found < 0)
		return wrong(reader, word, "a scalar register must be here (x0 to x31, or a name such as a0)");
	*number = (unsigned int)found;
	return 0;
}

static bool find_data(const struct script *script, const char *name, size_t length, size_t *data)
{
	for (*data = 0; *data < script->data_count; ++*data) {
		if (strlen(script->data[*data].name) == length &&
		    !memcmp(script->data[*data].name, name, length))
			return true;
	}
	return false;
}

/* NAME, NAME+BYTES or NAME-BYTES */
static int take_address(struct reader *reader, size_t *data, uint64_t *addend)
{
	struct word word = next_word(reader), rest = word;
	size_t length = 0;

	while (length < word.length && word.text[length] != '+' && word.text[length] != '-')
		length++;
	if (!find_data(reader->script, word.text, length, data))
		return wrong(reader, word, "there is no .data of this name before");
	*addend = 0;
	if (length == word.length)
		return 0;
	rest.text += length;
	rest.length -= length;
	return whole_number(rest, addend) ? 0 : wrong(reader, rest, "a number of bytes must be behind the name");
}

/* --- .data and its contents ----------------------------------------------------------------- */

/* Room for one more; the arrays double. NULL: no memory. */
static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

/* The file is named relative to the program's place. */
static FILE *open_beside(const struct reader *reader, struct word quoted, char *path, size_t size)
{
	const char *slash = strrchr(reader->name, '/');
	int directory = quoted.text[1] != '/' && slash ? (int)(slash - reader->name) + 1 : 0;

	if (snprintf(path, size, "%.*s%.*s", directory, reader->name, (int)quoted.length - 2, quoted.text + 1) >=
	    (int)size) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

static int read_file(const struct reader *reader, struct word quoted, struct script_data *data)
{
	char path[4096], text[64];
	size_t room = 0, done;
	uint8_t *bytes;
	FILE *file;

	if (quoted.length < 3 || quoted.text[quoted.length - 1] != '"')
		return wrong(reader, quoted, "a file's name must be here, between two quotes");
	file = open_beside(reader, quoted, path, sizeof(path));
	if (!file)
		return wrong(reader, quoted, strerror(errno));
	do {
		room = room ? 2 * room : 65536;
		bytes = realloc(data->bytes, room);
		if (!bytes) {
			fclose(file);
			return no_memory(reader);
		}
		data->bytes = bytes;
		errno = 0;
		done = fread(bytes + data->size, 1, room - data->size, file);
		data->size += done;
	} while (data->size == room && room < 2 * DATA_MAX);
	done = ferror(file) ? (size_t)errno : 0;
	fclose(file);
	if (done)
		return wrong(reader, quoted, strerror((int)done));
	if (data->size && data->size <= DATA_MAX)
		return 0;
	snprintf(text, sizeof(text), "the file must have 1 to %llu bytes", DATA_MAX);
	return wrong(reader, quoted, text);
}

static int take_contents(struct reader *reader, struct script_data *data)
{
	struct word word = next_word(reader);
	uint64_t size;

	if (*word.text == '"')
		return read_file(reader, word, data);
	if (!whole_number(word, &size) || *word.text == '-' || !size || size > DATA_MAX)
		return wrong(reader, word, "bytes (at most 1 GiB) or \"FILE\" must be here");
	data->size = size;
	data->bytes = calloc(1, size);
	return data->bytes ? 0 : no_memory(reader);
}

static bool is_name(struct word word)
{
	for (size_t i = 0; i < word.length; i++) {
		char c = word.text[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_' && !(i && c >= '0' && c <= '9'))
			return false;
	}
	return word.length > 0;
}

static int read_data(struct reader *reader)
{
	struct script *script = reader->script;
	struct word word = next_word(reader);
	struct script_data *data = grow(script->data, script->data_count, sizeof(*data));
	size_t other;
	int error;

	if (!data)
		return no_memory(reader);
	script->data = data;
	if (!is_name(word))
		return wrong(reader, word, "a name must be here");
	if (find_data(script, word.text, word.length, &other))
		return wrong(reader, word, "there is a .data of this name already");
	data += script->data_count;
	*data = (struct script_data){ .name = strndup(word.text, word.length) };
	if (!data->name)
		return no_memory(reader);
	script->data_count++;
	error = take_contents(reader, data);
	return error ? error : take_end(reader);
}

static bool real_number(struct word word, float *value)
{
	char copy[64], *end;

	if (!copy_word(word, copy, sizeof(copy)))
		return false;
	*value = strtof(copy, &end);
	return !*end;
}

/* The element that a word is; *bytes has room for 4. */
static int convert(const struct reader *reader, enum script_type type, struct word word, uint8_t *bytes)
{
	uint64_t whole;
	uint16_t half;
	float real;

	if (type == SCRIPT_FP32 || type == SCRIPT_BF16) {
		if (!real_number(word, &real))
			return wrong(reader, word, "a number must be here");
		half = dare_bf16(real);
		memcpy(bytes, type == SCRIPT_FP32 ? (void *)&real : &half, types[type].size);
		return 0;
	}
	if (!whole_number(word, &whole))
		return wrong(reader, word, "a whole number must be here");
	if ((int64_t)whole != (type == SCRIPT_INT8 ? (int8_t)whole : (int32_t)whole))
		return wrong(reader, word, "this does not fit the type");
	memcpy(bytes, &whole, types[type].size);
	return 0;
}

/* The next `size` bytes of the last .data. */
static int take_room(struct reader *reader, struct word word, size_t size, struct script_data **data, size_t *at)
{
	struct script *script = reader->script;

	if (!script->data_count)
		return wrong(reader, word, "there is no .data before");
	*data = &script->data[script->data_count - 1];
	*at = (*data)->filled;
	if (size > (*data)->size - *at)
		return wrong(reader, word, "the last .data is full");
	(*data)->filled += size;
	return 0;
}

static int read_elements(struct reader *reader, enum script_type type)
{
	struct word word = next_word(reader);
	struct script_data *data = NULL;
	uint8_t bytes[4];
	size_t at = 0;
	int error;

	do {
		error = convert(reader, type, word, bytes);
		if (!error)
			error = take_room(reader, word, types[type].size, &data, &at);
		if (error)
			return error;
		memcpy(data->bytes + at, bytes, types[type].size);
		word = next_word(reader);
	} while (word.length);
	return 0;
}

static int read_addresses(struct reader *reader)
{
	struct script *script = reader->script;
	struct word word;

	do {
		struct script_address *address = grow(script->address, script->address_count, sizeof(*address));
		struct script_data *data;
		int error;

		if (!address)
			return no_memory(reader);
		script->address = address;
		address += script->address_count;
		reader->position += strspn(reader->position, " \t\r,");
		word = (struct word){ reader->position, 1 };
		error = take_address(reader, &address->data, &address->addend);
		if (!error)
			error = take_room(reader, word, 8, &data, &address->at);
		if (error)
			return error;
		address->into = script->data_count - 1;
		script->address_count++;
		reader->position += strspn(reader->position, " \t\r,");
	} while (!is_end(reader->position));
	return 0;
}

/* --- steps -------------------------------------------------------------------------------------- */

static int read_print(struct reader *reader, struct script_step *step)
{
	struct word word;
	int error, type;
	size_t size;

	step->kind = SCRIPT_PRINT;
	error = take_address(reader, &step->data, &step->number);
	if (error)
		return error;
	word = next_word(reader);
	for (type = 0; type < SCRIPT_TYPES && !word_is(word, types[type].name); type++)
		;
	if (type == SCRIPT_TYPES)
		return wrong(reader, word, "fp32, bf16, int8, int32 or hex must be here");
	step->type = (enum script_type)type;
	error = take_count(reader, DATA_MAX, &step->rows);
	if (error)
		return error;
	error = take_count(reader, DATA_MAX, &step->columns);
	if (error)
		return error;
	size = reader->script->data[step->data].size;
	if (step->number > size || step->rows * step->columns > (size - step->number) / types[type].size)
		return wrong(reader, word, "so many rows and columns are more than the .data has");
	return take_end(reader);
}

static int read_set(struct reader *reader, struct script_step *step)
{
	int error = take_register(reader, &step->destination);

	step->kind = SCRIPT_SET;
	if (!error)
		error = take_number(reader, &step->number);
	return error ? error : take_end(reader);
}

static int read_set_address(struct reader *reader, struct script_step *step)
{
	int error = take_register(reader, &step->destination);

	step->kind = SCRIPT_SET_ADDRESS;
	if (!error)
		error = take_address(reader, &step->data, &step->number);
	return error ? error : take_end(reader);
}

static int read_add(struct reader *reader, struct script_step *step)
{
	int error = take_register(reader, &step->destination);

	step->kind = SCRIPT_ADD;
	if (!error)
		error = take_register(reader, &step->source);
	if (!error)
		error = take_number(reader, &step->number);
	return error ? error : take_end(reader);
}

/* 1: the line has a step, 0: it is empty. */
static int read_instruction(struct reader *reader, struct script_step *step)
{
	struct dare_assembly_error error;
	int count = dare_assemble(reader->text, &step->word, &error);

	step->kind = SCRIPT_INSTRUCTION;
	if (count >= 0)
		return count;
	return message_set(reader->message, -EINVAL, "%s:%lu:%u: %s", reader->name, reader->line, error.column,
			   error.text);
}

static int read_step(struct reader *reader, struct word word)
{
	static const struct {
		const char *name;
		int (*read)(struct reader *reader, struct script_step *step);
	} kinds[] = {
		{ "li", read_set }, { "la", read_set_address }, { "addi", read_add }, { ".print", read_print },
	};
	struct script *script = reader->script;
	struct script_step *step = grow(script->step, script->step_count, sizeof(*step));
	int result = 1;
	size_t i;

	if (!step)
		return no_memory(reader);
	script->step = step;
	step += script->step_count;
	*step = (struct script_step){ .line = reader->line };
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!word_is(word, kinds[i].name))
			continue;
		result = kinds[i].read(reader, step);
		script->step_count += result == 0;
		return result;
	}
	result = read_instruction(reader, step);
	script->step_count += result == 1;
	return result < 0 ? result : 0;
}

static int read_line(struct reader *reader)
{
	struct word word = next_word(reader);

	if (word_is(word, ".data"))
		return read_data(reader);
	if (word_is(word, ".address"))
		return read_addresses(reader);
	for (int type = 0; type < SCRIPT_HEX; type++) {
		if (word.length > 1 && *word.text == '.' &&
		    word_is((struct word){ word.text + 1, word.length - 1 }, types[type].name))
			return read_elements(reader, (enum script_type)type);
	}
	return read_step(reader, word);
}

int script_read(struct script *script, FILE *file, const char *name, struct message *message)
{
	struct reader reader = { .script = script, .name = name, .message = message };
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int error = 0;

	memset(script, 0, sizeof(*script));
	errno = 0;
	while (!error && (length = getline(&line, &size, file)) >= 0) {
		reader.line++;
		reader.text = line;
		reader.position = line;
		if (strlen(line) < (size_t)length) {
			error = message_set(message, -EINVAL, "%s:%lu: a null byte; this is no text", name, reader.line);
			break;
		}
		line[strcspn(line, "\n")] = '\0';
		error = read_line(&reader);
		errno = 0;
	}
	if (!error && !feof(file))
		error = message_set(message, -EINVAL, "%s: %s", name, strerror(errno));
	free(line);
	return error;
}

void script_free(struct script *script)
{
	for (size_t i = 0; i < script->data_count; i++) {
		free(script->data[i].name);
		free(script->data[i].bytes);
	}
	free(script->data);
	free(script->address);
	free(script->step);
	memset(script, 0, sizeof(*script));
}
