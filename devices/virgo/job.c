/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Jobs: commands of a unit that have left its queue. Only virgo_job_run() and the
 * functions that it calls run outside of the caller's lock; they touch the job,
 * the accumulator, the shared memory and the memory port, and nothing else.
 */
#include "devices/float_mode.h"
#include "devices/virgo/virgo_internal.h"

void virgo_job_power_on(struct unit *u)
{
	struct execution *x = &u->job.x;
	uint64_t counters[VIRGO_COUNTER_COUNT];

	memcpy(counters, x->counters, sizeof(counters));
	memset(x, 0, sizeof(*x));
	memcpy(x->counters, counters, sizeof(counters));
	x->dma.page = NO_PAGE;
	virgo_configuration_reset(x, u->dim);
	virgo_norm_reset(u, &x->norm);
	x->array.preload = VIRGO_GARBAGE;
	x->array.output = VIRGO_GARBAGE;
	memset(u->accumulator, 0, sizeof(union lane) * u->accumulator_rows * u->dim);
}

/* The performance counters of COUNTER count on from where they were. */
static void subtract_cleared(struct virgo_job *job)
{
	struct performance_counters *p = &job->x.performance;

	for (unsigned int i = 0; i < VIRGO_COUNTER_COUNT; i++)
		job->x.counters[i] -= job->cleared[i];
	for (unsigned int i = 0; i < VIRGO_PERFORMANCE_COUNTERS; i++) {
		if (p->event[i])
			p->base[i] -= job->cleared[p->event[i] - 1] + job->front_cleared[p->event[i] - 1];
	}
	memset(job->cleared, 0, sizeof(job->cleared));
	memset(job->front_cleared, 0, sizeof(job->front_cleared));
}

void virgo_job_clear_counters(struct unit *u)
{
	struct front *f = &u->front;

	for (unsigned int i = 0; i < VIRGO_COUNTER_COUNT; i++) {
		u->job.cleared[i] += f->published[i];
		u->job.front_cleared[i] += f->counters[i];
	}
	memset(f->published, 0, sizeof(f->published));
	memset(f->counters, 0, sizeof(f->counters));
	/* Else when it comes back. */
	if (f->job_state != JOB_OUTSTANDING)
		subtract_cleared(&u->job);
}

/* --- taking ---------------------------------------------------------------------------- */

static bool is_available(const struct unit *u)
{
	return u->front.job_state == JOB_READY;
}

static void take(struct unit *u)
{
	struct virgo_job *job = &u->job;

	/* Else it goes on with its commands. */
	if (!u->front.taken)
		virgo_queue_take(u);
	u->front.job_state = JOB_OUTSTANDING;
	memcpy(job->x.front_counters, u->front.counters, sizeof(job->x.front_counters));
	job->budget = BUDGET_JOB;
	job->outcome = WORK_DONE;
	job->trace = *trace_of(u);
	job->trace_epoch = u->trace_epoch;
	job->error = VIRGO_ERROR_NONE;
	job->loops_done = 0;
	job->cisc_done = 0;
	job->steps = 0;
	job->limit = 0;
	job->stopped_after = UINT32_MAX;
	__atomic_store_n(&job->drop, 0, __ATOMIC_RELAXED);
}

bool virgo_model_has_job(const struct mimic_model *model)
{
	const struct virgo *v = (const struct virgo *)model;

	for (unsigned int i = 0; i < v->config.units; i++) {
		if (is_available(&v->unit[i]))
			return true;
	}
	return false;
}

struct virgo_job *virgo_model_take_job(struct mimic_model *model)
{
	struct virgo *v = virgo_of(model);

	for (unsigned int i = 0; i < v->config.units; i++) {
		if (!is_available(&v->unit[i]))
			continue;
		take(&v->unit[i]);
		return &v->unit[i].job;
	}
	return NULL;
}

unsigned int virgo_job_steps(const struct virgo_job *job)
{
	return job->stopped_after;
}

void virgo_job_limit(struct virgo_job *job, unsigned int steps)
{
	job->limit = steps;
}

unsigned int virgo_job_unit(const struct virgo_job *job)
{
	return job->unit->number;
}

/* --- running ----------------------------------------------------------------------------- */

