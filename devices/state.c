/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/state.h"

#include <stdio.h>

#include "devices/soc/tlb.h"

#define NUMBER_MAX 12	/* digits of an unsigned int and the final 0 */

void mimic_state_enter(const struct mimic_state_visitor *visitor, const char *name)
{
	visitor->enter(visitor->context, name);
}

void mimic_state_leave(const struct mimic_state_visitor *visitor, const char *name)
{
	visitor->leave(visitor->context, name);
}

void mimic_state_enter_number(const struct mimic_state_visitor *visitor, unsigned int number)
{
	char name[NUMBER_MAX];

	snprintf(name, sizeof(name), "%u", number);
	visitor->enter(visitor->context, name);
}

void mimic_state_leave_number(const struct mimic_state_visitor *visitor, unsigned int number)
{
	char name[NUMBER_MAX];

	snprintf(name, sizeof(name), "%u", number);
	visitor->leave(visitor->context, name);
}

void mimic_state_decimal(const struct mimic_state_visitor *visitor, const char *name, uint64_t value,
			 const char *meaning)
{
	visitor->number(visitor->context, name, value, MIMIC_STATE_DECIMAL, meaning);
}

void mimic_state_hex(const struct mimic_state_visitor *visitor, const char *name, uint64_t value,
		     const char *meaning)
{
	visitor->number(visitor->context, name, value, MIMIC_STATE_HEX, meaning);
}

void mimic_state_boolean(const struct mimic_state_visitor *visitor, const char *name, bool value,
			 const char *meaning)
{
	visitor->number(visitor->context, name, value, MIMIC_STATE_BOOLEAN, meaning);
}

void mimic_state_text(const struct mimic_state_visitor *visitor, const char *name, const char *value,
		      const char *meaning)
{
	visitor->text(visitor->context, name, value, meaning);
}

void mimic_state_bytes(const struct mimic_state_visitor *visitor, const char *name, const void *bytes,
		       size_t size, const char *meaning)
{
	visitor->bytes(visitor->context, name, bytes, size, meaning);
}

void mimic_state_hex_at(const struct mimic_state_visitor *visitor, unsigned int number, uint64_t value,
			const char *meaning)
{
	char name[NUMBER_MAX];

	snprintf(name, sizeof(name), "%u", number);
	mimic_state_hex(visitor, name, value, meaning);
}

void mimic_state_text_at(const struct mimic_state_visitor *visitor, unsigned int number,
			 const char *value, const char *meaning)
{
	char name[NUMBER_MAX];

	snprintf(name, sizeof(name), "%u", number);
	mimic_state_text(visitor, name, value, meaning);
}

static void tlb_entry(const struct mimic_state_visitor *visitor, const struct mimic_tlb *tlb,
		      unsigned int entry)
{
	bool is_large = tlb->large >> entry & 1, is_huge = tlb->huge >> entry & 1;
	unsigned int shift = is_huge ? 30 : is_large ? 21 : MIMIC_TLB_PAGE_SHIFT;

	mimic_state_enter_number(visitor, entry);
	mimic_state_hex(visitor, "address", tlb->page[entry] << MIMIC_TLB_PAGE_SHIFT >> shift << shift,
			"virtual address of the page");
	mimic_state_hex(visitor, "frame", tlb->frame[entry] << MIMIC_TLB_PAGE_SHIFT >> shift << shift,
			"physical address that it is translated to");
	mimic_state_decimal(visitor, "bytes", 1ull << shift, "size of the page");
	mimic_state_leave_number(visitor, entry);
}

void mimic_state_tlb(const struct mimic_state_visitor *visitor, const struct mimic_tlb *tlb)
{
	mimic_state_enter(visitor, "tlb");
	mimic_state_decimal(visitor, "entries", tlb->entries, "translations that it can hold");
	mimic_state_decimal(visitor, "valid", (uint64_t)__builtin_popcountll(tlb->valid),
			    "translations that it holds; a folder for each, by the number of its entry");
	for (unsigned int i = 0; i < tlb->entries; i++) {
		if (tlb->valid >> i & 1)
			tlb_entry(visitor, tlb, i);
	}
	mimic_state_leave(visitor, "tlb");
}
