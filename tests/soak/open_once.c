/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device that a program has opened and closed once is free for another program, while the first is connected still:
 * mimicd may be killed meanwhile. usage: open_once SOCKET
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmimic/mimic.h"

static int open_device(const char *name, const char *socket, struct mimic_device **device)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = socket };
	int error = mimic_device_open(device, name, &options);

	if (error)
		printf("%s: %s\n", name, strerror(-error));
	return error;
}

static int open_elsewhere(const char *socket)
{
	struct mimic_device *device;
	pid_t child = fork();
	int status;

	if (!child)
		_exit(open_device("maple0", socket, &device) ? EXIT_FAILURE : EXIT_SUCCESS);
	return waitpid(child, &status, 0) == child && !status ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct mimic_device *kept, *device;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 || open_device("maple1", argv[1], &kept) || open_device("maple0", argv[1], &device))
		return 2;
	mimic_device_close(device);
	return open_elsewhere(argv[1]);
}
