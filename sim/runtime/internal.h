/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared by the files of the run-time. */
#ifndef MIMIC_SIM_INTERNAL_H
#define MIMIC_SIM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "mimic/access.h"
#include "devices/time.h"
#include "sim/setup.h"
#include "sim/core_inline.h"

#define SIM_NEVER UINT64_MAX
#define SIM_EXPORT __attribute__((visibility("default")))
#define sim_likely(condition) __builtin_expect(!!(condition), 1)
#define sim_unlikely(condition) __builtin_expect(!!(condition), 0)

/* The reasons for which a thread waits, in the words of a report. _(NAME, text) */
#define SIM_WAITS(_) \
	_(MMIO, "the device's answer to a") \
	_(MMIO_ROOM, "room for one more MMIO store behind its") \
	_(MUTEX, "the mutex") \
	_(RWLOCK, "the read-write lock") \
	_(SPIN, "the spin lock") \
	_(CONDITION, "a signal of the condition variable") \
	_(BARRIER, "others at the barrier") \
	_(SEMAPHORE, "a post of the semaphore") \
	_(ONCE, "another thread's pthread_once()") \
	_(JOIN, "the end of thread") \
	_(OTHERS, "the end of all other threads") \
	_(SLEEP, "the end of its sleep") \
	_(TEAM, "others of its OpenMP team") \
	_(CRITICAL, "others in the OpenMP section or lock") \
	_(WORK, "work of OpenMP")

enum sim_wait {
	SIM_RUNS,
#define _(NAME, text) SIM_WAIT_##NAME,
	SIM_WAITS(_)
#undef _
};

#define SIM_CALLS 1024		/* of instrumented functions in each other that are told apart */
#define SIM_CHANNEL 65		/* more than MMIO stores that can wait */

/* An MMIO operation on its way. */
struct sim_operation {
	struct mimic_access access;
	uint64_t issued;
	unsigned int device;
	bool is_memory;		/* of the device's memory, to which there is no way */
};

/* The way from a core to devices, in order. Only the first one is on it. */
struct sim_channel {
	struct sim_operation operations[SIM_CHANNEL];
	unsigned int first, count;
	uint64_t arrival;	/* of the first; SIM_NEVER: it is at the device, or there is none */
};

/* An instrumented function that is being executed. */
struct sim_call {
	uint32_t function;
	uint32_t loop;		/* of its last access */
};

/* Its place in a team of OpenMP. */
struct sim_openmp_member {
	struct sim_openmp_team *team;	/* NULL: none yet */
	unsigned int number;		/* in it */
	uint64_t begun;			/* constructs of the team that it has come to */
	struct sim_openmp_share *share;	/* the construct that it is in */
	uint64_t trip;			/* static chunks of it that the thread has had */
	void (*function)(void *data);	/* of the region; of a worker NULL: it waits for work */
	void *data;
	bool is_worker;			/* a thread of the run-time */
};

/* A thread of the program: a coroutine. Its thread-local storage is that of a real thread that sleeps meanwhile. */
struct sim_thread {
	/* The members of each access lie at the front, in two lines of the host's caches. */
	void *stack_pointer;	/* where it goes on; of one that does not run */
	uint64_t fs;		/* its thread-local storage */
	unsigned int number;	/* from 0 on, in the order of creation */
	unsigned int core;
	struct soc_core *on;	/* the core, for the work at each access */
	uint32_t *carry;	/* by loop: the remainder of its instructions, in parts of an access */
	uint32_t *longer_carry;	/* the same of the cycles that they take longer */
	uint64_t accesses, uncosted;
	struct sim_call *call;	/* the innermost one that is told apart */
	uint64_t pending;	/* the physical address of the load for which it lets others go first; 0: something else */
	unsigned int depth;	/* of calls */
	enum sim_wait wait;
	const void *object;	/* of the wait */
	uint64_t wait_number;
	uint64_t since;
	uint64_t deadline;	/* SIM_NEVER: none */
	uint64_t order;		/* the thread that waits longest is woken first */
	bool is_timed_out;
	struct sim_openmp_member openmp;

	uint64_t answer;	/* of an MMIO load */
	bool is_free;		/* its accesses to a device take no time (device_kernels.c) */
	uint32_t free_loads;	/* that took no time, in a row */
	uint64_t free_since;	/* the time of the latest SIM_FREE_LOADS of them */
	struct sim_call calls[SIM_CALLS + 1];	/* the first stands for none */

