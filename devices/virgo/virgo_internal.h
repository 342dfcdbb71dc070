/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a Virgo cluster, and functions that several of its files call.
 *
 *   model.c       creation, which page an access goes to, the model's operations
 *   config.c      parameters
 *   control.c     page 0: faults, events
 *   events.c      events and the interrupt of the host
 *   barrier.c     barriers
 *   unit.c        a unit's registers and its errors
 *   parked.c      accesses that wait
 *   queue.c       the command queue
 *   cisc.c        words of the CISC port to commands
 *   job.c         jobs: taking, running, handing back, page faults
 *   command.c     one command
 *   configure.c   CONFIG, COUNTER
 *   dma.c         program memory
 *   move.c        rows of a move, piece by piece
 *   move_in.c     mvin; program memory to scratchpad and accumulator
 *   move_out.c    mvout, MVOUT_SPAD
 *   activation.c  scaling on the way out, activations, layernorm and softmax
 *   element.c     elements of the three types
 *   array.c       the systolic array: preload and compute
 *   loop_ws.c     LOOP_WS
 *   loop_matmul.c its multiplication, all blocks at once (kernels.c, kernels.h)
 *   loop_conv.c   LOOP_CONV_WS: its sizes and phases (loop_conv.h)
 *   loop_conv_moves.c    its moves in and out
 *   loop_conv_execute.c  its passes of the array
 *   observe.c     counters, descriptions, views
 *   save.c        images of the state
 *   watch.c       tells virtual time of the commands' work
 *
 * Ownership: struct front belongs to the model's calls, which the caller serialises.
 * Everything else of a unit belongs to its job while that is outstanding, and to the
 * model's calls while it is not.
 */
#ifndef MIMIC_VIRGO_INTERNAL_H
#define MIMIC_VIRGO_INTERNAL_H

#include <string.h>

#include "devices/virgo/element.h"
#include "devices/virgo/kernels.h"
#include "devices/virgo/virgo_model.h"

#define BATCH_MAX 32		/* commands of one job */
#define PARTICIPANTS_MAX 255	/* of a barrier */
#define PARKED_AT_UNITS_MAX 256
/* And all that can wait at barriers: the participant that comes last does not. */
#define PARKED_MAX (PARKED_AT_UNITS_MAX + VIRGO_BARRIERS * (PARTICIPANTS_MAX - 1))
#define RETRIES_MAX 8		/* answers MIMIC_FAULT_RETRY to one row */
#define LOADS 3			/* load configurations */
#define NORM_STATISTICS 4
/* Work of one virgo_job_run() and of one tick(), in rows, or multiplications of a row. */
#define BUDGET_JOB 500000
#define BUDGET_TICK 20000
#define PAGE_MASK 4095ull
#define NO_PAGE 1ull		/* no page begins there */

/* --- the command queue ---------------------------------------------------------- */

/* Not a funct: a word with another opcode. */
#define FUNCT_ILLEGAL 0xfe
/* Not a funct: CISC operation 2 of the later generation, which counts as a loop. */
#define FUNCT_PLACEHOLDER 0xff

struct command {
	uint64_t position;	/* its number since the last reset */
	uint64_t rs1;
	uint64_t rs2;
	uint32_t word;
	uint8_t funct;
	uint8_t ends_cisc;	/* the last command of a CISC word */
	uint16_t reserved;
};

struct command_queue {
	struct command entry[VIRGO_MAX_QUEUE];
	uint32_t first;
	uint32_t level;
};

/* --- configuration by commands -------------------------------------------------- */

struct load_configuration {
	uint64_t stride;	/* bytes */
	uint32_t block_stride;	/* rows */
	uint32_t scale;		/* fp32 */
	uint32_t pixels;
	uint32_t shrunk;
};

struct execute_configuration {
	uint32_t dataflow;
	uint32_t activation;
	uint32_t shift;
	uint32_t scale;		/* fp32: of operands in the accumulator */
	uint32_t a_stride;	/* rows */
	uint32_t c_stride;
	uint32_t a_transposed;
	uint32_t b_transposed;
};

struct store_configuration {
	uint64_t stride;	/* bytes */
	uint32_t activation;	/* low two bits; normaliser.activation_high is the third */
	uint32_t scale;		/* fp32 */
	uint32_t pool_stride;	/* 0: no pooling */
	uint32_t pool_size;
	uint32_t pool_out_columns;
	uint32_t pool_rows;
	uint32_t pool_columns;
	uint32_t rows;
	uint32_t columns;
	uint32_t pad_top;
	uint32_t pad_left;
	uint32_t reserved;
};

