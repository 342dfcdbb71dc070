/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/engine/device.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/lane.h"
#include "daemon/engine/leave.h"
#include "daemon/engine/memory_journal.h"
#include "daemon/engine/origin.h"
#include "daemon/engine/record_check.h"
#include "daemon/engine/restored.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/kinds.h"

/* --- windows -------------------------------------------------------------------------------- */

static int complain(const char *failure, int error)
{
	mimicd_log(MIMICD_LOG_ERROR, "recovery: %s: %s", failure, strerror(-error));
	return error;
}

/* As it was before the step that was not committed. 0 or -errno. */
static int open_window(int fd, uint64_t generation, const char *build, struct mimicd_journal_left *left)
{
	int error = mimicd_journal_open(fd, build, left);
	const char *defect = "its generation";

	if (error)
		return error;
	mimicd_journal_undo(left);
	if (left->generation == generation)
		defect = mimicd_record_defect(left);
	if (!defect)
		return 0;
	mimicd_log(MIMICD_LOG_ERROR, "recovery: the state of the daemon before is damaged: %s", defect);
	mimicd_journal_close(left);
	return -EINVAL;
}

/* The newest one that is complete: a daemon that was killed while it took over has left one that is not. */
static void open_newest(struct mimicd_predecessor *predecessor, const char *build)
{
	uint64_t generation = mimicd_keep_last(MIMICD_KEEP_JOURNAL, UINT64_MAX);
	bool is_lost = false, is_over = false;

	predecessor->newest = generation;
	for (; generation; generation = mimicd_keep_last(MIMICD_KEEP_JOURNAL, generation)) {
		int fd = mimicd_keep_find(MIMICD_KEEP_JOURNAL, generation, 0);
		int error = is_over ? -EALREADY : open_window(fd, generation, build, &predecessor->left);

		close(fd);
		mimicd_keep_drop(MIMICD_KEEP_JOURNAL, generation, 0);
		is_lost |= error && error != -EALREADY && error != -ENODATA;
		/* One before the newest complete one has an older state. */
		is_over |= !error || is_lost;
		if (error == -EOVERFLOW)
			mimicd_log(MIMICD_LOG_ERROR, "recovery: the last step of the daemon before was too large to be undone");
		if (error)
			continue;
		predecessor->generation = generation;
		predecessor->root = predecessor->left.root;
	}
	if (is_lost && !predecessor->root)
		mimicd_log(MIMICD_LOG_ERROR, "recovery: the daemon before left no state that can be used; programs lose their devices");
}

static int make_window(uint64_t generation, const char *build, uint64_t settings)
{
	struct mimicd_root_record *root;
	int fd, error = mimicd_journal_create(generation, build, &fd);

	if (error)
		return complain("no memory for the state of devices", error);
	mimicd_journal_hold(fd);
	error = mimicd_keep(MIMICD_KEEP_JOURNAL, &generation, 0, fd);
	root = error ? NULL : mimicd_journal_alloc(sizeof(*root));
	if (!root)
		return complain("the supervisor does not keep the state of devices", error ? error : -ENOMEM);
	mimicd_journal_set_origin(MIMIC_VERSION, settings);
	mimicd_journal_set_root(root);
	return 0;
}

int mimicd_recover_begin(struct mimicd_engine *engine, const struct mimic_settings *settings,
			 struct mimicd_stored *stored, size_t count)
{
	struct mimicd_predecessor *predecessor = calloc(1, sizeof(*predecessor));
	uint64_t generation;
	char build[64];

	if (!predecessor)
		return -ENOMEM;
	mimicd_keep_take(stored, count);
	mimicd_origin_build(build, sizeof(build));
	engine->predecessor = predecessor;
	/* Windows that it drops stay in the store until the commit of our first step. */
	open_newest(predecessor, build);
	if (predecessor->newest <= 1)
		mimicd_journal_count_places(predecessor->newest);
	generation = predecessor->newest + 1;
	/* Windows of which one is read while the other is written lie at different addresses. */
	if (predecessor->root && (generation - predecessor->generation) % 2 == 0)
		generation++;
	return make_window(generation, build, mimicd_origin_settings(settings));
}

bool mimicd_recover_is_on(const struct mimicd_engine *engine)
{
	return engine->predecessor && engine->predecessor->root;
}

/* --- devices -------------------------------------------------------------------------------- */