/* Between two commands. */
static bool is_stopped(struct virgo_job *job)
{
	bool stops = job->limit ? job->steps >= job->limit :
				  __atomic_load_n(&job->drop, __ATOMIC_RELAXED);

	if (stops)
		job->stopped_after = job->steps;
	return stops;
}

static void run(struct virgo_job *job)
{
	struct execution *x = &job->x;

	while (x->next < x->count) {
		const struct command *command = &x->batch[x->next];
		uint64_t begin = mimic_trace_now(&job->trace);

		job->outcome = virgo_command_execute(job, command);
		/* enum mimic_trace_outcome is in the order of enum work */
		MIMIC_TRACE_FROM(&job->trace, begin, command, 0ull, job->unit->number, command->rs1,
				 job->outcome, command->word, trace_number(job->trace_epoch, command));
		if (job->outcome != WORK_DONE)
			return;
		job->loops_done += virgo_command_is_loop(command->funct);
		job->cisc_done += command->ends_cisc;
		virgo_watch_executed(job, command);
		x->next++;
		job->steps++;
		if (x->next < x->count && (!spend(job, 4) || is_stopped(job))) {
			job->outcome = WORK_MORE;
			return;
		}
	}
}

void virgo_job_run(struct virgo_job *job)
{
	uint64_t mode = mimic_float_mode_begin();

	run(job);
	mimic_float_mode_end(mode);
}

/* --- handing back ---------------------------------------------------------------------------- */

/* The command that failed and the rest of the batch are over. */
static void drop_batch(struct unit *u)
{
	struct front *f = &u->front;
	struct execution *x = &u->job.x;
	bool has_ended;

	for (uint32_t i = x->next; i < x->count; i++) {
		f->loops -= virgo_command_is_loop(x->batch[i].funct);
		f->cisc_unfinished -= x->batch[i].ends_cisc;
	}
	f->dropped_behind += x->count - x->next;
	count_front(u, VIRGO_COUNTER_dropped, x->count - x->next - 1);
	/* One that failed by itself has ended. */
	has_ended = u->job.outcome == WORK_ERROR;
	trace_dropped(u, u->job.trace_epoch, &x->batch[x->next] + has_ended,
		      x->count - x->next - has_ended);
	x->count = 0;
	x->next = 0;
	memset(&x->progress, 0, sizeof(x->progress));
	f->taken = 0;
}

static void fail_command(struct virgo *v, struct unit *u, enum virgo_error error, uint64_t value)
{
	struct command command = u->job.x.batch[u->job.x.next];

	drop_batch(u);
	virgo_watch_failed(u);
	u->front.job_state = JOB_NONE;
	virgo_unit_latch(v, u, &command, error, value);
}

/* The address is bad for good. */
static void fault_is_bad(struct virgo *v, struct unit *u)
{
	const struct dma *dma = &u->job.x.dma;

	v->cluster.fault_count++;
	v->cluster.last_fault = (dma->fault_address & ~PAGE_MASK) | u->number |
				(dma->fault_writes ? VIRGO_FAULT_WRITES : 0);
	count_front(u, VIRGO_COUNTER_faults, 1);
	fail_command(v, u, dma->fault_writes ? VIRGO_ERROR_STORE : VIRGO_ERROR_LOAD,
		     dma->fault_address);
}

static enum mimic_fault_answer ask(struct virgo *v, struct unit *u)
{
	const struct dma *dma = &u->job.x.dma;

	if (!v->host.page_fault)
		return MIMIC_FAULT_BAD;
	count_front(u, VIRGO_COUNTER_page_faults, 1);
	return v->host.page_fault(v->host.context, dma->fault_address,
				  u->number | (dma->fault_writes ? VIRGO_FAULT_WRITES : 0));
}

static void stall(struct virgo *v, struct unit *u)
{
	const struct dma *dma = &u->job.x.dma;

	u->front.job_state = JOB_STALLED;
	u->front.stall_page = dma->fault_address & ~PAGE_MASK;
	u->front.stall_writes = dma->fault_writes;
	u->front.stall_order = ++v->cluster.stall_order;
	if (v->host.interrupt)
		v->host.interrupt(v->host.context);
}

