/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/origin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/record.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/log.h"
#include "daemon/recovery/store.h"
#include "libmimic/base/config.h"
#include "libmimic/base/kinds.h"

/* FNV-1a. */
#define SUM_BASIS 0xcbf29ce484222325ull
#define SUM_PRIME 0x100000001b3ull

/*
 * Structures in the window are those of a program, and so is the models' memory. Make sums up the headers
 * that lay them out.
 */
void mimicd_origin_build(char *text, size_t size)
{
	snprintf(text, size, "%s, %zu-bit, %zu", MIMICD_LAYOUT, 8 * sizeof(void *),
		 sizeof(struct mimicd_lane_record));
}

static void add(uint64_t *sum, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		*sum = (*sum ^ at[i]) * SUM_PRIME;
}

/* How many devices there are, and how long threads spin, is a successor's own matter. */
uint64_t mimicd_origin_settings(const struct mimic_settings *settings)
{
	uint64_t sum = SUM_BASIS;

	for (size_t i = 0; i < mimic_kind_count(); i++) {
		const struct mimic_kind *kind = mimic_kinds[i];
		const struct mimic_own_parameters *own = mimic_parameters_of(&settings->parameters, kind);

		add(&sum, kind->name, strlen(kind->name) + 1);
		for (size_t k = 0; k < kind->key_count; k++) {
			unsigned int field;

			memcpy(&field, own->bytes + kind->keys[k].offset, sizeof(field));
			add(&sum, &field, sizeof(field));
		}
	}
	return sum;
}

/* --- the daemon that runs ----------------------------------------------------------------- */

/* Keeps the newest window that is complete. */
static void look(int fd, struct mimicd_journal_seen *newest)
{
	struct mimicd_journal_seen seen;

	if (!mimicd_journal_look(fd, &seen) && seen.generation > newest->generation)
		*newest = seen;
}

static void look_at_link(int directory, const char *name, struct mimicd_journal_seen *newest)
{
	static const char memory[] = "/memfd:" MIMICD_JOURNAL_FILE;
	char target[64];
	ssize_t length = readlinkat(directory, name, target, sizeof(target));
	int fd;

	if (length < (ssize_t)strlen(memory) || memcmp(target, memory, strlen(memory)))
		return;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	look(fd, newest);
	close(fd);
}

static int look_at_process(pid_t process, struct mimicd_journal_seen *newest)
{
	char path[48];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)process);
	directory = opendir(path);
	if (!directory) {
		int error = -errno;

		mimicd_log(MIMICD_LOG_ERROR, "check: %s: %s", path, strerror(-error));
		return error;
	}
	while ((entry = readdir(directory)))
		look_at_link(dirfd(directory), entry->d_name, newest);
	closedir(directory);
	return 0;
}

static int compare(const struct mimicd_journal_seen *seen, uint64_t settings)
{
	char build[sizeof(seen->build)];

	mimicd_origin_build(build, sizeof(build));
	if (strcmp(seen->build, build)) {
		mimicd_log(MIMICD_LOG_ERROR,
			   "check: mimicd " MIMIC_VERSION " (layout %s) cannot take over from mimicd %s "
			   "(layout %s), which runs: their structures differ",
			   build, seen->origin.version, seen->build);
		return -EINVAL;
	}
	if (seen->origin.settings != settings) {
		mimicd_log(MIMICD_LOG_ERROR,
			   "check: mimicd " MIMIC_VERSION " cannot take over from mimicd %s, which runs: "
			   "the configuration or a plugin has changed since that was started (parameters "
			   "%016llx, were "
			   "%016llx)",
			   seen->origin.version, (unsigned long long)settings,
			   (unsigned long long)seen->origin.settings);
		return -EINVAL;
	}
	mimicd_log(MIMICD_LOG_INFO,
		   "check: mimicd " MIMIC_VERSION " can take over from mimicd %s, which runs "
		   "(layout %s)",
		   seen->origin.version, build);
	return 0;
}

int mimicd_origin_check(const struct mimic_settings *settings, const struct mimicd_stored *stored,
			size_t count, pid_t process)
{
	struct mimicd_journal_seen newest = { .generation = 0 };
	int error = process ? look_at_process(process, &newest) : 0;

	if (error)
		return error;
	for (size_t i = 0; i < count && !process; i++)
		look(stored[i].fd, &newest);
	if (newest.generation)
		return compare(&newest, mimicd_origin_settings(settings));
	mimicd_log(MIMICD_LOG_ERROR,
		   "check: there is no daemon with --recover to take over from: %s has no "
		   "state of one",
		   process ? "that process" : "the service manager");
	return -ENODATA;
}
