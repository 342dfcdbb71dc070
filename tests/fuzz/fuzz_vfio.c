/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages of a virtual machine to the daemon, in one process with it.
 *
 * The oracle is a small model of what the machine was told: which messages cut it off, which are
 * refused and with what errno, the ranges of memory that are mapped, the configuration
 * space, roots and modes of address spaces, the device's memory, states of lanes. What the device itself
 * answers is other targets' business. After each input the daemon has as many descriptors as before.
 *
 * An input is a byte that says whether the device's memory is a function of its own, and a list of actions: a
 * byte that says which, and its operands.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "daemon/server.h"
#include "daemon/vfio/protocol.h"
#include "mimic/pci.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/lib/kinds.h"

#define PAGE 4096u
#define PAGES 32u		/* of the guest that ranges may lie in, and of the file */
#define DEVICE_MEMORY_PAGES 4u	/* of the device's memory that are looked at */
#define LANES 6u			/* that are used */
#define LANE_SIZE (13 * PAGE)		/* 4096 and 2048 words, and what is in front of them */
#define BAR5_SIZE 0x400000u		/* 64 of these, up to a power of two */
#define BAR0_SIZE 0x4000u	/* a Virgo: two pages and the bus page, up to a power of two */

static struct mimicd_server *server;
/* Of virgo0, which is one function; of virgo1's registers, and of its memory. */
static char paths[3][64];
static int ram_fd, event_fd;
static size_t memory_size;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the machine should see. */
static struct machine {
	bool is_split;
	int fds[2];	/* of the registers, or of all; of the memory */
	int fd;		/* the one of these that is spoken to */
	uint16_t id;
	bool is_cut_off;
	bool is_mapped[PAGES];
	bool begins[PAGES];	/* a range begins at this page */
	uint8_t config[256];
	uint64_t roots[MIMIC_PCI_SPACES], modes[MIMIC_PCI_SPACES];
	uint8_t memory[DEVICE_MEMORY_PAGES * PAGE];
	bool lies;	/* something was written to lanes: a program may be broken */
} machine;

static void remove_sockets(void)
{
	for (unsigned int i = 0; i < 3; i++)
		unlink(paths[i]);
}

