/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* libvirgo's handles, commands and tiles, on a model of a cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fake_virgo.h"

static struct fake_virgo fake;
static struct virgo *virgo;
static float *memory;	/* of the arena */

/* Unit 0: fp32, 8 x 8, as in the paper. Unit 1: int8, 16 x 16. */
static int open_cluster(void **state)
{
	struct virgo_config config;

	(void)state;
	virgo_config_default(&config);
	config.units = 2;
	config.unit[1] = (struct virgo_unit_config){ VIRGO_INT8, 16, 32, 0, 0, 0 };
	virgo = fake_virgo_open(&fake, &config);
	memory = (float *)fake.fixture->arena;
	return virgo ? 0 : -1;
}

static int close_cluster(void **state)
{
	(void)state;
	fake_virgo_close(&fake, virgo);
	return 0;
}

static void fill(float *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = (float)(i * 7 % 19) - 9;
}

/* --- handles -------------------------------------------------------------------------------- */

static void a_cluster_is_closed_with_its_handle(void **state)
{
	struct fake_virgo other;
	struct virgo *second = fake_virgo_open(&other, NULL);

	(void)state;
	assert_non_null(second);
	assert_int_equal(other.device.handles, 1);
	fake_virgo_close(&other, second);
	assert_int_equal(other.device.handles, 0);
	virgo_close(NULL);
}

static void a_device_that_is_no_virgo_is_refused(void **state)
{
	struct fake_virgo other;
	struct virgo *second = fake_virgo_open(&other, NULL), *none;

	(void)state;
	other.identity = 0x4d41504c01000101;
	assert_int_equal(fake_virgo_open_again(&other, &none), -EPROTO);
	assert_null(none);
	assert_non_null(strstr(virgo_error_text(), "no Virgo"));
	assert_int_equal(other.device.handles, 1);
	fake_virgo_close(&other, second);
}

static void another_version_or_no_unit_is_refused(void **state)
{
	struct fake_virgo other;
	struct virgo *second = fake_virgo_open(&other, NULL), *none;

	(void)state;
	other.identity = VIRGO_MAGIC << 32 | (VIRGO_VERSION + 1) << 24 | 1;
	assert_int_equal(fake_virgo_open_again(&other, &none), -EPROTO);
	assert_non_null(strstr(virgo_error_text(), "version 2"));
	other.identity = VIRGO_MAGIC << 32 | VIRGO_VERSION << 24;
	assert_int_equal(fake_virgo_open_again(&other, &none), -EPROTO);
	assert_non_null(strstr(virgo_error_text(), "0 units"));
	fake_virgo_close(&other, second);
}

static void units_tell_what_they_are(void **state)
{
	struct virgo_unit_info info;

	(void)state;
	assert_int_equal(virgo_unit_count(virgo), 2);
	assert_int_equal(virgo_unit_info(virgo, 0, &info), 0);
	assert_int_equal(info.type, VIRGO_FP32);
	assert_int_equal(info.dim, 8);
	assert_int_equal(info.element_size, 4);
	assert_int_equal(info.row_bytes, 32);
	assert_int_equal(info.rows, 2048);
	assert_int_equal(info.accumulator_rows, 512);
	assert_int_equal(info.queue_entries, 16);
	assert_int_equal(virgo_unit_info(virgo, 1, &info), 0);
	assert_int_equal(info.type, VIRGO_INT8);
	assert_int_equal(info.row_bytes, 16);
	assert_int_equal(info.rows, 4096);
	assert_int_equal(info.accumulator_rows, 512);
	assert_int_equal(virgo_unit_info(virgo, 2, &info), -EINVAL);
	assert_non_null(strstr(virgo_error_text(), "unit 2"));
	assert_int_equal(virgo_unit_info(virgo, 0, NULL), -EINVAL);
	assert_int_equal(virgo_unit_info(NULL, 0, &info), -EINVAL);
}

static void units_are_found_by_type_and_size(void **state)
{
	(void)state;
	assert_int_equal(virgo_find_unit(virgo, VIRGO_FP32, 0), 0);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_INT8, 0), 1);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_INT8, 16), 1);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_INT8, 8), -ENXIO);
	assert_int_equal(virgo_find_unit(virgo, VIRGO_FP16, 0), -ENXIO);
	assert_non_null(strstr(virgo_error_text(), "fp16"));
	assert_int_equal(virgo_find_unit(virgo, (enum virgo_type)7, 0), -ENXIO);
	assert_int_equal(virgo_find_unit(NULL, VIRGO_FP32, 0), -EINVAL);
}

