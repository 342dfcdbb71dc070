/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The scripted daemon on io_uring: one command at a time. */
#include <unistd.h>

#include "fake_server.h"
#include "ring.h"

static void prepare_next(struct fake_server *server, struct ring *ring)
{
	int slot;

	pthread_mutex_lock(&server->lock);
	slot = server->uncommitted;
	server->uncommitted = -1;
	pthread_mutex_unlock(&server->lock);
	if (slot >= 0) {
		server->control->commit_fetches++;
		ring_prepare(ring, server->self.fd, MIMIC_BUS_COMMAND_COMMIT_AND_FETCH,
			     (unsigned int)slot, 0, 0);
	} else {
		server->control->fetches++;
		ring_prepare(ring, server->self.fd, MIMIC_BUS_COMMAND_FETCH, 0, 0, 0);
	}
}

void fake_serve_uring(struct fake_server *server)
{
	struct ring ring;
	int result;

	if (ring_create(&ring))
		_exit(3);
	for (;;) {
		prepare_next(server, &ring);
		if (ring_enter(&ring, 1, 1) || !ring_result(&ring, &result, NULL) || result < 0)
			_exit(4);
		/* A completion is a hint: the bits name the requests. */
		fake_serve_slots(server);
	}
}
