/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/trace/tracks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_PIDS 10000000u	/* Linux has none above 2^22 */
#define UNITS 1000u

static const struct {
	const char *text;
	bool has_units;
} kinds[MIMIC_TRACE_TRACK_COUNT] = {
#define _(NAME, text, has_units) { text, has_units },
	MIMIC_TRACE_TRACKS(_)
#undef _
};

unsigned int trace_device_pid(unsigned int device)
{
	return DEVICE_PIDS + device;
}

/* --- threads ------------------------------------------------------------------------------ */

static const struct trace_thread *find_thread(const struct trace_tracks *tracks, uint32_t pid, uint64_t owner)
{
	for (size_t i = 0; i < tracks->thread_count; i++) {
		if (tracks->threads[i].pid == pid && tracks->threads[i].owner == owner)
			return &tracks->threads[i];
	}
	return NULL;
}

void trace_thread_note(struct trace_tracks *tracks, const struct mimic_trace_event *event, uint32_t pid)
{
	struct trace_thread *threads;

	if (event->kind != MIMIC_TRACE_thread || find_thread(tracks, pid, event->owner))
		return;
	threads = realloc(tracks->threads, (tracks->thread_count + 1) * sizeof(*threads));
	if (!threads)
		return;
	tracks->threads = threads;
	threads[tracks->thread_count++] = (struct trace_thread){ pid, (uint32_t)event->value, event->owner };
}

uint64_t trace_thread_of(const struct trace_tracks *tracks, uint32_t pid, uint64_t owner)
{
	const struct trace_thread *thread = find_thread(tracks, pid, owner);

	/* Of mimicd's owners the low bits count the threads of a program. */
	return thread ? thread->tid : owner & 0xfff;
}

/* --- tracks ----------------------------------------------------------------------------------- */

static bool is_it(const struct trace_track *track, uint16_t device, enum mimic_trace_track kind, uint64_t who)
{
	return track->device == device && track->kind == kind && track->who == who;
}

static struct trace_track **find(struct trace_track **table, size_t size, uint16_t device,
				 enum mimic_trace_track kind, uint64_t who)
{
	uint64_t hash = (who * 64 + kind) * 0x9e3779b97f4a7c15ull + device * 0x85ebca6bull;
	size_t at = (size_t)(hash >> 32) & (size - 1);

	while (table[at] && !is_it(table[at], device, kind, who))
		at = (at + 1) & (size - 1);
	return &table[at];
}

static bool grow(struct trace_tracks *tracks)
{
	size_t size = tracks->size ? 2 * tracks->size : 64;
	struct trace_track **table = calloc(size, sizeof(*table)), **list;

	if (!table)
		return false;
	list = realloc(tracks->list, size * sizeof(*list));
	if (!list) {
		free(table);
		return false;
	}
	tracks->list = list;
	for (size_t i = 0; i < tracks->count; i++)
		*find(table, size, list[i]->device, list[i]->kind, list[i]->who) = list[i];
	free(tracks->table);
	tracks->table = table;
	tracks->size = size;
	return true;
}

struct trace_track *trace_track_get(struct trace_tracks *tracks, uint16_t device, enum mimic_trace_track kind,
				    uint64_t who, unsigned int pid)
{
	struct trace_track **place, *track;

	if (2 * (tracks->count + 1) > tracks->size && !grow(tracks))
		return NULL;
	place = find(tracks->table, tracks->size, device, kind, who);
	if (*place)
		return *place;
	track = calloc(1, sizeof(*track));
	if (!track)
		return NULL;
	track->device = device;
	track->kind = kind;
	track->who = who;
	track->pid = kind == MIMIC_TRACE_TRACK_THREAD ? pid : trace_device_pid(device);
	/* A thread has a track for each of its devices: a store may wait in the ring of one of them. */
	track->tid = kind == MIMIC_TRACE_TRACK_THREAD ? (unsigned int)tracks->count + 1 :
							kind * UNITS + (unsigned int)who + 1;
	tracks->list[tracks->count++] = track;
	*place = track;
	return track;
}

bool trace_track_has_units(enum mimic_trace_track kind)
{
	return kinds[kind].has_units;
}

void trace_track_name(const struct trace_tracks *tracks, const struct trace_track *track, const char *device,
		      char *name)
{
	if (track->kind == MIMIC_TRACE_TRACK_THREAD)
		snprintf(name, TRACE_NAME, "thread %" PRIu64 ", %.24s",
			 trace_thread_of(tracks, track->pid, track->who), device);
	else if (kinds[track->kind].has_units)
		snprintf(name, TRACE_NAME, kinds[track->kind].text, (unsigned int)track->who);
	else
		snprintf(name, TRACE_NAME, "%s", kinds[track->kind].text);
}

void trace_tracks_free(struct trace_tracks *tracks)
{
	for (size_t i = 0; i < tracks->count; i++) {
		free(tracks->list[i]->queue.runs);
		free(tracks->list[i]);
	}
	free(tracks->list);
	free(tracks->table);
	free(tracks->threads);
	memset(tracks, 0, sizeof(*tracks));
}
