/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic restore: devices get the states of a file of mimic save. */
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/daemon/client.h"
#include "tools/commands/snapshots.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic restore [OPTION...] FILE [DEVICE]\n\n"
	"Gives devices of mimicd the states that mimic save wrote into FILE: each device of the file to the\n"
	"device of the same name, or one to DEVICE. No program may have it. The state waits, and mimic dump\n"
	"shows it, until a program opens the device; that program goes on from it (docs/save.md).\n"
	"If one state of FILE does not fit, nothing is restored.\n\n"
	"  --socket PATH  where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"
	"  --json         print {\"restored\": [DEVICE, ...]}\n"
	"  --help         this text\n\n"
	"Exit status: 0; 1: no daemon answers, it is not permitted, or a program has the device; 2: bad\n"
	"options, no such device, FILE is damaged or does not fit.\n";

struct restoring {
	const char *socket_path, *path;
	struct snapshots file;
	const char *device;	/* NULL: each its own */
	const struct mimic_snapshot *one;	/* with a device: its state */
};

/* Of several states, the one that was saved of the device. */
static int choose(struct restoring *restoring)
{
	if (!restoring->device)
		return 0;
	if (restoring->file.count == 1)
		restoring->one = &restoring->file.devices[0];
	for (size_t i = 0; i < restoring->file.count; i++) {
		if (!strcmp(restoring->file.devices[i].record->device, restoring->device))
			restoring->one = &restoring->file.devices[i];
	}
	if (restoring->one)
		return 0;
	return tool_error(EXIT_BAD_INPUT, "restore: %s has %zu devices, and no %.40s; see mimic save --info %s",
			  restoring->path, restoring->file.count, restoring->device, restoring->path);
}

static int restore_one(const struct restoring *restoring, const struct mimic_snapshot *snapshot, bool check_only)
{
	const struct mimic_snapshot_record *record = snapshot->record;
	const char *device = restoring->device ? restoring->device : record->device;
	int error;

	if (strchr(device, '@'))
		return tool_error(EXIT_BAD_INPUT, "restore: %.40s is a private device, which only its program opens; "
				  "say another: mimic restore %s DEVICE", device, restoring->path);
	error = mimic_daemon_restore(restoring->socket_path, device, record, record->size, check_only);
	return error ? tool_client_error("restore", error) : 0;
}

static int restore_all(const struct restoring *restoring, bool check_only)
{
	const struct snapshots *file = &restoring->file;

	if (restoring->one)
		return restore_one(restoring, restoring->one, check_only);
	for (size_t i = 0; i < file->count; i++) {
		int status = restore_one(restoring, &file->devices[i], check_only);

		if (status && i && !check_only)
			tool_error(status, "restore: the first %zu of %zu devices have their states", i, file->count);
		if (status)
			return status;
	}
	return 0;
}

static void report(const struct restoring *restoring)
{
	struct json_object *root = json_object_new_object(), *names = json_object_new_array();
	const struct snapshots *file = &restoring->file;

	if (restoring->device)
		json_object_array_add(names, json_object_new_string(restoring->device));
	for (size_t i = 0; !restoring->device && i < file->count; i++)
		json_object_array_add(names, json_object_new_string(file->devices[i].record->device));
	json_object_object_add(root, "restored", names);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
	json_object_put(root);
}

int tool_restore(int argc, char **argv)
{
	struct restoring restoring = { .path = NULL };
	bool json = false;
	const struct mimic_option list[] = {
		{ .name = "socket", .value = &restoring.socket_path },
		{ .name = "json", .flag = &json },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	if (!status)
		status = tool_words(argc, argv, 1, 2);
	if (status)
		return status;
	restoring.path = argv[optind];
	restoring.device = argv[optind + 1];
	status = tool_snapshots_read("restore", restoring.path, &restoring.file);
	if (!status)
		status = choose(&restoring);
	if (!status)
		status = restore_all(&restoring, true);
	if (!status)
		status = restore_all(&restoring, false);
	if (!status && json)
		report(&restoring);
	tool_snapshots_free(&restoring.file);
	return status;
}
