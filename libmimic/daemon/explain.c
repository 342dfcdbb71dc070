/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The reason, in words, for which a thread waits for a device of mimicd. Also in signal handlers. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "devices/explain.h"
#include "libmimic/base/raw_syscall.h"
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

/* Of a session that has no messages, by the lane itself. */
static int ask_by_note(const struct daemon_lane *lane, uint32_t generation, char text[MIMIC_EXPLAIN_MAX])
{
	struct mimic_lane_note *note = mimic_lane_note(lane->memory, lane->size);
	const struct timespec moment = { .tv_nsec = 1000000 };

	atomic_store_explicit(&note->asked, 1, memory_order_relaxed);
	mimic_lane_fence();
	mimic_daemon_session_kick(generation);
	for (unsigned int i = 0; atomic_load_explicit(&note->asked, memory_order_acquire); i++) {
		if (!mimic_daemon_session_is_current(generation))
			return -ENOTCONN;
		if (i == MIMIC_DAEMON_EXPLAIN_MS)
			return -ETIMEDOUT;
		/* nanosleep() would be a cancellation point. */
		mimic_raw_syscall(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
	}
	memcpy(text, note->text, MIMIC_EXPLAIN_MAX);
	text[MIMIC_EXPLAIN_MAX - 1] = 0;
	return 0;
}

void mimic_daemon_explain(const struct daemon_lane *lane, uint32_t generation, struct mimic_wait *wait)
{
	char answer[MIMIC_EXPLAIN_MAX];
	struct mimic_wait_line line;
	int error = mimic_daemon_session_explain(generation, lane->number, answer);

	if (error == -EOPNOTSUPP)
		error = ask_by_note(lane, generation, answer);
	mimic_wait_begin_line(wait, lane->device->base.name, &line);
	if (!error && !answer[0])
		return;
	if (!error)
		mimic_text_add(&line.text, answer);
	else
		add_own_knowledge(lane, &line.text);
	if (error == -ETIMEDOUT && mimic_daemon_session_has_lost_its_first(generation))
		mimic_text_add(&line.text, ": mimicd has ended, and no successor answers yet");
	else if (error == -ETIMEDOUT)
		mimic_text_add(&line.text, ": mimicd does not answer");
	else if (error)
		mimic_text_add(&line.text, ": the device has not answered");
	mimic_wait_tell(&line);
}
