/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/state.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/client.h"
#include "daemon/engine/engine.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "libmimic/base/state_json.h"

/* --- who may -------------------------------------------------------------------------- */

bool mimicd_state_may_manage(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

static bool is_others(const struct mimicd_client *client, uid_t uid)
{
	return client && client->program.uid != uid;
}

bool mimicd_state_may_see(const struct mimicd_instance *instance, uid_t uid)
{
	if (mimicd_state_may_manage(uid))
		return true;
	/* A view shows all contexts, so it is for nobody who has only some of them. */
	if (is_others(instance->client, uid))
		return false;
	for (unsigned int i = 0; i < instance->context_count; i++) {
		if (is_others(instance->contexts[i].client, uid))
			return false;
	}
	for (struct mimicd_binding *binding = instance->binding; binding; binding = binding->next_on_device) {
		if (binding->program.uid != uid)
			return false;
	}
	return mimicd_instance_is_held(instance) || mimicd_instance_is_bound(instance);
}

/* --- names ------------------------------------------------------------------------------ */

struct search {
	const char *name;	/* without the process */
	size_t length;
	unsigned int pid;	/* 0: any */
	uid_t uid;
	struct mimicd_instance *found;
	unsigned int visible;
	unsigned int hidden;
};

static void look_at(struct search *search, struct mimicd_instance *instance)
{
	if (strlen(instance->name) != search->length ||
	    strncmp(instance->name, search->name, search->length))
		return;
	if (!mimicd_state_may_see(instance, search->uid)) {
		search->hidden++;
		return;
	}
	search->visible++;
	search->found = instance;
}

static void look_at_client(struct search *search, const struct mimicd_client *client)
{
	if (client->broken || (search->pid && search->pid != (unsigned int)client->program.pid))
		return;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		struct mimicd_instance *instance = client->devices[i].instance;

		if (instance && instance->is_private)
			look_at(search, instance);
	}
}

static int find_private(struct mimicd_engine *engine, const char *name, uid_t uid,
			struct mimicd_instance **found)
{
	struct search search = { .name = name, .length = strcspn(name, ":"), .uid = uid };

	if (name[search.length] &&
	    (!mimic_kind_number(name + search.length + 1, &search.pid) || !search.pid))
		return -ENODEV;
	for (struct mimicd_client *client = engine->clients; client; client = client->next)
		look_at_client(&search, client);
	if (search.visible > 1)
		return -ENOTUNIQ;
	if (!search.visible)
		return search.hidden ? -EPERM : -ENODEV;
	*found = search.found;
	return 0;
}

int mimicd_state_find(struct mimicd_engine *engine, const char *name, uid_t uid,
		      struct mimicd_instance **found)
{
	const char *rest;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &rest);
	int error;

	if (kind && kind->private_count && *rest == '@')
		return find_private(engine, name, uid, found);
	error = mimicd_instance_find(engine, name, found);
	if (error)
		return error;
	return mimicd_state_may_see(*found, uid) ? 0 : -EPERM;
}

/* --- what is done --------------------------------------------------------------------------- */

char *mimicd_state_text(struct mimicd_engine *engine, struct mimicd_instance *instance, bool with_bytes)
{
	struct json_object *state = mimic_state_json(instance->kind, instance->model, mimic_now(),
						     with_bytes ? MIMIC_STATE_JSON_BYTES : 0);
	const char *printed;
	char *text;

	(void)engine;
	if (!state)
		return NULL;
	printed = json_object_to_json_string_ext(state, JSON_C_TO_STRING_PLAIN);
	text = printed ? strdup(printed) : NULL;
	json_object_put(state);
	return text;
}

/* Power-on has taken them away; who had them has them still. */
static void attach_contexts(struct mimicd_instance *instance, uint64_t now)
{
	for (unsigned int i = 0; i < instance->context_count; i++) {
		uint64_t address_space = instance->contexts[i].address_space;

		if (address_space)
			instance->kind->contexts->attach(instance->model, i, address_space, now);
	}
}

int mimicd_state_reset(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	const struct mimic_kind *kind = instance->kind;
	struct mimic_model *model = instance->model;
	uint64_t events = 0, now = mimic_now();

	mimicd_log(MIMICD_LOG_INFO, "%s is reset", instance->name);
	/* They are between who has the device and us, or the driver: not the device's to forget. */
	if (kind->enabled_events)
		events = kind->enabled_events(model, now);
	model->ops->power_on(model, now);
	mimicd_jobs_end(instance);
	mimicd_inject_reset(instance);
	attach_contexts(instance, now);
	if (events)
		kind->enable_events(model, events, now);
	engine->busy |= model->ops->busy(model);
	return 0;
}

int mimicd_state_clear_counters(struct mimicd_engine *engine, struct mimicd_instance *instance)
{
	(void)engine;
	instance->model->ops->clear_counters(instance->model);
	return 0;
}
