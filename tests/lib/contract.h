/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The MAPLE contract as named cases on an abstract bus.
 *
 * A case is written once, from the text of the contract, and runs on every way
 * to the device (struct bus): the bare model, traps, the library.
 *
 * Three threads use the device: A, B and C. Where the bus has real threads each
 * access runs on the thread named; on the bare model they are owner numbers.
 */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "mimic/access.h"
#include "tests/lib/contract_numbers.h"

/* --- cases ------------------------------------------------------------- */

enum contract_profile {
	PAPER = 1, ARTIFACT = 2, BOTH = 3,
	/* With a profile: not where the kernel's driver serves the device's faults before the case can look. */
	WITHOUT_DRIVER = 4,
};

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
bool profile_is(enum contract_profile profile);

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

struct bus {
	const char *name;
	/* Gets the device ready for one case. 0 or -errno. */
	int (*open)(const char *profile);
	void (*close)(void);
	/* `watched`: the case wants to see when it is over, so it must not be posted. */
	void (*begin)(enum bus_thread who, const struct mimic_access *access, bool watched);
	/* Is the access that `who` began over? Gives it `patience` milliseconds. */
	bool (*is_over)(enum bus_thread who, unsigned int patience, uint64_t *answer);
	void (*sleep)(unsigned int milliseconds);
	/* The thread ends without closing anything; `who` is not used again. */
	void (*end_thread)(enum bus_thread who);
};

extern const struct bus bus_model;
extern const struct bus bus_library;
extern const struct bus bus_trap;

struct contract_way {
	const char *name;
	const struct bus *bus;
	const char *transport;		/* NULL: needs none */
	bool under_mimic_run;
	bool needs_daemon;
	/*
	 * The kernel's /dev/maple0. With the profile of the mimicd behind it; where
	 * only the modules are loaded, with both, and a mimicd of the test's own.
	 */
	bool needs_node;
};

int contract_main(int argc, char **argv, const struct contract_way *way);

/* A case fails, instead of hanging, when an access that must not wait does. */
uint64_t load(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size);
void store(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
	   uint64_t value);
void load_begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size);
void store_begin(enum bus_thread who, unsigned int page, unsigned int offset, unsigned int size,
		 uint64_t value);
bool still_waits(enum bus_thread who);
uint64_t finish(enum bus_thread who);
void let_time_pass(unsigned int milliseconds);
void end_thread(enum bus_thread who);

/* --- what most cases begin with ------------------------------------------ */

/* On the MAPLE page, 4 bytes. */
uint64_t command(enum bus_thread who, unsigned int operation, unsigned int queue);
/* On the MAPLE page, 8 bytes. */
void request(enum bus_thread who, unsigned int operation, unsigned int queue, uint64_t value);

void init(unsigned int size_code);
/* A becomes the producer and B the consumer. */
void open_queue(unsigned int queue);
void init_and_open(unsigned int size_code, unsigned int queue);

/* A's stores and B's loads. */
void produce32(unsigned int queue, uint32_t value);
void produce64(unsigned int queue, uint64_t value);
uint64_t consume32(unsigned int queue);
uint64_t consume64(unsigned int queue);
void consume_begin(unsigned int queue);
/* The queue holds nothing: a word produced now is the next one consumed. */
void expect_empty(unsigned int queue);

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
