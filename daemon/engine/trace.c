/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/trace.h"

#include <errno.h>
#include <sys/stat.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/state.h"

/* Of address space: pages are the client's, and are there when they are written. */
#define SPOOL_BYTES_MAX (1ull << 40)

int mimicd_trace_start(struct mimicd_client *client, int fd, const char **why)
{
	struct stat status;
	int error;

	*why = NULL;
	if (client->trace.spool.header)
		return -EALREADY;
	error = mimicd_memory_check(fd, sizeof(struct mimic_spool_header), 0, why);
	if (error)
		return error;
	if (fstat(fd, &status) || (uint64_t)status.st_size > SPOOL_BYTES_MAX) {
		*why = "the spool is too large";
		return -EINVAL;
	}
	error = mimic_spool_attach(&client->trace.spool, fd);
	if (error)
		*why = "the memfd is no spool";
	return error;
}

int mimicd_trace_bus_start(struct mimicd_client *client, int fd, const char **why)
{
	struct mimicd_engine *engine = client->engine;
	int error;

	*why = NULL;
	if (!mimicd_state_may_manage(client->program.uid))
		return -EPERM;
	if (!mimicd_front_ends_have_bus(engine)) {
		*why = "no device is on the kernel's bus";
		return -EOPNOTSUPP;
	}
	if (engine->bindings_traced_for) {
		*why = "there is a trace of them already";
		return -EBUSY;
	}
	error = mimicd_trace_start(client, fd, why);
	if (error)
		return error;
	engine->bindings_traced_for = client;
	for (struct mimicd_binding *binding = engine->bindings; binding; binding = binding->next)
		mimicd_trace_bound(binding->instance, binding->program.pid);
	return 0;
}

void mimicd_trace_bound(struct mimicd_instance *instance, pid_t pid)
{
	struct mimicd_client *client = instance->engine->bindings_traced_for;
	struct mimic_trace_source *source = &instance->model->trace;
	struct mimic_spool *spool;

	if (!client || mimic_spool_is(source->trace))
		return;
	spool = &client->trace.spool;
	*source = (struct mimic_trace_source){
		.trace = &spool->trace,
		.device = mimic_spool_device(spool, instance->name, mimic_kind_index(instance->kind), pid),
	};
}

/* Has nobody else a part of the device? Else their work would be seen in this session's trace. */
static bool is_alone(const struct mimicd_client *client, const struct mimicd_instance *instance)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		const struct mimicd_client *other = instance->contexts[i].client;

		if (other && other != client)
			return false;
	}
	return true;
}

static void mark_closed(struct mimicd_instance *instance)
{
	struct mimic_trace_source *source = &instance->model->trace;
	struct mimic_spool *spool = (struct mimic_spool *)source->trace;

	mimic_spool_device_closed(spool, source->device);
	source->trace = NULL;
}

void mimicd_trace_open(struct mimicd_client *client, struct mimicd_instance *instance)
{
	struct mimic_trace_source *source = &instance->model->trace;
	struct mimic_spool *spool = &client->trace.spool;

	/* What processes have through the kernel is traced as a whole, whoever they are. */
	if (instance->binding && instance->engine->bindings_traced_for)
		return;
	if (!is_alone(client, instance)) {
		mimicd_trace_close(instance);
		return;
	}
	if (!spool->header || source->trace == &spool->trace)
		return;
	*source = (struct mimic_trace_source){
		.trace = &spool->trace,
		.device = mimic_spool_device(spool, instance->name, mimic_kind_index(instance->kind), client->program.pid),
	};
}

/* The trace of a client, not the one that probes switch on. */
static bool is_traced(const struct mimicd_instance *instance)
{
	return mimic_spool_is(instance->model->trace.trace);
}

void mimicd_trace_close(struct mimicd_instance *instance)
{
	if (is_traced(instance))
		mark_closed(instance);
}

static void end_of_bus(struct mimicd_engine *engine)
{
	for (struct mimicd_binding *binding = engine->bindings; binding; binding = binding->next)
		mimicd_trace_close(binding->instance);
	engine->bindings_traced_for = NULL;
}

void mimicd_trace_end(struct mimicd_client *client)
{
	if (client->engine->bindings_traced_for == client)
		end_of_bus(client->engine);
	mimic_spool_detach(&client->trace.spool);
}
