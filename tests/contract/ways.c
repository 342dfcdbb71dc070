/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The ways to a device on which every contract runs. The Makefile makes a program
 * of each line with `.program`: here, and in a device's folder for its own ways.
 */
#include "tests/contract/internal.h"
#include "tests/lib/limit.h"

/* The kernel's ways, in an emulated machine. A case has a limit of its own. */
TEST_SECONDS(400);

const struct contract_way contract_ways[] = {
	{
		.program = "model",
		.name = "model",
		.bus = &bus_model,
	}, {
		.program = "recorded",
		.name = "recorded",
		.bus = &bus_recorded,
	}, {
		.program = "embedded_trap",
		.name = "embedded trap",
		.bus = &bus_trap,
		.transport = "embedded",
		.under_mimic_run = true,
	}, {
		.program = "embedded_library",
		.name = "embedded library",
		.bus = &bus_library,
		.transport = "embedded",
	}, {
		/* An access is a signal and a message. All of a sweep goes the two ways that have one of them. */
		.program = "daemon_trap",
		.name = "daemon trap",
		.bus = &bus_trap,
		.transport = "daemon",
		.under_mimic_run = true,
		.needs_daemon = true,
		.thins_sweeps = true,
		.may_post_stores = true,
	}, {
		.program = "daemon_library",
		.name = "daemon library",
		.bus = &bus_library,
		.transport = "daemon",
		.needs_daemon = true,
	}, {
		.program = "kernel_trap",
		.name = "kernel trap",
		.bus = &bus_trap,
		.transport = "kernel",
		.needs_node = true,
	}, {
		.program = "kernel_library",
		.name = "kernel library",
		.bus = &bus_library,
		.transport = "kernel",
		.needs_node = true,
	}, {
		/* Of a function of PCI, in a machine of make check-vm: stores are posted, and no load waits. */
		.program = "pci_trap",
		.name = "PCI trap",
		.bus = &bus_trap,
		.transport = "kernel",
		.thins_sweeps = true,
		.posts_stores = true,
		.repeats_loads = true,
		.needs_node = true,
	},
	{ 0 }
};
