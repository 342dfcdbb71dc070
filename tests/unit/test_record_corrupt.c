/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Recordings that something has happened to, 10,000 at random and some on purpose: each ends in a clean word, and soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/record/format.h"
#include "libmimic/replay/replay.h"
#include "tests/lib/recordings.h"
#include "tests/lib/sanitized.h"

#define CORRUPTED_EACH (IS_SANITIZED ? 1000 : 3334)
#define GROWS_BY 64u

static uint32_t state = 1;

/* Marsaglia's xorshift. */
static uint32_t next_random(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

struct corrupted {
	unsigned char *bytes;
	size_t size;
	bool is_mended;
};

static void flip(struct corrupted *it)
{
	for (uint32_t n = next_random(4) + 1; n; n--)
		it->bytes[next_random((uint32_t)it->size)] ^= (unsigned char)(1u << next_random(8));
}

static void cut(struct corrupted *it)
{
	it->size = next_random((uint32_t)it->size);
}

static void insert(struct corrupted *it)
{
	size_t at = next_random((uint32_t)it->size), more = next_random(GROWS_BY) + 1;

	memmove(it->bytes + at + more, it->bytes + at, it->size - at);
	for (size_t i = 0; i < more; i++)
		it->bytes[at + i] = (unsigned char)next_random(256);
	it->size += more;
}

static void take_out(struct corrupted *it)
{
	size_t at = next_random((uint32_t)it->size), less = next_random(GROWS_BY) + 1;

	if (less > it->size - at)
		less = it->size - at;
	memmove(it->bytes + at, it->bytes + at + less, it->size - at - less);
	it->size -= less;
}

/* Anywhere in a payload, behind a checksum that is right: the records themselves have to be looked at. */
static void write_over(struct corrupted *it)
{
	size_t first = sizeof(struct record_file_header) + sizeof(struct record_block_header);

	for (uint32_t n = next_random(4) + 1; n && it->size > first; n--)
		it->bytes[first + next_random((uint32_t)(it->size - first))] =
			(unsigned char)(next_random(2) ? next_random(256) : next_random(90));
	recording_mend(it->bytes, it->size);
	it->is_mended = true;
}

static void corrupt(struct corrupted *it)
{
	static void (*const ways[])(struct corrupted *it) = {
		flip, cut, insert, take_out, write_over, write_over, write_over, write_over,
	};

	ways[next_random(sizeof(ways) / sizeof(ways[0]))](it);
}

/* Is it all there, and as it was? */
static bool replays_whole(const char *path)
{
	const struct mimic_replay_options options = { .settings = NULL };
	struct mimic_replay_result result;
	struct mimic_replay *replay;
	char text[256] = "";
	bool is_whole;

	if (mimic_replay_open(&replay, path, text, sizeof(text))) {
		assert_true(text[0] != '\0');
		return false;
	}
	is_whole = !mimic_replay_damage(replay)->exists && mimic_replay_count(replay);
	for (unsigned int i = 0; i < mimic_replay_count(replay); i++) {
		text[0] = '\0';
		if (mimic_replay_run(replay, i, &options, &result, text, sizeof(text))) {
			assert_true(text[0] != '\0');
			is_whole = false;
			continue;
		}
		assert_int_equal(result.end == MIMIC_REPLAY_BAD, result.damage.exists);
		is_whole = is_whole && result.end == MIMIC_REPLAY_WHOLE && !result.difference.exists;
	}
	mimic_replay_close(replay);
	return is_whole;
}

static void corrupt_many(enum recorded_program program)
{
	struct recording recording;
	struct corrupted it;
	char path[64];
	int fd;

	recording_make(&recording, program);
	it.bytes = malloc(recording.size + GROWS_BY);
	assert_non_null(it.bytes);
	for (unsigned int i = 0; i < CORRUPTED_EACH; i++) {
		memcpy(it.bytes, recording.bytes, recording.size);
		it.size = recording.size;
		it.is_mended = false;
		corrupt(&it);
		fd = recording_file(it.bytes, it.size, path, sizeof(path));
		/* Numbers that nothing depends on may be others; bytes behind a wrong checksum may not. */
		if (replays_whole(path) && !it.is_mended)
			assert_true(it.size == recording.size &&
				    !memcmp(it.bytes, recording.bytes, it.size));
		close(fd);
	}
	free(it.bytes);
	recording_free(&recording);
}

static void corrupt_recordings_of_maple_end_in_a_clean_word(void **context)
{
	(void)context;
	corrupt_many(RECORDED_MAPLE);
}

static void corrupt_recordings_of_dare_end_in_a_clean_word(void **context)
{
	(void)context;
	corrupt_many(RECORDED_DARE);
}

static void corrupt_recordings_of_virgo_end_in_a_clean_word(void **context)
{
	(void)context;
	corrupt_many(RECORDED_VIRGO);
}

/* --- on purpose ------------------------------------------------------------------------------ */

/* Replays its first device, which must not be able to be; says at which byte. */
static uint64_t expect_bad(struct corrupted *it, const char *why)
{
	const struct mimic_replay_options options = { .settings = NULL };
	struct mimic_replay_result result;
	struct mimic_replay *replay;
	char path[64], text[256];
	int fd;

	recording_mend(it->bytes, it->size);
	fd = recording_file(it->bytes, it->size, path, sizeof(path));
	assert_int_equal(mimic_replay_open(&replay, path, text, sizeof(text)), 0);
	assert_false(mimic_replay_damage(replay)->exists);
	assert_int_equal(mimic_replay_run(replay, 0, &options, &result, text, sizeof(text)), 0);
	assert_int_equal(result.end, MIMIC_REPLAY_BAD);
	assert_non_null(strstr(result.damage.text, why));
	mimic_replay_close(replay);
	close(fd);
	return result.damage.offset;
}

static void change_length(struct corrupted *it, size_t block, size_t by)
{
	struct record_block_header header;

	memcpy(&header, it->bytes + block, sizeof(header));
	header.length += (uint32_t)by;
	memcpy(it->bytes + block, &header, sizeof(header));
	it->size += by;
}

/* Context 1 gets the memory that context 0 has, but it can do nothing: docs/record.md has the records. */
static void attach_again(struct corrupted *it)
{
	const unsigned char again[] = {
		RECORD_ATTACH, 0, 1, 2, RECORD_MEMORY_OF, 2, 1, 0, RECORD_ANSWER,
	};
	size_t block = recording_block(it->bytes, it->size, 1);
	size_t at = block + sizeof(struct record_block_header);

	assert_int_equal(it->bytes[at], RECORD_ATTACH);
	while (it->bytes[at] != RECORD_ANSWER)
		at++;
	memmove(it->bytes + at + 1 + sizeof(again), it->bytes + at + 1, it->size - at - 1);
	memcpy(it->bytes + at + 1, again, sizeof(again));
	change_length(it, block, sizeof(again));
}

static void a_memory_that_loses_what_it_could_do_is_damage(void **context)
{
	struct recording recording;
	struct corrupted it;

	(void)context;
	recording_make(&recording, RECORDED_DARE);
	it = (struct corrupted){ malloc(recording.size + GROWS_BY), recording.size, true };
	assert_non_null(it.bytes);
	memcpy(it.bytes, recording.bytes, recording.size);
	attach_again(&it);
	expect_bad(&it, "a memory 1 with other abilities");
	free(it.bytes);
	recording_free(&recording);
}

/* The size is the last number of the first block: seven bits a byte, bit 7 in all but the last. */
static void a_device_memory_that_is_no_whole_number_of_chunks_is_damage(void **context)
{
	struct recording recording;
	struct corrupted it;
	size_t at, second;

	(void)context;
	recording_make(&recording, RECORDED_VIRGO);
	it = (struct corrupted){ recording.bytes, recording.size, true };
	second = recording_block(it.bytes, it.size, 1);
	for (at = second - 1; it.bytes[at - 1] & 128;)
		at--;
	it.bytes[at]++;
	assert_int_equal(expect_bad(&it, "a memory of"), second - 1);
	recording_free(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corrupt_recordings_of_maple_end_in_a_clean_word),
		cmocka_unit_test(corrupt_recordings_of_dare_end_in_a_clean_word),
		cmocka_unit_test(corrupt_recordings_of_virgo_end_in_a_clean_word),
		cmocka_unit_test(a_memory_that_loses_what_it_could_do_is_damage),
		cmocka_unit_test(a_device_memory_that_is_no_whole_number_of_chunks_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
