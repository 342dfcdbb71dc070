/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The configuration file: the settings of the shipped ones, and the message of each mistake. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/config.h"
#include "libmimic/base/plugin.h"
#include "libmimic/transport.h"
#include "tests/lib/kinds.h"

#define PAPER "[maple]\nprofile = paper\n"

static char path[] = "/tmp/mimic-config-XXXXXX";

static void write_bytes(const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static int load_text(const char *text, struct mimic_settings *settings)
{
	write_bytes(text, strlen(text));
	return mimic_config_load(path, settings);
}

/* The text is refused, and the error is PATH:expected. */
static void expect_error(const char *text, const char *expected)
{
	struct mimic_settings settings;
	char whole[256];

	snprintf(whole, sizeof(whole), "%s:%s", path, expected);
	assert_int_equal(load_text(text, &settings), -EINVAL);
	assert_string_equal(mimic_error_text(), whole);
}

/* A tree may have more kinds than mimic brings; test_kinds.c has their names. */
static void expect_no_list(const char *text, unsigned int line, const char *list)
{
	char expected[200];

	snprintf(expected, sizeof(expected), "%u: devices '%s' is not a list of KIND:COUNT with the kinds %s", line,
		 list, mimic_kind_names());
	expect_error(text, expected);
}

static void expect_profile(const struct maple_config *config, const char *profile)
{
	struct maple_config expected;

	assert_int_equal(maple_config_profile(&expected, profile), 0);
	assert_string_equal(config->profile, profile);
	assert_int_equal(config->queues, expected.queues);
	assert_int_equal(config->scratchpad_words, expected.scratchpad_words);
	assert_int_equal(config->tlb_entries, expected.tlb_entries);
	assert_int_equal(config->address_bits, expected.address_bits);
	assert_int_equal(config->lima_loops, expected.lima_loops);
	assert_int_equal(config->lima_chunks, expected.lima_chunks);
	assert_int_equal(config->custom_commands, expected.custom_commands);
	assert_int_equal(config->custom_responses, expected.custom_responses);
	assert_int_equal(config->quirks, expected.quirks);
}

/*
 * Rewrites the shipped file with its profile line naming the other profile: only
 * if the file gives every value itself does it still come out as its own.
 */
static void expect_every_key(const char *shipped, const char *profile, const char *other)
{
	struct mimic_settings settings;
	FILE *file = fopen(shipped, "r");
	FILE *copy = fopen(path, "w");
	char line[256];
	bool is_maple = false;

	assert_non_null(file);
	assert_non_null(copy);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '[')
			is_maple = !strncmp(line, "[maple]", 7);
		if (is_maple && !strncmp(line, "profile", 7))
			fprintf(copy, "profile = %s\n", other);
		else
			fputs(line, copy);
	}
	fclose(file);
	fclose(copy);
	assert_int_equal(mimic_config_load(path, &settings), 0);
	strcpy(maple_of(&settings)->profile, profile);
	expect_profile(maple_of(&settings), profile);
}

static void the_shipped_paper_file_is_the_paper_profile(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load("config/paper.ini", &settings), 0);
	expect_profile(maple_of(&settings), "paper");
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 2);
	assert_int_equal(settings.spin_microseconds, 100);
	expect_every_key("config/paper.ini", "paper", "artifact");
}

static void a_file_that_is_silent_on_maple_leaves_it_at_the_paper_profile(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(load_text("", &settings), 0);
	expect_profile(maple_of(&settings), "paper");
	assert_int_equal(load_text("[dare]\ncontexts = 3\n", &settings), 0);
	expect_profile(maple_of(&settings), "paper");
	assert_int_equal(dare_of(&settings)->contexts, 3);
}

static void the_shipped_artifact_file_is_the_artifact_profile(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load("config/artifact.ini", &settings), 0);
	expect_profile(maple_of(&settings), "artifact");
	expect_every_key("config/artifact.ini", "artifact", "paper");
}

/* The line before each key of a shipped file says where the value comes from. */
static void expect_sources(const char *shipped)
{
	static const char *const words[] = { "paper", "artifact", "simulation", "assumption" };
	char line[256], before[256] = "";
	FILE *file = fopen(shipped, "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] >= 'a' && line[0] <= 'z') {
			bool named = false;

			for (size_t i = 0; i < 4; i++)
				named |= before[0] == ';' && strstr(before, words[i]);
			if (!named)
				fail_msg("%s: no source before: %s", shipped, line);
		}
		strcpy(before, line);
	}
	fclose(file);
}