static void names_and_memory_are_the_transports(void **state)
{
	unsigned char *shared;
	size_t size;

	(void)state;
	assert_string_equal(virgo_device_name(virgo), "virgo0");
	assert_string_equal(virgo_transport(virgo), "test");
	shared = virgo_shared(virgo, &size);
	assert_int_equal(size, 65536);
	assert_ptr_equal(virgo_shared(virgo, NULL), shared);
	shared[65535] = 17;
	assert_int_equal(fake.fixture->shared[65535], 17);
	assert_null(virgo_shared(NULL, &size));
}

/* --- single commands ----------------------------------------------------------------------------- */

static void commands_wait_in_the_buffer_of_their_unit(void **state)
{
	(void)state;
	assert_int_equal(virgo_command(virgo, 1, VIRGO_FUNCT_FLUSH, 11, 12), 0);
	assert_int_equal(virgo_command(virgo, 0, 99, 21, 22), 0);
	assert_int_equal(fake.device.posts, 0);
	assert_int_equal(virgo_flush(virgo, 1), 0);
	assert_int_equal(fake.count, 1);
	assert_int_equal(fake.commands[0].unit, 1);
	assert_int_equal(fake.commands[0].rs1, 11);
	assert_int_equal(fake.commands[0].rs2, 12);
	/* The word that Gemmini's macro makes of funct 7. */
	assert_int_equal(fake.commands[0].word, 0x0e20b07b);
	assert_int_equal(virgo_flush(virgo, 0), 0);
	assert_int_equal(fake.commands[1].word, 0xc620b07b);
	assert_int_equal(virgo_flush(virgo, 0), 0);
	assert_int_equal(fake.device.posts, 2);
}

static void a_full_buffer_is_sent(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(virgo_command(virgo, 0, VIRGO_FUNCT_CLOCK_GATE, (uint64_t)i, 0), 0);
	assert_int_equal(virgo_flush(virgo, 0), 0);
	assert_int_equal(fake.count, 1000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(fake.commands[i].rs1, i);
	assert_int_equal(virgo_fence(virgo, 0), 0);
}

static void errors_of_the_transport_are_returned(void **state)
{
	(void)state;
	fake.device.post_error = -ENOTCONN;
	virgo_command(virgo, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_flush(virgo, 0), -ENOTCONN);
	assert_string_equal(virgo_error_text(), "posts fail here");
	virgo_command(virgo, 0, VIRGO_FUNCT_FLUSH, 0, 0);
	assert_int_equal(virgo_fence(virgo, 0), -ENOTCONN);
	fake.device.post_error = 0;
	assert_int_equal(virgo_fence(virgo, 0), 0);
}

static void rows_move_in_and_out(void **state)
{
	const float *shared = virgo_shared(virgo, NULL);
	float *out = memory + 4096;

	(void)state;
	fill(memory, 1000);
	virgo_config_load(virgo, 0, 1, 100 * sizeof(float), 1, 0);
	virgo_mvin(virgo, 0, 1, memory + 3, 16, 5, 20);	/* three blocks */
	virgo_config_store(virgo, 0, 50 * sizeof(float), VIRGO_NO_ACTIVATION, 1);
	virgo_mvout(virgo, 0, out, 16, 5, 20);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	for (int i = 0; i < 5; i++) {
		for (int j = 0; j < 20; j++) {
			assert_true(shared[(16 + j / 8 * 8 + i) * 8 + j % 8] == memory[3 + 100 * i + j]);
			assert_true(out[50 * i + j] == memory[3 + 100 * i + j]);
		}
	}
}

static void moves_scale_and_activate_as_configured(void **state)
{
	const float *shared = virgo_shared(virgo, NULL);
	float *out = memory + 4096;

	(void)state;
	fill(memory, 64);
	virgo_config_load(virgo, 0, 0, 32, 0.5f, 0);
	virgo_mvin(virgo, 0, 0, memory, 0, 1, 8);
	virgo_config_load(virgo, 0, 2, 32, 1, VIRGO_SHRUNK);
	virgo_mvin(virgo, 0, 2, memory, VIRGO_LOCAL_ACCUMULATOR, 1, 8);
	virgo_config_store(virgo, 0, 32, VIRGO_RELU, 2);
	virgo_mvout(virgo, 0, out, VIRGO_LOCAL_ACCUMULATOR, 1, 8);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	for (int j = 0; j < 8; j++) {
		assert_true(shared[j] == memory[j] / 2);
		assert_true(out[j] == (memory[j] < 0 ? 0 : 2 * memory[j]));
	}
}

/* 4 x 3 times 3 x 5. */
static void check_product(const float *got, size_t stride, const float *a, const float *b,
			  const float *d)
{
	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < 5; j++) {
			float sum = d ? d[8 * i + j] : 0;

			for (size_t k = 0; k < 3; k++)
				sum += a[8 * i + k] * b[8 * k + j];
			assert_true(got[stride * i + j] == sum);
		}
	}
}

