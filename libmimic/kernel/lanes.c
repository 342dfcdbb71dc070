/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Devices whose driver gives lanes itself, because no socket leads to the daemon: in a virtual
 * machine the daemon is on the host, and lanes are memory of the PCI function. All nodes of one device
 * are one session; a session's requests go by calls of one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "libmimic/base/error.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/daemon/session.h"
#include "libmimic/kernel/kernel.h"
#include "mimic/accelerator_ioctl.h"

/* Which device a session is of. */
static struct of_session {
	const struct mimic_kind *kind;
	unsigned int index;
} sessions[DAEMON_SESSION_KINDS];

static const struct mimic_kind *kind_of(const struct daemon_session *session)
{
	return sessions[session - mimic_daemon_sessions].kind;
}

static int make_call(struct daemon_session *session, uint32_t what, uint32_t number, uint32_t value,
		     uint64_t nanoseconds)
{
	const struct accelerator_lane_call call = {
		.size = sizeof(call), .call = what, .number = number, .value = value, .nanoseconds = nanoseconds,
	};

	return mimic_kernel_nodes.lane_call(atomic_load(&session->node), kind_of(session), &call);
}

static int get_lane(struct daemon_session *session, uint32_t thread, uint32_t level, struct daemon_lane_place *place)
{
	struct accelerator_lane lane = { .size = sizeof(lane), .thread = thread, .level = level };
	int node = atomic_load(&session->node);
	int error = mimic_kernel_nodes.lane(node, kind_of(session), &lane);

	if (error)
		return error;
	*place = (struct daemon_lane_place){
		.fd = (int)mimic_raw_syscall(SYS_fcntl, node, F_DUPFD_CLOEXEC, 0, 0, 0, 0), .offset = lane.offset,
		.number = lane.lane, .thread = lane.thread,
		.command_words = lane.command_words, .response_words = lane.response_words,
	};
	return place->fd < 0 ? place->fd : 0;
}

static int tell(struct daemon_session *session, uint16_t type, uint32_t number)
{
	switch (type) {
	case MIMIC_MESSAGE_CANCEL:
		return make_call(session, ACCELERATOR_LANE_CANCEL, number, 0, 0);
	case MIMIC_MESSAGE_LANE_DROP:
		return make_call(session, ACCELERATOR_LANE_CLOSE, number, 0, 0);
	case MIMIC_MESSAGE_THREAD_GONE:
		return make_call(session, ACCELERATOR_LANE_THREAD_END, number, 0, 0);
	default:
		/* A device is closed with its node. */
		return 0;
	}
}

static int kick(struct daemon_session *session)
{
	return make_call(session, ACCELERATOR_LANE_KICK, 0, 0, 0);
}

static int wait_at(struct daemon_session *session, uint32_t lane, uint32_t value, uint64_t nanoseconds)
{
	return make_call(session, ACCELERATOR_LANE_WAIT, lane, value, nanoseconds);
}

static const struct daemon_session_ops ops = {
	.lane = get_lane,
	.tell = tell,
	.kick = kick,
	.wait = wait_at,
};

/* 0: there is none. */
static uint32_t find(const struct mimic_kind *kind, unsigned int index)
{
	for (unsigned int i = DAEMON_SESSION_NODES; i < DAEMON_SESSION_KINDS; i++) {
		uint32_t generation = atomic_load(&mimic_daemon_sessions[i].generation);

		if (generation && sessions[i].kind == kind && sessions[i].index == index &&
		    mimic_daemon_session_is_alive(generation))
			return generation;
	}
	return 0;
}

int mimic_kernel_lanes_get(int node, const struct mimic_kind *kind, unsigned int index, const char *path,
			   uint32_t *generation)
{
	unsigned int place = DAEMON_SESSION_NODES;

	*generation = find(kind, index);
	if (*generation)
		return 0;
	if (!mimic_kernel_nodes.lane)
		return mimic_error(-EOPNOTSUPP, "%s: its driver gives no lanes", path);
	while (place < DAEMON_SESSION_KINDS && atomic_load(&mimic_daemon_sessions[place].generation) &&
	       !atomic_load(&mimic_daemon_sessions[place].dead))
		place++;
	if (place == DAEMON_SESSION_KINDS)
		return mimic_error(-EMFILE, "%s: this process has lanes of %d devices already", path,
				   DAEMON_SESSION_KINDS - DAEMON_SESSION_NODES);
	sessions[place] = (struct of_session){ kind, index };
	mimic_daemon_session_begin((enum daemon_session_kind)place, &ops, node, path);
	*generation = atomic_load(&mimic_daemon_sessions[place].generation);
	/* A driver without lanes fails now, and not at the first access. */
	if (make_call(&mimic_daemon_sessions[place], ACCELERATOR_LANE_KICK, 0, 0, 0)) {
		mimic_daemon_session_end((enum daemon_session_kind)place);
		return mimic_error(-EOPNOTSUPP, "%s: its driver gives no lanes: serve the device with ,rings", path);
	}
	return 0;
}

void mimic_kernel_lanes_leave(uint32_t generation, int node, int other)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);

	if (atomic_load(&session->generation) != generation)
		return;
	if (other < 0)
		mimic_daemon_session_end(mimic_daemon_session_kind(generation));
	else if (atomic_load(&session->node) == node)
		mimic_daemon_session_set_node(generation, other);
}
