/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Any messages to a supervisor's inbox, with and without descriptors: those of a second socket, which a
 * process sends that is not the daemon, too. A list of names says what the supervisor should keep, by rules
 * that are written here a second time. No descriptor may be lost.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/log.h"
#include "daemon/supervise/deliver.h"
#include "tests/fuzz/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 8u
#define FDS_MAX 3u

struct expected {
	char names[MOST][32];
	size_t count;
};

static struct mimicd_inbox inbox;
static int sender;

static void set_up(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	/* Inputs cause warnings. */
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	CHECK(mimicd_inbox_open(&inbox) == 0);
	sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(address.sun_path + 1, inbox.name + 1, strlen(inbox.name) - 1);
	CHECK(connect(sender, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(inbox.name))) == 0);
}

static void send_letter(const char *text, size_t length, unsigned int fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)text, length };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	const int list[FDS_MAX] = { sender, STDERR_FILENO, sender };

	if (fds) {
		struct cmsghdr *entry;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		entry = CMSG_FIRSTHDR(&message);
		entry->cmsg_level = SOL_SOCKET;
		entry->cmsg_type = SCM_RIGHTS;
		entry->cmsg_len = CMSG_LEN(fds * sizeof(int));
		memcpy(CMSG_DATA(entry), list, fds * sizeof(int));
	}
	CHECK(sendmsg(sender, &message, MSG_DONTWAIT) == (ssize_t)length);
}

/* --- the rules, a second time -------------------------------------------------------------- */

static bool is_name(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++) {
		char c = name[i];

		if (c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'))
			return false;
	}
	return length >= 1 && length <= 30;
}

struct meaning {
	bool is_good, is_put, is_drop, is_ready;
	char name[MIMICD_MESSAGE_SIZE_MAX + 1];
};

static struct meaning read_text(const char *text, size_t length)
{
	struct meaning meaning = { .is_good = length <= MIMICD_MESSAGE_SIZE_MAX &&
					      strnlen(text, length) == length };
	char copy[MIMICD_MESSAGE_SIZE_MAX + 1], *rest = copy, *line;
	unsigned int names = 0;

	if (!meaning.is_good)
		return meaning;
	memcpy(copy, text, length);
	copy[length] = 0;
	while ((line = strsep(&rest, "\n"))) {
		meaning.is_put |= !strcmp(line, "FDSTORE=1");
		meaning.is_drop |= !strcmp(line, "FDSTOREREMOVE=1");
		meaning.is_ready |= !strcmp(line, "READY=1");
		if (strncmp(line, "FDNAME=", 7))
			continue;
		strcpy(meaning.name, line + 7);
		meaning.is_good &= is_name(meaning.name) && !names++;
	}
	meaning.is_good &= !(meaning.is_put && meaning.is_drop) &&
			   (names || (!meaning.is_put && !meaning.is_drop));
	return meaning;
}

static void expect(struct expected *expected, const struct meaning *meaning, unsigned int fds)
{
	size_t left = 0;

	if (!meaning->is_good)
		return;
	for (unsigned int i = 0; meaning->is_put && i < fds && expected->count < MOST; i++)
		strcpy(expected->names[expected->count++], meaning->name);
	if (!meaning->is_drop)
		return;
	for (size_t i = 0; i < expected->count; i++) {
		if (strcmp(expected->names[i], meaning->name))
			memmove(expected->names[left++], expected->names[i], sizeof(expected->names[i]));
	}
	expected->count = left;
}

static void compare(const struct expected *expected, const struct mimicd_kept *kept)
{
	CHECK(kept->count == expected->count);
	for (size_t i = 0; i < kept->count; i++) {
		int difference = 0;

		for (size_t j = 0; j < kept->count; j++) {
			difference += !strcmp(kept->list[j].name, kept->list[i].name);
			difference -= !strcmp(expected->names[j], kept->list[i].name);
		}
		CHECK(difference == 0);
	}
}

/* --- a run ------------------------------------------------------------------------------------ */

static unsigned int count_descriptors(void)
{
	unsigned int count = 0;

	/* All that a run has lie there: the numbers below are the fuzzer's. */
	for (int fd = 0; fd < 64; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void send_one(struct mimicd_kept *kept, struct expected *expected, const char *text, size_t length,
		     uint8_t kind)
{
	static struct mimicd_letter letter;
	struct mimicd_manager_message message;
	struct meaning meaning = read_text(text, length);
	unsigned int fds = (kind & 0xf) % (FDS_MAX + 1);
	bool is_stranger = (kind & 0xf0) == 0xf0;
	int error;

	send_letter(text, length, fds);
	CHECK(mimicd_inbox_receive(&inbox, &letter) == 0);
	CHECK(letter.sender == getpid() && letter.fd_count == fds);
	error = mimicd_letter_deliver(&letter, is_stranger ? 1 : getpid(), kept, &message);
	CHECK(!error == (meaning.is_good && !is_stranger));
	CHECK(error || message.is_ready == meaning.is_ready);
	if (!is_stranger)
		expect(expected, &meaning, fds);
	compare(expected, kept);
}

/*
 * A byte says how many descriptors come along, and of which process; then bytes up to 0xff, which is in no
 * text.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct expected expected = { .count = 0 };
	struct mimicd_kept kept;
	unsigned int before;
	char *names;

	if (!sender)
		set_up();
	before = count_descriptors();
	mimicd_kept_begin(&kept, NULL, 0, MOST);
	while (size > 1) {
		const uint8_t *end = memchr(data + 1, 0xff, size - 1);
		size_t length = end ? (size_t)(end - data) - 1 : size - 1;

		send_one(&kept, &expected, (const char *)data + 1, length, data[0]);
		length += 1 + (end != NULL);
		data += length;
		size -= length;
	}
	names = mimicd_kept_names(&kept);
	CHECK(names && strlen(names) == (kept.name_bytes ? kept.name_bytes - 1 : 0));
	free(names);
	mimicd_kept_end(&kept);
	CHECK(count_descriptors() == before);
	return 0;
}