static void the_array_multiplies_weight_stationary(void **state)
{
	const struct virgo_operand b = { 8, 3, 5 }, a = { 0, 4, 3 }, d = { 16, 4, 5 };
	const struct virgo_operand c = { VIRGO_LOCAL_ACCUMULATOR | 4, 4, 5 }, nothing = { VIRGO_GARBAGE, 0, 0 };
	float *shared = virgo_shared(virgo, NULL), *out = memory;

	(void)state;
	fill(shared, 3 * 64);
	virgo_config_array(virgo, 0, VIRGO_WEIGHT_STATIONARY, 0);
	virgo_config_store(virgo, 0, 32, VIRGO_NO_ACTIVATION, 1);
	virgo_preload(virgo, 0, b, c);
	virgo_compute_preloaded(virgo, 0, a, d);
	virgo_mvout(virgo, 0, out, c.local, 4, 5);
	/* B stays in the array. */
	virgo_preload(virgo, 0, nothing, c);
	virgo_compute_accumulated(virgo, 0, a, nothing);
	virgo_mvout(virgo, 0, out + 64, c.local, 4, 5);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	check_product(out, 8, shared, shared + 64, shared + 128);
	check_product(out + 64, 8, shared, shared + 64, NULL);
}

static void the_array_multiplies_transposed_operands(void **state)
{
	float *shared = virgo_shared(virgo, NULL), turned[2][64] = { 0 };

	(void)state;
	fill(shared, 128);
	for (int i = 0; i < 64; i++) {
		turned[0][i % 8 * 8 + i / 8] = shared[i];
		turned[1][i % 8 * 8 + i / 8] = shared[64 + i];
	}
	virgo_config_array(virgo, 0, VIRGO_WEIGHT_STATIONARY, VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B);
	virgo_config_store(virgo, 0, 32, VIRGO_NO_ACTIVATION, 1);
	virgo_preload(virgo, 0, (struct virgo_operand){ 8, 3, 5 },
		      (struct virgo_operand){ VIRGO_LOCAL_ACCUMULATOR, 4, 5 });
	virgo_compute_preloaded(virgo, 0, (struct virgo_operand){ 0, 4, 3 },
				(struct virgo_operand){ VIRGO_GARBAGE, 0, 0 });
	virgo_mvout(virgo, 0, memory, VIRGO_LOCAL_ACCUMULATOR, 4, 5);
	assert_int_equal(virgo_fence(virgo, 0), 0);
	check_product(memory, 8, turned[0], turned[1], NULL);
}

static void a_configuration_that_the_unit_has_is_not_sent_again(void **state)
{
	(void)state;
	virgo_config_load(virgo, 0, 0, 64, 1, 0);
	virgo_config_load(virgo, 0, 0, 64, 1, 0);
	virgo_config_load(virgo, 0, 1, 64, 1, 0);
	virgo_config_load(virgo, 1, 0, 64, 1, 0);
	virgo_flush(virgo, 0);
	virgo_flush(virgo, 1);
	assert_int_equal(fake.count, 3);
	/* A raw command may have changed it. */
	virgo_command(virgo, 0, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD, 0);
	virgo_config_load(virgo, 0, 0, 64, 1, 0);
	virgo_flush(virgo, 0);
	assert_int_equal(fake.count, 5);
	virgo_reset(virgo, 0);
	virgo_config_load(virgo, 0, 0, 64, 1, 0);
	virgo_flush(virgo, 0);
	assert_int_equal(fake.count, 6);
}

