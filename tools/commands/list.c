/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic list: the daemon's devices and their users. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "tools/common/tools.h"

static const char usage[] =
	"Usage: mimic list [OPTION...]\n\n"
	"Shows the devices of mimicd and the processes that use them, and the processes that show\n"
	"embedded devices of their own; --pid shows those of one.\n\n"
	PEER_USAGE
	"  --json         print JSON\n"
	"  --help         this text\n\n"
	"Exit status: 0, also without a daemon if such a process is there and no --socket is given;\n"
	"1: no process answers; 2: bad options.\n";

static void print_column(const char *text, int width)
{
	tool_show_clean(stdout, text);
	printf("%*s", (int)strlen(text) < width ? width - (int)strlen(text) : 0, "");
}

static void print_line(struct json_object *device, struct json_object *user, struct json_object *state)
{
	print_column(tool_show_text(device, "name"), 11);
	print_column(user ? tool_show_text(user, "pid") : "-", 9);
	print_column(user ? tool_show_text(user, "program") : "free", 21);
	tool_show_clean(stdout, tool_show_text(state, "state"));
	putchar('\n');
}

/* One line; or one for each that has a context of it. */
static void print_device(struct json_object *device)
{
	struct json_object *user = NULL, *users;
	size_t count = tool_show_array(device, "users", &users);

	json_object_object_get_ex(device, "user", &user);
	if (!count)
		print_line(device, user, device);
	for (size_t i = 0; i < count; i++) {
		user = json_object_array_get_idx(users, i);
		print_line(device, user, user);
	}
}

/* --- tables of the kinds (struct mimic_summary) ------------------------------------------------ */

static void print_title(const struct mimic_summary *summary)
{
	printf("\n%-10s", summary->title);
	for (const struct mimic_summary_column *column = summary->columns; column->counter; column++)
		printf(" %12s", column->title);
	putchar('\n');
}

/* Of a device, or of one of its users; the first line has the title above it. */
static void print_counters(const char *name, struct json_object *whose, const struct mimic_summary *summary,
			   bool *has_title)
{
	struct json_object *counters = NULL;

	if (!*has_title)
		print_title(summary);
	*has_title = true;
	if (!json_object_object_get_ex(whose, "counters", &counters))
		return;
	print_column(name, 10);
	for (const struct mimic_summary_column *column = summary->columns; column->counter; column++)
		printf(" %12s", tool_show_text(counters, column->counter));
	putchar('\n');
}

/* The counters of each context that a process has. */
static void print_contexts(struct json_object *device, const struct mimic_summary *summary, bool *has_title)
{
	struct json_object *users;
	size_t count = tool_show_array(device, "users", &users);
	char name[64];

	for (size_t i = 0; i < count; i++) {
		struct json_object *user = json_object_array_get_idx(users, i);

		snprintf(name, sizeof(name), "%s/%s", tool_show_text(device, "name"),
			 tool_show_text(user, "context"));
		print_counters(name, user, summary, has_title);
	}
}

static void print_summary(struct json_object *devices, size_t count, const struct mimic_kind *kind)
{
	bool has_title = false;

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i), *user;

		if (strcmp(tool_show_text(device, "kind"), kind->name))
			continue;
		if (kind->contexts)
			print_contexts(device, kind->summary, &has_title);
		else if (json_object_object_get_ex(device, "user", &user) && user)
			print_counters(tool_show_text(device, "name"), device, kind->summary, &has_title);
	}
}

/* --- devices with a driver ------------------------------------------------------------------------ */

/* The events that its driver sees: walks of the page table, faults, resolved faults, flushes of the TLB. */
static void print_memory(struct json_object *device)
{
	struct json_object *counters = NULL, *walks;

	if (!json_object_object_get_ex(device, "counters", &counters))
		return;
	print_column(tool_show_text(device, "name"), 10);
	/* A device with a TLB walks at each miss. */
	printf(" %12s %12s %12s %12s %12s\n",
	       tool_show_text(counters,
			      json_object_object_get_ex(counters, "walks", &walks) ? "walks" : "tlb_misses"),
	       tool_show_text(counters, "page_faults"), tool_show_text(counters, "resolves"),
	       tool_show_text(counters, "faults"), tool_show_text(counters, "shootdowns"));
}

