/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/record_check.h"

#include <string.h>

#include "daemon/engine/instance.h"
#include "daemon/engine/restored.h"

#define DEVICES_MAX (MIMIC_KINDS_MAX * MIMIC_KIND_DEVICES_MAX)
#define PLACES_MAX (MIMICD_JOURNAL_FILES_BYTES / MIMIC_KIND_MEMORY_MAX)

/* That were seen: each is there once. */
struct seen {
	bool devices[DEVICES_MAX];
	bool places[PLACES_MAX];
};

static bool is_text(const char *text, size_t size)
{
	return memchr(text, 0, size);
}

static const char *kind_defect(const struct mimicd_device_record *record, struct seen *seen)
{
	const struct mimic_kind *kind;
	unsigned int place;

	if (!is_text(record->kind, sizeof(record->kind)) || record->number >= MIMIC_KIND_DEVICES_MAX)
		return "the name of a device";
	kind = mimic_kind_find(record->kind, strlen(record->kind));
	if (!kind)
		return "the kind of a device is not known";
	if (record->is_private)
		return record->number < kind->private_count ? NULL : "the number of a private device";
	place = mimicd_instance_place(kind, record->number);
	if (place >= DEVICES_MAX || seen->devices[place])
		return "two devices with one name";
	seen->devices[place] = true;
	return NULL;
}

static const char *memory_defect(const struct mimicd_journal_left *left,
				 const struct mimicd_device_record *record, struct seen *seen)
{
	uint64_t offset = (uint64_t)(uintptr_t)record->memory - mimicd_journal_left_files(left);

	if (!record->memory)
		return record->memory_size ? "the memory of a device" : NULL;
	if (offset >= MIMICD_JOURNAL_FILES_BYTES || offset % MIMIC_KIND_MEMORY_MAX || !record->memory_size ||
	    record->memory_size > MIMIC_KIND_MEMORY_MAX || seen->places[offset / MIMIC_KIND_MEMORY_MAX])
		return "the memory of a device";
	seen->places[offset / MIMIC_KIND_MEMORY_MAX] = true;
	return NULL;
}

static const char *restored_defect(const struct mimicd_journal_left *left, const struct mimicd_device_record *record)
{
	const struct mimic_contexts *contexts = mimic_kind_find(record->kind, strlen(record->kind))->contexts;
	const struct mimicd_restored *restored = record->restored;

	if (record->waiting && !(contexts && contexts->adopt))
		return "the waiting contexts of a device";
	if (!restored)
		return NULL;
	if (!mimicd_journal_left_has(left, restored, sizeof(*restored)) || restored->owner_count > left->size ||
	    restored->memory_size > MIMIC_KIND_MEMORY_MAX ||
	    !mimicd_journal_left_has(left, restored,
				     mimicd_restored_bytes(restored->owner_count, restored->memory_size)))
		return "the restored state of a device";
	return NULL;
}

const char *mimicd_record_defect(const struct mimicd_journal_left *left)
{
	const struct mimicd_root_record *root = left->root;
	const struct mimicd_devices_record *devices;
	struct seen seen = { .devices = { false } };

	if (!mimicd_journal_left_has(left, root, sizeof(*root)))
		return "the root";
	devices = root->devices;
	if (!mimicd_journal_left_has(left, devices, sizeof(*devices)) || devices->count > left->size ||
	    !mimicd_journal_left_has(left, devices, sizeof(*devices) + devices->count * sizeof(devices->device[0])))
		return "the list of devices";
	if (devices->sum != mimicd_devices_record_sum(devices))
		return "the sum of the devices' records";
	for (uint64_t i = 0; i < devices->count; i++) {
		const struct mimicd_device_record *record = &devices->device[i];
		const char *defect = kind_defect(record, &seen);

		if (!defect)
			defect = memory_defect(left, record, &seen);
		/* Its size is known to the model alone. */
		if (!defect && !mimicd_journal_left_has(left, record->model, sizeof(*record->model)))
			defect = "the model of a device";
		if (!defect)
			defect = restored_defect(left, record);
		if (defect)
			return defect;
	}
	return NULL;
}

static const char *arrays_defect(const struct mimicd_journal_left *left,
				 const struct mimicd_client_record *record,
				 const struct mimicd_client_arrays *arrays)
{
	for (uint32_t i = 0; i < record->slots; i++) {
		if (!is_text(arrays->slots[i].kind, sizeof(arrays->slots[i].kind)))
			return "the device of a slot";
	}
	for (uint32_t i = 0; i < record->lanes; i++) {
		if (!mimicd_journal_left_has(left, arrays->lanes[i].record, sizeof(*arrays->lanes[i].record)))
			return "the record of a lane";
	}
	return NULL;
}

const char *mimicd_client_record_defect(const struct mimicd_journal_left *left,
					struct mimicd_client_record *record)
{
	struct mimicd_client_arrays arrays;

	if (record->slots > MIMIC_SESSION_DEVICES || record->threads > MIMIC_SESSION_THREADS ||
	    record->lanes > MIMIC_SESSION_LANES || record->ranges > MIMIC_SESSION_RANGES)
		return "the length of an array";
	mimicd_client_record_arrays(record, &arrays);
	if (!mimicd_journal_left_has(left, record, (uint64_t)((char *)arrays.end - (char *)record)))
		return "an array";
	return arrays_defect(left, record, &arrays);
}