static void every_key_of_the_shipped_files_has_its_source(void **state)
{
	(void)state;
	expect_sources("config/paper.ini");
	expect_sources("config/artifact.ini");
}

static void no_path_is_the_paper_profile(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load(NULL, &settings), 0);
	expect_profile(maple_of(&settings), "paper");
	assert_int_equal(mimic_config_load("", &settings), 0);
	expect_profile(maple_of(&settings), "paper");
}

static void the_words_paper_and_artifact_are_profiles(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load("artifact", &settings), 0);
	expect_profile(maple_of(&settings), "artifact");
	assert_int_equal(mimic_config_load("paper", &settings), 0);
	expect_profile(maple_of(&settings), "paper");
}

static void keys_change_single_values_of_the_profile(void **state)
{
	struct mimic_settings settings;

	(void)state;
	/* The profile comes last: its place does not matter. */
	assert_int_equal(load_text("[mimic]\ndevices = maple:7\nspin_microseconds = 0\n"
				   "[maple]\n  queues = 2 ; few\ndepth_64=yes\nprofile=paper", &settings), 0);
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 7);
	assert_int_equal(settings.spin_microseconds, 0);
	assert_int_equal(maple_of(&settings)->queues, 2);
	assert_int_equal(maple_of(&settings)->quirks, MAPLE_QUIRK_depth_64);
	assert_int_equal(maple_of(&settings)->scratchpad_words, 256);
}

static void a_quirk_of_the_profile_can_be_switched_off(void **state)
{
	struct mimic_settings settings;
	unsigned int artifact;

	(void)state;
	assert_int_equal(mimic_config_load("artifact", &settings), 0);
	artifact = maple_of(&settings)->quirks;
	assert_int_equal(load_text("[maple]\nprofile = artifact\nloops_dropped = no\n", &settings), 0);
	assert_int_equal(maple_of(&settings)->quirks, artifact & ~(unsigned int)MAPLE_QUIRK_loops_dropped);
}

static void mistakes_are_named_with_file_and_line(void **state)
{
	(void)state;
	expect_error(PAPER "queue = 8\n", "3: unknown key 'queue' in section [maple]");
	expect_error("[mimic]\nprofile = paper\n", "2: unknown key 'profile' in section [mimic]");
	expect_error("\n" PAPER "\n[pear]\n", "5: unknown section [pear]");
	expect_error("[pear]\nx = 1\n" PAPER, "1: unknown section [pear]");
	expect_error("[dare]\nqueues = 8\n" PAPER, "2: unknown key 'queues' in section [dare]");
	expect_error(PAPER "[dare]\nprofile = paper\n", "4: unknown key 'profile' in section [dare]");
	expect_error(PAPER "[dare]\ncontexts = many\n", "4: contexts must be a whole number, not 'many'");
	expect_error("queues = 8\n", "1: key 'queues' stands before any section");
	expect_error(PAPER "queues = 8\nqueues = 8\n", "4: duplicate key 'queues', first in line 3");
	expect_error(PAPER "[mimic]\n[maple]\nprofile = paper\n",
		     "5: duplicate key 'profile', first in line 2");
	expect_error("[maple]\nprofile = silicon\n",
		     "2: profile must be paper or artifact, not 'silicon'");
	expect_error("[mimic]\n[maple]\nqueues = 8\n",
		     "2: section [maple] has no profile = paper or artifact");
	expect_error(PAPER "queues = few\n", "3: queues must be a whole number, not 'few'");
	expect_error(PAPER "queues = -1\n", "3: queues must be a whole number, not '-1'");
	expect_error(PAPER "queues =\n", "3: queues must be a whole number, not ''");
	expect_error(PAPER "depth_64 = 1\n", "3: depth_64 must be yes or no, not '1'");
	expect_error(PAPER "queues\n", "3: is neither [section] nor key = value nor a comment");
	expect_error(PAPER "[mimic\n", "3: is neither [section] nor key = value nor a comment");
}

