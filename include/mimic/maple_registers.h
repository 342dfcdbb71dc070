/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registers of MAPLE: pages, operation codes, counters, each listed once.
 *
 * An address in a page is  [11:9] queue (or sub-operation, or size code),
 * [8:3] operation code, [2:0] ignored (MAPLE paper, section 3.6; the artifact's
 * DCP_OPCODE and DCP_FIFO_LEN fields).
 */
#ifndef MIMIC_MAPLE_REGISTERS_H
#define MIMIC_MAPLE_REGISTERS_H

/* Of the device as a PCI function (mimic/pci.h). */
#define MAPLE_PCI_DEVICE 0xbc7b

#define MAPLE_OPERATION_SHIFT 3
#define MAPLE_QUEUE_SHIFT 9
#define MAPLE_OFFSET(operation, queue) \
	(((unsigned int)(operation) << MAPLE_OPERATION_SHIFT) | ((unsigned int)(queue) << MAPLE_QUEUE_SHIFT))

/* The meanings of [11:9]. */
#define MAPLE_OFFSET_QUEUES 8

/* Physical address of the MAPLE page of tile (x, y): base | x << 28 | y << 24. */
#define MAPLE_PHYSICAL_BASE 0xe100800000ull
#define MAPLE_PHYSICAL_PAGE_SHIFT 20
#define MAPLE_PHYSICAL_TILES 64

/* _(number = address bits [22:20] less 8, name, meaning) */
#define MAPLE_PAGES(_) \
	_(0, MAPLE, "operations and configuration") \
	_(1, SPD, "decodes as the custom accelerator page") \
	_(2, MMU, "TLB, faults, translation; configuration too, but no produce or consume") \
	_(3, CUSTOM, "custom accelerator: command and response FIFOs") \
	_(4, NIBBLER, "nothing: loads give 0, stores are dropped")

enum maple_page {
#define _(number, name, meaning) MAPLE_PAGE_##name = number,
	MAPLE_PAGES(_)
#undef _
	MAPLE_PAGE_COUNT
};

/*
 * _(code, name, role, shows, meaning); loads. The role is the one between the device and its
 * driver (devices/register.h). `shows` is the part of the device's state that [11:9] selects: nothing
 * (VALUE, or MMU_VALUE: of the MMU page only), a queue, or a field.
 */
#define MAPLE_LOADS(_) \
	_(0, INIT, NONE, VALUE, "allocate queues; [11:9] is the size code") \
	_(1, RESET, RESET, VALUE, "drop queues, roles, bases, counters; flush the TLB") \
	_(2, OPEN_PRODUCER, NONE, QUEUES, "take the producer role of a queue") \
	_(3, OPEN_CONSUMER, NONE, QUEUES, "take the consumer role of a queue") \
	_(4, CLOSE_PRODUCER, NONE, QUEUES, "give the producer role back") \
	_(5, CLOSE_CONSUMER, NONE, QUEUES, "give the consumer role back") \
	_(6, FIFO_ADD, NONE, VALUE, "add one queue; [11:9] is the size code") \
	_(7, CONSUME, NONE, QUEUES, "pop one word (4-byte access) or two (8-byte access)") \
	_(9, FIFO_CLEAR, NONE, QUEUES, "delete a queue") \
	_(12, STATISTICS, NONE, QUEUES, "next of four statistics words") \
	_(13, DEBUG, FAULT, FIELDS, "MAPLE page: debug word [11:9]; MMU page: flush, fault, snoop")

/* The same; loads that only the paper profile has */
#define MAPLE_EXTENSION_LOADS(_) \
	_(16, IDENTIFY, IDENTIFY, VALUE, "magic, version, queues and words of this device") \
	_(17, QUEUE_STATE, NONE, QUEUES, "level, size, roles and LIMA backlog of a queue") \
	_(18, FAULT_ADDRESS, NONE, VALUE, "whole address of the last fault, 0 if none") \
	_(19, FAULT_COUNT, FAULT_COUNT, VALUE, "faults since reset that no driver could resolve") \
	_(20, FAULT_STATUS, FAULT, MMU_VALUE, "MMU page only: the fault load with its details, for a driver")

