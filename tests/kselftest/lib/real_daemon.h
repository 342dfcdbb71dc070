/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The real daemon in the guest: one for all tests of a program, and `mimic` commands to it. */
#ifndef MIMIC_TESTS_REAL_DAEMON_H
#define MIMIC_TESTS_REAL_DAEMON_H

#include <stdbool.h>

/*
 * mimicd with `devices` ("dare:2", of one kind), on a channel ("uring", "read"); started
 * if it is not there, or on another channel. When it returns the kind's first node opens. It
 * ends with the program, and takes its devices off the bus. Where the kind's first device is a
 * function of PCI, another machine's daemon serves it: then there is nothing to do.
 */
bool real_daemon_share(const char *channel, const char *devices);
/* kill -9. Its devices stay for the next one. */
void real_daemon_kill(void);
/* `mimic COMMAND --socket ... ARGUMENTS`; its exit status. */
int real_daemon_command(const char *command, const char *arguments);

#endif
