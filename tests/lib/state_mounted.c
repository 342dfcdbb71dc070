/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/state_mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct state_mount mounted;

int mounted_setup(void **state)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON };

	(void)state;
	if (!state_can_mount())
		return 0;
	alarm(120);
	if (!state_mount_start(&mounted))
		return -1;
	options.socket_path = mounted.socket;
	return mimic_device_open(&served_device, "maple0", &options);
}

int mounted_teardown(void **state)
{
	(void)state;
	if (!state_can_mount())
		return 0;
	mimic_device_close(served_device);
	state_mount_end(&mounted);
	return 0;
}

void assert_file(const char *file, const char *expected)
{
	char *text = state_mount_read(&mounted, NULL, "%s", file);

	if (!text)
		fail_msg("%s: %s", file, strerror(errno));
	if (strcmp(text, expected))
		fail_msg("%s: '%s', not '%s'", file, text, expected);
	free(text);
}

bool is_there(const char *format, ...)
{
	char file[256], path[400];
	struct stat status;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(file, sizeof(file), format, arguments);
	va_end(arguments);
	snprintf(path, sizeof(path), "%s/devices/%s", mounted.path, file);
	return !stat(path, &status);
}

int open_file(const char *file, int flags)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", mounted.path, file);
	return open(path, flags | O_CLOEXEC);
}