static void bad_arguments_of_commands_are_told(void **state)
{
	const struct virgo_operand o = { 0, 1, 1 };

	(void)state;
	assert_int_equal(virgo_command(virgo, 0, 128, 0, 0), -EINVAL);
	assert_int_equal(virgo_command(virgo, 5, 0, 0, 0), -EINVAL);
	assert_int_equal(virgo_command(NULL, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(virgo_cisc(virgo, 2, 0), -EINVAL);
	assert_int_equal(virgo_config_array(virgo, 0, (enum virgo_dataflow)2, 0), -EINVAL);
	assert_int_equal(virgo_config_array(virgo, 0, VIRGO_WEIGHT_STATIONARY, VIRGO_ADD), -EINVAL);
	assert_int_equal(virgo_config_load(virgo, 0, 3, 0, 1, 0), -EINVAL);
	assert_int_equal(virgo_config_load(virgo, 0, 0, 0, 1, VIRGO_ADD), -EINVAL);
	assert_int_equal(virgo_config_store(virgo, 0, 1ull << 32, VIRGO_RELU, 1), -EINVAL);
	assert_int_equal(virgo_config_store(virgo, 0, 0, VIRGO_SOFTMAX, 1), -EINVAL);
	assert_int_equal(virgo_mvin(virgo, 0, 3, memory, 0, 1, 1), -EINVAL);
	assert_int_equal(virgo_mvin(virgo, 0, 0, memory, 0, 65536, 1), -EINVAL);
	assert_int_equal(virgo_mvout(virgo, 0, memory, 0, 1, 65536), -EINVAL);
	assert_int_equal(virgo_preload(virgo, 2, o, o), -EINVAL);
	assert_int_equal(virgo_compute_preloaded(virgo, 2, o, o), -EINVAL);
	assert_int_equal(virgo_compute_accumulated(NULL, 0, o, o), -EINVAL);
	assert_int_equal(virgo_flush(virgo, 2), -EINVAL);
	assert_true(virgo_error_text()[0] != '\0');
	virgo_flush(virgo, 0);
	assert_int_equal(fake.count, 0);
}

static void words_of_the_cisc_port_go_to_their_unit(void **state)
{
	struct virgo_error_info info;
	uint64_t ticket;

	(void)state;
	/* Loads A and B of 64 x 64 x 64: address 0 leaves them out. */
	assert_int_equal(virgo_cisc(virgo, 0, 10), 0);
	ticket = virgo_ticket(virgo, 0);
	assert_true(ticket >= 3);
	assert_int_equal(virgo_wait(virgo, 0, ticket), 0);
	assert_int_equal(virgo_done(virgo, 0, ticket), 1);
	/* The unit of the call replaces that of the word. */
	assert_int_equal(virgo_cisc(virgo, 1, 7u << VIRGO_CISC_UNIT_SHIFT | 31), 0);
	assert_int_equal(virgo_error(virgo, 1, &info), 0);
	assert_int_equal(info.error, VIRGO_ERROR_COMMAND);
	assert_int_equal(info.instruction, 1u << VIRGO_CISC_UNIT_SHIFT | 31);
	assert_int_equal(virgo_fence(virgo, 0), 0);
}

static void counters_are_those_of_the_unit_or_of_all(void **state)
{
	struct virgo_statistics one, all;

	(void)state;
	virgo_config_load(virgo, 0, 0, 32, 1, 0);
	virgo_mvin(virgo, 0, 0, memory, 0, 4, 8);
	virgo_command(virgo, 1, VIRGO_FUNCT_FLUSH, 0, 0);
	virgo_fence(virgo, 0);
	virgo_fence(virgo, 1);
	assert_int_equal(virgo_counters(virgo, 0, &one), 0);
	assert_int_equal(one.commands, 2);
	assert_int_equal(one.configurations, 1);
	assert_int_equal(one.moves_in, 1);
	assert_int_equal(one.dma_bytes_read, 128);
	assert_int_equal(virgo_counters(virgo, VIRGO_ALL_UNITS, &all), 0);
	assert_int_equal(all.commands, 3);
	assert_int_equal(all.dma_bytes_read, 128);
	assert_int_equal(virgo_counters(virgo, 2, &one), -EINVAL);
	assert_int_equal(virgo_counters(virgo, 0, NULL), -EINVAL);
	assert_int_equal(virgo_counters(NULL, 0, &one), -EINVAL);
}

static void a_barrier_of_one_is_passed_at_once(void **state)
{
	(void)state;
	assert_int_equal(virgo_barrier_participants(virgo, 15, 1), 0);
	assert_int_equal(virgo_barrier(virgo, 15), 0);
	assert_int_equal(virgo_barrier(virgo, 15), 0);
	assert_int_equal(virgo_load(fake.fixture, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_STATUS(15), 8), 2 << 8);
	assert_int_equal(virgo_barrier_participants(virgo, 16, 1), -EINVAL);
	assert_int_equal(virgo_barrier_participants(virgo, 0, 256), -EINVAL);
	assert_int_equal(virgo_barrier_participants(NULL, 0, 1), -EINVAL);
	assert_int_equal(virgo_barrier(virgo, 16), -EINVAL);
	assert_int_equal(virgo_barrier(NULL, 0), -EINVAL);
}

static void events_go_to_one_descriptor(void **state)
{
	int fd = virgo_event_fd(virgo, VIRGO_EVENT_IDLE(0));
	char bytes[8];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fake.device.fd, fd);
	assert_int_equal(fake.device.events, VIRGO_EVENT_IDLE(0));
	assert_int_equal(read(fd, bytes, 8), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(virgo_event_fd(virgo, 0), fd);
	assert_int_equal(fake.device.fd, -1);
	assert_int_equal(virgo_event_fd(NULL, 0), -EINVAL);
}

static void memory_of_the_transport_is_passed_on(void **state)
{
	void *bytes = virgo_alloc(virgo, 100);

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(virgo_free(virgo, bytes), 0);
	assert_int_equal(virgo_free(virgo, NULL), 0);
	assert_int_equal(virgo_free(virgo, memory), -EINVAL);
	assert_int_equal(virgo_free(NULL, bytes), -EINVAL);
	assert_null(virgo_alloc(virgo, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(virgo_alloc(NULL, 1));
	fake.device.alloc_fails = true;
	assert_null(virgo_alloc(virgo, 1));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(virgo_register(virgo, memory, 64), 0);
	assert_int_equal(virgo_unregister(virgo, memory, 64), 0);
	assert_int_equal(virgo_register(virgo, NULL, 64), -EINVAL);
	assert_int_equal(virgo_unregister(NULL, memory, 64), -EINVAL);
}

static bool was_shared;

static void look_whether_it_is_shared(struct fake_virgo *p, void *bytes)
{
	(void)p;
	was_shared |= virgo_is_shared(virgo, bytes, 1);
}

/* Another thread may get the same memory at once. */
static void memory_is_forgotten_before_it_is_free(void **state)
{
	void *bytes = virgo_alloc(virgo, 100);

	(void)state;
	assert_true(virgo_is_shared(virgo, bytes, 100));
	was_shared = false;
	fake.on_free = look_whether_it_is_shared;
	assert_int_equal(virgo_free(virgo, bytes), 0);
	assert_false(was_shared);
	fake.on_free = NULL;
	/* Memory that cannot be freed stays shared. */
	assert_int_equal(virgo_register(virgo, memory, 64), 0);
	assert_int_equal(virgo_free(virgo, memory), -EINVAL);
	assert_true(virgo_is_shared(virgo, memory, 64));
	assert_int_equal(virgo_unregister(virgo, memory, 64), 0);
	assert_false(virgo_is_shared(virgo, memory, 64));
}

#define ON(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cluster_is_closed_with_its_handle),
		cmocka_unit_test(a_device_that_is_no_virgo_is_refused),
		cmocka_unit_test(another_version_or_no_unit_is_refused),
		ON(units_tell_what_they_are),
		ON(units_are_found_by_type_and_size),
		ON(names_and_memory_are_the_transports),
		ON(commands_wait_in_the_buffer_of_their_unit),
		ON(a_full_buffer_is_sent),
		ON(errors_of_the_transport_are_returned),
		ON(rows_move_in_and_out),
		ON(moves_scale_and_activate_as_configured),
		ON(the_array_multiplies_weight_stationary),
		ON(the_array_multiplies_transposed_operands),
		ON(a_configuration_that_the_unit_has_is_not_sent_again),
		ON(bad_arguments_of_commands_are_told),
		ON(words_of_the_cisc_port_go_to_their_unit),
		ON(counters_are_those_of_the_unit_or_of_all),
		ON(a_barrier_of_one_is_passed_at_once),
		ON(events_go_to_one_descriptor),
		ON(memory_of_the_transport_is_passed_on),
		ON(memory_is_forgotten_before_it_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
