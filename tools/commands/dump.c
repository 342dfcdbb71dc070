/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic dump: the state of a device. */
#include <getopt.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mimic/protocol.h"
#include "tools/common/tools.h"

#define MEANING_COLUMN 44
#define PATH_SIZE 256
#define BYTES_IN_LINE 32u

static const char usage[] =
	"Usage: mimic dump [OPTION...] DEVICE [PATH...]\n\n"
	"Shows the state of a device at one moment: a line 'path = value  meaning' for\n"
	"each value. PATH is a folder or a value of it, such as counters or queues/0/level.\n"
	"DEVICE is named as by 'mimic list'; a private one of several as KIND@0:PID.\n\n"
	"  --bytes        the bytes of memories, too\n"
	"  --json         print JSON (docs/state.md); with PATH an object with each of them\n"
	PEER_USAGE
	"  --help         this text\n\n"
	"Exit status: 0; 1: no process answers, or it is another user's device; 2: bad options, no such\n"
	"device, no such PATH.\n";

/* An object is a value if it has a "value" that is no object; else it is a folder. */
static bool is_value(struct json_object *object)
{
	struct json_object *value;

	return json_object_object_get_ex(object, "value", &value) &&
	       !json_object_is_type(value, json_type_object);
}

/* NULL: there is none, and *folder is the last folder found. Names in a folder have no '/'. */
static struct json_object *find(struct json_object *tree, const char *path, struct json_object **folder)
{
	char copy[PATH_SIZE], *rest = copy, *name;

	*folder = tree;
	if (strlen(path) >= sizeof(copy))
		return NULL;
	strcpy(copy, path);
	while ((name = strsep(&rest, "/"))) {
		/* "queues/" is "queues". */
		if (!*name && !rest)
			break;
		*folder = tree;
		if (!json_object_is_type(tree, json_type_object) || is_value(tree) ||
		    !json_object_object_get_ex(tree, name, &tree))
			return NULL;
	}
	return tree;
}

static void print_bytes(const char *digits, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (i % BYTES_IN_LINE == 0)
			printf("  %06zx:", i);
		printf(" %.2s", digits + 2 * i);
		if (i % BYTES_IN_LINE == BYTES_IN_LINE - 1 || i + 1 == size)
			putchar('\n');
	}
}

static void print_value(const char *path, struct json_object *object)
{
	struct json_object *value, *size = NULL, *meaning;
	int width;

	json_object_object_get_ex(object, "value", &value);
	json_object_object_get_ex(object, "size", &size);
	if (size)
		width = printf("%s = %s bytes", path, json_object_get_string(size));
	else
		width = printf("%s = %s", path, json_object_get_string(value));
	if (json_object_object_get_ex(object, "meaning", &meaning))
		printf("%*s  %s", width < MEANING_COLUMN ? MEANING_COLUMN - width : 0, "",
		       json_object_get_string(meaning));
	putchar('\n');
	if (size && value)
		print_bytes(json_object_get_string(value), (size_t)json_object_get_string_len(value) / 2);
}

static void print_tree(const char *path, struct json_object *object)
{
	if (!json_object_is_type(object, json_type_object))
		return;
	if (is_value(object)) {
		print_value(path, object);
		return;
	}
	json_object_object_foreach(object, name, inner) {
		char longer[PATH_SIZE];

		snprintf(longer, sizeof(longer), "%s%s%s", path, *path ? "/" : "", name);
		print_tree(longer, inner);
	}
}

static int complain(const char *device, struct json_object *folder, const char *path)
{
	char names[512] = "";

	if (is_value(folder))
		return tool_error(EXIT_BAD_INPUT, "dump: %s has no '%s': that goes on behind a value", device, path);
	json_object_object_foreach(folder, name, inner) {
		size_t length = strlen(names);

		(void)inner;
		snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "", name);
	}
	return tool_error(EXIT_BAD_INPUT, "dump: %s has no '%s'; there are %s", device, path, names);
}

static int check_paths(const char *device, struct json_object *tree, char **paths)
{
	struct json_object *folder;

	for (; *paths; paths++) {
		if (!find(tree, *paths, &folder))
			return complain(device, folder, *paths);
	}
	return EXIT_SUCCESS;
}

static void print_json(struct json_object *tree, char **paths)
{
	struct json_object *folder, *chosen = *paths ? json_object_new_object() : json_object_get(tree);

	for (; *paths; paths++)
		json_object_object_add(chosen, *paths, json_object_get(find(tree, *paths, &folder)));
	puts(json_object_to_json_string_ext(chosen, JSON_C_TO_STRING_PRETTY));
	json_object_put(chosen);
}

static void print_paths(struct json_object *tree, char **paths)
{
	struct json_object *folder;

	if (!*paths)
		print_tree("", tree);
	for (; *paths; paths++) {
		size_t length = strlen(*paths);

		if (length && (*paths)[length - 1] == '/')
			(*paths)[length - 1] = 0;
		print_tree(*paths, find(tree, *paths, &folder));
	}
}

int tool_dump(int argc, char **argv)
{
	struct peer peer = { 0 };
	bool json = false, bytes = false;
	const struct mimic_option list[] = {
		PEER_OPTIONS(peer),
		{ .name = "json", .flag = &json },
		{ .name = "bytes", .flag = &bytes },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));
	struct json_object *tree;
	const char *device;
	char **paths;

	if (!status)
		status = tool_words(argc, argv, 1, INT_MAX);
	if (!status)
		status = tool_peer_find("dump", &peer);
	if (status)
		return status;
	device = argv[optind];
	paths = argv + optind + 1;
	tree = tool_peer_state("dump", &peer, device, bytes ? MIMIC_STATE_WITH_BYTES : 0, &status);
	if (!tree)
		return status;
	status = check_paths(device, tree, paths);
	if (!status && json)
		print_json(tree, paths);
	else if (!status)
		print_paths(tree, paths);
	json_object_put(tree);
	return status;
}
