/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/server.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/clients/record.h"
#include "daemon/engine/recover.h"
#include "daemon/engine/shards.h"
#include "daemon/journal/journal.h"
#include "daemon/vfio/last_replies.h"

#define SETTLE_ROUNDS 1000u

_Static_assert(MIMICD_THREADS_MAX <= MIMICD_JOURNAL_LOGS, "each thread has a log");

static int start(struct mimicd_server *server, const struct mimicd_options *options)
{
	int error;

	/* Before there are threads. */
	if (options->vfio.count)
		server->keeper = mimicd_keeper_create(mimicd_vfio_last_replies);
	error = options->recover ? mimicd_recover_begin(&server->engine, &options->settings, options->stored,
							 options->stored_count) : 0;
	if (!error)
		error = mimicd_loop_create(&server->loop);
	if (!error)
		error = mimicd_keeper_watch(server->keeper, &server->loop);
	if (!error)
		error = mimicd_engine_create(&server->engine, &server->loop, &options->settings,
					      options->recording, options->threads);
	server->engine.spreads_at_once = options->spreads_at_once && options->threads > 1;
	if (!error)
		error = mimicd_bus_create(&server->bus, &server->engine, &options->bus);
	if (!error)
		error = mimicd_vfio_create(&server->vfio, &server->engine, server->keeper, &options->vfio);
	if (!error)
		error = mimicd_clients_create(&server->clients, &server->engine, &options->clients);
	if (!error && options->recover)
		error = mimicd_clients_recover(server->clients);
	/* Last: nothing after it may touch a path that could lie in it. */
	if (!error)
		server->filesystem = mimicd_filesystem_create(&server->engine, &options->filesystem);
	return error;
}

int mimicd_server_create(struct mimicd_server **created, const struct mimicd_options *options)
{
	struct mimicd_server *server = calloc(1, sizeof(*server));
	int error;

	if (!server)
		return -ENOMEM;
	error = start(server, options);
	if (error) {
		mimicd_server_destroy(server);
		return error;
	}
	*created = server;
	return 0;
}

bool mimicd_server_destroy(struct mimicd_server *server)
{
	bool is_whole;

	mimicd_filesystem_destroy(server->filesystem);
	mimicd_clients_destroy(server->clients);
	mimicd_vfio_destroy(server->vfio);
	mimicd_keeper_destroy(server->keeper);
	mimicd_bus_destroy(server->bus);
	is_whole = mimicd_engine_destroy(&server->engine);
	mimicd_loop_destroy(&server->loop);
	mimicd_journal_end();
	if (is_whole)
		free(server);
	return is_whole;
}

int mimicd_server_run(struct mimicd_server *server)
{
	int error = mimicd_watchdog_start(&server->watchdog, &server->loop);

	if (!error)
		error = mimicd_loop_run(&server->loop);
	mimicd_shards_stop(&server->engine);
	mimicd_watchdog_stop(&server->watchdog);
	return error;
}

void mimicd_server_stop(struct mimicd_server *server)
{
	mimicd_loop_stop(&server->loop);
}

void mimicd_server_settle(struct mimicd_server *server)
{
	unsigned int rounds = 0;
	int count;
	bool worked;

	/* A device that goes on by itself may do so for minutes: not here. */
	do {
		count = mimicd_loop_poll(&server->loop);
		worked = mimicd_engine_round(&server->engine);
		mimicd_engine_prepare(&server->engine);
	} while (count > 0 || (worked && rounds++ < SETTLE_ROUNDS));
}