/*
 * _(code, name, role, sort, meaning); stores. Sorts: QUEUE makes an entry of the queue [11:9], or
 * works in its order; LOOP is a loop of it; TILE sets the tile's A; BASE and QUEUE_LIMA set
 * pointers of the queue; MMU is of the MMU page.
 */
#define MAPLE_STORES(_) \
	_(8, PRODUCE, NONE, QUEUE, "push one word (4-byte access) or two, low word first") \
	_(10, POINTER32, NONE, QUEUE, "fetch 4 bytes at base + index from DRAM") \
	_(11, POINTER64, NONE, QUEUE, "fetch 8 bytes at base + index from DRAM") \
	_(14, LOOP, NONE, LOOP, "LIMA: begin << 32 | end, with the tile's A and queue 0's B") \
	_(15, MMU, RESOLVE, MMU, "MMU page only: translation off, root, resolve, install") \
	_(32, ATOMIC_ADD, NONE, QUEUE, "fetch and add") \
	_(33, ATOMIC_AND, NONE, QUEUE, "fetch and and") \
	_(34, ATOMIC_OR, NONE, QUEUE, "fetch and or") \
	_(35, ATOMIC_XOR, NONE, QUEUE, "fetch and xor") \
	_(36, ATOMIC_MAX, NONE, QUEUE, "fetch and signed maximum") \
	_(37, ATOMIC_MAXU, NONE, QUEUE, "fetch and unsigned maximum") \
	_(38, ATOMIC_MIN, NONE, QUEUE, "fetch and signed minimum") \
	_(39, ATOMIC_MINU, NONE, QUEUE, "fetch and unsigned minimum") \
	_(40, ATOMIC_SWAP, NONE, QUEUE, "fetch and store") \
	_(41, CAS1, NONE, QUEUE, "desired << 32 | expected for the CAS2 that follows") \
	_(42, CAS2, NONE, QUEUE, "compare and swap: index << 32 | desired16 << 16 | expected16") \
	_(43, PREFETCH, NONE, QUEUE, "bring base + index into the LLC; no queue entry") \
	_(44, LLC_POINTER32, NONE, QUEUE, "fetch 4 bytes through the LLC (coherent)") \
	_(45, LLC_POINTER64, NONE, QUEUE, "fetch 8 bytes through the LLC (coherent)") \
	_(48, LIMA_POINTER32, NONE, TILE, "LIMA: A, results by POINTER32") \
	_(49, LIMA_POINTER64, NONE, TILE, "LIMA: A, results by POINTER64") \
	_(50, LIMA_PRODUCE, NONE, TILE, "LIMA: push B[i] itself") \
	_(51, LIMA_PRODUCE_2, NONE, TILE, "the same as LIMA_PRODUCE") \
	_(52, LIMA_LLC_POINTER32, NONE, TILE, "LIMA: A, results by LLC_POINTER32") \
	_(53, LIMA_LLC_POINTER64, NONE, TILE, "LIMA: A, results by LLC_POINTER64") \
	_(54, LIMA_PREFETCH, NONE, TILE, "LIMA: A, prefetch A + 8 * B[i] into the LLC") \
	_(57, SET_BASE32, NONE, BASE, "base pointer of a queue, indices count 4 bytes") \
	_(58, SET_BASE64, NONE, BASE, "base pointer of a queue, indices count 8 bytes")

/* The same; stores that only the paper profile has */
#define MAPLE_EXTENSION_STORES(_) \
	_(16, FULL_POINTER32, NONE, QUEUE, "fetch 4 bytes at a whole 64-bit pointer from DRAM") \
	_(17, FULL_POINTER64, NONE, QUEUE, "fetch 8 bytes at a whole 64-bit pointer from DRAM") \
	_(18, FULL_LLC_POINTER32, NONE, QUEUE, "fetch 4 bytes at a whole pointer through the LLC") \
	_(19, FULL_LLC_POINTER64, NONE, QUEUE, "fetch 8 bytes at a whole pointer through the LLC") \
	_(20, FULL_PREFETCH, NONE, QUEUE, "bring a whole pointer into the LLC; no queue entry") \
	_(21, QUEUE_LIMA_A, NONE, QUEUE_LIMA, "LIMA: A of this queue (0: push B[i] itself)") \
	_(22, QUEUE_LIMA_B, NONE, QUEUE_LIMA, "LIMA: B of this queue") \
	_(24, QUEUE_LOOP_POINTER32, NONE, LOOP, "LIMA of this queue: begin << 32 | end, 4-byte A from DRAM") \
	_(25, QUEUE_LOOP_POINTER64, NONE, LOOP, "the same, 8-byte A") \
	_(26, QUEUE_LOOP_LLC_POINTER32, NONE, LOOP, "the same, 4-byte A through the LLC") \
	_(27, QUEUE_LOOP_LLC_POINTER64, NONE, LOOP, "the same, 8-byte A through the LLC") \
	_(28, QUEUE_LOOP_PREFETCH32, NONE, LOOP, "prefetch A + 4 * B[i] into the LLC") \
	_(29, QUEUE_LOOP_PREFETCH64, NONE, LOOP, "prefetch A + 8 * B[i] into the LLC")

