/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/recording.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/loop/log.h"

/* A recording may have memory of programs of other users. */
#define NOT_FOR_OTHERS 077

int mimicd_recording_start(struct mimicd_engine *engine, const char *path)
{
	mode_t before = umask(NOT_FOR_OTHERS);
	int error;

	engine->recording = mimic_record_file_make(path);
	error = engine->recording ? mimic_record_file_keep_open(engine->recording) : -errno;
	umask(before);
	if (error)
		mimicd_log(MIMICD_LOG_ERROR, "--record %s: %s", path, strerror(-error));
	return error;
}

void mimicd_recording_end(struct mimicd_engine *engine)
{
	if (!engine->recording)
		return;
	mimicd_recording_check(engine);
	mimic_record_file_free(engine->recording);
	engine->recording = NULL;
}

void mimicd_recording_check(struct mimicd_engine *engine)
{
	if (!engine->recording || engine->recording_is_cut || !mimic_record_file_is_cut(engine->recording))
		return;
	engine->recording_is_cut = true;
	mimicd_log(MIMICD_LOG_ERROR, "the recording could not be written and has ended; devices go on without");
}

const struct mimic_kind *mimicd_recording_kind(const struct mimicd_engine *engine, const struct mimic_kind *kind)
{
	return engine->recording ? mimic_record_kind_of(kind) : kind;
}

struct mimic_model *mimicd_recording_make_model(const struct mimicd_instance *instance, const void *parameters,
						const struct mimic_host *host)
{
	const struct record_model what = {
		.kind = instance->kind,
		.name = instance->name,
		.parameters = parameters,
		.host = host,
		.memory = instance->device_memory.base,
		.memory_size = instance->device_memory.size,
	};

	if (!instance->engine->recording)
		return instance->kind->create(parameters, host, instance->device_memory.base);
	return mimic_record_model_make(instance->engine->recording, &what);
}

struct mimic_trace_source *mimicd_recording_trace(const struct mimicd_instance *instance)
{
	return instance->engine->recording ? mimic_record_trace(instance->model) : &instance->model->trace;
}
