/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Whatever programs give mimicd to do, another one waits little for an answer. The daemon is in this
 * process, which does its rounds one by one. What is measured is the processor time that they
 * take, to which a loaded machine adds little.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session.h"
#include "daemon/loop/log.h"
#include "daemon/server.h"
#include "libmimic/base/wait.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/dare_context.h"

#define LANES 255u
#define STORES 999u	/* of one command */
#define ANSWERS 300u
#define MOST_NS 10000000ull	/* that anybody waits for an answer */
#define P99_NS 2000000ull
#define STRANGER 54321u
#define PROGRAMS 8u
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, SET_BASE32 = 57, LIMA_PREFETCH = 54, LOOP = 14, WORDS_32 = 2 };

struct program {
	struct mimicd_session *session;
	int socket, event;
	uint32_t device;
	unsigned int lane_count;
	struct raw_lane lanes[LANES];
};

static struct mimicd_server *server;
static pthread_t thread;
static struct program *programs[PROGRAMS + 1];
static unsigned int program_count;

static uint64_t word(enum mimic_command_kind kind, uint32_t device, unsigned int offset, uint32_t count)
{
	return mimic_command_pack(&(struct mimic_command){ .kind = kind, .device = (uint8_t)device, .size = 8,
		.offset = (uint16_t)offset, .count = count });
}

/* --- the daemon --------------------------------------------------------------------------- */

static void *serve(void *argument)
{
	(void)argument;
	mimicd_server_run(server);
	return NULL;
}

