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
#define NO_PAGE 1u
/* Apart from the code of known pages, which keeps all that it needs in registers then. */
#define RARE __attribute__((noinline, cold))

struct known_page {
	uintptr_t address; /* of the page, or NO_PAGE */
	uint64_t version; /* of the table of mappings */
	struct holder *holder;
	struct mimic_device *device;
	uint64_t head; /* of struct mimic_access: the device's page */
	int (*access[2])(struct mimic_device *device,
			 struct mimic_access *access); /* a load, a store; NULL: not allowed */
	uint64_t reserved; /* the size is a power of two: fewer steps to the place of a page */
};
_Static_assert(sizeof(struct known_page) == 64, "a power of two");

static THREAD_LOCAL struct known_page known_pages[PAGES_KNOWN] = { [0 ... PAGES_KNOWN -
								    1] = { .address = NO_PAGE } };
static THREAD_LOCAL bool is_filling;

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

static struct known_page *place_of(uintptr_t address)
{
	struct known_page *place = &known_pages[address / PAGE_BYTES % PAGES_KNOWN];

	/* An address in a register: the compiler would find each member anew from the thread's memory. */
	__asm__("" : "+r"(place));
	return place;
}

static void fill(uintptr_t address)
{
	uint64_t version = atomic_load(&mimic_preload_mappings_version);
	struct known_page *known = place_of(address);
	int (*store)(struct mimic_device * device, struct mimic_access * access);
	struct mimic_device *device;
	struct mapping mapping;

	known->address = NO_PAGE;
	atomic_signal_fence(memory_order_seq_cst);
	if (!mimic_preload_page_find(address, &mapping) || mapping.device_page == MEMORY_PAGE ||
	    atomic_load(&mapping.holder->inherited))
		return;
	device = atomic_load(&mapping.holder->device);
	if (!device || !mimic_device_keeps_vectors(device))
		return;
	store = device->transport->store ? device->transport->store : device->transport->access;
	*known = (struct known_page){
		.version = version,
		.holder = mapping.holder,
		.device = device,
		.head = head_of((struct mimic_access){ .page = (uint8_t)mapping.device_page }),
		.access = {
			mapping.protection & PROT_READ ? device->transport->access : NULL,
			mapping.protection & PROT_WRITE ? store : NULL,
		},
	};
	atomic_signal_fence(memory_order_seq_cst);
	known->address = address & ~(uintptr_t)(PAGE_BYTES - 1);
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

/* Those that mimic_operate_store_value() and mimic_operate_load() look at. */
static void get_registers(const struct patch_site *site, const struct patch_frame *frame,
			  struct mimic_registers *registers)
{
	registers->gpr[site->shape.reg] = frame->gpr[site->shape.reg];
	registers->flags = frame->flags;
}

RARE static uint64_t odd_value(const struct patch_site *site, const struct patch_frame *frame)
{
	struct mimic_registers registers;

	get_registers(site, frame, &registers);
	return mimic_operate_store_value(&site->target.instruction, &registers);
}

/* 0 of a load. */
static uint64_t plain_value(const struct patch_shape *shape, const struct patch_frame *frame)
{
	return (frame->gpr[shape->reg] & shape->store_mask) | shape->constant;
}

static uint64_t value_of(const struct patch_site *site, const struct patch_frame *frame)
{
	return site->shape.is_odd_store ? odd_value(site, frame) : plain_value(&site->shape, frame);
}

RARE static void finish_load(const struct patch_site *site, struct patch_frame *frame)
{
	struct mimic_registers registers;

	get_registers(site, frame, &registers);
	mimic_operate_load(&site->target.instruction, &registers, frame->access.data);
	frame->value = registers.gpr[site->shape.reg];
	frame->new_flags = registers.flags;
	atomic_signal_fence(memory_order_seq_cst);
	frame->progress = PATCH_COMPUTED;
	atomic_signal_fence(memory_order_seq_cst);
	frame->gpr[site->shape.reg] = frame->value;
	frame->flags = frame->new_flags;
	atomic_signal_fence(memory_order_seq_cst);
	frame->progress = PATCH_DONE;
}

RARE static void finish_otherwise(struct patch_site *site, struct patch_frame *frame)
{
	if (site->shape.is_write)
		frame->progress = PATCH_DONE;
	else
		finish_load(site, frame);
	if (mimic_preload_patch_counts)
		atomic_fetch_add_explicit(&site->calls, 1, memory_order_relaxed);
}

/* The access was done: the rest of the instruction. */
static inline void complete(struct patch_site *site, struct patch_frame *frame)
{
	const struct patch_shape *shape = &site->shape;

	if (__builtin_expect(shape->finish == PATCH_FINISH_STORE, 1)) {
		frame->progress = PATCH_DONE;
	} else if (shape->finish == PATCH_FINISH_LOAD) {
		frame->value = frame->access.data & shape->mask;
		atomic_signal_fence(memory_order_seq_cst);
		frame->progress = PATCH_LOADED;
		atomic_signal_fence(memory_order_seq_cst);
		frame->gpr[shape->reg] = frame->value;
	} else {
		finish_otherwise(site, frame);
	}
}

/* --- the access's begin -------------------------------------------------------------- */

/* An access that is not done is left to the original instruction, whose fault has the whole story. */
RARE static struct patch_call access_anew(struct patch_site *site, struct patch_frame *frame,
					  uintptr_t address)
{
	const struct mimic_instruction *instruction = &site->target.instruction;
	const struct patch_call none = { NULL, NULL };
	struct mapping mapping;
	int saved_errno = errno;

	/* The C library is asked here only: a call of another library costs an access some percent. */
	mimic_vectors_errno = &errno;
	/* Memory that lies between addresses of devices. */
	if (address & (instruction->memory_size - 1u) || !mimic_preload_page_find(address, &mapping))
		return none;
	frame->access.data = value_of(site, frame);
	mimic_vectors_keep();
	mimic_preload_threads_attach();
	if (!mimic_preload_bus_access(address, instruction->memory_size, instruction->is_write,
				      &frame->access.data)) {
		remember(address);
		complete(site, frame);
	}
	errno = saved_errno;
	return none;
}

RARE static struct patch_call end_and_access_anew(struct patch_site *site, struct patch_frame *frame,
						  uintptr_t address)
{
	mimic_preload_access_end(frame->slot, frame->holder);
	return access_anew(site, frame, address);
}

/* Of an access that is not aligned, or lies in two pages: no page's address. */
static uintptr_t page_of(const struct mimic_instruction *instruction, uintptr_t address)
{
	return address & ~(uintptr_t)(PAGE_BYTES - instruction->memory_size);
}

RARE static struct patch_call begin_otherwise(struct patch_site *site, struct patch_frame *frame,
					      uintptr_t address);

/*
 * Rare cases are in functions of their own that this one ends with: so it keeps all that it needs in
 * registers that no function keeps for its caller, and stores none.
 */
static inline __attribute__((always_inline)) struct patch_call begin(struct patch_site *site,
								     struct patch_frame *frame,
								     uintptr_t address, bool is_rare)
{
	const struct patch_shape *shape = &site->shape;
	const struct known_page *known = place_of(address);
	struct access_slot *slot = mimic_preload_access_own;
	uintptr_t page = is_rare ? page_of(&site->target.instruction, address) : address & shape->page_mask;
	uint64_t version = known->version;
	struct patch_call call;

	atomic_signal_fence(memory_order_seq_cst);
	if (known->address != page)
		return is_rare ? access_anew(site, frame, address) : begin_otherwise(site, frame, address);
	if (!is_rare && mimic_preload_access_is_in_use(slot))
		return begin_otherwise(site, frame, address);
	/* The offset is the lowest part. */
	set_head(&frame->access, shape->head | known->head | (address & (PAGE_BYTES - 1)));
	frame->access.owner = 0;
	frame->access.data = is_rare ? value_of(site, frame) : plain_value(shape, frame);
	/* Announced, then looked at once more, as in bus_access(). */
	frame->holder = known->holder;
	if (is_rare)
		slot = mimic_preload_access_begin_anyhow(frame->holder);
	else
		mimic_preload_access_begin_in(slot, frame->holder);
	frame->slot = slot;
	call = (struct patch_call){ known->access[shape->is_write], known->device };
	atomic_signal_fence(memory_order_seq_cst);
	/* A handler may have written to `known` meanwhile. Of one page and one version all else is the same.
	 */
	if (atomic_load_explicit(&mimic_preload_mappings_version, memory_order_acquire) != version ||
	    known->address != page || !call.access)
		return end_and_access_anew(site, frame, address);
	return call;
}

/* The page is not known; or the thread has no slot, or an access that this one has interrupted uses it; or an
 * odd store. */
RARE static struct patch_call begin_otherwise(struct patch_site *site, struct patch_frame *frame,
					      uintptr_t address)
{
	return begin(site, frame, address, true);
}

struct patch_call mimic_preload_patch_begin_access(struct patch_site *site, struct patch_frame *frame,
						   uintptr_t address)
{
	return begin(site, frame, address, false);
}

/* --- and its end ---------------------------------------------------------------------- */

static bool has_report(const struct mimic_device *device)
{
	return atomic_load_explicit(device->report, memory_order_relaxed);
}

RARE static void end_otherwise(struct patch_site *site, struct patch_frame *frame,
			       struct mimic_device *device, int error)
{
	if (!error && has_report(device)) {
		/* It may write a message. */
		mimic_vectors_keep();
		mimic_preload_pass_on_report(device);
	}
	mimic_preload_access_end(frame->slot, frame->holder);
	if (!error)
		complete(site, frame);
}

void mimic_preload_patch_end_access(struct patch_site *site, struct patch_frame *frame,
				    struct mimic_device *device, int error)
{
	if (error || !frame->slot || has_report(device)) {
		end_otherwise(site, frame, device, error);
		return;
	}
	atomic_store_explicit(&frame->slot->holder, NULL, memory_order_release);
	complete(site, frame);
}

/* --- what an access needs to know of its instruction ------------------------------------- */

static enum patch_finish finish_of(const struct mimic_instruction *instruction)
{
	if (mimic_preload_patch_counts)
		return PATCH_FINISH_OTHERWISE;
	if (instruction->is_write)
		return PATCH_FINISH_STORE;
	if (instruction->operation == MIMIC_OPERATION_MOVE && instruction->register_size >= 4 &&
	    !instruction->sign_extend && !instruction->byte_swap)
		return PATCH_FINISH_LOAD;
	return PATCH_FINISH_OTHERWISE;
}

void mimic_preload_patch_shape(struct patch_site *site)
{
	const struct mimic_instruction *instruction = &site->target.instruction;
	const struct mimic_registers none = { .flags = 0 };
	bool is_general = instruction->operand == MIMIC_OPERAND_GENERAL;
	bool is_odd_store = instruction->is_write && (instruction->high_byte || instruction->byte_swap);
	uint64_t mask = mimic_operate_mask(instruction->memory_size);

	site->shape = (struct patch_shape){
		.head = head_of((struct mimic_access){ .size = instruction->memory_size,
						       .is_write = instruction->is_write }),
		.mask = mask,
		.store_mask = instruction->is_write && is_general ? mask : 0,
		.constant = instruction->is_write && !is_general
				    ? mimic_operate_store_value(instruction, &none)
				    : 0,
		.page_mask = is_odd_store ? 0 : page_of(instruction, UINT64_MAX),
		.reg = is_general ? instruction->reg : 0,
		.is_write = instruction->is_write,
		.is_odd_store = is_odd_store,
		.finish = finish_of(instruction),
	};
}

#endif
