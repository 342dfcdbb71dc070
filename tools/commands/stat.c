/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic stat: counters, and how they grow. */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/common/tools.h"

#define NAME_SIZE 64

static const char usage[] =
	"Usage: mimic stat [OPTION...] [DEVICE...]\n\n"
	"Shows the counters of the devices named, or of all. With --watch it shows, at each interval,\n"
	"by how much they have grown since the last, until Ctrl-C, and says when a device is gone.\n\n"
	"  --watch[=SECONDS]  every second, or so often (0.05 to 3600)\n"
	"  --json             print JSON; with --watch an object a line\n"
	PEER_USAGE
	"  --help             this text\n\n"
	"Exit status: 0; 1: no process answers, or all devices that were named are gone; 2: bad options,\n"
	"no such device.\n";

struct stat_options {
	struct peer peer;
	bool json;
	bool watches;
	double seconds;
	char **names;	/* of the devices wanted; none: all */
};

/* By name, with the object of its counters. */
static struct json_object *devices_of(struct json_object *list)
{
	struct json_object *devices = json_object_new_object(), *array, *counters;
	size_t count = tool_show_array(list, "devices", &array);

	for (size_t i = 0; i < count; i++) {
		struct json_object *device = json_object_array_get_idx(array, i);
		char name[NAME_SIZE];

		tool_peer_device_name(device, name, sizeof(name));
		if (json_object_object_get_ex(device, "counters", &counters))
			json_object_object_add(devices, name, json_object_get(counters));
	}
	return devices;
}

/* Each process may have a private "KIND@0". */
static bool is_called(const char *device, const char *wanted)
{
	size_t length = strlen(wanted);

	return !strncmp(device, wanted, length) &&
	       (!device[length] || (device[length] == ':' && strchr(wanted, '@')));
}

static bool is_wanted(const struct stat_options *options, const char *device)
{
	char **name = options->names;

	while (*name && !is_called(device, *name))
		name++;
	return *name || !*options->names;
}

static struct json_object *take(const struct stat_options *options, int *status)
{
	struct json_object *list = tool_peer_list("stat", &options->peer, status), *all, *wanted;

	if (!list)
		return NULL;
	all = devices_of(list);
	json_object_put(list);
	wanted = json_object_new_object();
	json_object_object_foreach(all, name, counters) {
		if (is_wanted(options, name))
			json_object_object_add(wanted, name, json_object_get(counters));
	}
	json_object_put(all);
	return wanted;
}

static int check_names(const struct stat_options *options, struct json_object *devices)
{
	for (char **name = options->names; *name; name++) {
		bool is_there = false;

		json_object_object_foreach(devices, device, counters) {
			(void)counters;
			is_there |= is_called(device, *name);
		}
		if (!is_there)
			return tool_error(EXIT_BAD_INPUT, "stat: there is no device '%s'; see mimic list", *name);
	}
	return EXIT_SUCCESS;
}

static void print_counters(struct json_object *devices)
{
	json_object_object_foreach(devices, device, counters) {
		json_object_object_foreach(counters, name, value)
			printf("%-10s %-22s %16s\n", device, name, json_object_get_string(value));
	}
}

/* --- the differences ----------------------------------------------------------------- */

/* A device that was given back has begun at 0 again. */
static uint64_t growth(struct json_object *before, const char *name, struct json_object *value)
{
	uint64_t now = json_object_get_uint64(value), then = 0;
	struct json_object *old;

	if (before && json_object_object_get_ex(before, name, &old))
		then = json_object_get_uint64(old);
	return now < then ? now : now - then;
}

static struct json_object *differences(struct json_object *before, struct json_object *after)
{
	struct json_object *result = json_object_new_object();

	json_object_object_foreach(after, device, counters) {
		struct json_object *old = json_object_object_get(before, device);
		struct json_object *changes = json_object_new_object();

		json_object_object_foreach(counters, name, value) {
			uint64_t grown = growth(old, name, value);

			if (grown)
				json_object_object_add(changes, name, json_object_new_uint64(grown));
		}
		json_object_object_add(result, device, changes);
	}
	return result;
}

static void print_differences(struct json_object *changes, const char *time)
{
	bool is_quiet = true;

	json_object_object_foreach(changes, device, counters) {
		if (!json_object_object_length(counters))
			continue;
		is_quiet = false;
		printf("%s %s:", time, device);
		json_object_object_foreach(counters, name, value)
			printf(" %s +%s", name, json_object_get_string(value));
		putchar('\n');
	}
	if (is_quiet)
		printf("%s -\n", time);
}

static void print_json_line(struct json_object *changes, const char *time)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "time", json_object_new_string(time));
	json_object_object_add(line, "devices", json_object_get(changes));
	puts(json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
	json_object_put(line);
}

static void print_interval(const struct stat_options *options, struct json_object *before,
			   struct json_object *after)
{
	struct json_object *changes = differences(before, after);
	struct timespec now;
	struct tm parts;
	char time[32];
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &parts);
	length = strftime(time, sizeof(time), "%H:%M:%S", &parts);
	snprintf(time + length, sizeof(time) - length, ".%03ld", now.tv_nsec / 1000000);
	if (options->json)
		print_json_line(changes, time);
	else
		print_differences(changes, time);
	json_object_put(changes);
}

static void tell_gone(struct json_object *before, struct json_object *after)
{
	json_object_object_foreach(before, device, counters) {
		(void)counters;
		if (!json_object_object_get(after, device))
			fprintf(stderr, "mimic: stat: %s is gone\n", device);
	}
}

static int watch(const struct stat_options *options, struct json_object *before)
{
	struct timespec due;
	int status = EXIT_SUCCESS;

	clock_gettime(CLOCK_MONOTONIC, &due);
	while (before && (!*options->names || json_object_object_length(before))) {
		struct json_object *after;
		double next = (double)due.tv_nsec / 1e9 + options->seconds;

		due.tv_sec += (time_t)next;
		due.tv_nsec = (long)((next - floor(next)) * 1e9);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		after = take(options, &status);
		if (after) {
			print_interval(options, before, after);
			fflush(stdout);
			tell_gone(before, after);
		}
		json_object_put(before);
		before = after;
		if (ferror(stdout))
			break;
	}
	json_object_put(before);
	return status ? status : EXIT_FAILURE;
}

static int parse(int argc, char **argv, struct stat_options *options)
{
	const char *seconds = NULL;
	const struct mimic_option list[] = {
		PEER_OPTIONS(options->peer),
		{ .name = "json", .flag = &options->json },
		{ .name = "watch", .value = &seconds, .flag = &options->watches,
		  .form = OPTION_VALUE_OPTIONAL },
	};
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	options->names = argv + optind;
	options->seconds = 1;
	if (status || !seconds)
		return status;
	return tool_seconds("stat", "--watch", seconds, 0.05, 3600, &options->seconds);
}

int tool_stat(int argc, char **argv)
{
	struct stat_options options = { 0 };
	int status = parse(argc, argv, &options);
	struct json_object *devices;

	if (!status)
		status = tool_peer_find("stat", &options.peer);
	if (status)
		return status;
	devices = take(&options, &status);
	if (!devices)
		return status;
	status = check_names(&options, devices);
	if (!status && options.watches)
		return watch(&options, devices);
	if (!status && options.json)
		puts(json_object_to_json_string_ext(devices, JSON_C_TO_STRING_PRETTY));
	else if (!status)
		print_counters(devices);
	json_object_put(devices);
	return status;
}
