/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/trace.h"

#include <errno.h>
#include <sys/stat.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/front_end.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/recording.h"

/* Of address space: pages are the client's, and are there when they are written. */
#define SPOOL_BYTES_MAX (1ull << 40)

int mimicd_trace_start(struct mimicd_trace *trace, struct mimicd_memory *memory, int fd, const char **why)
{
	struct stat status;
	int error;

	*why = NULL;
	if (trace->spool.header)
		return -EALREADY;
	error = mimicd_memory_check_and_fix(memory, fd, sizeof(struct mimic_spool_header), 0, why);
	if (error)
		return error;
	if (fstat(fd, &status) || (uint64_t)status.st_size > SPOOL_BYTES_MAX) {
		*why = "the spool is too large";
		return -EINVAL;
	}
	error = mimic_spool_attach(&trace->spool, fd);
	if (error) {
		*why = "the memfd is no spool";
		return error;
	}
	trace->memory = memory;
	trace->mapping = (struct mimicd_range){ .size = trace->spool.size, .base = (char *)trace->spool.header };
	error = mimicd_memory_adopt(memory, &trace->mapping, why);
	if (error)
		mimic_spool_detach(&trace->spool);
	return error;
}

int mimicd_trace_bindings_start(struct mimicd_engine *engine, struct mimicd_trace *trace,
				struct mimicd_memory *memory, int fd, const char **why)
{
	int error;

	*why = NULL;
	if (!mimicd_front_ends_have_bus(engine)) {
		*why = "no device is on the kernel's bus, or a virtual machine's";
		return -EOPNOTSUPP;
	}
	if (engine->bindings_trace) {
		*why = "there is a trace of them already";
		return -EBUSY;
	}
	error = mimicd_trace_start(trace, memory, fd, why);
	if (error)
		return error;
	engine->bindings_trace = trace;
	for (struct mimicd_binding *binding = engine->bindings; binding; binding = binding->next)
		mimicd_trace_bound(binding->instance, binding->program.pid);
	return 0;
}

static void attach(struct mimicd_instance *instance, struct mimic_spool *spool, pid_t pid)
{
	*mimicd_recording_trace(instance) = (struct mimic_trace_source){
		.trace = &spool->trace,
		.device = mimic_spool_device(spool, instance->name, pid),
	};
}

/* By the trace of a client, not by the one that probes switch on. */
static bool is_traced(const struct mimicd_instance *instance)
{
	return mimic_spool_is(mimicd_recording_trace(instance)->trace);
}

void mimicd_trace_bound(struct mimicd_instance *instance, pid_t pid)
{
	struct mimicd_trace *trace = instance->engine->bindings_trace;

	if (trace && !is_traced(instance))
		attach(instance, &trace->spool, pid);
}

void mimicd_trace_open(struct mimicd_trace *trace, struct mimicd_instance *instance, pid_t pid,
		       bool is_alone)
{
	/* All processes that have the device by a driver are traced together. */
	if (instance->binding && instance->engine->bindings_trace)
		return;
	/* Else the work of other clients would be seen in this one's trace. */
	if (!is_alone) {
		mimicd_trace_close(instance);
		return;
	}
	if (trace->spool.header && mimicd_recording_trace(instance)->trace != &trace->spool.trace)
		attach(instance, &trace->spool, pid);
}

void mimicd_trace_close(struct mimicd_instance *instance)
{
	struct mimic_trace_source *source = mimicd_recording_trace(instance);

	if (!is_traced(instance))
		return;
	mimic_spool_device_closed((struct mimic_spool *)source->trace, source->device);
	source->trace = NULL;
}

void mimicd_trace_end(struct mimicd_engine *engine, struct mimicd_trace *trace)
{
	struct mimicd_binding *binding = engine->bindings_trace == trace ? engine->bindings : NULL;

	for (; binding; binding = binding->next)
		mimicd_trace_close(binding->instance);
	if (engine->bindings_trace == trace)
		engine->bindings_trace = NULL;
	if (!trace->spool.header)
		return;
	trace->spool.header = NULL;
	mimicd_memory_drop(trace->memory, &trace->mapping);
}
