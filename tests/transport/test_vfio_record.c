/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices of virtual machines are recorded by their daemon, and the recording makes them do the same again. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/spool.h"
#include "libmimic/replay/replay.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_commands.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/vfio_fixture.h"
#include "tests/lib/vfio_lanes.h"

#define DATA (GUEST_RAM + 0x200000)
#define OTHER (GUEST_RAM + 0x300000)
#define VIRTUAL 0x123456789000ull
#define SPOOL_SIZE (8 * (size_t)MIMIC_SPOOL_CHUNK)

/* Their places in the recording: devices are made by kind, in the order of their numbers. */
enum stream { MAPLE0, DARE0, VIRGO0, STREAMS };

static char path[128];

static int begin(void **state)
{
	(void)state;
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.dares = vfio_served.virgos = 1;
	vfio_served.vfio[0] = "maple0,rings";
	vfio_served.vfio[1] = "dare0";
	vfio_served.vfio[2] = "virgo0";
	vfio_served.recording = "run.mimic";
	if (!served_start(&vfio_served, 1, false))
		return -1;
	snprintf(path, sizeof(path), "%s/run.mimic", vfio_served.directory);
	return 0;
}

static int end(void **state)
{
	guest_end(&vfio_guest);
	unlink(path);
	return vfio_served.pid > 0 ? vfio_fixture_end(state) : (served_clean(&vfio_served), 0);
}

/* --- recordings ---------------------------------------------------------------------------- */

static void end_daemon(void)
{
	guest_end(&vfio_guest);
	assert_int_equal(served_end(&vfio_served, SIGTERM), 0);
}

static void replay(enum stream stream, const char *setting, struct mimic_replay_result *result)
{
	const struct mimic_replay_options options = { .settings = &setting, .setting_count = setting ? 1 : 0 };
	struct mimic_replay *recording;
	char text[256] = "";

	if (mimic_replay_open(&recording, path, text, sizeof(text)))
		fail_msg("%s", text);
	assert_false(mimic_replay_damage(recording)->exists);
	assert_int_equal(mimic_replay_count(recording), STREAMS);
	if (mimic_replay_run(recording, stream, &options, result, text, sizeof(text)))
		fail_msg("%s", text);
	mimic_replay_close(recording);
}

static void expect_identical(enum stream stream, struct mimic_replay_result *result)
{
	replay(stream, NULL, result);
	if (result->difference.exists)
		fail_msg("%s, call %llu, %s: %s: recorded %s, now %s", result->name,
			 (unsigned long long)result->difference.call, result->difference.asked, result->difference.what,
			 result->difference.recorded, result->difference.replayed);
	if (result->damage.exists)
		fail_msg("%s: %s", result->name, result->damage.text);
	assert_int_equal(result->end, MIMIC_REPLAY_WHOLE);
}

/* --- MAPLE ------------------------------------------------------------------------------------ */

static uint64_t maple_load(unsigned int operation, unsigned int field)
{
	return guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field), 4);
}

static void start_maple(void)
{
	guest_start_lanes(&vfio_guest, &vfio_served, "maple0", false);
	maple_load(MAPLE_LOAD_RESET, 0);
	maple_load(MAPLE_LOAD_INIT, 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_PRODUCER, 0) & 2);
	assert_true(maple_load(MAPLE_LOAD_OPEN_CONSUMER, 0) & 1);
}

static void fetch(uint64_t address)
{
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_FULL_POINTER32, 0), 8, address);
}

/* A page fault that the driver resolves, and the word that comes then. */
static void fetch_page_that_is_missing(void)
{
	uint64_t word;

	guest_use_tables(&vfio_guest, 1);
	fetch(VIRTUAL + 8);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_DEVICE, 5000), 1);
	word = guest_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0), 8);
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	*guest_word(&vfio_guest, DATA + 8) = 815;
	guest_set_register(&vfio_guest, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE), 8,
			   (word & MAPLE_FAULT_PIPES) | MAPLE_RESOLVE_PRESENT);
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), 815);
}

static void page_faults_and_their_resolution_replay_identically(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	start_maple();
	fetch_page_that_is_missing();
	end_daemon();
	expect_identical(MAPLE0, &result);
	assert_string_equal(result.name, "maple0");
	assert_int_equal(result.bytes_read, 4);
	/* Those that no machine has used are there, too. */
	expect_identical(DARE0, &result);
	expect_identical(VIRGO0, &result);
}

