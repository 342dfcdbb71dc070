/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo in virtual time: the answers to a program's accesses of the cluster's pages, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "devices/virgo/time/virgo_time.h"
#include "sim/parameters.h"

#define OWNERS 8
#define BARRIER 5	/* cycles; no default, so that a slip shows */
#define ONE 0x3f800000ull

struct fixture {
	struct sim_parameters soc;
	struct mimic_time_host host;
	struct virgo_time *device;
	uint64_t end[OWNERS], data[OWNERS];	/* of accesses that waited; 0: they still do */
	unsigned int reports;
	char report[256];	/* the last one */
};

static uint8_t shared[64 << 10] __attribute__((aligned(4096)));

static uint64_t parameter(void *context, const char *section, const char *key)
{
	return sim_parameters_get(&((struct fixture *)context)->soc, section, key);
}

static void complete(void *context, uint64_t owner, uint64_t data, uint64_t time)
{
	struct fixture *f = context;

	assert_int_equal(f->end[owner], 0);
	f->end[owner] = time;
	f->data[owner] = data;
}

static void report(void *context, const char *text)
{
	struct fixture *f = context;

	f->reports++;
	snprintf(f->report, sizeof(f->report), "%s", text);
}

/* Addresses below 1 MB are not there; elsewhere there are zeros. */
static long rows_there(const uint64_t *addresses, size_t count)
{
	size_t row = 0;

	while (row < count && addresses[row] >= 1 << 20)
		row++;
	return (long)row;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	long there = rows_there(addresses, count);

	(void)context;
	memset(rows, 0, (size_t)there * (size <= 64 ? 64 : size));
	return there;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context;
	(void)size;
	(void)rows;
	return rows_there(addresses, count);
}

static void set_parameter(struct fixture *f, const char *set)
{
	char why[128];

	if (set)
		assert_int_equal(sim_parameters_set(&f->soc, set, why, sizeof(why)), 0);
}

static void begin_two(struct fixture *f, const char *set, const char *other)
{
	struct virgo_time_parameters parameters;
	char why[128];

	memset(f, 0, sizeof(*f));
	assert_int_equal(sim_parameters_load(&f->soc, "virgo", why, sizeof(why)), 0);
	set_parameter(f, "cluster.barrier=5");
	set_parameter(f, set);
	set_parameter(f, other);
	f->host = (struct mimic_time_host){ .context = f, .parameter = parameter, .read_rows = read_rows,
					    .write_rows = write_rows, .complete = complete, .report = report, .memory = shared };
	virgo_time_parameters(&f->host, &parameters);
	f->device = virgo_timed_create(&parameters, NULL, &f->host);
	assert_non_null(f->device);
}

static void begin(struct fixture *f, const char *set)
{
	begin_two(f, set, NULL);
}

/* When it is answered; UINT64_MAX: it waits. */
static uint64_t access_page(struct fixture *f, struct mimic_access *access, uint64_t now)
{
	uint64_t done;

	if (!access->size)
		access->size = 8;
	return virgo_timed_access(f->device, access, now, &done) ? done : UINT64_MAX;
}

static uint64_t store(struct fixture *f, uint64_t owner, uint16_t offset, uint64_t data, uint64_t now)
{
	struct mimic_access access = {
		.owner = owner, .page = VIRGO_PAGE_UNITS, .offset = offset, .data = data, .is_write = 1,
	};

	return access_page(f, &access, now);
}

static uint64_t load(struct fixture *f, uint16_t offset, uint64_t now)
{
	struct mimic_access access = { .owner = 1, .page = VIRGO_PAGE_UNITS, .offset = offset };

	assert_int_equal(access_page(f, &access, now), now);
	return access.data;
}

/* All of it arrives in one cycle. When the store of the word is acknowledged. */
static uint64_t command(struct fixture *f, enum virgo_funct funct, uint64_t rs1, uint64_t rs2, uint64_t now)
{
	store(f, 1, VIRGO_STREAM, rs1, now);
	store(f, 1, VIRGO_STREAM, rs2, now);
	return store(f, 1, VIRGO_STREAM, VIRGO_INSTRUCTION_WORD(funct), now);
}

static uint64_t load_eight_rows(struct fixture *f, uint64_t address, uint64_t now)
{
	return command(f, VIRGO_FUNCT_MVIN, address, 8ull << 48 | 8ull << 32, now);
}

