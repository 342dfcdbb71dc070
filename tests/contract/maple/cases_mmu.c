/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Contract A9: the MMU page; and bad pointers (H).
 *
 * mimic's devices see physical addresses that equal the virtual ones, so the
 * frame number of a page is its address >> 12 and an installed entry can point
 * one page at another.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/contract/maple/contract.h"

enum { FLUSH = 0, GET_FAULT = 1, SNOOP = 2 };
enum { OFF = 0, ROOT = 1, RESOLVE = 2, INSTALL = 6 };
enum { PIPES = 1, LIMA = 2 };

#define TLB_ENTRIES 16u

static uint64_t mmu_load(unsigned int what)
{
	return load(A, PAGE_MMU, AT(DEBUG, what), 8);
}

static void mmu_store(unsigned int what, uint64_t value)
{
	store(A, PAGE_MMU, AT(MMU_STORE, what), 8, value);
}

/* [58:32] virtual page, [31:4] frame */
static uint64_t entry_of(uint64_t address, uint64_t frame_address)
{
	return (address >> 12 & 0x7ffffff) << 32 | (frame_address >> 12 & 0xfffffff) << 4;
}

static bool snoop_has(uint64_t address, uint64_t frame_address)
{
	const uint64_t fields = 0x07ffffff00000000ull | 0xfffffff0ull;
	bool found = false;

	for (unsigned int i = 0; i < TLB_ENTRIES; i++) {
		uint64_t entry = mmu_load(SNOOP);

		if ((entry & 1) && (entry & fields) == entry_of(address, frame_address))
			found = true;
	}
	return found;
}

static unsigned int count_valid(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < TLB_ENTRIES; i++)
		count += mmu_load(SNOOP) & 1;
	return count;
}

static uint64_t fetch32(uint64_t address)
{
	request(A, POINTER32, 0, address);
	return consume32(0);
}

/* Word 0 of arena page i holds 0x1000 + i. */
static void number_pages(void)
{
	uint32_t *words = arena();

	for (unsigned int page = 0; page < ARENA_SIZE / 4096; page++)
		words[page * 1024] = 0x1000 + page;
}

CASE(the_tlb_is_empty_after_power_on, BOTH)
{
	EXPECT(count_valid(), 0);
}

CASE(a_fetch_leaves_its_translation_in_the_tlb, BOTH)
{
	init_and_open(WORDS_8, 0);
	fetch32(arena_at(8192));
	EXPECT_TRUE(snoop_has(arena_at(8192), arena_at(8192)));
	EXPECT(count_valid(), 1);
}

CASE(fetches_of_16_pages_fill_the_tlb, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	for (unsigned int page = 0; page < TLB_ENTRIES; page++)
		EXPECT(fetch32(arena_at(page * 4096)), 0x1000 + page);
	EXPECT(count_valid(), TLB_ENTRIES);
	for (unsigned int page = 0; page < TLB_ENTRIES; page++)
		EXPECT_TRUE(snoop_has(arena_at(page * 4096), arena_at(page * 4096)));
}

CASE(snoop_goes_through_16_entries_and_wraps, BOTH)
{
	uint64_t entries[TLB_ENTRIES];

	number_pages();
	init_and_open(WORDS_8, 0);
	for (unsigned int page = 0; page < TLB_ENTRIES; page++)
		fetch32(arena_at(page * 4096));
	for (unsigned int i = 0; i < TLB_ENTRIES; i++) {
		entries[i] = mmu_load(SNOOP);
		for (unsigned int k = 0; k < i; k++)
			EXPECT_TRUE(entries[i] != entries[k]);
	}
	for (unsigned int i = 0; i < TLB_ENTRIES; i++)
		EXPECT(mmu_load(SNOOP), entries[i]);
}

CASE(flush_answers_0_and_empties_the_tlb, BOTH)
{
	init_and_open(WORDS_8, 0);
	fetch32(arena_at(0));
	EXPECT(mmu_load(FLUSH), 0);
	EXPECT(count_valid(), 0);
	mmu_load(FLUSH);
	EXPECT(fetch32(arena_at(0)), 0);
}

