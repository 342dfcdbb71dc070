/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Arrays that a device may read. They are whole pages of private anonymous
 * memory, so that all of an array can be registered with the device, and lie
 * below 2^40 where that is possible, so that every profile can address them.
 */
#ifndef EXAMPLES_ARRAY_H
#define EXAMPLES_ARRAY_H

#include <stddef.h>

/* Zeroed. NULL with errno. An array of no elements is a valid pointer too. */
void *array_alloc(size_t count, size_t element);
/* The bytes of all pages of an array of so many: what to register, as of a page in part nothing is. */
size_t array_whole_pages(size_t bytes);
void array_free(void *array, size_t count, size_t element);

#endif
