/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * SAVE and RESTORE of a daemon: random states of each kind and profile. The restored device shows the same, and a
 * program that goes on from it gets the answers of one that goes on from the original.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/memory.h"
#include "tests/contract/maple/numbers.h"
#include "tests/lib/dare_context.h"
#include "tests/lib/saved_states.h"
#include "tests/lib/virgo_client.h"

#define ROUNDS 12u
#define STEPS 200u
#define WORDS 1024u

static struct served served;
static uint64_t random_state;

static unsigned int any(unsigned int below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 20) % below;
}

/*
 * Two units of a cluster write to the same rows of its shared memory here. That is the program's matter on the device,
 * too, and a race of mimicd's threads to ThreadSanitizer.
 */
static void skip_where_races_are_reported(void)
{
#ifdef __SANITIZE_THREAD__
	skip();
#endif
}

static void start(const char *maple_profile, const char *virgo_profile)
{
	alarm(300);
	random_state = 0x9e3779b97f4a7c15;
	memset(&served, 0, sizeof(served));
	served.dares = served.virgos = 2;
	served.maple_profile = maple_profile;
	served.virgo_profile = virgo_profile;
	assert_true(served_start(&served, 2, false));
}

static void end(void)
{
	assert_int_equal(served_end(&served, SIGTERM), 0);
	served_clean(&served);
}

static struct mimic_device *open_named(const char *name)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket };
	struct mimic_device *device;

	assert_int_equal(mimic_device_open(&device, name, &options), 0);
	return device;
}

static void copy_state(const char *from, const char *to)
{
	struct saved_state saved;

	saved_take(&served, from, &saved);
	if (saved_restore(&served, to, &saved))
		fail_msg("%s", mimic_error_text());
	saved_expect_same(&served, to, &saved);
	saved_free(&saved);
}

/* --- MAPLE ------------------------------------------------------------------------------- */

#define QUEUES 4u
#define CAPACITY 16u

/* Words that come out of each queue, those of loops that still wait, too. */
static unsigned int levels[QUEUES];

static uint64_t access_maple(struct mimic_device *device, bool is_write, unsigned int operation, unsigned int field,
			     unsigned int size, uint64_t data)
{
	struct mimic_access access = {
		.offset = AT(operation, field), .size = (uint8_t)size, .is_write = is_write, .data = data,
	};

	assert_int_equal(mimic_device_access(device, &access), 0);
	return access.data;
}

static void take_roles(struct mimic_device *device)
{
	for (unsigned int q = 0; q < QUEUES; q++) {
		assert_true(access_maple(device, false, OPEN_PRODUCER, q, 4, 0) & 2);
		assert_true(access_maple(device, false, OPEN_CONSUMER, q, 4, 0) & 1);
	}
}

static void begin_maple(struct mimic_device *device, const uint32_t *words)
{
	access_maple(device, false, RESET, 0, 4, 0);
	assert_int_equal(access_maple(device, false, INIT, WORDS_16, 4, 0), 2);
	memset(levels, 0, sizeof(levels));
	take_roles(device);
	for (unsigned int q = 0; q < QUEUES; q++)
		access_maple(device, true, SET_BASE32, q, 8, (uintptr_t)words);
	access_maple(device, true, LIMA_PRODUCE, 0, 8, (uintptr_t)words);
}

/* Something that does not wait, the same on each device. */
static struct mimic_access next_access(void)
{
	unsigned int q = any(QUEUES), n = any(WORDS / 2), sum = 0;
	struct mimic_access access = { .size = 4, .is_write = 1 };

	for (unsigned int i = 0; i < QUEUES; i++)
		sum += levels[i] > CAPACITY;
	switch (any(6)) {
	case 0:
		if (sum)
			break;
		/* More than there is room for: the rest of the loop waits. */
		levels[q] += CAPACITY + 4;
		access.offset = AT(LOOP, q);
		access.size = 8;
		access.data = (uint64_t)n << 32 | (n + CAPACITY + 4);
		return access;
	case 1:
	case 2:
		if (levels[q] >= CAPACITY)
			break;
		levels[q]++;
		access.offset = AT(n % 2 ? PRODUCE : POINTER32, q);
		access.data = n;
		return access;
	default:
		break;
	}
	access.is_write = 0;
	access.offset = levels[q] ? AT(CONSUME, q) : AT(OPEN_PRODUCER, q);
	levels[q] -= levels[q] != 0;
	return access;
}

static void step_maple(struct mimic_device *one, struct mimic_device *other)
{
	struct mimic_access access = next_access(), same = access;

	assert_int_equal(mimic_device_access(one, &access), 0);
	if (!other)
		return;
	assert_int_equal(mimic_device_access(other, &same), 0);
	assert_int_equal(access.data, same.data);
}

