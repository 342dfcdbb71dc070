/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one cluster in time, and functions that several of its files call.
 *
 *   timing.c      creation, cycles
 *   check.c       parameters that do not fit each other
 *   core.c        a SIMT core: fetch, issue, dispatch
 *   units.c       its units: ALU, FPU, SFU, tensor core
 *   lsu.c         its load/store unit
 *   l1.c          its L1 cache, with the coalescer before it
 *   decoupled.c   the operand-decoupled tensor core
 *   bus.c         the system bus and the L2 behind it
 *   shared.c      banks of the shared memory
 *   threads.c     threads of the program that ask for them
 *   matrix.c      a matrix unit: its queue and engines
 *   array.c       its array
 *   dma.c         its DMA engine
 *   barrier.c     the cluster's barrier
 *   stream.c      a warp's instructions, one after the other
 *   code.c        lists of instructions
 *   kernel.c      kernels: which warps have which lists
 *   kernel_*.c    the lists of each design
 *   energy.c, statistics.c, describe.c
 *   trace.c       events of a trace
 */
#ifndef MIMIC_VIRGO_TIME_INTERNAL_H
#define MIMIC_VIRGO_TIME_INTERNAL_H

#include "devices/virgo/time/timing.h"

#define NEVER UINT64_MAX
#define REGISTERS 64			/* 0: none; integers from 1 on, floats from FLOAT(0) on */
#define FLOAT(number) (32 + (number))
#define BUFFER_MAX 32			/* of instructions of a warp */
#define OPERAND_STAGES 4
#define WORD 4u

enum operation {
	OP_ALU,
	OP_BRANCH,
	OP_BRANCH_BUSY,		/* back to the begin of the poll, if the unit was busy */
	OP_FPU,
	OP_CSR,
	OP_COMMAND,		/* a CSR access that gives the unit a command */
	OP_BARRIER,
	OP_WMMA,
	OP_DECOUPLED,		/* an operation of the operand-decoupled tensor core */
	OP_DECOUPLED_WAIT,	/* until all of them are over */
	OP_LOAD,		/* memory */
	OP_STORE,
	OP_LOAD_SHARED,
	OP_STORE_SHARED,
	OP_LOAD_BUSY,		/* the unit's BUSY register */
	OP_STORE_UNIT,		/* a register of the unit */
	OP_FENCE,
};

enum unit_kind { UNIT_ALU, UNIT_FPU, UNIT_LSU, UNIT_SFU, UNIT_TENSOR, UNIT_KINDS };

/* Requests of OP_COMMAND and OP_STORE_UNIT to the matrix unit. */
enum request {
	REQUEST_NONE,
	REQUEST_LOAD,		/* operands of a step, into the half that `half` names */
	REQUEST_MULTIPLY,
	REQUEST_STORE,		/* C to memory */
	REQUEST_MOVE,		/* C to shared memory */
};

struct instruction {
	uint8_t operation;
	uint8_t to;		/* the register that it writes */
	uint8_t from[2];	/* those that it reads */
	uint8_t lanes;
	uint8_t group;		/* lanes with words side by side; */
	uint8_t request;
	uint8_t half;
	int32_t far;		/* bytes from one group to the next one */
	uint64_t address;	/* of lane 0 */
};

/* --- streams --------------------------------------------------------------------------------------- */

enum when { ALWAYS, UNLESS_LAST_STEP, IF_LAST_STEP, UNLESS_FIRST_STEP, IF_FIRST_STEP, UNLESS_FIRST_TILE };

/* An instruction whose address depends on the step and on the tile. */
struct item {
	struct instruction instruction;
	uint8_t when;
	int8_t half_of;		/* 0: none; +1: the half of this step, 2: of the next one */
	int64_t by_step, by_row, by_column;	/* bytes for each step, row and column of tiles */
	int64_t by_half;	/* bytes from the first half of a double buffer to the second */
};

#define PARTS 4
enum part { PART_TILE_BEGIN, PART_STEP, PART_TILE_END, PART_END };

struct code {
	struct item *item;
	unsigned int count, room;
	bool failed;		/* there was no memory */
};

