/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The hooks that do an atomic operation as well as tell of it. Outside of virtual time other
 * threads run, so they are real ones; their order is always the strongest.
 */
#include "sim/runtime/hook_load.h"

#define PC ((uintptr_t)__builtin_return_address(0))

static inline void tell_load(const volatile void *address, unsigned int size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_load(self, pc, (uintptr_t)address, size);
	sim_leave();
}

static inline void tell_store(const volatile void *address, unsigned int size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_store(self, pc, (uintptr_t)address, size);
	sim_leave();
}

static inline void tell_atomic(const volatile void *address, unsigned int size, uintptr_t pc)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	sim_atomic(self, pc, (uintptr_t)address, size);
	sim_leave();
}

#define LOAD(bits, type) \
	SIM_EXPORT type __tsan_atomic##bits##_load(const volatile type *address, int order); \
	type __tsan_atomic##bits##_load(const volatile type *address, int order) \
	{ \
		(void)order; \
		sim_hook_load(address, sizeof(type), PC); \
		return __atomic_load_n(address, __ATOMIC_SEQ_CST); \
	}

#define STORE(bits, type) \
	SIM_EXPORT void __tsan_atomic##bits##_store(volatile type *address, type value, int order); \
	void __tsan_atomic##bits##_store(volatile type *address, type value, int order) \
	{ \
		(void)order; \
		tell_store(address, sizeof(type), PC); \
		__atomic_store_n(address, value, __ATOMIC_SEQ_CST); \
	}

#define CHANGE(bits, type, name, builtin) \
	SIM_EXPORT type __tsan_atomic##bits##_##name(volatile type *address, type value, int order); \
	type __tsan_atomic##bits##_##name(volatile type *address, type value, int order) \
	{ \
		(void)order; \
		tell_atomic(address, sizeof(type), PC); \
		return builtin(address, value, __ATOMIC_SEQ_CST); \
	}

#define COMPARE(bits, type, name) \
	SIM_EXPORT int __tsan_atomic##bits##_##name(volatile type *address, type *expected, type value, int order, \
						    int failure_order); \
	int __tsan_atomic##bits##_##name(volatile type *address, type *expected, type value, int order, \
					 int failure_order) \
	{ \
		(void)order; \
		(void)failure_order; \
		tell_atomic(address, sizeof(type), PC); \
		return __atomic_compare_exchange_n(address, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	}

/* clang's, which gives back the old value. */
#define COMPARE_VALUE(bits, type) \
	SIM_EXPORT type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int order, \
								   int failure_order); \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int order, \
							int failure_order) \
	{ \
		(void)order; \
		(void)failure_order; \
		tell_atomic(address, sizeof(type), PC); \
		return __sync_val_compare_and_swap(address, expected, value); \
	}

#define ATOMICS(bits, type) \
	LOAD(bits, type) \
	STORE(bits, type) \
	CHANGE(bits, type, exchange, __atomic_exchange_n) \
	CHANGE(bits, type, fetch_add, __atomic_fetch_add) \
	CHANGE(bits, type, fetch_sub, __atomic_fetch_sub) \
	CHANGE(bits, type, fetch_and, __atomic_fetch_and) \
	CHANGE(bits, type, fetch_or, __atomic_fetch_or) \
	CHANGE(bits, type, fetch_xor, __atomic_fetch_xor) \
	CHANGE(bits, type, fetch_nand, __atomic_fetch_nand) \
	COMPARE(bits, type, compare_exchange_strong) \
	COMPARE(bits, type, compare_exchange_weak) \
	COMPARE_VALUE(bits, type)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* --- of 16 bytes: without -mcx16 (mk/sim.mk) a compiler would call libatomic for them ------------ */

typedef unsigned __int128 uint128;

static uint128 swap_if(volatile uint128 *address, uint128 expected, uint128 value)
{
	return __sync_val_compare_and_swap(address, expected, value);
}

/* `expression` makes the new value of `old`. */
#define CHANGE_128(name, expression) \
	SIM_EXPORT uint128 __tsan_atomic128_##name(volatile uint128 *address, uint128 value, int order); \
	uint128 __tsan_atomic128_##name(volatile uint128 *address, uint128 value, int order) \
	{ \
		uint128 old = 0, seen; \
		(void)order; \
		tell_atomic(address, sizeof(old), PC); \
		while ((seen = swap_if(address, old, expression)) != old) \
			old = seen; \
		return old; \
	}

CHANGE_128(exchange, value)
CHANGE_128(fetch_add, old + value)
CHANGE_128(fetch_sub, old - value)
CHANGE_128(fetch_and, old & value)
CHANGE_128(fetch_or, old | value)
CHANGE_128(fetch_xor, old ^ value)
CHANGE_128(fetch_nand, ~(old & value))

SIM_EXPORT uint128 __tsan_atomic128_load(const volatile uint128 *address, int order);
SIM_EXPORT void __tsan_atomic128_store(volatile uint128 *address, uint128 value, int order);
SIM_EXPORT int __tsan_atomic128_compare_exchange_strong(volatile uint128 *address, uint128 *expected, uint128 value,
							int order, int failure_order);
SIM_EXPORT int __tsan_atomic128_compare_exchange_weak(volatile uint128 *address, uint128 *expected, uint128 value,
						      int order, int failure_order);

uint128 __tsan_atomic128_load(const volatile uint128 *address, int order)
{
	(void)order;
	tell_load(address, sizeof(*address), PC);
	return swap_if((volatile uint128 *)address, 0, 0);
}

void __tsan_atomic128_store(volatile uint128 *address, uint128 value, int order)
{
	uint128 old = 0, seen;

	(void)order;
	tell_store(address, sizeof(*address), PC);
	while ((seen = swap_if(address, old, value)) != old)
		old = seen;
}

int __tsan_atomic128_compare_exchange_strong(volatile uint128 *address, uint128 *expected, uint128 value, int order,
					     int failure_order)
{
	uint128 seen;

	(void)order;
	(void)failure_order;
	tell_atomic(address, sizeof(*address), PC);
	seen = swap_if(address, *expected, value);
	if (seen == *expected)
		return 1;
	*expected = seen;
	return 0;
}

int __tsan_atomic128_compare_exchange_weak(volatile uint128 *address, uint128 *expected, uint128 value, int order,
					   int failure_order)
{
	return __tsan_atomic128_compare_exchange_strong(address, expected, value, order, failure_order);
}

COMPARE_VALUE(128, uint128)

/* --- fences: an instruction each ------------------------------------------------------------ */

SIM_EXPORT void __tsan_atomic_thread_fence(int order);
SIM_EXPORT void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
	struct sim_thread *self = sim_enter();

	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!self)
		return;
	soc_execute(sim.soc, self->core, 1);
	sim_leave();
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
