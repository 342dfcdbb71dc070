/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Turns the values of a source of the state filesystem into the text of a file. The functions that
 * take a file write to it, and check nothing: the caller does when it closes it. false: there is no such
 * value, or no such folder.
 */
#ifndef MIMICD_FILESYSTEM_RENDER_H
#define MIMICD_FILESYSTEM_RENDER_H

#include <stdio.h>

#include "daemon/filesystem/source.h"
#include "daemon/filesystem/tree.h"

/* 0 or -ENOENT. */
int mimicd_render_entry(const struct mimicd_tree_source *source, const char *rest,
			struct mimicd_entry *entry);
/* As mimicd_tree_list(). */
bool mimicd_render_list(const struct mimicd_tree_source *source, const char *rest, FILE *list);
/* A value and a newline, or bytes. */
bool mimicd_render_value(const struct mimicd_tree_source *source, const char *rest, FILE *content);
/* A line for each value of a folder and of those in it: path, value, meaning, with tabs between. */
bool mimicd_render_table(const struct mimicd_tree_source *source, const char *rest, FILE *table);
uint64_t mimicd_render_digest(const struct mimicd_tree_source *source);

#endif
