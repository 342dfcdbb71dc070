/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Files of mimic save: a sound one is read as it was written, a damaged one is refused with its reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libmimic/record/format.h"
#include "libmimic/record/snapshot.h"

struct parameters {
	unsigned int entries, flags;
};

static const struct mimic_key keys[] = {
	{ .name = "entries", .offset = offsetof(struct parameters, entries) },
	{ .name = "quirk", .offset = offsetof(struct parameters, flags), .bit = 4 },
};

static const struct mimic_kind kind = {
	.name = "small", .keys = keys, .key_count = 2, .parameters_size = sizeof(struct parameters),
};

static const uint64_t owners[] = { 257, 514 };
static const char image[13] = "twelve bytes";

/* A file of two devices, in memory that ends where it ends, so that a sanitizer sees a read behind it. */
struct file {
	char *bytes;
	size_t size;
	size_t second;	/* where its record begins */
};

static size_t put_record(char *bytes, const char *device, size_t owner_count)
{
	static const struct parameters parameters = { .entries = 32, .flags = 5 };
	struct mimic_snapshot_parts parts = {
		.device = device, .kind = &kind, .parameters = &parameters, .owners = owners,
		.owner_count = owner_count, .image_size = sizeof(image),
	};

	if (bytes) {
		memcpy(mimic_record_snapshot_begin(&parts, bytes), image, sizeof(image));
		mimic_record_snapshot_end(bytes);
	}
	return mimic_record_snapshot_size(&parts);
}

static struct file make_file(void)
{
	struct file file = { .second = sizeof(struct mimic_snapshot_file) + put_record(NULL, "small0", 2) };

	file.size = file.second + put_record(NULL, "small11", 0);
	file.bytes = malloc(file.size);
	assert_non_null(file.bytes);
	put_record(file.bytes + sizeof(struct mimic_snapshot_file), "small0", 2);
	put_record(file.bytes + file.second, "small11", 0);
	mimic_record_snapshot_file_begin((struct mimic_snapshot_file *)file.bytes, 2, file.size);
	return file;
}

static int check(const void *bytes, size_t size, char *text, size_t room)
{
	struct mimic_text reason;

	mimic_text_begin(&reason, text, room);
	return mimic_record_snapshot_file_check(bytes, size, &reason);
}

static void expect_refused(const void *bytes, size_t size, const char *part)
{
	char text[256];

	assert_int_equal(check(bytes, size, text, sizeof(text)), -EINVAL);
	if (!strstr(text, part))
		fail_msg("'%s' has no '%s'", text, part);
}

static struct mimic_snapshot read_record(const struct file *file, size_t at)
{
	struct mimic_snapshot snapshot;
	struct mimic_text reason;

	mimic_text_begin(&reason, NULL, 0);
	assert_int_equal(mimic_record_snapshot_read(file->bytes + at, file->size - at, &snapshot, &reason), 0);
	return snapshot;
}

static void a_file_is_read_as_it_was_written(void **state)
{
	struct file file = make_file();
	struct mimic_snapshot first, second;
	char text[256];

	(void)state;
	assert_int_equal(check(file.bytes, file.size, text, sizeof(text)), 2);
	assert_string_equal(text, "");
	first = read_record(&file, sizeof(struct mimic_snapshot_file));
	assert_string_equal(first.record->device, "small0");
	assert_string_equal(first.record->kind, "small");
	assert_string_equal(first.record->release, MIMIC_VERSION);
	assert_int_equal(first.record->parameters, 2);
	assert_string_equal(first.parameters[0].name, "entries");
	assert_int_equal(first.parameters[0].value, 32);
	assert_string_equal(first.parameters[1].name, "quirk");
	assert_int_equal(first.parameters[1].value, 1);
	assert_int_equal(first.record->owners, 2);
	assert_memory_equal(first.owners, owners, sizeof(owners));
	assert_int_equal(first.record->image_size, sizeof(image));
	assert_memory_equal(first.image, image, sizeof(image));
	second = read_record(&file, file.second);
	assert_string_equal(second.record->device, "small11");
	assert_int_equal(second.record->owners, 0);
	free(file.bytes);
}

static void a_file_cut_at_any_length_is_refused(void **state)
{
	struct file file = make_file();

	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		char *part = malloc(size ? size : 1);

		memcpy(part, file.bytes, size);
		expect_refused(part, size, size ? "cut off" : "empty");
		free(part);
	}
	free(file.bytes);
}

/* As mimicd gets it, without a file's header that knows the length. */
static void a_record_cut_at_any_length_is_refused(void **state)
{
	size_t whole = put_record(NULL, "small0", 2);
	char *bytes = malloc(whole), text[256];

	(void)state;
	put_record(bytes, "small0", 2);
	for (size_t size = 0; size < whole; size++) {
		struct mimic_snapshot snapshot;
		struct mimic_text reason;
		char *part = malloc(size ? size : 1);

		memcpy(part, bytes, size);
		mimic_text_begin(&reason, text, sizeof(text));
		assert_int_equal(mimic_record_snapshot_read(part, size, &snapshot, &reason), -EINVAL);
		assert_non_null(strstr(text, "cut off"));
		free(part);
	}
	free(bytes);
}