/* A load that is not answered in time is taken back, a store waits in the device, and a slot does. */
static void accesses_that_wait_replay_identically(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	start_maple();
	assert_int_equal(maple_load(MAPLE_LOAD_CONSUME, 0), UINT32_MAX);
	guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_ACCESS,
		      MIMIC_PCI_ACCESS(MAPLE_OFFSET(MAPLE_LOAD_OPEN_CONSUMER, 1), MAPLE_PAGE_MAPLE, 4, false));
	guest_set_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_ACCESS,
		      MIMIC_PCI_ACCESS(MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 1), MAPLE_PAGE_MAPLE, 4, false));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_STATE), MIMIC_PCI_SLOT_WAITS);
	maple_load(MAPLE_LOAD_OPEN_PRODUCER, 1);
	guest_set_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 1), 4, 99);
	assert_int_equal(guest_interrupts(&vfio_guest, MIMIC_PCI_VECTOR_SLOTS, 5000), 1);
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_SLOT(0) + MIMIC_PCI_SLOT_DATA), 99);
	end_daemon();
	expect_identical(MAPLE0, &result);
	assert_int_equal(result.completions, 1);
}

static void commands_of_programs_by_lanes_replay_identically(void **state)
{
	struct mimic_replay_result result;
	struct raw_lane lane;

	(void)state;
	start_maple();
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	maple_load(MAPLE_LOAD_CLOSE_PRODUCER, 0);
	maple_load(MAPLE_LOAD_CLOSE_CONSUMER, 0);
	lane = lane_open(&vfio_guest, 0, 1, 1);
	lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_PRODUCER, 0), 4);
	lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_OPEN_CONSUMER, 0), 4);
	for (unsigned int i = 0; i < 8; i++)
		lane_store(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_STORE_PRODUCE, 0), 4, 100 + i);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(lane_load(&vfio_guest, &lane, 0, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_CONSUME, 0),
					   4), 100 + i);
	lane_close(&vfio_guest, 0);
	end_daemon();
	expect_identical(MAPLE0, &result);
}

static void the_next_machine_is_in_the_same_stream(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	start_maple();
	fetch_page_that_is_missing();
	guest_end(&vfio_guest);
	start_maple();
	fetch_page_that_is_missing();
	end_daemon();
	expect_identical(MAPLE0, &result);
	assert_int_equal(result.bytes_read, 8);
}

/* IDENTIFY answers how many entries a queue has. */
static void another_parameter_is_a_difference(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	start_maple();
	guest_register(&vfio_guest, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), 8);
	end_daemon();
	replay(MAPLE0, "queues=4", &result);
	assert_true(result.difference.exists);
	assert_string_equal(result.difference.what, "answer");
}

/* --- DARE and Virgo ------------------------------------------------------------------------------- */

/* mld.b or mst.b of register 0, 16 rows of 64 bytes. */
static void dare_move(unsigned int context, uint32_t word, uint64_t address)
{
	guest_set_register(&vfio_guest, DARE_PAGE_CONTEXT(context), DARE_RS1, 8, address);
	guest_set_register(&vfio_guest, DARE_PAGE_CONTEXT(context), DARE_RS2, 8, 64);
	guest_set_register(&vfio_guest, DARE_PAGE_CONTEXT(context), DARE_INSTRUCTION, 8, word);
}

static void contexts_of_different_spaces_replay_identically(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "dare0");
	guest_map_page(&vfio_guest, VIRTUAL, DATA, GUEST_PAGE_PRESENT);
	guest_use_tables(&vfio_guest, 1);
	guest_set_mode(&vfio_guest, 2, MIMIC_PCI_MODE_PHYSICAL);
	for (unsigned int context = 0; context < 2; context++)
		guest_set_register(&vfio_guest, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH, 8,
				   (uint64_t)(context + 1) << 8 | context);
	memset(guest_word(&vfio_guest, DATA), 5, 1024);
	dare_move(0, 0x0400002bu, VIRTUAL);
	dare_move(0, 0x0c00002bu, VIRTUAL + 1024);
	dare_move(1, 0x0400002bu, DATA);
	dare_move(1, 0x0c00002bu, OTHER);
	guest_register(&vfio_guest, DARE_PAGE_CONTEXT(0), DARE_FENCE, 8);
	guest_register(&vfio_guest, DARE_PAGE_CONTEXT(1), DARE_FENCE, 8);
	assert_memory_equal(guest_word(&vfio_guest, OTHER), guest_word(&vfio_guest, DATA + 1024), 1024);
	end_daemon();
	expect_identical(DARE0, &result);
	assert_int_equal(result.bytes_read, 2 * 1024);
	assert_int_equal(result.bytes_written, 2 * 1024);
}

