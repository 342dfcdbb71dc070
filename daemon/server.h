/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon: one thread, one loop. It looks at every lane, lets the devices
 * work, and sleeps in epoll when nothing comes. Long work is done by workers
 * (jobs.h), one of which may stand in for the loop while its thread sleeps: all
 * of this belongs to who holds the baton.
 */
#ifndef MIMICD_SERVER_H
#define MIMICD_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/engine/events.h"
#include "daemon/engine/jobs.h"
#include "daemon/loop/loop.h"
#include "libmimic/base/config.h"

struct mimicd_bus;
struct mimicd_bus_ops;
struct mimicd_filesystem;
struct mimicd_instance;
struct mimicd_lane;
struct mimicd_server;
struct mimicd_session;

#define MIMICD_SESSIONS_MAX 256
#define MIMICD_DEVICES_MAX (MIMIC_KIND_DEVICES_MAX * MIMIC_KINDS_MAX)

/* Devices in the kernel, by mimic.ko. */
enum mimicd_kernel {
	MIMICD_KERNEL_OFF,
	MIMICD_KERNEL_AUTO,	/* if the node can be opened */
	MIMICD_KERNEL_REQUIRED,
};

enum mimicd_channel {
	MIMICD_CHANNEL_AUTO,	/* io_uring, else read and write */
	MIMICD_CHANNEL_URING,
	MIMICD_CHANNEL_READ,
};

struct mimicd_options {
	const char *socket_path;
	struct mimic_settings settings;
	bool allow_users;	/* serve other users than ours and root */
	int listen_fd;		/* of systemd; -1: make one */
	enum mimicd_kernel kernel;
	enum mimicd_channel channel;
	const char *bus_path;
	const struct mimicd_bus_ops *bus_ops;	/* NULL: the system's */
	const char *state_path;	/* where the state filesystem is mounted; NULL: nowhere */
	bool make_state_directory;	/* that is the default place: made and removed by us */
};

struct mimicd_server {
	struct mimicd_options options;
	char *socket_path;
	dev_t socket_device;	/* to remove our own socket only */
	ino_t socket_inode;
	struct mimicd_loop loop;
	int listen_fd;
	int spare_fd;		/* given up for a moment to refuse a client when there are no descriptors */
	struct mimicd_source listen_source;
	struct mimicd_source jobs_source;

	/* By kind, then by number: number N of the first at N, the next kind's 64 further; NULL: there is none. */
	struct mimicd_instance *named[MIMICD_DEVICES_MAX];
	unsigned int named_count;	/* the highest there is, plus 1 */
	uint64_t last_address_space;	/* of the sessions' contexts */
	struct mimicd_bus *bus;		/* NULL: no devices in the kernel */
	struct mimicd_jobs jobs;
	struct mimicd_events events;
	struct mimicd_filesystem *filesystem;	/* NULL: none */
	struct mimicd_session *sessions;
	unsigned int session_count;
	struct mimicd_session *bus_traced_for;	/* TRACE_BUS; NULL: nobody */
	uint64_t last_owner;		/* serial part of owner numbers */

	/* Every lane of every session, close together for polling. */
	struct mimicd_lane **lanes;
	unsigned int lane_count;
	unsigned int lane_capacity;
	int cpu;			/* as published in the lanes */
	uint64_t now;			/* time of the last work, for spinning */
	uint64_t looks_rest_until;	/* the lanes' turn, see look.h */
	uint64_t crowded_until;		/* a client shares our CPU: do not spin */
	bool reap;			/* a session or lane waits to be freed */
	bool busy;			/* a device has work that goes on without a command */
};

/*
 * A server that is listening (options.socket_path) or has no socket of its own
 * (NULL: sessions come by mimicd_session_create). -errno, with a log line.
 */
int mimicd_server_create(struct mimicd_server **server, const struct mimicd_options *options);
void mimicd_server_destroy(struct mimicd_server *server);

/* Serves until mimicd_server_stop(). 0 or -errno. */
int mimicd_server_run(struct mimicd_server *server);
/* From any thread or a signal handler. */
void mimicd_server_stop(struct mimicd_server *server);

/* Everything that can be done now, without sleeping. For tests and fuzzers. */
void mimicd_server_settle(struct mimicd_server *server);

#endif
