/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Management of a device that a virtual machine has: lists, states, traces, resets, injected errors. As with
 * the kernel's devices: to the machine's driver it must look as if the hardware did it.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/spool.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "tests/lib/vfio_fixture.h"
#include "tests/lib/vfio_lanes.h"

#define DATA (GUEST_RAM + 0x200000)
#define VIRTUAL 0x123456789000ull
#define SPOOL_SIZE (8 * (size_t)MIMIC_SPOOL_CHUNK)

static int person;	/* a connection to the daemon's own socket */

static int setup(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.dares = 1;
	vfio_served.vfio[0] = "maple0,rings";
	vfio_served.vfio[1] = "dare0";
	return served_start(&vfio_served, 2, false) ? 0 : -1;
}

static int begin_person(void **state)
{
	(void)state;
	person = raw_client(vfio_served.socket);
	return person >= 0 ? 0 : -1;
}

static int end_all(void **state)
{
	(void)state;
	guest_end(&vfio_guest);
	close(person);
	return 0;
}

/* --- the machine ------------------------------------------------------------------------ */

static uint64_t maple_load(unsigned int operation, unsigned int field)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field), 4);
}

static uint64_t identify(void)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8);
}

static void produce(uint32_t value)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, value);
}

static void start_maple(void)
{
	guest_start_lanes(&vfio_guest, &vfio_served, "maple0", false);
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	maple_load(MAPLE_LOAD_RESET, 0);
	maple_load(MAPLE_LOAD_INIT, 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
}

static void fetch(uint64_t address)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, address);
}

static uint64_t fault_status(void)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0), 8);
}

static void resolve(uint64_t value)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE), 8, value);
}

/* --- the person -------------------------------------------------------------------------- */

static struct json_object *read_json(int fd, uint64_t size)
{
	char *text = calloc(1, size + 1);
	struct json_object *tree;

	assert_int_equal(pread(fd, text, size, 0), (ssize_t)size);
	close(fd);
	tree = json_tokener_parse(text);
	assert_non_null(tree);
	free(text);
	return tree;
}

static struct json_object *list(void)
{
	struct mimic_message message = { .flags = 0 };
	struct mimic_list_reply reply;
	int fd = -1;

	assert_int_equal(raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_LIST, -1, &reply, sizeof(reply),
				     &fd), 0);
	return read_json(fd, reply.size);
}

static struct json_object *state_of(const char *name)
{
	struct mimic_state_request message = { .flags = 0 };
	struct mimic_list_reply reply;
	int fd = -1;

	strcpy(message.name, name);
	assert_int_equal(raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_STATE, -1, &reply, sizeof(reply),
				     &fd), 0);
	return read_json(fd, reply.size);
}

static int tell(enum mimic_message_type type, const char *name)
{
	struct mimic_open message = { .name = "" };

	strcpy(message.name, name);
	return raw_request(person, &message, sizeof(message), type, -1, NULL, 0, NULL);
}

static int inject(enum mimic_injection what)
{
	struct mimic_inject message = { .name = "maple0", .what = what };

	return raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_INJECT, -1, NULL, 0, NULL);
}

static struct json_object *field(struct json_object *object, const char *name)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(object, name, &value));
	return value;
}

/* Of an array in the list, the one whose `key` is `value`. NULL: there is none. */
static struct json_object *find(struct json_object *tree, const char *array, const char *key, const char *value)
{
	struct json_object *entries = field(tree, array);

	for (size_t i = 0; i < json_object_array_length(entries); i++) {
		struct json_object *entry = json_object_array_get_idx(entries, i);

		if (!strcmp(json_object_get_string(field(entry, key)), value))
			return entry;
	}
	return NULL;
}

/* --- lists and states -------------------------------------------------------------------- */

static void a_list_shows_the_machine_that_has_a_device(void **state)
{
	struct json_object *tree, *device, *user;

	(void)state;
	start_maple();
	tree = list();
	device = find(tree, "devices", "name", "maple0");
	assert_true(json_object_get_boolean(field(device, "pci")));
	assert_false(json_object_get_boolean(field(device, "kernel")));
	user = field(device, "user");
	assert_int_equal(json_object_get_int(field(user, "pid")), getpid());
	assert_string_equal(json_object_get_string(field(user, "program")), "virtual machine");
	/* One without a socket for machines. */
	device = find(tree, "devices", "name", "maple1");
	assert_false(json_object_get_boolean(field(device, "pci")));
	json_object_put(tree);
}