static uint64_t barrier(struct fixture *f, uint64_t owner, uint64_t now)
{
	struct mimic_access access = { .owner = owner, .page = VIRGO_PAGE_CONTROL, .offset = VIRGO_BARRIER_WAIT(3) };

	return access_page(f, &access, now);
}

static struct virgo_time_statistics multiply(uint64_t m, uint64_t n, uint64_t k)
{
	const uint64_t shape[VIRGO_KERNEL_SHAPE] = { [VIRGO_KERNEL_M] = m, [VIRGO_KERNEL_N] = n, [VIRGO_KERNEL_K] = k };
	struct virgo_time_statistics statistics;
	struct fixture f;

	begin(&f, NULL);
	assert_int_equal(virgo_timed_begin_kernel(f.device, 1, 0, shape, VIRGO_KERNEL_SHAPE, 0), 0);
	virgo_timed_statistics(f.device, 10000000, &statistics);
	assert_int_equal(f.end[1], statistics.kernel_cycles);
	assert_int_equal(statistics.kernels, 1);
	virgo_timed_destroy(f.device);
	return statistics;
}

/* A product of 100 x 90 x 70 takes the time of 128 x 128 x 128, for 630000 multiplications. */
static void a_kernel_has_the_multiplications_of_its_product_and_takes_the_time_of_tiles(void **state)
{
	struct virgo_time_statistics product, whole, one;

	(void)state;
	product = multiply(100, 90, 70);
	whole = multiply(128, 128, 128);
	one = multiply(1, 1, 1);
	assert_int_equal(product.kernel_macs, 630000);
	assert_int_equal(whole.kernel_macs, 2097152);
	assert_int_equal(one.kernel_macs, 1);
	assert_int_equal(product.kernel_cycles, whole.kernel_cycles);
	assert_int_equal(product.matrix_macs, 2097152);
	assert_int_equal(one.matrix_macs, 64 * 64 * 64);
}

static void all_threads_of_a_barrier_leave_it_together(void **state)
{
	struct mimic_access three = {
		.page = VIRGO_PAGE_CONTROL, .offset = VIRGO_BARRIER_PARTICIPANTS(3), .data = 3, .is_write = 1,
	};
	struct fixture f;

	(void)state;
	begin(&f, NULL);
	access_page(&f, &three, 0);
	assert_int_equal(barrier(&f, 1, 10), UINT64_MAX);
	assert_int_equal(barrier(&f, 2, 30), UINT64_MAX);
	assert_int_equal(barrier(&f, 3, 70), 70 + BARRIER);
	assert_int_equal(f.end[1], 70 + BARRIER);
	assert_int_equal(f.end[2], 70 + BARRIER);
	virgo_timed_destroy(f.device);
}

/* A fence behind one command that begins at 100: when it is answered. */
static uint64_t time_of_a_load(struct fixture *f, bool with_failure)
{
	struct mimic_access fence = { .owner = 2, .page = VIRGO_PAGE_UNITS, .offset = VIRGO_FENCE };

	begin(f, NULL);
	command(f, VIRGO_FUNCT_CONFIG, ONE << 32 | 8 << 16 | VIRGO_CONFIG_LD, 1 << 16, 0);
	if (with_failure) {
		/* Rows from the last one on that is not there. */
		load_eight_rows(f, (1 << 20) - (1 << 16), 50);
		assert_int_equal(load(f, VIRGO_ERROR, 51), VIRGO_ERROR_LOAD);
		store(f, 1, VIRGO_ERROR, 0, 52);
	}
	load_eight_rows(f, 1 << 20, 100);
	assert_int_equal(access_page(f, &fence, 101), UINT64_MAX);
	virgo_timed_advance(f->device, 100000);
	virgo_timed_destroy(f->device);
	return f->end[2];
}

static struct virgo_time_statistics counted_at(struct fixture *f, uint64_t now)
{
	struct virgo_time_statistics statistics;

	virgo_timed_statistics(f->device, now, &statistics);
	return statistics;
}