static void set_up(void)
{
	static struct mimicd_options options = { .clients.listen_fd = -1 };
	static char texts[2][160];

	for (unsigned int i = 0; i < 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "/tmp/fuzz-vfio-%d-%u.sock", (int)getpid(), i);
	snprintf(texts[0], sizeof(texts[0]), "virgo0=%s,rings", paths[0]);
	snprintf(texts[1], sizeof(texts[1]), "virgo1=%s,rings,memory=%s", paths[1], paths[2]);
	for (unsigned int i = 0; i < 2; i++)
		options.vfio.sockets[options.vfio.count++] = texts[i];
	mimic_config_default(&options.settings);
	*count_of(&options.settings, &mimic_kind_virgo) = 2;
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	CHECK(mimicd_server_create(&server, &options) == 0);
	atexit(remove_sockets);
	ram_fd = memfd_create("ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(ftruncate(ram_fd, PAGES * PAGE) == 0 && fcntl(ram_fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	event_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(event_fd >= 0);
}

static void settle(void)
{
	mimicd_server_settle(server);
	/* Threads beside the loop close what clients made. */
	while (mimicd_closer_backlog(server->loop.closer, getuid()))
		sched_yield();
}

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	CHECK(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* --- the stream ----------------------------------------------------------------------- */

static void send_bytes(const void *bytes, size_t size, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(entry), &fd, sizeof(int));
	}
	CHECK(sendmsg(machine.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size);
}

/* Loads may be given a millisecond. -1: nothing comes, 0: cut off. */
static ssize_t receive_some(void *bytes, size_t size, bool wants_more)
{
	ssize_t got = -1;

	for (int i = 0; i < 2000 && got < 0; i++) {
		settle();
		got = recv(machine.fd, bytes, size, MSG_DONTWAIT);
		if (got < 0 && !wants_more)
			break;
		if (got < 0)
			usleep(200);
	}
	return got;
}

/* The reply of a command: 0 or the errno in it; *size is what came. */
static int receive_reply(unsigned int command, void *body, size_t *size)
{
	struct mimicd_vfio_header header;
	size_t rest;

	CHECK(receive_some(&header, sizeof(header), true) == sizeof(header));
	CHECK(header.id == machine.id && header.command == command);
	CHECK((header.flags & MIMICD_VFIO_TYPE) == MIMICD_VFIO_REPLY);
	rest = header.size - sizeof(header);
	CHECK(header.size >= sizeof(header) && rest <= *size);
	if (rest)
		CHECK(receive_some(body, rest, true) == (ssize_t)rest);
	*size = rest;
	if (!(header.flags & MIMICD_VFIO_ERROR)) {
		CHECK(!header.error);
		return 0;
	}
	CHECK(header.error && !rest);
	return (int)header.error;
}

static int ask(unsigned int command, const void *body, size_t body_size, int fd, void *reply, size_t *size)
{
	static char message[8192];
	struct mimicd_vfio_header header = {
		.id = ++machine.id, .command = (uint16_t)command,
		.size = (uint32_t)(sizeof(header) + body_size),
	};
	static char nothing[8192];
	size_t room = sizeof(nothing);

	memcpy(message, &header, sizeof(header));
	if (body_size)
		memcpy(message + sizeof(header), body, body_size);
	send_bytes(message, sizeof(header) + body_size, fd);
	return receive_reply(command, reply ? reply : nothing, size ? size : &room);
}

/* --- actions -------------------------------------------------------------------------- */

/* A header of any kind: one that cannot be ends the connection, a command that is not known is refused. */
static void send_anything(struct input *input)
{
	struct mimicd_vfio_header header = {
		.id = ++machine.id, .command = (uint16_t)(bytes(input, 2) | 0x100),
		.size = (uint32_t)bytes(input, byte(input) % 5), .flags = byte(input), .error = byte(input),
	};
	static char rest[4096 + 64];
	size_t size = 0;

	send_bytes(&header, sizeof(header), byte(input) % 2 ? ram_fd : -1);
	if (header.size < sizeof(header) || header.size > sizeof(header) + sizeof(rest) || header.flags & 0xf) {
		CHECK(receive_some(rest, 1, true) == 0);
		machine.is_cut_off = true;
		return;
	}
	if (header.size > sizeof(header))
		send_bytes(rest, header.size - sizeof(header), -1);
	if (header.flags & MIMICD_VFIO_NO_REPLY)
		CHECK(receive_some(rest, 1, false) < 0);
	else
		CHECK(receive_reply(header.command, rest, &size) == ENOTSUP);
}

static void map(struct input *input)
{
	unsigned int first = byte(input) % (PAGES + 2), count = byte(input) % (PAGES + 2), offset = byte(input) % (PAGES + 2);
	const struct mimicd_vfio_dma_map wanted = {
		.argsz = sizeof(wanted), .flags = 3, .offset = (uint64_t)offset * PAGE, .address = (uint64_t)first * PAGE,
		.size = (uint64_t)count * PAGE,
	};
	int expected = 0, error;

	for (unsigned int i = first; i < first + count && i < PAGES; i++)
		expected = machine.is_mapped[i] ? EEXIST : expected;
	if (!count || (!expected && offset + count > PAGES))
		expected = EINVAL;
	error = ask(MIMICD_VFIO_DMA_MAP, &wanted, sizeof(wanted), ram_fd, NULL, NULL);
	/* Outside of the pages that are looked at anything may lie. */
	if (first + count > PAGES) {
		if (!error) {
			const struct mimicd_vfio_dma_unmap undo = { .argsz = sizeof(undo), .address = wanted.address, .size = wanted.size };

			CHECK(!ask(MIMICD_VFIO_DMA_UNMAP, &undo, sizeof(undo), -1, NULL, NULL));
		}
		return;
	}
	CHECK(error == expected);
	if (error)
		return;
	for (unsigned int i = first; i < first + count; i++)
		machine.is_mapped[i] = true;
	machine.begins[first] = true;
}

/* Does a range lie in part outside of these pages? */
static bool cuts_a_range(unsigned int first, unsigned int end)
{
	bool cuts = first < PAGES && machine.is_mapped[first] && !machine.begins[first];

	return cuts || (end < PAGES && machine.is_mapped[end] && !machine.begins[end] && machine.is_mapped[end - 1]);
}

static void unmap(struct input *input)
{
	unsigned int first = byte(input) % PAGES, count = byte(input) % (PAGES - first + 1), found = 0;
	const struct mimicd_vfio_dma_unmap unmap = {
		.argsz = sizeof(unmap), .address = (uint64_t)first * PAGE, .size = (uint64_t)count * PAGE,
	};
	int expected = 0;

	for (unsigned int i = first; i < first + count; i++)
		found += machine.is_mapped[i];
	if (!count || cuts_a_range(first, first + count))
		expected = EINVAL;
	else if (!found)
		expected = ENOENT;
	CHECK(ask(MIMICD_VFIO_DMA_UNMAP, &unmap, sizeof(unmap), -1, NULL, NULL) == expected);
	for (unsigned int i = first; !expected && i < first + count; i++)
		machine.is_mapped[i] = machine.begins[i] = false;
}

/* 0, or the errno of an access of a region that has this size. */
static int error_of(uint64_t offset, uint64_t count, uint64_t size)
{
	return !count || count > 4096 || offset > size || count > size - offset ? EINVAL : 0;
}

struct transfer {
	struct mimicd_vfio_region_access access;
	uint8_t data[4096];
};

/* Memory and lanes are the second function's, if there is one. */
static int transfer(bool is_store, struct transfer *body)
{
	size_t size = sizeof(body->access) + (is_store ? body->access.count : 0), room = sizeof(*body);
	unsigned int command = is_store ? MIMICD_VFIO_REGION_WRITE : MIMICD_VFIO_REGION_READ;
	uint32_t region = body->access.region;
	static struct transfer reply;
	int error;

	if (machine.is_split && (region == MIMIC_PCI_BAR_MEMORY || region == MIMIC_PCI_BAR_RINGS))
		machine.fd = machine.fds[1];
	error = ask(command, body, size, -1, &reply, &room);
	machine.fd = machine.fds[0];
	if (error)
		return error;
	CHECK(room == sizeof(body->access) + (is_store ? 0 : body->access.count));
	CHECK(!memcmp(&reply.access, &body->access, sizeof(body->access)));
	if (!is_store)
		memcpy(body->data, reply.data, body->access.count);
	return 0;
}

/* Which bits of the configuration space a machine may change: the PCI specification's, and those of MSI-X. */
static uint8_t config_mask(unsigned int offset)
{
	static const struct { uint8_t offset, mask; } bits[] = {
		{ 0x04, 0x46 }, { 0x05, 0x05 }, { 0x0c, 0xff }, { 0x3c, 0xff }, { 0x43, 0xc0 },
		{ 0x11, (uint8_t)~((BAR0_SIZE - 1) >> 8) }, { 0x12, 0xff }, { 0x13, 0xff },
		{ 0x21, 0xf0 }, { 0x22, 0xff }, { 0x23, 0xff }, { 0x26, (uint8_t)~((BAR5_SIZE - 1) >> 16) }, { 0x27, 0xff },
	};

	if (machine.is_split && ((offset >= 0x18 && offset < 0x20) || offset >= 0x24) && offset < 0x28)
		return 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (bits[i].offset == offset)
			return bits[i].mask;
	}
	/* BAR 2, whose size is the device's. */
	if (offset >= 0x18 && offset < 0x20) {
		uint64_t size = PAGE;

		while (size < memory_size)
			size *= 2;
		return (uint8_t)(~(size - 1) >> 8 * (offset - 0x18));
	}
	return 0;
}