/* Of one row of C, for layernorm and softmax. */
struct norm_statistics {
	union lane sum;
	union lane running_max;
	union lane max;
	union lane mean;
	uint32_t count;
	float inverse_deviation;
	float inverse_sum;
	uint32_t reserved;
};

struct normaliser {
	uint32_t activation_high;
	uint32_t statistic;
	union lane qb, qc;	/* polynomials of I-GELU and of the exponential */
	union lane qln2, qln2_inverse;
	struct norm_statistics statistics[NORM_STATISTICS];
};

struct performance_counters {
	uint32_t event[VIRGO_PERFORMANCE_COUNTERS];
	uint64_t base[VIRGO_PERFORMANCE_COUNTERS];
	uint64_t frozen[VIRGO_PERFORMANCE_COUNTERS];
	uint64_t result;
	uint32_t is_frozen;
	uint32_t reserved;
};

/* --- the loops -------------------------------------------------------------------- */

struct loop_ws {
	uint64_t a, b, c, d;		/* addresses; 0: not moved */
	uint64_t a_stride, b_stride, c_stride, d_stride;	/* elements */
	uint32_t i, j, k;		/* blocks */
	uint32_t pad_i, pad_j, pad_k;	/* elements */
	uint32_t spad_a;		/* first row; of SPAD_AB */
	uint32_t spad_b_end;		/* 0: SPAD_AB was not given */
	uint32_t spad_c;
	uint32_t accumulator_base;	/* 0 or half of the rows */
};

struct loop_conv {
	uint64_t weights, output, bias, input;
	uint32_t batch_size, in_rows, in_columns, in_channels, out_channels;
	uint32_t out_rows, out_columns, pool_out_rows, pool_out_columns;
	uint32_t stride, padding, kernel, kernel_dilation;
	uint32_t pool_size, pool_stride, pool_padding;
	/* the part of it that is to be done */
	uint32_t batches, prows, pcolumns, pchannels, krows, kcolumns, kchannels;
	uint32_t left, right, top, bottom;		/* paddings of the input */
	uint32_t pool_left, pool_right, pool_top, pool_bottom;
	uint32_t rows, columns;				/* of the output before pooling */
	uint32_t in_stride, weight_stride, out_stride;	/* elements */
};

/* How far a command is: the counters of its nested loops, outermost first. */
struct progress {
	uint32_t phase;
	uint32_t at[8];
	uint32_t block;		/* of a move */
	uint32_t row;
};

/* --- the systolic array ------------------------------------------------------------ */

struct array {
	/* Weights, or the sums of the output stationary dataflow. */
	union lane state[VIRGO_MAX_DIM][VIRGO_MAX_DIM];
	uint64_t preload;	/* operands of the last preload */
	uint64_t output;
};

/* --- a job --------------------------------------------------------------------------- */

enum work {
	WORK_DONE,
	WORK_MORE,	/* the budget is used up, or the job is not wanted any more */
	WORK_FAULT,	/* dma.fault_address cannot be reached */
	WORK_ERROR,	/* error, error_value */
};

/* The DMA engine: rows between program memory and the unit. */
struct dma {
	uint64_t fault_address;
	uint32_t fault_writes;
	uint32_t reserved;
	/* The translation that was used last; good while the generation is the model's. */
	uint64_t page;
	uint64_t frame;
	uint32_t generation;
	uint32_t reserved2;
};

/* The part of a job that save() keeps. No pointers in here. */
struct execution {
	struct command batch[BATCH_MAX];
	uint32_t count;
	uint32_t next;		/* batch[next] is at work */
	struct progress progress;
	struct load_configuration load[LOADS];
	struct execute_configuration execute;
	struct store_configuration store;
	struct normaliser norm;
	struct loop_ws loop_ws;
	struct loop_conv loop_conv;
	struct array array;
	struct performance_counters performance;
	uint64_t counters[VIRGO_COUNTER_COUNT];		/* counted by jobs */
	uint64_t front_counters[VIRGO_COUNTER_COUNT];	/* the others, when this job was taken */
	struct dma dma;
};

struct unit;

/* Enough for the largest row of blocks that is moved at once. */
#define STAGING_BYTES (VIRGO_MAX_DIM * 1024)

