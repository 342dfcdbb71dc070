/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Around the two products at once of docs/libvirgo.md. */
#include <virgo.h>

void check(int result, const char *doing);
void two(struct virgo *virgo, struct virgo_product one, struct virgo_product other);

void two(struct virgo *virgo, struct virgo_product one, struct virgo_product other)
{
#include "block.inc"
}
