/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The MMU page: TLB flush and snoop, translation, page faults and their resolution (contract A9). */
#include "devices/maple/maple_internal.h"

#define PAGE_SHIFT 12
#define VPN_BITS 27
#define PPN_BITS 28

struct stall *mmu_stall(struct maple *m, enum maple_fault_source source)
{
	return &m->state.stall[source == MAPLE_FAULT_LIMA];
}

void mmu_latch(struct maple *m, uint64_t address, enum maple_fault_source source)
{
	m->state.fault_page = address >> PAGE_SHIFT;
	m->state.fault_address = address;
	m->state.fault_source = (uint8_t)source;
	m->state.faults_since_reset++;
}

void mmu_reset(struct maple *m)
{
	mimic_tlb_flush(&m->state.tlb);
	count(m, MAPLE_COUNTER_shootdowns, 1);
	m->state.translation = true;
	m->state.armed = 0;
	m->state.fault_source = 0;
	m->state.fault_page = 0;
	m->state.fault_address = 0;
	m->state.faults_since_reset = 0;
	memset(m->state.stall, 0, sizeof(m->state.stall));
}

static void flush(struct maple *m)
{
	mimic_tlb_flush(&m->state.tlb);
	count(m, MAPLE_COUNTER_shootdowns, 1);
}

/* A stalled fault before the last one that was only counted: a driver waits for it. */
static uint64_t get_fault(struct maple *m)
{
	unsigned int source = m->state.fault_source;
	uint64_t page = m->state.fault_page;

	for (unsigned int i = 0; i < 2; i++) {
		if (!m->state.stall[i].stalled)
			continue;
		source = 1u << i;
		page = m->state.stall[i].page;
		break;
	}
	if (!source)
		return 0;
	m->state.armed |= (uint8_t)source;
	return page << PAGE_SHIFT | source;
}

/*
 * U, X, W, R and D read as 1 in every valid entry: the walker of functional
 * mode asks only whether a page is there.
 */
static uint64_t snoop(struct maple *m)
{
	const struct mimic_tlb *tlb = &m->state.tlb;
	unsigned int i = m->state.snoop_index % tlb->entries;
	uint64_t vpn = tlb->page[i] & ((1ull << VPN_BITS) - 1);
	uint64_t ppn = tlb->frame[i] & ((1ull << PPN_BITS) - 1);
	bool large = tlb->large >> i & 1, huge = tlb->huge >> i & 1;

	m->state.snoop_index = (i + 1) % tlb->entries;
	if (!(tlb->valid >> i & 1))
		return 0;
	return 0xfull << 60 | vpn << 32 | ppn << 4 | 1u << 3 | (uint64_t)(large && !huge) << 2 |
	       (uint64_t)huge << 1 | 1;
}

uint64_t mmu_load(struct maple *m, unsigned int field)
{
	switch (field) {
	case MAPLE_MMU_FLUSH:
		flush(m);
		return 0;
	case MAPLE_MMU_FAULT:
		return get_fault(m);
	case MAPLE_MMU_SNOOP:
		return snoop(m);
	default:
		count(m, MAPLE_COUNTER_illegal, 1);
		return 0;
	}
}

/* Only what was read can be resolved: reading the fault arms it (contract A9). */
static void resolve(struct maple *m, unsigned int sources)
{
	sources &= m->state.armed;
	m->state.armed &= (uint8_t)~sources;
	for (unsigned int i = 0; i < 2; i++) {
		if (!(sources >> i & 1) || !m->state.stall[i].stalled)
			continue;
		m->state.stall[i].stalled = false;
		m->state.stall[i].resolved = true;
	}
	if (sources & m->state.fault_source) {
		m->state.fault_source = 0;
		m->state.fault_page = 0;
	}
}

static void install(struct maple *m, uint64_t payload)
{
	uint64_t vpn = payload >> 32 & ((1ull << VPN_BITS) - 1);
	uint64_t ppn = payload >> 4 & ((1ull << PPN_BITS) - 1);
	unsigned int shift = payload >> 63 ? 30 : payload >> 62 & 1 ? 21 : PAGE_SHIFT;
	uint64_t address = vpn << PAGE_SHIFT;
	int old = mimic_tlb_find(&m->state.tlb, address);

	if (old >= 0)	/* two entries for one page would make the answer depend on their order */
		mimic_tlb_drop(&m->state.tlb, old);
	mimic_tlb_fill(&m->state.tlb, address, ppn << PAGE_SHIFT, shift);
	resolve(m, MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA);
}

void mmu_store(struct maple *m, unsigned int field, uint64_t payload)
{
	switch (field) {
	case MAPLE_MMU_OFF:
		m->state.translation = false;
		break;
	case MAPLE_MMU_ROOT:
		m->state.root = payload & ((1ull << 28) - 1);
		m->state.interrupt_route = (uint32_t)(payload >> 28);
		m->state.interrupt_waived = payload >> 63;
		m->state.translation = true;
		flush(m);
		break;
	case MAPLE_MMU_RESOLVE:
		resolve(m, payload & 3);
		break;
	case MAPLE_MMU_INSTALL:
		install(m, payload);
		break;
	default:
		count(m, MAPLE_COUNTER_illegal, 1);
		return;
	}
	progress_all(m);
}
