/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/state_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *path)
{
	fprintf(stderr, "state tree: %s: %s\n", path, what);
	abort();
}

static void *checked(void *memory)
{
	if (!memory)
		die("no memory", "");
	return memory;
}

static void enter(void *context, const char *name)
{
	struct state_tree *tree = context;
	size_t length = strlen(tree->path);

	if (!name[0] || strchr(name, '/') || length + strlen(name) + 2 > sizeof(tree->path))
		die("a bad name of a folder", name);
	snprintf(tree->path + length, sizeof(tree->path) - length, "%s/", name);
}

static void leave(void *context, const char *name)
{
	struct state_tree *tree = context;
	size_t length = strlen(tree->path), size = strlen(name) + 1;

	if (length < size || strncmp(tree->path + length - size, name, size - 1) ||
	    (length > size && tree->path[length - size - 1] != '/'))
		die("left another folder than was entered", name);
	tree->path[length - size] = 0;
}

static struct state_entry *add(struct state_tree *tree, const char *name, enum state_type type,
			       const char *meaning)
{
	struct state_entry *entry;
	size_t size = strlen(tree->path) + strlen(name) + 1;

	if (!name[0] || strchr(name, '/'))
		die("a bad name", name);
	tree->entries = checked(realloc(tree->entries, (tree->count + 1) * sizeof(*entry)));
	entry = &tree->entries[tree->count++];
	*entry = (struct state_entry){ .type = type, .meaning = meaning, .path = checked(malloc(size)) };
	snprintf(entry->path, size, "%s%s", tree->path, name);
	return entry;
}

static void number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
		   const char *meaning)
{
	struct state_entry *entry = add(context, name, STATE_NUMBER, meaning);

	entry->value = value;
	entry->format = format;
	if (format == MIMIC_STATE_BOOLEAN && value > 1)
		die("neither 0 nor 1", entry->path);
}

static void text(void *context, const char *name, const char *value, const char *meaning)
{
	add(context, name, STATE_TEXT, meaning)->text = checked(strdup(value));
}

static void bytes(void *context, const char *name, const void *from, size_t size, const char *meaning)
{
	struct state_entry *entry = add(context, name, STATE_BYTES, meaning);

	entry->value = size;
	entry->bytes = checked(malloc(size));
	memcpy(entry->bytes, from, size);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct state_entry *)a)->path, ((const struct state_entry *)b)->path);
}

/* "a" and "a/b": a value that is a folder, too. */
static bool is_inside(const char *outer, const char *path)
{
	size_t length = strlen(outer);

	return !strncmp(outer, path, length) && (path[length] == '/' || !path[length]);
}

static void check_paths(struct state_tree *tree)
{
	qsort(tree->entries, tree->count, sizeof(*tree->entries), by_path);
	for (size_t i = 1; i < tree->count; i++) {
		if (is_inside(tree->entries[i - 1].path, tree->entries[i].path))
			die("comes twice", tree->entries[i].path);
	}
	for (size_t i = 0; i < tree->count; i++) {
		if (!tree->entries[i].meaning || !tree->entries[i].meaning[0])
			die("has no meaning", tree->entries[i].path);
	}
}

struct state_tree *state_tree_take(const struct mimic_kind *kind, const struct mimic_model *model,
				   uint64_t now)
{
	struct state_tree *tree = checked(calloc(1, sizeof(*tree)));
	struct mimic_state_visitor visitor = {
		.context = tree, .enter = enter, .leave = leave, .number = number, .text = text, .bytes = bytes,
	};

	kind->state(model, now, &visitor);
	if (tree->path[0])
		die("a folder was not left", tree->path);
	check_paths(tree);
	return tree;
}

void state_tree_free(struct state_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		free(tree->entries[i].path);
		free(tree->entries[i].text);
		free(tree->entries[i].bytes);
	}
	free(tree->entries);
	free(tree);
}

static const struct state_entry *find(const struct state_tree *tree, const char *format,
				      va_list arguments, char path[256])
{
	struct state_entry key = { .path = path };

	vsnprintf(path, 256, format, arguments);
	if (!tree->count)
		return NULL;
	return bsearch(&key, tree->entries, tree->count, sizeof(key), by_path);
}

const struct state_entry *state_tree_find(const struct state_tree *tree, const char *format, ...)
{
	const struct state_entry *entry;
	va_list arguments;
	char path[256];

	va_start(arguments, format);
	entry = find(tree, format, arguments, path);
	va_end(arguments);
	return entry;
}

uint64_t state_tree_number(const struct state_tree *tree, const char *format, ...)
{
	const struct state_entry *entry;
	va_list arguments;
	char path[256];

	va_start(arguments, format);
	entry = find(tree, format, arguments, path);
	va_end(arguments);
	if (!entry || entry->type != STATE_NUMBER)
		die("is no number", path);
	return entry->value;
}

const char *state_tree_text(const struct state_tree *tree, const char *format, ...)
{
	const struct state_entry *entry;
	va_list arguments;
	char path[256];

	va_start(arguments, format);
	entry = find(tree, format, arguments, path);
	va_end(arguments);
	if (!entry || entry->type != STATE_TEXT)
		die("is no text", path);
	return entry->text;
}