static void a_list_counts_accesses_by_the_space_that_has_the_context(void **state)
{
	struct json_object *tree, *bindings;
	int accesses = 0;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	for (unsigned int space = 5; space < 7; space++) {
		guest_set_mode(&vfio_guest, space, MIMIC_PCI_MODE_PHYSICAL);
		guest_set_register(&vfio_guest, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8, space << 8 | (space - 5));
	}
	for (unsigned int i = 0; i < 3; i++)
		guest_register(&vfio_guest, DARE_PAGE_CONTEXT(0), DARE_IDENTIFY, 8);
	for (unsigned int i = 0; i < 40; i++)
		guest_register(&vfio_guest, DARE_PAGE_CONTEXT(1), DARE_IDENTIFY, 8);
	tree = list();
	bindings = field(tree, "bindings");
	assert_int_equal(json_object_array_length(bindings), 2);
	for (size_t i = 0; i < 2; i++) {
		struct json_object *binding = json_object_array_get_idx(bindings, i);
		int count = json_object_get_int(field(binding, "accesses"));

		assert_true(json_object_get_boolean(field(binding, "machine")));
		/* Two stores to ATTACH besides, which are no context's. */
		assert_true((count >= 3 && count <= 5) || (count >= 40 && count <= 42));
		accesses += count;
	}
	/* The first ATTACH came when one space was open, the second when two were. */
	assert_int_equal(accesses, 3 + 40 + 2);
	json_object_put(tree);
}

static void a_list_shows_programs_that_have_lanes(void **state)
{
	struct json_object *tree, *session, *device_state;
	struct raw_lane lane;
	char owner[80];

	(void)state;
	start_maple();
	lane = lane_open(&vfio_guest, 0, 1, 1);
	for (unsigned int i = 0; i < 5; i++)
		lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8);
	tree = list();
	session = find(tree, "sessions", "program", "virtual machine");
	assert_non_null(session);
	assert_true(json_object_get_boolean(field(session, "machine")));
	assert_false(json_object_get_boolean(field(session, "kernel")));
	assert_int_equal(json_object_get_int(field(session, "commands")), 5);
	assert_int_equal(json_object_get_int(field(session, "threads")), 1);
	/* The number by which the device names its thread. */
	maple_load(MAPLE_LOAD_CLOSE_PRODUCER, 0);
	assert_true(lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_PRODUCER, 0), 4) & 2);
	device_state = state_of("maple0");
	snprintf(owner, sizeof(owner), "\"producer\":{\"value\":%s,",
		 json_object_get_string(json_object_array_get_idx(field(session, "owners"), 0)));
	assert_non_null(strstr(json_object_to_json_string_ext(device_state, JSON_C_TO_STRING_PLAIN), owner));
	json_object_put(device_state);
	json_object_put(tree);
}

static void a_state_is_that_of_the_machines_device(void **state)
{
	struct json_object *tree;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	guest_set_mode(&vfio_guest, 9, MIMIC_PCI_MODE_PHYSICAL);
	guest_set_register(&vfio_guest, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8, 9 << 8 | 0);
	guest_set_register(&vfio_guest, DARE_PAGE_CONTEXT(0), DARE_RS1, 8, 0x123456);
	tree = state_of("dare0");
	assert_non_null(strstr(json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PLAIN),
			       "\"RS1\":{\"value\":\"0x123456\""));
	json_object_put(tree);
}

static void counters_are_cleared_and_a_reset_leaves_the_machine_its_device(void **state)
{
	(void)state;
	start_maple();
	produce(4);
	assert_int_equal(tell(MIMIC_MESSAGE_CLEAR_COUNTERS, "maple0"), 0);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 4);
	assert_int_equal(tell(MIMIC_MESSAGE_RESET, "maple0"), 0);
	assert_int_equal(identify() >> 32, MAPLE_IDENTIFY_MAGIC);
	/* The queues are gone; the space is the driver's, and stays. */
	assert_int_equal(maple_load(MAPLE_LOAD_INIT, 2), 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
	*guest_word(&vfio_guest, DATA) = 31;
	fetch(DATA);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 31);
}

