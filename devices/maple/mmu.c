/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The MMU page: TLB flush and snoop, translation, page faults and their resolution (contract A9). */
#include "devices/maple/maple_internal.h"

#define PAGE_SHIFT 12
#define VPN_BITS 27
#define PPN_BITS 28

struct stall *maple_mmu_stall(struct maple *m, enum maple_fault_source source)
{
	return &m->state.stall[source == MAPLE_FAULT_LIMA];
}

void maple_mmu_latch(struct maple *m, uint64_t address, enum maple_fault_source source, bool writes)
{
	m->state.fault_page = address >> PAGE_SHIFT;
	m->state.fault_address = address;
	m->state.fault_source = (uint8_t)source;
	m->state.fault_writes = writes;
	m->state.faults_since_reset++;
}

void maple_mmu_forget(struct maple *m, unsigned int number, enum maple_fault_source source)
{
	struct maple_queue *q = &m->state.queue[number];
	struct stall *stall = maple_mmu_stall(m, source);

	/* Else the next operation that meets this page would take it for bad unasked. */
	q->resolved[source == MAPLE_FAULT_LIMA].valid = false;
	if (source == MAPLE_FAULT_PIPES)
		q->bad_half = 0;
	if (stall->stalled && stall->queue == number)
		stall->queue = MAPLE_MAX_QUEUES;
}

static void flush(struct maple *m)
{
	mimic_tlb_flush(&m->state.tlb);
	count(m, MAPLE_COUNTER_shootdowns, 1);
	trace_shootdown(m, 0, 0);
}

void maple_mmu_reset(struct maple *m)
{
	flush(m);
	m->state.translation = true;
	m->state.armed = 0;
	m->state.fault_source = 0;
	m->state.fault_writes = false;
	m->state.fault_page = 0;
	m->state.fault_address = 0;
	m->state.faults_since_reset = 0;
	memset(m->state.stall, 0, sizeof(m->state.stall));
}

/* A stalled fault before the last one that was only counted: it waits for a driver. */
uint64_t maple_mmu_fault_status(struct maple *m)
{
	unsigned int source = m->state.fault_source;

	for (unsigned int i = 0; i < 2; i++) {
		const struct stall *stall = &m->state.stall[i];

		if (!stall->stalled)
			continue;
		m->state.armed |= (uint8_t)(1u << i);
		return stall->page << PAGE_SHIFT | MAPLE_FAULT_STALLED |
		       (stall->writes ? MAPLE_FAULT_WRITES : 0) | 1u << i;
	}
	if (!source)
		return 0;
	m->state.armed |= (uint8_t)source;
	return m->state.fault_page << PAGE_SHIFT | (m->state.fault_writes ? MAPLE_FAULT_WRITES : 0) |
	       source;
}

static uint64_t get_fault(struct maple *m)
{
	return maple_mmu_fault_status(m) & ~(uint64_t)(MAPLE_FAULT_STALLED | MAPLE_FAULT_WRITES);
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

uint64_t maple_mmu_load(struct maple *m, unsigned int field)
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

/* Only a fault that was read can be resolved: reading it arms RESOLVE (contract A9). */
static void resolve(struct maple *m, unsigned int sources, bool present)
{
	sources &= m->state.armed;
	m->state.armed &= (uint8_t)~sources;
	for (unsigned int i = 0; i < 2; i++) {
		struct stall *stall = &m->state.stall[i];

		if (!(sources >> i & 1) || !stall->stalled)
			continue;
		stall->stalled = false;
		if (stall->queue < MAPLE_MAX_QUEUES)
			m->state.queue[stall->queue].resolved[i] =
				(struct resolved){ .valid = !present, .page = stall->page };
		count(m, MAPLE_COUNTER_resolves, 1);
		MIMIC_TRACE(&m->model.trace, resolve, 0ull, stall->queue, stall->page << PAGE_SHIFT,
			    present, 0ull, 0ull);
		/* The latch is another fault's: the driver read the stalled one. */
		sources &= ~(1u << i);
	}
	if (sources & m->state.fault_source) {
		m->state.fault_source = 0;
		m->state.fault_page = 0;
	}
}

/* Neither armed nor latched: no program has seen anything of it. */
void maple_mmu_retry(struct maple *m)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct stall *stall = &m->state.stall[i];

		if (!stall->stalled)
			continue;
		stall->stalled = false;
		count(m, MAPLE_COUNTER_resolves, 1);
		MIMIC_TRACE(&m->model.trace, resolve, 0ull, stall->queue, stall->page << PAGE_SHIFT,
			    true, 0ull, 0ull);
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
	resolve(m, MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA, false);
}

void maple_mmu_store(struct maple *m, unsigned int field, uint64_t payload)
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
		resolve(m, payload & 3, (payload & MAPLE_RESOLVE_PRESENT) &&
					!has_quirk(m, MAPLE_QUIRK_no_extension));
		break;
	case MAPLE_MMU_INSTALL:
		install(m, payload);
		break;
	default:
		count(m, MAPLE_COUNTER_illegal, 1);
		return;
	}
	maple_progress_all(m);
}