/* Those whose `key` is true: on the kernel's bus, or a virtual machine's. */
static void print_bus_devices(struct json_object *devices, size_t count, const char *key, const char *title)
{
	bool has_title = false;

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(devices, i), *is_on;

		if (!json_object_object_get_ex(device, key, &is_on) || !json_object_get_boolean(is_on))
			continue;
		if (!has_title)
			printf("\n%-10s %12s %12s %12s %12s %12s\n", title, "WALKS", "PAGE FAULTS",
			       "RESOLVED", "BAD", "SHOOTDOWNS");
		has_title = true;
		print_memory(device);
	}
}

static void print_table(struct json_object *root)
{
	struct json_object *devices, *sessions, *profile;
	size_t count = tool_show_array(root, "devices", &devices);
	size_t i;

	if (json_object_object_get_ex(root, "profile", &profile))
		printf("mimicd %s, pid %s, profile %s\n", tool_show_text(root, "version"),
		       tool_show_text(root, "pid"), tool_show_text(root, "profile"));
	printf("%-10s %-8s %-20s %s\n", "DEVICE", "PID", "PROGRAM", "STATE");
	for (i = 0; i < count; i++)
		print_device(json_object_array_get_idx(devices, i));
	for (i = 0; i < mimic_kind_count(); i++) {
		if (mimic_kinds[i]->summary)
			print_summary(devices, count, mimic_kinds[i]);
	}
	print_bus_devices(devices, count, "kernel", "IN KERNEL");
	print_bus_devices(devices, count, "pci", "IN MACHINE");
	count = tool_show_array(root, "sessions", &sessions);
	if (count == 0)
		return;
	printf("\n%-8s %-20s %8s %12s %14s\n", "PID", "PROGRAM", "THREADS", "COMMANDS", "SHARED BYTES");
	for (i = 0; i < count; i++) {
		struct json_object *session = json_object_array_get_idx(sessions, i);

		print_column(tool_show_text(session, "pid"), 9);
		print_column(tool_show_text(session, "program"), 20);
		printf(" %8s %12s %14s\n", tool_show_text(session, "threads"),
		       tool_show_text(session, "commands"), tool_show_text(session, "shared_bytes"));
	}
}

static void print_embedded(struct json_object *processes)
{
	size_t count = json_object_array_length(processes);

	if (count)
		printf("\n%-8s %s\n", "EMBEDDED", "PROGRAM");
	for (size_t i = 0; i < count; i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);

		print_column(tool_show_text(process, "pid"), 9);
		tool_show_clean(stdout, tool_show_text(process, "program"));
		putchar('\n');
	}
}

static struct json_object *list_of_nobody(void)
{
	static const char *const arrays[] = { "devices", "sessions", "bindings" };
	struct json_object *root = json_object_new_object();

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		json_object_object_add(root, arrays[i], json_object_new_array());
	return root;
}

/* Processes with devices of their own are there without a daemon, too. */
static int list(const struct peer *peer, bool json)
{
	struct json_object *processes = peer->pid ? json_object_new_array() : tool_embedded_processes();
	int status;
	struct json_object *root = tool_peer_list("list", peer, &status);
	bool is_nobody = !root && !peer->pid && errno == ECONNREFUSED;

	if (is_nobody && !peer->socket_path && json_object_array_length(processes))
		status = EXIT_SUCCESS;
	if (is_nobody && json)
		root = list_of_nobody();
	if (root && !peer->pid)
		json_object_object_add(root, "embedded", json_object_get(processes));
	if (root && json)
		puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	else if (root)
		print_table(root);
	if (!json)
		print_embedded(processes);
	json_object_put(processes);
	json_object_put(root);
	return status;
}

int tool_list(int argc, char **argv)
{
	struct peer peer = { 0 };
	bool json = false;
	const struct mimic_option options[] = {
		PEER_OPTIONS(peer),
		{ .name = "json", .flag = &json },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, options,
				  sizeof(options) / sizeof(options[0]));

	if (!status)
		status = tool_words(argc, argv, 0, 0);
	if (!status)
		status = tool_peer_find("list", &peer);
	return status ? status : list(&peer, json);
}
