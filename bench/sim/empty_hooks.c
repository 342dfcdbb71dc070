/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The hooks that bench/sim/spmv.c calls, doing nothing: the cost of the calls alone. */
#define HOOK(name) \
	void __tsan_##name(void *address); \
	__attribute__((visibility("default"))) void __tsan_##name(void *address) \
	{ \
		(void)address; \
	}

HOOK(read4)
HOOK(read8)
HOOK(write4)
HOOK(write8)
HOOK(func_entry)
HOOK(func_exit)

void __tsan_init(void);
__attribute__((visibility("default"))) void __tsan_init(void)
{
}
