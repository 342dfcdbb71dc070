/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Messages as they lie in the socket: received, answered, refused. */
#ifndef MIMICD_PACKET_H
#define MIMICD_PACKET_H

#include <stdbool.h>
#include <stddef.h>

#include "mimic/protocol.h"

struct mimicd_session;

#define MIMICD_PACKET_DESCRIPTORS 4

struct mimicd_packet {
	union {
		struct mimic_message header;
		struct mimic_hello hello;
		struct mimic_open open;
		struct mimic_device_request device;
		struct mimic_lane_request lane;
		struct mimic_number_request number;
		struct mimic_memory_request memory;
		struct mimic_add add;
		struct mimic_inject inject;
		struct mimic_event_request event;
		struct mimic_state_request state;
		struct mimic_restore restore;
		char bytes[MIMIC_MESSAGE_MAX];
	};
	size_t length;
	int fds[MIMICD_PACKET_DESCRIPTORS];
	unsigned int fd_count;
	bool truncated;
};

struct mimicd_message_type {
	const char *name;
	size_t size;
	unsigned int fds;
};

extern const struct mimicd_message_type mimicd_message_types[MIMIC_MESSAGE_TYPES];

/* 1: a packet, 0: none now, -errno: the client is gone. */
int mimicd_packet_receive(struct mimicd_session *session, struct mimicd_packet *packet);
/* That packet was answered or put off, and is no longer needed in the socket. */
void mimicd_packet_taken(struct mimicd_session *session);
/* Nothing more is received until mimicd_session_resume(): the user is throttled (wakes.h), or a message is put off. */
void mimicd_packet_pause(struct mimicd_session *session);
/* The message, with its descriptors, is tried again in a later turn. Nothing else is received until it is done. */
void mimicd_packet_put_off(struct mimicd_session *session, const struct mimicd_packet *packet);
/* The same when a job has come back (jobs.h), or after a quarter of the time that it has waited; nothing is received. */
void mimicd_packet_put_off_for_job(struct mimicd_session *session, const struct mimicd_packet *packet);
/* The same after 20 ms: a job has the lock of the program's memory, and each try is waited for. */
void mimicd_packet_put_off_for_lock(struct mimicd_session *session, const struct mimicd_packet *packet);
/* For how long has the message been put off that is being tried? 0: it is new. */
uint64_t mimicd_packet_waited(const struct mimicd_session *session);
/* Its descriptors. */
void mimicd_packet_close(struct mimicd_session *session, struct mimicd_packet *packet);

/* The reply begins with a struct mimic_message, filled in here. A descriptor (else -1) stays the caller's. */
void mimicd_reply(struct mimicd_session *session, const struct mimicd_packet *packet, void *reply,
		  size_t size, int error, int fd);
void mimicd_reply_plain(struct mimicd_session *session, const struct mimicd_packet *packet, int error);
/* The same, with a line in the log; too many of them end the session. */
void mimicd_complain(struct mimicd_session *session, const struct mimicd_packet *packet, int error,
		     const char *why);

#endif
