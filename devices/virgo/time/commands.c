/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Turns a command of the functional model into operations of the engines. */
#include <string.h>

#include "devices/virgo/time/commands.h"

static bool is_empty(const struct virgo_time_range *range)
{
	return range->first == range->last;
}

/* Ranges of one operation are joined: it waits for all that lies between them, too. */
static void join(struct virgo_time_range *all, const struct virgo_watched_range *one)
{
	if (one->first == one->last)
		return;
	if (is_empty(all)) {
		*all = (struct virgo_time_range){ one->first, one->last };
		return;
	}
	if (one->first < all->first)
		all->first = one->first;
	if (one->last > all->last)
		all->last = one->last;
}

static void add_ranges(struct virgo_time_operation *operation, const struct virgo_watched *part)
{
	join(&operation->reads, &part->reads);
	join(&operation->writes, &part->writes);
	join(&operation->reads_rows, &part->reads_rows);
	join(&operation->writes_rows, &part->writes_rows);
}

static void add_requests(const struct virgo_time_parameters *parameters, struct virgo_time_operation *operation,
			 const struct virgo_watched *part)
{
	uint64_t of_row = (part->row_bytes + parameters->dma_request - 1) / parameters->dma_request;
	uint64_t bytes = part->row_bytes < parameters->dma_request ? part->row_bytes : parameters->dma_request;
	uint32_t beats = (uint32_t)((bytes + parameters->bus_beat - 1) / parameters->bus_beat);

	operation->requests += (uint32_t)(part->rows * of_row);
	/* Those of a short row have fewer; of several rows the longest counts. */
	if (beats > operation->request_beats)
		operation->request_beats = beats;
}

static void add_passes(const struct virgo_time_parameters *parameters, unsigned int dim,
		       struct virgo_time_operation *operation, const struct virgo_watched *part)
{
	uint64_t line = parameters->shared_words * 4, row = (uint64_t)dim * part->element_bytes;

	operation->passes += part->passes;
	if (operation->a_bytes)
		return;
	operation->rows = dim * (unsigned int)(row > line ? row / line : 1);
	operation->pass_reuse = part->reuse ? part->reuse : 1;
	operation->a_base = part->a.first;
	operation->b_base = part->b.first;
	operation->a_bytes = part->a.last - part->a.first;
	operation->b_bytes = part->b.last - part->b.first;
	if (!operation->a_bytes)
		operation->a_bytes = (uint32_t)line;
	if (!operation->b_bytes)
		operation->b_bytes = (uint32_t)line;
}

void virgo_time_command_begin(struct virgo_time_command *command)
{
	memset(command, 0, sizeof(*command));
	for (unsigned int i = 0; i < VIRGO_ENGINES; i++)
		command->operation[i].engine = (enum virgo_time_engine)i;
}

void virgo_time_command_add(struct virgo_time_command *command, const struct virgo_time_parameters *parameters,
			    unsigned int dim, const struct virgo_watched *part)
{
	static const enum virgo_time_engine engines[] = {
		[VIRGO_WATCHED_LOAD] = VIRGO_ENGINE_LOAD,
		[VIRGO_WATCHED_MULTIPLY] = VIRGO_ENGINE_EXECUTE,
		[VIRGO_WATCHED_STORE] = VIRGO_ENGINE_STORE,
		[VIRGO_WATCHED_MOVE] = VIRGO_ENGINE_STORE,
	};
	struct virgo_time_operation *operation = &command->operation[engines[part->kind]];

	add_ranges(operation, part);
	operation->element_bytes = part->element_bytes;
	if (part->kind == VIRGO_WATCHED_MULTIPLY)
		add_passes(parameters, dim, operation, part);
	else if (part->kind != VIRGO_WATCHED_MOVE && part->row_bytes)
		add_requests(parameters, operation, part);
	if (operation->engine == VIRGO_ENGINE_STORE)
		operation->moved_rows += part->rows;
}

static bool has_work(const struct virgo_time_operation *operation)
{
	return operation->requests || operation->passes || operation->moved_rows;
}

/* Zeros that are moved in take no engine's time. */
void virgo_time_command_end(struct virgo_time_command *command, bool is_loop)
{
	command->is_loop = is_loop;
	command->count = 0;
	for (unsigned int i = 0; i < VIRGO_ENGINES; i++)
		if (has_work(&command->operation[i]))
			command->operation[command->count++] = command->operation[i];
}
