/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/turns_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session.h"
#include "daemon/loop/log.h"
#include "mimic/maple_registers.h"

#define ANSWERS 300u
#define P99_NS 2000000ull

struct mimicd_server *turns_server;
struct turns_program *turns_programs[TURNS_PROGRAMS + 1];
static unsigned int program_count;
static pthread_t thread;

uint64_t turns_word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, uint32_t count)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device, .size = 8,
		.offset = (uint16_t)offset, .count = count });
}

/* --- the daemon --------------------------------------------------------------------------- */

static void *serve(void *argument)
{
	(void)argument;
	mimicd_server_run(turns_server);
	return NULL;
}

/* On a thread of its own, for tests that send messages. */
void turns_go_on(void)
{
	eventfd_t value;

	eventfd_read(turns_server->loop.stop_fd, &value);
	turns_server->loop.is_stopping = false;
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

void turns_pause(void)
{
	mimicd_server_stop(turns_server);
	pthread_join(thread, NULL);
}

void turns_step(void)
{
	mimicd_loop_poll(&turns_server->loop);
	mimicd_engine_round(&turns_server->engine);
	mimicd_engine_prepare(&turns_server->engine);
}

int turns_start(void **state)
{
	struct mimicd_options options = { .clients.listen_fd = -1 };

	(void)state;
	alarm(250);
	mimic_config_default(&options.settings);
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	assert_int_equal(mimicd_server_create(&turns_server, &options), 0);
	return 0;
}

int turns_end(void **state)
{
	(void)state;
	while (program_count) {
		struct turns_program *program = turns_programs[--program_count];

		while (program->lane_count)
			raw_lane_unmap(&program->lanes[--program->lane_count]);
		close(program->socket);
		close(program->event);
		free(program);
	}
	mimicd_server_destroy(turns_server);
	return 0;
}

/* --- programs ------------------------------------------------------------------------------- */

static void belong_to(struct mimicd_client *client, uid_t uid)
{
	mimicd_user_leave(client);
	client->program.uid = uid;
	assert_int_equal(mimicd_user_join(client->engine, client), 0);
}

struct turns_program *turns_program(uid_t uid, const char *device, unsigned int lanes)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct turns_program *program = calloc(1, sizeof(*program));
	struct mimic_hello_reply reply;
	int ends[2];

	turns_programs[program_count++] = program;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(mimicd_session_create(turns_server->clients, ends[0]), 0);
	program->session = turns_server->clients->sessions;
	belong_to(&program->session->client, uid);
	program->socket = ends[1];
	turns_go_on();
	assert_int_equal(raw_request(ends[1], &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply, sizeof(reply),
				     &program->event), 0);
	assert_int_equal(raw_open(ends[1], device, &program->device), 0);
	while (program->lane_count < lanes) {
		struct raw_lane *lane = &program->lanes[program->lane_count++];

		assert_int_equal(raw_lane(ends[1], 0, 0, lane), 0);
		lane->event_fd = -1;
	}
	turns_pause();
	return program;
}

/* --- the victim ----------------------------------------------------------------------------- */

uint64_t turns_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int compare(const void *first, const void *second)
{
	uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;

	return a < b ? -1 : a > b;
}

static uint64_t time_of_answer(struct turns_program *victim)
{
	uint64_t load = turns_word(MIMIC_COMMAND_LOAD, victim->device, MAPLE_LOAD_IDENTIFY << 3, 1);
	struct raw_lane *lane = &victim->lanes[0];
	uint64_t begun = turns_now(), end;

	raw_post(lane, &load, 1);
	while (mimic_ring_level(&lane->responses, 1) <= 0)
		turns_step();
	end = turns_now();
	mimic_ring_release(&lane->responses, 1);
	return end - begun;
}

uint64_t turns_expect_victim_waits_little_mostly(void (*work)(struct turns_program *program), unsigned int count)
{
	struct turns_program *victim = turns_program(getuid(), "maple0", 1);
	static uint64_t times[ANSWERS];

	for (unsigned int i = 0; i < ANSWERS; i++) {
		for (unsigned int n = 0; n < count; n++)
			work(turns_programs[n]);
		/* Not always at the same place of a turn. */
		for (unsigned int n = 0; n < i % 7; n++)
			turns_step();
		times[i] = time_of_answer(victim);
	}
	qsort(times, ANSWERS, sizeof(times[0]), compare);
	print_message("an answer takes %llu us, of 100 all but one %llu us, at most %llu us\n",
		      (unsigned long long)times[ANSWERS / 2] / 1000,
		      (unsigned long long)times[ANSWERS * 99 / 100 - 1] / 1000,
		      (unsigned long long)times[ANSWERS - 1] / 1000);
	assert_true(times[ANSWERS * 99 / 100 - 1] < P99_NS);
	return times[ANSWERS - 1];
}

void turns_expect_victim_waits_little(void (*work)(struct turns_program *program), unsigned int count)
{
	assert_true(turns_expect_victim_waits_little_mostly(work, count) < TURNS_MOST_NS);
}
