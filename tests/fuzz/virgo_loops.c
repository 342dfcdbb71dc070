/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Convolutions, and words of the CISC port. */
#include "tests/fuzz/virgo_commands.h"

/* --- convolutions -------------------------------------------------------------------------- */

struct conv {
	unsigned int batch, in_rows, in_columns, in_channels, out_channels, kernel, stride, padding, dilation;
	unsigned int pool_size, pool_stride, pool_padding;
	unsigned int out_rows, out_columns, pooled_rows, pooled_columns;
	unsigned int flags;	/* rs1 */
	bool downsample, input_dilated;
};

static unsigned int extent(const struct conv *c, unsigned int in)
{
	return c->input_dilated ? 2 * in - 1 : in;
}

/* How many windows there are; 0: the image is too small. */
static unsigned int windows(unsigned int size, unsigned int window, unsigned int stride)
{
	return size < window ? 0 : (size - window) / stride + 1;
}

static bool measure(struct conv *c)
{
	unsigned int window = (c->kernel - 1) * c->dilation + 1;

	c->out_rows = windows(extent(c, c->in_rows) + 2 * c->padding, window, c->stride);
	c->out_columns = windows(extent(c, c->in_columns) + 2 * c->padding, window, c->stride);
	c->pooled_rows = c->out_rows;
	c->pooled_columns = c->out_columns;
	if (c->pool_size) {
		c->pooled_rows = windows(c->out_rows + 2 * c->pool_padding, c->pool_size, c->pool_stride);
		c->pooled_columns = windows(c->out_columns + 2 * c->pool_padding, c->pool_size, c->pool_stride);
	}
	return c->pooled_rows && c->pooled_columns;
}

static void choose_shape(struct input *input, struct conv *c, unsigned int dim)
{
	c->batch = 1 + byte(input) % 3;
	c->in_rows = 1 + byte(input) % 7;
	c->in_columns = 1 + byte(input) % 7;
	c->in_channels = 1 + byte(input) % (dim + 3);
	c->out_channels = 1 + byte(input) % (dim + 3);
	c->kernel = 1 + byte(input) % 3;
	c->stride = 1 + byte(input) % 2;
	c->padding = byte(input) % c->kernel;
	c->dilation = 1 + (byte(input) & 3) / 3;
}

static void choose_form(struct input *input, struct conv *c, unsigned int dim)
{
	unsigned int forms = byte(input), pool = byte(input), pixels = 1 + byte(input) % 4;

	c->flags = forms & 7;
	if (forms & 8)
		c->flags |= VIRGO_CONV_WEIGHT_1203;
	else if (forms & 16)
		c->flags |= VIRGO_CONV_WEIGHT_0132;
	if ((forms & 0x60) == 0x60)
		c->flags |= VIRGO_CONV_INPUT_3120;
	c->input_dilated = (forms & 0xe0) == 0x80;
	if (pool & 1) {
		c->pool_size = 1 + (pool >> 1) % 3;
		c->pool_stride = 1 + (pool >> 3) % 3;
		c->pool_padding = (pool >> 5) % c->pool_size;
	}
	if ((forms & 0xe0) == 0xa0 && c->in_channels * pixels <= dim)
		c->flags |= pixels << VIRGO_CONV_PIXELS_SHIFT;
	if ((forms & 0xe0) == 0x20) {
		c->flags |= VIRGO_CONV_DEPTHWISE;
		c->in_channels = 1;
		c->out_channels = 1;
	}
	if ((forms & 0xe0) != 0x40)
		return;
	/* As Gemmini's library: every second pixel of an image of an even size. */
	c->downsample = true;
	c->kernel = 1;
	c->dilation = 1;
	c->padding = 0;
	c->stride = 2;
	c->pool_size = 0;
	c->in_rows += c->in_rows & 1;
	c->in_columns += c->in_columns & 1;
}

/* Rows or columns of the input beyond the image that the last windows need. */
static unsigned int beyond(const struct conv *c, unsigned int windows_count, unsigned int in)
{
	unsigned int reach = windows_count * c->stride + (c->kernel - 1) * c->dilation;
	unsigned int image = c->padding + extent(c, in);

	return reach > image ? reach - image : 0;
}

static void add_sizes(struct sequence *s, const struct conv *c, unsigned int element)
{
	uint64_t right = beyond(c, c->out_columns, c->in_columns), bottom = beyond(c, c->out_rows, c->in_rows);
	unsigned int line = (c->flags & VIRGO_CONV_OUTPUT_1203 ? c->batch : 1) * c->out_channels * element;

	add_command(s, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, 0xffffffffull << 32 | line, false);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_1, (uint64_t)c->out_channels << 48 |
		    (uint64_t)c->in_channels << 32 | c->in_rows << 16 | c->batch,
		    (uint64_t)c->padding << 56 | (uint64_t)c->stride << 48 | (uint64_t)c->out_columns << 32 |
		    c->pooled_rows << 16 | c->out_rows, false);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_2, (uint64_t)c->kernel << 48 |
		    (uint64_t)c->pooled_columns << 32 | c->pool_size << 16 | c->pool_stride << 8 | c->pool_padding,
		    (uint64_t)c->batch << 48 | (uint64_t)c->pooled_rows << 32 | c->pooled_columns << 16 |
		    c->out_channels, false);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_3, (uint64_t)c->kernel << 48 |
		    (uint64_t)c->kernel << 32 | c->in_channels << 16 | c->padding,
		    right << 48 | (uint64_t)c->padding << 32 | bottom << 24 | c->pool_padding << 16 |
		    c->in_columns, false);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_4, (uint64_t)c->out_rows << 48 |
		    (uint64_t)c->pool_padding << 32 | (uint64_t)c->pool_padding << 21 | c->pool_padding << 10 |
		    c->dilation, (uint64_t)c->in_channels << 48 | (uint64_t)c->out_channels << 32 |
		    c->out_channels << 16 | c->out_columns, false);
}

