/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Between the files of the scripted daemon; all of it runs in the child. */
#ifndef MIMIC_TESTS_FAKE_SERVER_H
#define MIMIC_TESTS_FAKE_SERVER_H

#include <pthread.h>
#include <setjmp.h>

#include "fake_daemon.h"

struct fake_server {
	struct fake_self self;
	struct fake_control *control;
	enum fake_channel channel;
	bool is_paper;
	unsigned int memory_size;
	/* Held by the thread that answers: the serving thread, or a worker for held requests. */
	pthread_mutex_t lock;
	bool is_held[MIMIC_BUS_SLOTS];
	struct mimic_bus_request held[MIMIC_BUS_SLOTS];
	int uncommitted;	/* io_uring: the slot for COMMIT_AND_FETCH, -1: none */
	pthread_t thread;	/* the serving one */
};

/* fake_server.c */
void fake_serve_request(struct fake_server *server, const struct mimic_bus_request *request);
/* Requests in the shared slots, new ones and cancelled ones; how many. */
unsigned int fake_serve_slots(struct fake_server *server);
bool fake_slots_pending(const struct fake_server *server);
long fake_release_held(struct fake_server *server);
void fake_commit(struct fake_server *server, unsigned int slot);
/* Serves until the node is closed. */
void fake_serve(struct fake_server *server);
void fake_die_if_before_taking(struct fake_server *server);

/* fake_daemon.c: where a SIGBUS of a call leads. */
extern __thread sigjmp_buf fake_on_bus_error;

/* fake_uring.c */
void fake_serve_uring(struct fake_server *server);

#endif
