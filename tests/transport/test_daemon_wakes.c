/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Wake-ups that take long hold up the programs of the user that has made them slow, and nobody else. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"
#include "libmimic/base/wait.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/turns_fixture.h"

/* --- programs with many watches of a descriptor --------------------------------------------- */

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
	return turns_end(state);
}

static int ask_for_events(struct turns_program *program, int fd, uint64_t events)
{
	struct mimic_event_request message = { .device = program->device, .events = events };
	struct mimic_message reply;

	return raw_request(program->socket, &message, sizeof(message), MIMIC_MESSAGE_EVENTFD, fd, &reply,
			   sizeof(reply), NULL);
}

static struct turns_program *start_with_events(uid_t uid, int fd)
{
	struct turns_program *program = turns_program(uid, "virgo0", 1);

	turns_go_on();
	assert_int_equal(ask_for_events(program, fd, VIRGO_EVENT_BARRIER), 0);
	turns_pause();
	return program;
}

/* A barrier of one participant opens as it arrives. */
static void cause_event(struct turns_program *program)
{
	struct raw_lane *lane = &program->lanes[0];
	const uint64_t words[] = {
		turns_word(MIMIC_COMMAND_STORE, program->device, VIRGO_BARRIER_PARTICIPANTS(0), 1), 1,
		turns_word(MIMIC_COMMAND_LOAD, program->device, VIRGO_BARRIER_WAIT(0), 1),
	};

	if (mimic_ring_level(&lane->responses, 1) > 0)
		mimic_ring_release(&lane->responses, 1);
	if (lane->commands.position == atomic_load(&lane->commands.ring->tail))
		raw_post(lane, words, 3);
}

/* One that is refused, and so is answered. */
static void send_message(struct turns_program *program)
{
	struct mimic_device_request message = { .device = MIMIC_SESSION_DEVICES };
	struct mimic_message reply;

	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_CLOSE);
	send(program->socket, &message, sizeof(message), MSG_DONTWAIT);
}

static void watches_of_an_eventfd_hold_up_others_once(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t value;

	(void)state;
	if (!may_watch_much())
		skip();
	start_with_events(TURNS_STRANGER, fd);
	watch_much(fd);
	turns_expect_victim_waits_little_mostly(cause_event, 1);
	/* There were events. */
	assert_int_equal(read(fd, &value, sizeof(value)), sizeof(value));
	close(fd);
}

static void watches_of_a_socket_hold_up_others_once(void **state)
{
	struct turns_program *program;

	(void)state;
	if (!may_watch_much())
		skip();
	program = turns_program(TURNS_STRANGER, "maple@0", 1);
	watch_much(program->socket);
	turns_expect_victim_waits_little_mostly(send_message, 1);
}

/* With few, it does not last long until there is time for the next. */
static void work_that_was_put_off_is_done_later(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct turns_program *program;
	struct mimic_message reply;
	eventfd_t value;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_with_events(TURNS_STRANGER, fd);
	watch(fd, 10);
	while (!turns_server->engine.events.throttled) {
		cause_event(program);
		turns_step();
	}
	eventfd_read(fd, &value);
	while (eventfd_read(fd, &value))
		turns_step();
	assert_int_equal(value, 1);
	end_watches();
	watch(program->socket, 10);
	while (!program->session->is_paused) {
		send_message(program);
		turns_step();
	}
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
	send_message(program);
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) < 0)
		turns_step();
	assert_int_equal(reply.error, -ENODEV);
	close(fd);
}

/* Its programs may stop mimicd anyway. */
static void mimicds_own_user_is_not_throttled(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct turns_program *program;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_with_events(getuid(), fd);
	watch_much(fd);
	for (unsigned int i = 0; i < 20; i++) {
		cause_event(program);
		turns_step();
		assert_null(turns_server->engine.events.throttled);
	}
	close(fd);
}

static void *sleep_on_lane(void *argument)
{
	struct mimic_lane *lane = argument;

	while (atomic_load(&lane->client_sleeping) == MIMIC_LANE_WAITS_FOR_ANSWER)
		mimic_futex_wait(&lane->client_sleeping, MIMIC_LANE_WAITS_FOR_ANSWER, 0, MIMIC_FUTEX_SHARED);
	return NULL;
}

static void lanes_are_woken_while_their_user_is_throttled(void **state)
{
	struct turns_program *program = turns_program(TURNS_STRANGER, "virgo0", 1);
	struct raw_lane *lane = &program->lanes[0];
	pthread_t sleeper;

	(void)state;
	program->session->client.user->throttles[MIMICD_WAKE_LANE].until = UINT64_MAX;
	atomic_store(&lane->memory->client_sleeping, MIMIC_LANE_WAITS_FOR_ANSWER);
	assert_int_equal(pthread_create(&sleeper, NULL, sleep_on_lane, lane->memory), 0);
	test_sleep_ms(20);
	cause_event(program);
	while (mimic_ring_level(&lane->responses, 1) <= 0)
		turns_step();
	pthread_join(sleeper, NULL);
}

/* The program has closed it, and nothing else keeps it. */
static void the_last_close_of_an_eventfd_with_watches_holds_up_nobody(void **state)
{
	struct mimic_event_request message = { 0 };
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct turns_program *program;
	struct mimic_message reply;
	uint64_t begun;

	(void)state;
	if (!may_watch_much())
		skip();
	program = start_with_events(TURNS_STRANGER, fd);
	watch_much(fd);
	close(fd);
	close_copies();
	message.device = program->device;
	raw_header(&message, sizeof(message), MIMIC_MESSAGE_EVENTFD);
	assert_true(raw_send(program->socket, &message, sizeof(message), NULL, 0));
	begun = turns_now();
	while (recv(program->socket, &reply, sizeof(reply), MSG_DONTWAIT) < 0)
		turns_step();
	assert_int_equal(reply.error, 0);
	print_message("the close takes %llu us\n", (unsigned long long)(turns_now() - begun) / 1000);
	assert_true(turns_now() - begun < TURNS_MOST_NS);
}

int main(void)
{
#define WATCHES(name) cmocka_unit_test_setup_teardown(name, turns_start, end_with_watches)
#define TEST(name) cmocka_unit_test_setup_teardown(name, turns_start, turns_end)
	const struct CMUnitTest tests[] = {
		WATCHES(watches_of_an_eventfd_hold_up_others_once),
		WATCHES(watches_of_a_socket_hold_up_others_once),
		WATCHES(work_that_was_put_off_is_done_later),
		WATCHES(mimicds_own_user_is_not_throttled),
		TEST(lanes_are_woken_while_their_user_is_throttled),
		WATCHES(the_last_close_of_an_eventfd_with_watches_holds_up_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