static void access_config(struct input *input, bool is_store)
{
	static struct transfer body;
	unsigned int offset = byte(input), count = 1 + byte(input) % 8;
	int error = error_of(offset, count, sizeof(machine.config));

	body.access = (struct mimicd_vfio_region_access){ offset, MIMICD_VFIO_REGION_CONFIG, count };
	for (unsigned int i = 0; i < count; i++)
		body.data[i] = (uint8_t)byte(input);
	CHECK(transfer(is_store, &body) == error);
	for (unsigned int i = 0; !error && i < count; i++) {
		uint8_t mask = config_mask(offset + i), *place = &machine.config[offset + i];

		if (is_store)
			*place = (uint8_t)((*place & ~mask) | (body.data[i] & mask));
		else
			CHECK(body.data[i] == *place);
	}
}

static void access_memory(struct input *input, bool is_store)
{
	static struct transfer body;
	unsigned int offset = (unsigned int)bytes(input, 2) % sizeof(machine.memory), count = (unsigned int)bytes(input, 2) % 4200;
	uint8_t seed = (uint8_t)byte(input);
	int error = count ? 0 : EINVAL;

	if (count > sizeof(machine.memory) - offset)
		count = (unsigned int)(sizeof(machine.memory) - offset);
	if (count > 4096) {
		if (is_store)
			return;
		error = EINVAL;
	}
	body.access = (struct mimicd_vfio_region_access){ offset, MIMIC_PCI_BAR_MEMORY, count };
	for (unsigned int i = 0; is_store && i < count; i++)
		body.data[i] = (uint8_t)(seed + i * 7);
	CHECK(transfer(is_store, &body) == error);
	if (error)
		return;
	if (is_store)
		memcpy(machine.memory + offset, body.data, count);
	else
		CHECK(!memcmp(machine.memory + offset, body.data, count));
}