	/* The real thread. */
	pthread_t native;
	int native_id;
	void *(*start)(void *argument);
	void *argument;
	void *result;
	_Atomic uint32_t is_parked;	/* the real thread has left its stack to us */
	_Atomic uint32_t is_released;	/* and may go on with it */
	void *parking;			/* the stack that it sleeps on */
	uint64_t traced;		/* a bit for each device in whose trace its name is */
	bool is_first;			/* main()'s: it has no other */
	bool is_detached;
	bool has_ended;
	uint64_t started;	/* its core's clock */
	struct sim_thread *next;
};

/* A device beside the cores. */
struct sim_device {
	const struct mimic_kind *kind;
	const struct mimic_time *time;	/* the kind's */
	struct mimic_timed *timed;	/* NULL: the program has not opened it yet */
	struct mimic_time_host host;
	int memory_fd;			/* of the device's memory, if memory_size is not 0 */
	uint64_t memory_size;
};

struct sim {
	struct sim_setup *setup;
	struct soc *soc;
	struct sim_device devices[SIM_DEVICES];	/* by number */
	unsigned int device_count;	/* none from this number on has been opened */
	struct sim_thread *current;
	uint64_t limit;			/* the current thread goes on while its clock is below */
	uint64_t cycle_limit;
	uint64_t next_interval;		/* the end of the interval; SIM_NEVER: there are none */
	uint64_t now;			/* no event was later */
	unsigned int cores;
	struct sim_thread *on_core[SIM_CORES];
	struct sim_channel channels[SIM_CORES];
	uint64_t arriving;		/* a bit for each core whose channel has an operation on its way */
	uint64_t core_cycles[SIM_CORES];	/* of threads that have ended on it */
	uint64_t core_accesses[SIM_CORES];
	uint64_t core_uncosted[SIM_CORES];
	struct sim_thread *threads;	/* all that have not been joined */
	unsigned int thread_count;	/* that there ever were */
	struct sim_thread *ended;	/* its stack was left, its real thread can go */
	uint64_t order;
	bool is_busy;			/* a signal handler must not call us */
	bool has_ended;
	bool stores_are_buffered;
	bool host_is_free;		/* loads and stores of the program take no time */
};

extern struct sim sim;
/* The calling thread, if it is one of virtual time. Of each real thread its own, which coroutines take along. */
extern __thread struct sim_thread *sim_self __attribute__((tls_model("initial-exec")));

/*
 * A call of the program into the run-time begins. NULL: it has no effect on virtual
 * time, because there is none, or because a signal handler has interrupted another call.
 */
static inline struct sim_thread *sim_enter(void)
{
	struct sim_thread *self = sim_self;

	if (!self || sim_unlikely(sim.is_busy))
		return NULL;
	sim.is_busy = true;
	return self;
}

static inline void sim_leave(void)
{
	sim.is_busy = false;
}

/* When the first operation of a core's channel is at the device; SIM_NEVER: it is there, or there is none. */
static inline void sim_channel_arrives(unsigned int core, uint64_t time)
{
	uint64_t bit = 1ull << core;

	sim.channels[core].arrival = time;
	sim.arriving = time == SIM_NEVER ? sim.arriving & ~bit : sim.arriving | bit;
}

/* --- coroutine.c ----------------------------------------------------------------- */

/* Makes `thread` a real thread, parked before it calls its start function. 0 or an error number. */
int sim_coroutine_create(struct sim_thread *thread, const pthread_attr_t *attributes);
/* Switches from the current thread to another. Returns when a thread switches back. */
void sim_coroutine_switch(struct sim_thread *from, struct sim_thread *to);
/* Calls a function on a stack of its own, which begins at the same place of a page in every run. */
int sim_coroutine_on_new_stack(int (*function)(void *argument), void *argument);
/*
 * Calls a function on the same stack, from the next page on. Where its variables lie in a page depends on the program
 * alone, not on how the run-time was compiled, of which the function is called.
 */
void sim_coroutine_at_page(void (*function)(void *argument), void *argument);
/* Its real thread runs to its end: waits for that. */
void sim_coroutine_release(struct sim_thread *thread);

/* --- schedule.c --------------------------------------------------------------------- */

