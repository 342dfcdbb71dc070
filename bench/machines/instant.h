/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The server that answers at once, and constants that the guest's program shares with it. */
#ifndef BENCH_INSTANT_H
#define BENCH_INSTANT_H

#include <stdint.h>

#define INSTANT_VENDOR 0x6d69
#define INSTANT_DEVICE 0x0001
#define INSTANT_BAR 2		/* its memory */
#define INSTANT_SIZE 4096u

struct instant_memory {
	_Alignas(128) _Atomic uint64_t question;
	_Alignas(128) _Atomic uint64_t answer;
};

#endif