static void values_out_of_range_are_named_with_file_and_line(void **state)
{
	(void)state;
	expect_error(PAPER "\nqueues = 9\n", "4: queues must be 1 to 8");
	expect_error(PAPER "queues = 0\n", "3: queues must be 1 to 8");
	expect_error(PAPER "queues = 4294967298\n", "3: queues must be 1 to 8");
	expect_error(PAPER "queues = 99999999999999999999999\n", "3: queues must be 1 to 8");
	expect_error("[maple]\ntlb_entries = 12\nprofile = paper\n",
		     "2: tlb_entries must be a power of two from 2 to 64");
	expect_error(PAPER "address_bits = 65\n", "3: address_bits must be 32 to 64");
	expect_error(PAPER "scratchpad_words = 1025\n",
		     "3: scratchpad_words must be a multiple of 8 from 8 to 1024");
	expect_error(PAPER "[mimic]\ndevices = maple:1025\n",
		     "4: devices 'maple:1025' is not 1 to 1024 devices");
	expect_error(PAPER "[mimic]\ndevices = maple:0\n",
		     "4: devices 'maple:0' is not 1 to 1024 devices");
	expect_no_list(PAPER "[mimic]\ndevices = pear:2\n", 4, "pear:2");
	expect_error(PAPER "[mimic]\ndevices = dare:1, maple:1025\n",
		     "4: devices 'dare:1, maple:1025' is not 1 to 1024 devices");
	expect_error(PAPER "[dare]\ncontexts = 16\n", "4: contexts must be 1 to 15");
	expect_error("[dare]\n\ncontexts = 0\n" PAPER, "3: contexts must be 1 to 15");
	expect_error(PAPER "[dare]\nqueue_entries = 65\n", "4: queue_entries must be 1 to 64");
	expect_error(PAPER "[dare]\ntlb_entries = 3\n", "4: tlb_entries must be a power of two from 2 to 64");
	expect_error("[dare]\nprofile = paper\n[maple]\nprofile = paper\n",
		     "2: unknown key 'profile' in section [dare]");
	expect_error(PAPER "[mimic]\nspin_microseconds = 1000001\n",
		     "4: spin_microseconds must be 0 to 1000000");
}

static void a_line_that_is_too_long_is_an_error(void **state)
{
	struct mimic_settings settings;
	char text[400] = PAPER "; ";
	char zero[] = PAPER "queues\0= 4\n";

	(void)state;
	memset(text + strlen(PAPER) + 2, 'x', 300);
	expect_error(text, "3: longer than 198 bytes, or holds a zero byte");
	strcat(text, "\nqueues = 4\n");
	expect_error(text, "3: longer than 198 bytes, or holds a zero byte");
	write_bytes(zero, sizeof(zero) - 1);
	assert_int_equal(mimic_config_load(path, &settings), -EINVAL);
	assert_non_null(strstr(mimic_error_text(), ":3: longer"));
}

static void an_error_leaves_the_settings_alone(void **state)
{
	struct mimic_settings settings, before;

	(void)state;
	memset(&settings, 0x5a, sizeof(settings));
	before = settings;
	assert_int_equal(load_text(PAPER "queues = 4\nqueues = 5\n", &settings), -EINVAL);
	assert_memory_equal(&settings, &before, sizeof(settings));
}

static void a_missing_file_and_a_directory_are_named(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load("/nowhere/x.ini", &settings), -ENOENT);
	assert_string_equal(mimic_error_text(), "/nowhere/x.ini: No such file or directory");
	assert_int_equal(mimic_config_load("/tmp", &settings), -EINVAL);
	assert_string_equal(mimic_error_text(), "/tmp:1: Is a directory");
}

static void a_device_list_sets_the_count(void **state)
{
	struct mimic_settings settings;

	(void)state;
	mimic_config_default(&settings);
	assert_int_equal(mimic_config_devices("maple:1024", &settings), 0);
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 1024);
	assert_int_equal(mimic_config_devices("maple", &settings), 0);
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 1);
	assert_int_equal(mimic_config_devices(NULL, &settings), 0);
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 1);
}

static void expect_counts(const char *list, unsigned int maples, unsigned int dares)
{
	struct mimic_settings settings;

	mimic_config_default(&settings);
	assert_int_equal(mimic_config_devices(list, &settings), 0);
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), maples);
	assert_int_equal(*count_of(&settings, &mimic_kind_dare), dares);
}

static void a_device_list_names_all_that_there_is(void **state)
{
	(void)state;
	expect_counts(NULL, 2, 1);
	expect_counts("", 2, 1);
	expect_counts("maple:3", 3, 0);
	expect_counts("dare:2", 0, 2);
	expect_counts("maple:3,dare:4", 3, 4);
	expect_counts("dare , maple:64", 64, 1);
}