/* On a thread of its own, for what asks by messages. */
static void go_on(void)
{
	eventfd_t value;

	eventfd_read(server->loop.stop_fd, &value);
	server->loop.is_stopping = false;
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

static void pause_server(void)
{
	mimicd_server_stop(server);
	pthread_join(thread, NULL);
}

static void step(void)
{
	mimicd_loop_poll(&server->loop);
	mimicd_engine_round(&server->engine);
	mimicd_engine_prepare(&server->engine);
}

static int start(void **state)
{
	struct mimicd_options options = { .clients.listen_fd = -1 };

	(void)state;
	alarm(250);
	mimic_config_default(&options.settings);
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	assert_int_equal(mimicd_server_create(&server, &options), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	while (program_count) {
		struct program *program = programs[--program_count];

		while (program->lane_count)
			raw_lane_unmap(&program->lanes[--program->lane_count]);
		close(program->socket);
		close(program->event);
		free(program);
	}
	mimicd_server_destroy(server);
	return 0;
}

/* --- programs ------------------------------------------------------------------------------- */

static void belong_to(struct mimicd_client *client, uid_t uid)
{
	mimicd_user_leave(client);
	client->program.uid = uid;
	assert_int_equal(mimicd_user_join(client->engine, client), 0);
}

static struct program *start_program(uid_t uid, const char *device, unsigned int lanes)
{
	struct mimic_hello hello = { .magic = MIMIC_PROTOCOL_MAGIC, .version = MIMIC_PROTOCOL_VERSION };
	struct program *program = calloc(1, sizeof(*program));
	struct mimic_hello_reply reply;
	int ends[2];

	programs[program_count++] = program;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(mimicd_session_create(server->clients, ends[0]), 0);
	program->session = server->clients->sessions;
	belong_to(&program->session->client, uid);
	program->socket = ends[1];
	go_on();
	assert_int_equal(raw_request(ends[1], &hello, sizeof(hello), MIMIC_MESSAGE_HELLO, -1, &reply, sizeof(reply),
				     &program->event), 0);
	assert_int_equal(raw_open(ends[1], device, &program->device), 0);
	while (program->lane_count < lanes) {
		struct raw_lane *lane = &program->lanes[program->lane_count++];

		assert_int_equal(raw_lane(ends[1], 0, 0, lane), 0);
		lane->event_fd = -1;
	}
	pause_server();
	return program;
}

static void fill(struct raw_lane *lane, const uint64_t *words, size_t count)
{
	while (mimic_ring_room(&lane->commands, count) >= (int64_t)count)
		raw_post(lane, words, count);
}

static void fill_with_stores(struct program *program)
{
	uint64_t words[1 + STORES] = { word(MIMIC_COMMAND_STORE, program->device, AT(SET_BASE32, 0), STORES) };

	for (unsigned int i = 0; i < program->lane_count; i++)
		fill(&program->lanes[i], words, 1 + STORES);
}

/* Loads of rows that are not shared: each is a system call of mimicd. */
static void fill_with_rows(struct program *program, unsigned int first)
{
	static const char rows[16][4096];
	uint64_t words[1 + STORES];

	words[0] = word(MIMIC_COMMAND_STORE, program->device, DARE_STREAM, STORES);
	for (unsigned int i = 1; i < STORES; i += 3) {
		words[i] = WORD_MLD(0);
		words[i + 1] = address_of(rows);
		words[i + 2] = 4096;
	}
	for (unsigned int i = first; i < program->lane_count; i++)
		fill(&program->lanes[i], words, 1 + STORES);
}

/* Each load comes after all that is posted on the other lanes. */
static void load_behind_rows(struct program *program)
{
	struct raw_lane *lane = &program->lanes[0];
	uint64_t load = word(MIMIC_COMMAND_LOAD, program->device, DARE_STATUS, 1);

	fill_with_rows(program, 1);
	if (mimic_ring_level(&lane->responses, 1) > 0)
		mimic_ring_release(&lane->responses, 1);
	if (lane->commands.position == atomic_load(&lane->commands.ring->tail))
		raw_post(lane, &load, 1);
}

static void send_memory(struct program *program, enum mimic_message_type type, int fd)
{
	struct mimic_memory_request message = { .address = 0x10000, .size = 4096 };

	raw_header(&message, sizeof(message), type);
	raw_send(program->socket, &message, sizeof(message), &fd, fd >= 0);
}

/* The end of a range of memory comes after all that is posted, too. */
static void remove_memory_behind_rows(struct program *program)
{
	int fd = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct mimic_message reply;

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fallocate(fd, 0, 0, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	fill_with_rows(program, 0);
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
	send_memory(program, MIMIC_MESSAGE_MEMORY_ADD, fd);
	send_memory(program, MIMIC_MESSAGE_MEMORY_REMOVE, -1);
	close(fd);
}

static void start_loop(struct program *program, uint32_t device)
{
	static uint32_t table[1024];
	const uint64_t words[] = {
		word(MIMIC_COMMAND_LOAD, device, AT(INIT, WORDS_32), 1),
		word(MIMIC_COMMAND_LOAD, device, AT(OPEN_PRODUCER, 0), 1),
		word(MIMIC_COMMAND_LOAD, device, AT(OPEN_CONSUMER, 0), 1),
		word(MIMIC_COMMAND_STORE, device, AT(SET_BASE32, 0), 1), (uintptr_t)table,
		word(MIMIC_COMMAND_STORE, device, AT(LIMA_PREFETCH, 0), 1), (uintptr_t)table,
		word(MIMIC_COMMAND_STORE, device, AT(LOOP, 0), 1), 0xffffffff,
	};

	raw_post(&program->lanes[0], words, sizeof(words) / sizeof(words[0]));
}

static void open_private_devices(struct program *program)
{
	uint32_t devices[MIMIC_SESSION_PRIVATE_DEVICES];
	char name[16];

	go_on();
	for (unsigned int i = 0; i < MIMIC_SESSION_PRIVATE_DEVICES; i++) {
		snprintf(name, sizeof(name), "maple@%u", i);
		assert_int_equal(raw_open(program->socket, name, &devices[i]), 0);
	}
	pause_server();
	for (unsigned int i = 0; i < MIMIC_SESSION_PRIVATE_DEVICES; i++)
		start_loop(program, devices[i]);
}

/* --- programs that watch what mimicd wakes -------------------------------------------------- */

/* Each has its watches of each copy of a descriptor: 100,000 take 50 ms at each wake-up. */
#define COPIES 320u
#define EPOLLS 313u
/* With fewer than these a wake-up takes no longer than others wait anyway. */
#define WATCHES_MIN 50000u

static int copies[COPIES], epolls[EPOLLS];
static unsigned int copy_count, epoll_count;

static bool may_watch_much(void)
{
	FILE *file = fopen("/proc/sys/fs/epoll/max_user_watches", "r");
	unsigned long most = 0;

	if (!file || fscanf(file, "%lu", &most) != 1)
		most = 0;
	if (file)
		fclose(file);
	if (most < WATCHES_MIN)
		print_message("skipped: fs.epoll.max_user_watches is %lu, less than %u\n", most, WATCHES_MIN);
	return most >= WATCHES_MIN;
}

static unsigned int watch(int fd, unsigned int by)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	unsigned int watches = 0;

	while (copy_count < COPIES)
		assert_true((copies[copy_count++] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0);
	while (epoll_count < by) {
		int epoll = epoll_create1(EPOLL_CLOEXEC);

		assert_true(epoll >= 0);
		epolls[epoll_count++] = epoll;
		for (unsigned int i = 0; i < COPIES; i++)
			watches += !epoll_ctl(epoll, EPOLL_CTL_ADD, copies[i], &event);
	}
	return watches;
}

/* As many as the user may have, up to 100,000. */
static void watch_much(int fd)
{
	unsigned int watches = watch(fd, EPOLLS);

	print_message("%u watches\n", watches);
	assert_true(watches >= WATCHES_MIN);
}

static void close_copies(void)
{
	while (copy_count)
		close(copies[--copy_count]);
}

static void end_watches(void)
{
	while (epoll_count)
		close(epolls[--epoll_count]);
	close_copies();
}

static int end_with_watches(void **state)
{
	end_watches();
	return end(state);
}

static int ask_for_events(struct program *program, int fd, uint64_t events)
{
	struct mimic_event_request message = { .device = program->device, .events = events };
	struct mimic_message reply;

	return raw_request(program->socket, &message, sizeof(message), MIMIC_MESSAGE_EVENTFD, fd, &reply,
			   sizeof(reply), NULL);
}

/* A barrier for one opens when that one arrives. */
static void cause_event(struct program *program)
{
	struct raw_lane *lane = &program->lanes[0];
	const uint64_t words[] = {
		word(MIMIC_COMMAND_STORE, program->device, VIRGO_BARRIER_PARTICIPANTS(0), 1), 1,
		word(MIMIC_COMMAND_LOAD, program->device, VIRGO_BARRIER_WAIT(0), 1),
	};

	if (mimic_ring_level(&lane->responses, 1) > 0)
		mimic_ring_release(&lane->responses, 1);
	if (lane->commands.position == atomic_load(&lane->commands.ring->tail))
		raw_post(lane, words, 3);
}

/* One that is refused, and so is answered. */
static void send_message(struct program *program)
{
	struct mimic_device_request message = { .device = MIMIC_SESSION_DEVICES };
	struct mimic_message reply;

	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_CLOSE);
	send(program->socket, &message, sizeof(message), MSG_DONTWAIT);
}

/* --- the victim ----------------------------------------------------------------------------- */

static uint64_t now_ns(void)
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

static uint64_t time_of_answer(struct program *victim)
{
	uint64_t load = word(MIMIC_COMMAND_LOAD, victim->device, AT(MAPLE_LOAD_IDENTIFY, 0), 1);
	struct raw_lane *lane = &victim->lanes[0];
	uint64_t begun = now_ns(), end;

	raw_post(lane, &load, 1);
	while (mimic_ring_level(&lane->responses, 1) <= 0)
		step();
	end = now_ns();
	mimic_ring_release(&lane->responses, 1);
	return end - begun;
}

static void nothing(struct program *program)
{
	(void)program;
}

/*
 * `work` gives each of the first `count` programs something to do before each access of the victim. Returns
 * the longest that an answer took.
 */
static uint64_t expect_victim_waits_little_mostly(void (*work)(struct program *program), unsigned int count)
{
	struct program *victim = start_program(getuid(), "maple0", 1);
	static uint64_t times[ANSWERS];

	for (unsigned int i = 0; i < ANSWERS; i++) {
		for (unsigned int n = 0; n < count; n++)
			work(programs[n]);
		/* Not always at the same place of a turn. */
		for (unsigned int n = 0; n < i % 7; n++)
			step();
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

static void expect_victim_waits_little(void (*work)(struct program *program), unsigned int count)
{
	assert_true(expect_victim_waits_little_mostly(work, count) < MOST_NS);
}

static void lanes_of_one_program_share_its_turn(void **state)
{
	(void)state;
	start_program(getuid(), "maple@0", LANES);
	expect_victim_waits_little(fill_with_stores, 1);
}

static void programs_of_one_user_share_his_turn(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PROGRAMS; i++)
		start_program(STRANGER, "maple@0", 40);
	expect_victim_waits_little(fill_with_stores, PROGRAMS);
}

static void devices_of_one_user_share_his_turn(void **state)
{
	(void)state;
	/* 64 each, and 256 is what a user may have. */
	for (unsigned int i = 0; i < 4; i++)
		open_private_devices(start_program(STRANGER, "maple@0", 1));
	expect_victim_waits_little(nothing, 0);
	/* They have worked all the time: the loops have no end. */
	assert_true(server->engine.busy);
}

static void a_load_behind_full_lanes_holds_up_nobody_else(void **state)
{
	(void)state;
	start_program(getuid(), "dare0", LANES);
	expect_victim_waits_little(load_behind_rows, 1);
}

static void an_end_of_memory_behind_full_lanes_holds_up_nobody_else(void **state)
{
	(void)state;
	start_program(getuid(), "dare0", LANES);
	expect_victim_waits_little(remove_memory_behind_rows, 1);
}

static void watches_of_an_eventfd_hold_up_others_once(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct program *program;
	uint64_t value;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_program(STRANGER, "virgo0", 1);
	go_on();
	assert_int_equal(ask_for_events(program, fd, VIRGO_EVENT_BARRIER), 0);
	pause_server();
	watch_much(fd);
	expect_victim_waits_little_mostly(cause_event, 1);
	/* There were events. */
	assert_int_equal(read(fd, &value, sizeof(value)), sizeof(value));
	close(fd);
}

static void watches_of_a_socket_hold_up_others_once(void **state)
{
	struct program *program;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_program(STRANGER, "maple@0", 1);
	watch_much(program->socket);
	expect_victim_waits_little_mostly(send_message, 1);
}

/* With few, it does not last long until there is time for the next. */
static void what_was_put_off_is_done_later(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct program *program;
	struct mimic_message reply;
	eventfd_t value;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_program(STRANGER, "virgo0", 1);
	go_on();
	assert_int_equal(ask_for_events(program, fd, VIRGO_EVENT_BARRIER), 0);
	pause_server();
	watch(fd, 10);
	while (!server->engine.events.resting) {
		cause_event(program);
		step();
	}
	eventfd_read(fd, &value);
	while (eventfd_read(fd, &value))
		step();
	assert_int_equal(value, 1);
	end_watches();
	watch(program->socket, 10);
	while (!program->session->is_deaf) {
		send_message(program);
		step();
	}
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
	send_message(program);
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) < 0)
		step();
	assert_int_equal(reply.error, -ENODEV);
	close(fd);
}

static void *sleep_on_lane(void *argument)
{
	struct mimic_lane *lane = argument;

	while (atomic_load(&lane->client_sleeping) == MIMIC_LANE_WAITS_FOR_ANSWER)
		mimic_futex_wait(&lane->client_sleeping, MIMIC_LANE_WAITS_FOR_ANSWER, 0, MIMIC_FUTEX_SHARED);
	return NULL;
}

static void lanes_are_woken_while_their_user_rests(void **state)
{
	struct program *program = start_program(STRANGER, "virgo0", 1);
	struct raw_lane *lane = &program->lanes[0];
	pthread_t sleeper;

	(void)state;
	program->session->client.user->rests[MIMICD_WAKE_LANE].until = UINT64_MAX;
	atomic_store(&lane->memory->client_sleeping, MIMIC_LANE_WAITS_FOR_ANSWER);
	assert_int_equal(pthread_create(&sleeper, NULL, sleep_on_lane, lane->memory), 0);
	test_sleep_ms(20);
	cause_event(program);
	while (mimic_ring_level(&lane->responses, 1) <= 0)
		step();
	pthread_join(sleeper, NULL);
}

/* The program has closed it, and nothing else keeps it. */
static void the_last_close_of_an_eventfd_with_watches_holds_up_nobody(void **state)
{
	struct mimic_event_request message = { 0 };
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct program *program;
	struct mimic_message reply;
	uint64_t begun;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_program(STRANGER, "virgo0", 1);
	go_on();
	assert_int_equal(ask_for_events(program, fd, VIRGO_EVENT_BARRIER), 0);
	pause_server();
	watch_much(fd);
	close(fd);
	close_copies();
	message.device = program->device;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_EVENTFD);
	assert_true(raw_send(program->socket, &message, sizeof(message), NULL, 0));
	begun = now_ns();
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) < 0)
		step();
	assert_int_equal(reply.error, 0);
	print_message("the close takes %llu us\n", (unsigned long long)(now_ns() - begun) / 1000);
	assert_true(now_ns() - begun < MOST_NS);
}

int main(void)
{
#define WATCHES(name) cmocka_unit_test_setup_teardown(name, start, end_with_watches)
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(lanes_of_one_program_share_its_turn),
		TEST(programs_of_one_user_share_his_turn),
		TEST(devices_of_one_user_share_his_turn),
		TEST(a_load_behind_full_lanes_holds_up_nobody_else),
		TEST(an_end_of_memory_behind_full_lanes_holds_up_nobody_else),
		WATCHES(watches_of_an_eventfd_hold_up_others_once),
		WATCHES(watches_of_a_socket_hold_up_others_once),
		WATCHES(what_was_put_off_is_done_later),
		TEST(lanes_are_woken_while_their_user_rests),
		WATCHES(the_last_close_of_an_eventfd_with_watches_holds_up_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