static void access_space(struct input *input, bool is_store)
{
	static struct transfer body;
	unsigned int number = byte(input) % MIMIC_PCI_SPACES, half = byte(input);
	bool is_mode = half & 1, is_half = half & 2, is_high = half & 4;
	uint64_t *word = is_mode ? &machine.modes[number] : &machine.roots[number], value;
	unsigned int size = is_half ? 4 : 8, shift = is_half && is_high ? 32 : 0;
	uint64_t mask = is_half ? 0xffffffffull << shift : ~0ull;

	body.access = (struct mimicd_vfio_region_access){
		MIMIC_PCI_SPACE(number + 1) + (is_mode ? 8 : 0) + shift / 8, MIMIC_PCI_BAR_REGISTERS, size,
	};
	value = is_mode ? byte(input) % 64 : bytes(input, 8);
	memcpy(body.data, &value, size);
	CHECK(!transfer(is_store, &body));
	if (!is_store) {
		value = 0;
		memcpy(&value, body.data, size);
		CHECK(value == (*word & mask) >> shift);
	} else if (!is_mode || !shift) {
		/* The upper half of MODE begins nothing, and is not kept. */
		*word = (*word & ~mask) | (value << shift & mask);
	}
}

/* --- lanes ------------------------------------------------------------------------------ */

static uint64_t lane_register(unsigned int number)
{
	static struct transfer body;
	uint64_t value;

	body.access = (struct mimicd_vfio_region_access){ MIMIC_PCI_LANE(number), MIMIC_PCI_BAR_REGISTERS, 8 };
	CHECK(!transfer(false, &body));
	memcpy(&value, body.data, sizeof(value));
	return value;
}

