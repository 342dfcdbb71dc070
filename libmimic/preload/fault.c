/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The handler of SIGSEGV and SIGBUS: a fault is a read by the device, an access
 * to a device page, or the program's own.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "libmimic/base/context.h"
#include "libmimic/base/emulate.h"
#include "libmimic/base/new_libc.h"
#include "libmimic/transport.h"
#include "patch.h"
#include "preload.h"

enum failure {
	FAILURE_NONE,
	FAILURE_NOT_OURS,	/* part of the access is no device page, or is protected */
	FAILURE_INHERITED,
	FAILURE_OPEN,
	FAILURE_ACCESS,
};

struct bus {
	enum failure failure;
	int error;
	uintptr_t address;
};

static int fail(struct bus *bus, enum failure failure, int error)
{
	bus->failure = failure;
	bus->error = error;
	return error;
}

/* The page at an address, be it mapped or a physical address used as it is. */
bool mimic_preload_page_find(uintptr_t address, struct mapping *mapping)
{
	unsigned int tile;

	/* The device's memory is like any other, but for a child that has none. */
	if (mimic_preload_mapping_find(address, mapping))
		return mapping->device_page != MEMORY_PAGE || atomic_load(&mapping->holder->inherited);
	if (!physical_page(address, &tile, &mapping->device_page))
		return false;
	mapping->holder = &mimic_preload_holders[tile];
	mapping->protection = PROT_READ | PROT_WRITE;
	return true;
}

EXPORT bool mimic_preload_is_device_page(uintptr_t address)
{
	struct mapping mapping;

	return mimic_preload_page_find(address, &mapping) && mapping.device_page != MEMORY_PAGE;
}

static bool is_tile(const struct holder *holder)
{
	return holder < mimic_preload_holders + HOLDER_TILES;
}

/* First touch of a raw address, or of a private tile in the child of a fork. */
static int open_tile(struct holder *holder)
{
	struct mimic_preload_lock lock;
	int error;

	mimic_preload_lock(&lock);
	error = mimic_preload_holder_open_tile((unsigned int)(holder - mimic_preload_holders), &holder);
	mimic_preload_unlock(&lock);
	return error;
}

void mimic_preload_pass_on_report(struct mimic_device *device)
{
	const char *report = mimic_device_report(device);
	struct text text;

	if (!report)
		return;
	mimic_vectors_keep();
	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, mimic_device_name(device));
	mimic_preload_text_add(&text, ": ");
	mimic_preload_text_add(&text, report);
	mimic_preload_text_write_line(&text);
}

static int access_page(struct bus *bus, const struct mapping *mapping, struct mimic_access *access)
{
	struct holder *holder = mapping->holder;
	int error;

	if (atomic_load(&holder->inherited))
		return fail(bus, FAILURE_INHERITED, -ENODEV);
	if (is_tile(holder) && !atomic_load(&holder->device)) {
		error = open_tile(holder);
		if (error)
			return fail(bus, FAILURE_OPEN, error);
	}
	error = mimic_device_plain_access(atomic_load(&holder->device), access);
	if (error)
		return fail(bus, FAILURE_ACCESS, error);
	mimic_preload_pass_on_report(atomic_load(&holder->device));
	return 0;
}

static int bus_access(void *context, uintptr_t address, unsigned int size, bool is_write, uint64_t *data)
{
	struct mimic_access access = {
		.data = is_write ? *data : 0,
		.offset = address & (PAGE_BYTES - 1),
		.size = (uint8_t)size,
		.is_write = is_write,
	};
	struct mapping mapping;
	struct mapping again;
	struct access_slot *slot;
	struct bus *bus = context;
	int error;

	bus->address = address;
	if (!mimic_preload_page_find(address, &mapping) ||
	    !(mapping.protection & (is_write ? PROT_WRITE : PROT_READ)))
		return fail(bus, FAILURE_NOT_OURS, -EFAULT);
	access.page = (uint8_t)mapping.device_page;
	/* Counted, then checked once more: munmap() takes the page away, then reads the count. */
	slot = mimic_preload_access_begin(mapping.holder);
	if (mimic_preload_page_find(address, &again) && again.holder == mapping.holder)
		error = access_page(bus, &mapping, &access);
	else
		error = fail(bus, FAILURE_NOT_OURS, -EFAULT);
	mimic_preload_access_end(slot, mapping.holder);
	if (!error && !is_write)
		*data = access.data;
	return error;
}

int mimic_preload_bus_access(uintptr_t address, unsigned int size, bool is_write, uint64_t *data)
{
	struct bus bus = { .failure = FAILURE_NONE };

	return bus_access(&bus, address, size, is_write, data);
}

