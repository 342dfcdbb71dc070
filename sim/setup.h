/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The file that `mimic sim` and the program share: parameters, costs and the places of
 * code that they belong to go in, counters come out. MIMIC_SIM names it.
 *
 * The command reads debugging information and the program does not: so memory for it
 * cannot move the program's own data.
 */
#ifndef MIMIC_SIM_SETUP_H
#define MIMIC_SIM_SETUP_H

#include <stdatomic.h>
#include <stdint.h>

#include "devices/kind.h"
#include "sim/parameters.h"
#include "sim/soc.h"

#define SIM_SETUP_MAGIC 0x6d697363696d696dull	/* "mimicsim" */
#define SIM_SETUP_VERSION 9
#define SIM_CORES SIM_CORES_MAX
#define SIM_DEVICES SIM_DEVICES_MAX
#define SIM_PHASES 64
#define SIM_PHASE_NAME 64
#define SIM_NO_FUNCTION UINT32_MAX

/* Version of the report's JSON (docs/sim-json.md): raised when a field is removed or changes its meaning. */
#define SIM_SCHEMA 1

/* The cost of an access that is in no table: instructions, itself included. An assumption. */
#define SIM_DEFAULT_INSTRUCTIONS 3

/* A file with code that has hooks. The first is the program, the others are shared libraries. */
struct sim_object {
	uint64_t path;		/* offset of its text in the file, as the loader names it; of the program: "" */
	uint64_t first_place, place_count;
};

/* Code from `begin`, an address in the object's file, to the next one's. Sorted, for each object. */
struct sim_place {
	uint64_t begin;
	uint32_t function;	/* SIM_NO_FUNCTION: none */
	uint32_t loop;		/* 0: no table has it */
	uint32_t source;	/* then: the source file */
};

/* A source file with code that no table has. Number 0 is all code without a known source. */
struct sim_source {
	uint64_t name;		/* offset of its text in the file */
	uint64_t uncosted;	/* out: accesses of that code */
};

/* A loop of a cost table. Number 0 is all code that the tables do not have. */
struct sim_loop {
	uint64_t instructions;	/* of an iteration, those of accesses included */
	uint64_t accesses;	/* of an iteration: loads, stores, prefetches, MMIO */
	uint64_t mmio;		/* of these, MMIO operations */
	/* Of the instructions: branches and jumps taken, branches predicted wrongly, multiplications */
	uint64_t taken, missed, multiplies;
};

struct sim_function {
	uint64_t name;		/* offset of its text in the file */
	/* The loop of MMIO operations that follow no access of a loop with MMIO; 0: no table has it. */
	uint32_t mmio_loop;
	uint32_t entry_instructions;	/* of a call, where nothing else can carry them */
	uint32_t source;
};

enum sim_end {
	SIM_NEVER_BEGAN,	/* no program took the file */
	SIM_BEGAN,		/* and did not come to its end: _exit(), a signal */
	SIM_ENDED,
	SIM_DEADLOCK,
	SIM_REFUSED,		/* it used an unsupported function, and has printed a message */
	SIM_CYCLE_LIMIT,	/* it reached cycle_limit */
};

struct sim_core_report {
	uint64_t cycles;	/* that a thread was on it */
	uint64_t accesses;	/* that were charged instructions */
	uint64_t uncosted;	/* of these, those that no table has a cost for */
	struct soc_core_counters counters;
};

/* Of a device: the counters of its model, and those of its timing (struct mimic_time). */
struct sim_device_report {
	uint64_t counters[MIMIC_KIND_COUNTERS_MAX];
	uint64_t statistics[MIMIC_TIME_VALUES_MAX];
};

struct sim_phase {
	char name[SIM_PHASE_NAME];
	uint64_t times;		/* that it was counted */
	uint64_t warm_times;	/* that it ran before, and was not counted */
	uint64_t cycles;	/* from begin to end, by the clock of the thread that said so */
	struct sim_core_report cores[SIM_CORES];
	struct soc_counters soc;
	/* The last one: those that the program has not opened are never written. */
	struct sim_device_report devices[SIM_DEVICES];
};

/* A kernel of a library in one of its forms (mimic_sim_kernel()). */
#define SIM_KERNELS 256
#define SIM_KERNEL_NAME 32
struct sim_kernel {
	char name[SIM_KERNEL_NAME];
	char form[SIM_KERNEL_NAME];
	uint64_t block;
	uint64_t times, units, cycles;
};

/* Room for the code of libraries that the program opens by dlopen(). */
#define SIM_LATE_OBJECTS 64
#define SIM_LATE_PLACES 65536
#define SIM_LATE_FUNCTIONS 8192
#define SIM_LATE_SOURCES 1024
#define SIM_LATE_NAMES (512 * 1024)

enum sim_question {
	SIM_NO_QUESTION,	/* or it is answered: the tables have the library */
	SIM_ASKED,		/* the program waits */
	SIM_LIBRARY_REFUSED,	/* the command has printed the reason */
	SIM_NO_MORE_ANSWERS,
};

#define SIM_INTERVALS 100000

/* The counters of an interval, of all cores together. */
struct sim_interval {
	uint64_t begin;		/* since the report's begin */
	uint64_t cycles;	/* the last one may be shorter */
	struct soc_core_counters cores;
	struct soc_counters soc;
	struct sim_device_report devices[];	/* as many as the SoC has */
};

struct sim_setup {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint64_t file_size;
	/* in */
	struct sim_parameters parameters;
	uint64_t cycle_limit;	/* 0: none */
	uint64_t warm_times;	/* of each phase, that are not counted */
	uint64_t objects, object_count;	/* offsets in the file, and how many */
	uint64_t places, place_count;
	uint64_t loops, loop_count;
	uint64_t functions, function_count;
	uint64_t sources, source_count;
	uint64_t names, names_size;
	uint64_t interval;	/* cycles; 0: none are wanted */
	uint64_t intervals;	/* offset in the file of SIM_INTERVALS ... */
	uint64_t interval_size;	/* of so many bytes each */
	char trace[4096];	/* the spool; "": no trace */
	/* A library that has come by dlopen(): the program asks for its code, the command adds it to the tables above. */
	_Atomic uint32_t question;	/* enum sim_question; a futex */
	char library[4096];
	/* out */
	_Atomic uint32_t is_taken;
	_Atomic uint32_t end;	/* enum sim_end */
	uint32_t phase_count;	/* the first one is the whole run */
	uint32_t lost_phases;	/* that found no room */
	uint32_t threads;	/* that ran */
	uint32_t interval_count;
	uint64_t lost_intervals;	/* that found no room */
	char kind[16];		/* of the devices that the program has opened; "": none */
	uint64_t opened;	/* these, a bit for each number */
	uint64_t frames;	/* pages that were touched */
	uint64_t dirty_lines;	/* of the L2, when it ended */
	uint32_t kernel_count;
	struct sim_kernel kernels[SIM_KERNELS];
	struct sim_phase phases[SIM_PHASES];
};

#endif
