/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core's TLB: that of devices/soc/tlb.h, for pages of one size of which only is asked whether they are there. With 64
 * cores, what is asked of one is soon out of the host's caches: this one is 3 lines of them in place of 9 KB.
 */
#ifndef MIMIC_SIM_TLB_H
#define MIMIC_SIM_TLB_H

#include "devices/soc/tlb.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SOC_TLB_GROUP 16	/* entries that are compared at a time */

struct soc_tlb {
	uint64_t tree;		/* pseudo-LRU */
	unsigned int entries;
	uint32_t short_page[MIMIC_TLB_MAX] __attribute__((aligned(64)));	/* the lower half of each page's number */
	uint64_t page[MIMIC_TLB_MAX];	/* page numbers; UINT64_MAX: empty */
};

static inline void soc_tlb_init(struct soc_tlb *tlb, unsigned int entries)
{
	tlb->tree = 0;
	tlb->entries = entries;
	for (unsigned int i = 0; i < MIMIC_TLB_MAX; i++) {
		tlb->page[i] = UINT64_MAX;
		tlb->short_page[i] = UINT32_MAX;
	}
}

/* Which of a group's entries may have the page, a bit each. */
static inline unsigned int soc_tlb_candidates(const uint32_t *group, uint32_t page)
{
#ifdef __SSE2__
	const __m128i *four = (const __m128i *)group;
	__m128i wanted = _mm_set1_epi32((int)page);
	__m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(four[0], wanted), _mm_cmpeq_epi32(four[1], wanted));
	__m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(four[2], wanted), _mm_cmpeq_epi32(four[3], wanted));

	return (unsigned int)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
	unsigned int candidates = 0;

	for (unsigned int i = 0; i < SOC_TLB_GROUP; i++)
		candidates |= (unsigned int)(group[i] == page) << i;
	return candidates;
#endif
}

/* Is the page there? It is then the latest used. Entries that a small TLB does not have are empty for ever. */
static inline bool soc_tlb_hits(struct soc_tlb *tlb, uint64_t address)
{
	uint64_t page = address >> MIMIC_TLB_PAGE_SHIFT;

	for (unsigned int first = 0; first < tlb->entries; first += SOC_TLB_GROUP) {
		unsigned int candidates = soc_tlb_candidates(&tlb->short_page[first], (uint32_t)page);

		for (; candidates; candidates &= candidates - 1) {
			unsigned int entry = first + (unsigned int)__builtin_ctz(candidates);

			if (tlb->page[entry] != page)
				continue;
			tlb->tree = mimic_tlb_touched(tlb->tree, tlb->entries, entry);
			return true;
		}
	}
	return false;
}

/* Fills the victim. */
static inline void soc_tlb_fill(struct soc_tlb *tlb, uint64_t address)
{
	unsigned int entry = mimic_tlb_victim(tlb->tree, tlb->entries);

	tlb->page[entry] = address >> MIMIC_TLB_PAGE_SHIFT;
	tlb->short_page[entry] = (uint32_t)tlb->page[entry];
	tlb->tree = mimic_tlb_touched(tlb->tree, tlb->entries, entry);
}

#endif
