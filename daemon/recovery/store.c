/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/recovery/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/notify.h"

#define FIRST_FD 3	/* as sd_listen_fds(3) says */
#define COUNT_MAX (1u << 20)

/* --- puts ------------------------------------------------------------------------------- */

bool mimicd_store_is_there(void)
{
	return mimicd_notify_has_manager();
}

bool mimicd_store_name_is_good(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

	return length && length <= MIMICD_STORE_NAME_MAX && !name[length];
}

static int send_named(const char *command, const char *name, int fd)
{
	char message[128];

	if (!mimicd_store_name_is_good(name))
		return -EINVAL;
	snprintf(message, sizeof(message), "%s\nFDNAME=%s", command, name);
	return mimicd_notify_with(message, fd);
}

int mimicd_store_put(const char *name, int fd)
{
	/*
	 * systemd drops descriptors that hang up unless FDPOLL=0 says otherwise. A successor has to find
	 * the socket of a client that ended meanwhile, or it does not learn of the end.
	 */
	return fd < 0 ? -EBADF : send_named("FDSTORE=1\nFDPOLL=0", name, fd);
}

int mimicd_store_drop(const char *name)
{
	return send_named("FDSTOREREMOVE=1", name, -1);
}

/* --- at the start --------------------------------------------------------------------------- */

/* How many there are for this process; 0 also if they are another's. -EINVAL. */
static long read_count(const char *pid, const char *count)
{
	char *end;
	long number;

	if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid())
		return 0;
	errno = 0;
	number = strtol(count, &end, 10);
	if (errno || end == count || *end || number < 0 || number > (long)COUNT_MAX)
		return -EINVAL;
	return number;
}

/* The name at *names, which then has the next one. */
static void read_name(const char **names, char *name, size_t size)
{
	size_t length = *names ? strcspn(*names, ":") : 0;

	snprintf(name, size, "%.*s", length < size ? (int)length : 0, *names ? *names : "");
	if (*names)
		*names = (*names)[length] ? *names + length + 1 : NULL;
}

static int read_list(const char *names, struct mimicd_stored **stored, size_t *count)
{
	long number = read_count(getenv("LISTEN_PID"), getenv("LISTEN_FDS"));
	struct mimicd_stored *list;

	if (number <= 0)
		return (int)number;
	list = calloc((size_t)number, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (long i = 0; i < number; i++) {
		list[i].fd = FIRST_FD + (int)i;
		read_name(&names, list[i].name, sizeof(list[i].name));
		if (!fcntl(list[i].fd, F_SETFD, FD_CLOEXEC))
			continue;
		free(list);
		return -EBADF;
	}
	*stored = list;
	*count = (size_t)number;
	return 0;
}

int mimicd_store_take(struct mimicd_stored **stored, size_t *count)
{
	int error;

	*stored = NULL;
	*count = 0;
	error = read_list(getenv("LISTEN_FDNAMES"), stored, count);
	/* Programs that we start have not got these descriptors. */
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return error;
}

void mimicd_store_free(struct mimicd_stored *stored, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (stored[i].fd >= 0)
			close(stored[i].fd);
	}
	free(stored);
}
