/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * DROPLET (Basak et al., HPCA 2019) as MAPLE's paper compares it: it knows where an array of
 * indices and the array that they point into lie. When a core asks the L2 for a line of
 * indices, the next ones are fetched; when such a line is there, the elements that its
 * indices name are fetched, too. All goes into the L2 and needs an MSHR for each line.
 *
 * It tells a line of indices by its physical page, as DROPLET does by a bit of the
 * page table.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/soc_internal.h"

#define WATCHED_MAX 16
#define PAGE_SHIFT 12
#define PAGE_MASK ((1ull << PAGE_SHIFT) - 1)
#define INDEX_BYTES 4

struct watched {
	struct soc_indirect indirect;
	uint64_t next[SOC_CORES_MAX];	/* the line that each core's stream fetches next; virtual */
};

/* A page of indices. A page that two arrays share is found twice. */
struct index_page {
	uint64_t frame;
	uint64_t page;
	struct watched *watched;	/* NULL: a free place */
};

struct droplet {
	struct soc_program program;
	struct watched watched[WATCHED_MAX];
	unsigned int count;
	struct index_page *pages;	/* a hash table, at most half full */
	size_t room;			/* a power of two */
	size_t used;
};

void soc_droplet_free(struct droplet *droplet)
{
	if (!droplet)
		return;
	free(droplet->pages);
	free(droplet);
}

static size_t place_of(const struct droplet *droplet, uint64_t frame)
{
	return (frame * 0x9e3779b97f4a7c15ull >> 20) & (droplet->room - 1);
}

static void insert_page(struct droplet *droplet, struct index_page page)
{
	size_t at = place_of(droplet, page.frame);

	while (droplet->pages[at].watched)
		at = (at + 1) & (droplet->room - 1);
	droplet->pages[at] = page;
	droplet->used++;
}

static int make_room(struct droplet *droplet, size_t more)
{
	struct index_page *old = droplet->pages;
	size_t old_room = droplet->room, room = old_room ? old_room : 64;

	while (room < 2 * (droplet->used + more))
		room *= 2;
	if (room == old_room)
		return 0;
	droplet->pages = calloc(room, sizeof(*droplet->pages));
	if (!droplet->pages) {
		droplet->pages = old;
		return -ENOMEM;
	}
	droplet->room = room;
	droplet->used = 0;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].watched)
			insert_page(droplet, old[i]);
	free(old);
	return 0;
}

static struct droplet *droplet_of(struct soc *soc)
{
	if (!soc->droplet)
		soc->droplet = calloc(1, sizeof(*soc->droplet));
	return soc->droplet;
}

int soc_droplet_watch(struct soc *soc, const struct soc_program *program, const struct soc_indirect *indirect)
{
	uint64_t first = indirect->indices & ~PAGE_MASK, end = indirect->indices + INDEX_BYTES * indirect->count;
	struct droplet *droplet;
	struct watched *watched;

	if (!soc->parameters.droplet_enabled || !indirect->count)
		return 0;
	droplet = droplet_of(soc);
	if (!droplet || make_room(droplet, ((end - first) >> PAGE_SHIFT) + 1))
		return -ENOMEM;
	if (droplet->count == WATCHED_MAX)
		return -ENOSPC;
	droplet->program = *program;
	watched = &droplet->watched[droplet->count++];
	*watched = (struct watched){ .indirect = *indirect };
	for (uint64_t page = first; page < end; page += 1ull << PAGE_SHIFT)
		insert_page(droplet, (struct index_page){
			program->translate(program->context, page) >> PAGE_SHIFT, page, watched
		});
	return 0;
}

/* The next page of that frame from `*at` on, which begins at place_of(). */
static const struct index_page *find_page(const struct droplet *droplet, uint64_t frame, size_t *at)
{
	while (droplet->pages[*at].watched) {
		const struct index_page *page = &droplet->pages[*at];

		*at = (*at + 1) & (droplet->room - 1);
		if (page->frame == frame)
			return page;
	}
	return NULL;
}

/* Does the line at virtual `line` hold indices of the array? */
static bool holds_indices(const struct watched *watched, uint64_t line, uint64_t bytes)
{
	const struct soc_indirect *indirect = &watched->indirect;

	return line + bytes > indirect->indices && line < indirect->indices + INDEX_BYTES * indirect->count;
}

static void fetch_ahead(struct soc *soc, struct watched *watched, unsigned int core, uint64_t line, uint64_t when)
{
	const struct soc_program *program = &soc->droplet->program;
	uint64_t bytes = soc->parameters.l2_line, *next = &watched->next[core];
	uint64_t end = line + (soc->parameters.droplet_lines + 1) * bytes;

	/* The core accesses another place: a stream begins anew. */
	if (*next <= line || *next > end)
		*next = line + bytes;
	for (; *next < end && holds_indices(watched, *next, bytes); *next += bytes)
		soc_prefetch_add(soc, program->translate(program->context, *next), when, true);
}

void soc_droplet_demand(struct soc *soc, unsigned int core, uint64_t address, uint64_t now)
{
	const struct droplet *droplet = soc->droplet;
	uint64_t line = address & PAGE_MASK & ~(soc->parameters.l2_line - 1);
	size_t at = place_of(droplet, address >> PAGE_SHIFT);
	const struct index_page *page;

	while ((page = find_page(droplet, address >> PAGE_SHIFT, &at)))
		if (holds_indices(page->watched, page->page + line, soc->parameters.l2_line))
			fetch_ahead(soc, page->watched, core, page->page + line, now + soc->parameters.l2_latency);
}

static void fetch_elements(struct soc *soc, const struct watched *watched, uint64_t line, uint64_t when)
{
	const struct soc_program *program = &soc->droplet->program;
	const struct soc_indirect *indirect = &watched->indirect;
	uint64_t end = line + soc->parameters.l2_line, last = indirect->indices + INDEX_BYTES * indirect->count;
	uint64_t at = line > indirect->indices ? line : indirect->indices;

	if (!indirect->element_size)
		return;
	for (; at < end && at < last; at += INDEX_BYTES) {
		uint64_t index = program->read_index(program->context, at);
		uint64_t element = indirect->data + index * indirect->element_size;

		soc_prefetch_add(soc, program->translate(program->context, element), when, false);
	}
}

void soc_droplet_arrived(struct soc *soc, uint64_t address, uint64_t ready)
{
	const struct droplet *droplet = soc->droplet;
	uint64_t line = address & PAGE_MASK & ~(soc->parameters.l2_line - 1);
	size_t at = place_of(droplet, address >> PAGE_SHIFT);
	const struct index_page *page;

	while ((page = find_page(droplet, address >> PAGE_SHIFT, &at)))
		if (holds_indices(page->watched, page->page + line, soc->parameters.l2_line))
			fetch_elements(soc, page->watched, page->page + line, ready);
}
