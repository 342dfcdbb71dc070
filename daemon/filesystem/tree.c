/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/filesystem/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/filesystem/render.h"
#include "daemon/filesystem/source.h"
#include "mimic/protocol.h"

#define TABLE ".state"
#define CONTROL "control"

#define INJECTIONS_(number, name, text, meaning) text "\t" meaning "\n"

/* The words that can be written to each control file: a person who reads the file gets them. */
static const struct {
	const char *name;
	const char *help;
} controls[] = {
	{ "reset", "1\tas after power-on; a program that has the device has it still\n" },
	{ "clear_counters", "1\tall counters are 0 again\n" },
	{ "inject", MIMIC_INJECTIONS(INJECTIONS_) },
};

/* --- the folder "control" --------------------------------------------------------------- */

/* NULL: there is no such one. */
static const char *control_help(const char *name)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		if (!strcmp(name, controls[i].name))
			return controls[i].help;
	}
	return NULL;
}

/* The name of the file in a device's folder "control"; "": the folder itself; NULL: elsewhere. */
static const char *control_name(const struct mimicd_tree_source *source, const char *rest)
{
	size_t length = strlen(CONTROL);

	if (source->of != MIMICD_OF_DEVICE || strncmp(rest, CONTROL, length))
		return NULL;
	return !rest[length] ? "" : rest[length] == '/' ? rest + length + 1 : NULL;
}

/* Devices and clients have tables, in all their folders. */
static bool has_tables(const struct mimicd_tree_source *source)
{
	return source->of == MIMICD_OF_DEVICE || source->of == MIMICD_OF_CLIENT;
}

/* "queues/0/.state": "queues/0" to `folder`. */
static bool is_table(const struct mimicd_tree_source *source, const char *rest,
		     char folder[MIMICD_PATH_MAX])
{
	const char *slash = strrchr(rest, '/');

	if (!has_tables(source) || strcmp(slash ? slash + 1 : rest, TABLE))
		return false;
	snprintf(folder, MIMICD_PATH_MAX, "%.*s", slash ? (int)(slash - rest) : 0, rest);
	return true;
}

/* --- find, list, read -------------------------------------------------------------------- */

static int look_at(const struct mimicd_tree_source *source, const char *rest, struct mimicd_entry *entry)
{
	const char *control = control_name(source, rest);
	char folder[MIMICD_PATH_MAX];

	if (control && *control) {
		*entry = (struct mimicd_entry){ .kind = MIMICD_ENTRY_CONTROL };
		return control_help(control) ? 0 : -ENOENT;
	}
	if (control || !*rest) {
		*entry = (struct mimicd_entry){ .kind = MIMICD_ENTRY_FOLDER };
		return 0;
	}
	if (!is_table(source, rest, folder))
		return mimicd_render_entry(source, rest, entry);
	if (*folder && (mimicd_render_entry(source, folder, entry) || entry->kind != MIMICD_ENTRY_FOLDER))
		return -ENOENT;
	*entry = (struct mimicd_entry){ .kind = MIMICD_ENTRY_TABLE };
	return 0;
}

int mimicd_tree_look(struct mimicd_engine *engine, const char *path, uid_t uid,
		     struct mimicd_entry *entry)
{
	struct mimicd_tree_source source;
	const char *rest;
	int error = mimicd_source_find(engine, path, uid, &source, &rest);

	return error ? error : look_at(&source, rest, entry);
}

static void list_controls(FILE *list)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		fprintf(list, "%c%s%c", MIMICD_ENTRY_CONTROL, controls[i].name, 0);
}

static int list_into(const struct mimicd_tree_source *source, const char *rest, FILE *list)
{
	const char *control = control_name(source, rest);

	if (control && *control)
		return -ENOENT;
	if (control) {
		list_controls(list);
		return 0;
	}
	if (has_tables(source))
		fprintf(list, "%c%s%c", MIMICD_ENTRY_TABLE, TABLE, 0);
	if (source->of == MIMICD_OF_DEVICE && !*rest)
		fprintf(list, "%c%s%c", MIMICD_ENTRY_FOLDER, CONTROL, 0);
	return mimicd_render_list(source, rest, list) ? 0 : -ENOENT;
}

static int read_into(const struct mimicd_tree_source *source, const char *rest, FILE *content)
{
	const char *control = control_name(source, rest);
	const char *help = control ? control_help(control) : NULL;
	char folder[MIMICD_PATH_MAX];

	if (control)
		return help && fputs(help, content) >= 0 ? 0 : -ENOENT;
	if (is_table(source, rest, folder))
		return mimicd_render_table(source, folder, content) ? 0 : -ENOENT;
	return mimicd_render_value(source, rest, content) ? 0 : -ENOENT;
}

static int make(struct mimicd_engine *engine, const char *path, uid_t uid,
		int (*into)(const struct mimicd_tree_source *, const char *, FILE *),
		struct mimicd_content *content)
{
	struct mimicd_tree_source source;
	const char *rest;
	int error = mimicd_source_find(engine, path, uid, &source, &rest);
	FILE *file;

	if (error)
		return error;
	*content = (struct mimicd_content){ 0 };
	file = open_memstream(&content->bytes, &content->size);
	if (!file)
		return -ENOMEM;
	error = into(&source, rest, file);
	if (fclose(file) && !error)
		error = -ENOMEM;
	if (!error)
		return 0;
	free(content->bytes);
	return error;
}

int mimicd_tree_list(struct mimicd_engine *engine, const char *path, uid_t uid,
		     struct mimicd_content *list)
{
	return make(engine, path, uid, list_into, list);
}

int mimicd_tree_read(struct mimicd_engine *engine, const char *path, uid_t uid,
		     struct mimicd_content *content)
{
	return make(engine, path, uid, read_into, content);
}

uint64_t mimicd_tree_digest(struct mimicd_engine *engine, const char *path, uid_t uid)
{
	struct mimicd_tree_source source;
	const char *rest;

	if (mimicd_source_find(engine, path, uid, &source, &rest))
		return 0;
	return mimicd_render_digest(&source);
}

int mimicd_tree_control(struct mimicd_engine *engine, const char *path, uid_t uid,
			struct mimicd_instance **instance, const char **name)
{
	struct mimicd_tree_source source;
	const char *rest;
	int error = mimicd_source_find(engine, path, uid, &source, &rest);

	if (error)
		return error;
	*name = control_name(&source, rest);
	*instance = source.instance;
	return *name && control_help(*name) ? 0 : -ENOENT;
}
