/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon on the kernel's bus is killed, and its successor takes bindings and requests over (kept_bus.h). */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mimic/dare_isa.h"
#include "mimic/dare_registers.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/kept_bus.h"

enum { PRODUCER = 1, CONSUMER = 2, DRIVER = 0 };
enum { BINDING = 1, OTHER = 2, PROCESS = 7, OTHER_PROCESS = 8 };
enum { DARE = 2, VIRGO = 3 };

#define KILLS 12u
#define END 0xffffffffu
#define ELEMENT(n) (KEPT_ARENA + 4ull * (n))

static int start(void **state)
{
	(void)state;
	if (!kept_bus_start("maple:2,dare:1,virgo:1"))
		return -1;
	for (unsigned int i = 0; i < KEPT_ARENA_BYTES / 4; i++)
		kept_bus.arena[i] = 0xa0000 + i;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	return kept_bus_stop() ? 0 : -1;
}

/* --- MAPLE -------------------------------------------------------------------------------------- */

static struct mimic_bus_request maple(uint32_t binding, uint32_t thread, unsigned int operation, unsigned int field,
				      unsigned int size)
{
	return (struct mimic_bus_request){
		.kind = MIMIC_BUS_REQUEST_ACCESS, .device = KEPT_DEVICE(binding - 1), .binding = binding, .thread = thread,
		.page = PAGE_MAPLE, .offset = AT(operation, field), .size = (uint8_t)size,
	};
}

static uint64_t load(uint32_t binding, uint32_t thread, unsigned int operation, unsigned int field)
{
	uint64_t data = 0;

	assert_int_equal(kept_bus_access(maple(binding, thread, operation, field, 4), &data), 0);
	return data;
}

static void store(uint32_t binding, uint32_t thread, unsigned int operation, unsigned int size, uint64_t value)
{
	struct mimic_bus_request access = maple(binding, thread, operation, 0, size);

	access.is_write = 1;
	assert_int_equal(kept_bus_access(access, &value), 0);
}

static void open_queue(uint32_t binding, uint32_t process)
{
	assert_int_equal(kept_bus_open(binding - 1, binding, process), 0);
	assert_int_equal(load(binding, PRODUCER, INIT, WORDS_32), 2);
	assert_int_equal(load(binding, PRODUCER, OPEN_PRODUCER, 0) & 3, 2);
	assert_int_equal(load(binding, CONSUMER, OPEN_CONSUMER, 0) & 3, 1);
}

static _Atomic bool is_over;

/* Values, and elements of the program's memory. */
static uint64_t word(unsigned int i)
{
	return i % 3 ? i : 0xa0000 + i % 1000;
}

static void *produce(void *context)
{
	uint32_t binding = *(uint32_t *)context;

	for (unsigned int i = 0; !is_over; i++) {
		if (i % 3)
			store(binding, PRODUCER, PRODUCE, 4, i);
		else
			store(binding, PRODUCER, FULL_POINTER32, 8, ELEMENT(i % 1000));
	}
	store(binding, PRODUCER, PRODUCE, 4, END);
	return NULL;
}

static void *consume(void *context)
{
	uint32_t binding = *(uint32_t *)context;

	for (unsigned int i = 0;; i++) {
		uint64_t value = load(binding, CONSUMER, CONSUME, 0);

		if (value == END)
			return NULL;
		assert_int_equal(value, word(i));
	}
}

static void await_ready(void)
{
	uint32_t serving = kept_bus.kernel->take_overs + 1;

	for (unsigned int wait = 0; wait < 10000 && kept_bus.kernel->ready != serving; wait++)
		test_sleep_ms(1);
	assert_int_equal(kept_bus.kernel->ready, serving);
}

static void kill_often(unsigned int kills)
{
	for (unsigned int i = 0; i < kills; i++) {
		uint32_t before = kept_bus.kernel->take_overs;

		test_sleep_ms(1 + (long)(random() % 20));
		kept_bus_kill();
		for (unsigned int wait = 0; wait < 10000 && kept_bus.kernel->take_overs == before; wait++)
			test_sleep_ms(1);
		assert_int_not_equal(kept_bus.kernel->take_overs, before);
		/* Mostly; but a supervisor gives up when five end one after the other before they are ready. */
		if (i % 3)
			await_ready();
	}
	test_sleep_ms(50);
	is_over = true;
}

static void no_word_is_lost_or_comes_twice(void **state)
{
	uint32_t binding = BINDING;
	pthread_t threads[2];

	(void)state;
	is_over = false;
	open_queue(BINDING, PROCESS);
	assert_int_equal(pthread_create(&threads[0], NULL, produce, &binding), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, consume, &binding), 0);
	kill_often(KILLS);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(kept_bus.kernel->opens, 1);
	assert_int_equal(kept_bus.kernel->keeps, kept_bus.kernel->take_overs + 1);
}

