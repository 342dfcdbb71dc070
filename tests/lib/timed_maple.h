/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A timed MAPLE on a memory that takes always as long: `dram` cycles, or `llc` through the
 * LLC. Its memory is this process; addresses below 64 KiB cannot be read.
 */
#ifndef TESTS_TIMED_MAPLE_H
#define TESTS_TIMED_MAPLE_H

#include "devices/maple/time/maple_time.h"
#include "sim/parameters.h"

#define TIMED_OWNERS 16
#define TIMED_LOG 4096

/* A request to memory. */
struct timed_request {
	uint64_t time;
	uint64_t address;
	unsigned int size;
	bool through_l2;
};

struct timed_maple {
	struct sim_parameters parameters;
	struct maple_time *device;
	uint64_t dram, llc;
	uint64_t walk;		/* a walk, where maple.walk is 0 */
	uint64_t memory, memory_size;	/* all that can be read, if the size is not 0 */
	struct timed_request request[TIMED_LOG];
	unsigned int requests;
	struct timed_request walked[TIMED_LOG];
	unsigned int walks;
	struct timed_request prefetched[TIMED_LOG];
	unsigned int prefetches;
	struct {
		bool is_over;
		uint64_t time, data;
		unsigned int count;	/* how often it was answered by complete() */
	} owner[TIMED_OWNERS];
};

/* The parameters of the preset maple-fpga, without translation: tests of walks turn it on. */
struct sim_parameters timed_parameters(void);
/* The parameters of a MAPLE among them. */
struct maple_time_parameters timed_device_parameters(const struct sim_parameters *parameters);
/* `config`: as for maple_time_create(). NULL, with errno, if there is no device. */
struct timed_maple *timed_new(const struct sim_parameters *parameters, const struct maple_config *config);
void timed_free(struct timed_maple *timed);

/* An access of `owner` at `now`; whether it is over, and when, is in owner[]. */
void timed_access(struct timed_maple *timed, uint64_t owner, struct mimic_access access, uint64_t now);
void timed_store(struct timed_maple *timed, uint64_t owner, unsigned int operation, unsigned int queue,
		 unsigned int size, uint64_t data, uint64_t now);
void timed_load(struct timed_maple *timed, uint64_t owner, unsigned int operation, unsigned int queue,
		unsigned int size, uint64_t now);
/* Queues with the size code; owner 1 produces into `queue` and owner 2 consumes. */
void timed_open(struct timed_maple *timed, unsigned int size_code, unsigned int queue);
void timed_take_role(struct timed_maple *timed, uint64_t owner, bool is_producer, unsigned int queue);
/* Until nothing happens by itself any more. Returns the time. */
uint64_t timed_run(struct timed_maple *timed);

#endif