static const struct mimic_kind *find_kind(const char *name)
{
	return mimic_kind_find(name, strnlen(name, MIMIC_KIND_MAX));
}

int mimicd_recover_devices(struct mimicd_engine *engine)
{
	const struct mimicd_root_record *root = engine->predecessor->root;
	const struct mimicd_devices_record *devices = root->devices;
	struct mimicd_instance *created;
	int error = 0;

	for (uint64_t i = 0; !error && i < devices->count; i++) {
		const struct mimicd_device_record *record = &devices->device[i];
		const struct mimic_kind *kind = find_kind(record->kind);

		if (!kind)
			return complain(record->kind, -ENODEV);
		if (!record->is_private)
			error = mimicd_device_create(engine, kind, record->number, &created);
	}
	engine->last_owner = root->last_owner;
	engine->last_address_space = root->last_address_space;
	return error;
}

static struct mimicd_instance *find_private(const struct mimicd_engine *engine, uint64_t number,
					    const struct mimicd_device_record *record)
{
	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		for (uint32_t i = 0; client->number == number && i < MIMIC_SESSION_DEVICES; i++) {
			struct mimicd_instance *instance = client->devices[i].instance;

			if (instance && instance->is_private && instance->index == record->number &&
			    !strcmp(instance->kind->name, record->kind))
				return instance;
		}
	}
	return NULL;
}

static struct mimicd_instance *find_device(const struct mimicd_engine *engine,
					   const struct mimicd_device_record *record)
{
	struct mimicd_instance *instance = NULL;

	if (record->is_private)
		return find_private(engine, record->client, record);
	mimicd_instance_of(engine, find_kind(record->kind), record->number, &instance);
	return instance;
}

/* Of the process that has it by a driver. NULL: none has. */
static struct mimicd_function *function_of(const struct mimicd_instance *instance)
{
	return instance && instance->binding ? instance->binding->function : NULL;
}

/* Where the predecessor's model had it, so that its model can be read, and changes of it be undone. 0 or -errno. */
static int map_old_memory(const struct mimicd_engine *engine, const struct mimicd_device_record *record, int *fd)
{
	struct mimicd_function *function = function_of(find_device(engine, record));
	const int flags = MAP_SHARED | MAP_FIXED;
	struct stat status;

	if (record->memory && function)
		return function->ops->map_memory(function, record->memory);
	/* Of a device that no program has it was anonymous memory, which is gone: zeros, as after power-on. */
	if (!record->memory || !record->memory_kept)
		return 0;
	*fd = mimicd_keep_find(MIMICD_KEEP_MEMORY, record->memory_kept, 0);
	if (*fd < 0)
		return -ENOENT;
	if (fstat(*fd, &status) < 0 || (uint64_t)status.st_size < record->memory_size)
		return -EINVAL;
	return mmap(record->memory, record->memory_size, PROT_READ | PROT_WRITE, flags, *fd, 0) == MAP_FAILED ? -errno : 0;
}

/* Of a device. */
struct old_memory {
	int fd;		/* -1: it was in no file */
	int error;	/* it is not there, and the old model cannot be read */
};

static int copy_state(struct mimicd_instance *instance, const struct mimic_model *old)
{
	const struct mimic_model_ops *ops = instance->model->ops;
	size_t size = ops->save(old, NULL, 0);
	void *image = malloc(size);
	int error = -ENOMEM;

	instance->is_restoring = true;
	if (image && ops->save(old, image, size) == size)
		error = ops->restore(instance->model, image, size);
	instance->is_restoring = false;
	free(image);
	return error;
}

static int restore_events(struct mimicd_instance *instance, const struct mimicd_device_record *record)
{
	int fd = record->events ? mimicd_keep_find(MIMICD_KEEP_EVENT, record->event_kept, 0) : -1;
	int error;

	if (!record->events || !instance->client)
		return 0;
	if (fd < 0)
		return -ENOENT;
	/* It gets another number in the store. */
	mimicd_keep_drop(MIMICD_KEEP_EVENT, record->event_kept, 0);
	error = mimicd_events_set(&instance->events, instance->client->user->home, fd, record->events);
	close(fd);
	/* The one that was raised last may not have been told. */
	mimicd_events_raise(&instance->events);
	return error;
}