static void explain_instruction(struct text *text, const ucontext_t *context, int error)
{
	char bytes[64];

	mimic_preload_text_add(text, "cannot emulate the instruction at ");
	mimic_preload_text_add_hex(text, mimic_context_instruction(context));
	mimic_preload_text_add(text, " (bytes ");
	mimic_instruction_text(context, bytes, sizeof(bytes));
	mimic_preload_text_add(text, bytes);
	if (error == -ENOLCK)
		mimic_preload_text_add(text, "): it locks memory, which no bus can do; a device needs a load, then a store");
	else
		mimic_preload_text_add(text, "): only plain loads and stores reach a device");
}

static void explain_error(struct text *text, const struct bus *bus)
{
	if (bus->failure == FAILURE_INHERITED)
		mimic_preload_text_add(
			text,
			"device pages do not pass to a child process; open the device again in the child");
	else if (bus->error == -ENOTCONN)
		mimic_preload_text_add(text, "the daemon is gone");
	else if (bus->error == -ENODEV && bus->failure != FAILURE_OPEN)
		mimic_preload_text_add(text, "the device was removed, reset or lost when its mimicd ended (mimicd's log says which); it has to be opened anew");
	else if (bus->failure == FAILURE_OPEN && mimic_error_text()[0])
		mimic_preload_text_add(text, mimic_error_text());
	else
		mimic_preload_text_add(text, mimic_error_description(-bus->error));
}

static void explain(const struct bus *bus, const ucontext_t *context, uintptr_t address)
{
	struct mapping mapping;
	struct text text;

	mimic_preload_text_start(&text);
	if (bus->failure == FAILURE_NONE)
		explain_instruction(&text, context, bus->error);
	else
		explain_error(&text, bus);
	mimic_preload_text_add(&text, "; access to ");
	mimic_preload_text_add_hex(&text, address);
	if (mimic_preload_page_find(address, &mapping)) {
		mimic_preload_text_add(&text, mapping.device_page == MEMORY_PAGE ? " (memory" : " (page ");
		if (mapping.device_page != MEMORY_PAGE)
			mimic_preload_text_add_number(&text, mapping.device_page);
		mimic_preload_text_add(&text, " of ");
		if (mapping.holder->node.device[0])
			mimic_preload_text_add(&text, mapping.holder->node.device);
		else
			mimic_preload_text_add(&text, "a device");
		mimic_preload_text_add(&text, ", offset ");
		mimic_preload_text_add_hex(&text, address & (PAGE_BYTES - 1));
		mimic_preload_text_add(&text, ")");
	}
	mimic_preload_text_write_line(&text);
}

/*
 * The failed access whose handler returned last. The handler may only have set
 * the default action, so that the same instruction faults once more and ends
 * the program: that is the same error, and is not told twice. Threads that
 * fail at once overwrite each other's, which costs a line too many at most.
 */
static struct {
	_Atomic long thread;
	_Atomic uintptr_t instruction, address;
	atomic_int error;
} returned;

static bool is_explained(const struct bus *bus, uintptr_t instruction, uintptr_t address)
{
	return atomic_load(&returned.thread) == mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0) &&
	       atomic_load(&returned.instruction) == instruction && atomic_load(&returned.address) == address &&
	       atomic_load(&returned.error) == bus->error;
}

