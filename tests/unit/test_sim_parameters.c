/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Presets, files and --set: the values that they give, and the message of each mistake. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/parameters.h"
#include "sim/soc.h"

static char path[] = "/tmp/mimic-soc-XXXXXX";
static char why[200];

static int make_file(void **state)
{
	int descriptor = mkstemp(path);

	(void)state;
	return descriptor < 0 || close(descriptor);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static int load_text(const char *text, struct sim_parameters *parameters)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return sim_parameters_load(parameters, path, why, sizeof(why));
}

static struct sim_parameters preset(const char *name)
{
	struct sim_parameters parameters;

	assert_int_equal(sim_parameters_load(&parameters, name, why, sizeof(why)), 0);
	return parameters;
}

/* Table 2 of MAPLE's paper, and Table 3. */
static void test_presets_are_the_systems_of_the_paper(void **state)
{
	static const char *const names[] = { "maple-fpga", "maple-sim" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sim_parameters parameters = preset(names[i]);

		assert_int_equal(parameters.core_count, 2);
		assert_int_equal(parameters.l1_size, 8 * 1024);
		assert_int_equal(parameters.l1_ways, 4);
		assert_int_equal(parameters.l1_latency, 2);
		/* Table 2 has 64 KB a tile, and a tile for each core. */
		assert_int_equal(parameters.l2_size, (i ? 64 : 2 * 64) * 1024);
		assert_int_equal(parameters.l2_ways, 8);
		assert_int_equal(parameters.l2_latency, 30);
		assert_int_equal(parameters.dram_latency, 300);
		assert_int_equal(parameters.maple_round_trip, 26);
		assert_int_equal(sim_parameters_check(&parameters, why, sizeof(why)), 0);
	}
	assert_int_equal(preset("maple-fpga").core_stall_on_use, 1);
	assert_int_equal(preset("maple-sim").core_stall_on_use, 0);
	assert_int_equal(preset("maple-fpga").l1_line, 16);
	assert_int_equal(preset("maple-sim").l1_line, 64);
}

/* DARE's Table II, IV-C to IV-E and V-F; 45 ns at 2 GHz are 90 cycles. */
static void test_the_preset_dare_has_the_system_of_its_paper(void **state)
{
	struct sim_parameters parameters = preset("dare");

	(void)state;
	assert_int_equal(parameters.mpu_enabled, 1);
	assert_int_equal(parameters.mpu_lq, 48);
	assert_int_equal(parameters.mpu_sq, 48);
	assert_int_equal(parameters.mpu_riq, 32);
	assert_int_equal(parameters.mpu_vmr, 16);
	assert_int_equal(parameters.rfu_window, 32);
	assert_int_equal(parameters.rfu_bin, 8);
	assert_int_equal(parameters.llc_size, 2 * 1024 * 1024);
	assert_int_equal(parameters.llc_ways, 16);
	assert_int_equal(parameters.llc_banks, 16);
	assert_int_equal(parameters.llc_latency, 20);
	assert_int_equal(parameters.dram_latency, 90);
	assert_int_equal(sim_parameters_check(&parameters, why, sizeof(why)), 0);
	assert_int_equal(preset("maple-fpga").mpu_enabled, 0);
	assert_int_equal(preset("maple-sim").mpu_enabled, 0);
}