static void check_maple(const char *profile)
{
	size_t size = WORDS * sizeof(uint32_t);
	uint32_t *words = mimic_memory_map_low(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	unsigned int waiting = 0;

	start(profile, NULL);
	assert_non_null(words);
	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = i * 2654435761u;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct mimic_device *first = open_named("maple0"), *second;
		unsigned int steps = any(STEPS);

		begin_maple(first, words);
		for (unsigned int i = 0; i < steps; i++)
			step_maple(first, NULL);
		for (unsigned int q = 0; q < QUEUES; q++)
			waiting += levels[q] > CAPACITY;
		copy_state("maple0", "maple1");
		second = open_named("maple1");
		take_roles(second);
		for (unsigned int i = 0; i < STEPS; i++)
			step_maple(first, second);
		mimic_device_close(second);
		mimic_device_close(first);
	}
	assert_true(waiting > 0);
	end();
	munmap(words, mimic_memory_round(size));
}

static void a_maple_of_the_paper_goes_on(void **state)
{
	(void)state;
	check_maple("paper");
}

static void a_maple_of_the_artifact_goes_on(void **state)
{
	(void)state;
	check_maple("artifact");
}

/* --- DARE -------------------------------------------------------------------------------- */

#define REGISTERS 8u

static struct tile tiles[4];

static void step_dare(struct mimic_device *device, unsigned int choice, unsigned int n)
{
	switch (choice) {
	case 0:
		context_dispatch(device, WORD_MCFG, n % 3, 1 + n % (n % 3 == CSR_K ? 64 : 16));
		return;
	case 1:
		context_dispatch(device, WORD_MLD(n % REGISTERS), address_of(&tiles[n % 4]), sizeof(tiles[0].at[0]));
		return;
	case 2:
		context_dispatch(device, WORD_MMA(n % REGISTERS, n / 8 % REGISTERS, n / 64 % REGISTERS), 0, 0);
		return;
	default:
		/* The next instruction has it, if it says no other. */
		context_store(device, DARE_RS1, n);
	}
}

static void store_registers(struct mimic_device *device, struct tile *to)
{
	for (unsigned int csr = 0; csr < 3; csr++)
		context_dispatch(device, WORD_MCFG, csr, csr == CSR_K ? 64 : 16);
	for (unsigned int i = 0; i < REGISTERS; i++)
		context_dispatch(device, WORD_MST(i), address_of(&to[i]), sizeof(to[i].at[0]));
	context_fence(device);
}

static void contexts_of_dare_go_on_in_their_order(void **state)
{
	static struct tile results[2][2][REGISTERS];

	(void)state;
	start(NULL, NULL);
	for (unsigned int i = 0; i < 4; i++)
		tile_fill(&tiles[i], i);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct mimic_device *device[2][2];

		memset(results, 0, sizeof(results));
		for (unsigned int i = 0; i < 2; i++)
			device[0][i] = open_named("dare0");
		for (unsigned int i = any(STEPS); i; i--)
			step_dare(device[0][any(2)], any(4), any(512));
		copy_state("dare0", "dare1");
		for (unsigned int i = 0; i < 2; i++)
			device[1][i] = open_named("dare1");
		for (unsigned int i = 0; i < STEPS / 4; i++) {
			unsigned int context = any(2), choice = any(4), n = any(512);

			step_dare(device[0][context], choice, n);
			step_dare(device[1][context], choice, n);
		}
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(context_load(device[1][i], DARE_RS1), context_load(device[0][i], DARE_RS1));
		for (unsigned int i = 0; i < 4; i++)
			store_registers(device[i / 2][i % 2], results[i / 2][i % 2]);
		assert_memory_equal(results[0], results[1], sizeof(results[0]));
		for (unsigned int i = 0; i < 4; i++)
			mimic_device_close(device[i / 2][i % 2]);
	}
	end();
}

/* --- Virgo ------------------------------------------------------------------------------- */

#define ROWS 16u
#define PITCH 256u
#define CONFIG_LD (0x3f800000ull << 32 | 16u << 16 | 1u << 8 | VIRGO_CONFIG_LD)

static unsigned char source[ROWS * PITCH], moved[2][ROWS * PITCH];

/* Rows from memory to the shared memory, or back to `to`. */
static void step_virgo(struct mimic_device *device, unsigned int unit, unsigned int n, void *to)
{
	uint64_t shape = (uint64_t)(1 + n % ROWS) << 48 | 4ull << 32, local = n % 64;

	switch (n % 5) {
	case 0:
		virgo_client_command(device, unit, VIRGO_FUNCT_CONFIG, CONFIG_LD, PITCH);
		return;
	case 1:
		virgo_client_command(device, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0x3f800000ull << 32 | PITCH);
		return;
	case 2:
		virgo_client_command(device, unit, VIRGO_FUNCT_MVOUT, (uintptr_t)to, shape | local);
		return;
	case 3:
		virgo_client_command(device, unit, VIRGO_FUNCT_PRELOAD, shape | local, shape | VIRGO_LOCAL_ACCUMULATOR);
		return;
	default:
		virgo_client_command(device, unit, VIRGO_FUNCT_MVIN, (uintptr_t)&source[n % 32], shape | local |
				     (n % 3 ? 0 : VIRGO_LOCAL_ACCUMULATOR));
	}
}

