/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A cluster's handle: opening and closing. */
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

static const struct mimic_library_kind kind = {
	.name = "virgo", .title = "Virgo", .page = VIRGO_PAGE_CONTROL, .offset = VIRGO_CONTROL_IDENTIFY,
	.magic = VIRGO_MAGIC, .version = VIRGO_VERSION,
};

static int identify(struct virgo *virgo)
{
	uint64_t identity;
	int error = mimic_library_identify(virgo->device, &kind, &identity);

	if (error)
		return error;
	virgo->unit_count = identity & 0xff;
	if (!virgo->unit_count || virgo->unit_count > VIRGO_UNITS_MAX)
		return virgo_fail(-EPROTO, "%s: it has %u units, this library knows of 1 to %u",
				  virgo_device_name(virgo), virgo->unit_count, VIRGO_UNITS_MAX);
	return 0;
}

static int identify_unit(struct virgo_unit *unit)
{
	static const unsigned int sizes[VIRGO_TYPES] = {
		[VIRGO_INT8] = 1, [VIRGO_FP16] = 2, [VIRGO_FP32] = 4,
	};
	struct virgo_unit_info *info = &unit->info;
	uint64_t identity, status;
	unsigned int type;
	int error = virgo_load_register(unit, VIRGO_IDENTIFY, &identity);

	if (!error)
		error = virgo_load_register(unit, VIRGO_STATUS, &status);
	if (error)
		return error;
	type = identity >> 8 & 0xff;
	info->dim = identity & 0xff;
	if (type >= VIRGO_TYPES || !info->dim)
		return virgo_fail(-EPROTO, "%s: unit %u identifies itself as 0x%llx",
				  virgo_device_name(unit->virgo), unit->number,
				  (unsigned long long)identity);
	info->type = (enum virgo_type)type;
	info->element_size = sizes[type];
	info->row_bytes = info->dim * info->element_size;
	info->rows = (uint32_t)(unit->virgo->shared_size / info->row_bytes);
	info->accumulator_rows = (uint32_t)((identity >> 32 & 0xffff) * 1024 / (4 * info->dim));
	unit->overflows = identity & VIRGO_IDENTIFY_OVERFLOWS;
	info->queue_entries = status >> VIRGO_STATUS_SIZE_SHIFT & 0xff;
	return 0;
}

static int identify_all(struct virgo *virgo)
{
	void *shared = NULL;
	int error = identify(virgo);

	if (!error)
		error = mimic_library_result(mimic_device_memory(virgo->device, &shared, &virgo->shared_size));
	virgo->shared = shared;
	for (unsigned int i = 0; i < virgo->unit_count && !error; i++) {
		virgo->unit[i].virgo = virgo;
		virgo->unit[i].number = i;
		error = identify_unit(&virgo->unit[i]);
	}
	return error;
}

/* The device is closed if this fails. */
static int make_handle(struct virgo **result, struct mimic_device *device)
{
	struct virgo *virgo = calloc(1, sizeof(*virgo));
	int error;

	if (!virgo) {
		mimic_device_close(device);
		return virgo_fail(-ENOMEM, "virgo_open: out of memory");
	}
	virgo->device = device;
	virgo->owner = getpid();
	virgo->event_fd = -1;
	pthread_mutex_init(&virgo->lock, NULL);
	pthread_mutex_init(&virgo->counter_lock, NULL);
	pthread_cond_init(&virgo->given_back, NULL);
	error = identify_all(virgo);
	if (error) {
		virgo_close(virgo);
		return error;
	}
	virgo->largest = VIRGO_PARTS;
	*result = virgo;
	return 0;
}

int virgo_open(struct virgo **result, const struct virgo_options *options)
{
	const struct virgo_options defaults = { 0 };
	struct mimic_device *device;
	int error;

	if (!result)
		return virgo_fail(-EINVAL, "virgo_open: no place for the handle");
	*result = NULL;
	if (!options)
		options = &defaults;
	error = mimic_library_open(&device, &kind, &(struct mimic_library_options){
		options->device, options->transport, options->socket_path, options->config_path,
	});
	return error ? error : make_handle(result, device);
}

void virgo_close(struct virgo *virgo)
{
	bool is_owner;

	if (!virgo)
		return;
	/* A child of a fork has no threads but its own; in its copy the parent's may still wait. */
	is_owner = virgo->owner == getpid();
	for (unsigned int i = 0; i < virgo->unit_count; i++) {
		struct virgo_unit *unit = &virgo->unit[i];

		if (unit->thread && is_owner)
			virgo_gemm_thread_end(unit);
		if (unit->workspace)
			mimic_memory_free(virgo->device, unit->workspace);
		if (unit->copies)
			mimic_memory_free(virgo->device, unit->copies);
	}
	if (virgo->event_fd >= 0) {
		mimic_device_eventfd(virgo->device, -1, 0);
		close(virgo->event_fd);
	}
	virgo_forget_ranges(virgo);
	mimic_device_close(virgo->device);
	if (is_owner) {
		pthread_cond_destroy(&virgo->given_back);
		pthread_mutex_destroy(&virgo->counter_lock);
		pthread_mutex_destroy(&virgo->lock);
	}
	free(virgo);
}