/* Before any thread takes a core. */
void sim_schedule_begin(void);
/* Others whose clocks are behind go on first; so do events. */
void sim_schedule(struct sim_thread *self);
static inline void sim_settle(struct sim_thread *self)
{
	if (sim_unlikely(core_now(self->on) >= sim.limit))
		sim_schedule(self);
}
/* For an event of the device itself; no earlier event may follow. */
static inline uint64_t sim_time(const struct sim_thread *self)
{
	uint64_t now = soc_now(sim.soc, self->core);

	if (now > sim.now)
		sim.now = now;
	return sim.now;
}
/* Waits until sim_wake() or the deadline. true: it was woken. */
bool sim_block(struct sim_thread *self, enum sim_wait wait, const void *object, uint64_t deadline);
/* The thread goes on at `time`. */
void sim_wake(struct sim_thread *thread, uint64_t time);
/* Those that wait for it, longest first; at the caller's clock. How many. */
unsigned int sim_wake_waiters(struct sim_thread *self, enum sim_wait wait, const void *object, unsigned int most);
/* The thread has made SIM_FREE_LOADS loads in a row. If all were made at one time, others go on. */
void sim_spins(struct sim_thread *self);
/* A thread takes a free core; false: there is none. */
bool sim_take_core(struct sim_thread *thread, uint64_t now);
/* One that took a core and could not begin. */
void sim_give_up_core(struct sim_thread *thread);
/* The thread has ended: its core is free, others go on. Returns on the real thread, which then ends. */
void sim_leave_core(struct sim_thread *self);
/* To be called where a coroutine has just begun. */
void sim_arrived(void);

/* --- threads.c ------------------------------------------------------------------------- */

/* A coroutine begins here. */
void *sim_thread_main(struct sim_thread *self);
/* With a number, and no core yet. NULL: no memory. */
struct sim_thread *sim_thread_make(void);

/* --- places.c --------------------------------------------------------------------------- */

struct sim_place_cost {
	uintptr_t pc;		/* 0: none */
	uint32_t loop;
	uint32_t function;
	uint32_t instructions;	/* before each access of the loop ... */
	uint32_t part;		/* and so many parts of one more ... */
	uint32_t parts;		/* of which these are a whole one */
	uint32_t longer, longer_part;	/* cycles more that the instructions take, in the same way */
	uint32_t source;	/* of code without a cost */
} __attribute__((aligned(64)));

#define SIM_PLACES 4096
extern struct sim_place_cost sim_place_cache[SIM_PLACES];

int sim_places_begin(void);
void sim_place_find(struct sim_place_cost *entry, uintptr_t pc);

static inline struct sim_place_cost *sim_place_entry(uintptr_t pc)
{
	return &sim_place_cache[(pc ^ pc >> 12) % SIM_PLACES];
}

static inline const struct sim_place_cost *sim_place(uintptr_t pc)
{
	struct sim_place_cost *entry = sim_place_entry(pc);

	if (sim_unlikely(entry->pc != pc))
		sim_place_find(entry, pc);
	return entry;
}

/* A call's return address: is it in the program itself, or in a library that has hooks? */
bool sim_place_is_program(uintptr_t pc);
const struct sim_function *sim_function(uint32_t function);
const char *sim_function_name(uint32_t function);
/* The cost of an MMIO operation of the thread: that of the loop that it belongs to. */
const struct sim_place_cost *sim_mmio_cost(const struct sim_thread *thread);
/* Where accesses come from that no table has a cost for. */
extern struct sim_source *sim_sources;
/* None so far. */
void sim_forget_uncosted(void);
/* kernels.c */
void sim_forget_kernels(void);

static inline void sim_charge_longer(struct sim_thread *self, const struct sim_place_cost *cost)
{
	uint32_t carry = self->longer_carry[cost->loop] + cost->longer_part;
	uint64_t cycles = cost->longer;

	if (carry >= cost->parts) {
		carry -= cost->parts;
		cycles++;
	}
	self->longer_carry[cost->loop] = carry;
	core_execute_longer(sim.soc, self->on, cycles);
}

/* The instructions before an access. */
static inline void sim_charge(struct sim_thread *self, const struct sim_place_cost *cost)
{
	uint64_t instructions = cost->instructions;

	if (cost->part) {
		uint32_t carry = self->carry[cost->loop] + cost->part;

		if (carry >= cost->parts) {
			carry -= cost->parts;
			instructions++;
		}
		self->carry[cost->loop] = carry;
	}
	self->call->loop = cost->loop;
	self->accesses++;
	if (sim_unlikely(cost->loop == 0)) {
		self->uncosted++;
		sim_sources[cost->source].uncosted++;
	}
	core_execute(sim.soc, self->on, instructions);
	if (sim_unlikely(cost->longer | cost->longer_part))
		sim_charge_longer(self, cost);
}

/* --- frames.c --------------------------------------------------------------------------- */

#define SIM_FRAME_CACHE 1024

struct sim_frame_entry {
	uint64_t page, frame;	/* as addresses; page 1: none */
};

extern struct sim_frame_entry sim_frame_cache[SIM_FRAME_CACHE];

