/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic list: the daemon's devices and who uses them. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/daemon_client.h"
#include "libmimic/mimic.h"
#include "tools/tools.h"

static const char usage[] =
	"Usage: mimic list [OPTION...]\n\n"
	"Shows the devices of mimicd and the processes that use them. Devices on the embedded\n"
	"transport are inside their programs and are not listed.\n\n"
	"  --socket PATH  where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"
	"  --json         print JSON\n"
	"  --help         this text\n\n"
	"Exit status: 0; 1: no daemon answers; 2: bad options.\n";

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) || !value)
		return "-";
	return json_object_get_string(value);
}

/* Control characters of a program's name would reach the terminal. */
static void print_clean(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
}

static void print_column(const char *text, int width)
{
	print_clean(text);
	printf("%*s", (int)strlen(text) < width ? width - (int)strlen(text) : 0, "");
}

static size_t count_of(struct json_object *root, const char *key, struct json_object **array)
{
	if (!json_object_object_get_ex(root, key, array) || !json_object_is_type(*array, json_type_array))
		return 0;
	return json_object_array_length(*array);
}

static void print_line(struct json_object *device, struct json_object *user, struct json_object *state)
{
	print_column(text_of(device, "name"), 11);
	print_column(user ? text_of(user, "pid") : "-", 9);
	print_column(user ? text_of(user, "program") : "free", 21);
	print_clean(text_of(state, "state"));
	putchar('\n');
}

/* One line; or one for each that has a context of it. */
static void print_device(struct json_object *device)
{
	struct json_object *user = NULL, *users;
	size_t count = count_of(device, "users", &users);

	json_object_object_get_ex(device, "user", &user);
	if (!count)
		print_line(device, user, device);
	for (size_t i = 0; i < count; i++) {
		user = json_object_array_get_idx(users, i);
		print_line(device, user, user);
	}
}

/* Of a device, or of one of its users. */
static void print_counters(const char *name, struct json_object *whose, const char *const *names,
			   size_t count)
{
	struct json_object *counters = NULL;

	if (!json_object_object_get_ex(whose, "counters", &counters))
		return;
	print_column(name, 10);
	for (size_t i = 0; i < count; i++)
		printf(" %12s", text_of(counters, names[i]));
	putchar('\n');
}

static void print_context(struct json_object *device, struct json_object *user)
{
	static const char *const names[] = {
		"instructions", "rows_loaded", "rows_stored", "macs_used", "macs_offered", "faults", "errors",
	};
	char name[64];

	snprintf(name, sizeof(name), "%s/%s", text_of(device, "name"), text_of(user, "context"));
	print_counters(name, user, names, sizeof(names) / sizeof(names[0]));
}

/* What each user of a context has done with it. */
static void print_contexts(struct json_object *devices, size_t count)
{
	bool has_title = false;

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i), *users;
		size_t user_count = count_of(device, "users", &users);

		if (user_count && !has_title)
			printf("\n%-10s %12s %12s %12s %12s %12s %12s %12s\n", "CONTEXT", "INSTRUCTIONS",
			       "ROWS LOADED", "ROWS STORED", "MACS USED", "MACS OFFERED", "FAULTS", "ERRORS");
		has_title |= user_count > 0;
		for (size_t j = 0; j < user_count; j++)
			print_context(device, json_object_array_get_idx(users, j));
	}
}

static bool is_cluster_at_work(struct json_object *device)
{
	struct json_object *user;

	return json_object_object_get_ex(device, "user", &user) && user &&
	       !strcmp(text_of(device, "kind"), "virgo");
}

/* What the units of a Virgo that somebody has have done, all together. */
static void print_clusters(struct json_object *devices, size_t count)
{
	static const char *const names[] = {
		"commands", "loops", "tiles", "macs", "dma_bytes_read", "dma_bytes_written", "errors",
	};
	bool has_title = false;

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);

		if (!is_cluster_at_work(device))
			continue;
		if (!has_title)
			printf("\n%-10s %12s %12s %12s %12s %12s %12s %12s\n", "CLUSTER", "COMMANDS",
			       "LOOPS", "TILES", "MACS", "DMA READ", "DMA WRITTEN", "ERRORS");
		has_title = true;
		print_counters(text_of(device, "name"), device, names, sizeof(names) / sizeof(names[0]));
	}
}

/* What its driver sees: walks of the page table, faults, what it resolved, flushes of the TLB. */
static void print_memory(struct json_object *device)
{
	struct json_object *counters = NULL, *walks;

	if (!json_object_object_get_ex(device, "counters", &counters))
		return;
	print_column(text_of(device, "name"), 10);
	/* A device with a TLB walks at each miss. */
	printf(" %12s %12s %12s %12s %12s\n",
	       text_of(counters, json_object_object_get_ex(counters, "walks", &walks) ? "walks" : "tlb_misses"),
	       text_of(counters, "page_faults"), text_of(counters, "resolves"),
	       text_of(counters, "faults"), text_of(counters, "shootdowns"));
}

static void print_kernel_devices(struct json_object *devices, size_t count)
{
	bool has_title = false;

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i), *is_kernel;

		if (!json_object_object_get_ex(device, "kernel", &is_kernel) ||
		    !json_object_get_boolean(is_kernel))
			continue;
		if (!has_title)
			printf("\n%-10s %12s %12s %12s %12s %12s\n", "IN KERNEL", "WALKS", "PAGE FAULTS",
			       "RESOLVED", "BAD", "SHOOTDOWNS");
		has_title = true;
		print_memory(device);
	}
}

static void print_table(struct json_object *root)
{
	struct json_object *devices;
	struct json_object *sessions;
	size_t count = count_of(root, "devices", &devices);
	size_t i;

	printf("mimicd %s, pid %s, profile %s\n", text_of(root, "version"), text_of(root, "pid"),
	       text_of(root, "profile"));
	printf("%-10s %-8s %-20s %s\n", "DEVICE", "PID", "PROGRAM", "STATE");
	for (i = 0; i < count; i++)
		print_device(json_object_array_get_idx(devices, i));
	print_contexts(devices, count);
	print_clusters(devices, count);
	print_kernel_devices(devices, count);
	count = count_of(root, "sessions", &sessions);
	if (count == 0)
		return;
	printf("\n%-8s %-20s %8s %12s %14s\n", "PID", "PROGRAM", "THREADS", "COMMANDS", "SHARED BYTES");
	for (i = 0; i < count; i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		print_column(text_of(session, "pid"), 9);
		print_column(text_of(session, "program"), 20);
		printf(" %8s %12s %14s\n", text_of(session, "threads"), text_of(session, "commands"),
		       text_of(session, "shared_bytes"));
	}
}

int tool_list(int argc, char **argv)
{
	struct client_options options = { 0 };
	struct json_object *root;
	char *json = NULL;
	int status = client_parse(argc, argv, usage, 0, &options);
	int error;

	if (status)
		return status;
	error = mimic_daemon_list(options.socket_path, &json);
	if (error)
		return tool_error(EXIT_FAILURE, "list: %s",
				  mimic_error_text()[0] ? mimic_error_text() : strerror(-error));
	root = json_tokener_parse(json);
	if (!root)
		status = tool_error(EXIT_FAILURE, "the daemon's answer is no JSON: %.60s", json);
	else if (options.json)
		puts(json);
	else
		print_table(root);
	json_object_put(root);
	free(json);
	return status;
}
