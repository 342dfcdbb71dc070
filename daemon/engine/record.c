/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/record.h"

#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"

/* --- devices ---------------------------------------------------------------------------------- */

static uint64_t owner_of_private(const struct mimicd_instance *instance)
{
	return instance->is_private && instance->client ? instance->client->number : 0;
}

static void fill_device(const struct mimicd_instance *instance, struct mimicd_device_record *record)
{
	strncpy(record->kind, instance->kind->name, sizeof(record->kind) - 1);
	record->number = instance->index;
	record->is_private = instance->is_private;
	record->is_held = instance->client || instance->binding;
	record->client = owner_of_private(instance);
	record->model = instance->model;
	record->memory = instance->device_memory.base;
	record->memory_size = instance->device_memory.size;
	record->memory_kept = instance->device_memory.kept;
	record->events = instance->events.wanted;
	record->event_kept = instance->events.kept;
	record->restored = instance->restored;
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (instance->contexts[i].is_restored)
			record->waiting |= 1ull << i;
	}
}

/* Devices with names, then private ones of each client. record NULL: only counts them. */
static uint64_t fill_devices(const struct mimicd_engine *engine, struct mimicd_device_record *record)
{
	struct mimicd_instance *instance = engine->first_named;
	uint64_t count = 0;

	for (; instance; instance = instance->next_named, count++) {
		if (record)
			fill_device(instance, &record[count]);
	}
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		for (uint32_t i = 0; client->private_devices && i < MIMIC_SESSION_DEVICES; i++) {
			instance = client->devices[i].instance;
			if (!instance || !instance->is_private)
				continue;
			if (record)
				fill_device(instance, &record[count]);
			count++;
		}
	}
	return count;
}

/* FNV-1a, by words. */
uint64_t mimicd_devices_record_sum(const struct mimicd_devices_record *record)
{
	const uint64_t *word = &record->count;
	size_t words = 1 + record->count * sizeof(record->device[0]) / sizeof(*word);
	uint64_t sum = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < words; i++)
		sum = (sum ^ word[i]) * 0x100000001b3ull;
	return sum;
}

bool mimicd_devices_record_write(struct mimicd_engine *engine, struct mimicd_root_record *root)
{
	uint64_t count = fill_devices(engine, NULL);
	struct mimicd_devices_record *old = root->devices, *record;

	record = mimicd_journal_alloc(sizeof(*record) + count * sizeof(record->device[0]));
	if (!record)
		return false;
	record->count = count;
	fill_devices(engine, record->device);
	record->sum = mimicd_devices_record_sum(record);
	mimicd_journal_write(&root->devices, &record, sizeof(record));
	mimicd_journal_free(old);
	return true;
}

/* --- clients ---------------------------------------------------------------------------------- */

static bool is_used(const struct mimicd_device_slot *slot)
{
	return slot->instance || slot->lost || slot->closed || slot->closing;
}

static void count(const struct mimicd_client *client, struct mimicd_client_record *record)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++)
		record->slots += is_used(&client->devices[i]);
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++)
		record->threads += client->threads[i] != NULL;
	record->lanes = client->lane_count;
	record->ranges = (uint32_t)client->memory.count;
}

void mimicd_client_record_arrays(struct mimicd_client_record *record, struct mimicd_client_arrays *arrays)
{
	arrays->slots = (struct mimicd_slot_record *)(record + 1);
	arrays->threads = (struct mimicd_thread_record *)(arrays->slots + record->slots);
	arrays->lanes = (struct mimicd_lane_place_record *)(arrays->threads + record->threads);
	arrays->ranges = (struct mimicd_range_record *)(arrays->lanes + record->lanes);
	arrays->end = arrays->ranges + record->ranges;
}

size_t mimicd_client_record_size(const struct mimicd_client *client)
{
	struct mimicd_client_record record = { 0 };
	struct mimicd_client_arrays arrays;

	count(client, &record);
	mimicd_client_record_arrays(&record, &arrays);
	return (size_t)((char *)arrays.end - (char *)&record);
}

static void name_device(const struct mimicd_device_slot *slot, struct mimicd_slot_record *record)
{
	const struct mimicd_instance *instance = slot->instance;

	strncpy(record->kind, instance->kind->name, sizeof(record->kind) - 1);
	record->device = instance->index;
	record->is_private = instance->is_private;
	if (instance->contexts)
		record->address_space = instance->contexts[slot->context].address_space;
}

static void fill_slots(const struct mimicd_client *client, struct mimicd_slot_record *record)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_device_slot *slot = &client->devices[i];

		if (!is_used(slot))
			continue;
		*record = (struct mimicd_slot_record){
			.number = i,
			.context = slot->context,
			.opens = slot->opens,
			.lost = slot->lost,
			.closed = slot->closed,
			.closing = slot->closing,
		};
		if (slot->instance)
			name_device(slot, record);
		record++;
	}
}

static struct mimicd_thread_record record_of(const struct mimicd_thread *thread)
{
	return (struct mimicd_thread_record){
		.number = thread->number,
		.gone = thread->gone,
		.owner = thread->owner,
		.bound = thread->bound ? thread->bound->number : 0,
		.tid = thread->bound ? thread->bound->tid : 0,
	};
}

void mimicd_client_record_fill(const struct mimicd_client *client, struct mimicd_client_record *record)
{
	struct mimicd_client_arrays arrays;

	*record = (struct mimicd_client_record){
		.number = client->number,
		.last_lane = client->last_lane,
		.is_shown = client->is_shown,
		.commands = client->commands,
		.process = client->process ? client->process->number : 0,
	};
	count(client, record);
	mimicd_client_record_arrays(record, &arrays);
	fill_slots(client, arrays.slots);
	for (uint32_t i = 1; i <= MIMIC_SESSION_THREADS; i++) {
		const struct mimicd_thread *thread = client->threads[i];

		if (thread)
			*arrays.threads++ = record_of(thread);
	}
	for (const struct mimicd_lane *lane = client->lanes; lane; lane = lane->next)
		*arrays.lanes++ = (struct mimicd_lane_place_record){
			lane->number, lane->thread->number, lane->level, lane->record,
		};
	for (size_t i = 0; i < client->memory.count; i++) {
		const struct mimicd_range *range = &client->memory.ranges[i];

		*arrays.ranges++ = (struct mimicd_range_record){ range->start, range->size, range->offset, range->kept };
	}
}
