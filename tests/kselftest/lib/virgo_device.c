/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/virgo_device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_SIZE (VIRGO_PAGE_COUNT * 4096ul)
#define ONE 0x3f800000ull	/* 1.0f */

static void *map(int fd, size_t size, off_t offset)
{
	void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	return mapped == MAP_FAILED ? NULL : mapped;
}

int virgo_node_open(struct virgo_node *node, const char *path)
{
	int error;

	*node = (struct virgo_node){ .fd = open(path, O_RDWR | O_CLOEXEC) };
	if (node->fd < 0)
		return -errno;
	node->pages = map(node->fd, PAGES_SIZE, 0);
	if (node->pages)
		node->shared = map(node->fd, VIRGO_TEST_SHARED, VIRGO_SHARED_OFFSET);
	if (node->shared)
		return 0;
	error = -errno;
	virgo_node_close(node);
	return error;
}

void virgo_node_close(struct virgo_node *node)
{
	if (node->pages)
		munmap((void *)(uintptr_t)node->pages, PAGES_SIZE);
	if (node->shared)
		munmap((void *)(uintptr_t)node->shared, VIRGO_TEST_SHARED);
	if (node->fd >= 0)
		close(node->fd);
	*node = (struct virgo_node){ .fd = -1 };
}

struct virgo_info virgo_node_info(int fd)
{
	struct virgo_info info = { .size = sizeof(info) };

	if (ioctl(fd, VIRGO_IOCTL_INFO, &info))
		memset(&info, 0xff, sizeof(info));
	return info;
}

int virgo_node_eventfd(int fd, int event, uint64_t events)
{
	struct virgo_eventfd wanted = { .size = sizeof(wanted), .fd = event, .events = events };

	return ioctl(fd, VIRGO_IOCTL_EVENTFD, &wanted) ? -errno : 0;
}

uint64_t virgo_count(const struct virgo_node *node, unsigned int unit, enum virgo_counter counter)
{
	virgo_put(node, VIRGO_UNIT(unit, COUNTER_SELECT), counter);
	return virgo_get(node, VIRGO_UNIT(unit, COUNTER_VALUE));
}

void virgo_command(const struct virgo_node *node, unsigned int unit, unsigned int funct, uint64_t rs1,
		   uint64_t rs2)
{
	virgo_put(node, VIRGO_UNIT(unit, RS1), rs1);
	virgo_put(node, VIRGO_UNIT(unit, RS2), rs2);
	*(volatile uint32_t *)(node->pages + VIRGO_UNIT(unit, INSTRUCTION)) = VIRGO_INSTRUCTION_WORD(funct);
}

void virgo_strides(const struct virgo_node *node, unsigned int unit, uint32_t in, uint32_t out)
{
	virgo_command(node, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | ONE << 32, in);
	virgo_command(node, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, out | ONE << 32);
}

static unsigned int dim_of(unsigned int unit)
{
	static const unsigned char dims[VIRGO_TEST_UNITS] = { 8, 4, 16, 16 };

	return dims[unit];
}

unsigned int virgo_row_bytes(unsigned int unit)
{
	static const unsigned char sizes[VIRGO_TEST_UNITS] = { 4, 4, 1, 2 };

	return dim_of(unit) * sizes[unit];
}

static uint64_t rows_at(unsigned int unit, unsigned int row, unsigned int rows)
{
	return (uint64_t)rows << 48 | (uint64_t)dim_of(unit) << 32 | row;
}

void virgo_move_in(const struct virgo_node *node, unsigned int unit, const volatile void *address,
		   unsigned int row, unsigned int rows)
{
	virgo_command(node, unit, VIRGO_FUNCT_MVIN, (uintptr_t)address, rows_at(unit, row, rows));
}

void virgo_move_out(const struct virgo_node *node, unsigned int unit, volatile void *address,
		    unsigned int row, unsigned int rows)
{
	virgo_command(node, unit, VIRGO_FUNCT_MVOUT, (uintptr_t)address, rows_at(unit, row, rows));
}

uint64_t virgo_see(const struct virgo_node *node, unsigned int unit, const volatile void *address)
{
	virgo_move_in(node, unit, address, 0, 1);
	virgo_fence(node, unit);
	return *(const volatile uint64_t *)node->shared;
}
