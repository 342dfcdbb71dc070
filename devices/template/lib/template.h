/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libtemplate: the template device, a small adder, as functions. This header is its manual; there
 * is a man page for each function (scripts/manual/read.awk says how comments are written).
 *
 * Errors. Functions return 0 or a negative errno value; nothing is printed, nothing exits. Each
 * function lists its own errors; beside these, every function that talks to the device may return
 *	-ENOTCONN	the daemon is gone
 *	-ENODEV		the handle belongs to the parent of a fork, or the device was taken away
 *
 * Threads. A handle may be used by one thread at a time; different handles are different devices.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A template device that this process has. */
struct template;

/**
 * template_open() - takes a device
 * @template: where the handle goes; NULL goes there if the call fails
 * @name: "template0", ...: that one; NULL or "template": any that is free
 *
 * The device is as after power-on. The caller has the handle, and gives it back by template_close().
 *
 * Returns 0, or
 * -EBUSY: none is free
 * -ENODEV: there is none of that number
 * -ENOENT: the name is none of a template device
 * -ENOMEM: out of memory
 */
int template_open(struct template **template, const char *name);

/**
 * template_close() - gives the device back
 * @template: the handle, or NULL
 */
void template_close(struct template *template);

/**
 * template_add() - adds two numbers
 * @template: the device
 * @a: the first number
 * @b: the second
 * @sum: where their sum goes, modulo 2^64
 *
 * Waits until the device is done.
 *
 * Returns 0.
 */
int template_add(struct template *template, uint64_t a, uint64_t b, uint64_t *sum);

/**
 * template_count() - tells how many additions the device has done since it was opened
 * @template: the device
 * @count: where the number goes
 *
 * Returns 0.
 */
int template_count(struct template *template, uint64_t *count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