static void bindings_and_threads_of_several_processes_go_on(void **state)
{
	uint32_t bindings[2] = { BINDING, OTHER };
	pthread_t threads[4];

	(void)state;
	is_over = false;
	for (unsigned int i = 0; i < 2; i++) {
		open_queue(bindings[i], PROCESS + i);
		assert_int_equal(pthread_create(&threads[2 * i], NULL, produce, &bindings[i]), 0);
		assert_int_equal(pthread_create(&threads[2 * i + 1], NULL, consume, &bindings[i]), 0);
	}
	kill_often(KILLS);
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	/* The roles are those of the threads that took them. */
	assert_int_equal(load(BINDING, PRODUCER, CLOSE_PRODUCER, 0), 2);
	assert_int_equal(load(BINDING, CONSUMER, CLOSE_CONSUMER, 0), 1);
}

static void await_successor(uint32_t before)
{
	for (unsigned int wait = 0; wait < 10000 && kept_bus.kernel->take_overs == before; wait++)
		test_sleep_ms(1);
	assert_int_equal(kept_bus.kernel->take_overs, before + 1);
}

static void an_access_that_waits_is_answered_by_the_successor(void **state)
{
	struct mimic_bus_request access = maple(BINDING, CONSUMER, CONSUME, 0, 4);
	uint64_t data = 0;
	uint32_t slot;

	(void)state;
	open_queue(BINDING, PROCESS);
	slot = kept_bus_put(&access);
	test_sleep_ms(20);
	kept_bus_kill();
	await_successor(0);
	assert_int_equal(kept_bus.kernel->redelivered, 1);
	store(BINDING, PRODUCER, PRODUCE, 4, 4711);
	assert_int_equal(kept_bus_wait(slot, &data), 0);
	assert_int_equal(data, 4711);
}

static void an_access_that_is_given_up_while_no_daemon_serves_has_no_effect(void **state)
{
	struct mimic_bus_request access = maple(BINDING, CONSUMER, CONSUME, 0, 4);
	uint64_t data;
	uint32_t slot;

	(void)state;
	open_queue(BINDING, PROCESS);
	slot = kept_bus_put(&access);
	test_sleep_ms(20);
	kept_bus_kill();
	kept_bus_cancel(slot);
	assert_int_equal(kept_bus_wait(slot, &data), MIMIC_BUS_TAKEN_BACK);
	store(BINDING, PRODUCER, PRODUCE, 4, 4711);
	assert_int_equal(load(BINDING, CONSUMER, CONSUME, 0), 4711);
}

static void an_open_that_is_given_up_while_no_daemon_serves_is_not_begun(void **state)
{
	const struct mimic_bus_request request = {
		.kind = MIMIC_BUS_REQUEST_OPEN, .device = KEPT_DEVICE(0), .binding = BINDING, .process = PROCESS,
		.program = "test",
	};
	uint32_t slot;

	(void)state;
	kept_bus_kill();
	slot = kept_bus_put(&request);
	kept_bus_cancel(slot);
	assert_int_equal(kept_bus_wait(slot, NULL), MIMIC_BUS_TAKEN_BACK);
	assert_int_equal(kept_bus_open(0, OTHER, OTHER_PROCESS), 0);
}

