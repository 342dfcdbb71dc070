/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The state tree of a cluster beside its units (docs/state.md). */
#include <stdio.h>

#include "devices/virgo/virgo_internal.h"
#include "devices/virgo/virgo_state.h"

static void unit_parameter(unsigned int number, const char *key, unsigned int value,
			   const char *meaning, const struct mimic_state_visitor *visitor)
{
	char name[32];

	snprintf(name, sizeof(name), "unit%u_%s", number, key);
	mimic_state_decimal(visitor, name, value, meaning);
}

static void config_folder(const struct virgo_config *config, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "config");
#define _(name, meaning) mimic_state_decimal(visitor, #name, config->name, meaning);
	_(units, "matrix units")
	_(cores, "that meet at a barrier, if its register says nothing else")
	_(shared_kb, "KB of shared memory")
	_(queue_entries, "commands that the queue of a unit holds")
	_(overflow_is_error, "a store to a full queue: 0 waits, 1 is an error")
	_(synchronous, "1: a command is over before its store is answered")
	_(cisc_generation, "of CISC words, after reset: 0 as in the paper's version, 1 as in the later one")
#undef _
	for (unsigned int i = 0; i < config->units; i++) {
		unit_parameter(i, "type", config->unit[i].type, "0 int8, 1 fp16, 2 fp32", visitor);
		unit_parameter(i, "dim", config->unit[i].dim, "rows and columns of its array", visitor);
		unit_parameter(i, "accumulator_kb", config->unit[i].accumulator_kb,
			       "KB of accumulator memory", visitor);
	}
	mimic_state_leave(visitor, "config");
}

static void counters_folder(const struct mimic_model *model, const struct mimic_state_visitor *visitor)
{
	uint64_t values[VIRGO_COUNTER_COUNT];

	virgo_counters_read(model, values, VIRGO_COUNTER_COUNT);
	mimic_state_enter(visitor, "counters");
#define _(name, meaning) mimic_state_decimal(visitor, #name, values[VIRGO_COUNTER_##name], meaning);
	VIRGO_COUNTERS(_)
#undef _
	mimic_state_leave(visitor, "counters");
}

/* --- barriers -------------------------------------------------------------------------- */

/* As barrier.c: the participant that comes last does not wait. */
static bool would_wait(const struct virgo *v, const struct barrier *b)
{
	uint32_t participants = b->participants ? b->participants : v->config.cores;

	return b->arrived + 1 < participants;
}

static void barrier_folder(const struct virgo *v, unsigned int number,
			   const struct mimic_state_visitor *visitor)
{
	static const char meaning[] = "arrives and waits; answers how often it had opened before";
	const struct barrier *b = &v->cluster.barrier[number];

	mimic_state_enter_number(visitor, number);
	mimic_state_decimal(visitor, "PARTICIPANTS", b->participants,
			    "how many have to arrive; 0: as many as the cluster has cores");
	if (would_wait(v, b))
		mimic_state_text(visitor, "WAIT", MIMIC_STATE_WAITS, meaning);
	else
		mimic_state_decimal(visitor, "WAIT", b->opened, meaning);
	mimic_state_hex(visitor, "STATUS", b->opened << 8 | b->arrived,
			"arrived [7:0], how often it has opened [63:8]");
	mimic_state_decimal(visitor, "arrived", b->arrived, "threads that wait at it");
	mimic_state_decimal(visitor, "opened", b->opened, "how often it has opened");
	mimic_state_leave_number(visitor, number);
}

/* --- waiting accesses --------------------------------------------------------------------- */

static void waiting_access(const struct parked *parked, unsigned int number,
			   const struct mimic_state_visitor *visitor)
{
	static const char *const names[] = {
		[PARKED_INSTRUCTION] = "INSTRUCTION", [PARKED_FENCE] = "FENCE",
		[PARKED_LOOPS] = "WAIT_LOOPS", [PARKED_BARRIER] = "BARRIER",
		[PARKED_COMMAND] = "INSTRUCTION",
	};
	bool is_barrier = parked->kind == PARKED_BARRIER;

	mimic_state_enter_number(visitor, number);
	mimic_state_decimal(visitor, "owner", parked->owner, "thread that waits");
	mimic_state_text(visitor, "register", names[parked->kind], "register that it loads or stores");
	mimic_state_decimal(visitor, is_barrier ? "barrier" : "unit", parked->unit, "where");
	mimic_state_leave_number(visitor, number);
}

static void waiting_folder(const struct cluster *c, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "waiting");
	mimic_state_decimal(visitor, "accesses", c->parked_count,
			    "that wait; a folder for each, from the oldest on");
	for (uint32_t i = 0; i < c->parked_count; i++)
		waiting_access(&c->parked[i], i, visitor);
	mimic_state_leave(visitor, "waiting");
}

static void faults_folder(const struct cluster *c, const struct mimic_state_visitor *visitor)
{
	mimic_state_enter(visitor, "faults");
	mimic_state_decimal(visitor, "count", c->fault_count, "bad addresses since power-on");
	mimic_state_hex(visitor, "last", c->last_fault,
			"the last bad address, as in FAULT_STATUS; 0: there was none");
	mimic_state_leave(visitor, "faults");
}

void virgo_state(const struct mimic_model *model, uint64_t now, const struct mimic_state_visitor *visitor)
{
	const struct virgo *v = (const struct virgo *)model;

	config_folder(&v->config, visitor);
	mimic_state_registers(visitor, &virgo_control_block, model, 0, now);
	counters_folder(model, visitor);
	faults_folder(&v->cluster, visitor);
	waiting_folder(&v->cluster, visitor);
	mimic_state_enter(visitor, "barriers");
	for (unsigned int i = 0; i < VIRGO_BARRIERS; i++)
		barrier_folder(v, i, visitor);
	mimic_state_leave(visitor, "barriers");
	mimic_state_enter(visitor, "units");
	for (unsigned int i = 0; i < v->config.units; i++)
		virgo_unit_state(v, &v->unit[i], now, visitor);
	mimic_state_leave(visitor, "units");
	/* The program and the units may write it meanwhile: only it is not of one moment. */
	mimic_state_bytes(visitor, "shared_memory", v->shared, (size_t)v->config.shared_kb << 10,
			  "scratchpad of all units, and memory that the program maps");
}
