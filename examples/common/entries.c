/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int entries_add(struct entries *entries, const struct csr_entry *entry)
{
	if (entries->count == entries->room) {
		uint64_t room = entries->room ? 2 * entries->room : 64;
		struct csr_entry *list = reallocarray(entries->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		entries->list = list;
		entries->room = room;
	}
	entries->list[entries->count++] = *entry;
	return 0;
}

void entries_free(struct entries *entries)
{
	free(entries->list);
	memset(entries, 0, sizeof(*entries));
}
