/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Words of any kind in a client's lane, and positions that may be anything.
 *
 * The oracle reads the same words by the rules of docs/protocol.md: the daemon
 * gives no more answers than were asked for, ends the session only for a word
 * or position that breaks a rule, and has everything free again afterwards.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/session.h"
#include "daemon/engine/execute.h"
#include "daemon/engine/lane.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "daemon/server.h"
#include "tests/fuzz/check.h"

#define LANES 3
#define DEVICES 4	/* that the session opens */
#define COUNTERS_MAX 512

static struct mimicd_server *server;

struct lane {
	struct mimicd_lane *daemon;
	struct mimic_ring_end commands;
	struct mimic_ring_end responses;
	uint64_t words[4096];	/* all that was published */
	size_t count;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_up(void)
{
	struct mimicd_options options = { .clients.listen_fd = -1 };

	mimic_config_default(&options.settings);
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	CHECK(mimicd_server_create(&server, &options) == 0);
}

static void make_lane(struct mimicd_client *client, uint32_t thread, uint32_t level, struct lane *lane)
{
	int fd;

	lane->count = 0;
	CHECK(mimicd_lane_create(client, thread, level, 0, &lane->daemon, &fd) == 0);
	close(fd);
	/* The same memory by the client's own positions. */
	mimic_ring_attach(&lane->commands, lane->daemon->commands.ring, MIMIC_LANE_COMMAND_WORDS);
	mimic_ring_attach(&lane->responses, lane->daemon->responses.ring, MIMIC_LANE_RESPONSE_WORDS);
}

/* Does the lane have a word that may end the session, and how many answers does it ask for at most? */
static bool breaks_a_rule(const struct lane *lane, uint64_t *answers)
{
	size_t i = 0;

	*answers = 0;
	while (i < lane->count) {
		struct mimic_command command;

		if (mimic_lane_is_order(lane->words[i])) {
			i++;
			continue;
		}
		if (!mimic_command_unpack(lane->words[i++], &command) || command.device >= DEVICES)
			return true;
		if (command.kind == MIMIC_COMMAND_STORE || command.kind == MIMIC_COMMAND_STORE_ACKNOWLEDGED ||
		    command.kind == MIMIC_COMMAND_STORE_FOR_CREDIT)
			i += command.count;
		if (command.kind == MIMIC_COMMAND_STORE)
			continue;
		if (command.kind == MIMIC_COMMAND_COUNTERS && command.count > COUNTERS_MAX)
			return true;
		*answers += command.kind == MIMIC_COMMAND_STORE_ACKNOWLEDGED ? 1 : command.count;
		/* Nobody reads the answers here: an answer that does not fit breaks a rule. */
		if (*answers > MIMIC_LANE_RESPONSE_WORDS)
			return true;
	}
	return false;
}

static uint64_t make_word(const uint8_t *data)
{
	struct mimic_command command = {
		.kind = (enum mimic_command_kind)(data[1] % 5),
		.device = data[1] >> 6,
		.page = data[2] % 6,
		.size = (uint8_t)(1u << (data[2] >> 6)),
		.offset = (uint16_t)((data[3] | data[4] << 8) & 0xfff),
		.count = data[5] ? data[5] : 1u + data[6],
	};

	return mimic_command_pack(&command);
}

/* One step of eight bytes. true: a position was spoilt. */
static bool step(struct mimicd_client *client, struct lane *lanes, const uint8_t *data)
{
	struct lane *lane = &lanes[(data[0] >> 4) % LANES];
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	switch (data[0] & 15) {
	case 0:
		atomic_store(&lane->commands.ring->head, lane->commands.position + (word >> 8));
		return true;
	case 1:
		atomic_store(&lane->responses.ring->tail, word >> 8);
		return true;
	case 2:
		mimicd_lane_cancel(lane->daemon);
		return false;
	case 3:
		if (client->devices[data[1] % DEVICES].instance)
			mimicd_client_close(client, data[1] % DEVICES);
		return false;
	case 4:
		word = data[3] & 1 ? mimic_lane_order_whole(data[1] % 5, data[2]) :
				     mimic_lane_order(data[1] % 5, data[2]);
		break;
	case 5:
		break;
	case 6:
		word = data[1];
		break;
	default:
		word = make_word(data);
		break;
	}
	if (lane->count == sizeof(lane->words) / sizeof(lane->words[0]))
		return false;
	lane->words[lane->count++] = word;
	mimic_ring_put(&lane->commands, 0, word);
	mimic_ring_publish(&lane->commands, 1);
	return false;
}

static void check(struct lane *lanes, bool alive)
{
	bool any = false;

	for (int i = 0; i < LANES; i++) {
		uint64_t asked;
		bool breaks = breaks_a_rule(&lanes[i], &asked);

		any |= breaks;
		if (alive && !breaks)
			CHECK(atomic_load(&lanes[i].responses.ring->head) <= asked);
	}
	CHECK(alive || any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lane lanes[LANES];
	struct mimicd_client *client;
	uint32_t number;
	bool spoilt = false;
	int ends[2];

	if (!server)
		set_up();
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	/* The closing of earlier inputs' descriptors may be behind: then a session would be refused. */
	for (unsigned int i = 0; i < 5000 && mimicd_closer_is_full(server->engine.loop->closer, geteuid()); i++)
		usleep(1000);
	CHECK(mimicd_session_create(server->clients, ends[0]) == 0);
	server->clients->sessions->greeted = true;
	client = &server->clients->sessions->client;
	/* "The client's memory" is ours: an atomic at any address would be the fuzzer's end. */
	client->memory.may_read_process = false;
	CHECK(mimicd_client_open(client, "maple0", &number) == 0 && number == 0);
	CHECK(mimicd_client_open(client, "maple@1", &number) == 0 && number == 1);
	CHECK(mimicd_client_open(client, "dare0", &number) == 0 && number == 2);
	CHECK(mimicd_client_open(client, "virgo0", &number) == 0 && number == 3);
	/* Two lanes of one thread, one of another. */
	make_lane(client, 0, 0, &lanes[0]);
	make_lane(client, lanes[0].daemon->thread->number, 1, &lanes[1]);
	make_lane(client, 0, 0, &lanes[2]);
	while (size >= 8 && server->clients->count) {
		spoilt |= step(client, lanes, data);
		if (data[7] & 1 || spoilt)
			mimicd_server_settle(server);
		if (spoilt)
			break;
		data += 8;
		size -= 8;
	}
	mimicd_server_settle(server);
	if (!spoilt)
		check(lanes, server->clients->count == 1);
	close(ends[1]);
	mimicd_server_settle(server);
	CHECK(server->clients->count == 0 && server->engine.loop_shard.lane_count == 0 && !server->engine.named[0]->client);
	return 0;
}
