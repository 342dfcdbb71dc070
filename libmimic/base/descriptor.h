/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Descriptors of the library in a program that may close all that it does not know, and whose next
 * file then has the number of one of ours. So they lie high, where a program's own seldom do, and
 * before each use that could hurt a stranger's file they are compared with those that we opened.
 */
#ifndef MIMIC_DESCRIPTOR_H
#define MIMIC_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

struct mimic_descriptor {
	int fd;		/* -1: none */
	dev_t device;
	ino_t inode;
};

#define MIMIC_DESCRIPTOR_NONE { .fd = -1 }

/*
 * Which numbers are the library's, for `mimic run`: a program's calls that close all descriptors leave these open. A
 * number is noted until the library closes it. It is not kept while another file than the library's is there, which a
 * program may have put there by any way. Any thread may ask at any time.
 */
/* libmimic-preload.so calls them. */
#pragma GCC visibility push(default)
void mimic_descriptor_note(int fd, bool is_kept);
bool mimic_descriptor_is_kept(int fd);
/* The lowest that is kept and not below `from`; -1: none. */
int mimic_descriptor_next_kept(unsigned int from);
#pragma GCC visibility pop

/* Takes `fd` over, to a higher number if there is room. -1: none. */
struct mimic_descriptor mimic_descriptor_keep(int fd);
/* Eventfds are all one to this. */
bool mimic_descriptor_is_ours(const struct mimic_descriptor *descriptor);
/* Only if it is ours; there is none then. */
void mimic_descriptor_close(struct mimic_descriptor *descriptor);

#endif
