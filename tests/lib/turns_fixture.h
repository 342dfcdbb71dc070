/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Programs that give mimicd much to do, and another one that waits little for an answer. The daemon is in this
 * process, which does its rounds one by one. The tests measure the processor time of the rounds,
 * to which a loaded machine adds little. For cmocka programs.
 */
#ifndef TESTS_TURNS_FIXTURE_H
#define TESTS_TURNS_FIXTURE_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/server.h"
#include "tests/lib/daemon_fixture.h"

#define TURNS_LANES 255u
#define TURNS_MOST_NS 10000000ull	/* that anybody waits for an answer */
#define TURNS_STRANGER 54321u		/* another user */
#define TURNS_PROGRAMS 8u

struct turns_program {
	struct mimicd_session *session;
	int socket, event;
	uint32_t device;
	unsigned int lane_count;
	struct raw_lane lanes[TURNS_LANES];
};

extern struct mimicd_server *turns_server;
/* All but the victim come first. */
extern struct turns_program *turns_programs[TURNS_PROGRAMS + 1];

int turns_start(void **state);
int turns_end(void **state);
/* The daemon on a thread of its own, for tests that send messages, until turns_pause(). */
void turns_go_on(void);
void turns_pause(void);
/* One round. */
void turns_step(void);

/* A program of the user has the device and so many lanes. */
struct turns_program *turns_program(uid_t uid, const char *device, unsigned int lanes);
/* The first word of a command. */
uint64_t turns_word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, uint32_t count);
/* Processor time of this thread, ns. */
uint64_t turns_now(void);

/*
 * `work` gives each of the first `count` programs something to do before each access of the victim, 99 of 100 of
 * which take less than 2 ms. Returns the longest that an answer took, ns.
 */
uint64_t turns_expect_victim_waits_little_mostly(void (*work)(struct turns_program *program), unsigned int count);
/* And none takes longer than TURNS_MOST_NS. */
void turns_expect_victim_waits_little(void (*work)(struct turns_program *program), unsigned int count);

#endif
