// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults of the device, and its events, which come by the same interrupt.
 *
 * The device's walker finds a page absent: it stalls the access that needed the page,
 * latches the address and raises its interrupt. Here the address is read from
 * the device's registers, the page is faulted in for the process whose it is, and
 * RESOLVE is written: the device walks again. An address that is not the
 * process's is resolved too, else it would stall for ever: the device then reads
 * 0 or reports an error, and the program is told before that.
 *
 * A page may be long in coming, or never come (FUSE, userfaultfd). No lock is held while it is
 * waited for: a page that takes long is left to a thread of its own (accelerator/slow.c).
 * Of a device that several programs have, one must not keep the others waiting for a page that only
 * it is interested in. Nor must one unit of a device keep another one waiting: the page may wait
 * for the other unit's work. So such a device is told to show the other faults first.
 * A device that cannot (it has no postpone()) shows the same fault until its page has come.
 *
 * An interrupt is only a reason to look. A lost one would leave a program in a
 * load for ever, as nobody else knows of the fault; so while a process has the
 * device a watch looks every watch_ms, too.
 */
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "compat.h"
#include "internal.h"

/* Faults of one run, so that a program that makes nothing else does not keep it going. */
#define RUN_MAX 1024
/* The same fault in a row, before it is left to its interrupt, or the watch if it has none. */
#define REPEATS_MAX 16
/* Rounds of the watch after which a fault that stays deserves a word. */
#define STUCK_ROUNDS 4
/* Looks at one fault while there is no memory for its page. */
#define POSTPONED_MAX 8
/* How long after a fault its interrupt may come. */
#define DUE_JIFFIES (HZ / 20)

struct run {
	unsigned int served;
	unsigned int due;	/* interrupts up to the last read of `raised` */
	u64 skipped;		/* the first fault whose page is on its way */
	bool has_events;
	bool from_interrupt;
	bool is_late;		/* for the result of a slow fault */
	bool no_answer;
	bool has_more;		/* look again at once */
	bool repeats;		/* the last one comes again and again */
	u64 word;
	u64 address;
};

/* --- one fault ------------------------------------------------------------ */

/*
 * For the process that has the context: the fault is its own, as the device
 * forgets faults when that changes, and the next process cannot enter meanwhile.
 */
int accelerator_fault_in(struct accelerator_context *context,
			 const struct accelerator_fault *fault, bool nowait)
{
	int error;

	error = mimic_binding_fault_in(context->binding, fault->address, fault->writes, nowait);
	if (error == -EFAULT && fault->writes && fault->may_read_only)
		error = mimic_binding_fault_in(context->binding, fault->address, false, nowait);
	return error;
}

/* -EINPROGRESS: its page is on its way. accelerator->serving is held. */
static int accelerator_bring_page(struct run *run, struct accelerator_context *context,
				  const struct accelerator_fault *fault)
{
	struct accelerator_slow *slow;
	int error;

	if (!context)
		return -ESRCH;
	slow = &context->slow[fault->source];
	/* After a reset of the context it may be another one; that has to wait, too. */
	if (slow->state == ACCELERATOR_SLOW_RUNS)
		return -EINPROGRESS;
	if (slow->state == ACCELERATOR_SLOW_DONE) {
		slow->state = ACCELERATOR_SLOW_NONE;
		if (slow->fault.word == fault->word)
			return slow->result;
	}
	error = accelerator_fault_in(context, fault, true);
	if (error != -EAGAIN)
		return error;
	error = accelerator_slow_begin(slow, fault);
	if (error)
		return error;
	run->served++;
	return -EINPROGRESS;
}

static void accelerator_count_served(struct accelerator_context *context)
{
	atomic64_inc(&context->accelerator->faults);
	atomic64_inc(&context->faults);
}

static void accelerator_count_unresolved(struct accelerator_context *context)
{
	atomic64_inc(&context->accelerator->unresolved);
	atomic64_inc(&context->unresolved);
	accelerator_context_fault(context);
}

/* -EINPROGRESS: later; or the error of the register access. */
static int accelerator_postpone(struct accelerator *accelerator,
				const struct accelerator_fault *fault)
{
	int error = 0;

	if (accelerator->driver->postpone)
		error = accelerator->driver->postpone(accelerator, fault);
	return error ? error : -EINPROGRESS;
}

/* -EAGAIN: no memory now, the fault stays. -EINPROGRESS: later. */
static int accelerator_serve_fault(struct accelerator *accelerator, struct run *run,
				   const struct accelerator_fault *fault)
{
	struct accelerator_context *context = NULL;
	int result;

	if (fault->context < accelerator->context_count)
		context = accelerator->contexts[fault->context];
	result = accelerator_bring_page(run, context, fault);
	if (result == -EINPROGRESS)
		return accelerator_postpone(accelerator, fault);
	/* All counters move before RESOLVE: a program that sees its effect sees them, too. */
	switch (result) {
	case 0:
		accelerator_count_served(context);
		break;
	case -ESRCH:
		break;
	case -EFAULT:
		accelerator_count_unresolved(context);
		break;
	default:
		if (accelerator->postponed++ < POSTPONED_MAX)
			return -EAGAIN;
		accelerator_count_unresolved(context);
		break;
	}
	if (!run->from_interrupt && !run->is_late)
		atomic64_inc(&accelerator->polled);
	accelerator->postponed = 0;
	return accelerator->driver->resolve(accelerator, fault, result);
}

