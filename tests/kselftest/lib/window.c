/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The window side of the scripted daemon. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "window.h"

#define PAGE 4096ull
#define PARTS_MAX 64

/* --- loads and stores that may fail ---------------------------------------- */

/*
 * The instruction that may raise SIGBUS has a name, and so has the place where
 * the handler goes on: no state to save for each of millions of accesses.
 */
__asm__(".text\n"
	"window_load:\n"
	"window_load_access:\n"
	"	mov (%rdi), %rax\n"
	"	mov %rax, (%rsi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"window_store:\n"
	"window_store_access:\n"
	"	mov %rsi, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"window_absent:\n"
	"	mov $-14, %eax\n"
	"	ret\n"
	".globl window_load, window_store\n");

extern const char window_load_access[], window_store_access[], window_absent[];

static struct sigaction others;

static void bus_error(int number, siginfo_t *information, void *opaque)
{
	ucontext_t *context = opaque;
	greg_t *place = &context->uc_mcontext.gregs[REG_RIP];

	if (*place == (greg_t)window_load_access || *place == (greg_t)window_store_access) {
		*place = (greg_t)window_absent;
		return;
	}
	if (others.sa_flags & SA_SIGINFO)
		others.sa_sigaction(number, information, opaque);
	else if (others.sa_handler == SIG_DFL || others.sa_handler == SIG_IGN)
		signal(number, SIG_DFL);
	else
		others.sa_handler(number);
}

void window_catch_bus_errors(void)
{
	struct sigaction wanted = { .sa_sigaction = bus_error, .sa_flags = SA_SIGINFO };
	struct sigaction now;

	sigaction(SIGBUS, NULL, &now);
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == bus_error)
		return;
	others = now;
	sigaction(SIGBUS, &wanted, NULL);
}

/* --- parts that stay mapped ------------------------------------------------ */

/* The daemon's: the test program's own copy stays empty. */
static struct part {
	char *base;
	uint64_t address;
	uint64_t size;
} parts[PARTS_MAX];
static unsigned int part_count;

struct access {
	uint64_t address;
	uint64_t size;
	uint64_t value;
	int32_t is_store;
	int32_t prot, flags;
};

uint32_t window_binding(const struct fake_daemon *daemon)
{
	return (uint32_t)daemon->control->open_binding;
}

static char *part_of(uint64_t address)
{
	unsigned int i;

	for (i = part_count; i-- > 0;) {
		if (address - parts[i].address < parts[i].size)
			return parts[i].base + (address - parts[i].address);
	}
	return NULL;
}

static long map_part(struct fake_self *self, void *argument)
{
	const struct access *wanted = argument;
	struct part *part = &parts[part_count];
	void *base;

	if (part_count == PARTS_MAX)
		return -ENOSPC;
	base = fake_self_window(self, (uint32_t)self->control->open_binding, wanted->address,
				wanted->size);
	if (base == MAP_FAILED)
		return -errno;
	*part = (struct part){ base, wanted->address, wanted->size };
	part_count++;
	return 0;
}

int window_map(struct fake_daemon *daemon, const volatile void *address, size_t size)
{
	struct access wanted = { .address = (uintptr_t)address & ~(PAGE - 1) };

	wanted.size = ((uintptr_t)address + size - wanted.address + PAGE - 1) & ~(PAGE - 1);
	return (int)fake_daemon_call(daemon, map_part, &wanted, sizeof(wanted));
}

static long unmap_parts(struct fake_self *self, void *argument)
{
	(void)self;
	(void)argument;
	while (part_count) {
		part_count--;
		munmap(parts[part_count].base, parts[part_count].size);
	}
	return 0;
}

void window_unmap(struct fake_daemon *daemon)
{
	fake_daemon_call(daemon, unmap_parts, NULL, 0);
}

static long access_part(struct fake_self *self, void *argument)
{
	struct access *wanted = argument;
	char *place = part_of(wanted->address);

	(void)self;
	if (!place)
		return -ENOENT;
	window_catch_bus_errors();
	return wanted->is_store ? window_store(place, wanted->value) :
				  window_load(place, &wanted->value);
}