#define ONE 0x3f800000ull	/* 1.0f, by which moves scale */
#define ROW_BYTES 32u		/* of unit 0: 8 elements of fp32 */
#define ROWS ((uint64_t)8 << 48 | (uint64_t)(ROW_BYTES / 4) << 32)

static void virgo_command(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	const unsigned int unit = MIMIC_PCI_DEVICE_PAGE(VIRGO_PAGE_UNITS);

	guest_post(&vfio_guest, 0, unit + VIRGO_RS1, 8, rs1);
	guest_post(&vfio_guest, 0, unit + VIRGO_RS2, 8, rs2);
	guest_post(&vfio_guest, 0, unit + VIRGO_INSTRUCTION, 4, VIRGO_INSTRUCTION_WORD(funct));
}

static void begin_virgo(void)
{
	guest_start(&vfio_guest, &vfio_served, "virgo0");
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	virgo_command(VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | ONE << 32, ROW_BYTES);
	virgo_command(VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ROW_BYTES | ONE << 32);
	virgo_command(VIRGO_FUNCT_MVIN, DATA, ROWS);
	virgo_command(VIRGO_FUNCT_MVOUT, OTHER, ROWS);
}

static void wait_for_virgo(void)
{
	for (unsigned int i = 0; i < 10000 && guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_BUSY, 8); i++)
		usleep(1000);
	assert_int_equal(guest_register(&vfio_guest, VIRGO_PAGE_UNITS, VIRGO_BUSY, 8), 0);
}

static void jobs_of_a_cluster_replay_identically(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	begin_virgo();
	wait_for_virgo();
	end_daemon();
	expect_identical(VIRGO0, &result);
	assert_true(result.jobs > 0);
	assert_int_equal(result.bytes_written, 8 * ROW_BYTES);
}

/* Jobs that are outstanding, or were not begun, come back to a device that was reset. */
static void a_machine_that_goes_while_its_cluster_works_replays_identically(void **state)
{
	struct mimic_replay_result result;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		begin_virgo();
		guest_end(&vfio_guest);
	}
	begin_virgo();
	wait_for_virgo();
	end_daemon();
	expect_identical(VIRGO0, &result);
}

/* --- management meanwhile --------------------------------------------------------------------------- */

static int inject(int person, enum mimic_injection what)
{
	struct mimic_inject message = { .name = "maple0", .what = what };

	return raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_INJECT, -1, NULL, 0, NULL);
}

/* It is the daemon that misbehaves, in front of the model: the model acts as recorded. */
static void misbehaviour_is_no_difference(void **state)
{
	int person = raw_client(vfio_served.socket);
	struct mimic_replay_result result;

	(void)state;
	start_maple();
	assert_int_equal(inject(person, MIMIC_INJECT_HANG), 0);
	assert_int_equal(maple_load(MAPLE_LOAD_INIT, 2), UINT32_MAX);
	maple_load(MAPLE_LOAD_RESET, 0);
	assert_int_equal(inject(person, MIMIC_INJECT_DELAYED_ANSWER), 0);
	maple_load(MAPLE_LOAD_INIT, 2);
	close(person);
	end_daemon();
	expect_identical(MAPLE0, &result);
}

static unsigned int count_events(const struct mimic_spool_header *header, enum mimic_trace_kind kind)
{
	const struct mimic_trace_event *event = (const struct mimic_trace_event *)header;
	unsigned int found = 0;

	for (size_t i = MIMIC_SPOOL_EVENTS; i < SPOOL_SIZE / sizeof(*event); i++)
		found += i % MIMIC_SPOOL_EVENTS && __atomic_load_n(&event[i].kind, __ATOMIC_ACQUIRE) == kind;
	return found;
}

