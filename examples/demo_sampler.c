/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/demo_sampler.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmimic/daemon/client.h"

#define INTERVAL_LEAST 1e-3	/* short runs are to have some samples, too */
#define INTERVAL_MOST 20e-3
#define SHARE 2			/* the time between two samples, in times of a sample */
#define SAMPLES_MAX 20000
#define PATH_SIZE 96

struct demo_sampler {
	char socket_path[108];
	char device[32];
	pthread_t thread;
	atomic_bool stops;
	struct json_object *samples;	/* of { "time", "queues", "counters" }; oldest first */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- a sample --------------------------------------------------------------------------- */

/* A value of a folder (docs/state.md). NULL: there is none. */
static struct json_object *value_of(struct json_object *folder, const char *name)
{
	struct json_object *object = NULL, *value = NULL;

	if (json_object_object_get_ex(folder, name, &object))
		json_object_object_get_ex(object, "value", &value);
	return json_object_is_type(value, json_type_int) ? value : NULL;
}

/* Each folder with a level and a size is a queue. */
static void take_queues(struct json_object *folder, const char *path, struct json_object *queues)
{
	struct json_object *level = value_of(folder, "level"), *size = value_of(folder, "size");

	if (level && size) {
		struct json_object *queue = json_object_new_object();

		json_object_object_add(queue, "level", json_object_get(level));
		json_object_object_add(queue, "size", json_object_get(size));
		json_object_object_add(queues, path, queue);
	}
	json_object_object_foreach(folder, name, inner) {
		char longer[PATH_SIZE];
		int length = snprintf(longer, sizeof(longer), "%s%s%s", path, *path ? "/" : "", name);

		if (json_object_is_type(inner, json_type_object) && length < PATH_SIZE)
			take_queues(inner, longer, queues);
	}
}

static struct json_object *take_counters(struct json_object *tree)
{
	struct json_object *result = json_object_new_object(), *counters;

	if (!json_object_object_get_ex(tree, "counters", &counters))
		return result;
	json_object_object_foreach(counters, name, object) {
		(void)object;
		json_object_object_add(result, name, json_object_get(value_of(counters, name)));
	}
	return result;
}

static void look(struct demo_sampler *sampler)
{
	struct json_object *tree, *sample, *queues;
	char *text = NULL;
	double time = now();

	if (mimic_daemon_state(sampler->socket_path, sampler->device, 0, &text))
		return;
	tree = json_tokener_parse(text);
	free(text);
	if (!json_object_is_type(tree, json_type_object)) {
		json_object_put(tree);
		return;
	}
	sample = json_object_new_object();
	queues = json_object_new_object();
	take_queues(tree, "", queues);
	json_object_object_add(sample, "time", json_object_new_double((time + now()) / 2));
	json_object_object_add(sample, "queues", queues);
	json_object_object_add(sample, "counters", take_counters(tree));
	json_object_array_add(sampler->samples, sample);
	json_object_put(tree);
}

static void *loop(void *argument)
{
	struct demo_sampler *sampler = argument;

	while (!sampler->stops && json_object_array_length(sampler->samples) < SAMPLES_MAX) {
		double begin = now(), wait;

		look(sampler);
		wait = SHARE * (now() - begin);
		wait = wait < INTERVAL_LEAST ? INTERVAL_LEAST : wait > INTERVAL_MOST ? INTERVAL_MOST : wait;
		nanosleep(&(struct timespec){ .tv_nsec = (long)(wait * 1e9) }, NULL);
	}
	return NULL;
}

struct demo_sampler *demo_sampler_start(const char *socket_path, const char *device)
{
	struct demo_sampler *sampler = calloc(1, sizeof(*sampler));
	int error;

