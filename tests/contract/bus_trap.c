/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Plain loads and stores to the pages of the device's node, as an unmodified
 * program does them. Nothing of mimic is linked in here: `mimic run` does the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/contract/internal.h"

#define PAGES_MAX 8

/* How long a load is asked again, on a bus that never lets it wait: the third part of a case's patience. */
#define AGAIN_SECONDS 6

static const struct contract_device *opened;
static struct {
	int descriptor;
	volatile unsigned char *pages[PAGES_MAX];
} handles[CONTRACT_HANDLES];

#ifdef __x86_64__
static void trap_store(volatile unsigned char *register_address, unsigned int size, uint64_t value)
{
	switch (size) {
	case 1:
		*register_address = (unsigned char)value;
		return;
	case 2:
		__asm__ volatile("movw %1, %0" : "=m"(*(volatile uint16_t *)register_address)
				 : "r"((uint16_t)value));
		return;
	case 4:
		__asm__ volatile("movl %1, %0" : "=m"(*(volatile uint32_t *)register_address)
				 : "r"((uint32_t)value));
		return;
	default:
		__asm__ volatile("movq %1, %0" : "=m"(*(volatile uint64_t *)register_address)
				 : "r"(value));
	}
}

static uint64_t trap_load(volatile unsigned char *register_address, unsigned int size)
{
	uint64_t value = 0;

	/* Written out: a compiler under a sanitizer may not split or check them. */
	switch (size) {
	case 1:
		__asm__ volatile("movzbl %1, %k0" : "=r"(value) : "m"(*register_address));
		return value;
	case 2:
		__asm__ volatile("movzwl %1, %k0" : "=r"(value)
				 : "m"(*(volatile uint16_t *)register_address));
		return value;
	case 4:
		__asm__ volatile("movl %1, %k0" : "=r"(value)
				 : "m"(*(volatile uint32_t *)register_address));
		return value;
	default:
		__asm__ volatile("movq %1, %0" : "=r"(value)
				 : "m"(*(volatile uint64_t *)register_address));
		return value;
	}
}
#else
/* Crooked ones are none of the contract's accesses on these machines. */
static void trap_store(volatile unsigned char *register_address, unsigned int size, uint64_t value)
{
	if (size == 1)
		*register_address = (uint8_t)value;
	else if (size == 2)
		*(volatile uint16_t *)register_address = (uint16_t)value;
	else if (size == 4)
		*(volatile uint32_t *)register_address = (uint32_t)value;
	else
		*(volatile uint64_t *)register_address = value;
}

static uint64_t trap_load(volatile unsigned char *register_address, unsigned int size)
{
	if (size == 1)
		return *register_address;
	if (size == 2)
		return *(volatile uint16_t *)register_address;
	if (size == 4)
		return *(volatile uint32_t *)register_address;
	return *(volatile uint64_t *)register_address;
}
#endif

/*
 * On PCI a load that would have to wait has no effect and gives all ones (docs/pci.md): it is repeated, as a program
 * would do it. A register that has all ones itself takes as long as this is tried.
 */
static uint64_t load_until_answered(volatile unsigned char *register_address, unsigned int size)
{
	uint64_t none = size == 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
	time_t end = time(NULL) + AGAIN_SECONDS;
	uint64_t value;

	do
		value = trap_load(register_address, size);
	while (value == none && time(NULL) < end);
	return value;
}

static void perform(enum bus_thread who, struct bus_work *work)
{
	struct mimic_access *access = &work->access;
	volatile unsigned char *register_address =
		handles[opened->handle_of[who]].pages[access->page] + access->offset;

	for (size_t i = 0; i < work->count; i++)
		trap_store(register_address, access->size, work->values[i]);
	if (work->count)
		return;
	if (access->is_write)
		trap_store(register_address, access->size, access->data);
	else if (loads_are_repeated())
		access->data = load_until_answered(register_address, access->size);
	else
		access->data = trap_load(register_address, access->size);
}

static int open_handle(const char *node, unsigned int handle)
{
	int descriptor = open(node, O_RDWR);

	if (descriptor < 0)
		return -errno;
	handles[handle].descriptor = descriptor;
	for (unsigned int page = 0; page < opened->pages; page++) {
		void *address = mmap(NULL, MIMIC_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				     descriptor, (off_t)page * MIMIC_PAGE_SIZE);

		if (address == MAP_FAILED)
			return -errno;
		handles[handle].pages[page] = address;
	}
	return 0;
}

static int open_trap(const struct contract_device *device, const char *configuration)
{
	char node[32];
	int error;

	(void)configuration;
	opened = device;
	snprintf(node, sizeof(node), "/dev/%s", device->name);
	for (unsigned int i = 0; i < device->handles; i++) {
		error = open_handle(node, i);
		if (error)
			return error;
	}
	bus_threads_start(perform);
	return 0;
}

static void close_trap(void)
{
	bus_threads_stop();
	for (unsigned int i = 0; i < opened->handles; i++) {
		for (unsigned int page = 0; page < opened->pages; page++)
			munmap((void *)handles[i].pages[page], MIMIC_PAGE_SIZE);
		close(handles[i].descriptor);
	}
}

static int memory_by_trap(void **address, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, handles[0].descriptor,
			    (off_t)opened->memory_offset);

	if (memory == MAP_FAILED)
		return -errno;
	*address = memory;
	return 0;
}

const struct bus bus_trap = {
	.name = "trap",
	.open = open_trap,
	.close = close_trap,
	.begin = bus_threads_begin,
	.post = bus_threads_post,
	.call = bus_threads_call,
	.is_over = bus_threads_is_over,
	.sleep = bus_threads_sleep,
	.end_thread = bus_threads_end,
	.memory = memory_by_trap,
};