/* --- all of them ---------------------------------------------------------- */

/* One fault. False: enough for now. */
static bool accelerator_serve_oldest(struct accelerator *accelerator, struct run *run,
				     unsigned int *repeats)
{
	bool is_fresh = run->from_interrupt && !run->served;
	struct accelerator_fault fault = { 0 };
	int error;

	if (!accelerator->driver->read_fault)
		return false;
	error = accelerator->driver->read_fault(accelerator, is_fresh, &fault);
	run->no_answer = error;
	/* Once round: all that wait do so for pages that are on their way. */
	if (error || !fault.word || fault.word == run->skipped)
		return false;
	error = accelerator_serve_fault(accelerator, run, &fault);
	if (error == -EINPROGRESS) {
		run->skipped = run->skipped ?: fault.word;
		return true;
	}
	if (error)
		return false;
	run->served++;
	/*
	 * It may come again because its page went away in between, or, at a bad
	 * address, for the next access. Then there is an interrupt for it, too.
	 */
	*repeats = fault.word == run->word ? *repeats + 1 : 0;
	run->word = fault.word;
	run->address = fault.address;
	run->repeats = *repeats == REPEATS_MAX;
	return !run->repeats;
}

/*
 * accelerator->serving is held. For an interrupt no longer than there are faults for
 * those that were raised: one more read of the register would be a whole round trip, while
 * the thread that waits for the last fault goes on, perhaps on this CPU.
 */
static void accelerator_serve_faults(struct accelerator *accelerator, struct run *run)
{
	unsigned int repeats = 0;
	unsigned int i;

	for (i = 0; i < RUN_MAX; i++) {
		/* An interrupt that is raised after this runs the handler once more. */
		run->due = atomic_read(&accelerator->raised);
		if (!accelerator_serve_oldest(accelerator, run, &repeats))
			return;
		if (run->from_interrupt && run->served >= run->due - accelerator->handled)
			return;
	}
	run->has_more = true;
}

/* --- events ----------------------------------------------------------------- */

/*
 * Events are cleared before they are reported: an event that happens later raises an
 * interrupt of its own. accelerator->serving is held.
 */
static void accelerator_serve_events(struct accelerator *accelerator, struct run *run)
{
	const struct accelerator_driver *driver = accelerator->driver;
	struct accelerator_context *context = accelerator->contexts[0];
	u64 wanted = driver->reads_events ? driver->events : accelerator->events;
	u64 happened = 0;
	int error;

	if (!wanted || !context)
		return;
	error = driver->take_events(accelerator, wanted, &happened);
	run->no_answer |= !!error;
	/*
	 * Where the daemon has died they may be cleared or not: told twice is better than never. In
	 * other cases of an error they are not.
	 */
	if ((error && error != -EAGAIN) || !happened)
		return;
	run->has_events = true;
	accelerator_context_events(context, happened & accelerator->events);
}

int accelerator_events_want(struct accelerator *accelerator, u64 events)
{
	if (READ_ONCE(accelerator->removed))
		return -ENODEV;
	accelerator->events = events;
	if (!accelerator->driver->enable_events)
		return 0;
	return accelerator->driver->enable_events(accelerator, events);
}

/* --- the interrupt and the watch ------------------------------------------ */

static void accelerator_arm_watch(struct accelerator *accelerator, unsigned long delay)
{
	spin_lock(&accelerator->lock);
	if (!accelerator->removed)
		mod_delayed_work(mimic_system_workqueue, &accelerator->watch, delay);
	spin_unlock(&accelerator->lock);
}

static unsigned int accelerator_watch_period(const struct accelerator *accelerator)
{
	const unsigned int *milliseconds = accelerator->driver->watch_ms;

	return milliseconds ? READ_ONCE(*milliseconds) : 0;
}

void accelerator_faults_watch(struct accelerator *accelerator)
{
	unsigned int milliseconds = accelerator_watch_period(accelerator);

	if (milliseconds)
		accelerator_arm_watch(accelerator, msecs_to_jiffies(milliseconds));
}

/*
 * Faults and interrupts do not come in pairs: a run serves those whose interrupt
 * is still on its way, and that one will find nothing.
 */
static void accelerator_note_interrupt(struct accelerator *accelerator, const struct run *run)
{
	bool was_due = time_before(jiffies, accelerator->due_until);

	if (run->served > 1)
		accelerator->due_until = jiffies + DUE_JIFFIES;
	if (run->served || run->has_events || run->no_answer)
		return;
	if (!was_due)
		atomic64_inc(&accelerator->spurious);
	accelerator->due_until = jiffies;
}

