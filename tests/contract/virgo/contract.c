/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo for the contract's harness, and the functions that its cases call. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "devices/virgo/virgo_model.h"
#include "tests/contract/virgo/internal.h"

#define PENDING_MAX 3072
#define TRIAL_FOR 4000000ull		/* ns */
#define TRIALS_MORE 4u
#define OCCUPIED_FOR 80000000ull

/* --- for the harness ----------------------------------------------------------- */

static const struct {
	enum type type;
	unsigned int dim;
} kinds[UNITS] = { { FP32, 8 }, { FP32, 4 }, { INT8, 16 }, { FP16, 16 } };

static const unsigned int sizes[] = { [INT8] = 1, [FP16] = 2, [FP32] = 4 };

/* The profiles differ in the size of the shared memory. */
static int node_profiles(int node)
{
	volatile uint64_t *page = mmap(NULL, MIMIC_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, node, 0);
	uint64_t size;

	if (page == MAP_FAILED)
		return -errno;
	size = page[SHARED_SIZE / 8];
	munmap((void *)page, MIMIC_PAGE_SIZE);
	return size == 256u << 10 ? BY_REGISTERS : BY_STREAM;
}

static uint8_t model_shared[256 << 10] __attribute__((aligned(4096)));

static void *model_memory(void)
{
	return model_shared;
}

void virgo_contract_config(struct virgo_config *config)
{
	virgo_config_default(config);
	config->units = UNITS;
	config->cores = CORES;
	config->shared_kb = SHARED_BYTES >> 10;
	config->queue_entries = QUEUE_ENTRIES;
	config->overflow_is_error = profile_is(BY_REGISTERS);
	config->cisc_generation = profile_is(BY_REGISTERS);
	for (unsigned int i = 0; i < UNITS; i++)
		config->unit[i] = (struct virgo_unit_config){
			.type = (unsigned int)kinds[i].type, .dim = kinds[i].dim,
			.accumulator_kb = ACCUMULATOR_BYTES >> 10,
		};
}

static struct mimic_model *create_model(const char *configuration, const struct mimic_host *host)
{
	struct virgo_config config;

	(void)configuration;
	virgo_contract_config(&config);
	config.inline_jobs = 1;
	return virgo_model_create(&config, host, model_shared);
}

static const struct contract_exception exceptions[] = {
	/* The recording is the same with both kinds of dispatch. */
	{ .program = "recorded", .slow_profile = BY_STREAM },
	/* An access to the node takes long. */
	{ .program = "kernel_library", .slow_profile = BY_STREAM },
	/* The cases that run by stream only are convolutions in parts, of thousands of stores each. */
	{ .program = "kernel_trap", .slow_profile = BY_REGISTERS, .slow_profile_only = true },
	{ .program = "pci_trap", .slow_profile = BY_REGISTERS, .slow_profile_only = true },
	{ 0 }
};

const struct contract_device contract_device = {
	.name = "virgo0",
	.title = "Virgo",
	.ways = virgo_ways,
	.exceptions = exceptions,
	.pages = PAGES,
	.handles = 1,
	.profiles = {
		{
			"stream", NULL,
			"[virgo]\nprofile = mixed\ncores = 3\n",
		}, {
			"registers", NULL,
			"[virgo]\nprofile = mixed\ncores = 3\nshared_kb = 256\nqueue_entries = 8\n"
			"overflow_is_error = 1\ncisc_generation = 1\n",
		},
	},
	.node_profiles = node_profiles,
	.create_model = create_model,
	.destroy_model = virgo_model_destroy,
	.model_memory = model_memory,
	.model_memory_size = sizeof(model_shared),
	.memory_offset = SHARED_MEMORY,
	.works_by_ticks = true,
	.may_post_stores = true,
	.sanitized_profile = BY_STREAM,
};

/* --- the unit ---------------------------------------------------------------------- */

struct unit_now unit;

static enum bus_thread speaker = A;
/* Stores to STREAM that were not made yet; or commands since the last fence. */
static uint64_t pending[PENDING_MAX];
static size_t pending_count;
static unsigned int unfenced;

unsigned int unit_at(unsigned int offset)
{
	return 0x100 * unit.number + offset;
}

void flush_commands(void)
{
	if (!pending_count)
		return;
	post_to_page(speaker, PAGE_UNITS, unit_at(STREAM), pending, pending_count);
	finish_post(speaker, pending_count);
	pending_count = 0;
}

void as_thread(enum bus_thread who)
{
	if (who != speaker)
		flush_commands();
	speaker = who;
}

