/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The file of a recording: checksums, numbers, and the errors of one that is not whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "libmimic/record/sink.h"
#include "libmimic/replay/reader.h"
#include "tests/lib/recordings.h"

#define HEADER sizeof(struct record_block_header)

/* --- checksums ------------------------------------------------------------------------------- */

/* The check value of CRC-32C, and RFC 3720, appendix B.4. */
static void checksums_are_those_of_crc_32c(void **context)
{
	unsigned char bytes[32];

	(void)context;
	mimic_record_crc32c_prepare();
	assert_int_equal(mimic_record_crc32c(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(mimic_record_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(mimic_record_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(mimic_record_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	assert_int_equal(mimic_record_crc32c_portable(0, bytes, sizeof(bytes)), 0x46dd794e);
	assert_int_equal(mimic_record_crc32c_portable(0, "123456789", 9), 0xe3069283);
}

static void a_checksum_can_be_made_in_pieces(void **context)
{
	const char text[] = "123456789";

	(void)context;
	mimic_record_crc32c_prepare();
	for (size_t first = 0; first <= 9; first++) {
		uint32_t crc = mimic_record_crc32c(0, text, first);

		assert_int_equal(mimic_record_crc32c(crc, text + first, 9 - first), 0xe3069283);
		crc = mimic_record_crc32c_portable(0, text, first);
		assert_int_equal(mimic_record_crc32c_portable(crc, text + first, 9 - first), 0xe3069283);
	}
}

/* Long ones are made in three lanes at once. */
static void a_long_checksum_is_that_of_its_bytes_one_by_one(void **context)
{
	static unsigned char bytes[20000];

	(void)context;
	mimic_record_crc32c_prepare();
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 24);
	for (size_t size = 3000; size < sizeof(bytes); size += 523)
		assert_int_equal(mimic_record_crc32c((uint32_t)size, bytes, size),
				 mimic_record_crc32c_portable((uint32_t)size, bytes, size));
}

/* --- records ------------------------------------------------------------------------------------ */

static unsigned char written[4096];

static void no_more_room(struct record_sink *sink)
{
	(void)sink;
	fail();
}

static struct record_sink sink_of_test(void)
{
	return (struct record_sink){
		.start = written, .at = written, .end = written + sizeof(written), .full = no_more_room,
	};
}

/* One stream of one block, or of several of `piece` bytes. */
static void start_reader(struct replay_reader *reader, struct replay_file *file,
			 const struct record_sink *sink, size_t piece)
{
	struct record_file_header header = { .magic = RECORD_MAGIC, .version = RECORD_VERSION };
	size_t size = (size_t)(sink->at - sink->start);
	static unsigned char bytes[1 << 20];
	size_t length = sizeof(header);
	char path[64], text[128];
	uint32_t number = 0;
	int fd;

	mimic_record_crc32c_prepare();
	header.checksum = mimic_record_crc32c(0, &header, offsetof(struct record_file_header, checksum));
	memcpy(bytes, &header, sizeof(header));
	for (size_t done = 0; done < size; done += piece) {
		struct record_block_header block = {
			.magic = RECORD_BLOCK_MAGIC, .sequence = number++,
			.length = (uint32_t)(size - done < piece ? size - done : piece),
		};

		memcpy(bytes + length, &block, sizeof(block));
		memcpy(bytes + length + sizeof(block), sink->start + done, block.length);
		length += sizeof(block) + block.length;
	}
	recording_mend(bytes, length);
	fd = recording_file(bytes, length, path, sizeof(path));
	assert_int_equal(mimic_replay_file_open(file, path, text, sizeof(text)), 0);
	close(fd);
	assert_false(file->damage.exists);
	mimic_replay_reader_start(reader, file, 0);
}

static void numbers_come_back_in_blocks_of_any_size(void **context)
{
	static const uint64_t numbers[] = {
		0, 1, 127, 128, 300, 16383, 16384, (1u << 21) - 1, 1u << 21, (1u << 28) - 1, 1u << 28,
		0xffffffff, 1ull << 56, 1ull << 63, UINT64_MAX,
	};
	const size_t count = sizeof(numbers) / sizeof(numbers[0]);
	static struct replay_reader reader;
	struct record_sink sink = sink_of_test();
	struct replay_file file;

	(void)context;
	for (size_t i = 0; i < count; i++)
		sink_number(&sink, numbers[i]);
	sink_bytes(&sink, "the end", 8);
	for (size_t piece = 1; piece < 70; piece++) {
		char text[8];

		start_reader(&reader, &file, &sink, piece);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(mimic_replay_number(&reader), numbers[i]);
		mimic_replay_bytes(&reader, text, sizeof(text));
		assert_string_equal(text, "the end");
		assert_false(reader.is_over);
		assert_false(mimic_replay_reader_more(&reader));
		assert_false(reader.damage.exists);
		mimic_replay_file_close(&file);
	}
}

/* By hand: 300 is 0b10 0101100. */
static void a_number_is_seven_bits_a_byte(void **context)
{
	struct record_sink sink = sink_of_test();

	(void)context;
	sink_number(&sink, 300);
	assert_int_equal(sink.at - sink.start, 2);
	assert_int_equal(written[0], 0xac);
	assert_int_equal(written[1], 0x02);
}

/* A block of few bytes, and behind it bytes that are not the sink's. */
#define SMALL_BLOCK 50
#define GUARD 16

static unsigned char small_block[SMALL_BLOCK + GUARD];

static void collect(struct record_sink *sink)
{
	static size_t done;
	size_t size = (size_t)(sink->at - sink->start);

	if (sink->failed)	/* of the start */
		done = 0;
	sink->failed = false;
	memcpy(written + done, sink->start, size);
	done += size;
	sink->at = sink->start;
	for (size_t i = 0; i < GUARD; i++)
		assert_int_equal(small_block[SMALL_BLOCK + i], 0xee);
}

static struct record_sink small_sink(void)
{
	struct record_sink sink = {
		.start = small_block, .at = small_block, .end = small_block + SMALL_BLOCK, .full = collect,
		.failed = true,
	};

	memset(small_block, 0xee, sizeof(small_block));
	collect(&sink);
	return sink;
}

static void addresses_go_on_in_the_next_block(void **context)
{
	static unsigned char expected[4096];
	struct record_sink sink = small_sink();
	uint64_t addresses[100], before = 0;
	size_t size = 0;

	(void)context;
	for (size_t i = 0; i < 100; i++) {
		uint64_t number;

		/* Differences of all lengths, of both signs. */
		addresses[i] = i & 1 ? before - (1ull << i % 63) : before + (3ull << i % 61);
		number = mimic_record_zigzag(addresses[i] - before);
		before = addresses[i];
		for (; number > 127; number >>= 7)
			expected[size++] = (unsigned char)(number | 128);
		expected[size++] = (unsigned char)number;
	}
	sink_addresses(&sink, addresses, 100);
	collect(&sink);
	assert_memory_equal(written, expected, size);
}

static void values_go_on_in_the_next_block(void **context)
{
	uint64_t values[100], wide;
	uint32_t narrow;

	(void)context;
	for (size_t i = 0; i < 100; i++)
		values[i] = (i + 1) * 0x0123456789abcdefull;
	for (unsigned int size = 4; size <= 8; size += 4) {
		struct record_sink sink = small_sink();

		sink_values(&sink, values, 100, size);
		collect(&sink);
		for (size_t i = 0; i < 100; i++) {
			memcpy(&narrow, written + i * size, sizeof(narrow));
			assert_int_equal(narrow, (uint32_t)values[i]);
			memcpy(&wide, written + i * size, sizeof(wide));
			assert_true(size == 4 || wide == values[i]);
		}
	}
}

static void small_differences_of_both_signs_are_small_numbers(void **context)
{
	(void)context;
	assert_int_equal(mimic_record_zigzag(0), 0);
	assert_int_equal(mimic_record_zigzag((uint64_t)-1), 1);
	assert_int_equal(mimic_record_zigzag(1), 2);
	assert_int_equal(mimic_record_zigzag((uint64_t)INT64_MIN), UINT64_MAX);
	assert_int_equal(mimic_record_unzigzag(1), (uint64_t)-1);
	assert_int_equal(mimic_record_unzigzag(UINT64_MAX), (uint64_t)INT64_MIN);
}

static void a_number_of_more_than_64_bits_is_none(void **context)
{
	static struct replay_reader reader;
	struct record_sink sink = sink_of_test();
	struct replay_file file;

	(void)context;
	for (unsigned int i = 0; i < 9; i++)
		sink_byte(&sink, 0xff);
	sink_byte(&sink, 2);
	start_reader(&reader, &file, &sink, 100);
	assert_int_equal(mimic_replay_number(&reader), 0);
	assert_true(reader.damage.exists);
	/* The offset of its last byte: behind two headers and nine bytes. */
	assert_int_equal(reader.damage.offset, sizeof(struct record_file_header) + HEADER + 9);
	mimic_replay_file_close(&file);
}

static void missing_bytes_are_0_and_no_damage(void **context)
{
	static struct replay_reader reader;
	struct record_sink sink = sink_of_test();
	unsigned char bytes[4] = { 9, 9, 9, 9 };
	struct replay_file file;

	(void)context;
	sink_byte(&sink, 7);
	start_reader(&reader, &file, &sink, 100);
	mimic_replay_bytes(&reader, bytes, sizeof(bytes));
	assert_memory_equal(bytes, "\7\0\0\0", 4);
	assert_true(reader.is_over);
	assert_false(reader.damage.exists);
	mimic_replay_file_close(&file);
}

/* --- files ---------------------------------------------------------------------------------------- */

static int open_bytes(struct replay_file *file, const void *bytes, size_t size, char *text)
{
	char path[64];
	int fd = recording_file(bytes, size, path, sizeof(path));
	int error = mimic_replay_file_open(file, path, text, 128);

	close(fd);
	return error;
}

static void a_cut_is_found_where_it_is(void **context)
{
	struct recording recording;
	struct replay_file file;
	size_t second;
	char text[128];

	(void)context;
	recording_make(&recording, RECORDED_MAPLE);
	second = recording_block(recording.bytes, recording.size, 1);
	for (size_t size = 0; size < recording.size; size++) {
		int error = open_bytes(&file, recording.bytes, size, text);

		assert_int_equal(error != 0, size < sizeof(struct record_file_header));
		if (error)
			continue;
		/* Between blocks nothing is missing that one could see here. */
		if (size == sizeof(struct record_file_header) || size == second) {
			assert_false(file.damage.exists);
		} else {
			assert_true(file.damage.exists);
			assert_int_equal(file.damage.offset, size);
		}
		assert_int_equal(file.end, size < second ? sizeof(struct record_file_header) : second);
		mimic_replay_file_close(&file);
	}
	recording_free(&recording);
}

static void a_changed_byte_is_found_in_its_block(void **context)
{
	struct recording recording;
	struct replay_file file;
	size_t second;
	char text[128];

	(void)context;
	recording_make(&recording, RECORDED_MAPLE);
	second = recording_block(recording.bytes, recording.size, 1);
	for (size_t at = second + HEADER; at < recording.size; at++) {
		recording.bytes[at] ^= 0x10;
		assert_int_equal(open_bytes(&file, recording.bytes, recording.size, text), 0);
		assert_true(file.damage.exists);
		assert_int_equal(file.damage.offset, second);
		assert_non_null(strstr(file.damage.text, "checksum does not match"));
		assert_int_equal(file.end, second);
		mimic_replay_file_close(&file);
		recording.bytes[at] ^= 0x10;
	}
	recording_free(&recording);
}

static void a_recording_of_another_version_is_refused_by_its_number(void **context)
{
	struct record_file_header header = { .magic = RECORD_MAGIC, .version = 7 };
	struct replay_file file;
	char text[128];

	(void)context;
	mimic_record_crc32c_prepare();
	header.checksum = mimic_record_crc32c(0, &header, offsetof(struct record_file_header, checksum));
	assert_int_equal(open_bytes(&file, &header, sizeof(header), text), -ENOTSUP);
	assert_non_null(strstr(text, "version 7"));
}

static void a_file_that_is_something_else_is_refused(void **context)
{
	struct replay_file file;
	char text[128];

	(void)context;
	assert_int_equal(open_bytes(&file, "#!/bin/sh\necho something else\n", 30, text), -EINVAL);
	assert_int_equal(open_bytes(&file, "", 0, text), -EINVAL);
	assert_int_equal(mimic_replay_file_open(&file, "/dev/null", text, sizeof(text)), -ESPIPE);
	assert_int_equal(mimic_replay_file_open(&file, "/", text, sizeof(text)), -EISDIR);
	assert_int_equal(mimic_replay_file_open(&file, "/dev/null/none", text, sizeof(text)), -ENOTDIR);
}

static void blocks_in_the_wrong_order_are_found(void **context)
{
	struct recording recording;
	struct record_block_header header;
	struct replay_file file;
	size_t second;
	char text[128];

	(void)context;
	recording_make(&recording, RECORDED_MAPLE);
	second = recording_block(recording.bytes, recording.size, 1);
	memcpy(&header, recording.bytes + second, sizeof(header));
	header.sequence = 5;
	memcpy(recording.bytes + second, &header, sizeof(header));
	recording_mend(recording.bytes, recording.size);
	assert_int_equal(open_bytes(&file, recording.bytes, recording.size, text), 0);
	assert_true(file.damage.exists);
	assert_int_equal(file.damage.offset, second);
	assert_non_null(strstr(file.damage.text, "number 5"));
	mimic_replay_file_close(&file);
	recording_free(&recording);
}

#define MANY_STREAMS 16384u

/* Streams of one byte and one block each, as a program would have that opens a device many times. */
static size_t make_many_streams(unsigned char **bytes)
{
	struct record_file_header header = { .magic = RECORD_MAGIC, .version = RECORD_VERSION };
	size_t length = sizeof(header);

	*bytes = malloc(sizeof(header) + MANY_STREAMS * (HEADER + 1));
	assert_non_null(*bytes);
	header.checksum = mimic_record_crc32c(0, &header, offsetof(struct record_file_header, checksum));
	memcpy(*bytes, &header, sizeof(header));
	for (uint32_t i = 0; i < MANY_STREAMS; i++) {
		const struct record_block_header block = { .magic = RECORD_BLOCK_MAGIC, .stream = i, .length = 1 };

		memcpy(*bytes + length, &block, sizeof(block));
		(*bytes)[length + sizeof(block)] = (unsigned char)i;
		length += sizeof(block) + 1;
	}
	recording_mend(*bytes, length);
	return length;
}

/* If each stream's end were looked for in all blocks that follow, that would be 134 million reads. */
static void the_time_to_read_does_not_grow_with_the_square_of_the_streams(void **context)
{
	static struct replay_reader reader;
	clock_t limit = 5 * CLOCKS_PER_SEC, start = clock();
	struct replay_file file;
	unsigned char *bytes;
	char text[128];
	size_t size;

	(void)context;
	mimic_record_crc32c_prepare();
	size = make_many_streams(&bytes);
	assert_int_equal(open_bytes(&file, bytes, size, text), 0);
	assert_int_equal(file.streams, MANY_STREAMS);
	for (uint32_t i = 0; i < MANY_STREAMS && clock() - start < limit; i++) {
		mimic_replay_reader_start(&reader, &file, i);
		assert_int_equal(mimic_replay_byte(&reader), i & 255);
		assert_false(mimic_replay_reader_more(&reader));
	}
	assert_true(clock() - start < limit);
	mimic_replay_file_close(&file);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_are_those_of_crc_32c),
		cmocka_unit_test(a_checksum_can_be_made_in_pieces),
		cmocka_unit_test(a_long_checksum_is_that_of_its_bytes_one_by_one),
		cmocka_unit_test(numbers_come_back_in_blocks_of_any_size),
		cmocka_unit_test(a_number_is_seven_bits_a_byte),
		cmocka_unit_test(addresses_go_on_in_the_next_block),
		cmocka_unit_test(values_go_on_in_the_next_block),
		cmocka_unit_test(small_differences_of_both_signs_are_small_numbers),
		cmocka_unit_test(a_number_of_more_than_64_bits_is_none),
		cmocka_unit_test(missing_bytes_are_0_and_no_damage),
		cmocka_unit_test(a_cut_is_found_where_it_is),
		cmocka_unit_test(a_changed_byte_is_found_in_its_block),
		cmocka_unit_test(a_recording_of_another_version_is_refused_by_its_number),
		cmocka_unit_test(a_file_that_is_something_else_is_refused),
		cmocka_unit_test(blocks_in_the_wrong_order_are_found),
		cmocka_unit_test(the_time_to_read_does_not_grow_with_the_square_of_the_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
