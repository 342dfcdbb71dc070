/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The parameters of a modelled SoC: one list, from which presets, INI files, --set,
 * checks and the table of docs/timing-soc.md are made. Times are cycles.
 *
 * Presets: maple-fpga is the system of MAPLE's Figures 8 to 11, maple-sim the one of
 * Figures 12 to 15, dare that of DARE's paper: maple-fpga but for SIM_MPU_PRESET, virgo
 * that of Virgo's: maple-fpga but for SIM_CLUSTER_PRESET.
 * "assumption" in a source: the paper does not say.
 */
#ifndef MIMIC_SIM_PARAMETERS_H
#define MIMIC_SIM_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of presets: the default, and the other one. */
#define SIM_PRESET_DEFAULT "maple-fpga"
#define SIM_PRESET_OTHER "maple-sim"
#define SIM_PRESET_MPU "dare"
#define SIM_PRESET_CLUSTER "virgo"
/* Of the cluster: whose kernels products of a library are. */
#define SIM_DESIGNS "tc, tc-dma, virgo, virgo-dma or hopper"
#define SIM_PRESETS SIM_PRESET_DEFAULT ", " SIM_PRESET_OTHER ", " SIM_PRESET_MPU ", " SIM_PRESET_CLUSTER

#define SIM_CORES_MAX 64
#define SIM_DEVICES_MAX 64

