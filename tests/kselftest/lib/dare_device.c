/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/kselftest/lib/dare_device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int dare_node_open(struct dare_node *node, const char *path)
{
	void *page;

	node->page = NULL;
	node->fd = open(path, O_RDWR | O_CLOEXEC);
	if (node->fd < 0)
		return -errno;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, node->fd, 0);
	if (page == MAP_FAILED) {
		int error = -errno;

		close(node->fd);
		return error;
	}
	node->page = page;
	return 0;
}

void dare_node_close(struct dare_node *node)
{
	if (node->page)
		munmap((void *)(uintptr_t)node->page, 4096);
	if (node->fd >= 0)
		close(node->fd);
	node->page = NULL;
	node->fd = -1;
}

struct dare_info dare_node_info(int fd)
{
	struct dare_info info = { .size = sizeof(info) };

	if (ioctl(fd, DARE_IOCTL_INFO, &info))
		memset(&info, 0xff, sizeof(info));
	return info;
}

void dare_shape(const struct dare_node *node, unsigned int rows, unsigned int bytes)
{
	dare_dispatch(node, DARE_WORD_MCFG, DARE_CSR_MATRIX_M, rows);
	dare_dispatch(node, DARE_WORD_MCFG, DARE_CSR_MATRIX_K, bytes);
}

uint64_t dare_load(const struct dare_node *node, unsigned int md, const volatile void *address,
		   uint64_t stride)
{
	dare_dispatch(node, DARE_WORD_MLD_B(md), (uintptr_t)address, stride);
	return dare_get(node, DARE_FENCE);
}

uint64_t dare_store(const struct dare_node *node, unsigned int ms3, volatile void *address,
		    uint64_t stride)
{
	dare_dispatch(node, DARE_WORD_MST_B(ms3), (uintptr_t)address, stride);
	return dare_get(node, DARE_FENCE);
}

uint64_t dare_see(const struct dare_node *node, const volatile void *address)
{
	static __thread volatile uint64_t place;

	place = 0;
	dare_dispatch(node, DARE_WORD_MLD_B(7), (uintptr_t)address, 0);
	dare_store(node, 7, &place, 0);
	return place;
}
