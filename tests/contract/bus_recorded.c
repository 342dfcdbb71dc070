/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bare model again, recorded; at the end of the case the recording is replayed, and must be identical. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/record/record.h"
#include "libmimic/replay/replay.h"
#include "tests/contract/internal.h"

static const struct contract_device *real;
static struct contract_device recorded;
static const char *configuration_now;
static struct record_file *file;
static char path[64];

static struct mimic_model *create_real(void *context, const struct mimic_host *host)
{
	return real->create_model(context, host);
}

static struct mimic_model *create_recorded(const char *configuration, const struct mimic_host *host)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(real->name, &rest);
	struct mimic_own_parameters parameters;
	const struct record_model what = {
		.kind = kind,
		.name = real->name,
		.parameters = &parameters,
		.host = host,
		.memory = real->model_memory ? real->model_memory() : NULL,
		.memory_size = real->model_memory_size,
		.create = create_real,
		.destroy = real->destroy_model,
		.context = (void *)configuration,
	};

	memset(&parameters, 0, sizeof(parameters));
	kind->defaults(&parameters);
	configuration_now = configuration;
	/* One name for all cases of a process: those that are skipped leave their file to the next. */
	snprintf(path, sizeof(path), "/tmp/mimic-recorded-%d", (int)getppid());
	unlink(path);
	file = mimic_record_file_make(path);
	return file ? mimic_record_model_make(file, &what) : NULL;
}

static int open_recorded(const struct contract_device *device, const char *configuration)
{
	real = device;
	recorded = *device;
	recorded.create_model = create_recorded;
	recorded.destroy_model = mimic_record_model_destroy;
	return bus_model.open(&recorded, configuration);
}

static void replay(void)
{
	const struct mimic_replay_options options = {
		.create = create_real,
		.destroy = real->destroy_model,
		.context = (void *)configuration_now,
		.memory = real->model_memory ? real->model_memory() : NULL,
	};
	struct mimic_replay_result result;
	struct mimic_replay *recording;
	char text[256];

	if (mimic_replay_open(&recording, path, text, sizeof(text)))
		contract_fail(__FILE__, __LINE__, "no recording: %s", text);
	unlink(path);
	if (mimic_replay_damage(recording)->exists)
		contract_fail(__FILE__, __LINE__, "the recording is damaged: %s",
			      mimic_replay_damage(recording)->text);
	if (mimic_replay_run(recording, 0, &options, &result, text, sizeof(text)))
		contract_fail(__FILE__, __LINE__, "no replay: %s", text);
	if (result.difference.exists)
		contract_fail(__FILE__, __LINE__, "the replay differs at call %llu, %s: %s: recorded %s, now %s",
			      (unsigned long long)result.difference.call, result.difference.asked,
			      result.difference.what, result.difference.recorded,
			      result.difference.replayed);
	if (result.end != MIMIC_REPLAY_WHOLE)
		contract_fail(__FILE__, __LINE__, "the recording has no end after %llu calls: %s",
			      (unsigned long long)result.calls, result.damage.text);
	mimic_replay_close(recording);
}

static void close_recorded(void)
{
	bus_model.close();
	mimic_record_file_free(file);
	replay();
}

struct bus bus_recorded;

__attribute__((constructor)) static void make_bus(void)
{
	bus_recorded = bus_model;
	bus_recorded.name = "recorded";
	bus_recorded.open = open_recorded;
	bus_recorded.close = close_recorded;
}
