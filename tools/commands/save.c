/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic save: the states of devices, in a file. */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/daemon/client.h"
#include "tools/commands/snapshots.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic save [OPTION...] DEVICE --output FILE\n"
	"       mimic save [OPTION...] --all --output FILE\n"
	"       mimic save [--json] --info FILE\n\n"
	"Writes the state of a device of mimicd, or of all of them, into a file, from which mimic restore\n"
	"takes it, also on another machine. Programs that have the device go on. docs/save.md says what\n"
	"a state has, and what not.\n\n"
	"  --all               all devices, one after the other; not private ones\n"
	"  -o, --output FILE   the file, which is replaced when all is there\n"
	"  --info FILE         show what such a file has\n"
	"  --socket PATH       where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"
	"  --json              print JSON\n"
	"  --help              this text\n\n"
	"Exit status: 0; 1: no daemon answers, it is not permitted, or the file cannot be written; 2: bad\n"
	"options, no such device, no such file.\n";

struct saving {
	struct peer peer;
	const char *output, *info;
	bool all, json;
	/* The file, as it will be. */
	char *bytes;
	size_t size;
	struct json_object *names;
};

static int add_record(struct saving *saving, const void *record, size_t size)
{
	char *larger = realloc(saving->bytes, saving->size + size);

	if (!larger)
		return tool_error(EXIT_FAILURE, "save: %s", strerror(ENOMEM));
	memcpy(larger + saving->size, record, size);
	saving->bytes = larger;
	saving->size += size;
	return 0;
}

static int save_device(struct saving *saving, const char *name)
{
	void *record = NULL;
	size_t size = 0;
	int error = mimic_daemon_save(saving->peer.socket_path, name, &record, &size), status;

	if (error)
		return tool_client_error("save", error);
	status = add_record(saving, record, size);
	free(record);
	json_object_array_add(saving->names, json_object_new_string(name));
	return status;
}

/* A private device lasts as long as its program: no other one can be had for its state. */
static int save_all(struct saving *saving)
{
	struct json_object *devices = NULL, *root;
	int status;
	size_t count;

	root = tool_peer_list("save", &saving->peer, &status);
	if (!root)
		return status;
	count = tool_show_array(root, "devices", &devices);
	for (size_t i = 0; i < count && !status; i++) {
		const char *name = tool_show_text(json_object_array_get_idx(devices, i), "name");

		if (!strchr(name, '@'))
			status = save_device(saving, name);
	}
	json_object_put(root);
	if (!status && !json_object_array_length(saving->names))
		status = tool_error(EXIT_BAD_INPUT, "save: mimicd has no devices");
	return status;
}

static void report(const struct saving *saving)
{
	struct json_object *root;

	if (!saving->json)
		return;
	root = json_object_new_object();
	json_object_object_add(root, "saved", json_object_get(saving->names));
	json_object_object_add(root, "file", json_object_new_string(saving->output));
	json_object_object_add(root, "bytes", json_object_new_int64((int64_t)saving->size));
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
	json_object_put(root);
}

static int save(struct saving *saving, const char *device)
{
	struct mimic_snapshot_file header = { .version = 0 };
	int status = add_record(saving, &header, sizeof(header)), error;

	if (!status)
		status = saving->all ? save_all(saving) : save_device(saving, device);
	if (status)
		return status;
	mimic_record_snapshot_file_begin(&header, (unsigned int)json_object_array_length(saving->names), saving->size);
	memcpy(saving->bytes, &header, sizeof(header));
	error = tool_snapshots_write(saving->output, saving->bytes, saving->size);
	if (error)
		return tool_error(EXIT_FAILURE, "save: %s: %s", saving->output, strerror(-error));
	report(saving);
	return EXIT_SUCCESS;
}

static int show(const struct saving *saving)
{
	struct snapshots file = { .bytes = NULL };
	int status = tool_snapshots_read("save", saving->info, &file);

	if (!status)
		tool_snapshots_show(&file, saving->json);
	tool_snapshots_free(&file);
	return status;
}

int tool_save(int argc, char **argv)
{
	struct saving saving = { .output = NULL };
	const struct mimic_option list[] = {
		{ .name = "socket", .value = &saving.peer.socket_path },
		{ .name = "output", .letter = 'o', .value = &saving.output },
		{ .name = "info", .value = &saving.info },
		{ .name = "all", .flag = &saving.all },
		{ .name = "json", .flag = &saving.json },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));
	int words = saving.info || saving.all ? 0 : 1;

	if (!status && saving.info && (saving.output || saving.all))
		status = tool_error(EXIT_BAD_INPUT, "save: --info shows a file and saves nothing: not with --output or --all");
	if (!status)
		status = tool_words(argc, argv, words, words);
	if (!status && !saving.info && !saving.output)
		status = tool_error(EXIT_BAD_INPUT, "save: into which file? --output FILE");
	if (status)
		return status;
	if (saving.info)
		return show(&saving);
	saving.names = json_object_new_array();
	status = save(&saving, argv[optind]);
	json_object_put(saving.names);
	free(saving.bytes);
	return status;
}