static void set_lane_register(unsigned int number, uint64_t value)
{
	static struct transfer body;

	body.access = (struct mimicd_vfio_region_access){ MIMIC_PCI_LANE(number), MIMIC_PCI_BAR_REGISTERS, 8 };
	memcpy(body.data, &value, sizeof(value));
	CHECK(!transfer(true, &body));
}

/* A Virgo has one space, whose mode must be one; a lane that is open stays, but for lies of its program. */
static void open_or_close_lane(struct input *input)
{
	unsigned int number = byte(input) % LANES, space = byte(input) % 3, thread = byte(input) % 3, level = byte(input) % 9;
	uint64_t value = byte(input) % 4 ? MIMIC_PCI_LANE_OPEN(space, thread, level) : 0, after;
	unsigned int before = MIMIC_PCI_LANE_STATE(lane_register(number)), state;
	bool is_good = space == 1 && thread && level < MIMIC_PCI_LANE_LEVELS && machine.modes[0];

	set_lane_register(number, value);
	after = lane_register(number);
	state = MIMIC_PCI_LANE_STATE(after);
	if (state == MIMIC_PCI_LANE_IS_BROKEN)
		CHECK(machine.lies && (!value || is_good || before == MIMIC_PCI_LANE_IS_OPEN));
	else if (!value)
		CHECK(state == MIMIC_PCI_LANE_IS_CLOSED || state == MIMIC_PCI_LANE_IS_CLOSING);
	else if (before == MIMIC_PCI_LANE_IS_OPEN)
		CHECK(state == MIMIC_PCI_LANE_IS_OPEN || machine.lies);
	else
		CHECK(state == (is_good ? MIMIC_PCI_LANE_IS_OPEN : MIMIC_PCI_LANE_IS_REFUSED));
	if (value && before != MIMIC_PCI_LANE_IS_OPEN)
		CHECK((uint32_t)after == value);
}

/* What a program writes: some bytes anywhere, or words at the beginning of the ring, with the head behind them. */
static void write_lane(struct input *input, bool is_ring)
{
	static struct transfer body;
	unsigned int number = byte(input) % LANES, offset = (unsigned int)bytes(input, 2) % (LANE_SIZE - 512);
	unsigned int words = byte(input) % 16;
	uint64_t head = words;

	machine.lies = true;
	body.access = (struct mimicd_vfio_region_access){
		number * LANE_SIZE + (is_ring ? 512 : offset), MIMIC_PCI_BAR_RINGS, 8 * words + !words,
	};
	for (unsigned int i = 0; i < words; i++) {
		uint64_t word = bytes(input, 8);

		memcpy(body.data + 8 * i, &word, sizeof(word));
	}
	CHECK(!transfer(true, &body));
	if (!is_ring)
		return;
	body.access = (struct mimicd_vfio_region_access){ number * LANE_SIZE + 256, MIMIC_PCI_BAR_RINGS, 8 };
	memcpy(body.data, &head, sizeof(head));
	CHECK(!transfer(true, &body));
}

static void use_lanes(struct input *input)
{
	unsigned int what = byte(input);

	if (what % 3)
		write_lane(input, what & 4);
	else
		open_or_close_lane(input);
	for (unsigned int i = 0; i < LANES && !machine.modes[0]; i++) {
		unsigned int state = MIMIC_PCI_LANE_STATE(lane_register(i));

		CHECK(state != MIMIC_PCI_LANE_IS_OPEN && state != MIMIC_PCI_LANE_IS_CLOSING);
	}
}