int sim_frames_begin(void);
uint64_t sim_frame_find(struct sim_frame_entry *entry, uint64_t page);
/* The page is another one from now on: a device's, or one that is not known. */
void sim_frame_forget(uintptr_t page);
/* The page is one of the memory of device `number`: it has no frame. */
void sim_frame_is_device_memory(uint64_t page, unsigned int number, uint64_t offset);
/* false: it is not. */
bool sim_frame_device_memory(uint64_t page, unsigned int *number, uint64_t *offset);
/* The device's memory is no more in the program. */
void sim_frames_forget_device(unsigned int number);
uint64_t sim_frames_count(void);

/* --- device_pages.c ----------------------------------------------------------------------- */

/* Asks the library that `mimic sim` preloads, if it is there. */
void sim_device_pages_begin(void);
/* An access of such a page is an operation of the device, which the preloaded library makes of it. */
bool sim_device_page(uintptr_t page);

/*
 * Physical address: frames are given in the order of first touch. Frame 0: a page of a device, whose registers
 * take no time here.
 */
#define SIM_IS_DEVICE(physical) ((physical) < 4096)

static inline uint64_t sim_physical(uint64_t address)
{
	uint64_t page = address & ~4095ull;
	struct sim_frame_entry *entry = &sim_frame_cache[page >> 12 & (SIM_FRAME_CACHE - 1)];

	if (sim_unlikely(entry->page != page))
		return sim_frame_find(entry, page) | (address & 4095);
	return entry->frame | (address & 4095);
}

/* --- device_memory.c ------------------------------------------------------------------------- */

enum sim_access { SIM_load, SIM_store, SIM_atomic };

/* Of a page without a frame: the device grants it. A page of registers takes no time here. */
void sim_device_memory_access(struct sim_thread *self, uint64_t address, unsigned int size, enum sim_access access);

/* --- an access of the program, by a hook -------------------------------------- */

