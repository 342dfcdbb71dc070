/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* <linux/landlock.h>; for headers of a kernel before 5.13 the parts that we use. */
#ifndef MIMICD_LANDLOCK_H
#define MIMICD_LANDLOCK_H

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#else

#include <stdint.h>

struct landlock_ruleset_attr {
	uint64_t handled_access_fs;
};

struct landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#define LANDLOCK_RULE_PATH_BENEATH 1
#define LANDLOCK_ACCESS_FS_WRITE_FILE (1ull << 1)
#define LANDLOCK_ACCESS_FS_READ_FILE (1ull << 2)
#define LANDLOCK_ACCESS_FS_READ_DIR (1ull << 3)
#define LANDLOCK_ACCESS_FS_REMOVE_FILE (1ull << 5)
#define LANDLOCK_ACCESS_FS_MAKE_SYM (1ull << 12)

#endif

#endif