static void accesses_and_waits_of_threads_are_counted(void **state)
{
	struct mimic_access two = {
		.page = VIRGO_PAGE_CONTROL, .offset = VIRGO_BARRIER_PARTICIPANTS(3), .data = 2, .is_write = 1,
	};
	struct virgo_time_statistics t;
	struct fixture f;

	(void)state;
	begin(&f, NULL);
	access_page(&f, &two, 0);
	/* 30 and BARRIER of the first, BARRIER of the last. */
	assert_int_equal(barrier(&f, 1, 10), UINT64_MAX);
	assert_int_equal(barrier(&f, 2, 40), 40 + BARRIER);
	load(&f, VIRGO_BUSY, 100);
	t = counted_at(&f, 100);
	assert_int_equal(t.thread_mmio, 4);
	assert_int_equal(t.thread_barriers, 2);
	assert_int_equal(t.thread_polls, 1);
	assert_int_equal(t.thread_stall_barrier, 30 + BARRIER + BARRIER);
	assert_int_equal(t.thread_stall_queue, 0);
	assert_int_equal(t.thread_stall_unit, 0);
	assert_int_equal(t.cycles, 100);
	virgo_timed_destroy(f.device);
}

static void waits_for_a_unit_and_for_its_queue_are_told_apart(void **state)
{
	struct virgo_time_statistics t;
	struct mimic_access fence = { .owner = 2, .page = VIRGO_PAGE_UNITS, .offset = VIRGO_FENCE };
	struct fixture f;

	(void)state;
	begin(&f, "matrix.queue=4");
	command(&f, VIRGO_FUNCT_CONFIG, ONE << 32 | 8 << 16 | VIRGO_CONFIG_LD, 32, 0);
	virgo_timed_advance(f.device, 500);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(load_eight_rows(&f, 1 << 20, 500), 500);
	assert_int_equal(load_eight_rows(&f, 1 << 20, 500), UINT64_MAX);
	assert_int_equal(access_page(&f, &fence, 510), UINT64_MAX);
	while (!f.end[2])
		virgo_timed_advance_until(f.device, virgo_timed_next(f.device) + 1);
	t = counted_at(&f, f.end[2]);
	assert_int_equal(t.thread_stall_queue, f.end[1] - 500);
	assert_int_equal(t.thread_stall_unit, f.end[2] - 510);
	assert_true(f.end[1] < f.end[2]);
	virgo_timed_destroy(f.device);
}

static void a_command_that_fails_takes_no_time(void **state)
{
	struct fixture f;
	uint64_t alone;

	(void)state;
	alone = time_of_a_load(&f, false);
	assert_in_range(alone, 101, 1000);
	assert_int_equal(time_of_a_load(&f, true), alone);
}

static void in_the_synchronous_mode_a_store_waits_for_its_command(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "matrix.synchronous=1");
	assert_int_equal(load_eight_rows(&f, 1 << 20, 10), UINT64_MAX);
	virgo_timed_advance(f.device, 1000);
	assert_in_range(f.end[1], 11, 999);
	assert_int_equal(load(&f, VIRGO_BUSY, 1000), 0);
	/* One that fails is answered at once. */
	assert_int_equal(load_eight_rows(&f, 0x1000, 1001), 1001);
	assert_int_equal(load(&f, VIRGO_ERROR, 1002), VIRGO_ERROR_LOAD);
	virgo_timed_destroy(f.device);
}

static void a_reset_drops_stores_that_wait_for_room(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "matrix.queue=4");
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(load_eight_rows(&f, 1 << 20, 10), 10);
	assert_int_equal(load_eight_rows(&f, 1 << 20, 11), UINT64_MAX);
	assert_int_equal(store(&f, 2, VIRGO_RESET, 0, 12), 12);
	assert_int_equal(f.end[1], 12);
	assert_int_equal(load(&f, VIRGO_BUSY, 12), 0);
	assert_int_equal(load(&f, VIRGO_DISPATCHED, 12), 0);
	virgo_timed_destroy(f.device);
}

static void events_come_when_commands_are_over_in_time(void **state)
{
	struct mimic_access events = {
		.owner = 1, .page = VIRGO_PAGE_CONTROL, .offset = VIRGO_CONTROL_EVENT_STATUS,
	};
	struct fixture f;

	(void)state;
	begin(&f, NULL);
	load_eight_rows(&f, 1 << 20, 10);
	access_page(&f, &events, 11);
	assert_int_equal(events.data & VIRGO_EVENT_IDLE(0), 0);
	access_page(&f, &events, 1000);
	assert_int_equal(events.data & VIRGO_EVENT_IDLE(0), VIRGO_EVENT_IDLE(0));
	virgo_timed_destroy(f.device);
}