CASE(an_installed_entry_maps_one_page_to_the_frame_of_another, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	EXPECT(fetch32(arena_at(0)), 0x1001);
	EXPECT(fetch32(arena_at(8192)), 0x1002);
}

/* flags all 1: U X W R in [63:60], D in [3], V in [0] */
CASE(an_installed_entry_has_all_its_flags, BOTH)
{
	const uint64_t flags = 0xf000000000000009;
	unsigned int found = 0;

	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	for (unsigned int i = 0; i < TLB_ENTRIES; i++) {
		uint64_t entry = mmu_load(SNOOP);

		if (!(entry & 1))
			continue;
		found++;
		EXPECT(entry & flags, flags);
		EXPECT(entry & ~flags & ~(1ull << 59), entry_of(arena_at(0), arena_at(4096)));
	}
	EXPECT(found, 1);
}

/* [63:62] = size: 1G, 2M */
CASE(an_installed_2m_entry_covers_2_mib, BOTH)
{
	uint32_t *words = arena();

	words[5] = 0x2222;
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, 1ull << 62 | entry_of(0x40000000, arena_at(0) & ~0x1fffffull));
	EXPECT(fetch32(0x40000000 + (arena_at(20) & 0x1fffff)), 0x2222);
}

CASE(flush_drops_an_installed_entry, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	mmu_load(FLUSH);
	EXPECT(fetch32(arena_at(0)), 0x1000);
}

CASE(reset_flushes_the_tlb, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	command(A, RESET, 0);
	EXPECT(count_valid(), 0);
	init_and_open(WORDS_8, 0);
	EXPECT(fetch32(arena_at(0)), 0x1000);
}

CASE(root_flushes_the_tlb, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	mmu_store(ROOT, 0x12345);
	EXPECT(fetch32(arena_at(0)), 0x1000);
}

/* The program has no way to know a root; the API ORs 0x0003001020000000 into -1. */
CASE(any_root_is_accepted, BOTH)
{
	static const uint64_t roots[] = {
		0, 1, 0xfffffff, 0x0003001020000000, 0xffffffffffffffff, 0x8000000000000001,
	};

	number_pages();
	init_and_open(WORDS_8, 0);
	for (unsigned int i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		mmu_store(ROOT, roots[i]);
		EXPECT(fetch32(arena_at(4096)), 0x1001);
	}
}

CASE(translation_off_ignores_the_tlb, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	mmu_store(OFF, 0);
	EXPECT(fetch32(arena_at(0)), 0x1000);
}

CASE(translation_off_fills_no_entry, BOTH)
{
	init_and_open(WORDS_8, 0);
	mmu_load(FLUSH);
	mmu_store(OFF, 0);
	fetch32(arena_at(0));
	EXPECT(count_valid(), 0);
}

