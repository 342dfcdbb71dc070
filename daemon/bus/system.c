/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The system calls of the channel. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/bus/bus.h"
#include "daemon/bus/ring_calls.h"
#include "mimic/bus.h"

static int system_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int system_ioctl(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

static void *system_map(int fd, size_t size, uint64_t offset)
{
	void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return address == MAP_FAILED ? NULL : address;
}

static int system_map_at(int fd, void *address, size_t size, uint64_t offset)
{
	void *mapped = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);

	return mapped == MAP_FAILED ? -errno : 0;
}

static void system_unmap(void *address, size_t size)
{
	munmap(address, size);
}

static ssize_t system_read(int fd, void *buffer, size_t size)
{
	ssize_t got = read(fd, buffer, size);

	return got < 0 ? -errno : got;
}

static ssize_t system_write(int fd, const void *buffer, size_t size)
{
	ssize_t written;

	do
		written = write(fd, buffer, size);
	while (written < 0 && errno == EINTR);
	return written < 0 ? -errno : written;
}

static void system_close(int fd)
{
	close(fd);
}

const struct mimicd_bus_ops mimicd_bus_system = {
	.open = system_open,
	.ioctl = system_ioctl,
	.map = system_map,
	.map_at = system_map_at,
	.unmap = system_unmap,
	.read = system_read,
	.write = system_write,
	.close = system_close,
	.ring_create = mimicd_ring_create,
	.ring_fetch = mimicd_ring_fetch,
	.ring_reap = mimicd_ring_reap,
	.ring_destroy = mimicd_ring_destroy,
};