/* The access alone, in its turn; between the reads of a page-table walk others have theirs. */
#define SIM_MAKE(access, make, is_free) \
	static inline __attribute__((always_inline)) void sim_make_##access(struct sim_thread *self, \
									    uint64_t address, unsigned int size) \
	{ \
		uint64_t physical; \
\
		sim_settle(self); \
		if (sim_unlikely(is_free)) \
			return; \
		physical = sim_physical(address); \
		if (sim_unlikely(SIM_IS_DEVICE(physical))) { \
			sim_device_memory_access(self, address, size, SIM_##access); \
			return; \
		} \
		while (sim_unlikely(!make)) \
			sim_settle(self); \
	}

#define SIM_FREE_LOADS 65536u

/* Where loads take no time, a thread that polls for another's store would poll for ever at one time. */
static inline bool sim_is_free_load(struct sim_thread *self)
{
	if (sim_likely(!sim.host_is_free))
		return false;
	if (sim_unlikely(++self->free_loads == SIM_FREE_LOADS))
		sim_spins(self);
	return true;
}

/* The thread stores, so that it does more than wait. */
static inline bool sim_is_free_store(struct sim_thread *self)
{
	if (sim_likely(!sim.host_is_free))
		return false;
	self->free_loads = 0;
	return true;
}

/* 0: it takes a search. The cache has no pages of devices. */
static inline uint64_t sim_physical_if_known(uint64_t address)
{
	const struct sim_frame_entry *entry = &sim_frame_cache[address >> 12 & (SIM_FRAME_CACHE - 1)];

	return sim_likely(entry->page == (address & ~4095ull)) ? entry->frame | (address & 4095) : 0;
}

/* The physical address, where an access takes time and waits for no thread. 0: not known yet. */
static inline uint64_t sim_physical_at_once(const struct sim_thread *self, uint64_t address)
{
	if (sim_unlikely(core_now(self->on) >= sim.limit || sim.host_is_free))
		return 0;
	return sim_physical_if_known(address);
}

SIM_MAKE(load, core_load(sim.soc, self->on, physical, size), sim_is_free_load(self))
SIM_MAKE(store, soc_store(sim.soc, self->core, physical, size), sim_is_free_store(self))
/* An atomic always takes time: threads that wait for each other must not wait for ever. */
SIM_MAKE(atomic, soc_atomic(sim.soc, self->core, physical, size), false)

/* hooks_across.c: of one whose bytes lie in two pages, which have frames of their own. */
void sim_make_load_across(struct sim_thread *self, uint64_t address, unsigned int size);
void sim_make_store_across(struct sim_thread *self, uint64_t address, unsigned int size);

static inline bool sim_is_across(uint64_t address, unsigned int size)
{
	return sim_unlikely((address & 4095) + size > 4096);
}

/* Of any access of up to 8 bytes; the compiler's hooks of those that are aligned need no such check. */
static inline void sim_make_any_load(struct sim_thread *self, uint64_t address, unsigned int size)
{
	if (sim_is_across(address, size))
		sim_make_load_across(self, address, size);
	else
		sim_make_load(self, address, size);
}

static inline void sim_make_any_store(struct sim_thread *self, uint64_t address, unsigned int size)
{
	if (sim_is_across(address, size))
		sim_make_store_across(self, address, size);
	else
		sim_make_store(self, address, size);
}

static inline __attribute__((always_inline)) void sim_load(struct sim_thread *self, uintptr_t pc, uint64_t address,
							   unsigned int size)
{
	sim_charge(self, sim_place(pc));
	sim_make_load(self, address, size);
}

static inline __attribute__((always_inline)) void sim_store(struct sim_thread *self, uintptr_t pc, uint64_t address,
							    unsigned int size)
{
	sim_charge(self, sim_place(pc));
	sim_make_store(self, address, size);
}

static inline void sim_atomic(struct sim_thread *self, uintptr_t pc, uint64_t address, unsigned int size)
{
	sim_charge(self, sim_place(pc));
	sim_make_atomic(self, address, size);
}

/* --- hooks.c ---------------------------------------------------------------------------- */

/* An atomic of the program's own, by a function that it called from `pc`. Of library code: only others go first. */
void sim_sync_access(struct sim_thread *self, const volatile void *object, uintptr_t pc);

/* --- device.c, transport.c ---------------------------------------------------------------- */

/* Does the modelled SoC have such a device? */
bool sim_device_is_there(const struct mimic_kind *kind);
/* `number` is below sim_parameters_devices(). 0 or -errno. */
int sim_device_open(const struct mimic_kind *kind, unsigned int number);
/* One MMIO operation of the calling thread on a device that is open; its answer is in access->data. */
/* The thread's owner number at the device. */
static inline uint64_t sim_owner_of(const struct sim_thread *thread)
{
	return (uint64_t)thread->number + 1;
}

/* device_kernels.c: one that takes no time. false: it would have to wait. */
bool sim_device_access_free(struct sim_thread *self, unsigned int number, struct mimic_access *access);
void sim_device_access(struct sim_thread *self, unsigned int number, struct mimic_access *access);
/*
 * Stores of several values to one register, as many as the device takes without any other event. Returns
 * how many; 0: the first one needs sim_device_access().
 */
size_t sim_device_post(struct sim_thread *self, unsigned int number, const struct mimic_access *pattern,
		       const uint64_t *values, size_t count);
/* Delivers the first operation of a core's channel. */
void sim_device_arrive(unsigned int core);
void sim_device_thread_gone(struct sim_thread *self);
/* Its first operation, in words. As snprintf(). */
void sim_device_describe(unsigned int core, char *text, size_t size);
void sim_transport_begin(void);

/* --- phases.c ------------------------------------------------------------------------------- */

/* The whole run, from here on. */
void sim_phases_begin(void);
/* Is a phase open that only warms the caches up? */
bool sim_phases_are_warming(void);
void sim_phases_end(void);
/* This device begins to count at `now`. */
void sim_phases_device_opens(unsigned int number, uint64_t now);
/* The counters of this device are about to be 0. */
void sim_phases_device_resets(unsigned int number);
/* So many bytes of a phase are in use: behind them are devices that the program has not opened. */
static inline size_t sim_phase_size(void)
{
	return offsetof(struct sim_phase, devices) + sim.device_count * sizeof(struct sim_device_report);
}
/* All counters at `now`; and the difference of two readings, added to `sum`. */
void sim_phases_look(struct sim_phase *phase, uint64_t now);
void sim_phases_add(struct sim_phase *sum, const struct sim_phase *begin, const struct sim_phase *end);
/* Functions that main() calls are phases, too, if the program has none of its own. */
void sim_phases_enter(struct sim_thread *self, uint32_t function);
void sim_phases_leave(struct sim_thread *self);

/* --- intervals.c ------------------------------------------------------------------------------ */

/* Those from `now` on are all that there are. */
void sim_intervals_begin(uint64_t now);
/* Nothing may happen before `now` any more, which is not before sim.next_interval. */
void sim_intervals_reach(uint64_t now);
void sim_intervals_end(uint64_t now);

/* --- ends.c --------------------------------------------------------------------------------- */

/* The report of all counts until now, and the end of the process: 124 at the limit of cycles, else 2. */
void sim_end_with(enum sim_end end) __attribute__((noreturn));
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sim_deadlock(void) __attribute__((noreturn));

#endif