static void trace(int person, struct mimic_spool_header **header)
{
	struct mimic_message message = { .flags = 0 }, reply;
	int fd = memfd_create("spool", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(mimic_spool_create(fd, SPOOL_SIZE), 0);
	assert_int_equal(fallocate(fd, 0, 0, SPOOL_SIZE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	*header = mmap(NULL, SPOOL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(*header, MAP_FAILED);
	assert_int_equal(raw_request(person, &message, sizeof(message), MIMIC_MESSAGE_TRACE_BUS, fd, &reply,
				     sizeof(reply), NULL), 0);
	close(fd);
}

/* Twice: the second trace is another piece of memory, and the first is gone. */
static void a_recorded_device_can_be_traced(void **state)
{
	struct mimic_replay_result result;
	struct mimic_spool_header *header;

	(void)state;
	start_maple();
	guest_set_mode(&vfio_guest, 1, MIMIC_PCI_MODE_PHYSICAL);
	for (unsigned int i = 0; i < 2; i++) {
		int person = raw_client(vfio_served.socket);

		trace(person, &header);
		fetch(DATA);
		maple_load(MAPLE_LOAD_CONSUME, 0);
		assert_int_equal(count_events(header, MIMIC_TRACE_fetch), 1);
		close(person);
		for (unsigned int wait = 0; wait < 5000 && atomic_load(&header->device[0].is_open); wait++)
			test_sleep_ms(1);
		fetch(DATA);
		maple_load(MAPLE_LOAD_CONSUME, 0);
		assert_int_equal(count_events(header, MIMIC_TRACE_fetch), 1);
		munmap(header, SPOOL_SIZE);
	}
	end_daemon();
	expect_identical(MAPLE0, &result);
}

/* --- the file ------------------------------------------------------------------------------------------ */

static void nobody_else_may_read_it(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void it_goes_on_when_it_is_moved(void **state)
{
	struct mimic_replay_result result;
	char away[sizeof(path) + 8];

	(void)state;
	snprintf(away, sizeof(away), "%s.away", path);
	assert_int_equal(rename(path, away), 0);
	start_maple();
	fetch_page_that_is_missing();
	end_daemon();
	assert_int_equal(rename(away, path), 0);
	expect_identical(MAPLE0, &result);
	assert_int_equal(result.bytes_read, 4);
}

/* A block is written with the call that comes when it is a tenth of a second old. */
static void make_it_write(void)
{
	test_sleep_ms(150);
	maple_load(MAPLE_LOAD_FAULT_COUNT, 0);
}

static void a_disk_that_is_full_ends_it_and_not_the_device(void **state)
{
	struct mimic_replay_result result;
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	struct stat status;

	(void)state;
	start_maple();
	/* More than the log has, which the limit is for, too. */
	for (unsigned int i = 0; i < 1000; i++)
		maple_load(MAPLE_LOAD_FAULT_COUNT, 0);
	make_it_write();
	assert_int_equal(stat(path, &status), 0);
	limit.rlim_cur = (rlim_t)status.st_size;
	assert_int_equal(prlimit(vfio_served.pid, RLIMIT_FSIZE, &limit, NULL), 0);
	maple_load(MAPLE_LOAD_FAULT_COUNT, 0);
	make_it_write();
	assert_true(served_said(&vfio_served, "the recording could not be written"));
	fetch_page_that_is_missing();
	end_daemon();
	assert_true(mimic_replay_is_cut(path));
	replay(MAPLE0, NULL, &result);
	assert_false(result.difference.exists);
	assert_int_equal(result.end, MIMIC_REPLAY_CUT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(page_faults_and_their_resolution_replay_identically),
		TEST(accesses_that_wait_replay_identically),
		TEST(commands_of_programs_by_lanes_replay_identically),
		TEST(the_next_machine_is_in_the_same_stream),
		TEST(another_parameter_is_a_difference),
		TEST(contexts_of_different_spaces_replay_identically),
		TEST(jobs_of_a_cluster_replay_identically),
		TEST(a_machine_that_goes_while_its_cluster_works_replays_identically),
		TEST(misbehaviour_is_no_difference),
		TEST(a_recorded_device_can_be_traced),
		TEST(nobody_else_may_read_it),
		TEST(it_goes_on_when_it_is_moved),
		TEST(a_disk_that_is_full_ends_it_and_not_the_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