	if (!sampler)
		return NULL;
	snprintf(sampler->socket_path, sizeof(sampler->socket_path), "%s", socket_path);
	snprintf(sampler->device, sizeof(sampler->device), "%s", device);
	sampler->samples = json_object_new_array();
	error = pthread_create(&sampler->thread, NULL, loop, sampler);
	if (!error)
		return sampler;
	json_object_put(sampler->samples);
	free(sampler);
	errno = error;
	return NULL;
}

/* --- fields of all devices ----------------------------------------------------------------- */

static struct json_object *at(struct json_object *samples, size_t index, const char *key)
{
	return json_object_object_get(json_object_array_get_idx(samples, index), key);
}

/* Another process's work, on a device that was given back since, is no work of this run. */
static bool has_grown(struct json_object *before, struct json_object *after, bool *has_fallen)
{
	bool grows = false;

	*has_fallen = false;
	json_object_object_foreach(after, name, value) {
		uint64_t then = json_object_get_uint64(json_object_object_get(before, name));
		uint64_t this = json_object_get_uint64(value);

		grows |= this > then;
		*has_fallen |= this < then;
	}
	return grows;
}

/* The samples of the work: [*first, *end). Around it the program reads its input and checks its results. */
static void find_work(struct json_object *samples, size_t *first, size_t *end)
{
	*first = *end = 0;
	for (size_t i = 1; i < json_object_array_length(samples); i++) {
		bool has_fallen, grows = has_grown(at(samples, i - 1, "counters"), at(samples, i, "counters"), &has_fallen);

		if (has_fallen && *end)
			return;
		if (has_fallen || !grows)
			continue;
		if (!*end)
			*first = i - 1;
		*end = i + 1;
	}
}

static void add_queue(struct json_object *queues, const char *path, size_t index)
{
	struct json_object *queue = json_object_object_get(queues, path), *levels;

	if (queue)
		return;
	queue = json_object_new_object();
	levels = json_object_new_array();
	json_object_object_add(queue, "name", json_object_new_string(path));
	json_object_object_add(queue, "size", json_object_new_uint64(0));
	while (json_object_array_length(levels) < index)
		json_object_array_add(levels, json_object_new_uint64(0));
	json_object_object_add(queue, "levels", levels);
	json_object_object_add(queues, path, queue);
}

/* `index`: how many samples there are before this one. */
static void append_levels(struct json_object *queues, struct json_object *seen, size_t index)
{
	json_object_object_foreach(seen, path, unused) {
		(void)unused;
		add_queue(queues, path, index);
	}
	json_object_object_foreach(queues, name, queue) {
		struct json_object *now_seen = json_object_object_get(seen, name);
		uint64_t size = json_object_get_uint64(json_object_object_get(now_seen, "size"));
		uint64_t level = json_object_get_uint64(json_object_object_get(now_seen, "level"));

		if (size > json_object_get_uint64(json_object_object_get(queue, "size")))
			json_object_object_add(queue, "size", json_object_new_uint64(size));
		json_object_array_add(json_object_object_get(queue, "levels"), json_object_new_uint64(level));
	}
}

static void append_counters(struct json_object *counters, struct json_object *seen, struct json_object *first)
{
	json_object_object_foreach(seen, name, value) {
		struct json_object *column = json_object_object_get(counters, name);
		uint64_t begin = json_object_get_uint64(json_object_object_get(first, name));

		if (!column) {
			column = json_object_new_array();
			json_object_object_add(counters, name, column);
		}
		json_object_array_add(column, json_object_new_uint64(json_object_get_uint64(value) - begin));
	}
}

static bool was_used(struct json_object *queue)
{
	struct json_object *levels = json_object_object_get(queue, "levels");

	for (size_t i = 0; i < json_object_array_length(levels); i++) {
		if (json_object_get_uint64(json_object_array_get_idx(levels, i)))
			return true;
	}
	return false;
}

static struct json_object *used_queues(struct json_object *queues)
{
	struct json_object *list = json_object_new_array();

	json_object_object_foreach(queues, name, queue) {
		(void)name;
		if (was_used(queue))
			json_object_array_add(list, json_object_get(queue));
	}
	return list;
}

static struct json_object *columns(struct json_object *samples, size_t first, size_t end)
{
	struct json_object *result = json_object_new_object(), *times = json_object_new_array();
	struct json_object *queues = json_object_new_object(), *counters = json_object_new_object();
	double begin = json_object_get_double(at(samples, first, "time"));

	for (size_t i = first; i < end; i++) {
		double time = json_object_get_double(at(samples, i, "time")) - begin;

		json_object_array_add(times, json_object_new_double(time));
		append_levels(queues, at(samples, i, "queues"), i - first);
		append_counters(counters, at(samples, i, "counters"), at(samples, first, "counters"));
	}
	json_object_object_add(result, "seconds", times);
	json_object_object_add(result, "queues", used_queues(queues));
	json_object_object_add(result, "counters", counters);
	json_object_put(queues);
	return result;
}

struct json_object *demo_sampler_stop(struct demo_sampler *sampler)
{
	struct json_object *result = NULL;
	size_t first, end;

	sampler->stops = true;
	pthread_join(sampler->thread, NULL);
	find_work(sampler->samples, &first, &end);
	if (end)
		result = columns(sampler->samples, first, end);
	json_object_put(sampler->samples);
	free(sampler);
	return result;
}
