/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Lists of instructions, as they are written down for a kernel. */
#include <stdlib.h>

#include "devices/virgo/time/internal.h"

#define POLLED 7	/* the register that a poll loads */

static struct item nowhere;	/* written to when there is no memory; then code->failed is set */

struct item *virgo_time_code_add(struct code *code, enum operation operation, unsigned int lanes)
{
	struct item *item;

	if (code->count == code->room) {
		unsigned int room = code->room ? 2 * code->room : 64;

		item = realloc(code->item, room * sizeof(*item));
		if (!item) {
			code->failed = true;
			return &nowhere;
		}
		code->item = item;
		code->room = room;
	}
	item = &code->item[code->count++];
	*item = (struct item){ .instruction = { .operation = (uint8_t)operation, .lanes = (uint8_t)lanes,
						.group = (uint8_t)lanes } };
	return item;
}

void virgo_time_code_alu(struct code *code, unsigned int count, unsigned int to, unsigned int from, unsigned int lanes)
{
	for (unsigned int i = 0; i < count; i++) {
		struct item *item = virgo_time_code_add(code, OP_ALU, lanes);

		item->instruction.to = (uint8_t)to;
		item->instruction.from[0] = (uint8_t)(i ? to : from);
	}
}

void virgo_time_code_poll(struct code *code, enum when when)
{
	struct item *item;

	virgo_time_code_add(code, OP_ALU, 1)->when = (uint8_t)when;
	item = virgo_time_code_add(code, OP_LOAD_BUSY, 1);
	item->instruction.to = POLLED;
	item->when = (uint8_t)when;
	item = virgo_time_code_add(code, OP_BRANCH_BUSY, 1);
	item->instruction.from[0] = POLLED;
	item->when = (uint8_t)when;
}

void virgo_time_code_command(struct code *code, enum request request, enum when when)
{
	struct item *item = virgo_time_code_add(code, OP_COMMAND, 1);

	item->instruction.request = (uint8_t)request;
	item->when = (uint8_t)when;
}

void virgo_time_code_free(struct warp_code *code)
{
	for (unsigned int part = 0; part < PARTS; part++) {
		free(code->part[part].item);
		code->part[part] = (struct code){ 0 };
	}
}