struct virgo_job {
	struct virgo *virgo;
	struct unit *unit;
	struct execution x;
	int64_t budget;
	enum work outcome;
	uint32_t error;		/* enum virgo_error */
	uint64_t error_value;
	uint32_t loops_done;
	uint32_t cisc_done;
	uint32_t drop;		/* atomic: do not go on */
	uint32_t steps;		/* commands that this run finished */
	uint32_t stopped_after;	/* so many, for `drop`; UINT32_MAX: it was not */
	uint32_t limit;		/* 0, or: stop after so many, and not for `drop` */
	/* The model's, also while the job is outstanding: the counts that were cleared meanwhile. */
	uint64_t cleared[VIRGO_COUNTER_COUNT];
	uint64_t front_cleared[VIRGO_COUNTER_COUNT];
	/* The job's own, since it is at work on another thread. */
	struct mimic_trace_source trace;
	uint64_t trace_epoch;
	unsigned char *staging;
	struct matmul_scratch *matmul;
};

/* --- a unit ---------------------------------------------------------------------------- */

enum reset { RESET_NONE, RESET_UNIT, RESET_POWER_ON };

enum job_state { JOB_NONE, JOB_READY, JOB_OUTSTANDING, JOB_STALLED };

/* Everything of a unit that the model's calls own even while its job is outstanding. */
struct front {
	struct command_queue queue;
	uint64_t rs1;
	uint64_t rs2;
	uint64_t dispatched;
	uint64_t completed;
	uint32_t error;
	uint32_t error_instruction;
	uint64_t error_position;
	uint64_t error_address;
	uint64_t error_rs1;
	uint64_t error_rs2;
	uint64_t counter_result;
	uint64_t counters[VIRGO_COUNTER_COUNT];		/* counted by accesses */
	uint64_t published[VIRGO_COUNTER_COUNT];	/* execution.counters of when the job came back */
	uint32_t counter_select;
	uint32_t cisc_generation;
	uint64_t cisc_tile;
	uint32_t loops;			/* unfinished */
	uint32_t cisc_unfinished;
	uint32_t taken;			/* commands that the job has */
	uint32_t dropped_behind;	/* commands that come behind these, and are over when these are */
	uint32_t job_state;
	uint32_t retries;
	uint32_t stall_writes;
	uint64_t stall_page;
	uint64_t stall_order;
	uint64_t retry_address;
	uint32_t parked_stores;
	uint32_t reset_pending;		/* enum reset; it came while the job was outstanding */
	uint32_t was_busy;
	uint32_t stream_level;		/* values of STREAM that wait for their instruction word */
	uint64_t stream[2];
	uint64_t stream_owner;
};

/* A command that has been executed, and is over when virtual time says so (virgo_model_command_over). */
struct held_command {
	uint32_t dropped_behind;	/* commands that are over when this one is */
	bool is_loop, ends_cisc;
};

/* The oldest first. They hold their places in the queue. */
struct held {
	struct held_command command[VIRGO_MAX_QUEUE];
	uint32_t first, level;
};

struct unit {
	unsigned int number;
	const struct virgo_unit_config *config;
	struct element_type type;
	unsigned int dim;
	unsigned int row_bytes;		/* of a scratchpad row */
	unsigned int rows;		/* of the scratchpad */
	unsigned int accumulator_rows;
	union lane *accumulator;
	unsigned char *spad;		/* the shared memory */
	struct front front;
	struct held held;	/* none, if nobody watches */
	struct virgo_job job;
	uint64_t trace_epoch;	/* in a trace, positions of after a reset are not those of before */
};

/* PARKED_COMMAND: a store in synchronous mode, whose command is queued, and which waits until it is over. */
enum parked_kind { PARKED_INSTRUCTION, PARKED_FENCE, PARKED_LOOPS, PARKED_BARRIER, PARKED_COMMAND };

struct parked {
	uint64_t owner;
	uint64_t value;		/* word; position; loops */
	uint64_t rs1;
	uint64_t rs2;
	uint8_t kind;
	uint8_t unit;		/* or the barrier */
	uint8_t size;
	uint8_t over;		/* answered; off the list when the call ends */
	uint8_t from_stream;
	uint8_t withdrawn;	/* PARKED_COMMAND: no thread waits now; the same store will come again */
	uint8_t reserved[2];
	uint64_t position;	/* PARKED_COMMAND: answered when so many are completed */
};

struct barrier {
	uint32_t participants;	/* 0: as many as there are cores */
	uint32_t arrived;
	uint64_t opened;
};

