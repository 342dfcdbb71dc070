/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Functions that a model's code calls in the build that can be recovered. The compiler puts the first ones
 * in front of stores (-fsanitize=kernel-address, with reads, stacks and globals left out); the names of
 * the others take the place of the C library's in the objects (mk/recover.mk).
 */
#ifndef MIMICD_JOURNAL_HOOKS_H
#define MIMICD_JOURNAL_HOOKS_H

#include <stddef.h>

void __asan_store1_noabort(const void *address);
void __asan_store2_noabort(const void *address);
void __asan_store4_noabort(const void *address);
void __asan_store8_noabort(const void *address);
void __asan_store16_noabort(const void *address);
void __asan_storeN_noabort(const void *address, size_t size);
void __asan_handle_no_return(void);

/* devices/changes.h */
void mimicd_model_changes(const void *address, size_t size);

void *mimicd_model_memcpy(void *to, const void *from, size_t size);
void *mimicd_model_memmove(void *to, const void *from, size_t size);
void *mimicd_model_memset(void *to, int value, size_t size);
/* Memory of the window; of the C library's heap in a daemon that has none. */
void *mimicd_model_malloc(size_t size);
void *mimicd_model_calloc(size_t count, size_t size);
void *mimicd_model_aligned_alloc(size_t alignment, size_t size);
void mimicd_model_free(void *memory);

#endif