CASE(root_switches_translation_on_again, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(OFF, 0);
	mmu_store(ROOT, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	EXPECT(fetch32(arena_at(0)), 0x1001);
}

CASE(reset_switches_translation_on_again, BOTH)
{
	number_pages();
	mmu_store(OFF, 0);
	command(A, RESET, 0);
	init_and_open(WORDS_8, 0);
	mmu_store(INSTALL, entry_of(arena_at(0), arena_at(4096)));
	EXPECT(fetch32(arena_at(0)), 0x1001);
}

/* --- bad pointers ------------------------------------------------------------ */

CASE(an_unmapped_address_reads_0, BOTH)
{
	uint64_t bad = unmapped_page();

	init_and_open(WORDS_8, 0);
	EXPECT(fetch32(bad), 0);
	request(A, POINTER64, 0, bad + 64);
	EXPECT(consume64(0), 0);
	request(A, LLC_POINTER32, 0, bad);
	EXPECT(consume32(0), 0);
	request(A, LLC_POINTER64, 0, bad);
	EXPECT(consume64(0), 0);
}

CASE(address_0_reads_0, BOTH)
{
	init_and_open(WORDS_8, 0);
	EXPECT(fetch32(0), 0);
}

CASE(good_pointers_go_on_after_a_bad_one, BOTH)
{
	uint64_t bad = unmapped_page();

	number_pages();
	init_and_open(WORDS_32, 0);
	for (unsigned int i = 0; i < 10; i++)
		request(A, POINTER32, 0, i % 3 == 1 ? bad + 4096 * i : arena_at(4096 * i));
	for (unsigned int i = 0; i < 10; i++)
		EXPECT(consume32(0), i % 3 == 1 ? 0 : 0x1000 + i);
}

/* Two requests: the first word is there, the second is not. */
CASE(pointer64_into_an_unmapped_page_reads_0_there_only, BOTH)
{
	uint64_t bad = unmapped_page();

	*(uint32_t *)(uintptr_t)(bad - 4) = 0x77777777;
	init_and_open(WORDS_8, 0);
	request(A, POINTER64, 0, bad - 4);
	EXPECT(consume64(0), 0x77777777);
}

CASE(an_atomic_on_an_unmapped_address_pushes_0, BOTH)
{
	init_and_open(WORDS_8, 0);
	request(A, ATOMIC_ADD, 0, unmapped_page() << 32 | 5);
	EXPECT(consume32(0), 0);
	expect_empty(0);
}

CASE(an_atomic_on_a_read_only_page_changes_nothing, BOTH)
{
	uint32_t *words = arena();

	words[0] = 17;
	mprotect(words, 4096, PROT_READ);
	init_and_open(WORDS_8, 0);
	request(A, ATOMIC_ADD, 0, arena_at(0) << 32 | 5);
	EXPECT(consume32(0), 0);
	EXPECT(words[0], 17);
}

CASE(a_page_that_may_not_be_read_reads_0, BOTH)
{
	number_pages();
	mprotect(arena(), 4096, PROT_NONE);
	init_and_open(WORDS_8, 0);
	EXPECT(fetch32(arena_at(0)), 0);
	EXPECT(fetch32(arena_at(4096)), 0x1001);
}

CASE(a_page_that_was_unmapped_after_a_fetch_reads_0, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	EXPECT(fetch32(arena_at(4096)), 0x1001);
	munmap((char *)arena() + 4096, 4096);
	EXPECT(fetch32(arena_at(4096)), 0);
}

CASE(a_read_past_the_end_of_a_mapped_file_gives_0, BOTH)
{
	char name[] = "/tmp/mimic-contract-XXXXXX";
	int file = mkstemp(name);
	uint32_t word = 0x600dda7a;
	void *address;

	unlink(name);
	EXPECT((uint64_t)write(file, &word, sizeof(word)), sizeof(word));
	address = mmap((char *)arena() + 8192, 8192, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0);
	EXPECT_TRUE(address != MAP_FAILED);
	init_and_open(WORDS_8, 0);
	EXPECT(fetch32((uintptr_t)address), 0x600dda7a);
	EXPECT(fetch32((uintptr_t)address + 4096), 0);
	EXPECT(fetch32((uintptr_t)address), 0x600dda7a);
}

CASE(lima_pushes_0_for_elements_of_a_that_cannot_be_read, BOTH)
{
	uint32_t *b = arena();
	uint64_t a = unmapped_page() - 16;
	uint32_t *last_words = (uint32_t *)(uintptr_t)a;

	for (unsigned int i = 0; i < 4; i++)
		last_words[i] = 40 + i;
	for (unsigned int i = 0; i < 8; i++)
		b[i] = i;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, arena_at(0));
	request(A, LIMA_POINTER32, 1, a);
	request(A, LOOP, 0, 8);
	for (unsigned int i = 0; i < 8; i++)
		EXPECT(consume32(0), i < 4 ? 40 + i : 0);
}

CASE(lima_takes_b_that_cannot_be_read_as_0, BOTH)
{
	uint64_t end = unmapped_page();
	uint32_t *last_words = (uint32_t *)(uintptr_t)(end - 8);

	last_words[0] = 3;
	last_words[1] = 4;
	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, end - 8);
	request(A, LIMA_PRODUCE, 1, 0);
	request(A, LOOP, 0, 6);
	EXPECT(consume32(0), 3);
	EXPECT(consume32(0), 4);
	for (unsigned int i = 2; i < 6; i++)
		EXPECT(consume32(0), 0);
}

CASE(get_fault_answers_0_while_there_is_none, BOTH)
{
	EXPECT(mmu_load(GET_FAULT), 0);
	init_and_open(WORDS_8, 0);
	fetch32(arena_at(0));
	EXPECT(mmu_load(GET_FAULT), 0);
}

