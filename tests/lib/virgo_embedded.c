/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_embedded.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define ONE (0x3f800000ull << 32)

const struct mimic_options cluster_options = {
	.transport = MIMIC_TRANSPORT_EMBEDDED,
	.devices = "virgo:2, maple:1",
};
struct mimic_device *cluster;
static struct sigaction fault_actions[2];

void cluster_restore_handlers(void)
{
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
}

int cluster_run_tests(const char *name, const struct CMUnitTest *tests, size_t count)
{
	/* The first open installs them. */
	if (cluster_open(NULL))
		return 1;
	cluster_close(NULL);
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
	return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

int cluster_open(void **state)
{
	(void)state;
	return mimic_device_open(&cluster, "virgo0", &cluster_options);
}

int cluster_close(void **state)
{
	(void)state;
	mimic_device_close(cluster);
	return 0;
}

static void require(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %d\n", what, error);
	abort();
}

uint64_t cluster_load(struct mimic_device *device, unsigned int page, unsigned int offset)
{
	struct mimic_access access = { .page = (uint8_t)page, .offset = offset, .size = 8 };

	require(mimic_device_access(device, &access), "load");
	return access.data;
}

void cluster_store(struct mimic_device *device, unsigned int page, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.page = (uint8_t)page, .offset = offset, .size = 8, .is_write = 1, .data = value,
	};

	require(mimic_device_access(device, &access), "store");
}

uint64_t unit_load(struct mimic_device *device, unsigned int unit, unsigned int offset)
{
	return cluster_load(device, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + offset);
}

void unit_store(struct mimic_device *device, unsigned int unit, unsigned int offset, uint64_t value)
{
	cluster_store(device, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + offset, value);
}

void unit_command(struct mimic_device *device, unsigned int unit, unsigned int funct, uint64_t rs1,
		  uint64_t rs2)
{
	const struct mimic_access stream = {
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(unit, STREAM), .size = 8, .is_write = 1,
	};
	const uint64_t words[] = { rs1, rs2, VIRGO_INSTRUCTION_WORD(funct) };

	require(mimic_device_post(device, &stream, words, 3) != 3, "post");
}

void unit_fence(struct mimic_device *device, unsigned int unit)
{
	unit_load(device, unit, VIRGO_FENCE);
	require((int)unit_load(device, unit, VIRGO_ERROR), "error of a unit");
}

unsigned char *cluster_memory(struct mimic_device *device, size_t *size)
{
	size_t ignored;
	void *memory;

	require(mimic_device_memory(device, &memory, size ? size : &ignored), "memory");
	return memory;
}

static uint64_t local(uint32_t row, unsigned int rows)
{
	return (uint64_t)rows << 48 | 8ull << 32 | row;
}

void unit_configure(struct mimic_device *device)
{
	unit_command(device, UNIT_FP32, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_LD | ONE, ROW_BYTES);
	unit_command(device, UNIT_FP32, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ROW_BYTES | ONE);
}

void unit_move_in(struct mimic_device *device, const void *from, uint32_t row, unsigned int rows)
{
	unit_command(device, UNIT_FP32, VIRGO_FUNCT_MVIN, (uint64_t)(uintptr_t)from, local(row, rows));
}

void unit_move_out(struct mimic_device *device, void *to, uint32_t row, unsigned int rows)
{
	unit_command(device, UNIT_FP32, VIRGO_FUNCT_MVOUT, (uint64_t)(uintptr_t)to, local(row, rows));
}

void unit_work(struct mimic_device *device, unsigned int unit, unsigned int count)
{
	const uint64_t blocks = 64 / (unit_load(device, unit, VIRGO_IDENTIFY) & 0xff);

	unit_command(device, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_EX | 1 << 2 | 1 << 16 | ONE, 1ull << 48);
	unit_command(device, unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, blocks << 32 | blocks << 16 | blocks);
	for (unsigned int i = 0; i < count; i++)
		unit_command(device, unit, VIRGO_FUNCT_LOOP_WS, VIRGO_LOOP_ACCUMULATE, VIRGO_LOOP_COMPUTE);
}
