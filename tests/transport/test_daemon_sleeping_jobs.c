/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A job that sleeps in its program's page holds up no answers, even if its device is reset or removed. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"
#include "libmimic/base/clock.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/slow_memory.h"
#include "tests/lib/turns_fixture.h"

#define MS 1000000ull
#define SLEEP_US 100000u
#define ROWS 4u
/* Less than the job takes, and more than a loaded machine takes for an answer. */
#define LONGEST_NS (300 * MS)

#define CONFIG_LD (0x3f800000ull << 32 | 8u << 16 | 1u << 8 | VIRGO_CONFIG_LD)

static struct turns_program *hog, *victim;

static void stream(struct turns_program *program, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	const uint64_t words[] = {
		mimic_command_pack(&(struct mimic_command){
			.kind = MIMIC_COMMAND_STORE, .device = (uint8_t)program->device, .size = 8, .page = VIRGO_PAGE_UNITS,
			.offset = VIRGO_UNIT_OFFSET(0, STREAM), .count = 3 }),
		rs1, rs2, VIRGO_INSTRUCTION_WORD(funct),
	};

	raw_post(&program->lanes[0], words, 4);
}

/* Its job is in the first of so many pages, each of which has a row. */
static void start_job(unsigned int sleep_us, unsigned int rows)
{
	hog = turns_program(TURNS_STRANGER, "virgo0", 1);
	slow_memory.sleep_us = sleep_us;
	slow_memory_share(hog);
	victim = turns_program(getuid(), "maple0", 1);
	stream(hog, VIRGO_FUNCT_CONFIG, CONFIG_LD, SLOW_PAGE);
	stream(hog, VIRGO_FUNCT_MVIN, SLOW_ADDRESS, (uint64_t)rows << 48 | 8ull << 32);
	for (uint64_t begun = mimic_now(); mimic_now() - begun < 20 * MS;)
		turns_step();
}

static struct mimicd_instance *find_device(const char *name)
{
	struct mimicd_instance *instance;

	return mimicd_instance_find(&turns_server->engine, name, &instance) ? NULL : instance;
}

static struct mimicd_instance *find_virgo(void)
{
	return find_device("virgo0");
}

static bool job_is_out(void)
{
	struct mimicd_instance *virgo = find_virgo();

	return virgo && virgo->jobs.in_flight;
}

static void send_message(int socket, void *message, size_t size, enum mimic_message_type type)
{
	raw_header(message, size, type);
	assert_true(raw_send(socket, message, size, NULL, 0));
}

static void name_virgo(struct mimic_open *message)
{
	memset(message, 0, sizeof(*message));
	strcpy(message->name, "virgo0");
}

static void expect_victim_is_answered(void)
{
	uint64_t load = turns_word(MIMIC_COMMAND_LOAD, victim->device, MAPLE_LOAD_IDENTIFY << 3, 1), begun = mimic_now();
	struct raw_lane *lane = &victim->lanes[0];

	raw_post(lane, &load, 1);
	while (mimic_ring_level(&lane->responses, 1) <= 0)
		turns_step();
	mimic_ring_release(&lane->responses, 1);
	assert_true(mimic_now() - begun < LONGEST_NS);
}

