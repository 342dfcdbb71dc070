/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The DARE device model: create it, drive it through model.ops, throw it away.
 *
 * One model is one device with up to 15 contexts (include/mimic/dare_registers.h).
 * A context has its own matrix registers, CSRs, instruction queue, TLB and error,
 * and reaches the memory that host->memory_of() gave for its address space.
 * No context sees another one's operations.
 *
 * Contract: docs/dare.md. All calls for one model must be serialised by the
 * caller (devices/model.h).
 */
#ifndef MIMIC_DARE_MODEL_H
#define MIMIC_DARE_MODEL_H

#include "devices/dare/isa.h"
#include "devices/model.h"
#include "mimic/dare_registers.h"

#define DARE_MAX_QUEUE 64
#define DARE_MAX_TLB 64

struct mimic_kind;

/* Listed in devices/kinds.def. */
extern const struct mimic_kind mimic_kind_dare;

struct dare_config {
	unsigned int contexts;		/* 1 to DARE_CONTEXTS_MAX */
	unsigned int queue_entries;	/* instruction queue of a context: 1 to DARE_MAX_QUEUE */
	unsigned int tlb_entries;	/* of a context: power of two, 2 to DARE_MAX_TLB */
};

/* 8 contexts, 32 queue entries (paper, IV-C), 32 TLB entries. */
void dare_config_default(struct dare_config *config);

/* NULL if the values are in range, else a text about one that is not. */
const char *dare_config_check(const struct dare_config *config);

/*
 * A new device as after power-on: all contexts detached. NULL with errno EINVAL
 * (configuration) or ENOMEM. `host` is copied; the objects that it points to must outlive the model.
 */
struct mimic_model *dare_model_create(const struct dare_config *config,
				      const struct mimic_host *host);
void dare_model_destroy(struct mimic_model *model);

/* Counters of one context, in the order of DARE_COUNTERS. Returns how many there are. */
size_t dare_model_counters(const struct mimic_model *model, unsigned int context,
			   uint64_t *values, size_t count);
/* mimic_contexts.adopt and mimic_kind.resume */
bool dare_model_adopt(struct mimic_model *model, unsigned int context, uint64_t address_space);
void dare_model_resume(struct mimic_model *model, uint64_t now);
/* A shootdown in one context's address space: no translation of [start, end) survives. */
void dare_model_invalidate(struct mimic_model *model, unsigned int context, uint64_t start,
			   uint64_t end);

/* For virtual time: told of each instruction that has been executed, as it was when it was dispatched. */
struct dare_watch {
	void *context;
	void (*executed)(void *context, const struct dare_dispatched *instruction);
};
/* NULL: none. It must outlive the model. */
void dare_model_watch(struct mimic_model *model, const struct dare_watch *watch);
/*
 * Stores to STREAM as `pattern` says, up to the one that dispatches an instruction. Returns how many; 0: the first
 * one would wait, or `pattern` is no legal store to STREAM.
 */
size_t dare_model_stream(struct mimic_model *model, const struct mimic_access *pattern, const uint64_t *values,
			 size_t count, uint64_t now);

/* State that tests and state views read, beside the registers. */
struct dare_context_view {
	bool attached;
	uint64_t address_space;
	unsigned int matrix_m, matrix_k, matrix_n;
	unsigned int queue_level;
	bool stalled;			/* waits for RESOLVE */
	const void *registers[DARE_REGISTERS];	/* 1 KB each, row by row */
};
int dare_model_context(const struct mimic_model *model, unsigned int context,
		       struct dare_context_view *view);

#endif
