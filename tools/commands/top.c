/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic top: devices, users, queues and counters on a live screen. */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmimic/daemon/client.h"
#include "libmimic/mimic.h"
#include "tools/common/terminal.h"
#include "tools/common/tools.h"

#define NAME_SIZE 64
#define BAR_WIDTH 24
#define INTERVAL_MS 1000
#define PATIENCE_SECONDS 1	/* with a daemon that does not answer: keys are not seen meanwhile */

static const char usage[] =
	"Usage: mimic top [OPTION...]\n\n"
	"A live screen: devices and their users, and of the chosen device the levels of its\n"
	"queues and its counters, with their counts per second.\n\n"
	"Keys: arrows choose a device, p pauses, q ends.\n\n"
	PEER_USAGE
	"  --help         this text\n\n"
	"Exit status: 0; 1: no process answers; 2: bad options, no terminal.\n";

struct top {
	struct peer peer;
	struct json_object *list, *before;	/* the last two; NULL: none yet */
	double seconds;			/* between them */
	struct timespec taken;
	struct json_object *state;	/* of the chosen device; NULL: it may not be seen */
	char chosen[NAME_SIZE];
	char trouble[200];
	bool is_paused;
};

/* --- requests ---------------------------------------------------------------------------- */

static struct json_object *parse(char *text)
{
	struct json_object *object = text ? json_tokener_parse(text) : NULL;

	free(text);
	return object;
}

static struct json_object *device_at(struct json_object *list, size_t index, char *name)
{
	struct json_object *devices, *device;

	if (!list || index >= tool_show_array(list, "devices", &devices))
		return NULL;
	device = json_object_array_get_idx(devices, index);
	tool_peer_device_name(device, name, NAME_SIZE);
	return device;
}

/* NULL: it is not there. */
static struct json_object *device_called(struct json_object *list, const char *wanted)
{
	struct json_object *device;
	char name[NAME_SIZE];

	for (size_t i = 0; (device = device_at(list, i, name)); i++) {
		if (!strcmp(name, wanted))
			return device;
	}
	return NULL;
}

static void take_state(struct top *top)
{
	char *text = NULL;
	int error;

	json_object_put(top->state);
	top->state = NULL;
	if (!top->chosen[0])
		return;
	tool_terminal_busy_begin();
	error = mimic_daemon_state(top->peer.socket_path, top->chosen, 0, &text);
	tool_terminal_busy_end();
	if (!error)
		top->state = parse(text);
}

/* The device that was chosen may be gone: then it is the first. */
static void choose(struct top *top, int step)
{
	char name[NAME_SIZE], last[NAME_SIZE] = "";
	bool is_next = false;

	if (!device_called(top->list, top->chosen) && !device_at(top->list, 0, top->chosen))
		top->chosen[0] = 0;
	for (size_t i = 0; step && device_at(top->list, i, name); i++) {
		if (is_next) {
			strcpy(top->chosen, name);
			break;
		}
		is_next = step > 0 && !strcmp(name, top->chosen);
		if (step < 0 && !strcmp(name, top->chosen) && last[0]) {
			strcpy(top->chosen, last);
			break;
		}
		strcpy(last, name);
	}
	take_state(top);
}

static void refresh(struct top *top)
{
	struct timespec now;
	char *text = NULL;
	struct json_object *list;
	int error;

	tool_terminal_busy_begin();
	error = mimic_daemon_list(top->peer.socket_path, &text);
	tool_terminal_busy_end();
	if (error) {
		snprintf(top->trouble, sizeof(top->trouble), "%s", tool_peer_error_text(&top->peer, error));
		return;
	}
	list = parse(text);
	if (!list)
		return;
	top->trouble[0] = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	top->seconds = (double)(now.tv_sec - top->taken.tv_sec) + (double)(now.tv_nsec - top->taken.tv_nsec) / 1e9;
	top->taken = now;
	json_object_put(top->before);
	top->before = top->list;
	top->list = list;
	choose(top, 0);
}

/* --- the screen's text --------------------------------------------------------------------- */

/* 12345678 as 12.3M. */
static void print_short(FILE *out, double value)
{
	static const char letters[] = " kMGTP";
	size_t i = 0;

	for (; value >= 999.5 && letters[i + 1]; i++)
		value /= 1000;
	if (i)
		fprintf(out, "%*.*f%c", 6, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, letters[i]);
	else
		fprintf(out, "%6.0f ", value);
}

static void print_padded(FILE *out, const char *text, size_t width)
{
	char cut[64];

	snprintf(cut, sizeof(cut), "%.*s", (int)width, text);
	tool_show_clean(out, cut);
	fprintf(out, "%*s ", (int)(width - strlen(cut)), "");
}

static void print_device(FILE *out, const struct top *top, struct json_object *device, const char *name)
{
	struct json_object *user = NULL, *users;
	bool is_chosen = !strcmp(name, top->chosen);
	size_t count = tool_show_array(device, "users", &users);

	json_object_object_get_ex(device, "user", &user);
	if (count)
		user = json_object_array_get_idx(users, 0);
	fputs(is_chosen ? "\033[7m>" : " ", out);
	print_padded(out, name, 16);
	print_padded(out, user ? tool_show_text(user, "pid") : "-", 8);
	print_padded(out, user ? tool_show_text(user, "program") : "free", 16);
	if (count > 1)
		fprintf(out, "and %zu more; ", count - 1);
	tool_show_clean(out, tool_show_text(device, "state"));
	fputs("\033[0m\n", out);
}

/* The one that is chosen is on the screen. */
static size_t first_shown(const struct top *top, size_t count)
{
	char name[NAME_SIZE];
	size_t i = 0;

	while (device_at(top->list, i, name) && strcmp(name, top->chosen))
		i++;
	return i < count ? 0 : i - count + 1;
}