/* _(section, key, maple-fpga, maple-sim, minimum, maximum, "meaning", "source") */
#define SIM_PARAMETERS(_) \
	_(core, count, 2, 2, 1, SIM_CORES_MAX, "cores", "Tables 2 and 3") \
	_(core, instruction, 1, 1, 0, 100, "cycles of an instruction between accesses; 0 is for a null model (docs/timing-figures.md)", \
	  "Tables 2 and 3: in order, single issue") \
	_(core, stall_on_use, 1, 0, 0, 1, "1: a core goes on behind a load until its next access; 0: loads block", \
	  "Table 2; assumption for maple-sim") \
	_(core, pipelined_hits, 1, 0, 0, 1, "1: the access behind a load that hits the L1 begins a cycle later; 0: when the load's data is there", \
	  "maple-fpga: Table 2: a pipeline; assumption: no instruction waits for the data of a hit; assumption for maple-sim") \
	_(core, branch_taken, 1, 0, 0, 100, "more, for a branch or jump that is taken as predicted", \
	  "assumption; maple-sim: none") \
	_(core, branch_missed, 5, 0, 0, 100, "more, for a branch that is predicted wrongly: the last one of each loop", \
	  "Table 2: six stages; assumption: known in the fifth, and all others are predicted rightly; assumption for maple-sim: none") \
	_(core, multiply, 1, 0, 0, 100, "more, for a multiplication of integers", \
	  "CVA6's source, multiplier.sv: its result is a register later; assumption: the next instruction needs it; assumption for maple-sim: none") \
	_(core, store_buffer, 8, 8, 1, 64, "stores that wait for the L1, or for the L1.5", \
	  "maple-fpga: CVA6's source, wt_cache_pkg.sv: a write buffer of 8 words; assumption for maple-sim: Table 3 has none") \
	_(core, store_merging, 1, 0, 0, 1, "1: a store into 8 bytes for which another one waits there takes no place of its own", \
	  "maple-fpga: CVA6's source, wt_dcache_wbuffer.sv; assumption for maple-sim") \
	_(core, store_misses, 1, 1, 1, 64, "store misses on their way at once", "assumption") \
	_(core, prefetches, 0, 1, 0, 64, "software prefetches on their way at once; 0: each is a load", \
	  "assumption; maple-fpga: Ariane has no prefetch instruction, and one load on its way; maple-sim: no figure uses it") \
	_(core, mmio_acknowledged, 1, 1, 0, 1, "1: a core waits until a device has acknowledged its store", \
	  "section 3.6: operations are synchronous; section 3.1: a store retires when it is acknowledged") \
	_(core, mmio_stores, 8, 8, 1, 64, "MMIO stores on their way, where the core does not wait (no preset; DeSC in the figures)", "assumption") \
	_(core, translation, 1, 1, 0, 1, "1: data accesses go through a TLB, with walks of the page table through the L1", "section 3.5") \
	_(core, tlb_entries, 16, 16, 2, 64, "fully associative, tree pseudo-LRU", "section 3.5; CVA6's source, tlb.sv") \
	_(l1, size, 8192, 8192, 64, 16777216, "bytes, each core", "Tables 2 and 3") \
	_(l1, ways, 4, 4, 1, 16, "associativity", "Tables 2 and 3") \
	_(l1, line, 16, 64, 8, 256, "bytes of a line", "assumption: neither table has it; 16 is OpenPiton's L1.5") \
	_(l1, latency, 2, 2, 1, 1000, "of a hit", "Tables 2 and 3") \
	_(l15, size, 8192, 0, 0, 16777216, "bytes of a private cache behind each L1, which holds its lines and is written back; the L1 is written through. 0: there is none, and the L1 is written back", \
	  "OpenPiton's documentation: 8 KB; its L1 is CVA6's write-through data cache; Table 3 has none") \
	_(l15, ways, 4, 4, 1, 16, "associativity; its lines are as long as those of the L1", "OpenPiton's documentation") \
	_(l15, latency, 2, 2, 1, 1000, "of a hit, behind the L1's miss; a store to a line that is there takes it, too", \
	  "assumption: as maple.walk_cache; l2.latency holds the way through it") \
	_(l2, size, 131072, 65536, 64, 1073741824, "bytes, shared", \
	  "Table 2: 64 KB a tile, and each of the two cores has a tile; Table 3: 64 KB") \
	_(l2, ways, 8, 8, 1, 16, "associativity", "Tables 2 and 3") \
	_(l2, line, 64, 64, 16, 256, "bytes of a line", "assumption: neither table has it; OpenPiton's L2 has 64") \
	_(l2, latency, 30, 30, 1, 10000, "of a hit, behind the L1's miss", "Tables 2 and 3") \
	_(l2, mshrs, 8, 8, 1, 256, "misses on their way at once", "assumption") \
	_(l2, forward, 30, 30, 0, 10000, "more, for a line that another L1 was given alone and may have written", "assumption") \
	_(dram, latency, 300, 300, 1, 100000, "behind the L2's miss", "Tables 2 and 3") \
	_(dram, gap, 4, 1, 1, 1000, "between two lines", \
	  "assumption for maple-fpga; Table 3: 68 GB/s, 64 bytes / 68 GB/s = 0.94 ns, a cycle at 1 GHz (its clock is an assumption: 2 at 2 GHz, 4 at 4 GHz)") \
	_(noc, width, 0, 0, 0, 16, "tiles in a row of the mesh: cores from tile 0 on, MAPLEs behind them; 0: each core is one hop from MAPLE", \
	  "assumption") \
	_(noc, hop, 1, 1, 0, 1000, "each hop to MAPLE and back, behind the first", "Figure 14") \
	_(maple, count, 1, 1, 1, SIM_DEVICES_MAX, "MAPLEs, from maple0 on: each has all that follows to itself", "section 5.3: threads share one") \
	_(maple, round_trip, 26, 26, 2, 10000, "core to MAPLE and back: 25 and a cycle for one hop, MAPLE's own pipe included", \
	  "Figure 14") \
	_(maple, store_interval, 3, 3, 1, 1000, "between stores that one queue accepts", "RTL, section E") \
	_(maple, pointer_interval, 2, 2, 1, 1000, "between loads of pointers that are issued", "RTL, section E") \
	_(maple, lima_interval, 3, 3, 1, 1000, "between LIMA words of one queue", "RTL, section E") \
	_(maple, queues, 8, 8, 1, 8, "queues", "section 5.4: 8 queues share 1 KB; assumption for maple-sim") \
	_(maple, queue_entries, 32, 32, 2, 1024, "words of 4 bytes a queue, of queues that a program opens with 32 (libmaple's default)", \
	  "section 5.3") \
	_(maple, queue_values, 0, 0, 0, 64, "values that a queue holds, of 4 or 8 bytes alike; 0: as many as its words; 2 is for a null model (docs/timing-figures.md)", \
	  "section 5.3: words are the limit") \
	_(maple, lima_chunks, 16, 16, 1, 64, "chunks of 64 bytes of B", "RTL, dcp.h") \
	_(maple, translation, 1, 1, 0, 1, "1: a TLB with blocking walks stands before memory", "section 3.5; RTL: a miss stops the pipe") \
	_(maple, tlb_entries, 16, 16, 2, 64, "fully associative", "sections 3.5 and 5.4") \
	_(maple, walk, 0, 0, 0, 10000, "of a page table walk, each of its three levels; 0: the cycles of its reads through the caches", \
	  "section 3.5: from the memory hierarchy") \
	_(maple, walk_cache, 2, 2, 0, 1000, "of a hit in the L1.5 of its tile, as large as a core's L1, which the walker reads through; 0: there is none, it reads in the L2", \
	  "RTL: it reads through the L1.5; latency and size: assumptions") \
	_(desc, enabled, 0, 0, 0, 1, "1: the device behind the queues is a DeSC", "section 5.2") \
	_(desc, queue_entries, 64, 64, 2, 64, "values", "Table 3") \
	_(desc, latency, 2, 2, 1, 1000, "core to queue and back", "assumption") \
	_(desc, terminal_loads, 32, 32, 1, 1024, "loads on their way", "assumption") \
	_(droplet, enabled, 0, 0, 0, 1, "1: DROPLET prefetches into the L2", "section 5.2") \
	_(droplet, lines, 4, 4, 1, 64, "lines of indices that it reads ahead", "assumption") \
	_(mpu, enabled, 0, 0, 0, 1, "1: the device is DARE's MPU, and its host's own instructions and accesses take no time; 0: it is MAPLE", \
	  "DARE, III-B: address arithmetic runs ahead; Table II: the host issues 8 instructions a cycle") \
	_(mpu, dispatch, 1, 1, 1, 16, "instructions that the host dispatches in a cycle", "assumption") \
	_(mpu, window, 4, 4, 1, 256, "oldest instructions of the queue of which any may issue that has no conflict", \
	  "assumption: DARE's Table II says out of order, IV-B the head only, which is 1") \
	_(mpu, issue, 2, 2, 1, 16, "instructions that issue in a cycle", "DARE, Table II") \
	_(mpu, forward, 0, 0, 0, 1, "1: an mma may follow another one on the same md as soon as the array is free", \
	  "assumption: no renaming, a plain scoreboard (DARE, IV-A)") \
	_(mpu, mcfg_entry, 0, 0, 0, 1, "1: mcfg takes an entry of the queue; 0: it executes at decode", \
	  "assumption: entries hold full instruction information (DARE, IV-C)") \
	_(mpu, oldest_first, 1, 1, 0, 1, "1: of loads that have issued the oldest in program order sends its rows first; 0: the one that issued first", \
	  "assumption, made when the first kernels had been run: with 0 a loop over tiles has two steady states (DARE's MPU, above)") \
	_(mpu, stores, 8, 8, 1, 64, "stores that have issued and whose rows are not all sent", "assumption: as many as matrix registers") \
	_(mpu, store_order, 0, 0, 0, 2, "rows of older loads that a stored row waits for until they are sent: 0: none; 1: those of its line; 2: all of those that have issued", \
	  "assumption: stores go to a port of their own (DARE, Table II)") \
	_(mpu, lq, 48, 48, 1, 256, "entries of the LQ: rows that are loaded or prefetched, until their answer", "DARE, Table II") \
	_(mpu, sq, 48, 48, 1, 256, "entries of the SQ: rows that are stored, until they are in the LLC", "DARE, Table II") \
	_(mpu, runahead, 1, 1, 0, 1, "1: the queue before issue is the RIQ, whose rows are prefetched; 0: it is as long as the window, and nothing is prefetched", \
	  "DARE, IV-C, V-A1") \
	_(mpu, riq, 32, 32, 1, 256, "entries of the RIQ", "DARE, V-F") \
	_(mpu, vmr, 16, 16, 0, 256, "entries of the VMR; 0 is for a null model: the addresses of an mgather are not followed", "DARE, V-F") \
	_(rfu, enabled, 1, 1, 0, 1, "1: a first row that is a hit suppresses the prefetch of the others", "DARE, IV-E") \
	_(rfu, dynamic, 1, 1, 0, 1, "1: the threshold is found anew with each latency; 0: it stays", "DARE, IV-E, V-E") \
	_(rfu, threshold, 64, 64, 0, 100000, "the threshold at the start; a longer latency is a miss", \
	  "DARE, V-E, of a static one; assumption for the start of a dynamic one") \
	_(rfu, window, 32, 32, 1, 256, "latest latencies that the histogram has", "DARE, IV-E") \
	_(rfu, bin, 8, 8, 1, 10000, "cycles of a bin; of 256 bins the last one has all that is longer", "DARE, IV-E") \
	_(rfu, peak, 20, 20, 1, 99, "percent of the window; a bin with more is a peak", "DARE, IV-E") \
	_(rfu, margin, 4, 4, 0, 255, "bins; only peaks that are further apart make a threshold", "DARE, IV-E") \
	_(rfu, slack, 32, 32, 0, 100000, "cycles from the lower edge of the emptiest bin between them to the threshold", \
	  "DARE, IV-E; assumption: the edge") \
	_(rfu, demand, 1, 1, 0, 1, "1: latencies of all loaded rows count; 0: of prefetched ones only", "assumption") \
	_(array, rows, 16, 16, 1, 16, "PEs in a column; a tile with more rows takes several passes", "DARE, Table II") \
	_(array, columns, 16, 16, 1, 16, "PEs in a row", "DARE, Table II") \
	_(array, drain, 16, 16, 0, 1000, "cycles behind K + M + N - 2 until the result of an mma is in its register", "assumption") \
	_(array, pipelined, 1, 1, 0, 1, "1: the next mma begins after max(K, M) cycles; 0: when the one before it is done", "assumption") \
	_(llc, size, 2097152, 2097152, 1024, 1073741824, "bytes, of the MPU's LLC", "DARE, Table II") \
	_(llc, ways, 16, 16, 1, 16, "associativity; a line has 64 bytes", "DARE, Table II") \
	_(llc, banks, 16, 16, 1, 64, "of which each takes a row a cycle where there are more ports", "DARE, Table II") \
	_(llc, latency, 20, 20, 1, 10000, "of a hit", "DARE, Table II") \
	_(llc, reads, 1, 1, 1, 64, "rows that the MPU reads a cycle", "assumption: DARE's Table II has 1 read and 1 write port, of all or of each bank") \
	_(llc, writes, 1, 1, 1, 64, "rows that it writes a cycle", "assumption, likewise") \
	_(llc, mshrs, 64, 64, 1, 256, "misses on their way at once", "assumption") \
	_(llc, demand_first, 0, 0, 0, 1, "1: demand goes before prefetches; 0: the one that did not go last goes first", \
	  "assumption: they contend like normal requests (DARE, II-C)") \
	_(llc, warm, 0, 0, 0, 1, "1: at the start it is full of the lines that the program accesses first in each set; 0: it is empty", \
	  "assumption: operands and address vectors come from memory") \
	_(llc, oracle, 0, 0, 0, 1, "1: every access is a hit", "DARE, V-D") \
	_(energy, read, 216000, 216000, 0, 1000000000, "fJ, of a row that the MPU reads from the LLC; a prefetch is one", \
	  "CACTI 7 for Table II's LLC: 28 nm, 2 MB, 16 ways, 16 banks, 1 read and 1 write port, cells lstp, periphery lop, sequential") \
	_(energy, write, 276000, 276000, 0, 1000000000, "fJ, of a row that it writes to the LLC", "CACTI 7, likewise") \
	_(energy, mma, 432000, 432000, 0, 1000000000, "fJ, of an mma, whatever its shape", "assumption: as two reads") \
	_(energy, mac, 2300, 2300, 0, 1000000000, "fJ, of a multiplication and an addition of two elements", \
	  "Horowitz, ISSCC 2014: fp32, 45 nm, 4.6 pJ; assumption: half of it at 28 nm") \
	_(energy, leakage, 0, 0, 0, 1000000000, "fJ, of a cycle in which the MPU is busy; 158000 is CACTI 7's leakage of the LLC (317 mW)", \
	  "assumption: DARE's V-A1 names no static power") \
	_(cluster, enabled, 0, 0, 0, 1, "1: the device is a Virgo cluster, and the program's threads stand for its warps", "Virgo, section 5.2") \
	_(cluster, design, 3, 3, 0, 4, "whose kernel a product of the library is: 0 tc, 1 tc-dma, 2 virgo, 3 virgo-dma, 4 hopper (--design)", \
	  "Virgo, section 5.1; hopper: its later version, second-hand") \
	_(cluster, cores, 4, 4, 1, 16, "SIMT cores", "Virgo, section 5.2; RadianceConfigs.scala") \
	_(cluster, warps, 8, 8, 1, 16, "warps of a core", "Virgo, section 5.2; RadianceConfigs.scala") \
	_(cluster, lanes, 8, 8, 4, 16, "threads of a warp", "Virgo, section 5.2; RadianceConfigs.scala") \
	_(cluster, barrier, 6, 6, 1, 1000, "from the last arrival at a barrier until all go on", "RTL, tile/Barrier; Vortex, VX_schedule") \
	_(simt, fetch, 6, 6, 1, 100, "between two instructions of a warp that are fetched; a core fetches one a cycle", \
	  "Vortex, VX_schedule and VX_fetch: scheduled, two buffers, I-cache 3, decoded") \
	_(simt, buffer, 32, 32, 1, 32, "decoded instructions of a warp", "Vortex, VX_config: IBUF_SIZE") \
	_(simt, operands, 3, 3, 1, 4, "from issue to the unit", "registers counted in Vortex") \
	_(simt, dispatch, 2, 2, 1, 16, "between two instructions that a warp gives one unit", "Vortex, VX_dispatch: a toggle buffer") \
	_(simt, alus, 2, 2, 1, 16, "ALUs of a core, which work for the warps of one group at a time", "Vortex, VX_config: NUM_ALU_BLOCKS") \
	_(simt, alu, 6, 6, 1, 1000, "from the ALU to the register", "registers counted in Vortex") \
	_(simt, fpu, 9, 9, 1, 1000, "from the FPU to the register", "registers counted in Vortex: FMA 4 inside") \
	_(simt, branch, 4, 4, 1, 1000, "from the unit that takes a branch or a CSR access until the warp is fetched again", \
	  "Vortex, VX_int_unit, VX_csr_unit") \
	_(tensor, latency, 5, 5, 1, 1000, "from the last micro-operation of a wmma to its registers", \
	  "Vortex, VX_tensor_dpu: 2 and more inside, 2 write-backs") \
	_(tensor, oldest, 1, 1, 0, 1, "1: of the warps with a micro-operation the first one goes first; 0: in turn", \
	  "assumption, made when the first kernels had been run: in turn, warps run in step, and bank conflicts cost tc-dma nothing (docs/timing-virgo.md)") \
	_(lsu, queue, 32, 32, 1, 64, "instructions that wait in a core's LSU", "Vortex, VX_mem_scheduler") \
	_(lsu, outstanding, 32, 32, 1, 64, "instructions whose answers are on their way", "Vortex, VX_mem_scheduler") \
	_(lsu, latency, 11, 11, 1, 1000, "of shared memory, from the head of the LSU to the register: 15 from issue", \
	  "registers counted in Vortex and Radiance: 15 to 16") \
	_(lsu, mmio, 12, 12, 0, 1000, "more, of an access of a unit's registers", "assumption; 30 changes results by 3 % at most (docs/timing-virgo.md)") \
	_(lsu, merged, 16, 16, 1, 64, "requests of the coalescer that are on their way", "Radiance, memory/Coalescing") \
	_(shared, size, 65536, 65536, 4096, 1048576, "bytes of shared memory", "Virgo, section 5.2; RadianceConfigs.scala") \
	_(shared, banks, 4, 4, 0, 16, "banks, each of which grants one reader and one writer a cycle", "RadianceConfigs.scala: numBanks") \
	_(shared, words, 8, 8, 1, 32, "sub-banks of a bank, each one word wide", "RadianceConfigs.scala: numWords") \
	_(shared, conflicts, 1, 1, 0, 1, "0 is for a null model: banks grant all", "Radiance, tile/RadianceCluster.scala") \
	_(shared, unaligned, 1, 1, 0, 64, "words a cycle of all cores whose lane is not their sub-bank, reads and writes apart; 0 is for a null model: any number", \
	  "Radiance, tile/RadianceCluster.scala") \
	_(dcache, enabled, 1, 1, 0, 1, "0 is for a null model: each load of memory is a miss", "Radiance, memory/VortexCache") \
	_(dcache, size, 16384, 16384, 1024, 1048576, "bytes of a core's L1, which is written through", "RadianceConfigs.scala") \
	_(dcache, ways, 4, 4, 1, 16, "associativity; lines are replaced in turn", "Radiance, memory/VortexCache; assumption: the order") \
	_(dcache, banks, 8, 8, 1, 16, "banks, each of which takes one access a cycle", "RadianceConfigs.scala: WithVortexL1Banks") \
	_(dcache, line, 32, 32, 16, 256, "bytes of a line", "Radiance, memory/VortexCache") \
	_(dcache, mshrs, 16, 16, 1, 64, "misses of a bank that are on their way", "Radiance, memory/VortexCache") \
	_(dcache, latency, 4, 4, 1, 1000, "of a hit, before lsu.latency", "assumption") \
	_(bus, beat, 32, 32, 8, 64, "bytes of a beat; a beat of requests and one of answers a cycle", "RadianceConfigs.scala: 256 bit") \
	_(bus, interval, 1, 1, 1, 100, "between two requests that the L2 takes", "assumption: the bus allows no more") \
	_(bus, latency, 45, 45, 1, 2000, "from a request on the bus to its data: a mean of L2 hits and misses", \
	  "assumption, made before the first run of the study; 60 is the value fitted to Table 2") \
	_(dma, request, 64, 64, 8, 1024, "bytes of a DMA request", "Gemmini, DMA.scala; ConfigsFP: max_block_len") \
	_(dma, outstanding, 16, 16, 1, 64, "requests that are on their way, of a unit", "Gemmini, ConfigsFP: max_in_flight") \
	_(matrix, units, 1, 1, 1, 8, "matrix units, from unit 0 on", "Virgo, section 5.2; 2 in its heterogeneous cluster") \
	_(matrix, type, 2, 2, 0, 2, "elements of programs that give commands: 0 int8, 1 fp16, 2 fp32; kernels of products are fp32", "Virgo, section 5.2") \
	_(matrix, queue, 16, 16, 4, 64, "commands that are not over; a store of one more waits", "assumption, as the functional model's") \
	_(matrix, synchronous, 0, 0, 0, 1, "1: a command is over before its store is acknowledged", "mimic run --synchronous has the same; no source") \
	_(matrix, dim, 8, 8, 4, 32, "rows and columns of the array", "Virgo, section 5.2") \
	_(matrix, dim_others, 4, 4, 4, 32, "the same of the units behind unit 0", "RadianceConfigs.scala: RadianceBigLittleClusterConfig") \
	_(matrix, accumulator, 16384, 16384, 1024, 1048576, "bytes", "Virgo, section 5.2; ConfigsFP") \
	_(matrix, tile_m, 64, 64, 4, 1024, "rows of a tile of C", "Virgo, section 5.2: 64 x 64 x 64") \
	_(matrix, tile_n, 64, 64, 4, 1024, "columns of it", "Virgo, section 5.2") \
	_(matrix, tile_k, 64, 64, 4, 1024, "depth of a step", "Virgo, section 5.2") \
	_(matrix, fill, 18, 18, 1, 1000, "from a command to the first row", "registers counted in Gemmini and Radiance; 20 more or less: below 1 %") \
	_(matrix, drain, 28, 28, 1, 1000, "from the last row until the unit is not busy", "registers counted in Gemmini and Radiance") \
	_(matrix, move, 1, 1, 1, 100, "for a row of the accumulator on its way to shared memory", "Gemmini, csrw 9") \
	_(matrix, loops, 2, 2, 1, 16, "loops that the unroller holds", "Gemmini, LoopMatmul") \
	_(kernel, reloads, 1, 1, 0, 1, "0 is for a null model: the kernel of virgo spills no registers", "Virgo's kernel, compiled (clang 14, -O3)") \
	_(kernel, double_buffer, 1, 1, 0, 1, "0: with DMA, a step's operands are loaded when the step before it is multiplied", "Virgo's kernels") \
	_(kernel, warps_store, 0, 0, 0, 1, "1: C of virgo-dma goes to memory by way of shared memory and the warps", "the kernel of two units; assumption: 0") \
	_(kernel, swish, 0, 0, 0, 1000, "FPU instructions of an activation for each element; 0: 20, as the library has", \
	  "assumption: Virgo, section 6.2, does not say") \
	_(joule, instruction, 63000, 63000, 0, 1000000000, "fJ, of an instruction of a warp: fetch, decode, control", \
	  "Horowitz, ISSCC 2014, 45 nm: 25 of the I-cache, 38 of control") \
	_(joule, lane, 6000, 6000, 0, 1000000000, "fJ, of a lane of an instruction or micro-operation: registers", "Horowitz, ISSCC 2014") \
	_(joule, micro_op, 20000, 20000, 0, 1000000000, "fJ, of a micro-operation that is issued", "assumption") \
	_(joule, core_factor, 100, 100, 0, 100000, "percent of these three; 265 is fitted to V17", "assumption: 100, nothing fitted") \
	_(joule, mac, 4600, 4600, 0, 1000000000, "fJ, of an fp32 multiplication and addition", "Horowitz, ISSCC 2014: 3.7 and 0.9 pJ") \
	_(joule, array_mac, 1000, 1000, 0, 1000000000, "fJ, of the array's registers, for each of its MACs", "assumption") \
	_(joule, tensor_mac, 1000, 1000, 0, 1000000000, "fJ, of a tensor core's operand queues, likewise", "assumption") \
	_(joule, shared_word, 2500, 2500, 0, 1000000000, "fJ, of a word of shared memory", "Horowitz, ISSCC 2014, scaled from 8 KB; assumption: how") \
	_(joule, crossbar_word, 1000, 1000, 0, 1000000000, "fJ more, of a word that is not aligned", "assumption") \
	_(joule, accumulator_row, 56000, 56000, 0, 1000000000, "fJ, of a row of an accumulator", "Horowitz, ISSCC 2014, scaled to 16 KB of 256 bit; assumption: how") \
	_(joule, l1, 40000, 40000, 0, 1000000000, "fJ, of an access of an L1", "Horowitz, ISSCC 2014, scaled") \
	_(joule, l2, 280000, 280000, 0, 1000000000, "fJ, of a request of the L2", "Horowitz, ISSCC 2014, scaled")