/* Until there is a reply, and it says so; meanwhile the victim is answered. */
static void expect_reply(int socket, int error)
{
	union {
		struct mimic_message header;
		char bytes[MIMIC_MESSAGE_MAX];
	} reply;

	for (;;) {
		expect_victim_is_answered();
		if (recv(socket, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
			break;
	}
	assert_int_equal(reply.header.error, error);
}

static void expect_victim_is_answered_for(uint64_t ns)
{
	for (uint64_t begun = mimic_now(); mimic_now() - begun < ns;)
		expect_victim_is_answered();
}

static void end_hog(void)
{
	close(hog->socket);
	hog->socket = -1;
}

static void a_close_is_answered_when_the_job_is_back(void **state)
{
	struct mimic_device_request close = { 0 };

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	assert_true(job_is_out());
	close.device = hog->device;
	send_message(hog->socket, &close, sizeof(close), MIMIC_MESSAGE_CLOSE);
	expect_reply(hog->socket, 0);
	assert_false(job_is_out());
	assert_null(find_virgo()->client);
	slow_memory_end();
}

static void a_program_that_ends_is_gone_when_the_job_is_back(void **state)
{
	struct mimic_open open;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	end_hog();
	expect_victim_is_answered();
	assert_true(job_is_out());
	/* It is free as soon as that. */
	name_virgo(&open);
	send_message(victim->socket, &open, sizeof(open), MIMIC_MESSAGE_OPEN);
	expect_reply(victim->socket, 0);
	assert_false(job_is_out());
	assert_ptr_equal(find_virgo()->client, &victim->session->client);
	slow_memory_end();
}

static void its_device_is_busy_after_a_second(void **state)
{
	struct mimic_open open;
	uint64_t begun;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(2000000, 1);
	end_hog();
	begun = mimic_now();
	name_virgo(&open);
	send_message(victim->socket, &open, sizeof(open), MIMIC_MESSAGE_OPEN);
	expect_reply(victim->socket, -EBUSY);
	assert_true(mimic_now() - begun > 900 * MS);
	assert_true(job_is_out());
	expect_victim_is_answered_for(1500 * MS);
	assert_null(find_virgo()->client);
	slow_memory_end();
}

static void remove_virgo(void)
{
	struct mimic_open remove;

	name_virgo(&remove);
	send_message(victim->socket, &remove, sizeof(remove), MIMIC_MESSAGE_REMOVE);
	expect_reply(victim->socket, 0);
	assert_null(find_virgo());
	assert_true(hog->session->client.devices[hog->device].lost);
}

static void a_removal_does_not_wait_but_the_close_behind_it(void **state)
{
	struct mimic_device_request close = { 0 };
	struct mimicd_instance *virgo;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	virgo = find_virgo();
	remove_virgo();
	assert_ptr_equal(turns_server->engine.leaving, virgo);
	assert_int_equal(virgo->jobs.in_flight, 1);
	close.device = hog->device;
	send_message(hog->socket, &close, sizeof(close), MIMIC_MESSAGE_CLOSE);
	expect_reply(hog->socket, 0);
	assert_null(turns_server->engine.leaving);
	slow_memory_end();
}

static void a_program_without_its_device_is_gone_when_the_job_is_back(void **state)
{
	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	remove_virgo();
	end_hog();
	expect_victim_is_answered_for(20 * MS);
	assert_non_null(turns_server->engine.leaving);
	assert_non_null(turns_server->clients->sessions->next);
	expect_victim_is_answered_for(2 * ROWS * SLEEP_US * 1000ull);
	assert_null(turns_server->engine.leaving);
	assert_null(turns_server->clients->sessions->next);
	slow_memory_end();
}

static void expect_all_over(void)
{
	expect_victim_is_answered_for(2 * ROWS * SLEEP_US * 1000ull);
	assert_null(turns_server->engine.leaving);
	assert_null(find_virgo());
}

static void one_that_leaves_by_a_close_is_removed(void **state)
{
	struct mimic_device_request close = { 0 };
	struct mimic_open remove;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	close.device = hog->device;
	send_message(hog->socket, &close, sizeof(close), MIMIC_MESSAGE_CLOSE);
	expect_victim_is_answered_for(10 * MS);
	assert_true(find_virgo()->leaves);
	name_virgo(&remove);
	send_message(victim->socket, &remove, sizeof(remove), MIMIC_MESSAGE_REMOVE);
	expect_reply(victim->socket, 0);
	assert_null(find_virgo());
	expect_reply(hog->socket, 0);
	expect_all_over();
	slow_memory_end();
}

static void one_that_leaves_by_its_programs_end_is_removed(void **state)
{
	struct mimic_open remove;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	end_hog();
	expect_victim_is_answered_for(10 * MS);
	assert_true(find_virgo()->leaves);
	name_virgo(&remove);
	send_message(victim->socket, &remove, sizeof(remove), MIMIC_MESSAGE_REMOVE);
	expect_reply(victim->socket, 0);
	expect_all_over();
	assert_null(turns_server->clients->sessions->next);
	slow_memory_end();
}

static void other_devices_of_a_program_that_ends_are_free_at_once(void **state)
{
	struct mimic_open open = { .name = "maple1" };
	uint32_t number;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	turns_go_on();
	assert_int_equal(raw_open(hog->socket, "maple1", &number), 0);
	turns_pause();
	end_hog();
	expect_victim_is_answered_for(10 * MS);
	send_message(victim->socket, &open, sizeof(open), MIMIC_MESSAGE_OPEN);
	expect_reply(victim->socket, 0);
	assert_true(job_is_out());
	slow_memory_end();
}

/* The number is free: there may be another one of that name. */
static void one_that_is_removed_and_one_that_is_added_do_not_meet(void **state)
{
	struct mimic_add add = { .kind = "virgo" };
	struct mimic_open open;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	remove_virgo();
	send_message(victim->socket, &add, sizeof(add), MIMIC_MESSAGE_ADD);
	expect_reply(victim->socket, 0);
	assert_non_null(find_virgo());
	name_virgo(&open);
	send_message(victim->socket, &open, sizeof(open), MIMIC_MESSAGE_OPEN);
	expect_reply(victim->socket, 0);
	assert_non_null(turns_server->engine.leaving);
	expect_victim_is_answered_for(2 * ROWS * SLEEP_US * 1000ull);
	assert_null(turns_server->engine.leaving);
	assert_ptr_equal(find_virgo()->client, &victim->session->client);
	slow_memory_end();
}

/* Posts behind the commands of its job have no effect, and no job of them follows. */
static void a_close_leaves_no_more_to_do(void **state)
{
	struct mimic_device_request close = { 0 };
	uint64_t begun;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, 1);
	for (unsigned int i = 1; i < 300; i++)
		stream(hog, VIRGO_FUNCT_MVIN, SLOW_ADDRESS + i * SLOW_PAGE, 1ull << 48 | 8ull << 32);
	close.device = hog->device;
	begun = mimic_now();
	send_message(hog->socket, &close, sizeof(close), MIMIC_MESSAGE_CLOSE);
	expect_reply(hog->socket, 0);
	assert_true(mimic_now() - begun < 1000 * MS);
	assert_true(atomic_load(&slow_memory.served) < 5);
	slow_memory_end();
}

static void a_reset_does_not_wait(void **state)
{
	struct mimic_open reset;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	name_virgo(&reset);
	send_message(victim->socket, &reset, sizeof(reset), MIMIC_MESSAGE_RESET);
	expect_reply(victim->socket, 0);
	assert_true(job_is_out());
	expect_victim_is_answered_for(2 * ROWS * SLEEP_US * 1000ull);
	assert_false(job_is_out());
	slow_memory_end();
}

/* The device gets no further job meanwhile, and has the next one as soon as its state is saved. */
static void a_save_waits_for_the_job_and_lets_the_device_go_on(void **state)
{
	struct mimic_open save;
	unsigned int served;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, 1);
	for (unsigned int i = 1; i < 300; i++)
		stream(hog, VIRGO_FUNCT_MVIN, SLOW_ADDRESS + i * SLOW_PAGE, 1ull << 48 | 8ull << 32);
	name_virgo(&save);
	send_message(victim->socket, &save, sizeof(save), MIMIC_MESSAGE_SAVE);
	expect_reply(victim->socket, 0);
	served = atomic_load(&slow_memory.served);
	assert_true(served > 0);
	while (atomic_load(&slow_memory.served) < served + 2)
		expect_victim_is_answered();
	assert_true(job_is_out());
	end_hog();
	slow_memory_end();
}

