/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Memory for trampolines, at the addresses that jumps reach. No trampoline in it changes, and no page that has one is
 * given back: a thread may stand in it. The program may map its own memory over a page, which has no trampolines from then on.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "libmimic/preload/patch_row.h"
#include "libmimic/preload/preload.h"

#define LOWEST 0x10000u /* vm.mmap_min_addr */
#define HIGHEST 0x7fffffff0000ull
/*
 * The program's heap and its main stack may grow as before. A program at a fixed address wants its heap low
 * (main.c); elsewhere malloc() goes on in other memory where brk() cannot.
 */
#define KEPT_FOR_STACK (1ull << 27) /* the least that the kernel keeps, under any limit */
#define KEPT_FOR_STACK_MOST (1ull << 30)
#define KEPT_FOR_FIXED_HEAP (1ull << 30)
#define KEPT_FOR_HEAP (1ull << 27)
#define BLOCK_PAGES 16u
#define REFUSED_KNOWN 64u
/* Up to so many pages, those without a trampoline stay: others find a place there without a system call. */
#define PAGES_THAT_STAY (PATCH_PAGES_MAX / 4)
#define STEPS_MOST 1024u /* of 1 MiB: as far as a jump reaches */
#define HASH_BITS 14
#define HASH_SIZE (1u << HASH_BITS)

struct page {
	_Atomic uintptr_t number;
	struct patch_site *_Atomic first; /* trampolines that begin in it */
	unsigned int used; /* bytes, from the first */
	bool is_lost; /* to the program */
	bool is_single; /* of no block: nothing is likely to come there but what it was mapped for */
};

static struct page pages[PATCH_PAGES_MAX];
static unsigned int page_count;
static _Atomic uint16_t hash_table[HASH_SIZE]; /* number in pages[], and 1 */
static _Atomic uintptr_t lowest = UINTPTR_MAX;
static _Atomic uintptr_t highest;
static bool is_refused;
static unsigned int tries_left = UINT32_MAX;
static unsigned int pages_most = PATCH_PAGES_MAX;

extern void *__libc_stack_end;

static unsigned int hash(uintptr_t number)
{
	return (unsigned int)((number * 0x9e3779b97f4a7c15ull) >> (64 - HASH_BITS));
}

static struct page *find(uintptr_t number)
{
	unsigned int i = hash(number);
	unsigned int at;

	for (; (at = atomic_load_explicit(&hash_table[i], memory_order_acquire)); i = (i + 1) % HASH_SIZE)
		if (atomic_load_explicit(&pages[at - 1].number, memory_order_relaxed) == number)
			return &pages[at - 1];
	return NULL;
}

static void enter_page(uintptr_t number, bool is_single)
{
	unsigned int i = hash(number);
	uintptr_t start = number << PAGE_SHIFT;

	while (atomic_load_explicit(&hash_table[i], memory_order_relaxed))
		i = (i + 1) % HASH_SIZE;
	pages[page_count].is_single = is_single;
	atomic_store_explicit(&pages[page_count].number, number, memory_order_relaxed);
	/* release: a handler that finds the page sees its number */
	atomic_store_explicit(&hash_table[i], (uint16_t)++page_count, memory_order_release);
	if (start < atomic_load(&lowest))
		atomic_store(&lowest, start);
	if (start + PAGE_BYTES > atomic_load(&highest))
		atomic_store(&highest, start + PAGE_BYTES);
}

/* The last one that was entered: the places of the others in the hash table do not depend on it. */
static uintptr_t take_out_last(void)
{
	uintptr_t number = atomic_load_explicit(&pages[page_count - 1].number, memory_order_relaxed);
	unsigned int i = hash(number);

	while (atomic_load_explicit(&hash_table[i], memory_order_relaxed) != page_count)
		i = (i + 1) % HASH_SIZE;
	atomic_store_explicit(&hash_table[i], 0, memory_order_relaxed);
	page_count--;
	return number;
}

static bool overlaps(uintptr_t start, uintptr_t end, uintptr_t low, uintptr_t high)
{
	return start < high && end > low;
}