static void a_byte_that_has_changed_is_found(void **state)
{
	struct file file = make_file();
	char text[256];

	(void)state;
	for (size_t at = 0; at < file.size; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			file.bytes[at] ^= (char)(1u << bit);
			assert_int_equal(check(file.bytes, file.size, text, sizeof(text)), -EINVAL);
			assert_true(strlen(text) > 10);
			file.bytes[at] ^= (char)(1u << bit);
		}
	}
	assert_int_equal(check(file.bytes, file.size, text, sizeof(text)), 2);
	free(file.bytes);
}

/* The checksum is no secret: the rest is looked at, too. */
static void a_record_with_a_right_checksum_has_to_be_sound_too(void **state)
{
	struct file file = make_file();
	struct mimic_snapshot_record *record = (void *)(file.bytes + file.second), good = *record;
	uint64_t lengths[] = { 0, 1, 3, 64, 65, 1u << 20, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		record->parameters = (uint32_t)lengths[i];
		expect_refused(file.bytes, file.size, "do not add up");
		*record = good;
		record->owners = (uint32_t)lengths[i] | 1;
		expect_refused(file.bytes, file.size, "do not add up");
		*record = good;
		record->image_size = lengths[i] + 17;
		expect_refused(file.bytes, file.size, "do not add up");
		*record = good;
	}
	record->image_size = UINT64_MAX - 7;
	expect_refused(file.bytes, file.size, "do not add up");
	*record = good;
	memset(record->device, 'x', sizeof(record->device));
	mimic_record_snapshot_end(record);
	expect_refused(file.bytes, file.size, "text");
	*record = good;
	strcpy(record->kind, "\033[31m");
	mimic_record_snapshot_end(record);
	expect_refused(file.bytes, file.size, "text");
	*record = good;
	record->device[20] = 'x';
	mimic_record_snapshot_end(record);
	expect_refused(file.bytes, file.size, "text");
	free(file.bytes);
}

static void sign_header(struct mimic_snapshot_file *header)
{
	header->checksum = mimic_record_crc32c(0, header, offsetof(struct mimic_snapshot_file, checksum));
}

static void another_version_and_other_files_are_named(void **state)
{
	struct file file = make_file();
	struct mimic_snapshot_file *header = (void *)file.bytes, good = *header;
	struct mimic_snapshot_record *record = (void *)(file.bytes + file.second);

	(void)state;
	header->version = 2;
	expect_refused(file.bytes, file.size, "it has version 2; this mimic reads version 1");
	*header = good;
	header->devices = 1;
	sign_header(header);
	expect_refused(file.bytes, file.size, "behind its last device");
	header->devices = 3;
	sign_header(header);
	expect_refused(file.bytes, file.size, "cut off");
	header->devices = 0;
	sign_header(header);
	expect_refused(file.bytes, file.size, "no devices");
	*header = good;
	record->version = 7;
	expect_refused(file.bytes, file.size, "a device's record has version 7; this mimic reads version 1");
	memcpy(file.bytes, "#!/bin/s", 8);
	expect_refused(file.bytes, file.size, "no file of mimic save");
	free(file.bytes);
}

/* --- fits ------------------------------------------------------------------------------------ */

static void expect_fit(const struct mimic_snapshot *snapshot, const struct mimic_kind *with,
		       const struct parameters *parameters, const char *part)
{
	struct mimic_text reason;
	char text[256];
	int error;

	mimic_text_begin(&reason, text, sizeof(text));
	error = mimic_record_snapshot_fits(snapshot, with, parameters, &reason);
	assert_int_equal(error, part ? -EINVAL : 0);
	if (part && !strstr(text, part))
		fail_msg("'%s' has no '%s'", text, part);
}

static void a_state_that_does_not_fit_is_refused_by_name(void **state)
{
	struct parameters parameters = { .entries = 32, .flags = 4 };
	struct file file = make_file();
	struct mimic_snapshot snapshot = read_record(&file, file.second);
	struct mimic_snapshot_record *record = (void *)(file.bytes + file.second);
	struct mimic_kind other = kind;

	(void)state;
	/* Bits of a number that are no keys do not count. */
	expect_fit(&snapshot, &kind, &parameters, NULL);
	parameters.entries = 16;
	expect_fit(&snapshot, &kind, &parameters, "saved with entries = 32, and here it is 16");
	parameters = (struct parameters){ .entries = 32 };
	expect_fit(&snapshot, &kind, &parameters, "saved with quirk = 1, and here it is 0");
	parameters.flags = 4;
	other.name = "large";
	expect_fit(&snapshot, &other, &parameters, "kind small");
	other = kind;
	other.key_count = 1;
	expect_fit(&snapshot, &other, &parameters, "2 parameters, and the kind has here 1");
	record->layout ^= 1;
	expect_fit(&snapshot, &kind, &parameters, "lays data out in another way");
	free(file.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_as_it_was_written),
		cmocka_unit_test(a_file_cut_at_any_length_is_refused),
		cmocka_unit_test(a_record_cut_at_any_length_is_refused),
		cmocka_unit_test(a_byte_that_has_changed_is_found),
		cmocka_unit_test(a_record_with_a_right_checksum_has_to_be_sound_too),
		cmocka_unit_test(another_version_and_other_files_are_named),
		cmocka_unit_test(a_state_that_does_not_fit_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
