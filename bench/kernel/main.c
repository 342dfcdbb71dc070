/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/kernel/kernel.h"

/* Each is probed by itself, in any order. */
static void wait_for_nodes(int count)
{
	char node[32];

	for (int i = 0; i < count; i++) {
		snprintf(node, sizeof(node), "/dev/maple%d", i);
		for (int tries = 0; tries < 100 && access(node, F_OK); tries++)
			usleep(100000);
	}
}

/* bench-kernel BUILD OUTPUT, in a machine with the modules loaded and no daemon. */
int main(int argc, char **argv)
{
	struct bench_options options = { 0 };
	struct bench_traps traps;
	pid_t daemon;

	if (argc != 3) {
		fprintf(stderr, "usage: bench-kernel BUILD OUTPUT\n");
		return 2;
	}
	options.build = argv[1];
	snprintf(options.socket, sizeof(options.socket), "/tmp/bench-kernel.sock");
	daemon = bench_start_daemon(&options, "maple:4", options.socket);
	wait_for_nodes(4);
	bench_kernel_traps(daemon, &traps);
	bench_kernel_window();
	bench_kernel_first_touch(&traps);
	bench_kernel_spmv(&options);
	bench_stop_daemon(daemon);
	return bench_finish(argv[2]);
}
