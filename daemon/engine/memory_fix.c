/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/memory_fix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/memory.h"
#include "daemon/engine/program.h"
#include "daemon/engine/user.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* Helpers (errands.h) that a user's programs may keep at it, and all of them together. */
#define FIXES_OF_USER 2u
#define FIXES_MAX 32u
/* A lock of the kernel's that took longer was another's; then there may be more in line. */
#define CONTENDED_NS 50000u
#define PAUSE_NS 5000000
#define TRIES 20u

/*
 * Setting the flag takes the file's lock, and another program has that for as long as it likes: a write from memory
 * whose pages do not come. So a helper does it.
 */
struct mimicd_memory_fix {
	struct mimicd_errand errand;
	struct mimicd_memory_fix *next;	/* of those that are not over */
	struct mimicd_memory *memory;	/* NULL: it is gone */
	uid_t uid;
	int fd;			/* a copy of ours */
	int error;
	bool is_over;
};

/* Takes no lock. */
static bool is_fixed(int fd)
{
	int flags = 0;

	return !ioctl(fd, FS_IOC_GETFLAGS, &flags) && flags & FS_IMMUTABLE_FL;
}

static int fix(int fd)
{
	int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		return -errno;
	flags |= FS_IMMUTABLE_FL;
	if (ioctl(fd, FS_IOC_SETFLAGS, &flags))
		return -errno;
	return is_fixed(fd) ? 0 : -EOPNOTSUPP;
}

/*
 * The kernel looks at the flag before it waits for the lock. A punch that waits for it already is not
 * refused any more, so those in line come first: the lock is to be free once. One that gets no processor may
 * still come later; nothing tells us of it.
 */
static int fix_contended(int fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t begun = mimic_now();
		int error = fix(fd);

		if (error || mimic_now() - begun < CONTENDED_NS)
			return error;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

static void run(struct mimicd_errand *errand)
{
	struct mimicd_memory_fix *sent = (struct mimicd_memory_fix *)errand;

	sent->error = fix_contended(sent->fd);
}

/* --- whether it is possible --------------------------------------------------------- */

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return !syscall(SYS_capget, &header, data) && data[capability / 32].effective >> capability % 32 & 1;
}

/* The capability may be there, and count for nothing in a container. */
static int try_it(void)
{
	int fd = memfd_create("mimic", MFD_CLOEXEC);
	int error = fd < 0 ? -errno : fix(fd);

	if (fd >= 0)
		close(fd);
	return !error && !has_capability(CAP_FOWNER) ? -EPERM : error;
}

void mimicd_memory_fixes_begin(struct mimicd_memory_fixes *fixes)
{
	int error = try_it();

	fixes->is_possible = !error;
	if (error)
		mimicd_log(MIMICD_LOG_WARNING,
			   "a program of another user can hold up all others while it punches pages out of "
			   "memory that it shares: memory cannot be made immutable (%s)%s", strerror(-error),
			   error == -EPERM ? ": CAP_LINUX_IMMUTABLE and CAP_FOWNER are needed" : "");
}

int mimicd_memory_fix_ours(const struct mimicd_memory_fixes *fixes, int fd)
{
	return fixes->is_possible ? fix(fd) : 0;
}

/* --- memory of clients --------------------------------------------------------------- */

static bool has_room(const struct mimicd_memory_fixes *fixes, uid_t uid)
{
	unsigned int of_user = 0, all = 0;

	for (const struct mimicd_memory_fix *sent = fixes->sent; sent; sent = sent->next) {
		of_user += sent->uid == uid;
		all++;
	}
	return of_user < FIXES_OF_USER && all < FIXES_MAX;
}

/*
 * A file that a program of another user has lent to the client, or that the client can only read, is not
 * the client's to change, and so not ours.
 */
static bool is_its_own(const struct mimicd_memory *memory, int fd)
{
	struct stat status;

	return !fstat(fd, &status) && status.st_uid == memory->uid && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

static int send(struct mimicd_memory *memory, int fd)
{
	struct mimicd_memory_fixes *fixes = &memory->user->engine->memory_fixes;
	struct mimicd_memory_fix *sent = malloc(sizeof(*sent));
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int error = !sent ? -ENOMEM : copy < 0 ? -errno : 0;

	if (!error) {
		*sent = (struct mimicd_memory_fix){
			.errand = { .run = run }, .next = fixes->sent, .memory = memory, .uid = memory->uid, .fd = copy,
		};
		error = mimicd_errands_send_away(memory->errands, &sent->errand);
	}
	if (error) {
		free(sent);
		if (copy >= 0)
			close(copy);	/* not its last end */
		return error;
	}
	fixes->sent = memory->fix = sent;
	return 0;
}

/* Takes the result of the errand. -EINPROGRESS: there is none yet. */
static int take_result(struct mimicd_memory *memory)
{
	struct mimicd_memory_fix *over = memory->fix;
	int error = -EINPROGRESS;

	if (over && over->is_over) {
		error = over->error;
		memory->fix = NULL;
		free(over);
	}
	return error;
}

int mimicd_memory_fix(struct mimicd_memory *memory, int fd, const char **why)
{
	const struct mimicd_memory_fixes *fixes = &memory->user->engine->memory_fixes;
	int error;

	/* Users that may stop us may hold us up, too. */
	if (!fixes->is_possible || mimicd_may_manage(memory->uid))
		return 0;
	memory->wants_fix = false;
	error = take_result(memory);
	if (is_fixed(fd))
		return 0;
	if (!is_its_own(memory, fd)) {
		*why = "the memfd is another user's, or cannot be written";
		return -EPERM;
	}
	if (error == -EINPROGRESS && !memory->fix) {
		memory->wants_fix = !has_room(fixes, memory->uid);
		if (!memory->wants_fix)
			error = send(memory, fd);
		if (!error)
			error = -EINPROGRESS;
	}
	if (error == -EINPROGRESS)
		return error;
	*why = error == -EBUSY ? "others go on changing it" : "its pages cannot be kept from being punched out";
	return error ? error : -EPERM;
}

bool mimicd_memory_fix_waits(const struct mimicd_memory *memory)
{
	if (memory->fix)
		return !memory->fix->is_over;
	return memory->wants_fix && !has_room(&memory->user->engine->memory_fixes, memory->uid);
}

void mimicd_memory_fix_forget(struct mimicd_memory *memory)
{
	if (memory->fix && !memory->fix->is_over)
		memory->fix->memory = NULL;
	else
		free(memory->fix);
	memory->fix = NULL;
}

bool mimicd_memory_fix_came(struct mimicd_engine *engine, struct mimicd_errand *errand)
{
	struct mimicd_memory_fix *over = (struct mimicd_memory_fix *)errand, **link = &engine->memory_fixes.sent;

	if (errand->run != run)
		return false;
	while (*link != over)
		link = &(*link)->next;
	*link = over->next;
	/* It may be the last end of the memfd, whose pages are freed then. */
	mimicd_closer_close(engine->loop->closer, over->uid, over->fd);
	over->is_over = true;
	if (!over->memory)
		free(over);
	return true;
}
