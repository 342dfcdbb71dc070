/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A daemon takes over from one that was killed and whose window is damaged: its header, its records, its
 * logs. The models' own memory there stays whole. Also, the supervisor has lost descriptors, or has them by
 * other names.
 *
 * The daemon has to start in any case. It has the program, or has not and hangs up, and when the program
 * ends all devices are free, and no descriptor is left. With no damage the program has all that it had.
 *
 * An input is a byte (1: the devices' sum is made right, and the models are where they were), and damages.
 * The first byte of each chooses:
 *   0  eight bytes of the header: offset of one byte, value
 *   1  a byte of the records: offset of two bytes, value
 *   2  eight bytes of the records, aligned: offset of two bytes, value
 *   3  the same as an address in the window: offset of two bytes, address of three
 *   4  an entry of a log: kind, its size of two bytes, where it goes (heap, behind it, the program; 0x80:
 *      the name of a device; 0x40: it is in the second log), offset there of four bytes, whether it is the program's, value
 *   5  eight bytes of the first log: offset of two bytes, value
 *   6  a descriptor is lost: number
 *   7  a descriptor has another name: number, place in the name, letter
 */
#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/left_window.h"

#define DAMAGES 8u
#define PROGRAM_ADDRESS 0x10000000ull
#define DEVICES 4u	/* with names */

static FILE *null;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	CHECK(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* --- damage ------------------------------------------------------------------------------------- */

static void damage_header(struct left_window *left, struct input *input)
{
	size_t offset = byte(input) % (sizeof(left->header) / 8) * 8;
	uint64_t value = bytes(input, 8);

	memcpy(left->header + offset, &value, sizeof(value));
}

static void damage_byte(struct left_window *left, struct input *input)
{
	size_t offset = bytes(input, 2) % left->heap_bytes;

	left->heap[offset] = (unsigned char)byte(input);
}

static void damage_word(struct left_window *left, struct input *input, uint64_t address)
{
	size_t offset = bytes(input, 2) % (left->heap_bytes / 8) * 8;
	uint64_t value = address ? address + bytes(input, 3) % left->heap_bytes : bytes(input, 8);

	memcpy(left->heap + offset, &value, sizeof(value));
}

static void add_entry(struct left_window *left, struct input *input, uint64_t start)
{
	struct mimicd_undo_entry entry = { .kind = (uint16_t)byte(input) };
	unsigned char *log;
	unsigned int place;
	size_t used;

	entry.size = (uint32_t)bytes(input, 2);
	place = byte(input);
	log = left->log[place & 0x40 ? 1 : 0];
	used = left->window.logs[place & 0x40 ? 1 : 0].used;
	if (used % 8 || used + mimicd_log_rounded(entry.size) + sizeof(entry) > LEFT_LOG_BYTES)
		return;
	entry.address = place % 3 == 2 ? PROGRAM_ADDRESS : start + (place % 3 ? MIMICD_JOURNAL_HEAP_BYTES : 0);
	entry.address += bytes(input, 4);
	entry.client = byte(input) % 4 ? left->program : 0;
	memset(log + used, (int)byte(input), mimicd_log_rounded(entry.size));
	/* Of an atomic operation they name the device. */
	if (place & 0x80 && entry.size >= sizeof("maple0"))
		memcpy(log + used, "maple0", sizeof("maple0"));
	used += mimicd_log_rounded(entry.size);
	memcpy(log + used, &entry, sizeof(entry));
	left->window.logs[place & 0x40 ? 1 : 0].used = used + sizeof(entry);
}

static void damage_log(struct left_window *left, struct input *input)
{
	size_t offset = bytes(input, 2) % (LEFT_LOG_BYTES - 8);
	uint64_t value = bytes(input, 8);

	memcpy(left->log[0] + offset, &value, sizeof(value));
}

static void drop(struct left_window *left, struct input *input)
{
	left->is_dropped[byte(input) % left->stored_count] = true;
}

static void rename_one(struct left_window *left, struct input *input)
{
	char *name = left->names[byte(input) % left->stored_count];
	size_t place = byte(input) % MIMICD_STORE_NAME_MAX;
	char letter = (char)byte(input);

	/* Others have not come through the environment. */
	name[place] = letter == ':' ? 0 : letter;
}

static void damage(struct left_window *left, struct input *input)
{
	const uint64_t start = left->window.address + MIMICD_WINDOW_HEAP;

	while (input->size) {
		switch (byte(input) % DAMAGES) {
		case 0:
			damage_header(left, input);
			break;
		case 1:
			damage_byte(left, input);
			break;
		case 2:
			damage_word(left, input, 0);
			break;
		case 3:
			damage_word(left, input, start);
			break;
		case 4:
			add_entry(left, input, start);
			break;
		case 5:
			damage_log(left, input);
			break;
		case 6:
			drop(left, input);
			break;
		default:
			rename_one(left, input);
		}
	}
}

/* --- the next daemon ------------------------------------------------------------------------------ */

static void settle(struct mimicd_server *server)
{
	mimicd_server_settle(server);
	while (mimicd_closer_backlog(server->loop.closer, getuid()))
		sched_yield();
	left_window_settle();
}

/* All that the program had. */
static void check_whole(const struct mimicd_server *server)
{
	const struct mimicd_client *client;
	unsigned int devices = 0;

	CHECK(server->clients->count == 1);
	client = &server->clients->sessions->client;
	for (uint32_t i = 0; i < MIMIC_SESSION_DEVICES; i++)
		devices += client->devices[i].instance && !client->devices[i].lost;
	CHECK(devices == 5 && client->lane_count == 1 && client->memory.count == 1);
	CHECK(client->lanes->parked);
}

/* Without the lines that say what is damaged. */
static struct mimicd_server *start(const struct mimicd_options *options)
{
	FILE *log = stderr;
	struct mimicd_server *server;
	int error;

	stderr = null;
	error = mimicd_server_create(&server, options);
	stderr = log;
	CHECK(!error);
	return server;
}

static void run(struct mimicd_stored *stored, size_t count, int program, bool is_whole)
{
	const struct mimicd_instance *device;
	struct mimicd_server *server;
	struct mimicd_options options;
	unsigned int devices = 0;

	left_window_options(&options);
	options.stored = stored;
	options.stored_count = count;
	server = start(&options);
	if (is_whole)
		check_whole(server);
	settle(server);
	close(program);
	settle(server);
	CHECK(!server->clients->count && !server->engine.loop_shard.lane_count);
	device = server->engine.first_named;
	for (; device; device = device->next_named) {
		CHECK(!device->client && !device->waiters);
		devices++;
	}
	CHECK(!is_whole || devices == DEVICES);
	CHECK(mimicd_server_destroy(server));
	left_window_settle();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct left_window *left;
	struct mimicd_stored *stored;
	bool is_whole = size <= 1, is_signed;
	unsigned int before;
	size_t count;
	int program;

	if (!null) {
		null = fopen("/dev/null", "we");
		CHECK(null);
		mimicd_log_set_level(MIMICD_LOG_ERROR);
		left_window_make();
	}
	before = count_descriptors();
	left = left_window_copy();
	is_signed = byte(&input) & 1;
	damage(left, &input);
	if (is_signed)
		left_window_sign(left);
	stored = left_window_store(left, &count, &program);
	run(stored, count, program, is_whole);
	left_window_free(left);
	CHECK(count_descriptors() == before);
	return 0;
}
