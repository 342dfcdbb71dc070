/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The reference for mimicd's times: a vfio-user server that answers at once and does nothing. BAR 0 is one
 * page, whose loads give 0; BAR 2 is a page of memory, in which a thread answers questions while the machine
 * wants it to (a store to BAR 0). It serves one machine, then it ends.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench/machines/instant.h"
#include "daemon/vfio/protocol.h"

#define CONFIG_SIZE 256u
#define PAYLOAD 8192u

static int connection, memory_fd;
static struct instant_memory *memory;
static uint8_t config[CONFIG_SIZE];
static atomic_bool polls;
static struct mimicd_vfio_header header;
static _Alignas(8) char payload[PAYLOAD];
static int descriptor;

/* --- the thread --------------------------------------------------------------------------- */

static void *answer_questions(void *unused)
{
	uint64_t last = 0;

	for (;;) {
		uint64_t question;

		if (!atomic_load_explicit(&polls, memory_order_relaxed)) {
			usleep(1000);
			continue;
		}
		question = atomic_load_explicit(&memory->question, memory_order_acquire);
		if (question != last)
			atomic_store_explicit(&memory->answer, question, memory_order_release);
		last = question;
	}
	return unused;
}

/* --- the stream ---------------------------------------------------------------------------- */

static bool receive(void *bytes, size_t size)
{
	while (size) {
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
		struct iovec part = { .iov_base = bytes, .iov_len = size };
		struct msghdr message = {
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
		};
		ssize_t got = recvmsg(connection, &message, 0);
		struct cmsghdr *entry = CMSG_FIRSTHDR(&message);

		if (got <= 0)
			return false;
		/* Nothing here uses the machine's memory, or its interrupts. */
		for (size_t i = 0; entry && i < (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
			close(((int *)(void *)CMSG_DATA(entry))[i]);
		bytes = (char *)bytes + got;
		size -= (size_t)got;
	}
	return true;
}

static bool reply(const void *body, size_t size)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)(uintptr_t)body, size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	struct cmsghdr *entry = (struct cmsghdr *)(void *)control;

	if (header.flags & MIMICD_VFIO_NO_REPLY)
		return true;
	header.flags = MIMICD_VFIO_REPLY;
	header.size = (uint32_t)(sizeof(header) + size);
	if (descriptor >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(entry), &descriptor, sizeof(descriptor));
	}
	return sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)(sizeof(header) + size);
}

/* --- requests -------------------------------------------------------------------------------- */

static bool do_version(void)
{
	static const char body[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":4096}}";

	return reply(body, sizeof(body));
}

static bool do_info(void)
{
	const struct mimicd_vfio_info body = {
		sizeof(body), MIMICD_VFIO_DEVICE_RESET | MIMICD_VFIO_DEVICE_PCI, MIMICD_VFIO_REGIONS, MIMICD_VFIO_INTERRUPTS,
	};

	return reply(&body, sizeof(body));
}

static bool do_region_info(void)
{
	struct mimicd_vfio_region_info body = { .argsz = sizeof(body) };

	body.index = ((const struct mimicd_vfio_region_info *)(const void *)payload)->index;
	if (body.index == 0 || body.index == INSTANT_BAR)
		body.size = INSTANT_SIZE;
	else if (body.index == MIMICD_VFIO_REGION_CONFIG)
		body.size = CONFIG_SIZE;
	if (body.size)
		body.flags = MIMICD_VFIO_REGION_MAY_READ | MIMICD_VFIO_REGION_MAY_WRITE;
	if (body.index == INSTANT_BAR) {
		body.flags |= MIMICD_VFIO_REGION_MAY_MAP;
		descriptor = memory_fd;
	}
	return reply(&body, sizeof(body));
}

static bool do_irq_info(void)
{
	struct mimicd_vfio_irq_info body = { .argsz = sizeof(body) };

	body.index = ((const struct mimicd_vfio_irq_info *)(const void *)payload)->index;
	return reply(&body, sizeof(body));
}

static bool do_load(void)
{
	struct {
		struct mimicd_vfio_region_access access;
		char data[CONFIG_SIZE];
	} body = { .data = "" };

	memcpy(&body.access, payload, sizeof(body.access));
	if (body.access.count > CONFIG_SIZE)
		return false;
	if (body.access.region == MIMICD_VFIO_REGION_CONFIG && body.access.offset <= CONFIG_SIZE - body.access.count)
		memcpy(body.data, config + body.access.offset, body.access.count);
	return reply(&body, sizeof(body.access) + body.access.count);
}

static bool do_store(void)
{
	struct mimicd_vfio_region_access access;

	memcpy(&access, payload, sizeof(access));
	/* The command register and the BARs; QEMU finds out sizes itself. */
	if (access.region == MIMICD_VFIO_REGION_CONFIG && access.count <= CONFIG_SIZE &&
	    access.offset >= 4 && access.offset <= 0x28 - access.count)
		memcpy(config + access.offset, payload + sizeof(access), access.count);
	if (access.region == 0)
		atomic_store(&polls, payload[sizeof(access)] & 1);
	return reply(&access, sizeof(access));
}

static bool serve(void)
{
	switch (header.command) {
	case MIMICD_VFIO_VERSION:
		return do_version();
	case MIMICD_VFIO_GET_INFO:
		return do_info();
	case MIMICD_VFIO_GET_REGION_INFO:
		return do_region_info();
	case MIMICD_VFIO_GET_IRQ_INFO:
		return do_irq_info();
	case MIMICD_VFIO_REGION_READ:
		return do_load();
	case MIMICD_VFIO_REGION_WRITE:
		return do_store();
	case MIMICD_VFIO_DMA_UNMAP:
		return reply(payload, sizeof(struct mimicd_vfio_dma_unmap));
	default:
		return reply(NULL, 0);
	}
}

/* --- begun ------------------------------------------------------------------------------------- */

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	static const uint8_t numbers[] = { INSTANT_VENDOR & 0xff, INSTANT_VENDOR >> 8, INSTANT_DEVICE & 0xff,
					   INSTANT_DEVICE >> 8 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t thread;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: bench-instant SOCKET\n");
		return 2;
	}
	strcpy(address.sun_path, argv[1]);
	memcpy(config, numbers, sizeof(numbers));
	config[0x0b] = 0x12;	/* a processing accelerator */
	memory_fd = memfd_create("answers", MFD_CLOEXEC);
	if (memory_fd < 0 || ftruncate(memory_fd, INSTANT_SIZE))
		return fail("memory");
	memory = mmap(NULL, INSTANT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	if (memory == MAP_FAILED || pthread_create(&thread, NULL, answer_questions, NULL))
		return fail("memory");
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
		return fail(argv[1]);
	connection = accept(listener, NULL, NULL);
	do {
		descriptor = -1;
		if (!receive(&header, sizeof(header)) || header.size < sizeof(header) ||
		    header.size - sizeof(header) > PAYLOAD || !receive(payload, header.size - sizeof(header)))
			return 0;
	} while (serve());
	return 0;
}