/* --- elements of other types ------------------------------------------------------------------------ */

static struct virgo_time_statistics counted(struct fixture *f)
{
	struct virgo_time_statistics statistics;

	virgo_timed_statistics(f->device, 100000, &statistics);
	virgo_timed_destroy(f->device);
	return statistics;
}

static uint64_t rows_of_16(uint32_t local)
{
	return 16ull << 48 | 16ull << 32 | local;
}

/* One block of 16 x 16 x 16: A in row 0 of shared memory, B behind it. */
static struct virgo_time_statistics multiply_16(const char *type)
{
	struct fixture f;

	begin_two(&f, "matrix.dim=16", type);
	command(&f, VIRGO_FUNCT_CONFIG, 1ull << 16 | VIRGO_WEIGHT_STATIONARY << 2 | VIRGO_CONFIG_EX, 1ull << 48, 0);
	command(&f, VIRGO_FUNCT_PRELOAD, rows_of_16(16), rows_of_16(VIRGO_LOCAL_ACCUMULATOR), 1);
	command(&f, VIRGO_FUNCT_COMPUTE_PRELOADED, rows_of_16(0), rows_of_16(VIRGO_GARBAGE), 2);
	assert_int_equal(load(&f, VIRGO_ERROR, 3), VIRGO_ERROR_NONE);
	return counted(&f);
}

/* A line of shared memory is 32 bytes. */
static void rows_of_small_elements_are_as_long_as_these(void **state)
{
	struct virgo_time_statistics bytes = multiply_16("matrix.type=0"), halves = multiply_16("matrix.type=1");
	struct virgo_time_statistics words = multiply_16("matrix.type=2");

	(void)state;
	/* 16 and 32 bytes come at once, 64 in two lines. */
	assert_int_equal(bytes.matrix_busy, 16);
	assert_int_equal(halves.matrix_busy, 16);
	assert_int_equal(words.matrix_busy, 32);
	/* A and B: 512 elements. */
	assert_int_equal(bytes.shared_reads, 512 / 4);
	assert_int_equal(halves.shared_reads, 1024 / 4);
	assert_int_equal(words.shared_reads, 512);
	assert_int_equal(bytes.matrix_macs, 16 * 16 * 16);
	assert_int_equal(halves.matrix_macs, 16 * 16 * 16);
	assert_int_equal(words.matrix_macs, 16 * 16 * 16);
}

static void a_row_of_c_is_moved_to_shared_memory_as_elements(void **state)
{
	static const char *const types[] = { "matrix.type=0", "matrix.type=1", "matrix.type=2" };
	struct fixture f;

	(void)state;
	for (unsigned int type = 0; type < 3; type++) {
		begin_two(&f, "matrix.dim=16", types[type]);
		command(&f, VIRGO_FUNCT_MVOUT_SPAD, 1ull << 32, rows_of_16(VIRGO_LOCAL_ACCUMULATOR), 0);
		assert_int_equal(load(&f, VIRGO_ERROR, 1), VIRGO_ERROR_NONE);
		assert_int_equal(counted(&f).shared_writes, (256u << type) / 4);
	}
}

/* --- hardware that is not there ----------------------------------------------------------------------- */

static void a_unit_that_is_not_there_is_named_once(void **state)
{
	struct mimic_access later = { .owner = 1, .page = VIRGO_PAGE_UNITS, .offset = 3 * VIRGO_BLOCK_SIZE + VIRGO_BUSY };
	struct fixture f;

	(void)state;
	begin(&f, NULL);
	store(&f, 1, VIRGO_RS1, 1, 10);
	assert_int_equal(f.reports, 0);
	assert_int_equal(store(&f, 1, 5 * VIRGO_BLOCK_SIZE + VIRGO_RS1, 1, 11), 11);
	assert_int_equal(f.reports, 1);
	assert_string_equal(f.report, "virgo0: store to unit 5 RS1, and there is 1 unit");
	access_page(&f, &later, 12);
	assert_int_equal(f.reports, 1);
	virgo_timed_destroy(f.device);

	begin_two(&f, "matrix.units=2", "matrix.tile_k=32");
	access_page(&f, &later, 10);
	assert_int_equal(later.data, 0);
	assert_string_equal(f.report, "virgo0: load of unit 3 BUSY, and there are 2 units");
	virgo_timed_destroy(f.device);
}