static void a_device_on_hold_gets_no_job(void **state)
{
	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, 1);
	for (unsigned int i = 1; i < 300; i++)
		stream(hog, VIRGO_FUNCT_MVIN, SLOW_ADDRESS + i * SLOW_PAGE, 1ull << 48 | 8ull << 32);
	assert_false(mimicd_jobs_hold(&find_virgo()->jobs));
	expect_victim_is_answered_for(3 * SLEEP_US * 1000ull);
	assert_false(job_is_out());
	assert_true(mimicd_jobs_hold(&find_virgo()->jobs));
	mimicd_jobs_release(&turns_server->engine.jobs);
	turns_step();
	assert_true(job_is_out());
	slow_memory_end();
}

static void a_save_that_nobody_waits_for_holds_nothing_up(void **state)
{
	struct turns_program *saver;
	struct mimic_open save;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(SLEEP_US, ROWS);
	saver = turns_program(getuid(), "maple1", 1);
	name_virgo(&save);
	send_message(saver->socket, &save, sizeof(save), MIMIC_MESSAGE_SAVE);
	while (!find_virgo()->jobs.is_on_hold)
		expect_victim_is_answered();
	/* As if its process had ended. */
	mimicd_client_leave(&saver->session->client);
	while (find_virgo()->jobs.is_on_hold && job_is_out())
		expect_victim_is_answered();
	assert_true(job_is_out());
	assert_false(find_virgo()->jobs.is_on_hold);
	slow_memory_end();
}