uint64_t unit_get(unsigned int offset)
{
	flush_commands();
	return load(speaker, PAGE_UNITS, unit_at(offset), 8);
}

void unit_put(unsigned int offset, uint64_t value)
{
	flush_commands();
	store(speaker, PAGE_UNITS, unit_at(offset), 8, value);
}

uint64_t cluster_get(unsigned int offset)
{
	flush_commands();
	return load(speaker, PAGE_CLUSTER, offset, 8);
}

void cluster_put(unsigned int offset, uint64_t value)
{
	flush_commands();
	store(speaker, PAGE_CLUSTER, offset, 8, value);
}

void turn_to_unit(unsigned int number)
{
	flush_commands();
	unfenced = QUEUE_ENTRIES;
	unit.number = number;
	unit.type = kinds[number].type;
	unit.dim = kinds[number].dim;
	unit.size = sizes[unit.type];
	unit.rows = SHARED_BYTES / (unit.dim * unit.size);
	unit.accumulator_rows = ACCUMULATOR_BYTES / (unit.dim * 4);
}

void use_unit(unsigned int number)
{
	turn_to_unit(number);
	unit_put(RESET, 0);
	wait_for_unit();
	check_begin();
}

bool next_unit(unsigned int *number, unsigned int choice)
{
	bool is_slow = is_left_out(1);

	/* One of the two fp32 units, so every type all the same. */
	if (is_slow && *number < 2 && *number != choice % 2)
		++*number;
	if (*number >= UNITS)
		return false;
	use_unit(*number);
	return true;
}

void use_type(enum type type)
{
	use_unit(type == INT8 ? 2 : type == FP16 ? 3 : 0);
}

uint64_t wait_for_unit(void)
{
	unfenced = 0;
	return unit_get(FENCE);
}

/* A full queue is an error there, so there is a fence whenever it could be full. */
static void by_registers(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	if (++unfenced > QUEUE_ENTRIES) {
		wait_for_unit();
		unfenced = 1;
	}
	unit_put(RS1, rs1);
	unit_put(RS2, rs2);
	store(speaker, PAGE_UNITS, unit_at(INSTRUCTION), 4, WORD(funct));
}

void rocc_unseen(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	if (profile_is(BY_REGISTERS)) {
		by_registers(funct, rs1, rs2);
		return;
	}
	if (pending_count + 3 > PENDING_MAX)
		flush_commands();
	pending[pending_count++] = rs1;
	pending[pending_count++] = rs2;
	pending[pending_count++] = WORD(funct);
}

void rocc(unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	check_command(funct, rs1, rs2);
	rocc_unseen(funct, rs1, rs2);
}

void virgo_expect_complete(const char *file, int line)
{
	uint64_t status = wait_for_unit();

	if (status & HAS_ERROR)
		contract_fail(file, line, "unit %u: error %llu: instruction %#llx, number %llu, value %#llx, rs1 %#llx, rs2 %#llx",
			      unit.number, (unsigned long long)unit_get(ERROR),
			      (unsigned long long)unit_get(ERROR_INSTRUCTION),
			      (unsigned long long)unit_get(ERROR_POSITION),
			      (unsigned long long)unit_get(ERROR_ADDRESS),
			      (unsigned long long)unit_get(ERROR_RS1), (unsigned long long)unit_get(ERROR_RS2));
	if (status & (IS_BUSY | WAITS_FOR_PAGE) || QUEUE_LEVEL(status))
		contract_fail(file, line, "a fence answers %#llx: something is not complete",
			      (unsigned long long)status);
}

uint64_t unit_count(enum count counter)
{
	unit_put(COUNTER_SELECT, counter);
	return unit_get(COUNTER_VALUE);
}

uint64_t cluster_count(enum count counter)
{
	return cluster_get(COUNTERS + 8 * (unsigned int)counter);
}

/* --- a unit that is busy -------------------------------------------------------------- */

/* Elements of very long rows, each scaled, all to the same block: much to do for one command. */
static void move_long_rows(unsigned int rows)
{
	mvin(input_at(0), 0, rows, 0xffff);
}

static uint64_t time_of(unsigned int rows)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	move_long_rows(rows);
	COMPLETE();
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (uint64_t)(end.tv_sec - start.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
	       (uint64_t)start.tv_nsec;
}

static uint64_t least_time_of(unsigned int rows, unsigned int trials)
{
	uint64_t time, least = UINT64_MAX;

	while (trials--) {
		time = time_of(rows);
		if (time < least)
			least = time;
	}
	return least;
}

/*
 * The rows found for each unit, in memory that all cases of the program share: each case is a process
 * of its own, and finding the rows takes ten times as long as one more trial of them.
 * The least time of all trials was disturbed least. `least` is 0 until there was one.
 */