static void the_section_of_dare_sets_its_parameters(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(load_text(PAPER, &settings), 0);
	assert_int_equal(dare_of(&settings)->contexts, 8);
	assert_int_equal(dare_of(&settings)->queue_entries, 32);
	assert_int_equal(dare_of(&settings)->tlb_entries, 32);
	assert_int_equal(load_text("[dare]\ncontexts = 15\nqueue_entries = 1\n" PAPER
				   "[mimic]\ndevices = dare:5 , maple\n", &settings), 0);
	assert_int_equal(dare_of(&settings)->contexts, 15);
	assert_int_equal(dare_of(&settings)->queue_entries, 1);
	assert_int_equal(dare_of(&settings)->tlb_entries, 32);
	/* tlb_entries of the other section is not touched either. */
	expect_profile(maple_of(&settings), "paper");
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 1);
	assert_int_equal(*count_of(&settings, &mimic_kind_dare), 5);
}

/* As in Virgo's paper: one fp32 unit of 8 x 8 with 16 KB, 64 KB of shared memory, 4 cores. */
static void expect_paper_cluster(const struct virgo_config *config)
{
	assert_int_equal(config->units, 1);
	assert_int_equal(config->cores, 4);
	assert_int_equal(config->shared_kb, 64);
	assert_int_equal(config->cisc_generation, VIRGO_CISC_PAPER);
	assert_int_equal(config->unit[0].type, VIRGO_FP32);
	assert_int_equal(config->unit[0].dim, 8);
	assert_int_equal(config->unit[0].accumulator_kb, 16);
}

static void expect_unit(const struct mimic_settings *settings, unsigned int unit, unsigned int type,
			unsigned int dim)
{
	assert_int_equal(virgo_of(settings)->unit[unit].type, type);
	assert_int_equal(virgo_of(settings)->unit[unit].dim, dim);
}

static void virgo_is_mixed_unless_a_file_says_otherwise(void **state)
{
	struct mimic_settings settings;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(i == 0 ? mimic_config_load(NULL, &settings) :
				 i == 1 ? mimic_config_load("artifact", &settings) :
					  load_text(PAPER, &settings), 0);
		assert_int_equal(*count_of(&settings, &mimic_kind_virgo), 2);
		assert_int_equal(virgo_of(&settings)->units, 4);
		assert_int_equal(virgo_of(&settings)->shared_kb, 128);
		expect_unit(&settings, 0, VIRGO_FP32, 8);
		expect_unit(&settings, 1, VIRGO_FP32, 4);
		expect_unit(&settings, 2, VIRGO_INT8, 16);
		expect_unit(&settings, 3, VIRGO_FP16, 16);
	}
}

static void the_word_paper_and_the_shipped_file_are_the_paper_cluster(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load("paper", &settings), 0);
	expect_paper_cluster(virgo_of(&settings));
	assert_int_equal(mimic_config_load("config/paper.ini", &settings), 0);
	expect_paper_cluster(virgo_of(&settings));
}

static void a_profile_of_virgo_leaves_other_kinds_alone(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_config_load("gemmini", &settings), 0);
	assert_int_equal(virgo_of(&settings)->units, 1);
	assert_int_equal(virgo_of(&settings)->shared_kb, 256);
	assert_int_equal(virgo_of(&settings)->unit[0].accumulator_kb, 64);
	expect_unit(&settings, 0, VIRGO_INT8, 16);
	expect_profile(maple_of(&settings), "paper");
	assert_int_equal(mimic_config_load("heterogeneous", &settings), 0);
	assert_int_equal(virgo_of(&settings)->units, 2);
	expect_unit(&settings, 0, VIRGO_FP32, 8);
	expect_unit(&settings, 1, VIRGO_FP32, 4);
	assert_int_equal(mimic_config_load("later", &settings), 0);
	assert_int_equal(virgo_of(&settings)->cisc_generation, VIRGO_CISC_LATER);
	assert_int_equal(virgo_of(&settings)->shared_kb, 128);
	assert_int_equal(virgo_of(&settings)->unit[0].accumulator_kb, 32);
	expect_unit(&settings, 0, VIRGO_FP16, 16);
}

