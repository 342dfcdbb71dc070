/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A daemon of a test's own, in a child process, and a client that speaks the
 * protocol by hand: nothing of libmimic is between a test and the socket.
 */
#ifndef TESTS_DAEMON_FIXTURE_H
#define TESTS_DAEMON_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mimic/lane.h"
#include "mimic/protocol.h"

struct served {
	char directory[64];
	char socket[96];
	char log[96];
	pid_t pid;
	unsigned int dares;	/* how many there are; set before the start */
	unsigned int virgos;
	unsigned int threads;	/* of the engine, as of --threads; 0: $MIMIC_TEST_THREADS (with $MIMIC_TEST_SPREAD: at once), or one */
	bool spreads;		/* further threads serve programs, however few they are; also by $MIMIC_TEST_SPREAD */
	bool recovers;		/* as of --recover, with a store that forgets (lost_store.h) */
	const char *quota;	/* as of --quota; NULL: the defaults */
	const char *state;	/* where its state filesystem is mounted; NULL: nowhere */
	const char *maple_profile, *virgo_profile;	/* NULL: the default */
	const char *recording;	/* a file in its directory, to which it records its devices; NULL: none */
	/*
	 * Devices with a socket for virtual machines, directory/NAME.sock; ",msi" and ",rings" may stand behind,
	 * and then ",split": with directory/NAME-memory.sock for the memory.
	 */
	const char *vfio[4];
};

/* NULL settings of one's own: 2 devices, paper profile. false: it did not come up. */
bool served_start(struct served *served, unsigned int devices, bool allow_users);
/* Again at the same socket, after served_end(). */
bool served_restart(struct served *served, unsigned int devices);
/* Sends the signal and waits for the end. The wait status. */
int served_end(struct served *served, int signal_number);
/* Removes its files. */
void served_clean(struct served *served);

/* Open descriptors of the daemon, when it has nothing to do. */
int served_descriptors(const struct served *served);
/* Waits until there are so many, up to five seconds. Returns how many there are. */
int served_await_descriptors(const struct served *served, int count);
/* Does its log have a line with this text? Waits a moment for it. */
bool served_said(const struct served *served, const char *text);
/* Nanoseconds on a CPU so far, and resident memory in bytes. */
uint64_t served_cpu_ns(const struct served *served);
size_t served_resident(const struct served *served);

/* --- by hand ------------------------------------------------------------- */

int raw_connect(const char *path);
/* Connected and greeted. */
int raw_client(const char *path);
/* The packet as it is. false: the other end is closed. */
bool raw_send(int socket, const void *bytes, size_t size, const int *fds, unsigned int count);
/* Bytes of the next packet, 0: the daemon closed, -1: nothing in 5 s. *fd: -1 if none came. */
ssize_t raw_receive(int socket, void *bytes, size_t size, int *fd);
/* Fills the header in. */
void raw_header(void *message, size_t size, enum mimic_message_type type);
/* A whole request and its reply; the reply's error, or 1 if the connection ended. */
int raw_request(int socket, void *message, size_t size, enum mimic_message_type type, int fd,
		void *reply, size_t reply_size, int *reply_fd);
int raw_open(int socket, const char *name, uint32_t *device);
int raw_number(int socket, enum mimic_message_type type, uint32_t number);
int raw_memory(int socket, enum mimic_message_type type, int fd, uint64_t address, uint64_t size,
	       uint64_t offset);

struct raw_lane {
	struct mimic_lane *memory;
	size_t size;
	struct mimic_ring_end commands;
	struct mimic_ring_end responses;
	uint32_t number;
	uint32_t thread;
	int event_fd;	/* -1: not known; the lane is not kicked */
};

int raw_lane(int socket, uint32_t thread, uint32_t level, struct raw_lane *lane);
void raw_lane_unmap(struct raw_lane *lane);
/* Publishes words and wakes the daemon. */
void raw_post(struct raw_lane *lane, const uint64_t *words, size_t count);
/* The next answer. false: none in 5 s. */
bool raw_answer(struct raw_lane *lane, uint64_t *word);
/* A session's eventfd comes with HELLO's reply. */
int raw_client_with_event(const char *path, int *event_fd);

void test_sleep_ms(unsigned int milliseconds);

#endif
