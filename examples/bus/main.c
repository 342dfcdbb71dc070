/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic-template: the template device's daemon as a command. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/bus/template_daemon.h"

static const char help[] =
	"usage: mimic-template [INDEX]\n"
	"\n"
	"Serves the device /dev/templateINDEX (default: the first that is free) until it\n"
	"gets SIGTERM or SIGINT. Needs mimic.ko, and template.ko for the node.\n";

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static int complain(const char *what, int error)
{
	fprintf(stderr, "mimic-template: %s: %s\n", what, strerror(-error));
	return 1;
}

static int parse_index(const char *text, int *index)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value >= MIMIC_BUS_DEVICES_MAX)
		return -EINVAL;
	*index = (int)value;
	return 0;
}

int main(int count, char **arguments)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct template_daemon daemon;
	int index = -1;
	int error;

	if (count == 2 && !strcmp(arguments[1], "--help")) {
		fputs(help, stdout);
		return 0;
	}
	if (count > 2 || (count == 2 && parse_index(arguments[1], &index))) {
		fprintf(stderr, "mimic-template: INDEX is a number from 0 to %d; see --help\n", MIMIC_BUS_DEVICES_MAX - 1);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	error = template_daemon_open(&daemon, index);
	if (error)
		return complain("no device on " MIMIC_BUS_NODE, error);
	printf("template%d\n", daemon.index);
	fflush(stdout);
	error = template_daemon_serve(&daemon, &stop);
	template_daemon_close(&daemon);
	return error ? complain("serving ended", error) : 0;
}
