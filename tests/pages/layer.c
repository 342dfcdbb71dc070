/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Around the layer of docs/libvirgo.md. */
#include <virgo.h>

void check(int result, const char *doing);
void layer_of(struct virgo *virgo, unsigned int unit, size_t rows, size_t outputs, size_t inputs, const int8_t *activations,
	      const int8_t *weights, const int32_t *bias, int8_t *result);

void layer_of(struct virgo *virgo, unsigned int unit, size_t rows, size_t outputs, size_t inputs, const int8_t *activations,
	      const int8_t *weights, const int32_t *bias, int8_t *result)
{
#include "block.inc"
}
