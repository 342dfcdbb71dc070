/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The requests and reports of a replayed model, compared with those of the recorded one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libmimic/replay/player.h"

#define COMPARE_PIECE 4096

/* Was this recorded next? `asked` is for people. */
static bool expect(struct replay_player *player, enum record_code code, const char *asked)
{
	unsigned int recorded;

	if (mimic_replay_is_over(player))
		return false;
	recorded = mimic_replay_byte(&player->reader);
	if (player->reader.is_over)
		return false;
	player->is_indexed = recorded == RECORD_GATHER_INDEXED;
	if (player->is_indexed)
		recorded = RECORD_GATHER;
	if (recorded != code) {
		mimic_replay_differ(player, "the model's next call",
				    mimic_replay_code_name(recorded),
				    asked ? asked : mimic_replay_code_name(code));
		return false;
	}
	if (!player->in_job)
		player->events++;
	return true;
}

static bool expect_port(struct replay_port *port, enum record_code code, uint64_t address,
			size_t count, size_t size)
{
	struct replay_player *player = port->player;
	char asked[96];

	if (mimic_replay_is_over(player))
		return false;
	snprintf(asked, sizeof(asked), "%s, address 0x%llx, %zu of %zu bytes", mimic_replay_code_name(code),
		 (unsigned long long)address, count, size);
	return expect(player, code, asked) &&
	       mimic_replay_same_count(player, "number of the address space",
				       mimic_replay_number(&player->reader), port->number);
}

static bool same_number(struct replay_player *player, const char *what, uint64_t replayed)
{
	return mimic_replay_same(player, what, mimic_replay_number(&player->reader), replayed);
}

static bool same_addresses(struct replay_player *player, const uint64_t *addresses, size_t count)
{
	uint64_t recorded = 0;

	for (size_t i = 0; i < count; i++) {
		recorded += mimic_record_unzigzag(mimic_replay_number(&player->reader));
		if (!mimic_replay_same(player, "address", recorded, addresses[i]))
			return false;
	}
	return true;
}

/* The addresses are a base and words that were read. */
static bool same_indexed(struct replay_player *player, const uint64_t *addresses, size_t count, unsigned int size)
{
	const struct record_history *words = &player->words;
	uint64_t distance = mimic_replay_number(&player->reader), position = words->end - distance;

	player->last_base += mimic_record_unzigzag(mimic_replay_number(&player->reader));
	if (player->in_job || distance > words->end || distance % sizeof(uint32_t) ||
	    !history_has(words, position, count * sizeof(uint32_t))) {
		mimic_replay_bad(&player->reader, "%zu indices, %llu bytes back, were not read", count,
				 (unsigned long long)distance);
		return false;
	}
	for (size_t i = 0; i < count; i++, position += sizeof(uint32_t)) {
		if (!mimic_replay_same(player, "address",
				       player->last_base + (uint64_t)history_word(words, position) * size,
				       addresses[i]))
			return false;
	}
	return true;
}

static bool same_bytes(struct replay_player *player, const void *bytes, size_t size)
{
	const unsigned char *replayed = bytes;
	unsigned char recorded[COMPARE_PIECE];

	for (size_t done = 0, piece; done < size; done += piece) {
		piece = size - done < sizeof(recorded) ? size - done : sizeof(recorded);
		mimic_replay_bytes(&player->reader, recorded, piece);
		if (player->reader.is_over)
			return false;
		for (size_t i = 0; i < piece; i++) {
			if (recorded[i] != replayed[done + i])
				return mimic_replay_same(player, "a byte that is written", recorded[i],
							 replayed[done + i]);
		}
	}
	return true;
}

/* A call's outcome: not 0 if it failed. */
static int get_error(struct replay_player *player)
{
	return mimic_replay_limited(&player->reader, "an outcome", 1) ? -EFAULT : 0;
}

/* How many of `count` came, or -EINPROGRESS. */
static long get_count(struct replay_player *player, size_t count)
{
	uint64_t got = mimic_replay_limited(&player->reader, "a count of rows", count + 1);

	return got > count ? -EINPROGRESS : (long)got;
}

/* --- memory --------------------------------------------------------------------------------- */

static int port_walk(void *context, uint64_t address, uint64_t *frame)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;
	int error;

	if (!expect_port(port, RECORD_WALK, address, 1, 0) || !same_number(player, "address", address))
		return -EFAULT;
	error = get_error(player);
	if (!error)
		*frame = mimic_replay_number(&player->reader);
	return error;
}