static void a_save_of_work_that_does_not_end_is_refused(void **state)
{
	struct mimic_open save;

	(void)state;
	if (!slow_memory_begin())
		skip();
	start_job(6000000, 1);
	name_virgo(&save);
	send_message(victim->socket, &save, sizeof(save), MIMIC_MESSAGE_SAVE);
	expect_reply(victim->socket, -EBUSY);
	assert_true(job_is_out());
	assert_false(find_virgo()->jobs.is_on_hold);
	end_hog();
	expect_victim_is_answered_for(4000 * MS);
	slow_memory_end();
}

/* There is one thread for jobs at first, and another one when its job sleeps. */
static void a_job_of_another_program_is_done_meanwhile(void **state)
{
	struct turns_program *other;
	uint64_t begun;

	(void)state;
	if (!slow_memory_begin())
		skip();
	turns_server->engine.jobs.workers.processors = 1;
	start_job(2000000, 1);
	other = turns_program(getuid(), "virgo1", 1);
	begun = mimic_now();
	stream(other, VIRGO_FUNCT_CONFIG, CONFIG_LD, SLOW_PAGE);
	expect_victim_is_answered();
	while (find_device("virgo1")->jobs.in_flight && mimic_now() - begun < 1000 * MS)
		turns_step();
	assert_int_equal(find_device("virgo1")->jobs.in_flight, 0);
	assert_true(job_is_out());
	expect_victim_is_answered_for(2500 * MS);
	slow_memory_end();
}

/* --- memory that the job uses -------------------------------------------------------------- */

static sem_t is_held, may_end;

static void *hold_lock(void *lock)
{
	pthread_rwlock_rdlock(lock);
	sem_post(&is_held);
	sem_wait(&may_end);
	pthread_rwlock_unlock(lock);
	return NULL;
}

/* A thread of the test's has the lock as a job has it that sleeps in a page. */
static void memory_is_taken_back_when_the_job_is_out_of_it(void **state)
{
	struct mimic_memory_request message = { .address = SLOW_ADDRESS, .size = SLOW_PAGES * SLOW_PAGE };
	pthread_t job;

	(void)state;
	if (!slow_memory_begin())
		skip();
	hog = turns_program(TURNS_STRANGER, "maple@0", 1);
	slow_memory_share(hog);
	victim = turns_program(getuid(), "maple0", 1);
	sem_init(&is_held, 0, 0);
	sem_init(&may_end, 0, 0);
	assert_int_equal(pthread_create(&job, NULL, hold_lock, &hog->session->client.memory.lock), 0);
	sem_wait(&is_held);
	send_message(hog->socket, &message, sizeof(message), MIMIC_MESSAGE_MEMORY_REMOVE);
	expect_victim_is_answered_for(SLEEP_US * 1000ull);
	assert_int_equal(hog->session->client.memory.count, 1);
	assert_true(hog->session->is_put_off);
	sem_post(&may_end);
	expect_reply(hog->socket, 0);
	assert_int_equal(hog->session->client.memory.count, 0);
	pthread_join(job, NULL);
	sem_destroy(&is_held);
	sem_destroy(&may_end);
	slow_memory_end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, turns_start, turns_end)
	const struct CMUnitTest tests[] = {
		TEST(a_close_is_answered_when_the_job_is_back),
		TEST(a_program_that_ends_is_gone_when_the_job_is_back),
		TEST(its_device_is_busy_after_a_second),
		TEST(a_removal_does_not_wait_but_the_close_behind_it),
		TEST(a_program_without_its_device_is_gone_when_the_job_is_back),
		TEST(one_that_leaves_by_a_close_is_removed),
		TEST(one_that_leaves_by_its_programs_end_is_removed),
		TEST(other_devices_of_a_program_that_ends_are_free_at_once),
		TEST(one_that_is_removed_and_one_that_is_added_do_not_meet),
		TEST(a_close_leaves_no_more_to_do),
		TEST(a_reset_does_not_wait),
		TEST(a_save_waits_for_the_job_and_lets_the_device_go_on),
		TEST(a_device_on_hold_gets_no_job),
		TEST(a_save_that_nobody_waits_for_holds_nothing_up),
		TEST(a_save_of_work_that_does_not_end_is_refused),
		TEST(a_job_of_another_program_is_done_meanwhile),
		TEST(memory_is_taken_back_when_the_job_is_out_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