/* As the kernel does: it places no mapping of its own choice in that range either. */
static uintptr_t kept_for_stack(void)
{
	struct rlimit limit = { 0 };

	mimic_raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur > KEPT_FOR_STACK_MOST)
		return KEPT_FOR_STACK_MOST;
	return limit.rlim_cur < KEPT_FOR_STACK ? KEPT_FOR_STACK : limit.rlim_cur;
}

/* Addresses that the heap and the stack may need, when they were last read. */
static struct {
	bool is_known;
	uintptr_t heap, heap_end, stack;
} kept;

static void look_what_is_kept(void)
{
	kept.heap = (uintptr_t)mimic_raw_syscall(SYS_brk, 0, 0, 0, 0, 0, 0);
	kept.heap_end = kept.heap + (mimic_preload_program_is_fixed() ? KEPT_FOR_FIXED_HEAP : KEPT_FOR_HEAP);
	kept.heap &= ~(PAGE_BYTES - 1);
	kept.stack = (uintptr_t)__libc_stack_end - kept_for_stack();
	kept.is_known = true;
}

/* Would the heap or the stack run into it? */
static bool is_in_the_way(uintptr_t start, uintptr_t end)
{
	if (!kept.is_known)
		look_what_is_kept();
	return start < LOWEST || end > HIGHEST || overlaps(start, end, kept.heap, kept.heap_end) ||
	       overlaps(start, end, kept.stack, HIGHEST);
}

bool mimic_preload_patch_may_lead(const struct patch_window *window)
{
	if (!kept.is_known)
		look_what_is_kept();
	return window->last >= LOWEST && window->first <= HIGHEST && window->first < kept.stack &&
	       !(window->first >= kept.heap && window->last < kept.heap_end);
}