/* Input, weights, bias and output: a quarter of the program's memory each, or a part of it. */
static uint64_t place(struct input *input, unsigned int n)
{
	unsigned int choice = byte(input);

	return choice >= 240 ? 0 : ARENA_ADDRESS + n * (ARENA_BYTES / 4) + choice;
}

void next_convolution(struct input *input, unsigned int unit, struct sequence *s)
{
	static const unsigned int sizes[] = { 1, 2, 4 };
	unsigned int dim = side.config.unit[unit].dim, spads;
	struct conv c = { .pool_size = 0 };
	uint64_t first, second;

	s->count = 0;
	choose_shape(input, &c, dim);
	choose_form(input, &c, dim);
	if (!measure(&c))
		return;
	add_sizes(s, &c, sizes[side.config.unit[unit].type]);
	first = place(input, 1);
	second = place(input, 3);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_5, first, second, false);
	first = place(input, 2);
	second = place(input, 0);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_6, first, second, false);
	spads = byte(input);
	add_command(s, VIRGO_FUNCT_LOOP_CONV_WS, c.flags | (spads % 3) << VIRGO_CONV_A_SPAD_SHIFT |
		    (spads / 3 % 3) << VIRGO_CONV_B_SPAD_SHIFT,
		    (!c.pool_size ? VIRGO_CONV_NO_POOL : 0) | (c.downsample ? VIRGO_CONV_DOWNSAMPLE : 0) |
		    (c.input_dilated ? VIRGO_CONV_INPUT_DILATED : 0) |
		    (spads >> 6) << VIRGO_CONV_ACTIVATION_SHIFT, false);
}

/* --- the CISC port ---------------------------------------------------------------------------------- */

#define COMPUTE 0x2b8u
#define COMPUTE_TO_SPAD 0x238u
#define STORE_SPAD 0x278u
#define LOAD 0x2e0u
#define STORE 0x78u

static void tile(struct sequence *s, uint64_t bounds, unsigned int a, unsigned int b_end, bool accumulate,
		 uint64_t loop)
{
	add_command(s, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, bounds, false);
	if (b_end)
		add_command(s, VIRGO_FUNCT_LOOP_WS_SPAD_AB, a, b_end, false);
	add_command(s, VIRGO_FUNCT_LOOP_WS, accumulate, loop, false);
}

static bool expand_paper(unsigned int rows, uint64_t bounds, uint32_t word, struct sequence *s)
{
	unsigned int q = rows / 4;

	switch (word & 31) {
	case 0:
		tile(s, bounds, 0, 3 * q, false, COMPUTE);
		return true;
	case 1:
		tile(s, bounds, 0, 3 * q, true, COMPUTE);
		return true;
	case 2:
		tile(s, bounds, q, 4 * q, true, COMPUTE);
		return true;
	case 3:
		tile(s, bounds, q, 4 * q, false, COMPUTE);
		return true;
	case 8:
		add_command(s, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, word >> 8 & 255, word >> 16 & 255, false);
		return true;
	case 9:
		tile(s, bounds, 0, 0, false, STORE_SPAD);
		return true;
	case 10:
		tile(s, bounds, 0, 3 * q, false, LOAD);
		return true;
	case 11:
		tile(s, bounds, q, 4 * q, false, LOAD);
		return true;
	default:
		return false;
	}
}

static bool expand_later(unsigned int rows, uint64_t bounds, uint32_t word, struct sequence *s)
{
	unsigned int part = rows / 16, a = (word >> 8 & 255) * part, b_end = (word >> 16 & 255) * part + part;

	switch (word & 31) {
	case 0:
		tile(s, bounds, a, b_end, word >> 24 & 1, COMPUTE);
		return true;
	case 1:
		tile(s, bounds, a, b_end, false, COMPUTE_TO_SPAD | (uint64_t)((word >> 24) * part) << 32);
		return true;
	case 2:
		add_command(s, PLACEHOLDER, 0, 0, false);
		return true;
	case 8:
		add_command(s, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, word >> 8 & 4095, word >> 20, false);
		return true;
	case 9:
		tile(s, bounds, 0, 0, false, STORE_SPAD | (uint64_t)a << 32);
		return true;
	case 10:
		tile(s, bounds, a, b_end, false, LOAD);
		return true;
	case 11:
		add_command(s, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, word >> 8 & 4095, word >> 20, false);
		return true;
	case 12:
		tile(s, bounds, 0, 0, false, STORE);
		return true;
	default:
		return false;
	}
}

bool expand_word(unsigned int unit, unsigned int generation, uint64_t bounds, uint32_t word,
		 struct sequence *s)
{
	unsigned int rows = expected[unit].reference->rows;

	s->count = 0;
	if (generation == VIRGO_CISC_PAPER)
		return expand_paper(rows, bounds, word, s);
	return expand_later(rows, bounds, word, s);
}
