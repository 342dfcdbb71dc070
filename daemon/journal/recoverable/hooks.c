/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/journal/recoverable/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/journal/internal.h"

void __asan_store1_noabort(const void *address)
{
	mimicd_log_store(address, 1);
}

void __asan_store2_noabort(const void *address)
{
	mimicd_log_store(address, 2);
}

void __asan_store4_noabort(const void *address)
{
	mimicd_log_store(address, 4);
}

void __asan_store8_noabort(const void *address)
{
	mimicd_log_store(address, 8);
}

void __asan_store16_noabort(const void *address)
{
	mimicd_log_store(address, 16);
}

void __asan_storeN_noabort(const void *address, size_t size)
{
	mimicd_journal_note(address, size);
}

/* In front of calls that do not return: for stacks, which are no concern of ours. */
void __asan_handle_no_return(void)
{
}

void *mimicd_model_memcpy(void *to, const void *from, size_t size)
{
	mimicd_journal_note(to, size);
	return memcpy(to, from, size);
}

void *mimicd_model_memmove(void *to, const void *from, size_t size)
{
	mimicd_journal_note(to, size);
	return memmove(to, from, size);
}

void *mimicd_model_memset(void *to, int value, size_t size)
{
	mimicd_journal_note(to, size);
	return memset(to, value, size);
}

void *mimicd_model_malloc(size_t size)
{
	return mimicd_journal_is_on() ? mimicd_journal_alloc(size) : malloc(size);
}

void *mimicd_model_calloc(size_t count, size_t size)
{
	if (!mimicd_journal_is_on())
		return calloc(count, size);
	return count && size > SIZE_MAX / count ? NULL : mimicd_journal_alloc(count * size);
}

/* Models ask for alignments of up to 64 bytes, which all memory of the window has. */
void *mimicd_model_aligned_alloc(size_t alignment, size_t size)
{
	return mimicd_journal_is_on() ? mimicd_journal_alloc(size) : aligned_alloc(alignment, size);
}

void mimicd_model_free(void *memory)
{
	if (mimicd_journal_is_on() && mimicd_journal_holds(memory))
		mimicd_journal_free(memory);
	else
		free(memory);
}

void mimicd_model_changes(const void *address, size_t size)
{
	mimicd_journal_note(address, size);
}