static void page_fault(struct virgo *v, struct unit *u)
{
	enum mimic_fault_answer answer = ask(v, u);
	const struct dma *dma = &u->job.x.dma;
	struct front *f = &u->front;

	MIMIC_TRACE(&v->model.trace, page_fault, 0ull, u->number, dma->fault_address, dma->fault_writes,
		    answer, 0ull);
	if (f->retry_address != dma->fault_address)
		f->retries = 0;
	f->retry_address = dma->fault_address;
	switch (answer) {
	case MIMIC_FAULT_RETRY:
		if (f->retries++ >= RETRIES_MAX) {
			fault_is_bad(v, u);
			return;
		}
		count_front(u, VIRGO_COUNTER_resolves, 1);
		f->job_state = JOB_READY;
		return;
	case MIMIC_FAULT_STALL:
		stall(v, u);
		return;
	default:
		fault_is_bad(v, u);
	}
}

void virgo_job_resolve(struct virgo *v, struct unit *u, bool present)
{
	if (u->front.job_state != JOB_STALLED)
		return;
	MIMIC_TRACE(&v->model.trace, resolve, 0ull, u->number, u->front.stall_page, present, 0ull, 0ull);
	if (!present) {
		fault_is_bad(v, u);
		return;
	}
	count_front(u, VIRGO_COUNTER_resolves, 1);
	u->front.job_state = JOB_READY;
}

/* Commands that are over. */
static void complete(struct virgo *v, struct unit *u, uint32_t count)
{
	struct front *f = &u->front;

	f->completed += count;
	f->loops -= u->job.loops_done;
	f->cisc_unfinished -= u->job.cisc_done;
	if (u->job.loops_done)
		virgo_raise(v, VIRGO_EVENT_LOOP(u->number));
}

/* Makes the job's work visible. */
static void account(struct virgo *v, struct unit *u)
{
	struct front *f = &u->front;
	struct execution *x = &u->job.x;
	uint32_t first = x->count - f->taken, done = x->next - first;

	f->taken -= done;
	f->counter_result = x->performance.result;
	memcpy(f->published, x->counters, sizeof(f->published));
	if (v->watch)
		virgo_queue_hold(u, &x->batch[first], done);
	else
		complete(v, u, done);
}

static void finish(struct virgo *v, struct unit *u)
{
	struct front *f = &u->front;
	struct virgo_job *job = &u->job;

	subtract_cleared(job);
	if (f->reset_pending) {
		/* The reset dropped the commands that the job still had. */
		trace_dropped(u, job->trace_epoch, &job->x.batch[job->x.next],
			      job->x.count - job->x.next);
		f->taken = 0;
		virgo_job_power_on(u);
		if (f->reset_pending == RESET_POWER_ON)
			memset(u->job.x.counters, 0, sizeof(u->job.x.counters));
		memcpy(f->published, u->job.x.counters, sizeof(f->published));
		f->reset_pending = RESET_NONE;
		f->job_state = f->queue.level ? JOB_READY : JOB_NONE;
		return;
	}
	account(v, u);
	switch (job->outcome) {
	case WORK_MORE:
		f->job_state = JOB_READY;
		return;
	case WORK_FAULT:
		page_fault(v, u);
		return;
	case WORK_ERROR:
		fail_command(v, u, job->error, job->error_value);
		return;
	case WORK_DONE:
		f->job_state = f->queue.level ? JOB_READY : JOB_NONE;
		return;
	}
}

void virgo_model_job_done(struct mimic_model *model, struct virgo_job *job, uint64_t now)
{
	struct virgo *v = virgo_of(model);

	if (now > v->cluster.now)
		v->cluster.now = now;
	mimic_trace_now(&v->model.trace);
	finish(v, job->unit);
	virgo_unit_settle(v, job->unit);
	virgo_parked_sweep(v);
}

/* --- without threads ------------------------------------------------------------------------------ */

void virgo_job_tick(struct virgo *v)
{
	for (unsigned int i = 0; i < v->config.units; i++) {
		struct unit *u = &v->unit[i];

		if (!is_available(u))
			continue;
		take(u);
		u->job.budget = BUDGET_TICK;
		virgo_job_run(&u->job);
		finish(v, u);
		virgo_unit_settle(v, u);
	}
}
