/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For perf: names of trampolines, in the file that it reads for code of JIT compilers (/tmp/perf-PID.map),
 * where the user has asked for it. At the end of the program, when functions' names can be looked up: perf
 * reads the file later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/base/new_libc.h"
#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

static bool is_wanted;

void mimic_preload_perf_start(void)
{
	const char *value = getenv("MIMIC_PERF_MAP");

	is_wanted = value && !strcmp(value, "1");
}

static void add_name(struct mimic_text *text, const struct patch_site *site)
{
	struct source_place place;
	uintptr_t address = site->target.address;

	mimic_preload_lines_find(address, &place);
	mimic_text_add(text, "mimic:");
	if (!place.function) {
		mimic_text_add_hex(text, address, 1);
		return;
	}
	mimic_text_add(text, place.function);
	mimic_text_add(text, "+");
	mimic_text_add_hex(text, place.offset, 1);
}

static void add_digits(struct mimic_text *text, uint64_t number)
{
	char bytes[24];
	struct mimic_text digits;

	mimic_text_begin(&digits, bytes, sizeof(bytes));
	mimic_text_add_hex(&digits, number, 1);
	mimic_text_add(text, bytes + 2);
}

/* "START SIZE name", hexadecimal without 0x; a name may have spaces. */
static void write_site(int file, const struct patch_site *site)
{
	char bytes[512];
	struct mimic_text text;
	size_t length;

	mimic_text_begin(&text, bytes, sizeof(bytes));
	add_digits(&text, site->place);
	mimic_text_add(&text, " ");
	add_digits(&text, site->size);
	mimic_text_add(&text, " ");
	add_name(&text, site);
	/* The newline takes the place of the final 0. */
	length = strlen(bytes);
	bytes[length] = '\n';
	mimic_raw_syscall(SYS_write, file, (long)bytes, (long)length + 1, 0, 0, 0);
}

/* A JIT compiler of the program's may have begun the file: it goes on. Another user's file is none of ours.
 */
static int open_map(const char *path)
{
	long file = mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)path,
				      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
	struct stat status;

	if (file < 0)
		return (int)file;
	if (!fstat((int)file, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    status.st_nlink == 1)
		return (int)file;
	mimic_raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
	return -EPERM;
}

static void say_failure(const char *path, int error)
{
	struct text text;

	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, "names for perf cannot be written to ");
	mimic_preload_text_add(&text, path);
	mimic_preload_text_add(&text, ": ");
	mimic_preload_text_add(&text, mimic_error_description(-error));
	mimic_preload_text_write_line(&text);
}

static void write_map(const char *path)
{
	unsigned int count = mimic_preload_patch_count();
	int file = open_map(path);
	unsigned int i;

	if (file < 0) {
		say_failure(path, file);
		return;
	}
	mimic_preload_lines_open();
	for (i = 0; i < count; i++)
		if (mimic_preload_patch_site(i)->size)
			write_site(file, mimic_preload_patch_site(i));
	mimic_preload_lines_close();
	mimic_raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
}

__attribute__((destructor)) static void report(void)
{
	char path[64];
	struct mimic_text text;

	if (!is_wanted || !mimic_preload_patch_count() || mimic_preload_patch_end() == PATCH_END_FILTER)
		return;
	mimic_text_begin(&text, path, sizeof(path));
	mimic_text_add(&text, "/tmp/perf-");
	mimic_text_add_decimal(&text, (uint64_t)mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
	mimic_text_add(&text, ".map");
	write_map(path);
}
