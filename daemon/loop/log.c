/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

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

void mimicd_log(enum mimicd_log_level level, const char *format, ...)
{
	static const int priorities[] = {
		[MIMICD_LOG_ERROR] = LOG_ERR,
		[MIMICD_LOG_WARNING] = LOG_WARNING,
		[MIMICD_LOG_INFO] = LOG_INFO,
		[MIMICD_LOG_DEBUG] = LOG_DEBUG,
	};
	char line[512];
	va_list arguments;

	if (level > highest)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (use_syslog)
		syslog(priorities[level], "%s", line);
	else if (level <= MIMICD_LOG_WARNING)
		fprintf(stderr, "mimicd: %s: %s\n", level_names[level], line);
	else
		fprintf(stderr, "mimicd: %s\n", line);
}