/* Serving sleeps; this only counts interrupts. */
static irqreturn_t accelerator_interrupt_raised(int irq, void *data)
{
	struct accelerator *accelerator = data;

	atomic64_inc(&accelerator->interrupts);
	atomic_inc(&accelerator->raised);
	return IRQ_WAKE_THREAD;
}

/*
 * Says IRQ_HANDLED even if there was no fault: the line is nobody else's, and
 * the kernel would turn it off for good after many that are not.
 */
static irqreturn_t accelerator_handle_interrupt(int irq, void *data)
{
	struct accelerator *accelerator = data;
	struct run run = { .from_interrupt = true };

	/*
	 * Threads of interrupts are SCHED_FIFO. This one looks for memory, and reclaims some, for a
	 * program that may fault as it likes: no faster than the program itself would.
	 */
	if (current->policy != SCHED_NORMAL)
		sched_set_normal(current, 0);
	mutex_lock(&accelerator->serving);
	accelerator_serve_faults(accelerator, &run);
	accelerator_serve_events(accelerator, &run);
	accelerator->handled = run.due;
	accelerator_note_interrupt(accelerator, &run);
	accelerator->has_more |= run.has_more;
	mutex_unlock(&accelerator->serving);
	if (run.has_more)
		accelerator_arm_watch(accelerator, 1);
	return IRQ_HANDLED;
}

/* A fault that stays, round by round, is the device's failing. */
static void accelerator_note_stuck(struct accelerator *accelerator, const struct run *run)
{
	accelerator->stuck_rounds = run->repeats ? accelerator->stuck_rounds + 1 : 0;
	if (accelerator->stuck_rounds == STUCK_ROUNDS)
		dev_warn_ratelimited(&accelerator->device->dev,
				     "page fault %#llx does not resolve\n", run->address);
}

/* accelerator->serving is held. */
static bool accelerator_has_user(const struct accelerator *accelerator)
{
	unsigned int i;

	for (i = 0; i < ACCELERATOR_CONTEXTS_MAX; i++) {
		if (accelerator->contexts[i] && !READ_ONCE(accelerator->contexts[i]->gone))
			return true;
	}
	return false;
}

static void accelerator_watch(struct work_struct *work)
{
	struct accelerator *accelerator =
		container_of(to_delayed_work(work), struct accelerator, watch);
	struct run run = { 0 };
	bool goes_on;

	mutex_lock(&accelerator->serving);
	/* It may have been turned off since this was armed. */
	if (accelerator_watch_period(accelerator) || accelerator->has_more)
		accelerator_serve_faults(accelerator, &run);
	if (accelerator_watch_period(accelerator))
		accelerator_serve_events(accelerator, &run);
	accelerator->has_more = run.has_more;
	if (run.served)
		accelerator->due_until = jiffies + DUE_JIFFIES;
	accelerator_note_stuck(accelerator, &run);
	if (accelerator->driver->watched)
		accelerator->driver->watched(accelerator, run.served);
	/* Else the next process that enters arms it again. */
	goes_on = accelerator_has_user(accelerator);
	mutex_unlock(&accelerator->serving);

	if (run.has_more)
		accelerator_arm_watch(accelerator, 1);
	else if (goes_on)
		accelerator_faults_watch(accelerator);
}

/* A slow page has come: serves its fault, if it is still there, and later ones. */
void accelerator_faults_serve_late(struct accelerator *accelerator)
{
	struct run run = { .is_late = true };

	accelerator_serve_faults(accelerator, &run);
	accelerator->has_more |= run.has_more;
	if (run.served)
		accelerator->due_until = jiffies + DUE_JIFFIES;
}

void accelerator_faults_go_on(struct accelerator *accelerator)
{
	accelerator_arm_watch(accelerator, 1);
}

/* --- coming and going ----------------------------------------------------- */

int accelerator_faults_start(struct accelerator *accelerator)
{
	struct mimic_device *device = accelerator->device;

	INIT_DELAYED_WORK(&accelerator->watch, accelerator_watch);
	accelerator_slow_start(accelerator);
	accelerator->irq = mimic_device_interrupt(device, 0);
	if (accelerator->irq < 0)
		return accelerator->irq;
	return request_threaded_irq(accelerator->irq, accelerator_interrupt_raised,
				    accelerator_handle_interrupt, IRQF_ONESHOT,
				    dev_name(&device->dev), accelerator);
}

void accelerator_faults_stop(struct accelerator *accelerator)
{
	/* Also the end of all register accesses: they are made under `serving`. */
	mutex_lock(&accelerator->serving);
	spin_lock(&accelerator->lock);
	accelerator->removed = true;
	spin_unlock(&accelerator->lock);
	mutex_unlock(&accelerator->serving);
	accelerator_slow_stop(accelerator);
	free_irq(accelerator->irq, accelerator);
	cancel_delayed_work_sync(&accelerator->watch);
}
