/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The command queue of a unit: commands wait here until a job takes them. */
#include "devices/virgo/virgo_internal.h"

bool virgo_command_is_loop(unsigned int funct)
{
	return funct == VIRGO_FUNCT_LOOP_WS || funct == VIRGO_FUNCT_LOOP_CONV_WS ||
	       funct == FUNCT_PLACEHOLDER;
}

unsigned int virgo_queue_unfinished(const struct unit *u)
{
	return u->front.queue.level + u->front.taken + u->held.level;
}

/* Commands that a job has taken and not finished hold their places. */
unsigned int virgo_command_queue_room(const struct virgo *v, const struct unit *u)
{
	unsigned int used = virgo_queue_unfinished(u);

	return used < v->config.queue_entries ? v->config.queue_entries - used : 0;
}

static struct held_command *held_at(struct unit *u, uint32_t place)
{
	return &u->held.command[(u->held.first + place) % VIRGO_MAX_QUEUE];
}

void virgo_queue_count_dropped(struct unit *u)
{
	struct front *f = &u->front;

	if (f->taken)
		return;
	if (u->held.level)
		held_at(u, u->held.level - 1)->dropped_behind += f->dropped_behind;
	else
		f->completed += f->dropped_behind;
	f->dropped_behind = 0;
}

/* COMPLETED counts in order. */
static void drop(struct unit *u, uint32_t count)
{
	u->front.dropped_behind += count;
	virgo_queue_count_dropped(u);
}

void virgo_queue_hold(struct unit *u, const struct command *first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		*held_at(u, u->held.level++) = (struct held_command){
			.is_loop = virgo_command_is_loop(first[i].funct), .ends_cisc = first[i].ends_cisc,
		};
}

void virgo_model_command_over(struct mimic_model *model, unsigned int number, uint64_t now)
{
	struct virgo *v = virgo_of(model);
	struct unit *u = &v->unit[number];
	struct front *f = &u->front;
	struct held_command over;

	/* A reset may have come before. */
	if (!u->held.level)
		return;
	if (now > v->cluster.now)
		v->cluster.now = now;
	mimic_trace_now(&v->model.trace);
	over = *held_at(u, 0);
	u->held.first = (u->held.first + 1) % VIRGO_MAX_QUEUE;
	u->held.level--;
	f->completed += 1 + over.dropped_behind;
	f->loops -= over.is_loop;
	f->cisc_unfinished -= over.ends_cisc;
	if (over.is_loop)
		virgo_raise(v, VIRGO_EVENT_LOOP(number));
	virgo_unit_settle(v, u);
	virgo_parked_sweep(v);
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
		drop(u, 1);
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
	drop(u, f->queue.level);
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
