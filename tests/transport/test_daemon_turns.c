/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* However much work programs give mimicd, another one waits little for an answer. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "tests/lib/dare_context.h"
#include "tests/lib/turns_fixture.h"

#define STORES 999u	/* of one command */
#define AT(operation, field) ((operation) << 3 | (field) << 9)
enum { INIT = 0, OPEN_PRODUCER = 2, OPEN_CONSUMER = 3, SET_BASE32 = 57, LIMA_PREFETCH = 54, LOOP = 14, WORDS_32 = 2 };

static void fill(struct raw_lane *lane, const uint64_t *words, size_t count)
{
	while (mimic_ring_room(&lane->commands, count) >= (int64_t)count)
		raw_post(lane, words, count);
}

static void fill_with_stores(struct turns_program *program)
{
	uint64_t words[1 + STORES] = { turns_word(MIMIC_COMMAND_STORE, program->device, AT(SET_BASE32, 0), STORES) };

	for (unsigned int i = 0; i < program->lane_count; i++)
		fill(&program->lanes[i], words, 1 + STORES);
}

/* Loads of rows that are not shared: each is a system call of mimicd. */
static void fill_with_rows(struct turns_program *program, unsigned int first)
{
	static const char rows[16][4096];
	uint64_t words[1 + STORES];

	words[0] = turns_word(MIMIC_COMMAND_STORE, program->device, DARE_STREAM, STORES);
	for (unsigned int i = 1; i < STORES; i += 3) {
		words[i] = WORD_MLD(0);
		words[i + 1] = address_of(rows);
		words[i + 2] = 4096;
	}
	for (unsigned int i = first; i < program->lane_count; i++)
		fill(&program->lanes[i], words, 1 + STORES);
}

/* Each load comes after all that is posted on the other lanes. */
static void load_behind_rows(struct turns_program *program)
{
	struct raw_lane *lane = &program->lanes[0];
	uint64_t load = turns_word(MIMIC_COMMAND_LOAD, program->device, DARE_STATUS, 1);

	fill_with_rows(program, 1);
	if (mimic_ring_level(&lane->responses, 1) > 0)
		mimic_ring_release(&lane->responses, 1);
	if (lane->commands.position == atomic_load(&lane->commands.ring->tail))
		raw_post(lane, &load, 1);
}

static void send_memory(struct turns_program *program, enum mimic_message_type type, int fd)
{
	struct mimic_memory_request message = { .address = 0x10000, .size = 4096 };

	raw_header(&message, sizeof(message), type);
	raw_send(program->socket, &message, sizeof(message), &fd, fd >= 0);
}

/* The end of a range of memory comes after all that is posted, too. */
static void remove_memory_behind_rows(struct turns_program *program)
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

static void start_loop(struct turns_program *program, uint32_t device)
{
	static uint32_t table[1024];
	const uint64_t words[] = {
		turns_word(MIMIC_COMMAND_LOAD, device, AT(INIT, WORDS_32), 1),
		turns_word(MIMIC_COMMAND_LOAD, device, AT(OPEN_PRODUCER, 0), 1),
		turns_word(MIMIC_COMMAND_LOAD, device, AT(OPEN_CONSUMER, 0), 1),
		turns_word(MIMIC_COMMAND_STORE, device, AT(SET_BASE32, 0), 1), (uintptr_t)table,
		turns_word(MIMIC_COMMAND_STORE, device, AT(LIMA_PREFETCH, 0), 1), (uintptr_t)table,
		turns_word(MIMIC_COMMAND_STORE, device, AT(LOOP, 0), 1), 0xffffffff,
	};

	raw_post(&program->lanes[0], words, sizeof(words) / sizeof(words[0]));
}