static int restore(struct mimicd_engine *engine, struct mimicd_instance *instance,
		   const struct mimicd_device_record *record, int memory_fd)
{
	struct mimicd_device_memory *memory = &instance->device_memory;
	int error = 0;

	/* The old model has read its memory up to its end. */
	if (record->memory ? record->memory_size != memory->size || memory->fd >= 0 : memory->size != 0)
		error = -EINVAL;
	if (!error)
		error = copy_state(instance, record->model);
	if (!error && memory_fd >= 0)
		error = mimicd_device_memory_adopt(memory, memory_fd);
	if (error && memory_fd >= 0)
		close(memory_fd);
	else if (memory_fd >= 0)
		memory->kept = record->memory_kept;
	else if (!error && memory->base && function_of(instance))
		error = function_of(instance)->ops->map_memory(function_of(instance), memory->base);
	if (!error)
		error = restore_events(instance, record);
	if (!error)
		error = mimicd_restored_take_over(instance, record->restored, record->waiting);
	engine->loop_shard.busy = true;
	return error;
}

/* Programs that have it learn that by their next access. */
static void lose(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	for (struct mimicd_client *client = engine->clients; client; client = client->next)
		mimicd_client_lose(client, instance);
	while (instance->binding)
		instance->binding->function->ops->lose(instance->binding);
}

/* A program that was lost has left its contexts as they were. The next one finds them as after power-on. */
static void clear_contexts(struct mimicd_instance *instance)
{
	const struct mimic_contexts *contexts = instance->kind->contexts;

	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (!instance->contexts[i].client && !instance->contexts[i].is_restored &&
		    !mimicd_instance_context_binding(instance, i))
			contexts->attach(instance->model, i, 0, mimic_now());
	}
}

/* The same of a whole device. */
static void clear_lost(struct mimicd_instance *instance, const struct mimicd_device_record *record)
{
	if (!instance->kind->contexts && record->is_held && !instance->client && !instance->binding)
		mimicd_device_leave(instance, false);
}

static void restore_device(struct mimicd_engine *engine, const struct mimicd_device_record *record,
			   const struct old_memory *memory)
{
	struct mimicd_instance *instance = find_device(engine, record);
	int error = memory->error;

	if (!instance) {
		if (memory->fd >= 0)
			close(memory->fd);
		return;
	}
	if (error && memory->fd >= 0)
		close(memory->fd);
	if (!error)
		error = restore(engine, instance, record, memory->fd);
	if (!error)
		clear_contexts(instance);
	if (!error && engine->predecessor->has_lost_programs)
		clear_lost(instance, record);
	if (!error)
		return;
	mimicd_log(MIMICD_LOG_ERROR, "recovery: the state of %s is lost: %s", instance->name, strerror(-error));
	instance->model->ops->power_on(instance->model, 0);
	lose(engine, instance);
}

/* --- memory of clients ------------------------------------------------------------------------ */

static struct mimicd_client *find_client(const struct mimicd_engine *engine, uint64_t number)
{
	struct mimicd_client *client = engine->clients;

	while (client && client->number != number)
		client = client->next;
	return client;
}

/* Bytes of a row, as devices write them. */
#define ROW_BYTES 64u
#define PATIENCE_NS 300000000ull

static bool write_row(const struct mimic_memory *port, const struct mimicd_undo_entry *entry, const void *bytes)
{
	char row[ROW_BYTES] = { 0 };

	if (!entry->size || entry->size > sizeof(row))
		return false;
	memcpy(row, bytes, entry->size);
	return port->write_rows(port->context, &entry->address, 1, entry->size, row) == 1;
}

/*
 * Through the kernel's window. A page is not there for a moment while its process changes its memory, or the
 * kernel moves the page; it may have been swapped out since, or protected by a fork of the process. No device
 * waits for it, so it is asked for here.
 */
