/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lanes that the daemon before had: its programs have them mapped, and go on with them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/placement.h"
#include "daemon/engine/record.h"
#include "daemon/engine/step.h"
#include "daemon/engine/turn.h"

/* The owner of a thread whose process has devices by a driver: its traps may have it, too. */
static int adopt_owner(const struct mimicd_client *client, struct mimicd_thread *thread,
		       const struct mimicd_thread_record *record)
{
	if (!client->process)
		return record->bound ? -EINVAL : 0;
	if (!record->bound)
		return -EINVAL;
	thread->bound = mimicd_owner_adopt(client->process, record->bound, (pid_t)record->tid);
	if (!thread->bound)
		return -ENOMEM;
	if (thread->bound->thread) {
		thread->bound = NULL;
		return -EINVAL;
	}
	thread->bound->thread = thread;
	return 0;
}

int mimicd_thread_adopt(struct mimicd_client *client, const struct mimicd_thread_record *record)
{
	uint32_t number = record->number;
	struct mimicd_thread *thread;
	int error;

	if (!number || number > MIMIC_SESSION_THREADS || client->threads[number])
		return -EINVAL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	thread->number = number;
	thread->owner = record->owner;
	error = adopt_owner(client, thread, record);
	if (error) {
		free(thread);
		return error;
	}
	client->threads[number] = thread;
	return 0;
}

/* The program may be writing to its ring, and reading ours. */
static int go_on_with_rings(struct mimicd_lane *lane, const struct mimicd_lane_record *record)
{
	struct mimic_ring_end *commands = &lane->commands, *responses = &lane->responses;
	uint64_t shown = atomic_load_explicit(&responses->ring->head, memory_order_relaxed);

	commands->position = record->commands;
	/* A store that waits in the device has its word in the ring. */
	commands->peer = atomic_load_explicit(&commands->ring->head, memory_order_acquire);
	responses->position = record->responses;
	/* The command that is at work was given when there was room for its answers. */
	responses->peer = atomic_load_explicit(&responses->ring->tail, memory_order_acquire);
	if (commands->peer - commands->position > commands->mask + 1 ||
	    responses->position - responses->peer > responses->mask + 1)
		return -EPROTO;
	/* The program may be reading the copy of the words that are shown: the next ones go into the other. */
	responses->turn = atomic_load_explicit(&responses->ring->recent[0].end, memory_order_relaxed) == shown;
	lane->unpublished = record->responses - shown;
	return lane->unpublished > responses->mask + 1 ? -EPROTO : 0;
}

/* Answers that are still to come. */
static uint32_t answers_left(const struct mimicd_lane_record *record)
{
	if (!mimicd_has_answers(record->command.kind))
		return 0;
	return mimicd_is_store(record->command.kind) ? 1 : record->remaining;
}

/* Its command was judged when it came; a record that is damaged has another one. */
static int check_command(const struct mimicd_lane *lane, const struct mimicd_lane_record *record)
{
	const struct mimic_ring_end *responses = &lane->responses;
	const struct mimicd_device_slot *slot = record->has_target ? &lane->client->devices[record->target] : NULL;
	struct mimic_command command;

	if (!record->remaining)
		return record->parked ? -EPROTO : 0;
	if (!mimic_command_unpack(mimic_command_pack(&record->command), &command) ||
	    command.kind != record->command.kind || command.page != record->command.page ||
	    command.size != record->command.size || command.offset != record->command.offset ||
	    record->remaining > command.count)
		return -EPROTO;
	if (answers_left(record) > responses->mask + 1 - (responses->position - responses->peer))
		return -EPROTO;
	if (slot && slot->instance && command.page >= slot->pages)
		return -EPROTO;
	return record->parked && lane->thread->parked ? -EPROTO : 0;
}

static void go_on_with_command(struct mimicd_lane *lane, const struct mimicd_lane_record *record)
{
	if (record->client_commands > lane->client->commands)
		lane->client->commands = record->client_commands;
	lane->follows = record->follows;
	lane->command = record->command;
	lane->remaining = record->remaining;
	lane->withdrawn = record->withdrawn;
	lane->cancel_pending = record->cancel_pending;
	lane->retired = record->retired;
	lane->target = record->has_target ? &lane->client->devices[record->target] : NULL;
	if (lane->target && !lane->target->instance)
		lane->target = NULL;
	if (record->parked && lane->target)
		mimicd_lane_park(lane);
}

/* Its memory may show a loss, or the end of one, of a step that was not committed. */
static void show_losses(struct mimicd_lane *lane)
{
	const struct mimicd_device_slot *slots = lane->client->devices;

	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i += 64) {
		uint64_t lost = 0;

		for (uint32_t bit = 0; bit < 64; bit++)
			lost |= (uint64_t)slots[i + bit].lost << bit;
		atomic_store_explicit(&lane->memory->lost[i / 64], lost, memory_order_relaxed);
	}
}

int mimicd_lane_adopt(struct mimicd_client *client, uint32_t thread, uint32_t level, uint32_t number, int fd,
		      const struct mimicd_lane_record *record)
{
	size_t size = mimic_lane_size(MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS);
	struct mimicd_lane_place place = { NULL, MIMIC_LANE_COMMAND_WORDS, MIMIC_LANE_RESPONSE_WORDS };
	struct mimicd_lane *lane;
	struct stat status;
	void *memory;
	int error;

	if (fstat(fd, &status) < 0 || (uint64_t)status.st_size != size)
		return -EINVAL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	place.memory = memory;
	client->last_lane = number - 1;
	error = mimicd_lane_create_in(client, thread, level, &place, &lane);
	if (error) {
		munmap(memory, size);
		return error;
	}
	/* It is a client's own memory, which no front end lends. */
	lane->is_lent = false;
	lane->record = mimicd_journal_alloc(sizeof(*lane->record));
	error = lane->record ? go_on_with_rings(lane, record) : -ENOMEM;
	if (!error)
		error = check_command(lane, record);
	if (error) {
		mimicd_lane_destroy(lane);
		return error;
	}
	lane->fd = fd;
	mimicd_step_note(lane);
	go_on_with_command(lane, record);
	show_losses(lane);
	return 0;
}

void mimicd_lane_resume(struct mimicd_lane *lane)
{
	/* A program that was woken already, or has its answers, looks once more. */
	lane->answered = true;
	mimicd_step_note(lane);
	atomic_store_explicit(&lane->memory->daemon_cpu, lane->client->shard->cpu, memory_order_relaxed);
	atomic_store_explicit(&lane->memory->daemon_sleeping, 0, memory_order_relaxed);
}