static void a_device_that_is_closed_is_as_after_power_on(void **state)
{
	(void)state;
	open_queue(BINDING, PROCESS);
	store(BINDING, PRODUCER, PRODUCE, 4, 1);
	kept_bus_kill();
	assert_int_equal(kept_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
	kept_bus_kill();
	assert_int_equal(kept_bus_open(0, BINDING, OTHER_PROCESS), 0);
	assert_int_equal(load(BINDING, PRODUCER, INIT, WORDS_32), 2);
}

static void a_thread_that_ends_frees_its_roles_after_a_takeover(void **state)
{
	(void)state;
	open_queue(BINDING, PROCESS);
	kept_bus_kill();
	assert_int_equal(kept_bus_request(MIMIC_BUS_REQUEST_THREAD_GONE, 0, BINDING, PRODUCER), 0);
	assert_int_equal(load(BINDING, 3, OPEN_PRODUCER, 0) & 3, 2);
}

static void programs_lose_devices_that_cannot_be_taken_over(void **state)
{
	struct mimic_bus_request access = maple(BINDING, PRODUCER, PRODUCE, 0, 4);
	uint64_t value = 1;

	(void)state;
	open_queue(BINDING, PROCESS);
	kept_bus.kernel->take_over_error = -ENODEV;
	kept_bus_kill();
	while (kept_bus.kernel->opens == 1)
		test_sleep_ms(1);
	access.is_write = 1;
	assert_int_equal(kept_bus_access(access, &value), -ENODEV);
	assert_int_equal(kept_bus_said("programs lose the devices that they have through the kernel"), 1);
	/* The next program finds it as after power-on, and the new node is kept, too. */
	assert_int_equal(kept_bus_open(0, OTHER + 1, OTHER_PROCESS), 0);
	/* Level, size and roles of the queue that the lost program had. */
	access = maple(BINDING, CONSUMER, QUEUE_STATE, 0, 8);
	access.binding = OTHER + 1;
	assert_int_equal(kept_bus_access(access, &value), 0);
	assert_int_equal(value, 0);
	open_queue(OTHER, OTHER_PROCESS);
	kept_bus_kill();
	store(OTHER, PRODUCER, PRODUCE, 4, 5);
	assert_int_equal(load(OTHER, CONSUMER, CONSUME, 0), 5);
}

/* --- DARE --------------------------------------------------------------------------------------- */

/* mld.b m0, (a0), a1; mst.b m0, (a0), a1; mcfg a0, a1 (docs/dare-isa.md) */
#define MLD_B (0x0400002bu | 11u << 20 | 10u << 15)
#define MST_B (0x0c00002bu | 11u << 20 | 10u << 15)
#define MCFG (0xfe00002bu | 11u << 20 | 10u << 15)

static void dare_store(uint32_t binding, unsigned int page, unsigned int offset, uint64_t value)
{
	const struct mimic_bus_request access = {
		.device = KEPT_DEVICE(DARE), .binding = binding, .thread = binding ? 1 : 0, .page = (uint8_t)page,
		.offset = offset, .size = 8, .is_write = 1,
	};

	assert_int_equal(kept_bus_access(access, &value), 0);
}

static void dispatch(uint32_t binding, unsigned int context, uint32_t instruction, uint64_t rs1, uint64_t rs2)
{
	unsigned int page = DARE_PAGE_CONTEXT(context);

	dare_store(binding, page, DARE_RS1, rs1);
	dare_store(binding, page, DARE_RS2, rs2);
	dare_store(binding, page, DARE_INSTRUCTION, instruction);
}

/* Rows of 16 words move through the arena one row further each time, so each move reads what the last one wrote. */
static void contexts_move_memory_of_their_processes(void **state)
{
	uint32_t before[16];

	(void)state;
	memcpy(before, kept_bus.arena, sizeof(before));
	assert_int_equal(kept_bus_open(DARE, BINDING, PROCESS), 0);
	assert_int_equal(kept_bus_open(DARE, OTHER, OTHER_PROCESS), 0);
	dare_store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, (uint64_t)BINDING << 8 | 0);
	dare_store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, (uint64_t)OTHER << 8 | 1);
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int context = i % 2;
		uint32_t binding = context ? OTHER : BINDING;

		if (i % 16 == 7)
			kept_bus_kill();
		dispatch(binding, context, MLD_B, ELEMENT(16ull * i), 64);
		dispatch(binding, context, MST_B, ELEMENT(16ull * (i + 1)), 64);
		dare_store(binding, DARE_PAGE_CONTEXT(context), DARE_RS1, 0);
		while (memcmp(kept_bus.arena + 16 * (i + 1), before, sizeof(before)))
			test_sleep_ms(1);
	}
}

static uint64_t dare_load(unsigned int page, unsigned int offset)
{
	const struct mimic_bus_request access = {
		.device = KEPT_DEVICE(DARE), .page = (uint8_t)page, .offset = offset, .size = 8,
	};
	uint64_t data = 0;

	assert_int_equal(kept_bus_access(access, &data), 0);
	return data;
}

static void a_close_after_a_takeover_takes_the_contexts_of_its_process(void **state)
{
	(void)state;
	assert_int_equal(kept_bus_open(DARE, BINDING, PROCESS), 0);
	dare_store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, (uint64_t)BINDING << 8 | 2);
	dare_store(BINDING, DARE_PAGE_CONTEXT(2), DARE_RS1, 5);
	kept_bus_kill();
	assert_int_equal(dare_load(DARE_PAGE_CONTEXT(2), DARE_RS1), 5);
	assert_int_equal(kept_bus_request(MIMIC_BUS_REQUEST_CLOSE, DARE, BINDING, 0), 0);
	assert_int_equal(dare_load(DARE_PAGE_CONTEXT(2), DARE_RS1), 0);
}