/* An access that the device or we cannot serve: a bus error, as on a machine. */
static void bus_error(const struct bus *bus, ucontext_t *context, uintptr_t address)
{
	siginfo_t information = { .si_signo = SIGBUS, .si_code = BUS_ADRERR };
	uintptr_t instruction = mimic_context_instruction(context);

	information.si_addr = (void *)address;
	if (!is_explained(bus, instruction, address))
		explain(bus, context, address);
	mimic_preload_signals_deliver(SIGBUS, &information, context, SIGNAL_OURS);
	atomic_store(&returned.thread, mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
	atomic_store(&returned.instruction, instruction);
	atomic_store(&returned.address, address);
	atomic_store(&returned.error, bus->error);
}

#if defined(__x86_64__) && !defined(__ILP32__)

#define GENERAL_PROTECTION 13

/* A privileged instruction: ours, that stops threads for a moment, or that ends a departure. */
static bool is_stop(int number, const siginfo_t *information, ucontext_t *context)
{
	if (number != SIGSEGV || information->si_code != SI_KERNEL ||
	    context->uc_mcontext.gregs[REG_TRAPNO] != GENERAL_PROTECTION)
		return false;
	return mimic_preload_patch_is_departure(context) ||
	       mimic_preload_patch_is_stop(mimic_context_instruction(context));
}

/* 0; -EAGAIN: to be executed once more, all the same; -EFAULT with FAILURE_NOT_OURS, or as mimic_emulate(). */
static int emulate(ucontext_t *context, const struct mapping *mapping, struct bus *bus, uintptr_t address)
{
	uintptr_t instruction = mimic_context_instruction(context);
	struct mimic_instruction decoded;
	int error = mimic_preload_patch_fetch(instruction, &decoded);

	if (error)
		return error;
	/* Its load must not be done where its store is the program's fault. */
	if (decoded.is_update && !(mapping->protection & PROT_WRITE))
		return fail(bus, FAILURE_NOT_OURS, -EFAULT);
	error = mimic_emulate_instruction(context, &decoded, bus_access, bus);
	if (!error)
		mimic_preload_patch_trapped(instruction, address);
	return error;
}

#else

static bool is_stop(int number, const siginfo_t *information, ucontext_t *context)
{
	(void)number, (void)information, (void)context;
	return false;
}

/* No instruction is replaced, and none both loads and stores. */
static int emulate(ucontext_t *context, const struct mapping *mapping, struct bus *bus, uintptr_t address)
{
	(void)mapping, (void)address;
	return mimic_emulate(context, bus_access, bus);
}

#endif

static bool is_access_fault(int number, const siginfo_t *information, const ucontext_t *context)
{
	if (number != SIGSEGV)
		return false;
	if (information->si_code != SEGV_MAPERR && information->si_code != SEGV_ACCERR)
		return false;
	/* A jump into a device page: there is no instruction to decode. */
	return !mimic_context_is_fetch(context, (uintptr_t)information->si_addr);
}

/* The program's bus error, as if it came from the instruction itself. */
static void program_bus_error(const struct bus *bus, ucontext_t *context, uintptr_t address)
{
	struct patch_shown shown;

	mimic_preload_patch_show(context, &shown);
	bus_error(bus, context, address);
	mimic_preload_patch_resume(context, &shown);
}

static bool serve(int number, siginfo_t *information, ucontext_t *context)
{
	uintptr_t address = (uintptr_t)information->si_addr;
	struct bus bus = { .failure = FAILURE_NONE };
	struct mapping mapping;
	int error;

	if (!is_access_fault(number, information, context) || !mimic_preload_page_find(address, &mapping))
		return false;
	mimic_preload_threads_attach();
	if (mapping.device_page == MEMORY_PAGE) {
		bus.address = address;
		fail(&bus, FAILURE_INHERITED, -ENODEV);
		program_bus_error(&bus, context, address);
		return true;
	}
	error = emulate(context, &mapping, &bus, address);
	if (!error || (error == -EAGAIN && bus.failure == FAILURE_NONE))
		return true;
	if (bus.failure == FAILURE_NOT_OURS)
		return false;
	if (bus.failure == FAILURE_NONE)
		bus.error = error;
	program_bus_error(&bus, context, bus.failure == FAILURE_NONE ? address : bus.address);
	return true;
}

static void deliver(int number, siginfo_t *information, ucontext_t *context, enum signal_origin origin)
{
	struct patch_shown shown;

	/* A page of the arena that the program has unmapped is reserved, and not the program's. */
	if (origin == SIGNAL_FAULT && number == SIGSEGV && information->si_code == SEGV_ACCERR &&
	    mimic_preload_arena_has((uintptr_t)information->si_addr) &&
	    !mimic_preload_mapping_overlaps((uintptr_t)information->si_addr, 1))
		information->si_code = SEGV_MAPERR;
	mimic_preload_patch_show(context, &shown);
	mimic_preload_signals_deliver(number, information, context, origin);
	mimic_preload_patch_resume(context, &shown);
}

void mimic_preload_fault_handler(int number, siginfo_t *information, void *signal_context)
{
	ucontext_t *context = signal_context;
	int saved_errno = errno;
	struct mimic_vectors *kept = mimic_preload_vectors_hide();
	uintptr_t fixup;

	if (information->si_code <= 0) {
		if (!mimic_preload_signals_defer(number, information, context))
			deliver(number, information, context, SIGNAL_SENT);
	} else if ((fixup = mimic_fault_fixup(mimic_context_instruction(context)))) {
		mimic_context_go_to(context, fixup);
	} else if (!is_stop(number, information, context) && !serve(number, information, context)) {
		deliver(number, information, context, SIGNAL_FAULT);
	}
	mimic_preload_vectors_show(kept);
	errno = saved_errno;
}
