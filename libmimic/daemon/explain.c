/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The reason, in words, for which a thread waits for a device of mimicd. Also in signal handlers. */
#include <errno.h>

#include "devices/explain.h"
#include "libmimic/daemon/device.h"
#include "libmimic/daemon/lane.h"
#include "libmimic/daemon/session.h"

/* The part that the library knows: the access, but not the state of the device. */
static void add_own_knowledge(const struct daemon_lane *lane, struct mimic_text *text)
{
	const struct mimic_kind *kind = lane->device->base.kind;
	struct mimic_access access = *lane->pattern;

	/* Without answers, it is stores that wait for room. */
	access.is_write |= !lane->due;
	mimic_text_add(text, "a ");
	if (!kind->contexts) {
		mimic_explain_access(kind, &access, text);
		return;
	}
	/* Which context it has, mimicd knows. */
	mimic_text_add(text, access.is_write ? "store of " : "load of ");
	mimic_text_add_hex(text, access.offset, 3);
	mimic_text_add(text, " of its context");
}

void mimic_daemon_explain(const struct daemon_lane *lane, uint32_t generation, struct mimic_wait *wait)
{
	char answer[MIMIC_EXPLAIN_MAX];
	struct mimic_wait_line line;
	int error = mimic_daemon_session_explain(generation, lane->number, answer);

	mimic_wait_begin_line(wait, lane->device->base.name, &line);
	if (!error && !answer[0])
		return;
	if (!error)
		mimic_text_add(&line.text, answer);
	else
		add_own_knowledge(lane, &line.text);
	if (error == -ETIMEDOUT)
		mimic_text_add(&line.text, ": mimicd does not answer");
	else if (error)
		mimic_text_add(&line.text, ": the device has not answered");
	mimic_wait_tell(&line);
}
