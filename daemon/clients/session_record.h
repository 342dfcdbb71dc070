/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A session in the window, see daemon/engine/record.h. */
#ifndef MIMICD_SESSION_RECORD_LAYOUT_H
#define MIMICD_SESSION_RECORD_LAYOUT_H

#include "daemon/clients/internal.h"
#include "daemon/engine/record.h"

struct mimicd_session_record {
	int32_t pid;
	uint32_t uid;
	char name[sizeof(((struct mimicd_program *)0)->name)];
	uint8_t is_visible;
	uint8_t greeted;
	uint8_t was_put_off;	/* the message that was answered last */
	uint32_t complaints;
	/* The last message that was answered, and the answer. */
	uint32_t sequence;
	uint32_t reply_size;
	char reply[MIMIC_MESSAGE_MAX];
	/* A message that was put off; 0: none. */
	uint32_t packet_size;
	uint32_t packet_fds;
	char packet[MIMIC_MESSAGE_MAX];
	/* Last: arrays follow. */
	struct mimicd_client_record client;
};

struct mimicd_sessions_record {
	uint64_t count;
	struct mimicd_session_record *session[];
};

extern const struct mimicd_recorder mimicd_clients_recorder;

#endif