/* --- traces ------------------------------------------------------------------------------- */

static int make_spool(struct mimic_spool_header **header)
{
	int fd = memfd_create("spool", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(mimic_spool_create(fd, SPOOL_SIZE), 0);
	assert_int_equal(fallocate(fd, 0, 0, SPOOL_SIZE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	*header = mmap(NULL, SPOOL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(*header, MAP_FAILED);
	return fd;
}

static unsigned int count_accesses(const struct mimic_spool_header *header, uint64_t value)
{
	const struct mimic_trace_event *event = (const struct mimic_trace_event *)header;
	unsigned int found = 0;

	for (size_t i = MIMIC_SPOOL_EVENTS; i < SPOOL_SIZE / sizeof(*event); i++)
		found += i % MIMIC_SPOOL_EVENTS && event[i].value == value &&
			 __atomic_load_n(&event[i].kind, __ATOMIC_ACQUIRE) == MIMIC_TRACE_access;
	return found;
}

static void a_trace_has_what_traps_and_what_lanes_do(void **state)
{
	struct mimic_message message = { .flags = 0 }, reply;
	struct mimic_spool_header *header;
	struct raw_lane lane;
	int fd = make_spool(&header);

	(void)state;
	start_maple();
	produce(0x1111);
	assert_int_equal(raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_TRACE_BUS, fd, &reply,
				     sizeof(reply), NULL), 0);
	assert_string_equal(header->device[0].name, "maple0");
	assert_int_equal(header->device[0].pid, getpid());
	produce(0x2222);
	lane = lane_open(&vfio_guest, 0, 1, 1);
	lane_store(&vfio_guest, &lane, 0, MAPLE_PAGE_MMU, 0, 8, 0x3333);
	lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8);
	assert_int_equal(count_accesses(header, 0x1111), 0);
	assert_int_equal(count_accesses(header, 0x2222), 1);
	assert_int_equal(count_accesses(header, 0x3333), 1);
	/* The machine ends, and so does its device in the trace. */
	guest_end(&vfio_guest);
	for (unsigned int i = 0; i < 5000 && atomic_load(&header->device[0].is_open); i++)
		test_sleep_ms(1);
	assert_int_equal(atomic_load(&header->device[0].is_open), 0);
	guest_start(&vfio_guest, &vfio_served, "maple0");
	munmap(header, SPOOL_SIZE);
	close(fd);
}

/* --- misbehaviour -------------------------------------------------------------------------- */

static void a_device_without_a_driver_does_not_misbehave(void **state)
{
	struct mimic_inject message = { .name = "maple1", .what = MIMIC_INJECT_HANG };

	(void)state;
	start_maple();
	assert_int_equal(raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_INJECT, -1, NULL, 0, NULL),
			 -EOPNOTSUPP);
	assert_int_equal(inject((enum mimic_injection)99), -EINVAL);
}

static void an_interrupt_that_means_nothing(void **state)
{
	(void)state;
	start_maple();
	assert_int_equal(inject(MIMIC_INJECT_SPURIOUS_INTERRUPT), 0);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	assert_int_equal(fault_status(), 0);
}

static void an_interrupt_that_does_not_come(void **state)
{
	(void)state;
	start_maple();
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_X86_4);
	assert_int_equal(inject(MIMIC_INJECT_LOST_INTERRUPT), 0);
	fetch(VIRTUAL);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 50), 0);
	/* A driver that looks finds the fault. */
	assert_int_equal(fault_status() & ~0xfffull, VIRTUAL);
}

static void a_fault_at_a_wrong_address(void **state)
{
	(void)state;
	start_maple();
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_X86_4);
	assert_int_equal(inject(MIMIC_INJECT_WRONG_FAULT_ADDRESS), 0);
	fetch(VIRTUAL);
	assert_int_equal(fault_status() & ~0xfffull, VIRTUAL ^ 0x1000);
	assert_int_equal(fault_status() & ~0xfffull, VIRTUAL);
}

