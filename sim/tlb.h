/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A core's TLB: that of devices/soc/tlb.h, for pages of one size and without translations, only hits. With 64
 * cores a TLB's state soon leaves the host's caches: this one is 5 lines of them in place of 9 KB.
 */
#ifndef MIMIC_SIM_TLB_H
#define MIMIC_SIM_TLB_H

#include "devices/soc/tlb.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SOC_TLB_GROUP 16	/* entries that are compared at a time */
#define SOC_TLB_GUESSES 64

struct soc_tlb {
	uint64_t tree;		/* pseudo-LRU */
	const struct mimic_tlb_leaf *leaves;	/* the change of `tree` by a use of each entry */
	unsigned int entries;
	uint32_t short_page[MIMIC_TLB_MAX] __attribute__((aligned(64)));	/* the lower half of each page's number */
	uint64_t page[MIMIC_TLB_MAX];	/* page numbers; UINT64_MAX: empty */
	uint8_t guess[SOC_TLB_GUESSES];	/* by the low bits of a page's number: the entry in which such a page was seen last */
};

static inline void soc_tlb_init(struct soc_tlb *tlb, unsigned int entries)
{
	tlb->tree = 0;
	tlb->leaves = &mimic_tlb_leaves[entries];
	tlb->entries = entries;
	for (unsigned int i = 0; i < MIMIC_TLB_MAX; i++) {
		tlb->page[i] = UINT64_MAX;
		tlb->short_page[i] = UINT32_MAX;
	}
	for (unsigned int i = 0; i < SOC_TLB_GUESSES; i++)
		tlb->guess[i] = 0;
}

static inline void soc_tlb_use(struct soc_tlb *tlb, uint64_t page, unsigned int entry)
{
	tlb->guess[page % SOC_TLB_GUESSES] = (uint8_t)entry;
	tlb->tree = (tlb->tree & ~tlb->leaves[entry].above) | tlb->leaves[entry].away;
}

/* soc_tlb_hits() where the guess is right. false: it is not; the page may be there. */
static inline bool soc_tlb_hits_by_guess(struct soc_tlb *tlb, uint64_t address)
{
	uint64_t page = address >> MIMIC_TLB_PAGE_SHIFT;
	unsigned int entry = tlb->guess[page % SOC_TLB_GUESSES];

	if (tlb->page[entry] != page)
		return false;
	tlb->tree = (tlb->tree & ~tlb->leaves[entry].above) | tlb->leaves[entry].away;
	return true;
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
			soc_tlb_use(tlb, page, entry);
			return true;
		}
	}
	return false;
}

/* Fills the victim. */
static inline void soc_tlb_fill(struct soc_tlb *tlb, uint64_t address)
{
	/* The compiler makes no loop of a number that it knows. */
	unsigned int entry = tlb->entries == 16 ? mimic_tlb_victim(tlb->tree, 16)
						: mimic_tlb_victim(tlb->tree, tlb->entries);

	tlb->page[entry] = address >> MIMIC_TLB_PAGE_SHIFT;
	tlb->short_page[entry] = (uint32_t)tlb->page[entry];
	soc_tlb_use(tlb, tlb->page[entry], entry);
}

#endif