static bool map_pages(uintptr_t start, unsigned int count)
{
	size_t length = count * PAGE_BYTES;
	long mapped;
	unsigned int i;

	if (is_refused || !tries_left || page_count + count > pages_most ||
	    is_in_the_way(start, start + length))
		return false;
	tries_left--;
	mapped = mimic_raw_syscall(SYS_mmap, (long)start, (long)length, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	/* PR_SET_MDWE and SELinux's execmem; an address is never the reason. */
	if (mapped == -EACCES)
		is_refused = true;
	if (mapped < 0 && mapped > -4096)
		return false;
	/* A kernel that does not know the flag takes the address as a hint. */
	if ((uintptr_t)mapped != start) {
		mimic_raw_syscall(SYS_munmap, mapped, (long)length, 0, 0, 0, 0);
		return false;
	}
	for (i = 0; i < count; i++)
		enter_page((start >> PAGE_SHIFT) + i, count == 1);
	return true;
}

/* --- places that are reserved ------------------------------------------------ */

static struct {
	uintptr_t start, end;
} reserved[PATCH_ROW_MAX];
static unsigned int reserved_count;

void mimic_preload_patch_reserve(uintptr_t place, size_t size)
{
	reserved[reserved_count].start = place;
	reserved[reserved_count++].end = place + size;
}

/* The last one. */
void mimic_preload_patch_release(void)
{
	reserved_count--;
}

/* The end of a reserved place that overlaps; 0: none does. */
static uintptr_t end_of_reserved(uintptr_t start, uintptr_t end)
{
	unsigned int i;

	for (i = 0; i < reserved_count; i++)
		if (overlaps(start, end, reserved[i].start, reserved[i].end))
			return reserved[i].end;
	return 0;
}

/* --- pages that a search has mapped ------------------------------------------- */

static unsigned int count_before; /* pages, when the search began */

void mimic_preload_patch_begin_search(void)
{
	count_before = page_count;
}

/*
 * No page that the search has mapped has a trampoline yet. Where there are many pages, those where none will come are
 * unmapped: all of the search are taken out, the last one first, and the others are entered anew.
 */
static void give_back_pages(void)
{
	static uintptr_t kept_numbers[PATCH_PAGES_MAX];
	static bool is_single[PATCH_PAGES_MAX];
	unsigned int count = 0;

	if (page_count <= PAGES_THAT_STAY)
		return;
	while (page_count > count_before) {
		const struct page *page = &pages[page_count - 1];
		bool single = page->is_single;
		uintptr_t start = take_out_last() << PAGE_SHIFT;

		if (single && !end_of_reserved(start, start + PAGE_BYTES)) {
			mimic_raw_syscall(SYS_munmap, (long)start, PAGE_BYTES, 0, 0, 0, 0);
			continue;
		}
		is_single[count] = single;
		kept_numbers[count++] = start >> PAGE_SHIFT;
	}
	while (count-- > 0)
		enter_page(kept_numbers[count], is_single[count]);
}

void mimic_preload_patch_end_search(void)
{
	give_back_pages();
	reserved_count = 0;
}

/* --- a place in a wide window ------------------------------------------------ */

static uintptr_t place_in_page(const struct page *page, const struct patch_window *window, size_t size)
{
	uintptr_t start = atomic_load(&page->number) << PAGE_SHIFT;
	uintptr_t place = start + page->used, end;

	if (page->used + size > PAGE_BYTES || place < window->first || place > window->last)
		return 0;
	while ((end = end_of_reserved(place, place + size)))
		place = end;
	return place + size <= start + PAGE_BYTES && place <= window->last ? place : 0;
}

static uintptr_t place_in_known_page(const struct patch_window *window, size_t size)
{
	uintptr_t number = window->first >> PAGE_SHIFT, last = window->last >> PAGE_SHIFT, place = 0;
	unsigned int i = page_count;

	if (last - number >= page_count) {
		while (i-- > 0 && !place)
			place = place_in_page(&pages[i], window, size);
		return place;
	}
	for (; number <= last && !place; number++) {
		const struct page *page = find(number);

		if (page)
			place = place_in_page(page, window, size);
	}
	return place;
}

/* Pages near the middle of a window: that is where the text lies, if the window is as wide as a jump. */
static uintptr_t place_in_new_pages(const struct patch_window *window, size_t size)
{
	uintptr_t width = window->last - window->first;
	unsigned int count = width >= 1u << 24 ? BLOCK_PAGES : 1;
	uintptr_t step = width >= 1ull << 31 ? 1u << 20 : width >= 1u << 23 ? 1u << 18 : PAGE_BYTES;
	uintptr_t middle = window->first + width / 2;
	uintptr_t distance;

	for (distance = 0; distance <= width / 2 && distance / step < STEPS_MOST; distance += step) {
		uintptr_t below = (middle - distance) & ~(PAGE_BYTES - 1);
		uintptr_t above = (middle + distance) & ~(PAGE_BYTES - 1);

		if (below >= window->first && map_pages(below, count))
			return below;
		if (above + size <= window->last && map_pages(above, count))
			return above;
	}
	return 0;
}

/* --- a place in a narrow one --------------------------------------------------- */

static bool is_taken(uintptr_t number, uintptr_t start, uintptr_t end)
{
	struct page *page = find(number);
	struct patch_site *site;

	for (site = page ? page->first : NULL; site; site = site->next_in_page)
		if (overlaps(start, end, site->place, site->place + site->size))
			return true;
	return false;
}

/* Pages that were refused lately. They are asked for anew when mimic_preload_patch_limit_tries() is called. */
static uintptr_t refused[REFUSED_KNOWN];
static bool has_refused;

static bool ask_for(uintptr_t number)
{
	uintptr_t *known = &refused[number % REFUSED_KNOWN];

	if (*known == number)
		return false;
	if (map_pages(number << PAGE_SHIFT, 1))
		return true;
	*known = number;
	has_refused = true;
	return false;
}

/* Mapped now, if it was not. */
static bool is_ours(uintptr_t number)
{
	struct page *page = find(number);

	return page ? !page->is_lost : ask_for(number);
}

static bool is_free(uintptr_t start, uintptr_t end)
{
	uintptr_t number = start >> PAGE_SHIFT;
	uintptr_t last = (end - 1) >> PAGE_SHIFT;

	if (end_of_reserved(start, end) || is_taken(number - 1, start, end) || is_taken(number, start, end) ||
	    (last != number && is_taken(last, start, end)))
		return false;
	return is_ours(number) && is_ours(last);
}

static uintptr_t place_exactly(const struct patch_window *window, size_t size)
{
	uintptr_t place;

	for (place = window->first; place <= window->last; place += 16)
		if (is_free(place, place + size))
			return place;
	return 0;
}

uintptr_t mimic_preload_patch_place(const struct patch_window *window, size_t size)
{
	uintptr_t place;

	if (window->last < LOWEST || window->first > HIGHEST)
		return 0;
	if (window->last - window->first < 2 * PAGE_BYTES)
		return place_exactly(window, size);
	place = place_in_known_page(window, size);
	return place ? place : place_in_new_pages(window, size);
}

void mimic_preload_patch_limit_tries(unsigned int count, unsigned int most)
{
	tries_left = count;
	pages_most = most;
	if (has_refused)
		memset(refused, 0, sizeof(refused));
	has_refused = false;
	/* Asked once for all of them. */
	kept.is_known = false;
}

bool mimic_preload_patch_pages_are_refused(void)
{
	return is_refused;
}

static void use(struct page *page, uintptr_t end)
{
	uintptr_t start = atomic_load(&page->number) << PAGE_SHIFT;
	uintptr_t used = end - start < PAGE_BYTES ? end - start : PAGE_BYTES;

	if (used > page->used)
		page->used = (unsigned int)used;
}

void mimic_preload_patch_put(struct patch_site *site, const uint8_t *code)
{
	uintptr_t end = site->place + site->size;
	struct page *page = find(site->place >> PAGE_SHIFT);
	struct page *last = find((end - 1) >> PAGE_SHIFT);

	memcpy((void *)site->place, code, site->size);
	use(page, end);
	if (last != page)
		use(last, end);
	site->next_in_page = atomic_load(&page->first);
	/* release: a handler that finds the site sees all of it */
	atomic_store_explicit(&page->first, site, memory_order_release);
}

static bool is_in(const struct page *page, uintptr_t start, uintptr_t end)
{
	uintptr_t at = atomic_load(&page->number) << PAGE_SHIFT;

	return !page->is_lost && at >= start && at < end;
}

bool mimic_preload_patch_may_have_pages(uintptr_t start, uintptr_t end)
{
	return overlaps(start, end, atomic_load_explicit(&lowest, memory_order_relaxed),
			atomic_load_explicit(&highest, memory_order_relaxed));
}

bool mimic_preload_patch_has_pages(uintptr_t start, uintptr_t end)
{
	unsigned int i;

	for (i = 0; i < page_count; i++)
		if (is_in(&pages[i], start, end))
			return true;
	return false;
}

void mimic_preload_patch_lose_pages(uintptr_t start, uintptr_t end)
{
	unsigned int i;

	for (i = 0; i < page_count; i++) {
		if (!is_in(&pages[i], start, end))
			continue;
		pages[i].is_lost = true;
		pages[i].used = PAGE_BYTES;
		atomic_store(&pages[i].first, NULL);
		mimic_raw_syscall(SYS_munmap, (long)(atomic_load(&pages[i].number) << PAGE_SHIFT), PAGE_BYTES, 0, 0,
				  0, 0);
	}
}

struct patch_site *mimic_preload_patch_at(uintptr_t address)
{
	uintptr_t number = address >> PAGE_SHIFT;
	unsigned int i;

	if (address < atomic_load_explicit(&lowest, memory_order_relaxed) ||
	    address >= atomic_load_explicit(&highest, memory_order_relaxed))
		return NULL;
	/* It may have begun in the page before. */
	for (i = 0; i < 2; i++) {
		struct page *page = find(number - i);
		struct patch_site *site;

		for (site = page ? atomic_load_explicit(&page->first, memory_order_acquire) : NULL; site;
		     site = site->next_in_page)
			if (address - site->place < site->size)
				return site;
	}
	return NULL;
}