struct warp_code {
	struct code part[PARTS];
};

struct warp {
	/* the stream */
	const struct warp_code *code;	/* NULL: it has none */
	unsigned int part, at;
	uint32_t row, column, step;
	bool has_ended;
	/* fetch */
	uint64_t fetch_at;
	bool is_blocked;		/* not fetched until its last instruction is resolved */
	bool was_busy;			/* the value of its last load of BUSY */
	/* instructions that are decoded */
	struct instruction buffer[BUFFER_MAX];
	uint64_t ready[BUFFER_MAX];
	unsigned int first, count;
	unsigned int micro_ops;		/* of the oldest, which is a wmma, that have issued */
	uint64_t wmma_since, barrier_since;
	/* issued, on their way to a dispatch buffer */
	struct instruction stage[OPERAND_STAGES];
	uint64_t issued[OPERAND_STAGES];
	unsigned int stage_first, stage_count;
	struct instruction dispatch[UNIT_KINDS];
	bool has_dispatch[UNIT_KINDS];
	uint64_t dispatched[UNIT_KINDS];	/* when the last one was */
	unsigned int queued;			/* instructions that a unit has, and that have no time of their end yet */
	uint64_t free_at[REGISTERS];		/* NEVER: not known yet */
	uint64_t busy_until;			/* the latest of those that are known */
	bool at_barrier;
};

/* --- the load/store unit ------------------------------------------------------------------------------ */

struct line {
	uint64_t address;
	bool is_merged;		/* of several lanes */
};

struct lsu_entry {
	struct instruction instruction;
	uint8_t warp;
	bool has_begun;
	uint8_t line_count;
	uint16_t unsent;	/* of these */
	uint64_t since;		/* when it became the head */
	uint8_t unaligned;	/* words that still have to go through the port */
	uint16_t banks;		/* that still have to grant it */
	uint64_t back;		/* the latest answer so far */
	struct line line[VIRGO_TIME_LANES_MAX];
};

struct lsu {
	struct lsu_entry queue[VIRGO_TIME_QUEUE_MAX];
	unsigned int first, count;
	uint64_t outstanding[VIRGO_TIME_REQUESTS_MAX];	/* when each is over */
	uint64_t merged[VIRGO_TIME_REQUESTS_MAX];	/* requests of the coalescer */
	uint64_t last_answer;
};

/* --- the L1 cache ----------------------------------------------------------------------------------------- */

struct l1_line {
	uint64_t tag;		/* the line's number, plus 1; 0: none */
	uint64_t ready;
};

struct l1 {
	struct l1_line *lines;		/* by bank, set, way */
	uint8_t *next_way;		/* by bank and set */
	unsigned int sets, line_shift;
	uint64_t mshr[VIRGO_TIME_BANKS_MAX][VIRGO_TIME_REQUESTS_MAX];
};

/* --- the operand-decoupled tensor core ----------------------------------------------------------------- */

#define DECOUPLED_QUEUE 3	/* one in access, two behind it */

struct decoupled {
	unsigned int count;
	uint32_t address[DECOUPLED_QUEUE];	/* of A; B's has the same place in its buffer */
	bool has_begun;
	uint32_t a_lines, b_lines;	/* of the first one that are read */
	uint64_t begins;		/* its execution */
	uint64_t busy_until;		/* execution of those before it */
};

struct core {
	struct virgo_timing *timing;
	unsigned int number;
	unsigned int unit;		/* whose kernel it works for */
	struct warp warp[VIRGO_TIME_WARPS_MAX];
	unsigned int next_fetch;
	unsigned int next_of_unit[UNIT_KINDS];
	unsigned int arrived;		/* warps at the barrier */
	unsigned int started;		/* warps with a stream, */
	unsigned int running;		/* of which these have not ended */
	uint64_t tensor_free;
	struct lsu lsu;
	struct l1 l1;
	struct decoupled decoupled;
	uint64_t next;			/* the cycle in which it has something to do; NEVER: none */
	bool did;			/* something in this cycle */
	uint64_t counted_until;		/* the cycle before which all is in the statistics */
};

/* --- shared memory, bus -------------------------------------------------------------------------------- */

