/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A convolution as Gemmini's library asks LOOP_CONV_WS for it: in parts of images,
 * output rows, columns and channels, and of rows, columns and channels of the
 * kernel. The bias comes with the first part of a kernel, the output leaves with
 * the last.
 */
#include "tests/contract/virgo/conv.h"
#include "tests/contract/virgo/contract.h"

struct part {
	unsigned int at[DIRECTIONS], size[DIRECTIONS];
};

/* One direction, rows or columns, of one part. */
struct side {
	unsigned int size;			/* of the output before pooling */
	unsigned int pool_before, pool_behind;
	unsigned int before, behind;		/* padding of the input */
	unsigned int first;			/* of the input in memory */
};

static unsigned int before(int first)
{
	return first < 0 ? (unsigned int)-first : 0;
}

static unsigned int behind(int first, int size, unsigned int all)
{
	int end = first + size - (int)all;

	return end > 0 ? (unsigned int)end : 0;
}

static struct side measure(const struct conv *c, const struct part *p, unsigned int output, unsigned int kernel,
			   unsigned int in_size, unsigned int out_size)
{
	unsigned int stride = c->pool_size ? c->pool_stride : 1, window = c->pool_size ? c->pool_size : 1;
	int first = (int)(p->at[output] * stride) - (c->pool_size ? (int)c->pool_padding : 0);
	int size = (int)(p->size[output] * stride + window) - 1;
	struct side s = { .pool_before = before(first), .pool_behind = behind(first, size, out_size) };
	int from, reach;

	s.size = (unsigned int)size - s.pool_before - s.pool_behind;
	from = (int)((unsigned int)(first + (int)s.pool_before) * c->stride + p->at[kernel] * c->dilation) -
	       (int)c->padding;
	reach = (int)(s.size * c->stride + (p->size[kernel] - 1) * c->dilation);
	s.before = before(from);
	/* The zeros between two elements of a dilated input, which are not in memory, are padding, too. */
	if (c->input_dilated && !s.before && from % 2)
		s.before = 1;
	s.behind = behind(from, reach, c->input_dilated ? 2 * in_size - 1 : in_size);
	s.first = (unsigned int)(from + (int)s.before) / (c->input_dilated ? 2 : 1);
	return s;
}

static void send_sizes(const struct convolution *t, const struct part *p)
{
	const struct conv *c = &t->c;
	const unsigned int *size = p->size;
	struct side rows = measure(c, p, OF_ROW, OF_KROW, c->in_rows, t->out_rows);
	struct side columns = measure(c, p, OF_COLUMN, OF_KCOLUMN, c->in_columns, t->out_columns);

	rocc(LOOP_CONV_1, (uint64_t)c->out_channels << 48 | (uint64_t)c->in_channels << 32 | c->in_rows << 16 |
	     c->batch, (uint64_t)c->padding << 56 | (uint64_t)c->stride << 48 | (uint64_t)t->out_columns << 32 |
	     t->pooled_rows << 16 | t->out_rows);
	rocc(LOOP_CONV_2, (uint64_t)c->kernel << 48 | (uint64_t)t->pooled_columns << 32 | c->pool_size << 16 |
	     c->pool_stride << 8 | c->pool_padding, (uint64_t)size[OF_BATCH] << 48 |
	     (uint64_t)size[OF_ROW] << 32 | size[OF_COLUMN] << 16 | size[OF_CHANNEL]);
	rocc(LOOP_CONV_3, (uint64_t)size[OF_KROW] << 48 | (uint64_t)size[OF_KCOLUMN] << 32 |
	     size[OF_KCHANNEL] << 16 | columns.before, (uint64_t)columns.behind << 48 |
	     (uint64_t)rows.before << 32 | rows.behind << 24 | columns.pool_before << 16 | c->in_columns);
	rocc(LOOP_CONV_4, (uint64_t)rows.size << 48 | (uint64_t)columns.pool_behind << 32 |
	     rows.pool_before << 21 | rows.pool_behind << 10 | c->dilation, (uint64_t)t->in_stride << 48 |
	     (uint64_t)t->weight_stride << 32 | t->out_stride << 16 | columns.size);
}

static bool begins(const struct part *p)
{
	return !p->at[OF_KROW] && !p->at[OF_KCOLUMN] && !p->at[OF_KCHANNEL];
}

static bool ends(const struct conv *c, const struct part *p)
{
	return p->at[OF_KROW] + p->size[OF_KROW] == c->kernel &&
	       p->at[OF_KCOLUMN] + p->size[OF_KCOLUMN] == c->kernel &&
	       p->at[OF_KCHANNEL] + p->size[OF_KCHANNEL] == c->in_channels;
}

static void send_addresses(const struct convolution *t, const struct part *p)
{
	const struct conv *c = &t->c;
	struct side rows = measure(c, p, OF_ROW, OF_KROW, c->in_rows, t->out_rows);
	struct side columns = measure(c, p, OF_COLUMN, OF_KCOLUMN, c->in_columns, t->out_columns);
	unsigned int krow = p->at[OF_KROW], kcolumn = p->at[OF_KCOLUMN];
	const void *output = output_of(p->at[OF_BATCH], p->at[OF_ROW], p->at[OF_COLUMN], p->at[OF_CHANNEL]);

	if (c->rotated) {
		krow = c->kernel - krow - p->size[OF_KROW];
		kcolumn = c->kernel - kcolumn - p->size[OF_KCOLUMN];
	}
	rocc(LOOP_CONV_5, address_of(weight_of(krow, kcolumn, p->at[OF_KCHANNEL], p->at[OF_CHANNEL])),
	     ends(c, p) ? address_of(output) : 0);
	rocc(LOOP_CONV_6, begins(p) ? address_of(bias_of(p->at[OF_CHANNEL])) : 0,
	     address_of(input_of(p->at[OF_BATCH], rows.first, columns.first, p->at[OF_KCHANNEL])));
}

static void send_part(const struct convolution *t, const struct part *p)
{
	const struct conv *c = &t->c;

	send_sizes(t, p);
	send_addresses(t, p);
	rocc(LOOP_CONV_WS, c->no_bias | (unsigned int)c->rotated << 1 | (unsigned int)c->output_1203 << 2 |
	     (unsigned int)c->weight_1203 << 3 | (unsigned int)c->weight_0132 << 4 |
	     (unsigned int)c->input_3120 << 5 | (unsigned int)c->depthwise << 6 | c->pixels << 8 |
	     c->b_id << 16 | c->a_id << 18,
	     (c->pool_size ? 0 : 1) | (unsigned int)c->downsample << 1 | (unsigned int)c->input_dilated << 2 |
	     c->activation << 3);
}

/* All parts of the sizes all[] from direction `d` on; the parts of the kernel are the innermost. */
static void send_from(const struct convolution *t, struct part *p, unsigned int d, const unsigned int all[DIRECTIONS],
		      const unsigned int step[DIRECTIONS])
{
	if (d == DIRECTIONS) {
		send_part(t, p);
		return;
	}
	for (p->at[d] = 0; p->at[d] < all[d]; p->at[d] += step[d]) {
		p->size[d] = all[d] - p->at[d] < step[d] ? all[d] - p->at[d] : step[d];
		send_from(t, p, d + 1, all, step);
	}
}

void send_parts(const struct convolution *t, const unsigned int step[DIRECTIONS])
{
	const struct conv *c = &t->c;
	const unsigned int all[DIRECTIONS] = {
		c->batch, t->pooled_rows, t->pooled_columns, c->out_channels, c->kernel, c->kernel, c->in_channels,
	};
	struct part part;

	send_from(t, &part, 0, all, step);
}
