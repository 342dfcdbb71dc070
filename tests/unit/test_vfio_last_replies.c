/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The last replies to a virtual machine whose connection ends, wherever mimicd was in the stream. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/vfio/last_replies.h"

#define MESSAGES 4u
#define BODY 16u	/* of each message but the last one */

struct message {
	struct mimicd_vfio_header header;
	char body[BODY];
};

/* A load, a store without a reply, a load, and a message that is a header only. */
static const struct message stream[MESSAGES] = {
	{ .header = { .id = 1, .command = MIMICD_VFIO_REGION_READ, .size = sizeof(struct message) } },
	{ .header = { .id = 2, .command = MIMICD_VFIO_REGION_WRITE, .size = sizeof(struct message),
		      .flags = MIMICD_VFIO_NO_REPLY } },
	{ .header = { .id = 3, .command = MIMICD_VFIO_REGION_READ, .size = sizeof(struct message) } },
	{ .header = { .id = 4, .command = MIMICD_VFIO_RESET, .size = sizeof(struct mimicd_vfio_header) } },
};
static const size_t stream_size = sizeof(stream) - BODY;

static struct mimicd_vfio_note note;
static struct mimicd_vfio_header replies[8];
static size_t count;

static int clear(void **state)
{
	(void)state;
	memset(&note, 0, sizeof(note));
	count = 0;
	return 0;
}

static void take(const void *bytes, size_t size)
{
	size_t length = mimicd_vfio_last_replies(&note, bytes, size, (char *)&replies[count]);

	assert_int_equal(length % sizeof(replies[0]), 0);
	assert_true(length <= size + sizeof(replies[0]));
	count += length / sizeof(replies[0]);
}

static void begin(void)
{
	take(NULL, 0);
}

static void expect(size_t number, uint16_t id)
{
	assert_true(number < count);
	assert_int_equal(replies[number].id, id);
	assert_int_equal(replies[number].size, sizeof(replies[0]));
	assert_int_equal(replies[number].flags, MIMICD_VFIO_REPLY | MIMICD_VFIO_ERROR);
	assert_int_equal(replies[number].error, EIO);
}

static void messages_that_want_a_reply_get_an_error(void **state)
{
	(void)state;
	begin();
	take(stream, stream_size);
	assert_int_equal(count, 3);
	expect(0, 1);
	assert_int_equal(replies[0].command, MIMICD_VFIO_REGION_READ);
	expect(1, 3);
	expect(2, 4);
	assert_int_equal(replies[2].command, MIMICD_VFIO_RESET);
}

static void it_is_the_same_wherever_the_bytes_are_cut(void **state)
{
	for (size_t first = 0; first <= stream_size; first++) {
		clear(state);
		begin();
		for (size_t i = 0; i < first; i++)
			take((const char *)stream + i, 1);
		if (first < stream_size)
			take((const char *)stream + first, stream_size - first);
		assert_int_equal(count, 3);
		expect(0, 1);
		expect(1, 3);
		expect(2, 4);
	}
}

/* Mimicd has read so much of the first message, and has not answered it. */
static void a_message_that_has_been_read_is_answered_and_not_read_again(void **state)
{
	for (uint32_t have = sizeof(note.header); have <= sizeof(struct message); have++) {
		clear(state);
		note.header = stream[0].header;
		note.have = have;
		begin();
		assert_int_equal(count, 1);
		expect(0, 1);
		take((const char *)stream + have, stream_size - have);
		assert_int_equal(count, 3);
		expect(1, 3);
		expect(2, 4);
	}
}

static void it_is_answered_where_mimicd_could_not_say_that_it_had_read_it(void **state)
{
	(void)state;
	note.header = stream[0].header;
	begin();
	take((const char *)stream + sizeof(note.header), stream_size - sizeof(note.header));
	assert_int_equal(count, 3);
	expect(0, 1);
	expect(1, 3);
}

static void a_message_may_have_been_read_whole_where_mimicd_could_not_say_so(void **state)
{
	(void)state;
	note.header = stream[1].header;
	note.have = sizeof(note.header);
	begin();
	take(&stream[2], stream_size - 2 * sizeof(stream[0]));
	assert_int_equal(count, 2);
	expect(0, 3);
	expect(1, 4);
}

static void an_answered_message_is_not_answered_again(void **state)
{
	(void)state;
	note.header = stream[0].header;
	note.have = sizeof(struct message);
	note.is_answered = true;
	begin();
	assert_int_equal(count, 0);
	take(&stream[1], stream_size - sizeof(stream[0]));
	assert_int_equal(count, 2);
	expect(0, 3);
	expect(1, 4);
}

static void nothing_is_answered_behind_bytes_that_are_no_message(void **state)
{
	static const struct mimicd_vfio_header wrong[] = {
		{ .id = 9, .size = sizeof(wrong[0]) - 1 },
		{ .id = 9, .size = 0 },
		{ .id = 9, .size = UINT32_MAX },
		{ .id = 9, .size = sizeof(wrong[0]), .flags = MIMICD_VFIO_REPLY },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		clear(state);
		begin();
		take(&wrong[i], sizeof(wrong[i]));
		take(stream, stream_size);
		assert_int_equal(count, 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear)
	const struct CMUnitTest tests[] = {
		TEST(messages_that_want_a_reply_get_an_error),
		TEST(it_is_the_same_wherever_the_bytes_are_cut),
		TEST(a_message_that_has_been_read_is_answered_and_not_read_again),
		TEST(it_is_answered_where_mimicd_could_not_say_that_it_had_read_it),
		TEST(a_message_may_have_been_read_whole_where_mimicd_could_not_say_so),
		TEST(an_answered_message_is_not_answered_again),
		TEST(nothing_is_answered_behind_bytes_that_are_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
