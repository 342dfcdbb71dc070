/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An access that a trampoline makes. It differs from the trap's (fault.c) in two ways. An access that fails is left to
 * the original instruction, whose trap reports the error. And each thread knows the pages that it accessed last: for
 * those it looks into no table, and vector registers are stored only if the access uses them
 * (libmimic/base/vectors.h).
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"
#include "libmimic/transport.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define PAGES_KNOWN 4u
/* Apart from the code of known pages, which keeps all that it needs in registers then. */
#define RARE __attribute__((noinline, cold))

struct known_page {
	uintptr_t number; /* 0: none */
	uint64_t version; /* of the table of mappings */
	struct holder *holder;
	struct mimic_device *device;
	uint64_t head; /* of struct mimic_access: the device's page */
	int (*access[2])(struct mimic_device *device, struct mimic_access *access); /* a load, a store */
	uint8_t protection;
};

static THREAD_LOCAL struct known_page known_pages[PAGES_KNOWN];
static THREAD_LOCAL bool is_filling;
/* The C library is asked once for each thread, as a call of another library costs an access some percent. */
static THREAD_LOCAL int *errno_of_thread;

/*
 * Offset, page, size and direction are written at once: the parts come from the site and from the known page, and each
 * write of a part would be a step.
 */
_Static_assert(sizeof(struct mimic_access) - offsetof(struct mimic_access, offset) == sizeof(uint64_t), "the head is a word");

static uint64_t head_of(struct mimic_access access)
{
	uint64_t head;

	memcpy(&head, (const char *)&access + offsetof(struct mimic_access, offset), sizeof(head));
	return head;
}

static void set_head(struct mimic_access *access, uint64_t head)
{
	memcpy((char *)access + offsetof(struct mimic_access, offset), &head, sizeof(head));
}

static struct known_page *place_of(uintptr_t number)
{
	return &known_pages[number % PAGES_KNOWN];
}

static void fill(uintptr_t address)
{
	uint64_t version = atomic_load(&mimic_preload_mappings_version);
	struct known_page *known = place_of(address >> PAGE_SHIFT);
	struct mimic_device *device;
	struct mapping mapping;

	known->number = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (!mimic_preload_page_find(address, &mapping) || mapping.device_page == MEMORY_PAGE ||
	    atomic_load(&mapping.holder->inherited))
		return;
	device = atomic_load(&mapping.holder->device);
	if (!device || !mimic_device_keeps_vectors(device))
		return;
	*known = (struct known_page){
		.version = version,
		.holder = mapping.holder,
		.device = device,
		.head = head_of((struct mimic_access){ .page = (uint8_t)mapping.device_page }),
		.access = {
			device->transport->access,
			device->transport->store ? device->transport->store : device->transport->access,
		},
		.protection = (uint8_t)(mapping.protection & (PROT_READ | PROT_WRITE)),
	};
	atomic_signal_fence(memory_order_seq_cst);
	known->number = address >> PAGE_SHIFT;
}

/*
 * The access that was just made has shown that the page is a device's. A handler that comes meanwhile notes nothing: it could be
 * of the same place. One that jumps away leaves is_filling: then this thread knows no more pages, and takes longer.
 */
static void remember(uintptr_t address)
{
	if (is_filling)
		return;
	is_filling = true;
	atomic_signal_fence(memory_order_seq_cst);
	fill(address);
	atomic_signal_fence(memory_order_seq_cst);
	is_filling = false;
}

/* -EAGAIN: the page is not known. */
static int access_known(const struct patch_shape *shape, uintptr_t address, struct mimic_access *access)
{
	uintptr_t number = address >> PAGE_SHIFT;
	const struct known_page *known = place_of(number);
	uint64_t version = known->version;
	struct mimic_device *device = known->device;
	struct holder *holder = known->holder;
	int (*operate)(struct mimic_device *, struct mimic_access *) = known->access[shape->is_write];
	bool is_allowed = known->protection & shape->protection;
	struct access_slot *slot;
	int error = -EAGAIN;

	/* The offset is the lowest part. */
	set_head(access, shape->head | known->head | (address & (PAGE_BYTES - 1)));
	/* A handler may have written in between. Of one page and one version all else is the same. */
	atomic_signal_fence(memory_order_seq_cst);
	if (known->number != number || known->version != version || !is_allowed)
		return -EAGAIN;
	/* Announced, then looked at once more, as in bus_access(). */
	slot = mimic_preload_access_begin(holder);
	if (atomic_load_explicit(&mimic_preload_mappings_version, memory_order_acquire) == version)
		error = operate(device, access);
	if (!error && device->report && atomic_load_explicit(device->report, memory_order_relaxed))
		mimic_preload_pass_on_report(device);
	mimic_preload_access_end(slot, holder);
	return error;
}