/* What the device answers is not looked at: it must answer, or refuse what is outside. */
static void access_anything(struct input *input, bool is_store)
{
	static struct transfer body;
	uint32_t region = byte(input) % 16, count = byte(input) % 16;
	uint64_t offset = bytes(input, 2), value = bytes(input, 4);
	int error;

	/* These regions have actions of their own, which know what is in them. */
	if (region == MIMICD_VFIO_REGION_CONFIG || region == MIMIC_PCI_BAR_MEMORY || region == MIMIC_PCI_BAR_RINGS)
		return;
	/* As do spaces and lanes; a barrier of the device would keep nobody else here. */
	if (region == MIMIC_PCI_BAR_REGISTERS && is_store && offset + count > MIMIC_PCI_SPACE(1) &&
	    offset < MIMIC_PCI_LANE(MIMIC_PCI_LANES))
		return;
	body.access = (struct mimicd_vfio_region_access){ offset, region, count };
	memcpy(body.data, &value, sizeof(value));
	error = transfer(is_store, &body);
	if (region == MIMIC_PCI_BAR_REGISTERS && !error_of(offset, count, BAR0_SIZE))
		CHECK(error == (count == 1 || count == 2 || count == 4 || count == 8 ? 0 : EINVAL) || offset >= PAGE);
	else if (region == MIMIC_PCI_BAR_MSIX)
		CHECK(error == error_of(offset, count, PAGE));
	else
		CHECK(error == EINVAL);
}

static void set_interrupts(struct input *input)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = byte(input), .index = byte(input) % 8, .start = byte(input) % 4,
		.count = byte(input) % 4,
	};
	int fd = byte(input) % 3 ? event_fd : ram_fd, error;
	unsigned int vectors = set.index == MIMICD_VFIO_MSIX ? MIMIC_PCI_VECTORS : 0;

	error = ask(MIMICD_VFIO_SET_IRQS, &set, sizeof(set), fd, NULL, NULL);
	if (set.index >= MIMICD_VFIO_INTERRUPTS || set.start + set.count > vectors)
		CHECK(error == EINVAL);
	else if (set.flags & MIMICD_VFIO_SET_DATA_EVENTFD && set.count != 1)
		CHECK(error == EINVAL);
	else if (!(set.flags & MIMICD_VFIO_SET_DATA_EVENTFD) || fd == event_fd)
		CHECK(!error);
	else if (set.flags & MIMICD_VFIO_SET_ACTION_TRIGGER)
		CHECK(error == EINVAL);
}

/* Of the second function: neither is the device told of the machine's memory by it, nor has it interrupts. */
static void map_for_nobody(struct input *input)
{
	int fd = byte(input) % 2 ? ram_fd : -1;
	const struct mimicd_vfio_dma_map range = {
		.argsz = sizeof(range), .address = bytes(input, 8), .size = bytes(input, 8), .offset = bytes(input, 8),
	};

	CHECK(!ask(MIMICD_VFIO_DMA_MAP, &range, sizeof(range), fd, NULL, NULL));
}

static void set_no_interrupts(struct input *input)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .index = byte(input) % 8, .count = byte(input) % 4, .flags = byte(input),
	};

	CHECK(ask(MIMICD_VFIO_SET_IRQS, &set, sizeof(set), event_fd, NULL, NULL) == EINVAL);
}

/* What it is told changes nothing of the device. */
static void use_memory_function(struct input *input)
{
	unsigned int what = byte(input);
	uint32_t region = what & 0x10 ? MIMICD_VFIO_REGION_CONFIG : MIMIC_PCI_BAR_REGISTERS;
	unsigned int command = what & 0x20 ? MIMICD_VFIO_REGION_WRITE : MIMICD_VFIO_REGION_READ;
	struct transfer body = { .access = { .region = region, .count = 1 } };

	if (!machine.is_split)
		return;
	machine.fd = machine.fds[1];
	switch (what % 5) {
	case 0:
		body.access.offset = byte(input);
		CHECK(!ask(command, &body, sizeof(body.access) + (what & 0x20 ? 1 : 0), -1, NULL, NULL));
		break;
	case 1:
		map_for_nobody(input);
		break;
	case 2:
		set_no_interrupts(input);
		break;
	case 3:
		CHECK(!ask(MIMICD_VFIO_RESET, NULL, 0, -1, NULL, NULL));
		break;
	default:
		send_anything(input);
		break;
	}
	machine.fd = machine.fds[0];
}