static void check_cluster(unsigned int units)
{
	struct mimic_device *first = virgo_client_open(&served, "virgo0"), *second;
	void *memory[2];
	size_t size;

	memset(moved, 0, sizeof(moved));
	assert_int_equal(mimic_device_memory(first, &memory[0], &size), 0);
	for (unsigned int i = any(STEPS); i; i--) {
		((unsigned char *)memory[0])[any((unsigned int)size)] = (unsigned char)i;
		step_virgo(first, any(units), any(1000), moved[0]);
	}
	for (unsigned int unit = 0; unit < units; unit++)
		virgo_client_fence(first, unit);
	copy_state("virgo0", "virgo1");
	memcpy(moved[1], moved[0], sizeof(moved[0]));
	second = virgo_client_open(&served, "virgo1");
	assert_int_equal(mimic_device_memory(second, &memory[1], &size), 0);
	assert_memory_equal(memory[0], memory[1], size);
	for (unsigned int i = 0; i < STEPS / 4; i++) {
		unsigned int unit = any(units), n = any(1000);

		step_virgo(first, unit, n, moved[0]);
		step_virgo(second, unit, n, moved[1]);
		/* In one order, as units share the memory. */
		assert_int_equal(virgo_client_fence(first, unit), virgo_client_fence(second, unit));
	}
	assert_memory_equal(memory[0], memory[1], size);
	assert_memory_equal(moved[0], moved[1], sizeof(moved[0]));
	mimic_device_close(first);
	mimic_device_close(second);
}

static void clusters_of_each_profile_go_on(void **state)
{
	static const struct {
		const char *name;
		unsigned int units;
	} profiles[] = { { "mixed", 4 }, { "paper", 1 }, { "heterogeneous", 2 }, { "gemmini", 1 }, { "later", 1 } };

	(void)state;
	skip_where_races_are_reported();
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (unsigned char)(i * 7 + i / 256);
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		start(NULL, profiles[i].name);
		for (unsigned int round = 0; round < ROUNDS / 3; round++)
			check_cluster(profiles[i].units);
		end();
	}
}

/* --- Virgo at work ------------------------------------------------------------------------- */

static struct working {
	struct mimic_device *device;
	unsigned int unit;
	struct virgo_client_product product;
} working[2];

static void *post_products(void *argument)
{
	struct working *one = argument;

	virgo_client_post(one->device, one->unit, &one->product);
	return NULL;
}

static bool has_commands(const char *name, unsigned int unit)
{
	char path[32];

	snprintf(path, sizeof(path), "units/%u/queue/level", unit);
	return saved_number(&served, name, path) > 0;
}

/* Saved while two of its units work; the rest is done by the other cluster, in the memory of the program that opens it. */
static void commands_that_wait_in_a_cluster_are_saved(void **state)
{
	static const unsigned int units[] = { UNIT_FP32, UNIT_FP32_SMALL };
	struct mimic_device *first, *second;
	struct saved_state saved;
	pthread_t threads[2];

	(void)state;
	skip_where_races_are_reported();
	start(NULL, NULL);
	first = virgo_client_open(&served, "virgo0");
	for (unsigned int i = 0; i < 2; i++) {
		working[i] = (struct working){ .device = first, .unit = units[i] };
		virgo_client_alloc(first, &working[i].product, 128, false);
		virgo_client_fill(&working[i].product, 3);
		working[i].product.times = 40;
		assert_int_equal(pthread_create(&threads[i], NULL, post_products, &working[i]), 0);
	}
	while (!has_commands("virgo0", 0) || !has_commands("virgo0", 1))
		test_sleep_ms(1);
	saved_take(&served, "virgo0", &saved);
	assert_int_equal(saved_restore(&served, "virgo1", &saved), 0);
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_true(has_commands("virgo1", i));
	}
	/* The rest of its commands is dropped. */
	mimic_device_close(first);
	for (unsigned int i = 0; i < 2; i++)
		virgo_client_fill(&working[i].product, 3);
	second = virgo_client_open(&served, "virgo1");
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(virgo_client_fence(second, units[i]), VIRGO_ERROR_NONE);
		/* Of the 16 tiles of C those whose commands were in the queue. */
		assert_true(virgo_client_wrong(&working[i].product) < 128 * 128);
	}
	mimic_device_close(second);
	saved_free(&saved);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_maple_of_the_paper_goes_on),
		cmocka_unit_test(a_maple_of_the_artifact_goes_on),
		cmocka_unit_test(contexts_of_dare_go_on_in_their_order),
		cmocka_unit_test(clusters_of_each_profile_go_on),
		cmocka_unit_test(commands_that_wait_in_a_cluster_are_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
