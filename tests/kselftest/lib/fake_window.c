/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The scripted daemon's windows onto the program's memory. */
#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_server.h"

struct window_call {
	uint64_t address;
	uint64_t size;
	uint64_t is_write;
	uint8_t bytes[FAKE_ARGUMENT_MAX / 2];
};

void *fake_self_window(struct fake_self *self, uint32_t binding, uint64_t address, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
		    (off_t)(MIMIC_BUS_WINDOW(binding) + address));
}

static long copy_window(struct window_call *wanted, char *window)
{
	char *place = window + (wanted->address & 4095);

	if (sigsetjmp(fake_on_bus_error, 1))
		return -EFAULT;
	if (wanted->is_write)
		memcpy(place, wanted->bytes, wanted->size);
	else
		memcpy(wanted->bytes, place, wanted->size);
	return 0;
}

static long call_window(struct fake_self *self, void *argument)
{
	struct window_call *wanted = argument;
	uint64_t first = wanted->address & ~4095ull;
	size_t size = (wanted->address + wanted->size - first + 4095) & ~4095ull;
	char *window = fake_self_window(self, (uint32_t)self->control->open_binding, first, size);
	long result;

	if (window == MAP_FAILED)
		return -errno;
	result = copy_window(wanted, window);
	munmap(window, size);
	return result;
}

int fake_window_read(struct fake_daemon *daemon, const volatile void *address, void *buffer,
		     size_t size)
{
	static struct window_call wanted;
	int error;

	wanted = (struct window_call){ .address = (uintptr_t)address, .size = size };
	error = (int)fake_daemon_call(daemon, call_window, &wanted, sizeof(wanted));
	memcpy(buffer, wanted.bytes, size);
	return error;
}

int fake_window_write(struct fake_daemon *daemon, volatile void *address, const void *buffer,
		      size_t size)
{
	static struct window_call wanted;

	wanted = (struct window_call){ .address = (uintptr_t)address, .size = size, .is_write = 1 };
	memcpy(wanted.bytes, buffer, size);
	return (int)fake_daemon_call(daemon, call_window, &wanted, sizeof(wanted));
}
