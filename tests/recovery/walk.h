/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that does a bit of everything with each device, and prints what it reads: nothing of it depends on
 * time, so a daemon that is killed and recovered under it changes no byte.
 */
#ifndef TEST_WALK_H
#define TEST_WALK_H

#include <stddef.h>
#include <stdint.h>

/* Ends the program with a line if it is negative; returns it otherwise. */
long walk_check(long result, const char *call, const char *reason);

#define CHECK_MAPLE(call) walk_check((long)(call), #call, maple_error_text())
#define CHECK_DARE(call) walk_check((long)(call), #call, dare_error_text())
#define CHECK_VIRGO(call) walk_check((long)(call), #call, virgo_error_text())

/* Prints it, and all bytes of it, as one line. */
void walk_print(const char *name, const void *bytes, size_t size);
/* The same bytes in each run, others for each seed. */
void walk_fill(void *memory, size_t size, uint32_t seed);

void walk_maple(void);
void walk_dare(void);
void walk_virgo(void);

#endif