struct cluster {
	uint64_t now;
	uint64_t fault_count;
	uint64_t last_fault;		/* as in FAULT_STATUS */
	uint64_t stall_order;
	uint64_t illegal;		/* accesses that concern no unit */
	uint64_t shootdowns;
	uint32_t events;
	uint32_t events_enabled;
	struct barrier barrier[VIRGO_BARRIERS];
	uint32_t parked_count;
	uint32_t parked_at_units;	/* of these; not at barriers */
	struct parked parked[PARKED_MAX];	/* the one that came first, first */
};

struct virgo {
	struct mimic_model model;	/* first: others hold a pointer to it */
	struct mimic_host host;
	struct virgo_config config;
	const struct virgo_kernels *kernels;
	unsigned char *shared;
	const struct virgo_watch *watch;	/* NULL: none */
	uint32_t generation;		/* atomic: grows when translations are dropped */
	struct cluster cluster;
	struct unit unit[VIRGO_UNITS_MAX];
};

static inline struct virgo *virgo_of(struct mimic_model *model)
{
	return (struct virgo *)model;
}

static inline void count_front(struct unit *u, enum virgo_counter counter, uint64_t n)
{
	u->front.counters[counter] += n;
}

static inline void count(struct virgo_job *job, enum virgo_counter counter, uint64_t n)
{
	job->x.counters[counter] += n;
}

static inline struct mimic_trace_source *trace_of(struct unit *u)
{
	return &u->job.virgo->model.trace;
}

/* No two commands of a unit have the same. */
static inline uint64_t trace_number(uint64_t epoch, const struct command *command)
{
	return epoch << 40 | command->position;
}

/* Commands that will not be done: so many, `first` the first. */
static inline void trace_dropped(struct unit *u, uint64_t epoch, const struct command *first, uint32_t n)
{
	if (n)
		MIMIC_TRACE(trace_of(u), command_dropped, 0ull, u->number, 0ull, n, 0ull,
			    trace_number(epoch, first));
}

static inline uint64_t low_bytes(uint64_t value, unsigned int size)
{
	return size >= 8 ? value : value & ((1ull << (8 * size)) - 1);
}

/* A 64-bit register of ours: 8 bytes, or 4 of a half. */
static inline bool register_access_is_legal(const struct mimic_access *access)
{
	if (access->size == 8)
		return access->offset % 8 == 0;
	return access->size == 4 && access->offset % (access->is_write ? 8 : 4) == 0;
}

static inline uint64_t register_half(uint64_t value, const struct mimic_access *access)
{
	return low_bytes(access->offset % 8 ? value >> 32 : value, access->size);
}

static inline enum work fail(struct virgo_job *job, enum virgo_error error, uint64_t value)
{
	job->error = error;
	job->error_value = value;
	return WORK_ERROR;
}

/* Takes from the budget. false: stop here, and go on in the next job. */
static inline bool spend(struct virgo_job *job, int64_t amount)
{
	job->budget -= amount;
	return job->budget > 0;
}

static inline union lane *accumulator_row(struct unit *u, uint32_t row)
{
	return u->accumulator + (size_t)row * u->dim;
}

static inline unsigned char *spad_row(struct unit *u, uint32_t row)
{
	return u->spad + (size_t)row * u->row_bytes;
}

static inline uint32_t blocks_of(const struct unit *u, uint64_t columns)
{
	return (uint32_t)((columns + u->dim - 1) / u->dim);
}

static inline bool is_accumulator(uint32_t local)
{
	return local & VIRGO_LOCAL_ACCUMULATOR;
}

/* The row of a local address, in the accumulator or in the scratchpad. */
static inline uint32_t local_row(uint32_t local)
{
	return is_accumulator(local) ? local & VIRGO_LOCAL_ROW : local;
}

static inline uint32_t rows_of(const struct unit *u, uint32_t local)
{
	return is_accumulator(local) ? u->accumulator_rows : u->rows;
}