/* The values that are different in the preset dare. _(section, key, value) */
#define SIM_MPU_PRESET(_) \
	_(core, count, 1) \
	_(core, instruction, 0) \
	_(core, branch_taken, 0) \
	_(core, branch_missed, 0) \
	_(core, multiply, 0) \
	_(dram, latency, 90) \
	_(dram, gap, 2) \
	_(mpu, enabled, 1)

/* Likewise, in the preset virgo. */
#define SIM_CLUSTER_PRESET(_) \
	_(core, count, 32) \
	_(core, instruction, 6) \
	_(core, translation, 0) \
	_(core, branch_taken, 0) \
	_(core, branch_missed, 0) \
	_(core, multiply, 4) \
	_(core, mmio_acknowledged, 0) \
	_(l1, size, 16384) \
	_(l1, line, 32) \
	_(l1, latency, 15) \
	_(l15, size, 0) \
	_(l2, size, 524288) \
	_(l2, latency, 45) \
	_(dram, latency, 45) \
	_(cluster, enabled, 1)

struct sim_parameters {
#define _(section, key, ...) uint64_t section##_##key;
	SIM_PARAMETERS(_)
#undef _
};

struct sim_parameter_description {
	const char *section, *key;
	uint64_t fpga, sim, minimum, maximum;
	const char *meaning, *source;
	size_t offset;		/* in struct sim_parameters */
};