static long port_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
			uint64_t tag, uint64_t *values)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;
	long got;

	if (!expect_port(port, RECORD_GATHER, count ? addresses[0] : 0, count, size) ||
	    !same_number(player, "number of values", count) ||
	    !same_number(player, "bytes of a value", size) || !same_number(player, "tag", tag) ||
	    !(player->is_indexed ? same_indexed(player, addresses, count, size) :
				   same_addresses(player, addresses, count)))
		return 0;
	got = get_count(player, count);
	for (long i = 0; i < got; i++) {
		values[i] = 0;
		mimic_replay_bytes(&player->reader, &values[i], size);
	}
	if (got > 0)
		player->result->bytes_read += (uint64_t)got * size;
	if (got > 0 && !player->in_job)
		history_put_values(&player->values, values, (size_t)got, size);
	return got;
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;
	int error;

	memset(buffer, 0, size);
	if (!expect_port(port, RECORD_READ, address, 1, size) ||
	    !same_number(player, "address", address) || !same_number(player, "bytes to read", size))
		return -EFAULT;
	error = get_error(player);
	mimic_replay_bytes(&player->reader, buffer, size);
	player->result->bytes_read += size;
	if (!player->in_job && size <= HISTORY_READ && size % sizeof(uint32_t) == 0)
		history_put(&player->words, buffer, size);
	return error;
}

static bool same_rows(struct replay_port *port, enum record_code code, const uint64_t *addresses,
		      size_t count, size_t size)
{
	return expect_port(port, code, count ? addresses[0] : 0, count, size) &&
	       same_number(port->player, "number of rows", count) &&
	       same_number(port->player, "bytes of a row", size) &&
	       same_addresses(port->player, addresses, count);
}

static long port_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			   void *rows)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;
	long got;

	if (!same_rows(port, RECORD_READ_ROWS, addresses, count, size))
		return 0;
	got = get_count(player, count);
	for (long i = 0; i < got; i++) {
		memset((char *)rows + 64 * i, 0, 64);
		mimic_replay_bytes(&player->reader, (char *)rows + 64 * i, size);
	}
	if (got > 0)
		player->result->bytes_read += (uint64_t)got * size;
	return got;
}

static long port_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			    const void *rows)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;

	if (!same_rows(port, RECORD_WRITE_ROWS, addresses, count, size))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!same_bytes(player, (const char *)rows + 64 * i, size))
			return 0;
	}
	player->result->bytes_written += count * size;
	return get_count(player, count);
}

static bool same_block(struct replay_port *port, enum record_code code, uint64_t address,
		       uint64_t stride, size_t size, size_t count)
{
	return expect_port(port, code, address, count, size) &&
	       same_number(port->player, "address", address) &&
	       mimic_replay_same(port->player, "distance of the rows",
				 mimic_record_unzigzag(mimic_replay_number(&port->player->reader)), stride) &&
	       same_number(port->player, "bytes of a row", size) &&
	       same_number(port->player, "number of rows", count);
}

static long port_read_block(void *context, uint64_t address, uint64_t stride, size_t size,
			    size_t count, void *buffer, size_t buffer_stride)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;
	long got;

	if (!same_block(port, RECORD_READ_BLOCK, address, stride, size, count))
		return 0;
	got = get_count(player, count);
	for (long i = 0; i < got; i++)
		mimic_replay_bytes(&player->reader, (char *)buffer + (size_t)i * buffer_stride, size);
	if (got > 0)
		player->result->bytes_read += (uint64_t)got * size;
	return got;
}

static long port_write_block(void *context, uint64_t address, uint64_t stride, size_t size,
			     size_t count, const void *buffer, size_t buffer_stride)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;

	if (!same_block(port, RECORD_WRITE_BLOCK, address, stride, size, count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!same_bytes(player, (const char *)buffer + i * buffer_stride, size))
			return 0;
	}
	player->result->bytes_written += count * size;
	return get_count(player, count);
}

static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation,
		       uint32_t operand, uint32_t expected, uint32_t *old)
{
	struct replay_port *port = context;
	struct replay_player *player = port->player;
	int error;

	*old = 0;
	if (!expect_port(port, RECORD_ATOMIC, address, 1, sizeof(*old)) ||
	    !same_number(player, "address", address) ||
	    !same_number(player, "atomic operation", operation) ||
	    !same_number(player, "operand", operand) ||
	    !same_number(player, "expected value", expected))
		return -EFAULT;
	error = get_error(player);
	if (!error)
		*old = (uint32_t)mimic_replay_number(&player->reader);
	return error;
}

/*
 * Models check for some functions, and have those that they had when they were recorded.
 * They call the others in any case.
 */
static void make_port(struct replay_player *player, unsigned int number, uint32_t abilities)
{
	struct replay_port *port = &player->ports[number];
	struct mimic_memory *memory = &port->memory;

	port->player = player;
	port->number = number;
	port->abilities = abilities;
	*memory = (struct mimic_memory){
		.context = port,
		.walk = abilities & RECORD_HAS_WALK ? port_walk : NULL,
		.gather = port_gather,
		.read = port_read,
		.read_rows = abilities & RECORD_HAS_READ_ROWS ? port_read_rows : NULL,
		.write_rows = abilities & RECORD_HAS_WRITE_ROWS ? port_write_rows : NULL,
		.read_block = abilities & RECORD_HAS_READ_BLOCK ? port_read_block : NULL,
		.write_block = abilities & RECORD_HAS_WRITE_BLOCK ? port_write_block : NULL,
		.atomic = port_atomic,
	};
}

