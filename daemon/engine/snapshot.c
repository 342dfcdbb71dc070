/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/process.h"
#include "daemon/engine/restored.h"
#include "daemon/engine/trap.h"
#include "daemon/loop/log.h"
#include "libmimic/record/snapshot.h"

/* --- threads that may have roles ----------------------------------------------------------- */

struct owners {
	size_t count;
	uint64_t numbers[MIMIC_SNAPSHOT_OWNERS_MAX];
};

static void add_owner(struct owners *owners, uint64_t number)
{
	if (owners->count < MIMIC_SNAPSHOT_OWNERS_MAX)
		owners->numbers[owners->count++] = number;
}

static void add_client(struct owners *owners, const struct mimicd_client *client)
{
	for (uint32_t i = 0; client && i <= MIMIC_SESSION_THREADS; i++) {
		if (client->threads[i])
			add_owner(owners, mimicd_thread_owner(client->threads[i]));
	}
}

/* One that has several contexts counts once. */
static void add_contexts(struct owners *owners, const struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		const struct mimicd_client *client = instance->contexts[i].client;
		unsigned int first = 0;

		while (first < i && instance->contexts[first].client != client)
			first++;
		if (first == i)
			add_client(owners, client);
	}
}

static void add_process(struct owners *owners, const struct mimicd_process *process)
{
	for (unsigned int i = 0; i < MIMICD_THREAD_CHAINS; i++) {
		for (const struct mimicd_owner *owner = process->owners[i]; owner; owner = owner->next)
			add_owner(owners, owner->number);
	}
}

/* NULL: no memory. */
static struct owners *find_owners(const struct mimicd_instance *instance)
{
	struct owners *owners = malloc(sizeof(*owners));

	if (!owners)
		return NULL;
	owners->count = 0;
	if (instance->functions)
		add_owner(owners, MIMICD_OWNER_DRIVER);
	if (instance->client)
		add_client(owners, instance->client);
	add_contexts(owners, instance);
	for (const struct mimicd_binding *binding = instance->binding; binding; binding = binding->next_on_device)
		add_process(owners, binding->process);
	for (size_t i = 0; instance->restored && i < instance->restored->owner_count; i++)
		add_owner(owners, instance->restored->owners[i]);
	return owners;
}

/* --- saved ------------------------------------------------------------------------------- */

static int take(const struct mimicd_instance *instance, const struct owners *owners, void **bytes, size_t *size)
{
	const struct mimic_model_ops *ops = instance->model->ops;
	struct mimic_snapshot_parts parts = {
		.device = instance->name,
		.kind = instance->kind,
		.parameters = mimicd_instance_parameters(instance),
		.owners = owners->numbers,
		.owner_count = owners->count,
		.image_size = ops->save(instance->model, NULL, 0),
	};
	size_t total = mimic_record_snapshot_size(&parts);
	char *record;

	if (!parts.image_size)
		return -EOPNOTSUPP;
	if (!total)
		return -EFBIG;
	record = aligned_alloc(sizeof(uint64_t), total);
	if (!record)
		return -ENOMEM;
	ops->save(instance->model, mimic_record_snapshot_begin(&parts, record), parts.image_size);
	mimic_record_snapshot_end(record);
	*bytes = record;
	*size = total;
	return 0;
}

int mimicd_snapshot_take(struct mimicd_instance *instance, void **bytes, size_t *size)
{
	struct owners *owners;
	int error;

	/* Images are of a model that has all of its jobs. */
	if (!mimicd_jobs_hold(&instance->jobs))
		return -EINPROGRESS;
	owners = find_owners(instance);
	error = owners ? take(instance, owners, bytes, size) : -ENOMEM;
	free(owners);
	mimicd_jobs_release(&instance->engine->jobs);
	return error;
}

/* --- restored ---------------------------------------------------------------------------- */

static int refuse(struct mimic_text *reason, int error, const char *text)
{
	mimic_text_add(reason, text);
	return error;
}

/* Control characters of a name would reach a terminal. */
static void add_program(struct mimic_text *reason, const struct mimicd_program *program)
{
	char letter[2] = "";

	for (const char *at = program->name; *at; at++) {
		letter[0] = *at >= ' ' && *at <= '~' ? *at : '?';
		mimic_text_add(reason, letter);
	}
	mimic_text_add(reason, " (process ");
	mimic_text_add_decimal(reason, (uint64_t)program->pid);
	mimic_text_add(reason, ") has it");
}

