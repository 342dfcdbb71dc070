/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command queue of a unit: commands wait here until a job takes them. */
#include "devices/virgo/virgo_internal.h"

bool virgo_command_is_loop(unsigned int funct)
{
	return funct == VIRGO_FUNCT_LOOP_WS || funct == VIRGO_FUNCT_LOOP_CONV_WS ||
	       funct == FUNCT_PLACEHOLDER;
}

/* Commands that a job has taken and not finished hold their places. */
unsigned int virgo_command_queue_room(const struct virgo *v, const struct unit *u)
{
	unsigned int used = u->front.queue.level + u->front.taken;

	return used < v->config.queue_entries ? v->config.queue_entries - used : 0;
}

void virgo_queue_count_dropped(struct front *f)
{
	if (f->taken)
		return;
	f->completed += f->dropped_behind;
	f->dropped_behind = 0;
}

/* COMPLETED counts in order. */
static void drop(struct front *f, uint32_t count)
{
	f->dropped_behind += count;
	virgo_queue_count_dropped(f);
}

/* The caller has made sure of the room. */
void virgo_command_queue_push(struct unit *u, const struct command *command)
{
	struct front *f = &u->front;
	struct command_queue *queue = &f->queue;
	struct command *entry = &queue->entry[(queue->first + queue->level) % VIRGO_MAX_QUEUE];

	f->was_busy = 1;
	*entry = *command;
	entry->position = f->dispatched++;
	MIMIC_TRACE(trace_of(u), command_queued, 0ull, u->number, entry->rs1, 0u, entry->word,
		    trace_number(u->trace_epoch, entry));
	if (f->error) {
		/* Nothing happens until the error is cleared. */
		drop(f, 1);
		count_front(u, VIRGO_COUNTER_dropped, 1);
		trace_dropped(u, u->trace_epoch, entry, 1);
		return;
	}
	queue->level++;
	f->loops += virgo_command_is_loop(command->funct);
	f->cisc_unfinished += command->ends_cisc;
	if (f->job_state == JOB_NONE)
		f->job_state = JOB_READY;
}

void virgo_queue_drop_all(struct unit *u)
{
	struct front *f = &u->front;

	count_front(u, VIRGO_COUNTER_dropped, f->queue.level);
	trace_dropped(u, u->trace_epoch, &f->queue.entry[f->queue.first], f->queue.level);
	drop(f, f->queue.level);
	while (f->queue.level) {
		const struct command *entry = &f->queue.entry[f->queue.first];

		f->loops -= virgo_command_is_loop(entry->funct);
		f->cisc_unfinished -= entry->ends_cisc;
		f->queue.first = (f->queue.first + 1) % VIRGO_MAX_QUEUE;
		f->queue.level--;
	}
}

/* A loop ends a job, so that LOOPS counts down one by one. */
bool virgo_queue_take(struct unit *u)
{
	struct command_queue *queue = &u->front.queue;
	struct execution *x = &u->job.x;

	x->count = 0;
	x->next = 0;
	while (queue->level && x->count < BATCH_MAX) {
		const struct command *entry = &queue->entry[queue->first];

		x->batch[x->count++] = *entry;
		queue->first = (queue->first + 1) % VIRGO_MAX_QUEUE;
		queue->level--;
		if (virgo_command_is_loop(entry->funct))
			break;
	}
	u->front.taken = x->count;
	return x->count;
}
