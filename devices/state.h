/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a device as a tree: folders, and in them values with a name
 * and a meaning (docs/state.md).
 *
 * A model calls its visitor for each of them, from within one call of the model: the
 * caller holds the lock that serialises these, so all values are of one moment. Nothing is
 * allocated, nothing changes, no program memory is read. Slow work, such as writing a
 * file, is done with a copy, after the visit.
 *
 * Names and bytes are the model's, and good until the function returns; meanings are
 * constant texts, or NULL. Names have no '/', and no folder has one of them twice.
 */
#ifndef MIMIC_DEVICES_STATE_H
#define MIMIC_DEVICES_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimic_tlb;

enum mimic_state_format {
	MIMIC_STATE_DECIMAL,
	MIMIC_STATE_HEX,	/* addresses, words, registers made of fields */
	MIMIC_STATE_SIGNED,	/* an int64_t */
	MIMIC_STATE_BOOLEAN,	/* 0 or 1 */
};

struct mimic_state_visitor {
	void *context;
	void (*enter)(void *context, const char *name);
	void (*leave)(void *context, const char *name);
	void (*number)(void *context, const char *name, uint64_t value, enum mimic_state_format format,
		       const char *meaning);
	void (*text)(void *context, const char *name, const char *value, const char *meaning);
	void (*bytes)(void *context, const char *name, const void *bytes, size_t size,
		      const char *meaning);
};

/* --- for models ------------------------------------------------------------------- */

void mimic_state_enter(const struct mimic_state_visitor *visitor, const char *name);
void mimic_state_leave(const struct mimic_state_visitor *visitor, const char *name);
/* Folders of things that have a number instead of a name: "0", "1", ... */
void mimic_state_enter_number(const struct mimic_state_visitor *visitor, unsigned int number);
void mimic_state_leave_number(const struct mimic_state_visitor *visitor, unsigned int number);

void mimic_state_decimal(const struct mimic_state_visitor *visitor, const char *name, uint64_t value,
			 const char *meaning);
void mimic_state_hex(const struct mimic_state_visitor *visitor, const char *name, uint64_t value,
		     const char *meaning);
void mimic_state_boolean(const struct mimic_state_visitor *visitor, const char *name, bool value,
			 const char *meaning);
void mimic_state_text(const struct mimic_state_visitor *visitor, const char *name, const char *value,
		      const char *meaning);
void mimic_state_bytes(const struct mimic_state_visitor *visitor, const char *name, const void *bytes,
		       size_t size, const char *meaning);

/* A value that has a number instead of a name. */
void mimic_state_hex_at(const struct mimic_state_visitor *visitor, unsigned int number, uint64_t value,
			const char *meaning);
void mimic_state_text_at(const struct mimic_state_visitor *visitor, unsigned int number,
			 const char *value, const char *meaning);

/* The text of a register whose load would wait now. */
#define MIMIC_STATE_WAITS "waits"

/* The folder "tlb": how many entries there are, and a folder for each that is valid. */
void mimic_state_tlb(const struct mimic_state_visitor *visitor, const struct mimic_tlb *tlb);

#endif