#define WRITES_AHEAD 4096	/* cycles that the DMA engine can know of its writes before */

struct shared {
	unsigned int bank_bytes, line_bytes;
	uint64_t read[VIRGO_TIME_BANKS_MAX];		/* the last cycle in which it was, plus 1 */
	uint64_t write[VIRGO_TIME_BANKS_MAX];
	uint64_t dma_write[VIRGO_TIME_BANKS_MAX][WRITES_AHEAD];
	uint64_t port_cycle[2];		/* reads, writes: the cycle that port_used is of, plus 1 */
	unsigned int port_used[2];
};

/* A thread's load or store of it that a bank has refused. */
struct shared_request {
	uint64_t owner;
	uint64_t over;		/* NEVER: not granted yet */
	uint16_t banks;		/* that still have to grant it */
	bool is_store;
};

/* Grants of a bank that a trace shows as one. */
enum bank_port { BANK_PORT_READ, BANK_PORT_WRITE, BANK_PORT_DMA, BANK_PORTS };

struct bank_run {
	uint64_t begin, last;
	uint32_t grants;	/* 0: none */
};

struct bus {
	uint64_t request_free, l2_free, response_free;
};

/* --- matrix units -------------------------------------------------------------------------------------- */

#define COMMANDS_MAX 128	/* 64 of a program, and as many of a kernel beside it */

struct engine {
	uint64_t since;			/* when its operation began */
	uint32_t done;			/* requests that are sent, or lines of A */
	uint32_t rows;			/* of a store: rows that have come out of the accumulator */
	uint64_t back;			/* the latest answer so far */
	uint64_t end;			/* NEVER: not known yet */
	uint64_t next;			/* when it goes on */
	uint32_t command;		/* number of the command */
	uint8_t place;			/* of the operation, in the command */
	bool is_busy;
	bool has_b;			/* B's line for the row that is next */
};

struct queued_command {
	struct virgo_time_command command;
	uint64_t came;
	uint8_t begun, over;		/* operations, as bits */
	bool is_unrolled;
};

struct dma {
	uint64_t back[VIRGO_TIME_REQUESTS_MAX];	/* when each outstanding request is */
};



/* The barrier of a kernel's cores. */
struct barrier_state {
	unsigned int cores;		/* that have arrived */
	uint64_t opens;			/* NEVER: not all have arrived */
};

struct matrix_unit {
	struct virgo_timing *timing;
	unsigned int number;
	unsigned int dim;
	struct queued_command queue[COMMANDS_MAX];
	unsigned int first, count;
	unsigned int loops;		/* in the queue */
	unsigned int unrolled;		/* loops that the unroller holds */
	unsigned int over;		/* commands of the program that are; virgo_time_take_over() */
	uint32_t next_number;		/* of the oldest command: numbers count on */
	struct engine engine[VIRGO_ENGINES];
	struct dma dma;
	uint64_t next;
	/* the kernel that it has, or, of a design without units, that unit 0 stands for */
	bool has_kernel;
	struct virgo_time_kernel kernel;
	unsigned int first_core, cores;
	struct barrier_state barrier;
	uint64_t began, ended;
};

struct virgo_timing {
	struct virgo_time_parameters parameters;
	uint64_t now;			/* all cycles before it are done */
	struct core core[VIRGO_TIME_CORES_MAX];
	struct matrix_unit unit[VIRGO_UNITS_MAX];
	struct shared shared;
	struct shared_request thread[VIRGO_TIME_THREADS_MAX];	/* in the order in which they came */
	unsigned int thread_count;
	struct bus bus;
	struct warp_code code[VIRGO_TIME_CORES_MAX][VIRGO_TIME_WARPS_MAX];
	struct mimic_trace_source *trace;	/* virgo_time_create() gives it one that is off */
	struct mimic_trace_source no_trace;
	struct bank_run run[BANK_PORTS][VIRGO_TIME_BANKS_MAX];
	bool something_ended;
	unsigned int kernels;			/* that run, */
	enum virgo_time_design kernel_design;	/* all of this one, */
	uint64_t kernels_since;			/* from when on it is not in the statistics */
	uint64_t counted_until;
	struct virgo_time_statistics statistics;
};