int window_get(struct fake_daemon *daemon, const volatile void *address, uint64_t *value)
{
	struct access wanted = { .address = (uintptr_t)address };
	int error = (int)fake_daemon_call(daemon, access_part, &wanted, sizeof(wanted));

	*value = wanted.value;
	return error;
}

int window_put(struct fake_daemon *daemon, const volatile void *address, uint64_t value)
{
	struct access wanted = { .address = (uintptr_t)address, .value = value, .is_store = 1 };

	return (int)fake_daemon_call(daemon, access_part, &wanted, sizeof(wanted));
}

static long try_map(struct fake_self *self, void *argument)
{
	const struct access *wanted = argument;
	void *base = mmap(NULL, wanted->size, wanted->prot, wanted->flags, self->fd,
			  (off_t)wanted->address);

	if (base == MAP_FAILED)
		return -errno;
	munmap(base, wanted->size);
	return 0;
}

int window_try_map(struct fake_daemon *daemon, uint64_t offset, size_t size, int prot, int flags)
{
	struct access wanted = { .address = offset, .size = size, .prot = prot, .flags = flags };

	return (int)fake_daemon_call(daemon, try_map, &wanted, sizeof(wanted));
}

/* --- millions of them ------------------------------------------------------ */

struct window_check *window_check_create(void)
{
	void *memory = mmap(NULL, sizeof(struct window_check), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * May a load have read this value, if it began after `floor` was read and ended
 * before `after` was read? If the two differ, both the state before the change and
 * the state after it are possible.
 */
static bool is_possible(uint32_t cell, uint64_t value, uint64_t floor, uint64_t after,
			uint64_t newest)
{
	uint64_t generation = value & ((1ull << WINDOW_CELL_SHIFT) - 1);

	if (floor == after && floor & WINDOW_MUST_BE_ABSENT)
		return false;
	if (!value)
		return ((floor | after) & WINDOW_ZERO_OK) ||
		       ((floor ^ after) & WINDOW_GENERATION);
	return value >> WINDOW_CELL_SHIFT == (uint64_t)cell + 1 &&
	       generation >= (floor & WINDOW_GENERATION) && generation <= newest;
}

/* Only one thread counts. */
static void count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static void look(struct window_check *check, uint32_t number, const char *place)
{
	struct window_cell *cell = &check->cells[number];
	uint64_t floor = atomic_load_explicit(&cell->floor, memory_order_acquire);
	uint64_t value, after, newest;

	if (window_load(place, &value)) {
		count(&check->absent);
		return;
	}
	atomic_thread_fence(memory_order_acquire);
	after = atomic_load_explicit(&cell->floor, memory_order_acquire);
	newest = atomic_load_explicit(&cell->newest, memory_order_acquire);
	count(&check->checked);
	if (is_possible(number, value, floor, after, newest))
		return;
	if (!check->stale++) {
		check->first.cell = number;
		check->first.value = value;
		check->first.floor = floor;
		check->first.floor_after = after;
		check->first.newest = newest;
	}
}

/* A number that the program never writes. */
static void leave_mark(struct window_check *check, char *place)
{
	if (window_store(place, ~check->checked))
		count(&check->absent);
	else
		count(&check->checked);
}

static long run_check(struct fake_self *self, void *argument)
{
	struct window_check *check = *(struct window_check **)argument;
	char *places[WINDOW_CELLS_MAX];
	uint32_t i;

	(void)self;
	window_catch_bus_errors();
	for (i = 0; i < check->count; i++) {
		places[i] = part_of(check->cells[i].address);
		if (!places[i])
			return -ENOENT;
	}
	while (!check->stop) {
		for (i = 0; i < check->count; i++) {
			if (check->is_writer)
				leave_mark(check, places[i]);
			else
				look(check, i, places[i]);
		}
	}
	return 0;
}

void window_check_start(struct fake_daemon *daemon, struct window_check *check)
{
	check->stop = false;
	fake_daemon_call_start(daemon, run_check, &check, sizeof(check));
}

int window_check_finish(struct fake_daemon *daemon, struct window_check *check)
{
	check->stop = true;
	return (int)fake_daemon_call_finish(daemon, &check, sizeof(check));
}
