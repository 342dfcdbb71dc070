/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device's contract as named cases on an abstract bus.
 *
 * A case is written once, from the text of the contract, and runs on every way
 * to the device (struct bus): the bare model, traps, the library.
 *
 * Three threads use the device: A, B and C. Where the bus has real threads each
 * access runs on the thread named; on the bare model they are owner numbers.
 */
#ifndef TESTS_CONTRACT_HARNESS_H
#define TESTS_CONTRACT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mimic/access.h"

/* --- cases ------------------------------------------------------------- */

/* A case runs with each of its profiles: bits 1 and 2, whose meaning the device defines. */
#define CONTRACT_PROFILES 2
/* With a profile: not where the kernel's driver serves the device's faults before the case can look. */
#define WITHOUT_DRIVER 4u

struct contract_case {
	const char *name;
	void (*run)(void);
	unsigned int profiles;
	struct contract_case *next;
};

void contract_register(struct contract_case *contract_case);

#define CASE(name, profiles) \
	static void name(void); \
	static struct contract_case case_##name = { #name, name, profiles, 0 }; \
	__attribute__((constructor)) static void register_##name(void) \
	{ \
		contract_register(&case_##name); \
	} \
	static void name(void)

/* The profile this case runs with now. */
bool profile_is(unsigned int profile);

/* In a loop over very many things, the n-th of which is next: on some ways, and sanitized, most are not done. */
bool is_left_out(unsigned int n);
/* An access takes a millisecond or so. */
bool accesses_are_slow(void);
/* The device works in steps of the case's own, and not while a case looks at it: no work has to take long. */
bool device_is_stepped(void);

/*
 * The case is about to keep the device busy, and would do so for `time` ns. Answers how long it is
 * to be busy: as long as that at first. A case that then fails when the device may have been idle
 * already, because the machine has something else to do, runs once more and is told a longer time.
 * The third time a failure counts whenever it is.
 */
uint64_t contract_busy_for(uint64_t time);

/* Ends the case. */
void contract_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void contract_skip(const char *why) __attribute__((noreturn));
void contract_expect(const char *file, int line, const char *text, uint64_t actual,
		     uint64_t expected);

#define EXPECT(actual, expected) contract_expect(__FILE__, __LINE__, #actual, (actual), (expected))
#define EXPECT_TRUE(condition) \
	do { \
		if (!(condition)) \
			contract_fail(__FILE__, __LINE__, "not true: %s", #condition); \
	} while (0)

/* --- the bus ----------------------------------------------------------- */

enum bus_thread { A, B, C, BUS_THREADS };

#define CONTRACT_HANDLES 2

struct mimic_host;
struct mimic_model;
struct contract_way;

/* How a device's cases run on one of the ways, where that is not as usual. */
struct contract_exception {
	const char *program;		/* of the way */
	/*
	 * Not 0: accesses take long here. A case that can run with several profiles
	 * runs with this one only, and is_left_out() thins out long sweeps.
	 */
	unsigned int slow_profile;
	bool slow_profile_only;		/* cases without it do not run here at all */
};

/* A device, as the harness sees it. */
struct contract_device {
	const char *name;		/* "maple0"; its node is /dev/maple0 */
	const char *title;		/* before the ways' names in results; NULL: nothing */
	const struct contract_way *ways;	/* of its own, the last without a program; NULL: none */
	const struct contract_exception *exceptions;	/* the last without a program; NULL: none */
	unsigned int pages;		/* that a program maps */
	unsigned int handles;		/* how often the process opens it */
	unsigned int handle_of[BUS_THREADS];
	struct {
		const char *name;
		const char *configuration;	/* MIMIC_CONFIG */
		const char *file;		/* a configuration file's text instead; NULL: none */
	} profiles[CONTRACT_PROFILES];
	/* Profiles that the daemon behind an open node can run, or -errno. */
	int (*node_profiles)(int node);
	/* A bare model, ready for use; NULL with errno. */
	struct mimic_model *(*create_model)(const char *configuration, const struct mimic_host *host);
	void (*destroy_model)(struct mimic_model *model);
	unsigned int model_page[CONTRACT_HANDLES];	/* the bare model's page for page 0 of a handle */
	/* For devices with memory that programs map: that of the bare model, and where it is on the node. */
	void *(*model_memory)(void);
	size_t model_memory_size;
	uint64_t memory_offset;
	/* The bare model has work that goes on without an access: tick() does it while it is busy(). */
	bool works_by_ticks;
	bool may_post_stores;		/* its kind has mimic_kind.posts_stores */
	/* Not 0: the slow profile of all ways under a sanitizer. Its profiles differ in how commands are sent. */
	unsigned int sanitized_profile;
};

/* The device of this program: each folder below tests/contract has one. */
extern const struct contract_device contract_device;

struct bus {
	const char *name;
	bool is_stepped;	/* a device does its own work only when a thread must wait for it */
	/* Gets the device ready for one case. 0 or -errno. */
	int (*open)(const struct contract_device *device, const char *configuration);
	void (*close)(void);
	/* `watched`: the case wants to see when it is over, so it must not be posted. */
	void (*begin)(enum bus_thread who, const struct mimic_access *access, bool watched);
	/* Stores of values[] to the register of `pattern`, in as few calls as the way has. */
	void (*post)(enum bus_thread who, const struct mimic_access *pattern, const uint64_t *values,
		     size_t count);
	/* Something that the thread does by itself. */
	void (*call)(enum bus_thread who, void (*function)(void *), void *argument);
	/* Is the last action of `who` over? Gives it `patience` milliseconds. */
	bool (*is_over)(enum bus_thread who, unsigned int patience, uint64_t *answer);
	void (*sleep)(unsigned int milliseconds);
	/* The thread ends without closing anything; `who` is not used again. */
	void (*end_thread)(enum bus_thread who);
	/* The device's own memory, of `size` bytes, as a program maps it. 0 or -errno. */
	int (*memory)(void **address, size_t size);
};

extern const struct bus bus_model;
extern const struct bus bus_library;
extern const struct bus bus_trap;
/* bus_model, recorded and replayed. */
extern struct bus bus_recorded;

struct contract_way {
	const char *program;		/* the end of its program's name: "embedded_trap" */
	const char *name;
	const struct bus *bus;
	const char *transport;		/* NULL: needs none */
	bool under_mimic_run;
	bool needs_daemon;
	bool thins_sweeps;		/* by is_left_out() */
	bool may_post_stores;		/* a store may be answered before it takes effect, if the device's kind says so */
	bool posts_stores;		/* each may, as on PCI */
	bool repeats_loads;		/* a load never waits there: it is made again until it is answered */
	/*
	 * The kernel's node. With the profiles of the mimicd behind it; where only
	 * the modules are loaded, with all, and a mimicd of the test's own.
	 */
	bool needs_node;
};

/* A case fails, instead of hanging, when an access that must not wait does. */
uint64_t load(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size);
void store(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
	   uint64_t value);
void load_begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size);
void store_begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
		 uint64_t value);