static inline const struct virgo_time_parameters *parameters_of(const struct core *core)
{
	return &core->timing->parameters;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* core.c */
void virgo_time_core_step(struct core *core, uint64_t now);
void virgo_time_core_reset(struct core *core);
/* Cycles before `now` in which it had nothing to do are in the statistics, too. */
void virgo_time_core_count(struct core *core, uint64_t now);
/* The warp is not blocked any more: it is fetched again from `time` on. */
void virgo_time_unblock(struct core *core, struct warp *warp, uint64_t time);

/* units.c */
enum unit_kind virgo_time_unit_of(enum operation operation);
void virgo_time_units_step(struct core *core, uint64_t now);

/* lsu.c */
bool virgo_time_lsu_take(struct core *core, unsigned int warp, const struct instruction *instruction);
void virgo_time_lsu_step(struct core *core, uint64_t now);
/* A place for a request that is over at `until`; false: all are taken. */
bool virgo_time_reserve(uint64_t *places, unsigned int count, uint64_t now, uint64_t until);
bool virgo_time_has_place(const uint64_t *places, unsigned int count, uint64_t now);

/* l1.c */
int virgo_time_l1_create(struct l1 *l1, const struct virgo_time_parameters *parameters);
void virgo_time_l1_destroy(struct l1 *l1);
unsigned int virgo_time_l1_bank(const struct core *core, uint64_t address);
/* When the data is there; NEVER: there is no MSHR for it. */
uint64_t virgo_time_l1_load(struct core *core, uint64_t address, uint64_t now);
/* When it is acknowledged. */
uint64_t virgo_time_l1_store(struct core *core, uint64_t address, uint64_t now);

/* decoupled.c */
bool virgo_time_decoupled_take(struct core *core, const struct instruction *instruction);
bool virgo_time_decoupled_is_over(const struct core *core, uint64_t now);
void virgo_time_decoupled_step(struct core *core, uint64_t now);

/* bus.c: when the last beat of the answer is there */
uint64_t virgo_time_bus_read(struct virgo_timing *timing, unsigned int beats, uint64_t now);
uint64_t virgo_time_bus_write(struct virgo_timing *timing, unsigned int beats, uint64_t now);

/* shared.c */
void virgo_time_shared_init(struct virgo_timing *timing);
unsigned int virgo_time_bank(const struct virgo_timing *timing, uint32_t address);
/* The bank's port in this cycle; false: another access has it. */
bool virgo_time_shared_read(struct virgo_timing *timing, unsigned int bank, uint64_t now);
bool virgo_time_shared_write(struct virgo_timing *timing, unsigned int bank, uint64_t now);
/* The DMA engine will write a line at `time`. */
void virgo_time_shared_expect(struct virgo_timing *timing, uint32_t address, uint64_t time);
/* Words through the port of all cores: how many of them go in this cycle. */
unsigned int virgo_time_shared_port(struct virgo_timing *timing, bool is_write, unsigned int words, uint64_t now);

/* threads.c */
void virgo_time_threads_step(struct virgo_timing *timing, uint64_t now);
uint64_t virgo_time_threads_next(const struct virgo_timing *timing);

/* matrix.c */
void virgo_time_unit_step(struct matrix_unit *unit, uint64_t now, uint64_t quiet);
void virgo_time_unit_init(struct virgo_timing *timing, unsigned int number);
bool virgo_time_unit_is_busy(const struct matrix_unit *unit);

/* Of an operation: words of a row of the operands in shared memory, and bytes from one to the next. */
unsigned int virgo_time_row_words(const struct matrix_unit *unit, const struct virgo_time_operation *operation);
unsigned int virgo_time_row_step(const struct matrix_unit *unit, const struct virgo_time_operation *operation);
/*
 * array.c, dma.c: they go on with the operation of their engine. The array may go on by itself up to `quiet`, before
 * which nobody else asks for the shared memory.
 */
void virgo_time_array_step(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now,
			   uint64_t quiet);
void virgo_time_load_step(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now);
void virgo_time_store_step(struct matrix_unit *unit, const struct virgo_time_operation *operation, uint64_t now);

/* barrier.c */
void virgo_time_barrier_arrive(struct core *core, struct warp *warp, uint64_t now);
void virgo_time_barrier_step(struct matrix_unit *unit, uint64_t now);

/* stream.c */
void virgo_time_stream_begin(struct warp *warp, const struct warp_code *code);
/* The next instruction; false: there are no more. */
bool virgo_time_stream_next(const struct core *core, struct warp *warp, struct instruction *instruction);
/* The poll begins again. */
void virgo_time_stream_again(struct warp *warp);

/* code.c */
#define POLL_LENGTH 3		/* instructions of an iteration */
struct item *virgo_time_code_add(struct code *code, enum operation operation, unsigned int lanes);
void virgo_time_code_alu(struct code *code, unsigned int count, unsigned int to, unsigned int from, unsigned int lanes);
void virgo_time_code_poll(struct code *code, enum when when);
void virgo_time_code_command(struct code *code, enum request request, enum when when);
void virgo_time_code_free(struct warp_code *code);

/* kernel.c */
/* Byte addresses of the program's matrices, of a warp's stack, of shared memory's buffers. */
uint64_t virgo_time_matrix_address(unsigned int which);
uint64_t virgo_time_stack_address(const struct virgo_timing *timing, unsigned int core, unsigned int warp);
uint32_t virgo_time_buffer(const struct virgo_timing *timing, bool is_b, unsigned int half);
#define VIRGO_TIME_STACK_BYTES 8208	/* of a thread: 8 KB and 16 bytes (the kernels' start-up code) */
void virgo_time_kernel_request(struct core *core, const struct instruction *instruction, uint64_t now);
/* Starts the warps for which timing->code has instructions; the unit's kernel and cores are set. */
void virgo_time_start_code(struct virgo_timing *timing, struct matrix_unit *unit, uint64_t now);
void virgo_time_kernel_settle(struct virgo_timing *timing, uint64_t now);

/* kernel_*.c: the lists of one warp; `number` counts over all cores */
struct warp_place {
	const struct virgo_timing *timing;
	const struct virgo_time_kernel *kernel;
	unsigned int core, warp, number;
	unsigned int all;	/* warps of the cluster */
};
/* One of several shares of a range: `count` from `first` on. */
struct share {
	uint64_t first, count;
};
/* Of `lines` that `all` have, those of `number`; if they cannot have equally many the first ones have one more. */
struct share virgo_time_share(uint64_t lines, unsigned int all, unsigned int number);
void virgo_time_operand_line(const struct warp_place *place, struct item *item, bool is_b, uint64_t which);
void virgo_time_kernel_tensor(const struct warp_place *place, struct warp_code *code);
void virgo_time_kernel_virgo(const struct warp_place *place, struct warp_code *code);
void virgo_time_kernel_virgo_dma(const struct warp_place *place, struct warp_code *code);
void virgo_time_kernel_hopper(const struct warp_place *place, struct warp_code *code);

/* trace.c */
void virgo_time_trace_warp_barrier(struct core *core, const struct warp *warp, uint64_t now);
void virgo_time_trace_wmma(struct core *core, const struct warp *warp, uint64_t now);
void virgo_time_trace_fence(struct core *core, const struct lsu_entry *entry, uint64_t now);
void virgo_time_trace_operation(struct matrix_unit *unit, const struct engine *engine,
				const struct virgo_time_operation *operation, uint64_t now);
void virgo_time_trace_kernel(struct matrix_unit *unit, uint64_t now);
void virgo_time_trace_grant(struct virgo_timing *timing, enum bank_port port, unsigned int bank, uint64_t now);
/* Grants that are not shown yet. */
void virgo_time_trace_banks(struct virgo_timing *timing);

/* statistics.c, energy.c */
void virgo_time_count_until(struct virgo_timing *timing, uint64_t now);
void virgo_time_count_kernels(struct virgo_timing *timing, uint64_t now);
void virgo_time_energy(const struct virgo_timing *timing, struct virgo_time_statistics *statistics);

#endif