static struct trial {
	unsigned int rows;
	uint64_t least;			/* ns */
} *trials;

__attribute__((constructor)) static void share_trials(void)
{
	void *shared = mmap(NULL, UNITS * sizeof(*trials), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	trials = shared == MAP_FAILED ? NULL : shared;
}

/*
 * Rows that take TRIAL_FOR or longer, and how long. On a loaded machine a trial of half a
 * millisecond may take as long as TRIAL_FOR.
 */
static struct trial find_rows(void)
{
	struct trial trial = { .rows = 1 };
	uint64_t again;

	for (; trial.rows < unit.rows / 2; trial.rows *= 2) {
		trial.least = least_time_of(trial.rows, 2);
		if (trial.least < TRIAL_FOR)
			continue;
		again = least_time_of(trial.rows, TRIALS_MORE);
		trial.least = again < trial.least ? again : trial.least;
		if (trial.least >= TRIAL_FOR)
			break;
	}
	return trial;
}

static struct trial try_rows(void)
{
	struct trial now, *before = trials ? &trials[unit.number] : NULL;

	if (!before || !before->least) {
		now = find_rows();
	} else {
		now.rows = before->rows;
		now.least = least_time_of(now.rows, 1);
		if (before->least < now.least)
			now.least = before->least;
	}
	if (before)
		*before = now;
	return now;
}

/* At most four commands: there is room in the shortest queue for as many more. */
void occupy_unit(void)
{
	/* Where an access is slow, filling the queue takes as much longer. */
	uint64_t occupied_for = contract_busy_for(accesses_are_slow() ? 2 * OCCUPIED_FOR : OCCUPIED_FOR);
	struct trial trial;
	uint64_t needed;
	unsigned int rows = 1;

	config_ld_blocks(0, 0, 0.5f, 0, 1);
	COMPLETE();
	if (!device_is_stepped()) {
		trial = try_rows();
		needed = occupied_for / 3 * trial.rows / trial.least + 1;
		rows = needed < unit.rows ? (unsigned int)needed : unit.rows;
	}
	for (unsigned int i = 0; i < 3; i++)
		move_long_rows(rows);
}

/* --- expectations ----------------------------------------------------------------------- */

void virgo_expect_error(const char *file, int line, unsigned int error, uint32_t word, uint64_t position,
			uint64_t value, uint64_t rs1, uint64_t rs2)
{
	uint64_t status = wait_for_unit();

	contract_expect(file, line, "FENCE's error bit", status & HAS_ERROR, HAS_ERROR);
	contract_expect(file, line, "FENCE's busy bit", status & IS_BUSY, 0);
	contract_expect(file, line, "STATUS's error bit", unit_get(STATUS) & HAS_ERROR, HAS_ERROR);
	contract_expect(file, line, "BUSY", unit_get(BUSY), 0);
	contract_expect(file, line, "ERROR", unit_get(ERROR), error);
	contract_expect(file, line, "ERROR_INSTRUCTION", unit_get(ERROR_INSTRUCTION), word);
	contract_expect(file, line, "ERROR_POSITION", unit_get(ERROR_POSITION), position);
	contract_expect(file, line, "ERROR_ADDRESS", unit_get(ERROR_ADDRESS), value);
	contract_expect(file, line, "ERROR_RS1", unit_get(ERROR_RS1), rs1);
	contract_expect(file, line, "ERROR_RS2", unit_get(ERROR_RS2), rs2);
	unit_put(ERROR, 0);
	contract_expect(file, line, "ERROR after a store to it", unit_get(ERROR), NO_ERROR);
	contract_expect(file, line, "STATUS after a store to ERROR", unit_get(STATUS) & HAS_ERROR, 0);
}

void virgo_expect_bad(const char *file, int line, unsigned int error, uint64_t value, unsigned int funct,
		      uint64_t rs1, uint64_t rs2)
{
	uint64_t position;

	virgo_expect_complete(file, line);
	position = unit_get(DISPATCHED);
	rocc_unseen(funct, rs1, rs2);
	virgo_expect_error(file, line, error, WORD(funct), position, value, rs1, rs2);
}

void virgo_expect_bytes(const char *file, int line, const char *what, const void *actual,
			const void *expected, size_t size)
{
	const uint8_t *got = actual, *want = expected;

	for (size_t i = 0; i < size; i++)
		if (got[i] != want[i])
			contract_fail(file, line, "unit %u: %s: byte %zu is %#x, the contract says %#x",
				      unit.number, what, i, got[i], want[i]);
}