RARE static int access_anew(uintptr_t address, unsigned int size, bool is_write, uint64_t *data)
{
	struct mapping mapping;
	int error;

	/* Memory that lies between addresses of devices. */
	if (!mimic_preload_page_find(address, &mapping))
		return -EFAULT;
	mimic_vectors_keep();
	mimic_preload_threads_attach();
	error = mimic_preload_bus_access(address, size, is_write, data);
	if (!error)
		remember(address);
	return error;
}

/* As mimic_effective_address(), of the forms that are replaced. */
static uintptr_t address_of(const struct mimic_instruction *instruction, const uint64_t *gpr)
{
	uintptr_t address = (uintptr_t)instruction->displacement;

	if (instruction->base != MIMIC_NO_REGISTER)
		address += gpr[instruction->base];
	if (instruction->index != MIMIC_NO_REGISTER)
		address += gpr[instruction->index] * instruction->scale;
	return address;
}

static uint64_t value_of(const struct patch_site *site, const struct patch_frame *frame)
{
	const struct mimic_instruction *instruction = &site->target.instruction;

	if (instruction->operand != MIMIC_OPERAND_GENERAL || instruction->high_byte || instruction->byte_swap)
		return mimic_operate_store_value(instruction, &frame->registers);
	return frame->registers.gpr[instruction->reg] & site->shape.mask;
}

static void finish_load(const struct patch_site *site, struct patch_frame *frame, uint64_t data)
{
	const struct mimic_instruction *instruction = &site->target.instruction;

	frame->old_value = frame->registers.gpr[instruction->reg];
	frame->old_flags = frame->registers.flags;
	atomic_signal_fence(memory_order_seq_cst);
	frame->is_loading = 1;
	atomic_signal_fence(memory_order_seq_cst);
	if (site->shape.is_plain_load)
		frame->registers.gpr[instruction->reg] = data & site->shape.mask;
	else
		mimic_operate_load(instruction, &frame->registers, data);
}

RARE static int *ask_for_errno(void)
{
	errno_of_thread = &errno;
	return errno_of_thread;
}

static int *find_errno(void)
{
	return errno_of_thread ? errno_of_thread : ask_for_errno();
}

void mimic_preload_patch_shape(struct patch_site *site)
{
	const struct mimic_instruction *instruction = &site->target.instruction;

	site->shape = (struct patch_shape){
		.head = head_of((struct mimic_access){ .size = instruction->memory_size, .is_write = instruction->is_write }),
		.mask = mimic_operate_mask(instruction->memory_size),
		.low = instruction->memory_size - 1,
		.is_write = instruction->is_write,
		.protection = instruction->is_write ? PROT_WRITE : PROT_READ,
		.is_plain_load = instruction->operation == MIMIC_OPERATION_MOVE && instruction->register_size >= 4 &&
				 !instruction->sign_extend && !instruction->byte_swap,
	};
}

bool mimic_preload_patch_access(struct patch_site *site, struct patch_frame *frame)
{
	const struct mimic_instruction *instruction = &site->target.instruction;
	uintptr_t address = address_of(instruction, frame->registers.gpr);
	int *own_errno = find_errno(), saved_errno = *own_errno;
	struct mimic_access access;
	int error;

	if (address & site->shape.low)
		return false;
	access.owner = 0;
	access.data = instruction->is_write ? value_of(site, frame) : 0;
	error = access_known(&site->shape, address, &access);
	if (error == -EAGAIN)
		error = access_anew(address, instruction->memory_size, instruction->is_write, &access.data);
	*own_errno = saved_errno;
	/* The original instruction comes next, and its fault has the whole story. */
	if (error)
		return false;
	if (!instruction->is_write)
		finish_load(site, frame, access.data);
	atomic_signal_fence(memory_order_seq_cst);
	frame->rip += instruction->length;
	if (mimic_preload_patch_counts)
		atomic_fetch_add_explicit(&site->calls, 1, memory_order_relaxed);
	return true;
}

#endif