enum maple_load {
#define _(code, name, role, shows, meaning) MAPLE_LOAD_##name = code,
	MAPLE_LOADS(_)
	MAPLE_EXTENSION_LOADS(_)
#undef _
};

enum maple_store {
#define _(code, name, role, sort, meaning) MAPLE_STORE_##name = code,
	MAPLE_STORES(_)
	MAPLE_EXTENSION_STORES(_)
#undef _
};

/* IDENTIFY: magic [63:32], version [31:24], queues [23:16], scratchpad words [15:0]. */
#define MAPLE_IDENTIFY_MAGIC 0x4d41504cull
#define MAPLE_IDENTIFY_VERSION 1

/* Words of a queue for the eight size codes of INIT and FIFO_ADD. */
#define MAPLE_SIZE_CODES { 8, 16, 32, 48, 64, 80, 96, 128 }

/* DEBUG on the MMU page, by [11:9]. */
enum maple_mmu_load { MAPLE_MMU_FLUSH = 0, MAPLE_MMU_FAULT = 1, MAPLE_MMU_SNOOP = 2 };
/* MMU store, by [11:9]. */
enum maple_mmu_store { MAPLE_MMU_OFF = 0, MAPLE_MMU_ROOT = 1, MAPLE_MMU_RESOLVE = 2, MAPLE_MMU_INSTALL = 6 };
/* The part of the device that had the fault: bits [1:0] of the fault word. */
enum maple_fault_source { MAPLE_FAULT_PIPES = 1, MAPLE_FAULT_LIMA = 2 };
/*
 * FAULT_STATUS has these too: the access writes (an atomic); the source is
 * stalled and waits for RESOLVE. Without the second bit it is the value of FAULT for a
 * program, and nothing waits.
 */
#define MAPLE_FAULT_WRITES 4u
#define MAPLE_FAULT_STALLED 8u
/*
 * In the payload of RESOLVE, paper profile: the page is there now. If the walk
 * fails all the same (it has gone again), that is a new fault; without this bit
 * the address is bad and reads 0.
 */
#define MAPLE_RESOLVE_PRESENT 4u

/* _(name, meaning): the device's own counters, cleared by power-on only */
#define MAPLE_COUNTERS(_) \
	_(produced, "words pushed into queues") \
	_(consumed, "words popped from queues") \
	_(fetched, "memory fetches for queue entries") \
	_(prefetched, "prefetches sent to the LLC") \
	_(atomics, "atomic operations done") \
	_(lima_loops, "loops accepted") \
	_(lima_dropped, "loops dropped (artifact profile)") \
	_(lima_chunks, "64-byte chunks of B read") \
	_(tlb_hits, "translations found in the TLB") \
	_(tlb_misses, "translations that walked the page table") \
	_(faults, "addresses that could not be translated or read") \
	_(shootdowns, "TLB flushes and invalidations") \
	_(store_waits, "stores that had to wait") \
	_(load_waits, "loads that had to wait") \
	_(illegal, "accesses that the contract answers with 0 or drops") \
	_(hangs, "operations that hang the artifact's RTL") \
	_(page_faults, "faults that a driver was asked to resolve") \
	_(resolves, "of these, the ones that it resolved")

enum maple_counter {
#define _(name, meaning) MAPLE_COUNTER_##name,
	MAPLE_COUNTERS(_)
#undef _
	MAPLE_COUNTER_COUNT
};

#endif