static void test_modes_are_settings_of_dares_parts(void **state)
{
	struct sim_parameters parameters = preset("dare");

	(void)state;
	assert_int_equal(sim_parameters_mode(&parameters, "nvr", why, sizeof(why)), 0);
	assert_int_equal(parameters.mpu_runahead, 1);
	assert_int_equal(parameters.rfu_enabled, 0);
	assert_int_equal(parameters.mpu_riq, 256);
	parameters = preset("dare");
	assert_int_equal(sim_parameters_mode(&parameters, "static", why, sizeof(why)), 0);
	assert_int_equal(parameters.rfu_enabled, 1);
	assert_int_equal(parameters.rfu_dynamic, 0);
	assert_int_equal(sim_parameters_mode(&parameters, "oracle", why, sizeof(why)), 0);
	assert_int_equal(parameters.mpu_runahead, 0);
	assert_int_equal(parameters.llc_oracle, 1);
	assert_int_equal(sim_parameters_mode(&parameters, "base", why, sizeof(why)), 0);
	assert_int_equal(parameters.llc_oracle, 0);
	assert_int_equal(sim_parameters_mode(&parameters, "fast", why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "mode must be base, nvr, fre, static or oracle, not 'fast'");
	parameters = preset("maple-sim");
	assert_int_equal(sim_parameters_mode(&parameters, "base", why, sizeof(why)), -EINVAL);
}

static void test_every_description_is_in_range_and_has_its_source(void **state)
{
	const struct sim_parameter_description *description = sim_parameter_descriptions;

	(void)state;
	for (; description->section; description++) {
		assert_in_range(description->fpga, description->minimum, description->maximum);
		assert_in_range(description->sim, description->minimum, description->maximum);
		assert_true(*description->source && *description->meaning);
	}
	assert_int_equal(description - sim_parameter_descriptions, sizeof(struct sim_parameters) / sizeof(uint64_t));
}

static void test_a_file_starts_from_its_preset(void **state)
{
	struct sim_parameters parameters, expected = preset("maple-sim");

	(void)state;
	expected.l2_size = 256 * 1024;
	expected.dram_latency = 100;
	assert_int_equal(load_text("; a comment\npreset = maple-sim\n\n[l2]\nsize = 256K\n[dram]\nlatency = 100\n",
				   &parameters), 0);
	assert_memory_equal(&parameters, &expected, sizeof(expected));
}

static void test_a_file_without_a_preset_starts_from_the_fpga(void **state)
{
	struct sim_parameters parameters, expected = preset("maple-fpga");

	(void)state;
	expected.l2_size = 1024 * 1024;
	assert_int_equal(load_text("[l2]\nsize = 1M\n", &parameters), 0);
	assert_memory_equal(&parameters, &expected, sizeof(expected));
}

/* The text is refused, says "PATH:expected", and leaves the parameters as they are. */
static void expect_error(const char *text, const char *expected)
{
	struct sim_parameters parameters = preset("maple-sim"), before = parameters;
	char whole[256];

	snprintf(whole, sizeof(whole), "%s:%s", path, expected);
	assert_int_equal(load_text(text, &parameters), -EINVAL);
	assert_string_equal(why, whole);
	assert_memory_equal(&parameters, &before, sizeof(before));
}

static void test_mistakes_in_a_file_are_told_with_their_line(void **state)
{
	(void)state;
	expect_error("[l2]\nsice = 1\n", "2: section l2 has no key 'sice'");
	expect_error("\n\n[l4]\nsize = 1\n", "4: there is no section 'l4'");
	expect_error("[l2]\nsize = big\n", "2: l2.size must be a whole number, K or M behind it or not, not 'big'");
	expect_error("[l2]\nsize = -1\n", "2: l2.size must be a whole number, K or M behind it or not, not '-1'");
	expect_error("[l2]\nsize = 4KB\n", "2: l2.size must be a whole number, K or M behind it or not, not '4KB'");
	expect_error("[dram]\nlatency = 0\n", "2: dram.latency must be 1 to 100000, not 0");
	expect_error("[dram]\nlatency = 99999999999999999999999\n",
		     "2: dram.latency must be 1 to 100000, not 99999999999999999999999");
	expect_error("[l2]\nsize = 18014398509481984K\n", "2: l2.size must be 64 to 1073741824, not 18014398509481984K");
	expect_error("preset = mine\n", "1: preset must be one of maple-fpga, maple-sim, dare, virgo, not 'mine'");
	expect_error("[l2]\nsize = 64K\n[l1\n", "3: neither [section] nor key = value");
	expect_error("size = 64K\n", "1: 'size' stands in no section");
	expect_error("[l2]\nsize = 64K\npreset = maple-sim\n", "3: section l2 has no key 'preset'");
}

static void test_a_key_that_stands_twice_is_told_with_both_lines(void **state)
{
	(void)state;
	expect_error("preset = maple-sim\npreset = maple-fpga\n", "2: duplicate key 'preset', first in line 1");
	expect_error("[l2]\nsize = 64K\n\n; again\nsize = 64K\n", "5: duplicate key 'l2.size', first in line 2");
	expect_error("[l2]\nsize = 64K\n  size = 32K\n", "3: duplicate key 'l2.size', first in line 2");
	/* The section stands twice, which alone is no mistake. */
	expect_error("[l2]\nsize = 64K\n[l1]\nsize = 8K\n[l2]\nways = 4\nsize = 64K\n",
		     "7: duplicate key 'l2.size', first in line 2");
}

static void test_an_indented_line_is_a_key_of_its_own(void **state)
{
	struct sim_parameters parameters, expected = preset("maple-fpga");

	(void)state;
	expected.l2_size = 128 * 1024;
	expected.l2_ways = 4;
	assert_int_equal(load_text("[l2]\n  size = 128K\n  ways = 4\n", &parameters), 0);
	assert_memory_equal(&parameters, &expected, sizeof(expected));
}

static void test_a_line_that_is_too_long_is_told(void **state)
{
	char text[1000] = "[l2]\nsize = 64K ; ";

	(void)state;
	memset(text + strlen(text), 'x', sizeof(text) - 1 - strlen(text));
	assert_int_equal(load_text(text, &(struct sim_parameters){ 0 }), -EINVAL);
	assert_non_null(strstr(why, ":2: longer than "));
}

static void test_a_file_that_is_not_there_is_told(void **state)
{
	struct sim_parameters parameters;

	(void)state;
	assert_int_equal(sim_parameters_load(&parameters, "maple-asic", why, sizeof(why)), -ENOENT);
	assert_string_equal(why, "maple-asic is no preset (maple-fpga, maple-sim, dare, virgo), and as a file: "
			    "No such file or directory");
	assert_int_equal(sim_parameters_load(&parameters, "/", why, sizeof(why)), -EISDIR);
}

static void test_an_assignment_sets_one_key(void **state)
{
	struct sim_parameters parameters = preset("maple-fpga"), expected = parameters;

	(void)state;
	expected.l2_size = 256 * 1024;
	assert_int_equal(sim_parameters_set(&parameters, "l2.size=256K", why, sizeof(why)), 0);
	assert_memory_equal(&parameters, &expected, sizeof(expected));
	expected.maple_queue_entries = 16;
	assert_int_equal(sim_parameters_set(&parameters, "maple.queue_entries=16", why, sizeof(why)), 0);
	assert_memory_equal(&parameters, &expected, sizeof(expected));
}

static void expect_bad_assignment(const char *assignment, const char *expected)
{
	struct sim_parameters parameters = preset("maple-fpga"), before = parameters;

	assert_int_equal(sim_parameters_set(&parameters, assignment, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, expected);
	assert_memory_equal(&parameters, &before, sizeof(before));
}

static void test_mistakes_in_an_assignment_are_told(void **state)
{
	(void)state;
	expect_bad_assignment("l2.size", "'l2.size' is not section.key=value");
	expect_bad_assignment("size=1", "'size=1' is not section.key=value");
	expect_bad_assignment(".size=1", "'.size=1' is not section.key=value");
	expect_bad_assignment("l2.=1", "'l2.=1' is not section.key=value");
	expect_bad_assignment("=l2.size", "'=l2.size' is not section.key=value");
	expect_bad_assignment("", "'' is not section.key=value");
	expect_bad_assignment("l2.colour=1", "section l2 has no key 'colour'");
	expect_bad_assignment("l3.size=1", "there is no section 'l3'");
	expect_bad_assignment("l.size=1", "there is no section 'l'");
	expect_bad_assignment("l2.size=", "l2.size must be a whole number, K or M behind it or not, not ''");
	expect_bad_assignment("core.count=65", "core.count must be 1 to 64, not 65");
	expect_bad_assignment("l2.a_key_that_is_much_longer_than_any_key_that_there_is_or_ever_will_be=1",
			      "'l2.a_key_that_is_much_longer_than_any_key_that_there_is_or_ever_...' has no such key");
}

/* Each set alone on maple-fpga gives this text, and no SoC. */
static void expect_impossible(const char *assignment, const char *expected)
{
	struct sim_parameters parameters = preset("maple-fpga");

	assert_int_equal(sim_parameters_set(&parameters, assignment, why, sizeof(why)), 0);
	assert_int_equal(sim_parameters_check(&parameters, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, expected);
	errno = 0;
	assert_null(soc_create(&parameters));
	assert_int_equal(errno, EINVAL);
}

static void test_geometries_that_cannot_be_name_their_keys(void **state)
{
	(void)state;
	expect_impossible("l1.line=24", "l1.line must be a power of two (l1.size 8192, l1.ways 4, l1.line 24)");
	expect_impossible("l2.ways=7", "l2.size must be a multiple of ways times line (l2.size 131072, l2.ways 7, "
			  "l2.line 64)");
	expect_impossible("l2.size=48K", "l2.size / (ways * line), the number of sets, must be a power of two "
			  "(l2.size 49152, l2.ways 8, l2.line 64)");
	expect_impossible("l1.line=128", "l1.line 128 is more than l2.line 64");
	expect_impossible("l1.size=256K", "l1.size 262144 is more than l2.size 131072, and the L2 holds all lines of the L1s");
	expect_impossible("l15.ways=3", "l15.size must be a multiple of ways times line (l15.size 8192, l15.ways 3, l15.line 16)");
	expect_impossible("l15.size=4K", "l15.size 4096 is less than l1.size 8192, and the L1.5 holds all lines of the L1");
	expect_impossible("l15.size=256K", "l15.size 262144 is more than l2.size 131072, and the L2 holds all lines of the L1.5s");
	expect_impossible("core.store_misses=9", "core.store_misses 9 is more than core.store_buffer 8");
	expect_impossible("maple.queue_entries=33", "maple.queue_entries must be 8, 16, 32, 48, 64, 80, 96 or 128, not 33");
	expect_impossible("core.tlb_entries=24", "core.tlb_entries must be a power of two, not 24");
	expect_impossible("maple.tlb_entries=17", "maple.tlb_entries must be a power of two, not 17");
	expect_impossible("maple.lima_chunks=7", "maple.lima_chunks 7 is less than maple.queues 8: each queue has a share");
}

static void test_a_value_out_of_range_makes_no_soc(void **state)
{
	struct sim_parameters parameters = preset("maple-fpga");

	(void)state;
	parameters.core_count = 0;
	assert_int_equal(sim_parameters_check(&parameters, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "core.count must be 1 to 64, not 0");
	assert_null(soc_create(&parameters));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets_are_the_systems_of_the_paper),
		cmocka_unit_test(test_every_description_is_in_range_and_has_its_source),
		cmocka_unit_test(test_the_preset_dare_has_the_system_of_its_paper),
		cmocka_unit_test(test_modes_are_settings_of_dares_parts),
		cmocka_unit_test(test_a_file_starts_from_its_preset),
		cmocka_unit_test(test_a_file_without_a_preset_starts_from_the_fpga),
		cmocka_unit_test(test_mistakes_in_a_file_are_told_with_their_line),
		cmocka_unit_test(test_a_key_that_stands_twice_is_told_with_both_lines),
		cmocka_unit_test(test_an_indented_line_is_a_key_of_its_own),
		cmocka_unit_test(test_a_line_that_is_too_long_is_told),
		cmocka_unit_test(test_a_file_that_is_not_there_is_told),
		cmocka_unit_test(test_an_assignment_sets_one_key),
		cmocka_unit_test(test_mistakes_in_an_assignment_are_told),
		cmocka_unit_test(test_geometries_that_cannot_be_name_their_keys),
		cmocka_unit_test(test_a_value_out_of_range_makes_no_soc),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
