/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Trust boundary: a lane's words are the client's, and it is told of its own lanes only. */
#include "daemon/engine/explain.h"

#include "daemon/engine/client.h"
#include "daemon/engine/current.h"
#include "daemon/engine/turn.h"
#include "devices/explain.h"

static void add_access(const struct mimicd_device_slot *slot, const struct mimic_access *access,
		       struct mimic_text *text)
{
	const struct mimicd_instance *instance = slot->instance;

	mimic_explain_access(instance->kind, access, text);
	if (instance->injection.hangs)
		mimic_text_add(text, ": mimic inject has made the device hang");
	else
		mimic_explain_reason(instance->kind, slot->model, access, text);
}

/* The command that is being executed. false: there is none. */
static bool explain_current(const struct mimicd_lane *lane, const char *whose, struct mimic_text *text)
{
	struct mimic_access access;

	if (!lane->remaining || !lane->target)
		return false;
	mimicd_lane_access(lane, &access);
	mimic_text_add(text, whose);
	add_access(lane->target, &access, text);
	return true;
}

static void explain_order(const struct mimicd_lane *lane, uint64_t word, struct mimic_text *text)
{
	const struct mimicd_lane *other = mimicd_lane_find_ordered(lane, word);

	if (!other || !explain_current(other, "another thread's ", text))
		mimic_text_add(text, "earlier stores of another thread");
}

/* One that is published, and not begun. */
static void explain_next(struct mimicd_lane *lane, struct mimic_text *text)
{
	const struct mimicd_device_slot *slot;
	struct mimic_command command;
	struct mimic_access access;
	uint64_t word;

	if (mimic_ring_level(&lane->commands, 1) <= 0)
		return;
	word = mimic_ring_get(&lane->commands, 0);
	if (mimic_lane_is_order(word)) {
		explain_order(lane, word, text);
		return;
	}
	if (!mimic_command_unpack(word, &command))
		return;
	slot = &lane->client->devices[command.device];
	if (!slot->instance || command.page >= slot->pages)
		return;
	access = (struct mimic_access){
		.offset = command.offset,
		.page = (uint8_t)(slot->first_page + command.page),
		.is_write = mimicd_is_store(command.kind),
	};
	mimic_text_add(text, "a ");
	mimic_explain_access(slot->instance->kind, &access, text);
	mimic_text_add(text, lane->thread->parked ? ": another access of this thread comes first"
						  : ": its turn has not come");
}

void mimicd_lane_explain(struct mimicd_lane *lane, struct mimic_text *text)
{
	const char *whose = mimicd_has_answers(lane->command.kind) ? "a " : "its earlier ";

	if (lane->follows)
		explain_order(lane, lane->follows, text);
	else if (!explain_current(lane, whose, text))
		explain_next(lane, text);
}
