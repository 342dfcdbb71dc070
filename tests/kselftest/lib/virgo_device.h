/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A cluster by plain loads and stores. Its configuration is the default one: unit 0
 * fp32 of 8 x 8, unit 1 fp32 of 4 x 4, unit 2 int8 and unit 3 fp16 of 16 x 16, and 128 KB
 * of shared memory. Commands are put together here from docs/virgo.md.
 */
#ifndef MIMIC_TESTS_VIRGO_DEVICE_H
#define MIMIC_TESTS_VIRGO_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "mimic/virgo_commands.h"
#include "mimic/virgo_ioctl.h"
#include "mimic/virgo_registers.h"
#include "tests/kselftest/lib/on_pci.h"

#define VIRGO_TEST_SHARED (128u << 10)
#define VIRGO_TEST_UNITS 4u

struct virgo_node {
	int fd;
	volatile char *pages;		/* of registers; NULL: not mapped */
	volatile unsigned char *shared;	/* NULL: not mapped */
};

/* Opens and maps it. 0 or -errno. */
int virgo_node_open(struct virgo_node *node, const char *path);
void virgo_node_close(struct virgo_node *node);
/* Of the node: all 1s where the call failed. */
struct virgo_info virgo_node_info(int fd);
/* 0 or -errno. */
int virgo_node_eventfd(int fd, int event, uint64_t events);

static inline uint64_t virgo_get(const struct virgo_node *node, unsigned int offset)
{
	return load_when_ready((const volatile uint64_t *)(node->pages + offset));
}

static inline void virgo_put(const struct virgo_node *node, unsigned int offset, uint64_t value)
{
	*(volatile uint64_t *)(node->pages + offset) = value;
}

/* Where a unit's register lies in the file. */
#define VIRGO_UNIT(unit, name) (4096u * VIRGO_PAGE_UNITS + VIRGO_UNIT_OFFSET(unit, name))

static inline uint64_t virgo_fence(const struct virgo_node *node, unsigned int unit)
{
	return virgo_get(node, VIRGO_UNIT(unit, FENCE));
}

static inline uint64_t virgo_error(const struct virgo_node *node, unsigned int unit)
{
	return virgo_get(node, VIRGO_UNIT(unit, ERROR));
}

/* A counter of one unit. */
uint64_t virgo_count(const struct virgo_node *node, unsigned int unit, enum virgo_counter counter);

/* One command; it is not waited for. */
void virgo_command(const struct virgo_node *node, unsigned int unit, unsigned int funct, uint64_t rs1,
		   uint64_t rs2);
/* Bytes from row to row of moves in and out; values stay as they are. */
void virgo_strides(const struct virgo_node *node, unsigned int unit, uint32_t in, uint32_t out);
/* Bytes of a row of the scratchpad, as the unit has it. */
unsigned int virgo_row_bytes(unsigned int unit);
/* Whole rows between memory and rows of the scratchpad from `row` on; not waited for. */
void virgo_move_in(const struct virgo_node *node, unsigned int unit, const volatile void *address,
		   unsigned int row, unsigned int rows);
void virgo_move_out(const struct virgo_node *node, unsigned int unit, volatile void *address,
		    unsigned int row, unsigned int rows);
/* The first 8 bytes at `address`, as the unit reads them into its row 0. */
uint64_t virgo_see(const struct virgo_node *node, unsigned int unit, const volatile void *address);

#endif