static void keys_of_virgo_change_single_values(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(load_text(PAPER "[virgo]\nunits = 8\nunit7_type = 0\nunit7_dim = 16\n"
				   "shared_kb = 256\nunit0_accumulator_kb = 64\nprofile = paper\n", &settings), 0);
	assert_int_equal(virgo_of(&settings)->units, 8);
	assert_int_equal(virgo_of(&settings)->shared_kb, 256);
	assert_int_equal(virgo_of(&settings)->unit[0].accumulator_kb, 64);
	expect_unit(&settings, 0, VIRGO_FP32, 8);
	expect_unit(&settings, 6, VIRGO_FP32, 8);
	expect_unit(&settings, 7, VIRGO_INT8, 16);
}

static void mistakes_in_the_section_of_virgo_are_named_with_file_and_line(void **state)
{
	(void)state;
	expect_error("[virgo]\nunits = 2\n",
		     "1: section [virgo] has no profile = mixed, paper, heterogeneous, gemmini or later");
	expect_error("[virgo]\nprofile = artifact\n",
		     "2: profile must be mixed, paper, heterogeneous, gemmini or later, not 'artifact'");
	expect_error("[virgo]\nprofile = paper\nunits = 9\n", "3: units must be 1 to 8");
	expect_error("[virgo]\nprofile = paper\nshared_kb = 96\n", "3: shared_kb must be 64, 128 or 256");
	expect_error("[virgo]\nprofile = mixed\nunit3_dim = 12\n", "3: unit3_dim must be 4, 8, 16 or 32");
	expect_error("[virgo]\nprofile = mixed\nunit8_dim = 8\n", "3: unknown key 'unit8_dim' in section [virgo]");
	expect_error("[virgo]\nprofile = mixed\ninline_jobs = 1\n",
		     "3: unknown key 'inline_jobs' in section [virgo]");
	expect_error("[virgo]\nprofile = mixed\nunit0_type = fp32\n",
		     "3: unit0_type must be a whole number, not 'fp32'");
}

static void a_list_that_names_a_kind_twice_is_refused(void **state)
{
	struct mimic_settings settings;

	(void)state;
	mimic_config_default(&settings);
	assert_int_equal(mimic_config_devices("maple:2,maple:3", &settings), -EINVAL);
	assert_string_equal(mimic_error_text(), "devices 'maple:2,maple:3' names a kind twice");
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 2);
	assert_int_equal(*count_of(&settings, &mimic_kind_dare), 1);
}

static void a_wrong_device_list_is_named(void **state)
{
	static const char *const wrong[] = { "maple:", "maple:x", "maple:2x", "maples:2", "2",
					     ":", "maple: 2", "maple:2,", ",maple:2", "maple:2 dare:1",
					     "maple:2;dare:1", "maple,", "dare:1,pear:2" };
	struct mimic_settings settings;
	char expected[128];

	(void)state;
	mimic_config_default(&settings);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(expected, sizeof(expected), "devices '%s' is not a list of KIND:COUNT with the kinds %s", wrong[i],
			 mimic_kind_names());
		assert_int_equal(mimic_config_devices(wrong[i], &settings), -EINVAL);
		assert_string_equal(mimic_error_text(), expected);
		assert_int_equal(*count_of(&settings, &mimic_kind_maple), 2);
	}
}

static char plugins[4][64];
static size_t plugin_count;

static int note_plugin(const char *name)
{
	assert_true(plugin_count < 4);
	snprintf(plugins[plugin_count++], sizeof(plugins[0]), "%s", name);
	return strstr(name, "bad") ? -EINVAL : 0;
}

static void the_section_plugin_names_files_from_the_directory_of_the_configuration(void **state)
{
	static const char text[] = "[plugin]\nfile = first.so\n  file = bad/second.so ; why\nfile = /x/third.so\n"
				   "[mimic]\nfile = fourth.so\n";
	struct mimic_settings settings;

	(void)state;
	write_bytes(text, strlen(text));
	plugin_count = 0;
	assert_int_equal(mimic_config_plugins(path, note_plugin), -EINVAL);
	assert_int_equal(plugin_count, 3);
	assert_string_equal(plugins[0], "/tmp/first.so");
	assert_string_equal(plugins[1], "/tmp/bad/second.so");
	assert_string_equal(plugins[2], "/x/third.so");
	/* The whole file is read later, and may name as many. */
	assert_int_equal(load_text("[plugin]\nfile = a.so\nfile = b.so\n", &settings), 0);
}