static void open_private_devices(struct turns_program *program)
{
	uint32_t devices[MIMIC_SESSION_PRIVATE_DEVICES];
	char name[16];

	turns_go_on();
	for (unsigned int i = 0; i < MIMIC_SESSION_PRIVATE_DEVICES; i++) {
		snprintf(name, sizeof(name), "maple@%u", i);
		assert_int_equal(raw_open(program->socket, name, &devices[i]), 0);
	}
	turns_pause();
	for (unsigned int i = 0; i < MIMIC_SESSION_PRIVATE_DEVICES; i++)
		start_loop(program, devices[i]);
}

static void nothing(struct turns_program *program)
{
	(void)program;
}

static void lanes_of_one_program_share_its_turn(void **state)
{
	(void)state;
	turns_program(getuid(), "maple@0", TURNS_LANES);
	turns_expect_victim_waits_little(fill_with_stores, 1);
}

static void programs_of_one_user_share_his_turn(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < TURNS_PROGRAMS; i++)
		turns_program(TURNS_STRANGER, "maple@0", 40);
	turns_expect_victim_waits_little(fill_with_stores, TURNS_PROGRAMS);
}

static unsigned int busy_devices(const struct turns_program *program)
{
	const struct mimicd_client *client = &program->session->client;
	unsigned int count = 0;

	for (unsigned int i = 0; i < MIMIC_SESSION_DEVICES; i++) {
		const struct mimicd_instance *instance = client->devices[i].instance;

		count += instance && instance->is_private && instance->model->ops->busy(instance->model);
	}
	return count;
}

static void devices_of_one_user_share_his_turn(void **state)
{
	(void)state;
	/* 64 each, and a user may have 256. */
	for (unsigned int i = 0; i < 4; i++)
		open_private_devices(turns_program(TURNS_STRANGER, "maple@0", 1));
	/* A loaded machine may take longer for that than for all answers below. */
	for (unsigned int i = 0; i < 4; i++) {
		while (busy_devices(turns_programs[i]) < MIMIC_SESSION_PRIVATE_DEVICES)
			turns_step();
	}
	turns_expect_victim_waits_little(nothing, 0);
	/* They have had work all the time: the loops have no end. */
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(busy_devices(turns_programs[i]), MIMIC_SESSION_PRIVATE_DEVICES);
}

static void a_load_behind_full_lanes_holds_up_nobody_else(void **state)
{
	(void)state;
	turns_program(getuid(), "dare0", TURNS_LANES);
	turns_expect_victim_waits_little(load_behind_rows, 1);
}

static void an_end_of_memory_behind_full_lanes_holds_up_nobody_else(void **state)
{
	(void)state;
	turns_program(getuid(), "dare0", TURNS_LANES);
	turns_expect_victim_waits_little(remove_memory_behind_rows, 1);
}

/* Takes the replies, and asks again. */
static void ask_for_bytes(struct turns_program *program)
{
	struct mimic_state_request request = { .name = "virgo0", .flags = MIMIC_STATE_WITH_BYTES };
	char reply[MIMIC_MESSAGE_MAX];

	/* Without room for the text's descriptor, which is closed then. */
	while (recv(program->socket, reply, sizeof(reply), MSG_DONTWAIT) > 0)
		;
	raw_header(&request, sizeof(request), MIMIC_MESSAGE_STATE);
	for (unsigned int i = 0; i < 4; i++)
		(void)!send(program->socket, &request, sizeof(request), MSG_DONTWAIT);
}

static void long_texts_hold_up_others_once(void **state)
{
	(void)state;
	turns_program(TURNS_STRANGER, "virgo0", 1);
	turns_expect_victim_waits_little_mostly(ask_for_bytes, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, turns_start, turns_end)
	const struct CMUnitTest tests[] = {
		TEST(lanes_of_one_program_share_its_turn),
		TEST(programs_of_one_user_share_his_turn),
		TEST(devices_of_one_user_share_his_turn),
		TEST(a_load_behind_full_lanes_holds_up_nobody_else),
		TEST(an_end_of_memory_behind_full_lanes_holds_up_nobody_else),
		TEST(long_texts_hold_up_others_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