static inline uint32_t lesser(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* events.c */
void virgo_raise(struct virgo *v, uint32_t events);

/* control.c */
enum mimic_outcome virgo_cluster_access(struct virgo *v, struct mimic_access *access);
void virgo_cluster_drop_translations(struct virgo *v);

/* unit.c */
enum mimic_outcome virgo_unit_access(struct virgo *v, struct mimic_access *access);
void virgo_unit_reset(struct virgo *v, struct unit *u, enum reset reset);
void virgo_unit_latch(struct virgo *v, struct unit *u, const struct command *command,
		      enum virgo_error error, uint64_t value);
bool virgo_unit_is_busy(const struct unit *u);
bool virgo_unit_is_over(const struct unit *u, const struct parked *parked);
/* Answers waiting stores that can go on, then waiting loads. */
void virgo_unit_settle(struct virgo *v, struct unit *u);

/* parked.c */
/* false: there is no room. At barriers there always is. */
bool virgo_parked_add(struct virgo *v, const struct parked *parked);
void virgo_parked_sweep(struct virgo *v);
/* It is answered, or withdrawn: no thread waits for it any more. */
void virgo_parked_forget(struct virgo *v, struct parked *parked);
/* true: there was one. */
bool virgo_parked_withdraw(struct virgo *v, uint64_t owner);
/* All waiting accesses are answered with 0. */
void virgo_parked_release_all(struct virgo *v);
void virgo_parked_answer(struct virgo *v, struct parked *parked, uint64_t data);

/* synchronous.c */
void virgo_synchronous_begin(const struct unit *u, struct parked *store);
enum mimic_outcome virgo_synchronous_wait(struct virgo *v, struct unit *u, const struct parked *store);
bool virgo_synchronous_resumes(struct virgo *v, struct unit *u, const struct parked *store,
			       enum mimic_outcome *outcome);
void virgo_synchronous_forget(struct virgo *v, uint64_t owner);

/* queue.c */
unsigned int virgo_command_queue_room(const struct virgo *v, const struct unit *u);
void virgo_command_queue_push(struct unit *u, const struct command *command);
void virgo_queue_drop_all(struct unit *u);
/* Commands that are not over. */
unsigned int virgo_queue_unfinished(const struct unit *u);
/* Commands that were dropped behind the job's, or behind held ones, are over when these are. */
void virgo_queue_count_dropped(struct unit *u);
/* So many of the job's commands, from this one on, have been executed. */
void virgo_queue_hold(struct unit *u, const struct command *first, uint32_t count);
/* Moves commands to the job; false: there are none. */
bool virgo_queue_take(struct unit *u);
bool virgo_command_is_loop(unsigned int funct);

/* cisc.c */
/* false: no command was queued. The unit is the one that the word names. */
bool virgo_cisc_store(struct virgo *v, struct unit *port, uint32_t word);
struct unit *virgo_cisc_unit(struct virgo *v, uint32_t word);

/* job.c */
void virgo_job_power_on(struct unit *u);
void virgo_job_clear_counters(struct unit *u);
void virgo_job_resolve(struct virgo *v, struct unit *u, bool present);
void virgo_job_tick(struct virgo *v);

/* command.c */
enum work virgo_command_execute(struct virgo_job *job, const struct command *command);

/* configure.c */
enum work virgo_configure_command(struct virgo_job *job, const struct command *command);
enum work virgo_configure_counter(struct virgo_job *job, uint64_t rs1);
void virgo_configuration_reset(struct execution *x, unsigned int dim);
unsigned int virgo_store_activation(const struct execution *x);

/* dma.c: whole rows; *done says how many of them are over. */
struct transfer {
	uint64_t address;
	uint64_t stride;
	size_t size;
	size_t count;
};
enum work virgo_dma_read(struct virgo_job *job, const struct transfer *transfer, void *to,
			 size_t to_stride, size_t *done);
enum work virgo_dma_write(struct virgo_job *job, const struct transfer *transfer, const void *from,
			  size_t from_stride, size_t *done);

/* move.c */
struct move_shape {
	uint64_t address;
	uint64_t stride;
	uint32_t rows;
	uint32_t columns;
	unsigned int size;		/* bytes of an element in program memory */
	unsigned int bytes_per_unit;	/* of the budget */
};
/* Some rows, or a part of one: its columns begin with a block. */
struct piece {
	struct transfer transfer;
	uint32_t row;
	uint32_t block;
	uint32_t columns;
};
/* *done: how many of the rows are over */
typedef enum work move_piece(struct virgo_job *job, const void *move, const struct piece *piece,
			     size_t *done);
/* From progress.row and .block on; both are 0 again when it is done. */
enum work virgo_move_pieces(struct virgo_job *job, const struct move_shape *shape, move_piece *function,
			    const void *move);

/* move_in.c */
struct move_in {
	uint64_t address;	/* 0: zeros */
	uint64_t stride;
	uint32_t local;
	uint32_t rows;
	uint32_t columns;
	uint32_t block_stride;
	uint32_t scale;
	uint32_t pixels;
	uint32_t shrunk;
};
/* Bytes of an element in program memory. */
unsigned int virgo_move_in_size(const struct unit *u, uint32_t local, bool shrunk);
enum work virgo_move_in_check(struct virgo_job *job, const struct move_in *move);
enum work virgo_move_in(struct virgo_job *job, const struct move_in *move);
enum work virgo_move_in_command(struct virgo_job *job, const struct command *command,
				const struct load_configuration *load);

/* move_out.c */
struct move_out {
	uint64_t address;
	uint64_t stride;
	uint32_t local;
	uint32_t rows;
	uint32_t columns;
	const struct store_configuration *store;
	uint32_t activation;
};
enum work virgo_move_out(struct virgo_job *job, const struct move_out *move);
enum work virgo_move_out_pooled(struct virgo_job *job, const struct move_out *move);
enum work virgo_move_out_command(struct virgo_job *job, const struct command *command);
enum work virgo_move_out_spad(struct virgo_job *job, uint32_t local, uint32_t rows, uint32_t columns,
			      uint64_t to, uint64_t to_stride, uint32_t activation);

/* activation.c */
/* A row of the accumulator as elements on their way out. */
void virgo_activate_row(const struct unit *u, const struct execution *x, union lane *row, size_t count,
			uint32_t activation, uint32_t scale);
/* false: the row only went into the statistics. */
bool virgo_normalise(struct virgo_job *job, const union lane *row, size_t count, enum virgo_norm norm);
void virgo_norm_reset(const struct unit *u, struct normaliser *norm);

/* array.c */
struct operand {
	uint32_t local;
	uint32_t columns;
	uint32_t rows;
};
void virgo_array_preload(struct virgo_job *job, uint64_t rs1, uint64_t rs2);
enum work virgo_array_compute(struct virgo_job *job, uint64_t rs1, uint64_t rs2, bool fill);
/* One pass, for LOOP_CONV_WS: with strides and transposes of its own. */
struct pass {
	struct operand a, bd, preload, output;
	uint32_t a_stride, c_stride;
	bool a_transposed, b_transposed;
	bool fill;
};
enum work virgo_array_pass(struct virgo_job *job, const struct pass *pass);
/* Leaves the weights in the array as compute_preloaded would. */
void virgo_array_fill(struct virgo_job *job, struct operand weights, bool transposed);

/* loop_ws.c, loop_matmul.c */
enum work virgo_loop_ws(struct virgo_job *job, uint64_t rs1, uint64_t rs2);
void virgo_loop_ws_configure(struct virgo_job *job, const struct command *command);
struct loop_blocks {
	uint32_t a, b, c;	/* first rows; of c in the accumulator */
	uint32_t i, j, k;
	uint32_t rows, columns, depth;	/* elements without paddings */
	bool a_by_k;		/* blocks of A lie as (k, i), of B as (j, k) */
	bool b_by_j;
	bool accumulate;
};
/* From progress.at[0] on. */
enum work virgo_loop_matmul(struct virgo_job *job, const struct loop_blocks *blocks);

/* loop_conv.c */
enum work virgo_loop_conv(struct virgo_job *job, uint64_t rs1, uint64_t rs2);
void virgo_loop_conv_configure(struct virgo_job *job, const struct command *command);

/* observe.c */
size_t virgo_counters_read(const struct mimic_model *model, uint64_t *values, size_t count);
void virgo_counters_clear(struct mimic_model *model);
size_t virgo_describe(const struct mimic_model *model, char *text, size_t size);
uint64_t virgo_unit_counter(const struct unit *u, unsigned int counter);

/* watch.c: where nobody watches, they do nothing */
void virgo_watch_load(struct virgo_job *job, const struct move_in *move);
void virgo_watch_store(struct virgo_job *job, const struct move_out *move, bool is_pooled);
void virgo_watch_move(struct virgo_job *job, uint32_t local, uint32_t rows, uint32_t columns, uint64_t to,
		      uint64_t to_stride);
void virgo_watch_loop(struct virgo_job *job, const struct loop_blocks *blocks);
void virgo_watch_pass(struct virgo_job *job, const struct pass *pass);
void virgo_watch_executed(struct virgo_job *job, const struct command *command);
void virgo_watch_failed(const struct unit *u);
void virgo_watch_reset(const struct unit *u);

/* save.c */
size_t virgo_save(const struct mimic_model *model, void *image, size_t size);
int virgo_restore(struct mimic_model *model, const void *image, size_t size);

#endif