static void a_fault_that_cannot_be_resolved(void **state)
{
	uint64_t word;

	(void)state;
	start_maple();
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_X86_4);
	assert_int_equal(inject(MIMIC_INJECT_UNRESOLVED_FAULT), 0);
	fetch(VIRTUAL);
	word = fault_status();
	resolve(word & MAPLE_FAULT_PIPES);
	assert_int_equal(fault_status(), word);
	assert_true(word & MAPLE_FAULT_STALLED);
	assert_int_equal(inject(MIMIC_INJECT_NONE), 0);
	resolve(word & MAPLE_FAULT_PIPES);
	assert_false(fault_status() & MAPLE_FAULT_STALLED);
}

static void an_answer_that_comes_late_is_not_waited_for(void **state)
{
	uint64_t before;

	(void)state;
	start_maple();
	before = guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY);
	assert_int_equal(inject(MIMIC_INJECT_DELAYED_ANSWER), 0);
	assert_int_equal(identify(), ~0ull);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_NOT_READY), before + 1);
	assert_int_equal(identify() >> 32, MAPLE_IDENTIFY_MAGIC);
	/* A slot waits for it. */
	assert_int_equal(inject(MIMIC_INJECT_DELAYED_ANSWER), 0);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_ACCESS,
		      MIMIC_PCI_ACCESS(MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), MAPLE_PAGE_MAPLE, 8, false));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_STATE), MIMIC_PCI_SLOT_WAITS);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 5000), 1);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_DATA) >> 32, MAPLE_IDENTIFY_MAGIC);
}

static void a_device_that_hangs(void **state)
{
	const uint64_t word = lane_word(MIMIC_COMMAND_LOAD, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8, 1);
	struct raw_lane lane;
	uint64_t answer;

	(void)state;
	start_maple();
	lane = lane_open(&vfio_guest, 0, 1, 1);
	assert_int_equal(inject(MIMIC_INJECT_HANG), 0);
	assert_int_equal(identify(), ~0ull);
	/* The bus page, which is not the device's, still answers. */
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	lane_post(&vfio_guest, &lane, &word, 1);
	test_sleep_ms(50);
	assert_int_equal(mimic_ring_level(&lane.responses, 1), 0);
	/* Its driver resets it. */
	maple_load(MAPLE_LOAD_RESET, 0);
	assert_int_equal(identify() >> 32, MAPLE_IDENTIFY_MAGIC);
	assert_true(raw_answer(&lane, &answer));
	assert_int_equal(answer >> 32, MAPLE_IDENTIFY_MAGIC);
}

static void misbehaviour_ends_with_the_machine(void **state)
{
	(void)state;
	start_maple();
	assert_int_equal(inject(MIMIC_INJECT_HANG), 0);
	guest_end(&vfio_guest);
	start_maple();
	assert_int_equal(identify() >> 32, MAPLE_IDENTIFY_MAGIC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_person, end_all)
	const struct CMUnitTest tests[] = {
		TEST(a_list_shows_the_machine_that_has_a_device),
		TEST(a_list_counts_accesses_by_the_space_that_has_the_context),
		TEST(a_list_shows_programs_that_have_lanes),
		TEST(a_state_is_that_of_the_machines_device),
		TEST(counters_are_cleared_and_a_reset_leaves_the_machine_its_device),
		TEST(a_trace_has_what_traps_and_what_lanes_do),
		TEST(a_device_without_a_driver_does_not_misbehave),
		TEST(an_interrupt_that_means_nothing),
		TEST(an_interrupt_that_does_not_come),
		TEST(a_fault_at_a_wrong_address),
		TEST(a_fault_that_cannot_be_resolved),
		TEST(an_answer_that_comes_late_is_not_waited_for),
		TEST(a_device_that_hangs),
		TEST(misbehaviour_ends_with_the_machine),
	};

	return cmocka_run_group_tests(tests, setup, vfio_fixture_end);
}
