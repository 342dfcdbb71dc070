/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_reference.h"

#include <stdlib.h>

#include "tests/lib/virgo_reference_internal.h"

/* --- CONFIG ----------------------------------------------------------------------------------- */

static void config(ref *r, uint64_t rs1, uint64_t rs2)
{
	unsigned int id = bits(rs1, 3, 2);

	switch (rs1 & 3) {
	case 0:
		r->a_stride = bits(rs1, 16, 16);
		r->c_stride = bits(rs2, 48, 16);
		if (bits(rs1, 7, 1))
			return;
		r->weight_stationary = bits(rs1, 2, 1);
		r->array_activation = bits(rs1, 3, 2);
		r->a_transposed = bits(rs1, 8, 1);
		r->b_transposed = bits(rs1, 9, 1);
		r->array_scale = as_float(bits(rs1, 32, 32));
		r->shift = (unsigned int)rs2;
		return;
	case 1:
		r->load[id].stride = rs2;
		r->load[id].shrunk = bits(rs1, 2, 1);
		r->load[id].pixels = bits(rs1, 8, 8) ? bits(rs1, 8, 8) : 1;
		r->load[id].block_stride = bits(rs1, 16, 16);
		r->load[id].scale = as_float(bits(rs1, 32, 32));
		return;
	case 2:
		r->store_stride = (uint32_t)rs2;
		if (bits(rs2, 32, 32) != 0xffffffff)
			r->store_scale = as_float(bits(rs2, 32, 32));
		r->store_activation = bits(rs1, 2, 2);
		r->activation_high = 0;
		r->pool_stride = bits(rs1, 4, 2);
		r->pool_size = bits(rs1, 6, 2);
		r->pool_top = bits(rs1, 8, 2);
		r->pool_left = bits(rs1, 10, 2);
		r->pool_out_columns = bits(rs1, 24, 8);
		r->pool_rows = bits(rs1, 32, 8);
		r->pool_columns = bits(rs1, 40, 8);
		r->out_rows = bits(rs1, 48, 8);
		r->out_columns = bits(rs1, 56, 8);
		return;
	default:
		r->statistic = bits(rs1, 8, 8);
		if (bits(rs1, 17, 1))
			return;
		r->activation_high = bits(rs1, 16, 1);
		if (bits(rs1, 18, 1))
			r->qln2_inverse.u = bits(rs1, 32, 32);
		else
			r->qln2.u = bits(rs1, 32, 32);
		r->qb.u = (uint32_t)rs2;
		r->qc.u = bits(rs2, 32, 32);
	}
}

/* --- all of them -------------------------------------------------------------------------------- */

static void any_mvout(ref *r, uint64_t rs1, uint64_t rs2)
{
	if (r->pool_stride)
		reference_mvout_pooled(r, rs1, (uint32_t)rs2, bits(rs2, 32, 16), reference_out_activation(r));
	else
		reference_mvout(r, rs1, (uint32_t)rs2, bits(rs2, 48, 16), bits(rs2, 32, 16),
				reference_out_activation(r));
}

void virgo_reference_command(struct virgo_reference *r, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	static const unsigned int load_of[] = { [1] = 1, [2] = 0, [14] = 2 };

	switch (funct) {
	case 0:
		config(r, rs1, rs2);
		break;
	case 1:
	case 2:
	case 14:
		reference_mvin(r, rs1, (uint32_t)rs2, bits(rs2, 48, 16), bits(rs2, 32, 16), load_of[funct]);
		break;
	case 3:
		any_mvout(r, rs1, rs2);
		break;
	case 4:
	case 5:
		reference_compute(r, rs1, rs2, funct == 4);
		break;
	case 6:
		r->preload = rs1;
		r->output = rs2;
		break;
	case 8:
		reference_loop_ws(r, rs1, rs2);
		break;
	case 9:
	case 10:
	case 11:
	case 12:
	case 13:
		r->ws[2 * (funct - 9)] = rs1;
		r->ws[2 * (funct - 9) + 1] = rs2;
		break;
	case 23:
		reference_mvout_spad(r, (uint32_t)rs2, bits(rs2, 48, 16), bits(rs2, 32, 16), bits(rs1, 0, 32),
			   bits(rs1, 32, 32), reference_out_activation(r));
		break;
	case 15:
		reference_loop_conv(r, rs1, rs2);
		break;
	case 16:
	case 17:
	case 18:
	case 19:
	case 20:
	case 21:
		r->conv[2 * (funct - 16)] = rs1;
		r->conv[2 * (funct - 16) + 1] = rs2;
		break;
	case 24:
	case 25:
		r->ws[10 + 2 * (funct - 24)] = (uint32_t)rs1;
		r->ws[11 + 2 * (funct - 24)] = (uint32_t)rs2;
		break;
	default:
		break;
	}
}

struct virgo_reference *virgo_reference_create_on(uint8_t *spad, unsigned int type, unsigned int dim,
						  unsigned int shared_bytes,
						  unsigned int accumulator_bytes)
{
	ref *r = spad ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->type = type;
	r->dim = dim;
	r->rows = shared_bytes / (dim * element_bytes(r));
	r->accumulator_rows = accumulator_bytes / (dim * 4);
	r->spad = spad;
	r->accumulator = calloc(1, accumulator_bytes);
	for (unsigned int i = 0; i < 3; i++) {
		r->load[i].pixels = 1;
		r->load[i].scale = 1;
		r->load[i].block_stride = dim;
	}
	r->weight_stationary = true;
	r->a_stride = 1;
	r->c_stride = 1;
	r->array_scale = 1;
	r->store_scale = 1;
	r->preload = GARBAGE;
	r->output = GARBAGE;
	for (unsigned int i = 0; i < 4; i++) {
		reference_forget_sums(r, i);
		r->statistics[i].max = r->statistics[i].running_max;
		r->statistics[i].inverse_deviation = 1;
		r->statistics[i].inverse_sum = 1;
	}
	if (r->accumulator)
		return r;
	free(r);
	return NULL;
}

struct virgo_reference *virgo_reference_create(unsigned int type, unsigned int dim,
					       unsigned int shared_bytes,
					       unsigned int accumulator_bytes)
{
	uint8_t *spad = calloc(1, shared_bytes);
	ref *r = virgo_reference_create_on(spad, type, dim, shared_bytes, accumulator_bytes);

	if (!r)
		free(spad);
	return r;
}

void virgo_reference_destroy(struct virgo_reference *r)
{
	if (!r)
		return;
	free(r->spad);
	free(r->accumulator);
	free(r);
}
