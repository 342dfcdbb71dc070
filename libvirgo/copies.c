/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Operands that the daemon would read by system calls, row by row, are copied to
 * memory that it shares: so many columns of B as fit, each part of it when the first
 * row of tiles needs it, and with them one row of tiles of A after the other, when
 * its first tile needs it. The unit works on earlier steps meanwhile.
 */
#include <string.h>

#include "gemm.h"

#define OPERAND_BYTES (8u << 20)	/* of B, and of each of two rows of tiles of A */

/* Bytes from the first element of a matrix to its last one. */
static size_t size_of(size_t rows, size_t columns, size_t leading, size_t element)
{
	return ((rows - 1) * leading + columns) * element;
}

static bool needs_copies(const struct virgo_unit *unit, const struct virgo_product *p)
{
	const size_t size = unit->info.element_size;
	const bool a_turned = p->flags & VIRGO_TRANSPOSE_A, b_turned = p->flags & VIRGO_TRANSPOSE_B;
	const size_t a_size = size_of(a_turned ? p->k : p->m, a_turned ? p->m : p->k, p->lda, size);
	const size_t b_size = size_of(b_turned ? p->n : p->k, b_turned ? p->k : p->n, p->ldb, size);

	if (strcmp(virgo_transport(unit->virgo), "daemon") != 0)
		return false;
	if (virgo_is_shared(unit->virgo, p->a, a_size) && virgo_is_shared(unit->virgo, p->b, b_size))
		return false;
	/* What cannot be read is left to the unit, which tells what and where. */
	return !virgo_probe_read(p->a, a_size) && !virgo_probe_read(p->b, b_size);
}

/* Memory for A, twice, and for B; NULL: then operands stay where they are, and it is slower. */
static char *make_memory(struct virgo_unit *unit, size_t size)
{
	struct virgo *virgo = unit->virgo;

	if (unit->copies_size >= size)
		return unit->copies;
	if (unit->copies)
		virgo->ops->free(virgo->port, unit->copies);
	unit->copies_size = 0;
	unit->copies = virgo->ops->alloc(virgo->port, size);
	if (unit->copies)
		unit->copies_size = size;
	return unit->copies;
}

void virgo_copies_begin(struct virgo_unit *unit, const struct virgo_product *product,
			const struct plan *plan, struct copies *copies)
{
	const size_t size = unit->info.element_size, dim = unit->info.dim;
	const size_t most = OPERAND_BYTES / size / product->k, width = plan->j * dim;
	char *memory;

	*copies = (struct copies){ .columns = product->n, .rows = plan->i * dim };
	if (most < width || most < copies->rows || !needs_copies(unit, product))
		return;
	if (copies->columns > most / width * width)
		copies->columns = most / width * width;
	memory = make_memory(unit, (2 * copies->rows + copies->columns) * product->k * size);
	if (!memory)
		return;
	copies->a[0] = memory;
	copies->a[1] = copies->a[0] + copies->rows * product->k * size;
	copies->b = copies->a[1] + copies->rows * product->k * size;
}

int virgo_copies_next_columns(struct virgo_unit *unit, struct copies *copies, size_t column)
{
	copies->column = column;
	return copies->b ? virgo_wait_ticket(unit, unit->given) : 0;
}

/* The row of tiles before the last one has had the same place. */
int virgo_copies_next_row(struct virgo_unit *unit, struct copies *copies, size_t row)
{
	const uint64_t ticket = copies->last_row;

	copies->row = row;
	copies->turn ^= 1;
	copies->last_row = unit->given;
	return copies->b ? virgo_wait_ticket(unit, ticket) : 0;
}

struct part {
	char *to;
	const char *from;
	size_t to_leading, from_leading;	/* bytes */
	size_t rows, bytes;
};

static void copy(const struct part *part)
{
	for (size_t row = 0; row < part->rows; row++)
		memcpy(part->to + row * part->to_leading, part->from + row * part->from_leading, part->bytes);
}

static void use_a(const struct virgo_product *p, const struct copies *copies, struct virgo_loop *loop,
		  size_t size, size_t at, bool is_new)
{
	const bool is_turned = p->flags & VIRGO_TRANSPOSE_A;
	const size_t leading = is_turned ? copies->rows : p->k;
	const struct part part = {
		.to = copies->a[copies->turn] + (is_turned ? at * leading : at) * size,
		.from = loop->a, .to_leading = leading * size, .from_leading = loop->lda * size,
		.rows = is_turned ? loop->k : loop->m, .bytes = (is_turned ? loop->m : loop->k) * size,
	};

	if (is_new)
		copy(&part);
	loop->a = part.to;
	loop->lda = leading;
}

static void use_b(const struct virgo_product *p, const struct copies *copies, struct virgo_loop *loop,
		  size_t size, size_t at, size_t column)
{
	const bool is_turned = p->flags & VIRGO_TRANSPOSE_B;
	const size_t leading = is_turned ? p->k : copies->columns, first = column - copies->column;
	const struct part part = {
		.to = copies->b + (is_turned ? first * leading + at : at * leading + first) * size,
		.from = loop->b, .to_leading = leading * size, .from_leading = loop->ldb * size,
		.rows = is_turned ? loop->n : loop->k, .bytes = (is_turned ? loop->k : loop->n) * size,
	};

	if (copies->row == 0)
		copy(&part);
	loop->b = part.to;
	loop->ldb = leading;
}

void virgo_copies_use(struct virgo_unit *unit, const struct virgo_product *product,
		      const struct copies *copies, struct virgo_loop *loop, size_t at, size_t column)
{
	const size_t size = unit->info.element_size;

	if (!copies->b)
		return;
	use_a(product, copies, loop, size, at, column == copies->column);
	use_b(product, copies, loop, size, at, column);
}
