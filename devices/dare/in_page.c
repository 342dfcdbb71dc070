/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A strided load or store whose rows lie in one page, as most do: one translation, and they move at once, so that
 * nothing has to be kept of them. Where that is not so, or the memory is not there, nothing has happened that cannot
 * happen again, and memory.c does it row by row.
 */
#include "devices/changes.h"
#include "devices/dare/dare_internal.h"

#define PAGE_BYTES 4096u

/* Where the rows lie. */
struct span {
	uint64_t page;
	uint64_t frame;
	int entry;		/* of the TLB; -1: it had none */
	unsigned int rows;
	unsigned int width;	/* bytes of a row */
	uint64_t physical[DARE_ROWS];
};

static inline bool lies_in_page(const struct span *span, uint64_t address, uint64_t stride)
{
	uint64_t last = address + (span->rows - 1) * stride, low = address < last ? address : last;

	return (address ^ last) < PAGE_BYTES && (address + last - low) % PAGE_BYTES + span->width <= PAGE_BYTES &&
	       stride + PAGE_BYTES <= 2 * PAGE_BYTES;
}

/* false: it is not in one page, or the page is not there. */
static inline bool translate(struct dare_context *c, const struct mimic_memory *memory, struct span *span,
			     uint64_t address, uint64_t stride)
{
	span->rows = c->csr[DARE_CSR_MATRIX_M];
	span->width = c->csr[DARE_CSR_MATRIX_K];
	if (!lies_in_page(span, address, stride))
		return false;
	span->page = address & ~(uint64_t)(PAGE_BYTES - 1);
	span->frame = span->page;
	span->entry = mimic_tlb_find(&c->tlb, address);
	if (span->entry >= 0)
		span->physical[0] = mimic_tlb_physical(&c->tlb, span->entry, address);
	else if (memory->walk && memory->walk(memory->context, span->page, &span->frame))
		return false;
	else
		span->physical[0] = span->frame + address % PAGE_BYTES;
	/* All 16 without a branch; those beyond `rows` are not used. */
	_Pragma("GCC unroll 16")
	for (unsigned int row = 1; row < DARE_ROWS; row++)
		span->physical[row] = span->physical[row - 1] + stride;
	return true;
}

static inline void count_translations(struct dare *d, struct dare_context *c, const struct span *span,
				      uint64_t address)
{
	bool is_miss = span->entry < 0;

	if (is_miss) {
		count(c, DARE_COUNTER_tlb_misses, 1);
		MIMIC_TRACE(&d->model.trace, tlb_miss, 0ull, context_number(d, c), address, 0u, 0ull, 1ull);
		mimic_tlb_fill(&c->tlb, span->page, span->frame, MIMIC_TLB_PAGE_SHIFT);
	}
	count(c, DARE_COUNTER_tlb_hits, span->rows - is_miss);
}

bool dare_mpu_load_in_page(struct dare *d, struct dare_context *c, unsigned int md, uint64_t address,
			   uint64_t stride)
{
	const struct mimic_memory *memory = d->memory[context_number(d, c)];
	struct places *places = places_of(d, c);
	uint8_t (*rows)[DARE_ROW_BYTES] = c->tile[places->of[PLACE_FREE]];
	struct span span;

	if (!translate(c, memory, &span, address, stride))
		return false;
	/* It may have been a register since the daemon's step began, and the port's writes are not seen. */
	mimic_changes(rows, DARE_REGISTER_BYTES);
	if (memory->read_rows(memory->context, span.physical, span.rows, span.width, rows) != (long)span.rows)
		return false;
	count_translations(d, c, &span, address);
	dare_mpu_loaded(d, c, places, md, span.rows);
	return true;
}

bool dare_mpu_store_in_page(struct dare *d, struct dare_context *c, unsigned int ms, uint64_t address,
			    uint64_t stride)
{
	const struct mimic_memory *memory = d->memory[context_number(d, c)];
	struct span span;

	if (!translate(c, memory, &span, address, stride))
		return false;
	if (memory->write_rows(memory->context, span.physical, span.rows, span.width, matrix_of(d, c, ms)) !=
	    (long)span.rows)
		return false;
	count_translations(d, c, &span, address);
	dare_mpu_stored(c, span.rows);
	return true;
}
