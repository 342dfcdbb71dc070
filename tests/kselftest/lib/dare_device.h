/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A context of a DARE by plain loads and stores.
 * Instruction words are put together here from docs/dare-isa.md's table.
 */
#ifndef MIMIC_TESTS_DARE_DEVICE_H
#define MIMIC_TESTS_DARE_DEVICE_H

#include <stdint.h>

#include "mimic/dare_ioctl.h"
#include "mimic/dare_isa.h"
#include "mimic/dare_registers.h"
#include "tests/kselftest/lib/on_pci.h"

struct dare_node {
	int fd;
	volatile char *page;
};

/* Opens and maps it. 0 or -errno. */
int dare_node_open(struct dare_node *node, const char *path);
void dare_node_close(struct dare_node *node);
/* Of the node: all 1s where the call failed. */
struct dare_info dare_node_info(int fd);

static inline volatile uint64_t *dare_register(const struct dare_node *node, unsigned int offset)
{
	return (volatile uint64_t *)(node->page + offset);
}

static inline uint64_t dare_get(const struct dare_node *node, unsigned int offset)
{
	return load_when_ready(dare_register(node, offset));
}

static inline void dare_put(const struct dare_node *node, unsigned int offset, uint64_t value)
{
	*dare_register(node, offset) = value;
}

static inline uint64_t dare_count(const struct dare_node *node, enum dare_counter counter)
{
	return dare_get(node, DARE_COUNTER_OFFSET + 8 * counter);
}

/* One instruction, with the values of its two source registers. */
static inline void dare_dispatch(const struct dare_node *node, uint32_t word, uint64_t rs1, uint64_t rs2)
{
	dare_put(node, DARE_RS1, rs1);
	dare_put(node, DARE_RS2, rs2);
	dare_put(node, DARE_INSTRUCTION, word);
}

/* mld.b md, (a0), a1 and mst.b ms3, (a0), a1; mcfg a0, a1. */
#define DARE_WORD_MLD_B(md) (0x0400002bu | 11u << 20 | 10u << 15 | (uint32_t)(md) << 7)
#define DARE_WORD_MST_B(ms3) (0x0c00002bu | 11u << 20 | 10u << 15 | (uint32_t)(ms3) << 7)
#define DARE_WORD_MCFG (0xfe00002bu | 11u << 20 | 10u << 15)

/* Rows of tiles from now on. */
void dare_shape(const struct dare_node *node, unsigned int rows, unsigned int bytes);
/* Loads or stores a tile and waits for it. FENCE's answer. */
uint64_t dare_load(const struct dare_node *node, unsigned int md, const volatile void *address,
		   uint64_t stride);
uint64_t dare_store(const struct dare_node *node, unsigned int ms3, volatile void *address,
		    uint64_t stride);
/*
 * The first 8 bytes at `address`, as the device reads them: it loads them, and stores them to a
 * place of ours. The shape is 1 row of 8 bytes.
 */
uint64_t dare_see(const struct dare_node *node, const volatile void *address);

#endif