static void profiles_and_files_that_are_not_there_name_no_plugins(void **state)
{
	(void)state;
	plugin_count = 0;
	assert_int_equal(mimic_config_plugins("paper", note_plugin), 0);
	assert_int_equal(mimic_config_plugins("/nonexistent/file.ini", note_plugin), 0);
	assert_int_equal(mimic_config_plugins("", note_plugin), 0);
	assert_int_equal(mimic_config_plugins(NULL, note_plugin), 0);
	assert_int_equal(plugin_count, 0);
}

static void a_section_plugin_has_files_and_nothing_else(void **state)
{
	(void)state;
	expect_error("[plugin]\nfile = a.so\nfile =\n", "3: file names no plugin");
	expect_error("[plugin]\ndirectory = /x\n", "2: unknown key 'directory' in section [plugin]");
}

static void an_unknown_key_is_an_error_as_long_as_all_plugins_are_there(void **state)
{
	(void)state;
	expect_error("[pear]\ntaste = 1\n", "1: unknown section [pear]");
}

/* The last: it is remembered that a plugin could not be loaded. */
static void without_a_plugin_its_section_and_its_devices_are_left_out(void **state)
{
	struct mimic_settings settings;

	(void)state;
	assert_int_equal(mimic_plugin_load("/nonexistent/pear.so"), -EINVAL);
	assert_string_equal(mimic_plugins_trouble(), "plugin /nonexistent/pear.so: No such file or directory");
	assert_int_equal(load_text("[mimic]\ndevices = maple:3, pear:2\n[pear]\ntaste = 1\n" PAPER, &settings), 0);
	assert_int_equal(*count_of(&settings, &mimic_kind_maple), 3);
	assert_int_equal(*count_of(&settings, &mimic_kind_dare), 0);
	expect_no_list("[mimic]\ndevices = pear:2, maple:\n", 2, "pear:2, maple:");
	expect_error("[mimic]\ntaste = 1\n", "2: unknown key 'taste' in section [mimic]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shipped_paper_file_is_the_paper_profile),
		cmocka_unit_test(a_file_that_is_silent_on_maple_leaves_it_at_the_paper_profile),
		cmocka_unit_test(the_shipped_artifact_file_is_the_artifact_profile),
		cmocka_unit_test(every_key_of_the_shipped_files_has_its_source),
		cmocka_unit_test(no_path_is_the_paper_profile),
		cmocka_unit_test(the_words_paper_and_artifact_are_profiles),
		cmocka_unit_test(keys_change_single_values_of_the_profile),
		cmocka_unit_test(a_quirk_of_the_profile_can_be_switched_off),
		cmocka_unit_test(mistakes_are_named_with_file_and_line),
		cmocka_unit_test(values_out_of_range_are_named_with_file_and_line),
		cmocka_unit_test(a_line_that_is_too_long_is_an_error),
		cmocka_unit_test(an_error_leaves_the_settings_alone),
		cmocka_unit_test(a_missing_file_and_a_directory_are_named),
		cmocka_unit_test(a_device_list_sets_the_count),
		cmocka_unit_test(a_wrong_device_list_is_named),
		cmocka_unit_test(a_device_list_names_all_that_there_is),
		cmocka_unit_test(the_section_of_dare_sets_its_parameters),
		cmocka_unit_test(virgo_is_mixed_unless_a_file_says_otherwise),
		cmocka_unit_test(the_word_paper_and_the_shipped_file_are_the_paper_cluster),
		cmocka_unit_test(a_profile_of_virgo_leaves_other_kinds_alone),
		cmocka_unit_test(keys_of_virgo_change_single_values),
		cmocka_unit_test(mistakes_in_the_section_of_virgo_are_named_with_file_and_line),
		cmocka_unit_test(a_list_that_names_a_kind_twice_is_refused),
		cmocka_unit_test(the_section_plugin_names_files_from_the_directory_of_the_configuration),
		cmocka_unit_test(profiles_and_files_that_are_not_there_name_no_plugins),
		cmocka_unit_test(a_section_plugin_has_files_and_nothing_else),
		cmocka_unit_test(an_unknown_key_is_an_error_as_long_as_all_plugins_are_there),
		cmocka_unit_test(without_a_plugin_its_section_and_its_devices_are_left_out),
	};
	int file = mkstemp(path);
	int failures;

	if (file < 0)
		return 1;
	close(file);
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failures;
}