/* 8-byte stores to page 0 in one go; `values` must stay until finish_post(). */
void post_begin(enum bus_thread who, unsigned int offset, const uint64_t *values, size_t count);
/* The same to another page. */
void post_to_page(enum bus_thread who, unsigned int page, unsigned int offset, const uint64_t *values,
		  size_t count);
void finish_post(enum bus_thread who, size_t count);
bool still_waits(enum bus_thread who);
/*
 * The same of a store, and its end. Where stores are posted the thread does not wait: true, as
 * soon as the store is posted.
 */
bool store_still_waits(enum bus_thread who);
void finish_store(enum bus_thread who);
uint64_t finish(enum bus_thread who);
void call_on(enum bus_thread who, void (*function)(void *), void *argument);
void let_time_pass(unsigned int milliseconds);
void end_thread(enum bus_thread who);
/* The device's own memory; it must have this size. The same address for every call. */
void *device_memory(size_t size);

/* --- program memory ------------------------------------------------------ */

#define ARENA_SIZE 65536u

/* Zeroed program memory below 2^31, the same in every call of a case. */
void *arena(void);
/* Its address plus `offset`, as an absolute 32-bit pointer. */
uint64_t arena_at(unsigned int offset);
/* Program memory between 2^32 and 2^40; the case is skipped where none can be had. */
void *map_above_4g(void);
/* A page below 2^31 where nothing is mapped; the page before it is mapped. */
uint64_t unmapped_page(void);

#endif
