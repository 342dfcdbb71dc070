/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Does a store of a program wait for the daemon? Stops the daemon, stores one operand of a
 * command to a Virgo, and says whether that was over before the daemon went on. Written from
 * docs/abi.md and docs/virgo.md; nothing of mimic is included or linked.
 *
 *   posted DAEMON      the daemon's process
 */
#include "contract.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define RS1 0x10
#define DISPATCHED 0x80

static pid_t daemon_process;
static volatile sig_atomic_t went_on;

static void go_on(int number)
{
	(void)number;
	went_on = 1;
	kill(daemon_process, SIGCONT);
}

int main(int argc, char **argv)
{
	int node = open("/dev/virgo0", O_RDWR);
	volatile char *unit;

	if (argc != 2 || node < 0)
		return 3;
	unit = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, node, PAGE);
	if (unit == MAP_FAILED || *(volatile uint64_t *)(unit + DISPATCHED) != 0)
		return 3;
	daemon_process = atoi(argv[1]);
	signal(SIGALRM, go_on);
	alarm(2);
	kill(daemon_process, SIGSTOP);
	*(volatile uint64_t *)(unit + RS1) = 1;
	puts(went_on ? "waited" : "did not wait");
	if (!went_on)
		raise(SIGALRM);
	return 0;
}