/* --- Virgo -------------------------------------------------------------------------------------- */

static void virgo_store(unsigned int register_offset, unsigned int size, uint64_t value)
{
	const struct mimic_bus_request access = {
		.device = KEPT_DEVICE(VIRGO), .binding = BINDING, .thread = 1, .page = VIRGO_PAGE_UNITS,
		.offset = register_offset, .size = (uint8_t)size, .is_write = 1,
	};

	assert_int_equal(kept_bus_access(access, &value), 0);
}

static void command(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	virgo_store(VIRGO_UNIT_OFFSET(0, RS1), 8, rs1);
	virgo_store(VIRGO_UNIT_OFFSET(0, RS2), 8, rs2);
	virgo_store(VIRGO_UNIT_OFFSET(0, INSTRUCTION), 4, VIRGO_INSTRUCTION_WORD(funct));
}

/* Rows of 8 words. */
#define ROW 32u
#define ROWS(row, count) ((uint64_t)(count) << 48 | 8ull << 32 | (row))

/* --- at each place of the daemon's steps -------------------------------------------------------- */

/* The thread has a signal at once, and makes the access again if it was taken back. */
static uint64_t access_in_spite_of_signals(struct mimic_bus_request access, uint64_t value)
{
	uint64_t data;
	int status;

	access.kind = MIMIC_BUS_REQUEST_ACCESS;
	access.data = value;
	do {
		uint32_t slot = kept_bus_put(&access);

		kept_bus_cancel(slot);
		status = kept_bus_wait(slot, &data);
	} while (status == MIMIC_BUS_TAKEN_BACK);
	assert_int_equal(status, 0);
	return data;
}

static void run_short_program(void)
{
	struct mimic_bus_request produce_it = maple(BINDING, PRODUCER, PRODUCE, 0, 4);
	struct mimic_bus_request consume_it = maple(BINDING, CONSUMER, CONSUME, 0, 4);
	uint64_t data;
	uint32_t slot;

	produce_it.is_write = 1;
	open_queue(BINDING, PROCESS);
	for (unsigned int i = 0; i < 4; i++)
		access_in_spite_of_signals(produce_it, i);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(access_in_spite_of_signals(consume_it, 0), i);
	/* One that waits, and a store that ends the wait. */
	consume_it.kind = MIMIC_BUS_REQUEST_ACCESS;
	slot = kept_bus_put(&consume_it);
	store(BINDING, PRODUCER, FULL_POINTER32, 8, ELEMENT(7));
	if (kept_bus_wait(slot, &data))
		data = load(BINDING, CONSUMER, CONSUME, 0);
	assert_int_equal(data, 0xa0007);
	assert_int_equal(kept_bus_request(MIMIC_BUS_REQUEST_THREAD_GONE, 0, BINDING, CONSUMER), 0);
	assert_int_equal(kept_bus_request(MIMIC_BUS_REQUEST_CLOSE, 0, BINDING, 0), 0);
}

static void fence(uint32_t device, unsigned int page, unsigned int offset, uint64_t error)
{
	const struct mimic_bus_request access = {
		.device = KEPT_DEVICE(device), .binding = BINDING, .thread = 1, .page = (uint8_t)page, .offset = offset, .size = 8,
	};
	uint64_t status = 0;

	assert_int_equal(kept_bus_access(access, &status), 0);
	assert_int_equal(status & error, 0);
}

/* Blocks of rows that overlap: a move that is done once more has to read what the first one has read. */
static void run_dare(void)
{
	assert_int_equal(kept_bus_open(DARE, BINDING, PROCESS), 0);
	dare_store(DRIVER, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, (uint64_t)BINDING << 8 | 0);
	for (unsigned int i = 0; i < 4; i++) {
		dispatch(BINDING, 0, MLD_B, ELEMENT(16ull * i), 64);
		dispatch(BINDING, 0, MST_B, ELEMENT(16ull * i + 16), 64);
	}
	fence(DARE, DARE_PAGE_CONTEXT(0), DARE_FENCE, DARE_STATUS_ERROR);
}

static unsigned int fault_ins;

static void run_dare_of_a_program_that_forks(void)
{
	kept_bus.kernel->program_forks = true;
	run_dare();
	fault_ins += kept_bus.kernel->fault_ins;
}