/* The first program that has the device, or a part of it. NULL: none has. */
static const struct mimicd_program *find_program(const struct mimicd_instance *instance, bool *is_broken)
{
	const struct mimicd_client *client = instance->client;

	*is_broken = false;
	if (instance->binding)
		return &instance->binding->program;
	for (unsigned int i = 0; !client && i < instance->context_count; i++)
		client = instance->contexts[i].client;
	if (!client)
		return NULL;
	*is_broken = client->broken;
	return &client->program;
}

static int check_free(const struct mimicd_instance *instance, struct mimic_text *reason)
{
	bool is_broken;
	const struct mimicd_program *program = find_program(instance, &is_broken);

	if (instance->leaves || (program && is_broken)) {
		mimic_text_add(reason, "work of a program that had it does not end");
		return -EINPROGRESS;
	}
	if (!program)
		return 0;
	add_program(reason, program);
	return -EBUSY;
}

/* Can the device have a restored state at all? */
static int check_able(const struct mimicd_instance *instance, struct mimic_text *reason)
{
	const struct mimic_kind *kind = instance->kind;

	if (instance->engine->recording)
		return refuse(reason, -EOPNOTSUPP, "mimicd records its devices (--record), and a recording has no restored states");
	if (kind->contexts && !kind->contexts->adopt)
		return refuse(reason, -EOPNOTSUPP, "contexts of devices of this kind cannot be restored");
	if (!instance->model->ops->save(instance->model, NULL, 0))
		return refuse(reason, -EOPNOTSUPP, "devices of this kind cannot be saved or restored");
	return 0;
}

static int check_image(const struct mimicd_instance *instance, const struct mimic_snapshot *snapshot,
		       struct mimic_text *reason)
{
	size_t here = instance->model->ops->save(instance->model, NULL, 0);

	if (snapshot->record->image_size == here)
		return 0;
	mimic_text_add(reason, "its image has ");
	mimic_text_add_decimal(reason, snapshot->record->image_size);
	mimic_text_add(reason, " bytes, and images here have ");
	mimic_text_add_decimal(reason, here);
	mimic_text_add(reason, ": it was saved by mimic ");
	mimic_text_add(reason, snapshot->record->release);
	mimic_text_add(reason, ", and this is " MIMIC_VERSION);
	return -EINVAL;
}

static int restore(struct mimicd_instance *instance, const struct mimic_snapshot *snapshot, struct mimic_text *reason)
{
	struct mimicd_restored *restored;
	int error;

	restored = mimicd_restored_make(instance, snapshot->owners, snapshot->record->owners);
	if (!restored)
		return refuse(reason, -ENOMEM, "there is no memory for it");
	instance->is_restoring = true;
	error = instance->model->ops->restore(instance->model, snapshot->image, snapshot->record->image_size);
	instance->is_restoring = false;
	if (!error) {
		mimicd_restored_begin(instance, restored);
		mimicd_log(MIMICD_LOG_INFO, "%s has the state that was saved of %s", instance->name,
			   snapshot->record->device);
		return 0;
	}
	mimicd_restored_drop(restored);
	if (error == -ENOMEM)
		return refuse(reason, error, "there is no memory for it");
	mimic_text_add(reason, "its image is of another version of the device, or none that the device could have: "
		       "it was saved by mimic ");
	mimic_text_add(reason, snapshot->record->release);
	mimic_text_add(reason, ", and this is " MIMIC_VERSION);
	return -EINVAL;
}

int mimicd_snapshot_restore(struct mimicd_engine *engine, const char *name, const void *bytes, size_t size,
			    bool is_check, struct mimic_text *reason)
{
	struct mimicd_instance *instance;
	struct mimic_snapshot snapshot;
	int error = mimicd_instance_find(engine, name, &instance);

	if (error)
		return refuse(reason, error, "mimicd has no such device");
	error = mimic_record_snapshot_read(bytes, size, &snapshot, reason);
	if (!error && snapshot.record->size != size)
		return refuse(reason, -EINVAL, "there are bytes behind the device's record");
	if (!error)
		error = check_able(instance, reason);
	if (!error)
		error = mimic_record_snapshot_fits(&snapshot, instance->kind, mimicd_instance_parameters(instance), reason);
	if (!error)
		error = check_image(instance, &snapshot, reason);
	if (!error)
		error = check_free(instance, reason);
	if (!error && !is_check)
		error = restore(instance, &snapshot, reason);
	return error;
}