/* --- everything else ------------------------------------------------------------------------- */

static void host_complete(void *context, uint64_t owner, uint64_t data)
{
	struct replay_player *player = context;
	char told[96];

	snprintf(told, sizeof(told), "the access of %llu is complete: 0x%llx",
		 (unsigned long long)owner, (unsigned long long)data);
	if (!expect(player, RECORD_COMPLETE, told))
		return;
	player->result->completions++;
	if (mimic_replay_same_count(player, "whose access is complete", mimic_replay_number(&player->reader),
				    owner))
		same_number(player, "answer of an access that has waited", data);
}

static void host_interrupt(void *context)
{
	struct replay_player *player = context;

	if (expect(player, RECORD_INTERRUPT, NULL))
		player->result->interrupts++;
}

static void host_report(void *context, const char *text)
{
	struct replay_player *player = context;
	char recorded[128];
	size_t length, kept;

	if (!expect(player, RECORD_REPORT, text))
		return;
	length = (size_t)mimic_replay_limited(&player->reader, "a text's length", RECORD_TEXT_MAX);
	kept = length < sizeof(recorded) ? length : sizeof(recorded) - 1;
	mimic_replay_bytes(&player->reader, recorded, kept);
	recorded[kept] = '\0';
	for (char *at = recorded; at < recorded + kept; at++)
		*at = *at < ' ' || *at > '~' ? '?' : *at;
	while (length-- > kept)
		mimic_replay_byte(&player->reader);
	if (!player->reader.is_over && strncmp(recorded, text, kept))
		mimic_replay_differ(player, "the device's report", recorded, text);
}

static enum mimic_fault_answer get_answer(struct replay_player *player)
{
	return (enum mimic_fault_answer)mimic_replay_limited(&player->reader, "an answer to a page fault",
							     MIMIC_FAULT_STALL);
}

static enum mimic_fault_answer host_page_fault(void *context, uint64_t address, unsigned int source)
{
	struct replay_player *player = context;

	if (!expect(player, RECORD_PAGE_FAULT, NULL) || !same_number(player, "address", address) ||
	    !same_number(player, "source of a page fault", source))
		return MIMIC_FAULT_BAD;
	return get_answer(player);
}

/* A model checks the functions of a memory once, and calls them later: they stay as they were. */
static bool take_port(struct replay_player *player, unsigned int number, uint32_t abilities)
{
	const struct replay_port *port = &player->ports[number];

	if (number && !port->player)
		make_port(player, number, abilities);
	else if (abilities != (number ? port->abilities : 0))
		mimic_replay_bad(&player->reader, "a memory %u with other abilities than before", number);
	return number && !player->reader.is_over;
}

static const struct mimic_memory *host_memory_of(void *context, uint64_t address_space)
{
	struct replay_player *player = context;
	unsigned int number;
	uint32_t abilities;

	if (!expect(player, RECORD_MEMORY_OF, NULL) ||
	    !same_number(player, "number of the address space", address_space))
		return NULL;
	number = (unsigned int)mimic_replay_limited(&player->reader, "a number of a memory",
						    RECORD_PORTS_MAX - 1);
	abilities = (uint32_t)mimic_replay_limited(&player->reader, "abilities", RECORD_ABILITIES);
	if (!take_port(player, number, abilities))
		return NULL;
	return &player->ports[number].memory;
}

static enum mimic_fault_answer host_context_fault(void *context, unsigned int device_context,
						  uint64_t address, bool writes)
{
	struct replay_player *player = context;

	if (!expect(player, RECORD_CONTEXT_FAULT, NULL) ||
	    !same_number(player, "context of a page fault", device_context) ||
	    !same_number(player, "address", address) ||
	    !same_number(player, "kind of a page fault", writes))
		return MIMIC_FAULT_BAD;
	return get_answer(player);
}

void mimic_replay_host_make(struct replay_player *player, struct mimic_host *host)
{
	uint32_t abilities = player->abilities;

	make_port(player, 0, abilities);
	*host = (struct mimic_host){
		.context = player,
		.complete = host_complete,
		.interrupt = abilities & RECORD_HAS_INTERRUPT ? host_interrupt : NULL,
		.report = abilities & RECORD_HAS_REPORT ? host_report : NULL,
		.page_fault = abilities & RECORD_HAS_PAGE_FAULT ? host_page_fault : NULL,
		.memory = player->ports[0].memory,
		.memory_of = host_memory_of,
		.context_fault = abilities & RECORD_HAS_CONTEXT_FAULT ? host_context_fault : NULL,
	};
}
