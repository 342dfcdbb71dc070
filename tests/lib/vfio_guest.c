/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/vfio_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 10000

/* --- the stream ---------------------------------------------------------------------- */

void guest_connect(struct guest *guest, const struct served *served, const char *device)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memset(guest, 0, sizeof(*guest));
	guest->ram_fd = -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s.sock", served->directory, device);
	guest->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(guest->fd >= 0);
	assert_int_equal(connect(guest->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

bool guest_send(struct guest *guest, const void *bytes, size_t size, const int *fds, unsigned int fd_count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(16 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd_count) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, fd_count * sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
	}
	return sendmsg(guest->fd, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive(struct guest *guest, void *bytes, size_t size, int *fd)
{
	while (size) {
		char control[CMSG_SPACE(sizeof(int))];
		struct iovec part = { .iov_base = bytes, .iov_len = size };
		struct msghdr message = {
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
		};
		struct pollfd wait = { .fd = guest->fd, .events = POLLIN };
		ssize_t got;

		if (poll(&wait, 1, PATIENCE_MS) != 1)
			return false;
		got = recvmsg(guest->fd, &message, MSG_CMSG_CLOEXEC);
		if (got <= 0)
			return false;
		if (fd && message.msg_controllen)
			memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
		bytes = (char *)bytes + got;
		size -= (size_t)got;
	}
	return true;
}

bool guest_is_cut_off(struct guest *guest)
{
	struct pollfd wait = { .fd = guest->fd, .events = POLLIN };
	char byte[256];

	while (poll(&wait, 1, 1000) == 1) {
		if (recv(guest->fd, byte, sizeof(byte), 0) <= 0)
			return true;
	}
	return false;
}

int guest_read_end(struct guest *guest)
{
	char bytes[256];
	ssize_t got;

	do {
		got = recv(guest->fd, bytes, sizeof(bytes), 0);
	} while (got > 0);
	return got ? errno : 0;
}

static void send_command(struct guest *guest, unsigned int command, unsigned int flags, const void *payload,
			 size_t size, const int *fds, unsigned int fd_count)
{
	char bytes[sizeof(struct mimicd_vfio_header) + 8192];
	struct mimicd_vfio_header header = {
		.id = ++guest->last_id, .command = (uint16_t)command, .flags = flags,
		.size = (uint32_t)(sizeof(header) + size),
	};

	memcpy(bytes, &header, sizeof(header));
	if (size)
		memcpy(bytes + sizeof(header), payload, size);
	guest_send(guest, bytes, sizeof(header) + size, fds, fd_count);
}

int guest_ask(struct guest *guest, unsigned int command, const void *payload, size_t payload_size,
	      const int *fds, unsigned int fd_count, void *reply, size_t *size, int *reply_fd)
{
	struct mimicd_vfio_header header;
	char rest[8192];
	size_t body;

	send_command(guest, command, 0, payload, payload_size, fds, fd_count);
	if (!receive(guest, &header, sizeof(header), reply_fd))
		return -1;
	assert_int_equal(header.id, guest->last_id);
	assert_int_equal(header.command, command);
	assert_int_equal(header.flags & MIMICD_VFIO_TYPE, MIMICD_VFIO_REPLY);
	body = header.size - sizeof(header);
	assert_true(body <= sizeof(rest));
	if (!receive(guest, rest, body, NULL))
		return -1;
	if (header.flags & MIMICD_VFIO_ERROR) {
		assert_int_equal(body, 0);
		return (int)header.error;
	}
	if (reply) {
		assert_true(body <= *size);
		memcpy(reply, rest, body);
		*size = body;
	}
	return 0;
}

/* --- a machine ----------------------------------------------------------------------- */

static void say_version(struct guest *guest)
{
	static const char version[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}";
	char reply[256];
	size_t size = sizeof(reply);

	assert_int_equal(guest_ask(guest, MIMICD_VFIO_VERSION, version, sizeof(version), NULL, 0, reply, &size, NULL),
			 0);
	assert_int_equal(reply[0], 0);
	assert_non_null(strstr(reply + 4, "max_msg_fds"));
}

int guest_map(struct guest *guest, int fd, uint64_t offset, uint64_t address, uint64_t size)
{
	const struct mimicd_vfio_dma_map map = {
		.argsz = sizeof(map), .flags = MIMICD_VFIO_MAP_READ | MIMICD_VFIO_MAP_WRITE,
		.offset = offset, .address = address, .size = size,
	};

	return guest_ask(guest, MIMICD_VFIO_DMA_MAP, &map, sizeof(map), &fd, fd >= 0, NULL, NULL, NULL);
}

int guest_unmap(struct guest *guest, uint64_t address, uint64_t size)
{
	const struct mimicd_vfio_dma_unmap unmap = { .argsz = sizeof(unmap), .address = address, .size = size };

	return guest_ask(guest, MIMICD_VFIO_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0, NULL, NULL, NULL);
}

void guest_start(struct guest *guest, const struct served *served, const char *device)
{
	guest_connect(guest, served, device);
	say_version(guest);
	guest->ram_fd = memfd_create("ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(guest->ram_fd >= 0);
	assert_int_equal(ftruncate(guest->ram_fd, GUEST_RAM_SIZE), 0);
	assert_int_equal(fcntl(guest->ram_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	guest->ram = mmap(NULL, GUEST_RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, guest->ram_fd, 0);
	assert_ptr_not_equal(guest->ram, MAP_FAILED);
	assert_int_equal(guest_map(guest, guest->ram_fd, 0, GUEST_RAM, GUEST_RAM_SIZE), 0);
}

/* Also if called again: descriptors and mappings with these numbers are somebody else's by then. */
void guest_end(struct guest *guest)
{
	if (guest->fd > 0)
		close(guest->fd);
	guest->fd = -1;
	if (guest->rings) {
		munmap(guest->rings, guest->rings_size);
		close(guest->rings_fd);
	}
	guest->rings = NULL;
	if (guest->ram_fd <= 0)
		return;
	munmap(guest->ram, GUEST_RAM_SIZE);
	close(guest->ram_fd);
	guest->ram_fd = -1;
	for (unsigned int i = 0; i < MIMIC_PCI_VECTORS; i++) {
		if (guest->eventfds[i])
			close(guest->eventfds[i]);
		guest->eventfds[i] = 0;
	}
}

void guest_take_interrupts(struct guest *guest, unsigned int index)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = MIMICD_VFIO_SET_DATA_EVENTFD | MIMICD_VFIO_SET_ACTION_TRIGGER,
		.index = index, .count = MIMIC_PCI_VECTORS,
	};

	for (unsigned int i = 0; i < MIMIC_PCI_VECTORS; i++)
		guest->eventfds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(guest_ask(guest, MIMICD_VFIO_SET_IRQS, &set, sizeof(set), guest->eventfds,
				   MIMIC_PCI_VECTORS, NULL, NULL, NULL), 0);
}

uint64_t guest_interrupts(struct guest *guest, unsigned int vector, int milliseconds)
{
	struct pollfd wait = { .fd = guest->eventfds[vector], .events = POLLIN };
	uint64_t count = 0;

	if (poll(&wait, 1, milliseconds) == 1)
		assert_int_equal(read(wait.fd, &count, sizeof(count)), sizeof(count));
	return count;
}

/* --- loads and stores ------------------------------------------------------------------ */

struct mimicd_vfio_region_info guest_region(struct guest *guest, unsigned int index, int *fd)
{
	const struct mimicd_vfio_region_info asked = { .argsz = sizeof(asked), .index = index };
	struct mimicd_vfio_region_info info;
	size_t size = sizeof(info);

	assert_int_equal(guest_ask(guest, MIMICD_VFIO_GET_REGION_INFO, &asked, sizeof(asked), NULL, 0, &info,
				   &size, fd), 0);
	assert_int_equal(size, sizeof(info));
	return info;
}

struct transfer {
	struct mimicd_vfio_region_access access;
	uint64_t value;
};

uint64_t guest_load(struct guest *guest, unsigned int region, uint64_t offset, unsigned int size)
{
	const struct mimicd_vfio_region_access access = { .offset = offset, .region = region, .count = size };
	struct transfer reply = { .value = 0 };
	size_t room = sizeof(reply);

	assert_int_equal(guest_ask(guest, MIMICD_VFIO_REGION_READ, &access, sizeof(access), NULL, 0, &reply,
				   &room, NULL), 0);
	assert_int_equal(room, sizeof(access) + size);
	return reply.value;
}

void guest_store(struct guest *guest, unsigned int region, uint64_t offset, unsigned int size, uint64_t value)
{
	const struct transfer store = { { .offset = offset, .region = region, .count = size }, value };

	assert_int_equal(guest_ask(guest, MIMICD_VFIO_REGION_WRITE, &store, sizeof(store.access) + size, NULL,
				   0, NULL, NULL, NULL), 0);
}

void guest_post(struct guest *guest, unsigned int region, uint64_t offset, unsigned int size, uint64_t value)
{
	const struct transfer store = { { .offset = offset, .region = region, .count = size }, value };

	send_command(guest, MIMICD_VFIO_REGION_WRITE, MIMICD_VFIO_NO_REPLY, &store, sizeof(store.access) + size,
		     NULL, 0);
}

uint64_t guest_bus(struct guest *guest, unsigned int offset)
{
	return guest_load(guest, MIMIC_PCI_BAR_REGISTERS, offset, 8);
}

void guest_set_bus(struct guest *guest, unsigned int offset, uint64_t value)
{
	guest_store(guest, MIMIC_PCI_BAR_REGISTERS, offset, 8, value);
}

uint64_t guest_register(struct guest *guest, unsigned int page, unsigned int offset, unsigned int size)
{
	return guest_load(guest, MIMIC_PCI_BAR_REGISTERS, MIMIC_PCI_DEVICE_PAGE(page) + offset, size);
}

void guest_set_register(struct guest *guest, unsigned int page, unsigned int offset, unsigned int size,
			uint64_t value)
{
	guest_store(guest, MIMIC_PCI_BAR_REGISTERS, MIMIC_PCI_DEVICE_PAGE(page) + offset, size, value);
}

/* --- memory ------------------------------------------------------------------------------ */

uint64_t *guest_word(struct guest *guest, uint64_t physical)
{
	assert_true(physical >= GUEST_RAM && physical < GUEST_RAM + GUEST_RAM_SIZE);
	return (uint64_t *)(void *)(guest->ram + (physical - GUEST_RAM));
}

/* The root is the first page, each table under it the next that is free; all are zero at first. */
uint64_t *guest_map_page(struct guest *guest, uint64_t address, uint64_t physical, uint64_t bits)
{
	uint64_t *free_tables = guest_word(guest, GUEST_RAM + 4088);	/* an entry that no address here has */
	uint64_t table = GUEST_RAM;

	for (int shift = 39; shift > 12; shift -= 9) {
		uint64_t *entry = guest_word(guest, table + 8 * (address >> shift & 511));

		if (!*entry) {
			/* The count is kept shifted, so that the entry stays one that is not present. */
			*free_tables += 2;
			*entry = (GUEST_RAM + *free_tables / 2 * 4096) | GUEST_PAGE_PRESENT;
		}
		table = *entry & ~0xfffull;
	}
	*guest_word(guest, table + 8 * (address >> 12 & 511)) = physical | bits;
	return guest_word(guest, table + 8 * (address >> 12 & 511));
}

void guest_use_tables(struct guest *guest, unsigned int number)
{
	guest_set_bus(guest, MIMIC_PCI_SPACE(number) + MIMIC_PCI_SPACE_ROOT, GUEST_RAM);
	guest_set_bus(guest, MIMIC_PCI_SPACE(number) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_X86_4);
}
