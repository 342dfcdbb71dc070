/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

static const char *const level_names[] = {
	[MIMICD_LOG_ERROR] = "error",
	[MIMICD_LOG_WARNING] = "warning",
	[MIMICD_LOG_INFO] = "info",
	[MIMICD_LOG_DEBUG] = "debug",
};

static enum mimicd_log_level highest = MIMICD_LOG_INFO;
static bool use_syslog;

int mimicd_log_level_parse(const char *text, enum mimicd_log_level *level)
{
	for (unsigned int i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (strcmp(text, level_names[i]))
			continue;
		*level = (enum mimicd_log_level)i;
		return 0;
	}
	return -EINVAL;
}

void mimicd_log_set_level(enum mimicd_log_level level)
{
	highest = level;
}

void mimicd_log_to_syslog(void)
{
	openlog("mimicd", LOG_PID, LOG_DAEMON);
	use_syslog = true;
}

/* --- a line ---------------------------------------------------------------------------- */

/* Bytes of the character there, of UTF-8 and none that controls a terminal. 0: it is no such. */
static size_t printable(const unsigned char *text)
{
	size_t length;

	if (*text < 0x80)
		return *text >= 0x20 && *text != 0x7f;
	length = *text >= 0xc2 && *text < 0xe0 ? 2 : *text >= 0xe0 && *text < 0xf0 ? 3 : *text >= 0xf0 && *text < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	/* U+0080 to U+009f are controls, too. */
	return *text == 0xc2 && text[1] < 0xa0 ? 0 : length;
}

/* A line may have names that programs give themselves: other than printable characters are shown as \x1b. */
static void escape(char *to, size_t size, const char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t length = 0;

	while (*from && length + 5 <= size) {
		size_t bytes = printable(from);

		if (bytes)
			memcpy(to + length, from, bytes);
		else
			snprintf(to + length, 5, "\\x%02x", *from);
		length += bytes ? bytes : 4;
		from += bytes ? bytes : 1;
	}
	to[length] = 0;
}

static void write_line(enum mimicd_log_level level, const char *format, va_list arguments)
{
	static const int priorities[] = {
		[MIMICD_LOG_ERROR] = LOG_ERR,
		[MIMICD_LOG_WARNING] = LOG_WARNING,
		[MIMICD_LOG_INFO] = LOG_INFO,
		[MIMICD_LOG_DEBUG] = LOG_DEBUG,
	};
	char text[512], line[640];

	vsnprintf(text, sizeof(text), format, arguments);
	escape(line, sizeof(line), text);
	if (use_syslog)
		syslog(priorities[level], "%s", line);
	else if (level <= MIMICD_LOG_WARNING)
		fprintf(stderr, "mimicd: %s: %s\n", level_names[level], line);
	else
		fprintf(stderr, "mimicd: %s\n", line);
}

void mimicd_log(enum mimicd_log_level level, const char *format, ...)
{
	va_list arguments;

	if (level > highest)
		return;
	va_start(arguments, format);
	write_line(level, format, arguments);
	va_end(arguments);
}

/* --- lines that users cause --------------------------------------------------------------- */

/* Lines that a user may cause at once, and how long each next one takes. */
#define BURST 64u
#define LINE_NS 100000000ull
#define USERS 16u

struct allowance {
	uint32_t user;
	bool used;
	unsigned int lines;	/* that may come now */
	uint64_t since;		/* when the last of them was added */
	unsigned long left_out;
};

static struct allowance allowances[USERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Of more users than there is room for, the one that was quiet for longest is forgotten. */
static struct allowance *find_allowance(uint32_t user, uint64_t now)
{
	struct allowance *oldest = &allowances[0];

	for (unsigned int i = 0; i < USERS; i++) {
		struct allowance *at = &allowances[i];

		if (at->used && at->user == user)
			return at;
		if (!at->used || (oldest->used && at->since < oldest->since))
			oldest = at;
	}
	*oldest = (struct allowance){ .user = user, .used = true, .lines = BURST, .since = now };
	return oldest;
}

/* *left_out: how many were not written before this one. */
static bool may_write(uint32_t user, unsigned long *left_out)
{
	uint64_t now = now_ns();
	struct allowance *allowance;
	bool may;

	pthread_mutex_lock(&lock);
	allowance = find_allowance(user, now);
	while (allowance->lines < BURST && now - allowance->since >= LINE_NS) {
		allowance->lines++;
		allowance->since += LINE_NS;
	}
	if (allowance->lines == BURST)
		allowance->since = now;
	may = allowance->lines;
	*left_out = may ? allowance->left_out : 0;
	if (may) {
		allowance->lines--;
		allowance->left_out = 0;
	} else {
		allowance->left_out++;
	}
	pthread_mutex_unlock(&lock);
	return may;
}

void mimicd_log_of(uint32_t user, enum mimicd_log_level level, const char *format, ...)
{
	unsigned long left_out;
	va_list arguments;

	if (level > highest || !may_write(user, &left_out))
		return;
	if (left_out)
		mimicd_log(MIMICD_LOG_WARNING, "%lu more lines about programs of user %u were left out", left_out, user);
	va_start(arguments, format);
	write_line(level, format, arguments);
	va_end(arguments);
}
