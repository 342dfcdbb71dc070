/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/keeping.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/loop/call_filter.h"
#include "daemon/loop/hang_up.h"
#include "daemon/loop/new_calls.h"

#define LOOK_MS 100
/* Descriptors of a machine may take long to close: then the end of this process closes the rest. */
#define LIFE_SECONDS 5

struct kept {
	int fd;
	void *note;
	bool is_over;	/* both directions are shut down */
};

struct keeping {
	int mimicd;
	char *notes;
	mimicd_last_replies replies;
	struct kept kept[MIMICD_KEEPING_MAX];
	unsigned int count;
};

/* --- a process that has nothing else --------------------------------------------------------- */

static void close_others(unsigned int own)
{
	struct rlimit limit = { .rlim_cur = 1024 };

	if (!syscall(SYS_close_range, own + 1, ~0u, 0) && (!own || !syscall(SYS_close_range, 0, own - 1, 0)))
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned int fd = 0; fd < limit.rlim_cur && fd < 1u << 20; fd++) {
		if (fd != own)
			close((int)fd);
	}
}

/* Signals to mimicd's group, or to all processes of its unit, are for mimicd: we end when it has ended. */
static void take_no_signals(void)
{
	struct sigaction ends = { .sa_handler = SIG_DFL };
	sigset_t blocked;

	setsid();
	sigaction(SIGALRM, &ends, NULL);
	sigfillset(&blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static void drop_privileges(void)
{
	static const unsigned int numbers[] = {
		SYS_recvmsg, SYS_recvfrom, SYS_sendto, SYS_shutdown, SYS_close, SYS_ppoll, SYS_setitimer, SYS_rt_sigprocmask,
		SYS_restart_syscall, SYS_exit_group,
#ifdef SYS_poll
		SYS_poll,
#endif
	};
	const struct mimicd_call_list calls = { numbers, sizeof(numbers) / sizeof(numbers[0]) };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	syscall(SYS_capset, &header, none);
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && MIMICD_CALLS_ARE_KNOWN)
		mimicd_call_filter_enter(&calls, 1);
}

/* --- while mimicd serves ------------------------------------------------------------------------ */

static void forget(struct keeping *keeping, struct kept *kept)
{
	/* Descriptors that come stay open: where the process's end closes them nothing lingers. */
	mimicd_hang_up(kept->fd, kept->is_over ? NULL : keeping->replies, kept->note, NULL, NULL);
	*kept = keeping->kept[--keeping->count];
}

static void add(struct keeping *keeping, int fd, const struct mimicd_keeping_message *message)
{
	if (keeping->count == MIMICD_KEEPING_MAX || message->note >= MIMICD_KEEPING_MAX) {
		close(fd);
		return;
	}
	keeping->kept[keeping->count++] = (struct kept){
		.fd = fd, .note = keeping->notes + (size_t)message->note * MIMICD_KEEPING_NOTE,
	};
}

/* false: mimicd has ended. */
static bool take(struct keeping *keeping)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct mimicd_keeping_message body;
	struct iovec piece = { &body, sizeof(body) };
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(keeping->mimicd, &message, MSG_DONTWAIT);
	struct cmsghdr *entry = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd;

	if (length <= 0)
		return length < 0 && (errno == EAGAIN || errno == EINTR);
	if (!entry)
		return true;
	memcpy(&fd, CMSG_DATA(entry), sizeof(int));
	add(keeping, fd, &body);
	return true;
}

static bool has_unread(int fd)
{
	char byte;

	return recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) > 0;
}

/*
 * Forgets connections whose directions are both shut down, so that nothing more comes, and that mimicd has
 * read to the end. Those with unread bytes are kept: mimicd may be killed before it reads them.
 */
static void forget_read(struct keeping *keeping)
{
	for (unsigned int i = keeping->count; i-- > 0;) {
		if (keeping->kept[i].is_over && !has_unread(keeping->kept[i].fd))
			forget(keeping, &keeping->kept[i]);
	}
}

/* Until something comes of mimicd, or a time to look has passed. */
static void wait_for_any(struct keeping *keeping)
{
	struct pollfd entries[MIMICD_KEEPING_MAX + 1];
	int time = -1;

	for (unsigned int i = 0; i < keeping->count; i++) {
		entries[i] = (struct pollfd){ .fd = keeping->kept[i].is_over ? -1 : keeping->kept[i].fd };
		if (keeping->kept[i].is_over)
			time = LOOK_MS;
	}
	entries[keeping->count] = (struct pollfd){ .fd = keeping->mimicd, .events = POLLIN };
	if (poll(entries, keeping->count + 1, time) < 0)
		return;
	for (unsigned int i = 0; i < keeping->count; i++)
		keeping->kept[i].is_over |= (entries[i].revents & POLLHUP) != 0;
}

/* --- when it has ended ---------------------------------------------------------------------------- */

static void end_all(struct keeping *keeping)
{
	const struct itimerval life = { .it_value.tv_sec = LIFE_SECONDS };
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &life, NULL);
	while (keeping->count)
		forget(keeping, &keeping->kept[0]);
}

_Noreturn void mimicd_keeping_run(int mimicd, char *notes, mimicd_last_replies replies)
{
	static struct keeping keeping;

	keeping = (struct keeping){ .mimicd = mimicd, .notes = notes, .replies = replies };
	close_others((unsigned int)mimicd);
	take_no_signals();
	(void)!chdir("/");
	prctl(PR_SET_NAME, "mimicd-keeper");
	drop_privileges();
	do {
		wait_for_any(&keeping);
		forget_read(&keeping);
	} while (take(&keeping));
	end_all(&keeping);
	_exit(0);
}
