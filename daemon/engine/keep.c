/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/journal/journal.h"
#include "daemon/recovery/store.h"

static const char *const names[MIMICD_KEPT_KINDS] = {
#define _(name, text, meaning) text,
	MIMICD_KEPT(_)
#undef _
};

struct name {
	char text[64];
};

static struct {
	uint64_t last;		/* number that was given */
	struct mimicd_stored *stored;
	size_t count;
	struct name *dropped;	/* to be told to the store after the step's commit */
	size_t dropped_count, dropped_capacity;
} kept;

static struct name name_of(enum mimicd_kept_kind kind, uint64_t number, uint64_t part)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "%s-%llu-%llu", names[kind], (unsigned long long)number,
		 (unsigned long long)part);
	return name;
}

int mimicd_keep(enum mimicd_kept_kind kind, uint64_t *number, uint64_t part, int fd)
{
	if (!mimicd_journal_is_on())
		return 0;
	if (!*number)
		*number = ++kept.last;
	mimicd_journal_place();
	return mimicd_store_put(name_of(kind, *number, part).text, fd);
}

void mimicd_keep_drop(enum mimicd_kept_kind kind, uint64_t number, uint64_t part)
{
	struct name *list;

	/* A daemon that takes over drops names before it has a window. */
	if (!number || !(mimicd_journal_is_on() || kept.stored))
		return;
	if (kept.dropped_count == kept.dropped_capacity) {
		size_t capacity = kept.dropped_capacity ? 2 * kept.dropped_capacity : 64;

		list = realloc(kept.dropped, capacity * sizeof(*list));
		/* It stays in the store, and a successor finds that no record names it. */
		if (!list)
			return;
		kept.dropped = list;
		kept.dropped_capacity = capacity;
	}
	kept.dropped[kept.dropped_count++] = name_of(kind, number, part);
}

void mimicd_keep_end(enum mimicd_kept_kind kind, uint64_t number, uint64_t part)
{
	if (number && (mimicd_journal_is_on() || kept.stored))
		mimicd_store_drop(name_of(kind, number, part).text);
}

void mimicd_keep_commit(void)
{
	while (kept.dropped_count) {
		mimicd_journal_place();
		mimicd_store_drop(kept.dropped[--kept.dropped_count].text);
	}
}

/* The numbers of a name: "lane-17-3". false: it is none of ours. */
static bool read_name(const char *text, enum mimicd_kept_kind *kind, uint64_t *number, uint64_t *part)
{
	unsigned long long first, second;
	char word[32];

	if (sscanf(text, "%31[a-z]-%llu-%llu", word, &first, &second) != 3)
		return false;
	for (unsigned int i = 0; i < MIMICD_KEPT_KINDS; i++) {
		if (strcmp(word, names[i]))
			continue;
		*kind = (enum mimicd_kept_kind)i;
		*number = first;
		*part = second;
		return true;
	}
	return false;
}

void mimicd_keep_take(struct mimicd_stored *stored, size_t count)
{
	kept.stored = stored;
	kept.count = count;
	for (size_t i = 0; i < count; i++) {
		enum mimicd_kept_kind kind;
		uint64_t number, part;

		if (read_name(stored[i].name, &kind, &number, &part) && number > kept.last)
			kept.last = number;
	}
}

static struct mimicd_stored *find(enum mimicd_kept_kind kind, uint64_t number, uint64_t part)
{
	struct name name = name_of(kind, number, part);

	for (size_t i = 0; number && i < kept.count; i++) {
		if (kept.stored[i].fd >= 0 && !strcmp(kept.stored[i].name, name.text))
			return &kept.stored[i];
	}
	return NULL;
}

bool mimicd_keep_has(enum mimicd_kept_kind kind, uint64_t number, uint64_t part)
{
	return find(kind, number, part);
}

int mimicd_keep_find(enum mimicd_kept_kind kind, uint64_t number, uint64_t part)
{
	struct mimicd_stored *stored = find(kind, number, part);
	int fd = stored ? stored->fd : -1;

	if (stored)
		stored->fd = -1;
	return fd;
}

uint64_t mimicd_keep_last(enum mimicd_kept_kind wanted, uint64_t below)
{
	uint64_t last = 0;

	for (size_t i = 0; i < kept.count; i++) {
		enum mimicd_kept_kind kind;
		uint64_t number, part;

		if (read_name(kept.stored[i].name, &kind, &number, &part) && kind == wanted && number > last && number < below)
			last = number;
	}
	return last;
}

void mimicd_keep_forget_rest(void)
{
	for (size_t i = 0; i < kept.count; i++) {
		if (kept.stored[i].fd >= 0)
			mimicd_store_drop(kept.stored[i].name);
	}
	mimicd_store_free(kept.stored, kept.count);
	kept.stored = NULL;
	kept.count = 0;
}
