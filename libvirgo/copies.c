/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Operands that the daemon would read by system calls, row by row, are copied to
 * memory that it shares: so many columns of B as fit, each part of it when the first
 * row of tiles needs it, and with them one row of tiles of A after the other, when
 * its first tile needs it. The unit works on earlier steps meanwhile. Results that it
 * would write by system calls come the same way: one row of tiles is copied to C while
 * the unit works on the next one.
 */
#include <string.h>

#include "gemm.h"

#define OPERAND_BYTES (8u << 20)	/* of B, and of each of two rows of tiles of A */

/* Bytes from the first element of a matrix to its last one. */
static size_t size_of(size_t rows, size_t columns, size_t leading, size_t element)
{
	return ((rows - 1) * leading + columns) * element;
}

static bool is_on_daemon(const struct virgo_unit *unit)
{
	return strcmp(virgo_transport(unit->virgo), "daemon") == 0;
}

static bool needs_copies(const struct virgo_unit *unit, const struct virgo_product *p)
{
	const size_t size = unit->info.element_size;
	const bool a_turned = p->flags & VIRGO_TRANSPOSE_A, b_turned = p->flags & VIRGO_TRANSPOSE_B;
	const size_t a_size = size_of(a_turned ? p->k : p->m, a_turned ? p->m : p->k, p->lda, size);
	const size_t b_size = size_of(b_turned ? p->n : p->k, b_turned ? p->k : p->n, p->ldb, size);

	if (virgo_is_shared(unit->virgo, p->a, a_size) && virgo_is_shared(unit->virgo, p->b, b_size))
		return false;
	/* Memory that cannot be read is left to the unit, whose error has the address. */
	return !virgo_probe_read(p->a, a_size) && !virgo_probe_read(p->b, b_size);
}

/* Sums that are added to have to be loaded as well; and the host stores the tiles that it finishes. */
static bool needs_copies_of_results(const struct virgo_unit *unit, const struct virgo_product *p,
				    enum staging staging)
{
	const size_t size = virgo_result_size(p);
	uintptr_t where;

	if (staging != STAGING_NONE || p->flags & VIRGO_ADD)
		return false;
	if (virgo_is_shared(unit->virgo, p->c, size_of(p->m, p->n, p->ldc, size)))
		return false;
	/* Memory that cannot be written is left to the unit, too. */
	return !virgo_probe_c(p, &where);
}

/* Memory for A, twice, and for B; NULL: then operands stay where they are, and it is slower. */
static char *make_memory(struct virgo_unit *unit, size_t size)
{
	struct virgo *virgo = unit->virgo;

	if (unit->copies_size >= size)
		return unit->copies;
	if (unit->copies)
		mimic_memory_free(virgo->device, unit->copies);
	unit->copies_size = 0;
	unit->copies = mimic_library_alloc(virgo->device, size);
	if (unit->copies)
		unit->copies_size = size;
	return unit->copies;
}

/* How many columns: so many that an operand's part is not too large. false: not one tile. */
static bool limit_columns(const struct virgo_unit *unit, const struct plan *plan, struct copies *copies)
{
	const size_t width = plan->j * unit->info.dim;
	const size_t most = OPERAND_BYTES / unit->info.element_size / copies->product->k;

	if (most < width || most < copies->rows)
		return false;
	if (copies->columns > most / width * width)
		copies->columns = most / width * width;
	return true;
}

void virgo_copies_begin(struct virgo_unit *unit, const struct virgo_product *product,
			const struct plan *plan, enum staging staging, struct copies *copies)
{
	const size_t size = unit->info.element_size, depth = product->k;
	size_t a_size = 0, b_size = 0, c_size = 0;
	char *memory;

	*copies = (struct copies){
		.product = product, .columns = product->n, .rows = plan->i * unit->info.dim,
	};
	if (!is_on_daemon(unit))
		return;
	if (needs_copies(unit, product) && limit_columns(unit, plan, copies)) {
		a_size = copies->rows * depth * size;
		b_size = copies->columns * depth * size;
	}
	if (copies->rows * copies->columns <= OPERAND_BYTES / 4 &&
	    needs_copies_of_results(unit, product, staging))
		c_size = copies->rows * copies->columns * virgo_result_size(product);
	if (!a_size && !c_size)
		return;
	memory = make_memory(unit, 2 * c_size + 2 * a_size + b_size);
	if (!memory) {
		copies->columns = product->n;
		return;
	}
	if (c_size) {
		copies->c[0] = memory;
		copies->c[1] = memory + c_size;
	}
	memory += 2 * c_size;
	if (a_size) {
		copies->a[0] = memory;
		copies->a[1] = memory + a_size;
		copies->b = memory + 2 * a_size;
	}
}

static bool has_copies(const struct copies *copies)
{
	return copies->b || copies->c[0];
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

/* The tile that the unit has stored there goes to C. */
static void store_results(struct copies *copies, unsigned int place)
{
	const struct virgo_product *p = copies->product;
	const size_t size = virgo_result_size(p);
	const struct tile *tile = &copies->stored[place];
	const struct part part = {
		.to = (char *)p->c + (tile->row * p->ldc + tile->column) * size, .from = copies->c[place],
		.to_leading = p->ldc * size, .from_leading = copies->columns * size,
		.rows = tile->rows, .bytes = tile->columns * size,
	};

	copy(&part);
	copies->stored[place].rows = 0;
}

void virgo_copies_end(struct copies *copies)
{
	store_results(copies, 0);
	store_results(copies, 1);
}

int virgo_copies_next_columns(struct virgo_unit *unit, struct copies *copies, size_t column)
{
	int error = has_copies(copies) ? virgo_wait_ticket(unit, unit->given) : 0;

	copies->column = column;
	if (!error)
		virgo_copies_end(copies);
	return error;
}

/* The row of tiles before the last one has had the same places. */
int virgo_copies_next_row(struct virgo_unit *unit, struct copies *copies, const struct tile *tile, size_t end)
{
	const uint64_t ticket = copies->last_row;
	int error;

	copies->row = tile->row;
	copies->turn ^= 1;
	copies->last_row = unit->given;
	if (!has_copies(copies))
		return 0;
	error = virgo_wait_ticket(unit, ticket);
	if (error || !copies->c[0])
		return error;
	store_results(copies, copies->turn);
	copies->stored[copies->turn] = (struct tile){
		.row = tile->row, .rows = tile->rows, .column = tile->column, .columns = end - tile->column,
	};
	return 0;
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

void virgo_copies_use(struct virgo_unit *unit, const struct copies *copies, struct virgo_loop *loop, size_t at,
		      size_t column)
{
	const size_t size = unit->info.element_size;

	if (!copies->b)
		return;
	use_a(copies->product, copies, loop, size, at, column == copies->column);
	use_b(copies->product, copies, loop, size, at, column);
}

void virgo_copies_use_c(const struct copies *copies, struct virgo_loop *loop,
			const struct tile *tile)
{
	const size_t size = virgo_result_size(copies->product);

	if (!copies->c[0])
		return;
	loop->c = copies->c[copies->turn] + (tile->column - copies->column) * size;
	loop->ldc = copies->columns;
}