static void print_devices(FILE *out, const struct top *top)
{
	struct json_object *device;
	unsigned int rows, columns;
	char name[NAME_SIZE];
	size_t first;

	fputs("\033[1m DEVICE           PID      PROGRAM          STATE\033[0m\n", out);
	tool_terminal_size(&rows, &columns);
	first = first_shown(top, rows / 2);
	for (size_t i = first; i < first + rows / 2 && (device = device_at(top->list, i, name)); i++)
		print_device(out, top, device, name);
}

static uint64_t number_of(struct json_object *folder, const char *name, bool *is_there)
{
	struct json_object *entry, *value;

	*is_there = json_object_object_get_ex(folder, name, &entry) &&
		    json_object_is_type(entry, json_type_object) &&
		    json_object_object_get_ex(entry, "value", &value) && json_object_is_type(value, json_type_int);
	return *is_there ? json_object_get_uint64(value) : 0;
}

static void print_bar(FILE *out, const char *path, uint64_t level, uint64_t size)
{
	unsigned int full = size ? (unsigned int)((level * BAR_WIDTH + size - 1) / size) : 0;

	print_padded(out, path, 20);
	putc('[', out);
	for (unsigned int i = 0; i < BAR_WIDTH; i++)
		putc(i < full ? '#' : '.', out);
	fprintf(out, "] %llu of %llu\n", (unsigned long long)level, (unsigned long long)size);
}

/* Each folder with a level and a size is a queue. */
static void print_queues(FILE *out, const char *path, struct json_object *folder)
{
	bool has_level, has_size;
	uint64_t level = number_of(folder, "level", &has_level), size = number_of(folder, "size", &has_size);

	if (has_level && has_size && size)
		print_bar(out, path, level, size);
	json_object_object_foreach(folder, name, inner) {
		char longer[NAME_SIZE];

		if (!json_object_is_type(inner, json_type_object) || !strcmp(name, "meaning"))
			continue;
		snprintf(longer, sizeof(longer), "%s%s%s", path, *path ? "/" : "", name);
		print_queues(out, longer, inner);
	}
}

static void print_counters(FILE *out, const struct top *top)
{
	struct json_object *device = device_called(top->list, top->chosen), *counters;
	struct json_object *old = device_called(top->before, top->chosen), *then = NULL;

	if (!device || !json_object_object_get_ex(device, "counters", &counters))
		return;
	if (old)
		json_object_object_get_ex(old, "counters", &then);
	fputs("\033[1m COUNTER                 PER SECOND            TOTAL\033[0m\n", out);
	json_object_object_foreach(counters, name, value) {
		uint64_t now = json_object_get_uint64(value);
		uint64_t last = then ? json_object_get_uint64(json_object_object_get(then, name)) : now;

		if (!now)
			continue;
		putc(' ', out);
		print_padded(out, name, 22);
		fputs("    ", out);
		print_short(out, (double)(now < last ? now : now - last) / top->seconds);
		fprintf(out, "  %15llu\n", (unsigned long long)now);
	}
}

static void draw(const struct top *top)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	fprintf(out, "mimic top: pid %s, version %s%s   (arrows, p pause, q quit)\n",
		top->list ? tool_show_text(top->list, "pid") : "-",
		top->list ? tool_show_text(top->list, "version") : "-", top->is_paused ? "   PAUSED" : "");
	if (top->trouble[0]) {
		fputs("\033[1m", out);
		tool_show_clean(out, top->trouble);
		fputs("\033[0m", out);
	}
	putc('\n', out);
	print_devices(out, top);
	putc('\n', out);
	if (top->state)
		print_queues(out, "", top->state);
	putc('\n', out);
	print_counters(out, top);
	if (!fclose(out))
		tool_terminal_draw(text);
	free(text);
}

/* --- the loop ------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void run(struct top *top)
{
	uint64_t due = now_ms() + INTERVAL_MS;

	for (;;) {
		uint64_t now = now_ms();

		draw(top);
		switch (tool_terminal_wait(due > now ? (unsigned int)(due - now) : 0)) {
		case TERMINAL_KEY_QUIT:
			return;
		case TERMINAL_KEY_PAUSE:
			top->is_paused = !top->is_paused;
			break;
		case TERMINAL_KEY_UP:
			choose(top, -1);
			break;
		case TERMINAL_KEY_DOWN:
			choose(top, 1);
			break;
		default:
			break;
		}
		if (now_ms() < due)
			continue;
		if (!top->is_paused)
			refresh(top);
		due = now_ms() + INTERVAL_MS;
	}
}

int tool_top(int argc, char **argv)
{
	struct top top = { 0 };
	const struct mimic_option list[] = { PEER_OPTIONS(top.peer) };
	int status = tool_options(argc, argv, usage, OPTIONS_ANYWHERE, list, sizeof(list) / sizeof(list[0]));

	if (!status)
		status = tool_words(argc, argv, 0, 0);
	if (!status)
		status = tool_peer_find("top", &top.peer);
	if (status)
		return status;
	/* The message about a daemon that does not answer belongs on the usual screen. */
	top.list = tool_peer_list("top", &top.peer, &status);
	if (!top.list)
		return status;
	mimic_daemon_set_patience(PATIENCE_SECONDS);
	clock_gettime(CLOCK_MONOTONIC, &top.taken);
	status = tool_terminal_start("top");
	if (!status) {
		choose(&top, 0);
		run(&top);
		tool_terminal_end();
	}
	json_object_put(top.list);
	json_object_put(top.before);
	json_object_put(top.state);
	return status;
}