/* A configuration takes no time, and tells nothing; a load does. */
static const char *told_by(struct fixture *f, const char *set, const char *other, unsigned int lines)
{
	begin_two(f, set, other);
	command(f, VIRGO_FUNCT_CONFIG, ONE << 32 | 8 << 16 | VIRGO_CONFIG_LD, 1 << 16, 0);
	assert_int_equal(f->reports, 0);
	load_eight_rows(f, 1 << 20, 1);
	load_eight_rows(f, 1 << 20, 2);
	assert_int_equal(f->reports, lines);
	virgo_timed_destroy(f->device);
	return f->report;
}

static void sizes_that_the_units_of_commands_do_not_have_are_told(void **state)
{
	struct fixture f;

	(void)state;
	told_by(&f, NULL, NULL, 0);
	told_by(&f, "shared.size=131072", "matrix.accumulator=32768", 0);
	assert_string_equal(told_by(&f, "shared.size=524288", NULL, 1),
			    "shared.size is 524288, and the program's own commands have 262144 bytes");
	assert_string_equal(told_by(&f, "matrix.accumulator=1048576", "shared.size=1048576", 1),
			    "shared.size is 1048576, and the program's own commands have 262144 bytes; "
			    "matrix.accumulator is 1048576, and the program's own commands have 262144 bytes");
}

static void parts_that_a_design_does_not_have_are_told(void **state)
{
	struct fixture f;

	(void)state;
	told_by(&f, "cluster.design=3", NULL, 0);
	assert_string_equal(told_by(&f, "cluster.design=0", NULL, 1),
			    "--design tc has no matrix unit; the program's own commands go to that of virgo-dma");
	assert_string_equal(told_by(&f, "cluster.design=4", NULL, 1),
			    "--design hopper has no matrix unit; the program's own commands go to that of virgo-dma");
	assert_string_equal(told_by(&f, "cluster.design=2", NULL, 1),
			    "--design virgo has no DMA; the program's own commands have that of virgo-dma");
}

/* The matrix unit of virgo is its own; its operands lie in the scratchpad already. */
static void the_matrix_unit_of_virgo_without_dma_is_its_own(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "cluster.design=2");
	command(&f, VIRGO_FUNCT_CONFIG, 1ull << 16 | VIRGO_WEIGHT_STATIONARY << 2 | VIRGO_CONFIG_EX, 1ull << 48, 0);
	command(&f, VIRGO_FUNCT_PRELOAD, 8ull << 48 | 8ull << 32 | 8, 8ull << 48 | 8ull << 32 | VIRGO_LOCAL_ACCUMULATOR, 1);
	command(&f, VIRGO_FUNCT_COMPUTE_PRELOADED, 8ull << 48 | 8ull << 32, 8ull << 48 | 8ull << 32 | VIRGO_GARBAGE, 2);
	assert_int_equal(f.reports, 0);
	assert_int_equal(counted(&f).matrix_busy, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_has_the_multiplications_of_its_product_and_takes_the_time_of_tiles),
		cmocka_unit_test(all_threads_of_a_barrier_leave_it_together),
		cmocka_unit_test(accesses_and_waits_of_threads_are_counted),
		cmocka_unit_test(waits_for_a_unit_and_for_its_queue_are_told_apart),
		cmocka_unit_test(a_command_that_fails_takes_no_time),
		cmocka_unit_test(in_the_synchronous_mode_a_store_waits_for_its_command),
		cmocka_unit_test(a_reset_drops_stores_that_wait_for_room),
		cmocka_unit_test(events_come_when_commands_are_over_in_time),
		cmocka_unit_test(rows_of_small_elements_are_as_long_as_these),
		cmocka_unit_test(a_row_of_c_is_moved_to_shared_memory_as_elements),
		cmocka_unit_test(a_unit_that_is_not_there_is_named_once),
		cmocka_unit_test(sizes_that_the_units_of_commands_do_not_have_are_told),
		cmocka_unit_test(parts_that_a_design_does_not_have_are_told),
		cmocka_unit_test(the_matrix_unit_of_virgo_without_dma_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
