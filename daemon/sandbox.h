/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Rights that mimicd gives up once it serves: a client that finds a defect then reaches less. */
#ifndef MIMICD_SANDBOX_H
#define MIMICD_SANDBOX_H

#include <stdbool.h>

/* _(name, of the default, its effect) */
#define MIMICD_SANDBOX(_) \
	_(privileges, true, "no program that is started gets privileges") \
	_(capabilities, true, "of root's capabilities only those to read memory, and to keep its pages, are left") \
	_(seccomp, true, "system calls that mimicd has no use for fail") \
	_(landlock, false, "no files but those of /proc, /dev/null and the socket's directory; no memory that is not shared")

enum mimicd_sandbox_part {
#define _(name, is_default, meaning) MIMICD_SANDBOX_##name,
	MIMICD_SANDBOX(_)
#undef _
	MIMICD_SANDBOX_PARTS
};

struct mimicd_sandbox {
	bool parts[MIMICD_SANDBOX_PARTS];
	bool was_named;		/* --sandbox: a part that this system lacks is an error */
	bool mounts;		/* --state: it is mounted, and unmounted at the end */
	bool has_bus;		/* the kernel's */
	bool fixes_memory;	/* engine/memory_fix.h */
	const char *socket_path;	/* NULL: the socket is not ours to remove */
};

void mimicd_sandbox_default(struct mimicd_sandbox *sandbox);
/* "all", "none", or names with commas. 0 or -EINVAL. */
int mimicd_sandbox_parse(struct mimicd_sandbox *sandbox, const char *text);
/* For all threads, also those to come. One log line names the parts that are on. 0 or -errno, with a line. */
int mimicd_sandbox_enter(const struct mimicd_sandbox *sandbox);

#endif