static void power_on(void)
{
	static struct transfer body;

	memset(machine.roots, 0, sizeof(machine.roots));
	memset(machine.modes, 0, sizeof(machine.modes));
	memset(machine.memory, 0, sizeof(machine.memory));
	for (unsigned int i = 0; i < LANES; i++)
		CHECK(!lane_register(i));
	machine.lies = false;
	/* What it has at first is looked at elsewhere: here it is what changes, and what does not. */
	body.access = (struct mimicd_vfio_region_access){ 0, MIMICD_VFIO_REGION_CONFIG, 256 };
	CHECK(!transfer(false, &body));
	memcpy(machine.config, body.data, sizeof(machine.config));
	for (unsigned int i = 0; i < sizeof(machine.config); i++)
		CHECK(!(machine.config[i] & config_mask(i)));
}

static void act(struct input *input)
{
	unsigned int action = byte(input);
	bool is_store = action & 0x80;

	switch (action % 13) {
	case 0:
		send_anything(input);
		break;
	case 1:
		map(input);
		break;
	case 2:
		unmap(input);
		break;
	case 3:
		access_config(input, is_store);
		break;
	case 4:
		access_memory(input, is_store);
		break;
	case 5:
	case 6:
		access_space(input, is_store);
		break;
	case 7:
		set_interrupts(input);
		break;
	case 8:
		access_anything(input, is_store);
		break;
	case 9:
	case 10:
		use_lanes(input);
		break;
	case 11:
		use_memory_function(input);
		break;
	default:
		if (byte(input) % 4)
			break;
		CHECK(!ask(MIMICD_VFIO_RESET, NULL, 0, -1, NULL, NULL));
		power_on();
		break;
	}
}

/* --- a machine -------------------------------------------------------------------------- */

static int connect_to(const char *path)
{
	static const char version[] = "\0\0\0\0{}";
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	machine.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, path);
	CHECK(connect(machine.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	settle();
	CHECK(!ask(MIMICD_VFIO_VERSION, version, sizeof(version), -1, NULL, NULL));
	return machine.fd;
}

static void begin(bool is_split)
{
	const struct mimicd_vfio_region_access size = { MIMIC_PCI_MEMORY_SIZE, 0, 8 };
	struct transfer body = { .access = size };

	memset(&machine, 0, sizeof(machine));
	machine.is_split = is_split;
	machine.fds[0] = connect_to(paths[is_split]);
	machine.fds[1] = is_split ? connect_to(paths[2]) : -1;
	machine.fd = machine.fds[0];
	CHECK(!transfer(false, &body));
	memcpy(&memory_size, body.data, sizeof(memory_size));
	power_on();
}

/* The memory's connection ends with that of the registers. */
static void end(void)
{
	char byte;

	close(machine.fds[0]);
	settle();
	if (!machine.is_split)
		return;
	CHECK(recv(machine.fds[1], &byte, 1, MSG_DONTWAIT) == 0);
	close(machine.fds[1]);
	settle();
}

/* What the daemon opens once, when the first machine has interrupts. */
static void try_interrupts(void)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = MIMICD_VFIO_SET_DATA_EVENTFD | MIMICD_VFIO_SET_ACTION_TRIGGER,
		.index = MIMICD_VFIO_MSIX, .count = 1,
	};

	begin(false);
	CHECK(!ask(MIMICD_VFIO_SET_IRQS, &set, sizeof(set), event_fd, NULL, NULL));
	end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	int before;

	if (!server) {
		set_up();
		try_interrupts();
	}
	settle();
	before = count_descriptors();
	begin(byte(&input) % 2);
	while (input.size && !machine.is_cut_off)
		act(&input);
	end();
	CHECK(count_descriptors() == before);
	return 0;
}
