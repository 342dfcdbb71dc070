/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The hooks that gcc calls for the accesses of a program that is compiled with -fsanitize=thread:
 * the functions that libtsan has otherwise. A hook is called before its access, which is made
 * when the hook returns; no other thread runs in between.
 */
#include "sim/runtime/hook_load.h"
#include "sim/run.h"

#define PC ((uintptr_t)__builtin_return_address(0))
#define WORD 8u		/* the widest access of a core */

void sim_hook_load_from_new_place(struct sim_thread *self, uint64_t address, unsigned int size, uintptr_t pc)
{
	sim_load(self, pc, address, size);
	sim_leave();
}

void sim_hook_load_slowly(struct sim_thread *self, uint64_t address, unsigned int size)
{
	if (core_now(self->on) >= sim.limit) {
		self->pending = sim_physical_if_known(address);
		sim_schedule(self);
		self->pending = 0;
		/* The line that the hook has prefetched may be gone. */
		__builtin_prefetch((const void *)(uintptr_t)address);
	}
	sim_make_load(self, address, size);
	sim_leave();
}

void sim_hook_load_behind(struct soc_core *core, uint64_t physical, unsigned int size)
{
	soc_load_behind(sim.soc, core, physical, size);
	sim_leave();
}

static inline __attribute__((always_inline)) void store(const volatile void *address, unsigned int size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	__builtin_prefetch((const void *)address, 1);
	sim_store(self, pc, (uintptr_t)address, size);
	sim_leave();
}

static inline void load_unaligned(const volatile void *address, unsigned int size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_charge(self, sim_place(pc));
	sim_make_any_load(self, (uintptr_t)address, size);
	sim_leave();
}

static inline void store_unaligned(const volatile void *address, unsigned int size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_charge(self, sim_place(pc));
	sim_make_any_store(self, (uintptr_t)address, size);
	sim_leave();
}

/* As words. */
static void load_range(const volatile void *address, size_t size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	for (size_t i = 0; i < size; i += WORD) {
		sim_charge(self, sim_place(pc));
		sim_make_any_load(self, (uintptr_t)address + i, size - i < WORD ? (unsigned int)(size - i) : WORD);
	}
	sim_leave();
}

static void store_range(const volatile void *address, size_t size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	for (size_t i = 0; i < size; i += WORD) {
		sim_charge(self, sim_place(pc));
		sim_make_any_store(self, (uintptr_t)address + i, size - i < WORD ? (unsigned int)(size - i) : WORD);
	}
	sim_leave();
}

#define HOOK(name, access, size) \
	SIM_EXPORT void __tsan_##name(void *address); \
	SIM_EXPORT void __tsan_##name(void *address) \
	{ \
		access(address, size, PC); \
	}

#define HOOKS(prefix, suffix, size) \
	HOOK(prefix##read##suffix, sim_hook_load, size) \
	HOOK(prefix##write##suffix, store, size)

#define UNALIGNED_HOOKS(prefix, suffix, size) \
	HOOK(prefix##read##suffix, load_unaligned, size) \
	HOOK(prefix##write##suffix, store_unaligned, size)

HOOKS(, 1, 1)
HOOKS(, 2, 2)
HOOKS(, 4, 4)
HOOKS(, 8, 8)
UNALIGNED_HOOKS(unaligned_, 2, 2)
UNALIGNED_HOOKS(unaligned_, 4, 4)
UNALIGNED_HOOKS(unaligned_, 8, 8)
HOOKS(volatile_, 1, 1)
HOOKS(volatile_, 2, 2)
HOOKS(volatile_, 4, 4)
HOOKS(volatile_, 8, 8)
UNALIGNED_HOOKS(unaligned_volatile_, 2, 2)
UNALIGNED_HOOKS(unaligned_volatile_, 4, 4)
UNALIGNED_HOOKS(unaligned_volatile_, 8, 8)
HOOK(read16, load_range, 16)
HOOK(write16, store_range, 16)
HOOK(unaligned_read16, load_range, 16)
HOOK(unaligned_write16, store_range, 16)
HOOK(volatile_read16, load_range, 16)
HOOK(volatile_write16, store_range, 16)
HOOK(unaligned_volatile_read16, load_range, 16)
HOOK(unaligned_volatile_write16, store_range, 16)

SIM_EXPORT void __tsan_init(void);
SIM_EXPORT void __tsan_read_range(void *address, size_t size);
SIM_EXPORT void __tsan_write_range(void *address, size_t size);
SIM_EXPORT void __tsan_vptr_update(void **address, void *value);
SIM_EXPORT void __tsan_vptr_read(void **address);
SIM_EXPORT void __tsan_func_entry(void *caller);
SIM_EXPORT void __tsan_func_exit(void *unused);
SIM_EXPORT void mimic_sim_prefetch(const volatile void *address, ...);

void __tsan_init(void)
{
}

void __tsan_read_range(void *address, size_t size)
{
	load_range(address, size, PC);
}

void __tsan_write_range(void *address, size_t size)
{
	store_range(address, size, PC);
}

void __tsan_vptr_update(void **address, void *value)
{
	(void)value;
	store(address, sizeof(*address), PC);
}

void __tsan_vptr_read(void **address)
{
	sim_hook_load(address, sizeof(*address), PC);
}

void __tsan_func_entry(void *caller)
{
	struct sim_thread *self = sim_enter();
	const struct sim_place_cost *place;
	const struct sim_function *function;

	(void)caller;
	if (!self)
		return;
	place = sim_place(PC);
	if (self->depth++ < SIM_CALLS)
		*++self->call = (struct sim_call){ .function = place->function };
	function = sim_function(place->function);
	if (function && function->entry_instructions)
		soc_execute(sim.soc, self->core, function->entry_instructions);
	sim_phases_enter(self, place->function);
	sim_leave();
}

void __tsan_func_exit(void *unused)
{
	struct sim_thread *self = sim_enter();

	(void)unused;
	if (!self)
		return;
	sim_phases_leave(self);
	if (self->depth && --self->depth < SIM_CALLS)
		self->call--;
	sim_leave();
}

void mimic_sim_prefetch(const volatile void *address, ...)
{
	struct sim_thread *self = sim_enter();
	uint64_t physical;

	if (!self) {
		__builtin_prefetch((const void *)address);
		return;
	}
	sim_charge(self, sim_place(PC));
	sim_settle(self);
	physical = sim_physical((uintptr_t)address);
	while (!SIM_IS_DEVICE(physical) && !soc_prefetch(sim.soc, self->core, physical))
		sim_settle(self);
	sim_leave();
}

void sim_sync_access(struct sim_thread *self, const volatile void *object, uintptr_t pc)
{
	if (sim_place_is_program(pc))
		sim_atomic(self, pc, (uintptr_t)object, 4);
	else
		sim_settle(self);
}
