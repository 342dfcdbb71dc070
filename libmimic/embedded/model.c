/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The embedded transport's models: makes them, with their memory, and answers their calls. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmimic/base/config.h"
#include "libmimic/base/memory.h"
#include "libmimic/base/spool.h"
#include "libmimic/embedded/embedded.h"
#include "libmimic/embedded/instance.h"
#include "libmimic/record/record.h"

/* From inside the model, so with the lock. */
static void on_complete(void *context, uint64_t owner, uint64_t data)
{
	struct embedded_instance *instance = context;
	struct embedded_lane *lane;

	for (lane = atomic_load_explicit(&instance->lanes, memory_order_relaxed); lane;
	     lane = atomic_load_explicit(&lane->next, memory_order_relaxed)) {
		if (lane->holder != owner ||
		    atomic_load_explicit(&lane->waiting, memory_order_relaxed) !=
		    EMBEDDED_WAIT_ANSWER)
			continue;
		lane->answer = data;
		mimic_embedded_settle(instance, lane);
		return;
	}
}

static void on_report(void *context, const char *text)
{
	struct embedded_instance *instance = context;

	atomic_store_explicit(&instance->report, text, memory_order_relaxed);
}

static uint64_t on_now(void *context)
{
	return mimic_now_recent(&((struct embedded_instance *)context)->clock);
}

/* From inside the model's calls: the reason is read at the end of the section. */
static void on_interrupt(void *context)
{
	((struct embedded_instance *)context)->events_raised = true;
}

/* All contexts are this process's. */
static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	struct embedded_instance *instance = context;

	(void)address_space;
	return &instance->memory;
}

static int make_memory(const struct mimic_kind *kind, const void *parameters, struct embedded_memory *memory)
{
	size_t size = kind->memory_size ? kind->memory_size(parameters) : 0;
	int error;

	*memory = (struct embedded_memory){ .fd = -1 };
	if (!size)
		return 0;
	memory->fd = mimic_memory_file(kind->name, size);
	if (memory->fd < 0)
		return memory->fd;
	memory->size = size;
	memory->address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
	/* A child has no devices: its stores must not come to ours. */
	if (memory->address != MAP_FAILED && !madvise(memory->address, size, MADV_DONTFORK))
		return 0;
	error = -errno;
	if (memory->address != MAP_FAILED)
		munmap(memory->address, size);
	close(memory->fd);
	memory->address = NULL;
	return error;
}

static void free_memory(struct embedded_memory *memory)
{
	if (!memory->address)
		return;
	munmap(memory->address, memory->size);
	close(memory->fd);
	memory->address = NULL;
}

/* Recorded kinds have no create(): those are the devices that have a name. */
static struct mimic_model *make_model(struct embedded_instance *instance, const char *name,
				      const void *parameters, void *memory)
{
	struct mimic_host host = {
		.context = instance,
		.complete = on_complete,
		.interrupt = instance->kind->take_events ? on_interrupt : NULL,
		.report = on_report,
		.memory = instance->memory,
		.memory_of = memory_of,
		.now = on_now,
	};

	if (!instance->kind->create)
		return mimic_record_create(instance->kind, name, parameters, &host, memory);
	return instance->kind->create(parameters, &host, memory);
}

/* Traces the model into the spool of the process, if there is one. */
static void start_trace(const char *name, struct mimic_model *model)
{
	struct mimic_spool *spool = mimic_process_trace();

	if (!spool)
		return;
	model->trace.device = mimic_spool_device(spool, name, getpid());
	model->trace.trace = &spool->trace;
}

int mimic_embedded_model_make(struct embedded_instance *instance, const struct mimic_settings *settings,
			      struct embedded_model *made)
{
	struct mimic_own_parameters parameters = *mimic_parameters_of(&settings->parameters, instance->kind);
	char name[32];
	int error = make_memory(instance->kind, &parameters, &made->memory);

	if (error)
		return error;
	if (instance->kind->jobs)
		instance->kind->jobs->enable(&parameters);
	mimic_embedded_instance_name(instance, name, sizeof(name));
	made->model = make_model(instance, name, &parameters, made->memory.address);
	if (made->model) {
		start_trace(name, made->model);
		return 0;
	}
	error = -errno;
	free_memory(&made->memory);
	return error;
}

void mimic_embedded_model_free(const struct mimic_kind *kind, struct embedded_model *made)
{
	if (made->model)
		kind->destroy(made->model);
	made->model = NULL;
	free_memory(&made->memory);
}
