/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A list of elements that grows while a file is read. */
#ifndef EXAMPLES_ENTRIES_H
#define EXAMPLES_ENTRIES_H

#include "examples/common/csr.h"

struct entries {
	struct csr_entry *list;
	uint64_t count;
	uint64_t room;
};

/* 0 or -ENOMEM. The list has room for the added entries only, not for the number in a header. */
int entries_add(struct entries *entries, const struct csr_entry *entry);
void entries_free(struct entries *entries);

#endif
