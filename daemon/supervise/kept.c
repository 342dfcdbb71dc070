/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/log.h"

#define UNNAMED "unknown"	/* as it is there, too */

static const char *shown_name(const struct mimicd_stored *stored)
{
	return stored->name[0] ? stored->name : UNNAMED;
}

static size_t name_bytes(const struct mimicd_stored *stored)
{
	return strlen(shown_name(stored)) + 1;
}

void mimicd_kept_begin(struct mimicd_kept *kept, struct mimicd_stored *given, size_t count, size_t most)
{
	*kept = (struct mimicd_kept){
		.list = given, .count = count, .room = count, .given = count, .most = most
	};
	for (size_t i = 0; i < count; i++)
		kept->name_bytes += name_bytes(&given[i]);
}

void mimicd_kept_end(struct mimicd_kept *kept)
{
	mimicd_store_free(kept->list, kept->count);
	*kept = (struct mimicd_kept){ .list = NULL };
}

static bool has_room(struct mimicd_kept *kept, const char *name)
{
	struct mimicd_stored *list;
	size_t room;

	if (kept->count >= kept->most || kept->name_bytes + strlen(name) + 1 > MIMICD_KEPT_NAMES_MAX)
		return false;
	if (kept->count < kept->room)
		return true;
	room = kept->room ? 2 * kept->room : 64;
	list = realloc(kept->list, room * sizeof(*list));
	if (!list)
		return false;
	kept->list = list;
	kept->room = room;
	return true;
}

int mimicd_kept_put(struct mimicd_kept *kept, const char *name, int fd)
{
	struct mimicd_stored *stored;

	if (!has_room(kept, name)) {
		if (!kept->was_full)
			mimicd_log(MIMICD_LOG_WARNING,
				   "the descriptor store is full with %zu: '%s' and those that follow "
				   "are lost if the daemon is killed",
				   kept->count, name);
		kept->was_full = true;
		close(fd);
		return -ENOSPC;
	}
	stored = &kept->list[kept->count++];
	*stored = (struct mimicd_stored){ .fd = fd };
	strncat(stored->name, name, sizeof(stored->name) - 1);
	kept->name_bytes += name_bytes(stored);
	return 0;
}

void mimicd_kept_drop(struct mimicd_kept *kept, const char *name)
{
	for (size_t i = kept->given; i < kept->count;) {
		struct mimicd_stored *stored = &kept->list[i];

		if (strcmp(stored->name, name)) {
			i++;
			continue;
		}
		close(stored->fd);
		kept->name_bytes -= name_bytes(stored);
		*stored = kept->list[--kept->count];
		kept->was_full = false;
	}
}

char *mimicd_kept_names(const struct mimicd_kept *kept)
{
	char *names = malloc(kept->name_bytes + 1);
	char *at = names;

	if (!names)
		return NULL;
	*names = 0;
	for (size_t i = 0; i < kept->count; i++) {
		if (i)
			*at++ = ':';
		at = stpcpy(at, shown_name(&kept->list[i]));
	}
	return names;
}

/* Of each number that is to have another descriptor: which of the list has it now; SIZE_MAX: none. */
static size_t *find_owners(const struct mimicd_kept *kept)
{
	size_t *owners = malloc((kept->count + 1) * sizeof(*owners));

	for (size_t i = 0; owners && i < kept->count; i++)
		owners[i] = (size_t)-1;
	for (size_t i = 0; owners && i < kept->count; i++) {
		if (kept->list[i].fd >= MIMICD_KEPT_FIRST && kept->list[i].fd < MIMICD_KEPT_FIRST + (int)kept->count)
			owners[kept->list[i].fd - MIMICD_KEPT_FIRST] = i;
	}
	return owners;
}

/* Takes one number more than there are, whatever the order. */
static int move(struct mimicd_kept *kept, size_t *owners, size_t place)
{
	const int target = MIMICD_KEPT_FIRST + (int)place;
	struct mimicd_stored *stored = &kept->list[place];
	size_t owner = owners[place];

	if (stored->fd == target)
		return fcntl(target, F_SETFD, 0) ? -errno : 0;
	if (owner != (size_t)-1) {
		int away = fcntl(target, F_DUPFD_CLOEXEC, MIMICD_KEPT_FIRST + (int)kept->count);

		if (away < 0)
			return -errno;
		kept->list[owner].fd = away;
	}
	if (dup2(stored->fd, target) < 0)
		return -errno;
	close(stored->fd);
	if (stored->fd >= MIMICD_KEPT_FIRST && stored->fd < MIMICD_KEPT_FIRST + (int)kept->count)
		owners[stored->fd - MIMICD_KEPT_FIRST] = (size_t)-1;
	stored->fd = target;
	return 0;
}

int mimicd_kept_line_up(struct mimicd_kept *kept)
{
	size_t *owners = find_owners(kept);
	int error = owners ? 0 : -ENOMEM;

	for (size_t i = 0; i < kept->count && !error; i++)
		error = move(kept, owners, i);
	free(owners);
	return error;
}
