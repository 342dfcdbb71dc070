/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/client.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

int mimicd_client_init(struct mimicd_client *client, struct mimicd_engine *engine,
		       const struct mimicd_client_ops *ops, int pidfd)
{
	const struct mimicd_program *program = &client->program;

	client->engine = engine;
	client->shard = &engine->loop_shard;
	client->ops = ops;
	mimicd_memory_init(&client->memory, &engine->errands, program->pid, pidfd,
			   program->uid == geteuid() && program->pid > 0);
	client->memory.uid = program->uid;
	client->next = engine->clients;
	engine->clients = client;
	return mimicd_user_join(engine, client);
}

bool mimicd_client_only_inspects(const struct mimicd_client *client)
{
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance)
			return false;
	}
	return !client->lane_count && !client->memory.count;
}

void mimicd_client_retry_device(struct mimicd_client *client, struct mimicd_instance *instance)
{
	if (!instance->kind->retry)
		return;
	client->shard->calls++;
	instance->kind->retry(instance->model, mimic_now());
	client->shard->busy |= instance->model->ops->busy(instance->model);
}

void mimicd_client_retry(struct mimicd_memory *memory)
{
	struct mimicd_client *client = (struct mimicd_client *)((char *)memory - offsetof(struct mimicd_client, memory));

	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		if (client->devices[i].instance)
			mimicd_client_retry_device(client, client->devices[i].instance);
	}
}

void mimicd_client_leave(struct mimicd_client *client)
{
	client->broken = true;
	mimicd_shard_call_reap(client->shard);
}

void mimicd_client_break(struct mimicd_client *client, const char *format, ...)
{
	char reason[256];
	va_list arguments;

	if (client->broken)
		return;
	mimicd_client_leave(client);
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	mimicd_log_of(client->program.uid, MIMICD_LOG_WARNING, "process %d (%s): session ended: %s",
		      (int)client->program.pid, client->program.name, reason);
}