static bool write_row_patiently(struct mimicd_binding *binding, const struct mimicd_undo_entry *entry,
				const void *bytes)
{
	const struct mimicd_function_ops *ops = binding->function->ops;
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t end = mimic_now() + PATIENCE_NS;

	while (!write_row(&binding->port, entry, bytes)) {
		if (mimic_now() >= end)
			return false;
		/* It lies in two pages, perhaps. */
		if (!ops->fault_in(binding, entry->address) &&
		    !ops->fault_in(binding, entry->address + entry->size - 1) &&
		    write_row(&binding->port, entry, bytes))
			return true;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* The step is done once more, and has to read the same bytes. */
static void put_back(struct mimicd_client *client, const struct mimicd_undo_entry *entry, const void *bytes)
{
	struct mimicd_memory_slot slot = { .memory = &client->memory };
	struct mimic_memory port;

	mimicd_memory_port(&port, &slot);
	if (!write_row(&port, entry, bytes))
		mimicd_log_of(client->program.uid, MIMICD_LOG_WARNING,
			      "recovery: %u bytes at 0x%llx of process %d (%s) cannot be put back: a device may "
			      "read its own results there as input", entry->size, (unsigned long long)entry->address, (int)client->program.pid,
			      client->program.name);
	free(slot.ahead);
}

/* Of a kind without contexts, as those with atomic operations are: the command that is at work goes nowhere. */
static void take_away(struct mimicd_client *client, struct mimicd_instance *instance)
{
	bool is_private = instance->is_private;

	mimicd_client_detach(client, instance);
	client->private_devices -= is_private;
	mimicd_device_leave(instance, is_private);
}

/*
 * An atomic operation may be done or not, and others may have changed the word since: to do it once more could
 * do it twice. So the program is told, by the loss of the device, and the step that is done once more has none.
 */
static void give_up_atomic(struct mimicd_client *client, const struct mimicd_undo_entry *entry, const char *device)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_instance *instance = client->devices[i].instance;

		if (!instance || strnlen(device, entry->size) == entry->size || strcmp(instance->name, device))
			continue;
		mimicd_log_of(client->program.uid, MIMICD_LOG_WARNING,
			      "recovery: process %d (%s) loses %s: whether its atomic operation on the word at 0x%llx was done is not known",
			      (int)client->program.pid, client->program.name, instance->name,
			      (unsigned long long)entry->address);
		take_away(client, instance);
	}
}

/* Of a process that has devices by a driver, and loses one. */
static void lose_binding(struct mimicd_binding *binding, uint64_t address, const char *reason)
{
	mimicd_log_of(binding->program.uid, MIMICD_LOG_WARNING, "recovery: process %d (%s) loses %s: at 0x%llx %s",
		      (int)binding->program.pid, binding->program.name, binding->instance->name,
		      (unsigned long long)address, reason);
	binding->function->ops->lose(binding);
}

static void undo_of_binding(struct mimicd_engine *engine, const struct mimicd_undo_entry *entry, const void *bytes)
{
	struct mimicd_binding *binding = engine->bindings;

	while (binding && (binding->number | MIMICD_UNDO_OF_BINDING) != entry->client)
		binding = binding->next;
	if (!binding)
		return;
	if (entry->kind == MIMICD_UNDO_ATOMIC)
		lose_binding(binding, entry->address, "an atomic operation may have been done or not");
	else if (entry->kind == MIMICD_UNDO_CLIENT && !write_row_patiently(binding, entry, bytes))
		lose_binding(binding, entry->address, "bytes that it had written cannot be put back");
}

static void undo_of_client(void *context, const struct mimicd_undo_entry *entry, const void *bytes)
{
	struct mimicd_engine *engine = context;
	struct mimicd_client *client = entry->client ? find_client(engine, entry->client) : NULL;

	if (entry->client & MIMICD_UNDO_OF_BINDING)
		undo_of_binding(engine, entry, bytes);
	else if (client && entry->kind == MIMICD_UNDO_CLIENT)
		put_back(client, entry, bytes);
	else if (client && entry->kind == MIMICD_UNDO_ATOMIC)
		give_up_atomic(client, entry, bytes);
}

/* --- clients ------------------------------------------------------------------------------------ */

static int recover_private(struct mimicd_client *client, const struct mimic_kind *kind, uint32_t number,
			   struct mimicd_instance **created)
{
	if (number >= kind->private_count || client->private_devices == MIMIC_SESSION_PRIVATE_DEVICES)
		return -EINVAL;
	return mimicd_device_create_private(client->engine, kind, number, created);
}

static int recover_slot(struct mimicd_client *client, const struct mimicd_slot_record *record)
{
	const struct mimic_kind *kind = record->kind[0] ? find_kind(record->kind) : NULL;
	struct mimicd_adopted_slot adopted = {
		.number = record->number, .context = record->context, .address_space = record->address_space,
		.opens = record->opens, .lost = record->lost, .closed = record->closed, .closing = record->closing,
	};
	int error = 0;

	if ((record->kind[0] && !kind) || record->number >= MIMIC_SESSION_DEVICES)
		return -EINVAL;
	if (kind && record->is_private)
		error = recover_private(client, kind, record->device, &adopted.instance);
	else if (kind)
		error = mimicd_instance_of(client->engine, kind, record->device, &adopted.instance);
	if (!error)
		error = mimicd_client_adopt(client, &adopted);
	if (error && adopted.instance && record->is_private)
		mimicd_device_destroy(adopted.instance);
	return error;
}