/* vpage << 12 | source */
CASE(get_fault_answers_the_page_and_the_source_of_a_bad_pointer, BOTH)
{
	uint64_t bad = unmapped_page();

	init_and_open(WORDS_8, 0);
	fetch32(bad + 0x234);
	EXPECT(mmu_load(GET_FAULT), bad | PIPES);
}

CASE(get_fault_names_lima_for_a_bad_b, BOTH)
{
	uint64_t bad = unmapped_page();

	init_and_open(WORDS_8, 0);
	request(A, SET_BASE32, 0, bad);
	request(A, LIMA_PRODUCE, 1, 0);
	request(A, LOOP, 0, 2);
	EXPECT(consume32(0), 0);
	EXPECT(mmu_load(GET_FAULT), bad | LIMA);
}

CASE(resolve_clears_the_fault_that_was_got, BOTH)
{
	uint64_t bad = unmapped_page();

	init_and_open(WORDS_8, 0);
	fetch32(bad);
	EXPECT(mmu_load(GET_FAULT), bad | PIPES);
	mmu_store(RESOLVE, PIPES);
	EXPECT(mmu_load(GET_FAULT), 0);
	fetch32(bad + 4096);
	EXPECT(mmu_load(GET_FAULT), (bad + 4096) | PIPES);
}

CASE(resolve_without_a_fault_hurts_nobody, BOTH)
{
	number_pages();
	init_and_open(WORDS_8, 0);
	mmu_store(RESOLVE, PIPES | LIMA);
	EXPECT(fetch32(arena_at(0)), 0x1000);
}

/* vpage << 12 | access writes << 2 | source; bit 3 only while the source waits for a driver */
CASE(fault_status_says_whether_the_access_writes, PAPER)
{
	uint64_t bad = unmapped_page();

	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), 0);
	init_and_open(WORDS_8, 0);
	fetch32(bad + 0x234);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), bad | PIPES);
	request(A, SET_BASE32, 0, bad);
	request(A, ATOMIC_ADD, 0, 1);
	EXPECT(consume32(0), 0);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), bad | 4 | PIPES);
	EXPECT(mmu_load(GET_FAULT), bad | PIPES);
	request(A, SET_BASE32, 0, 0);
	fetch32(bad + 0x1000);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), (bad + 0x1000) | PIPES);
	request(A, SET_BASE32, 0, bad);
	request(A, LIMA_PRODUCE, 1, 0);
	request(A, LOOP, 0, 1);
	EXPECT(consume32(0), 0);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), bad | LIMA);
}

CASE(fault_status_arms_the_fault_for_resolve, PAPER | WITHOUT_DRIVER)
{
	uint64_t bad = unmapped_page();

	init_and_open(WORDS_8, 0);
	fetch32(bad);
	mmu_store(RESOLVE, PIPES);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), bad | PIPES);
	mmu_store(RESOLVE, PIPES);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), 0);
}

CASE(fault_status_is_on_the_mmu_page_only, PAPER)
{
	init_and_open(WORDS_8, 0);
	fetch32(unmapped_page());
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_STATUS, 0), 8), 0);
}

CASE(the_artifact_has_no_fault_status, ARTIFACT)
{
	uint64_t bad = unmapped_page();

	init_and_open(WORDS_8, 0);
	fetch32(bad);
	EXPECT(load(A, PAGE_MMU, AT(FAULT_STATUS, 0), 8), 0);
	EXPECT(mmu_load(GET_FAULT), bad | PIPES);
}

CASE(fault_count_and_address_of_the_paper, PAPER)
{
	uint64_t bad = unmapped_page();

	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 0);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_ADDRESS, 0), 8), 0);
	init_and_open(WORDS_8, 0);
	fetch32(bad + 0x234);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 1);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_ADDRESS, 0), 8), bad + 0x234);
	fetch32(bad + 0x1008);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 2);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_ADDRESS, 0), 8), bad + 0x1008);
	command(A, RESET, 0);
	EXPECT(load(A, PAGE_MAPLE, AT(FAULT_COUNT, 0), 8), 0);
}
