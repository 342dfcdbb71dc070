/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* For virtual time: instructions as they are dispatched, with the addresses of their rows. */
#include "devices/dare/dare_internal.h"

void dare_model_watch(struct mimic_model *model, const struct dare_watch *watch)
{
	dare_of(model)->watch = watch;
}

void dare_mpu_watch_take(const struct dare *d, struct dare_context *c, const struct queue_entry *entry,
			 struct dare_dispatched *instruction)
{
	const struct dare_fields fields = { .operation = (enum dare_operation)entry->operation, .md = entry->md,
					    .ms1 = entry->ms1, .ms2 = entry->ms2 };
	enum dare_format format;

	/* Addresses but for those of its rows are not set: it is done for each instruction. */
	instruction->fields = fields;
	instruction->m = c->csr[DARE_CSR_MATRIX_M];
	instruction->k = c->csr[DARE_CSR_MATRIX_K];
	instruction->n = c->csr[DARE_CSR_MATRIX_N];
	/* It will fail, and the watcher is not told. */
	if (entry->operation == DARE_OPERATION_COUNT)
		return;
	format = dare_instructions[entry->operation].format;
	for (unsigned int row = 0; dare_has_rows(format) && row < instruction->m; row++) {
		if (format == DARE_FORMAT_GATHER || format == DARE_FORMAT_SCATTER)
			memcpy(&instruction->address[row], matrix_of(d, c, entry->ms1)[row], sizeof(uint64_t));
		else
			instruction->address[row] = entry->rs1 + row * entry->rs2;
	}
}
