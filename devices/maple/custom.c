/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The custom accelerator page: command and response FIFOs; the shipped accelerator echoes (contract A10). */
#include "devices/maple/maple_internal.h"

static bool put(struct custom_fifo *fifo, unsigned int depth, uint64_t data)
{
	if (fifo->count == depth)
		return false;
	fifo->data[(fifo->first + fifo->count++) % CUSTOM_MAX] = data;
	return true;
}

static bool get(struct custom_fifo *fifo, uint64_t *data)
{
	if (!fifo->count)
		return false;
	*data = fifo->data[fifo->first];
	fifo->first = (fifo->first + 1) % CUSTOM_MAX;
	fifo->count--;
	return true;
}

static uint64_t byte_order(const struct maple *m, uint64_t data)
{
	uint64_t high, low;

	if (!has_quirk(m, MAPLE_QUIRK_custom_byte_swapped))
		return data;
	high = __builtin_bswap32((uint32_t)(data >> 32));
	low = __builtin_bswap32((uint32_t)data);
	return high << 32 | low;
}

/* The echo takes a command as soon as it is there; a response beyond the FIFO's depth is lost. */
void maple_custom_store(struct maple *m, uint64_t data)
{
	uint64_t command;

	put(&m->state.commands, m->config.custom_commands, data);
	while (get(&m->state.commands, &command))
		put(&m->state.responses, m->config.custom_responses, command);
}

uint64_t maple_custom_load(struct maple *m)
{
	uint64_t data;

	return get(&m->state.responses, &data) ? byte_order(m, data) : 0;
}

bool maple_custom_hijack(const struct maple *m, uint64_t *answer)
{
	if (!has_quirk(m, MAPLE_QUIRK_custom_hijacks_loads) || !m->state.responses.count)
		return false;
	*answer = byte_order(m, m->state.responses.data[m->state.responses.first]);
	return true;
}