static int recover_range(struct mimicd_client *client, const struct mimicd_range_record *record)
{
	int fd = mimicd_keep_find(MIMICD_KEEP_RANGE, record->kept, 0);
	const char *why;
	int error;

	if (fd < 0)
		return -ENOENT;
	error = mimicd_memory_add(&client->memory, fd, record->start, record->size, record->offset, &why);
	close(fd);
	for (size_t i = 0; !error && i < client->memory.count; i++) {
		if (client->memory.ranges[i].start == record->start)
			client->memory.ranges[i].kept = record->kept;
	}
	return error;
}

static int recover_lane(struct mimicd_client *client, const struct mimicd_lane_place_record *record)
{
	int fd = mimicd_keep_find(MIMICD_KEEP_LANE, client->number, record->number);
	int error;

	if (fd < 0)
		return -ENOENT;
	/* Threads come before their lanes; 0 would be a new one. */
	if (!record->thread) {
		close(fd);
		return -EPROTO;
	}
	error = mimicd_lane_adopt(client, record->thread, record->level, record->number, fd, record->record);
	if (error)
		close(fd);
	return error;
}

int mimicd_recover_client(struct mimicd_client *client, struct mimicd_client_record *record)
{
	struct mimicd_client_arrays arrays;
	int error = 0;

	mimicd_client_record_arrays(record, &arrays);
	client->is_shown = record->is_shown;
	client->commands = record->commands;
	for (uint32_t i = 0; !error && i < record->ranges; i++)
		error = recover_range(client, &arrays.ranges[i]);
	for (uint32_t i = 0; !error && i < record->slots; i++)
		error = recover_slot(client, &arrays.slots[i]);
	for (uint32_t i = 0; !error && i < record->threads; i++)
		error = mimicd_thread_adopt(client, &arrays.threads[i]);
	/* The record has them in the list's order, the newest first. */
	for (uint32_t i = record->lanes; !error && i-- > 0;)
		error = recover_lane(client, &arrays.lanes[i]);
	/* Now: one that is gone gets no lane, but may have some with stores that are not done. */
	for (uint32_t i = 0; !error && i < record->threads; i++)
		client->threads[arrays.threads[i].number]->gone = arrays.threads[i].gone;
	client->last_lane = record->last_lane;
	return error;
}

/* --- all together ----------------------------------------------------------------------------- */

int mimicd_recover_models(struct mimicd_engine *engine)
{
	const struct mimicd_devices_record *devices = engine->predecessor->root->devices;
	struct old_memory *memory = calloc(devices->count + 1, sizeof(*memory));

	if (!memory)
		return complain("no memory to take devices over", -ENOMEM);
	for (uint64_t i = 0; i < devices->count; i++) {
		memory[i].fd = -1;
		memory[i].error = map_old_memory(engine, &devices->device[i], &memory[i].fd);
	}
	mimicd_journal_undo_files(&engine->predecessor->left);
	for (uint64_t i = 0; i < devices->count; i++)
		restore_device(engine, &devices->device[i], &memory[i]);
	free(memory);
	mimicd_journal_each(&engine->predecessor->left, undo_of_client, engine);
	return 0;
}

void mimicd_recover_end(struct mimicd_engine *engine)
{
	struct mimicd_predecessor *predecessor = engine->predecessor;

	for (struct mimicd_client *client = engine->clients; client; client = client->next) {
		for (struct mimicd_lane *lane = client->lanes; lane; lane = lane->next)
			mimicd_lane_resume(lane);
		mimicd_step_note_client(client);
		/* Pages that accesses waited for are asked for again. */
		mimicd_client_retry(&client->memory);
	}
	mimicd_front_ends_recovered(engine);
	mimicd_step_note_devices(engine);
	mimicd_step_commit(engine);
	if (predecessor->root)
		mimicd_journal_close(&predecessor->left);
	mimicd_keep_forget_rest();
	free(predecessor);
	engine->predecessor = NULL;
	engine->loop_shard.busy = true;
	atomic_store(&engine->reap, true);
}