/* As many as there are; a row with section NULL ends it. */
extern const struct sim_parameter_description sim_parameter_descriptions[];

/* All take a buffer for the text of an error and its place. They return 0, -EINVAL or -errno of a file. */

/* "maple-fpga", "maple-sim", "dare", "virgo", or the path of an INI file: `preset = NAME` above its sections names its base. */
int sim_parameters_load(struct sim_parameters *parameters, const char *name, char *why, size_t size);
/* DARE's hardware as it is called: "base", "nvr", "fre", "static" or "oracle" (docs/timing-dare.md). */
int sim_parameters_mode(struct sim_parameters *parameters, const char *name, char *why, size_t size);
/* Virgo's designs as they are called: "tc", "tc-dma", "virgo", "virgo-dma" or "hopper" (docs/timing-virgo.md). */
int sim_parameters_design(struct sim_parameters *parameters, const char *name, char *why, size_t size);
/* "section.key=value"; K and M behind a number: times 1024 and 1048576. */
int sim_parameters_set(struct sim_parameters *parameters, const char *assignment, char *why, size_t size);
/* By its names; 0: there is none. */
uint64_t sim_parameters_get(const struct sim_parameters *parameters, const char *section, const char *key);

/* How many devices the SoC has. */
unsigned int sim_parameters_devices(const struct sim_parameters *parameters);
/* The way between a core and a device and back. */
struct sim_way {
	uint64_t cycles;	/* of the first hop, the device's own pipe included */
	uint64_t load_pipe, store_pipe;		/* of these, the cycles that the device counts itself */
	bool has_hops;		/* further ones come on top */
	bool is_none;		/* the device is a part of the core: operations are dispatched, and wait only for the device */
};
struct sim_way sim_parameters_way(const struct sim_parameters *parameters);
/* Extra cycles of these instructions: branches and jumps taken, branches predicted wrongly, multiplications. */
uint64_t sim_parameters_pipeline(const struct sim_parameters *parameters, uint64_t taken, uint64_t missed,
				 uint64_t multiplies);
/* Cycles of a hit in the cache before the device's page walker; 0: it has none. */
uint64_t sim_parameters_walk_cache(const struct sim_parameters *parameters);
/* Do they fit each other? The text names the keys. */
int sim_parameters_check(const struct sim_parameters *parameters, char *why, size_t size);

#endif
