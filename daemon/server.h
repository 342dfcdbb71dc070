/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The daemon put together: a loop, the engine over it, and the front ends by which
 * programs reach the engine.
 */
#ifndef MIMICD_SERVER_H
#define MIMICD_SERVER_H

#include "daemon/bus/bus.h"
#include "daemon/clients/clients.h"
#include "daemon/engine/engine.h"
#include "daemon/filesystem/filesystem.h"
#include "daemon/loop/keeper.h"
#include "daemon/loop/loop.h"
#include "daemon/recovery/store.h"
#include "daemon/vfio/vfio.h"
#include "daemon/watchdog.h"
#include "libmimic/base/config.h"

#define MIMICD_THREADS_MAX 64u	/* a window has a log for each (daemon/journal) */

struct mimicd_options {
	struct mimic_settings settings;
	const char *recording;		/* a new file; NULL: devices are not recorded */
	unsigned int threads;		/* of the engine, at most; 0: one */
	bool spreads_at_once;		/* for tests: even one client is served by a further thread */
	struct mimicd_clients_options clients;
	struct mimicd_bus_options bus;
	struct mimicd_vfio_options vfio;
	struct mimicd_filesystem_options filesystem;
	bool recover; /* --recover */
	struct mimicd_stored *stored; /* of the predecessor, without the listening socket */
	size_t stored_count;
};

struct mimicd_server {
	struct mimicd_keeper *keeper;		/* NULL: no devices for virtual machines, or it could not be made */
	struct mimicd_loop loop;
	struct mimicd_engine engine;
	struct mimicd_bus *bus;			/* NULL: no devices in the kernel */
	struct mimicd_vfio *vfio;		/* NULL: no devices for virtual machines */
	struct mimicd_clients *clients;
	struct mimicd_filesystem *filesystem;	/* NULL: none */
	struct mimicd_watchdog watchdog;
};

/* -errno, with a log line. */
int mimicd_server_create(struct mimicd_server **server, const struct mimicd_options *options);
/* false: a thread waits for a page that does not come, and uses the server until the process ends: by _exit(). */
bool mimicd_server_destroy(struct mimicd_server *server);

/* Serves until mimicd_server_stop(). 0 or -errno. */
int mimicd_server_run(struct mimicd_server *server);
/* From any thread or a signal handler. */
void mimicd_server_stop(struct mimicd_server *server);

/* Everything that can be done now, without sleeping. For tests and fuzzers. */
void mimicd_server_settle(struct mimicd_server *server);

#endif