/* The same through the cluster's memory, which is the bus's, and on in that memory. */
static void run_virgo(void)
{
	assert_int_equal(kept_bus_open(VIRGO, BINDING, PROCESS), 0);
	command(VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | 0x3f800000ull << 32, ROW);
	command(VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ROW | 0x3f800000ull << 32);
	for (unsigned int i = 0; i < 4; i++) {
		command(VIRGO_FUNCT_MVIN, ELEMENT(8ull * i), ROWS(3 + i, 4));
		command(VIRGO_FUNCT_MVOUT, ELEMENT(8ull * i + 8), ROWS(3, 4));
	}
	fence(VIRGO, VIRGO_PAGE_UNITS, VIRGO_UNIT_OFFSET(0, FENCE), VIRGO_STATUS_ERROR);
}

/* All that a program can see in the end, of a run in which the daemon is killed at that place; 0: it is not. */
struct outcome {
	unsigned int deaths;
	char arena[KEPT_ARENA_BYTES];
	char memory[KEPT_MEMORY_BYTES];
};

static void run(void (*program)(void), unsigned int place, struct outcome *outcome)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", place);
	setenv("MIMIC_TEST_KILL_AT", text, 1);
	assert_int_equal(start(NULL), 0);
	unsetenv("MIMIC_TEST_KILL_AT");
	program();
	outcome->deaths = kept_bus_said("was killed by signal 9");
	memcpy(outcome->arena, kept_bus.arena, KEPT_ARENA_BYTES);
	memcpy(outcome->memory, kept_bus.memory + VIRGO * KEPT_MEMORY_BYTES, KEPT_MEMORY_BYTES);
	/* The place may be one of the daemon's end. */
	assert_true(!stop(NULL) || !outcome->deaths);
}

/* A multiple of the stride, or each place with WALK_STRIDE=1. */
static void walk(void (*program)(void), unsigned int stride)
{
	static struct outcome undisturbed, outcome;
	const char *wanted = getenv("WALK_STRIDE");
	unsigned int kills = 0;

	stride = wanted ? (unsigned int)atoi(wanted) : stride;
	run(program, 0, &undisturbed);
	assert_int_equal(undisturbed.deaths, 0);
	/* At the first place no descriptor is kept. */
	for (unsigned int place = 2;; place += stride) {
		run(program, place, &outcome);
		if (!outcome.deaths)
			break;
		kills++;
		assert_memory_equal(outcome.arena, undisturbed.arena, KEPT_ARENA_BYTES);
		assert_memory_equal(outcome.memory, undisturbed.memory, KEPT_MEMORY_BYTES);
	}
	assert_true(kills > 10);
}

static void a_kill_at_any_place_of_maple_changes_nothing(void **state)
{
	(void)state;
	walk(run_short_program, 17);
}

static void a_kill_at_any_place_of_dare_changes_nothing(void **state)
{
	(void)state;
	walk(run_dare, 17);
}

/* Bytes that are put back lie in pages that the fork has protected. */
static void a_program_that_forks_while_no_daemon_serves_keeps_its_device(void **state)
{
	(void)state;
	walk(run_dare_of_a_program_that_forks, 17);
	assert_int_not_equal(fault_ins, 0);
}

static void a_kill_at_any_place_of_virgo_changes_nothing(void **state)
{
	(void)state;
	walk(run_virgo, 17);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_word_is_lost_or_comes_twice, start, stop),
		cmocka_unit_test_setup_teardown(bindings_and_threads_of_several_processes_go_on, start, stop),
		cmocka_unit_test_setup_teardown(an_access_that_waits_is_answered_by_the_successor, start, stop),
		cmocka_unit_test_setup_teardown(an_access_that_is_given_up_while_no_daemon_serves_has_no_effect, start, stop),
		cmocka_unit_test_setup_teardown(an_open_that_is_given_up_while_no_daemon_serves_is_not_begun, start, stop),
		cmocka_unit_test_setup_teardown(a_device_that_is_closed_is_as_after_power_on, start, stop),
		cmocka_unit_test_setup_teardown(a_thread_that_ends_frees_its_roles_after_a_takeover, start, stop),
		cmocka_unit_test_setup_teardown(programs_lose_devices_that_cannot_be_taken_over, start, stop),
		cmocka_unit_test_setup_teardown(contexts_move_memory_of_their_processes, start, stop),
		cmocka_unit_test_setup_teardown(a_close_after_a_takeover_takes_the_contexts_of_its_process, start, stop),
		cmocka_unit_test(a_kill_at_any_place_of_maple_changes_nothing),
		cmocka_unit_test(a_kill_at_any_place_of_dare_changes_nothing),
		cmocka_unit_test(a_program_that_forks_while_no_daemon_serves_keeps_its_device),
		cmocka_unit_test(a_kill_at_any_place_of_virgo_changes_nothing),
	};

	kept_bus_daemon(argc, argv);
	alarm(120);
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
