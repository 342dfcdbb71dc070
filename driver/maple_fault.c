// SPDX-License-Identifier: GPL-2.0
/*
 * Page faults of the device, and shootdowns.
 *
 * The device's walker finds a page absent: it stalls what needed the page,
 * latches the address and raises its interrupt. Here the address is read from
 * the device's registers, the page is faulted in for the process that has the
 * device, and RESOLVE is written: the device walks again. An address that is
 * not the process's is resolved too, else it would stall for ever: the device
 * then reads 0, and the program is told before that.
 *
 * An interrupt is only a reason to look. A lost one would leave a program in a
 * load for ever, as nobody else knows of the fault; so while a process has the
 * device a watch looks every watch_ms, too.
 */
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/module.h>

#include "maple.h"
#include "trace_maple.h"

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

static unsigned int watch_ms = 250;
module_param(watch_ms, uint, 0644);
MODULE_PARM_DESC(watch_ms, "milliseconds between looks for faults whose interrupt got lost; 0: never. Turned on: from the next open");

struct fault {
	u64 word;		/* as the register has it; 0: no fault */
	u64 address;
	unsigned int sources;
	bool writes;
};

struct run {
	unsigned int served;
	bool from_interrupt;
	bool no_answer;
	bool has_more;		/* look again at once */
	bool repeats;		/* the last one comes again and again */
	u64 word;
};

/* --- registers ------------------------------------------------------------ */

int maple_register_read(struct maple *maple, unsigned int page, unsigned int offset, u64 *value)
{
	return regmap_raw_read(maple->regmap, page * PAGE_SIZE + offset, value, sizeof(*value));
}

static int register_write(struct maple *maple, unsigned int page, unsigned int offset, u64 value)
{
	return regmap_raw_write(maple->regmap, page * PAGE_SIZE + offset, &value, sizeof(value));
}

/* One message when the device falls silent, not one for each access. */
static int note_answer(struct maple *maple, int error)
{
	struct device *dev = &maple->device->dev;

	if (error == -ETIMEDOUT) {
		atomic64_inc(&maple->timeouts);
		if (!maple->silent)
			dev_warn_ratelimited(dev, "no answer: page faults wait\n");
		maple->silent = true;
	} else if (!error && maple->silent) {
		dev_info_ratelimited(dev, "answers again\n");
		maple->silent = false;
	}
	return error;
}

/* --- one fault ------------------------------------------------------------ */

/*
 * The artifact's register does not tell a stalled fault from one that is over
 * and stays visible for programs. What was answered as bad a moment ago is taken
 * for the latter, unless an interrupt has just come for it.
 */
static bool is_over(const struct maple *maple, const struct run *run, u64 word)
{
	if (maple_is_paper(maple))
		return !(word & MAPLE_FAULT_STALLED);
	return word == maple->last_bad && !(run->from_interrupt && !run->served);
}

static void decode(const struct maple *maple, u64 word, struct fault *fault)
{
	fault->word = word;
	fault->address = word & PAGE_MASK;
	fault->sources = word & (MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA);
	/* The artifact does not say: a page that will be written must not be found read-only. */
	fault->writes = maple_is_paper(maple) ? word & MAPLE_FAULT_WRITES : true;
}

static int read_fault(struct maple *maple, u64 *word)
{
	unsigned int offset = MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FAULT);

	if (maple_is_paper(maple))
		offset = MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0);
	return note_answer(maple, maple_register_read(maple, MAPLE_PAGE_MMU, offset, word));
}

/*
 * For the process that has the device: the fault is its own, as the device
 * forgets faults when it is closed, and the next process cannot enter meanwhile.
 */
static int fault_in(struct maple *maple, const struct fault *fault)
{
	struct maple_user *user = maple->user;
	int error;

	if (!user)
		return -ESRCH;
	error = mimic_binding_fault_in(user->binding, fault->address, fault->writes);
	if (error == -EFAULT && fault->writes && !maple_is_paper(maple))
		error = mimic_binding_fault_in(user->binding, fault->address, false);
	return error;
}

static void count_served(struct maple *maple)
{
	atomic64_inc(&maple->faults);
	atomic64_inc(&maple->user->faults);
}

static void count_unresolved(struct maple *maple)
{
	atomic64_inc(&maple->unresolved);
	atomic64_inc(&maple->user->unresolved);
	maple_user_event(maple->user);
}

static int resolve(struct maple *maple, const struct fault *fault, int result)
{
	unsigned int offset = MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE);
	u64 value = fault->sources;

	if (!result && maple_is_paper(maple))
		value |= MAPLE_RESOLVE_PRESENT;
	trace_maple_resolve(maple->device->index, fault->address, fault->sources, result);
	return note_answer(maple, register_write(maple, MAPLE_PAGE_MMU, offset, value));
}

/* -EAGAIN: no memory now, the fault stays. */
static int serve_fault(struct maple *maple, const struct run *run, const struct fault *fault)
{
	int result;

	trace_maple_page_fault(maple->device->index, fault->address, fault->sources, fault->writes);
	result = fault_in(maple, fault);
	/* All counters move before RESOLVE: who sees its effect sees them, too. */
	switch (result) {
	case 0:
		count_served(maple);
		break;
	case -ESRCH:
		break;
	case -EFAULT:
		count_unresolved(maple);
		break;
	default:
		if (maple->postponed++ < POSTPONED_MAX)
			return -EAGAIN;
		count_unresolved(maple);
		break;
	}
	if (!run->from_interrupt)
		atomic64_inc(&maple->polled);
	maple->postponed = 0;
	maple->last_bad = result ? fault->word : 0;
	return resolve(maple, fault, result);
}

/* --- all of them ---------------------------------------------------------- */

/* One fault. False: enough for now. */
static bool step(struct maple *maple, struct run *run, unsigned int *repeats)
{
	struct fault fault;
	u64 word;
	int error;

	error = read_fault(maple, &word);
	run->no_answer = error;
	if (error)
		return false;
	decode(maple, word, &fault);
	if (!fault.sources || is_over(maple, run, word))
		return false;
	error = serve_fault(maple, run, &fault);
	if (error)
		return false;
	run->served++;
	/*
	 * It may come again because its page went away in between, or, at a bad
	 * address, for the next access. Then there is an interrupt for it, too.
	 */
	*repeats = word == run->word ? *repeats + 1 : 0;
	run->word = word;
	run->repeats = *repeats == REPEATS_MAX;
	return !run->repeats;
}

/* maple->serving is held. */
static void serve(struct maple *maple, struct run *run)
{
	unsigned int repeats = 0;
	unsigned int i;

	for (i = 0; i < RUN_MAX; i++) {
		if (!step(maple, run, &repeats))
			return;
	}
	run->has_more = true;
}

/* --- the interrupt and the watch ------------------------------------------ */

static void arm(struct maple *maple, unsigned long delay)
{
	spin_lock(&maple->lock);
	if (!maple->removed)
		mod_delayed_work(system_unbound_wq, &maple->watch, delay);
	spin_unlock(&maple->lock);
}

void maple_faults_watch(struct maple *maple)
{
	unsigned int milliseconds = READ_ONCE(watch_ms);

	if (milliseconds)
		arm(maple, msecs_to_jiffies(milliseconds));
}

/*
 * Faults and interrupts do not come in pairs: a run serves those whose interrupt
 * is still on its way, and that one will find nothing.
 */
static void note_interrupt(struct maple *maple, const struct run *run)
{
	bool was_due = time_before(jiffies, maple->due_until);

	if (run->served > 1)
		maple->due_until = jiffies + DUE_JIFFIES;
	if (run->served || run->no_answer)
		return;
	if (!was_due)
		atomic64_inc(&maple->spurious);
	maple->due_until = jiffies;
}

/*
 * Says IRQ_HANDLED even if there was no fault: the line is nobody else's, and
 * the kernel would turn it off for good after many that are not.
 */
static irqreturn_t handle_interrupt(int irq, void *context)
{
	struct maple *maple = context;
	struct run run = { .from_interrupt = true };

	atomic64_inc(&maple->interrupts);
	mutex_lock(&maple->serving);
	serve(maple, &run);
	note_interrupt(maple, &run);
	maple->has_more |= run.has_more;
	mutex_unlock(&maple->serving);
	if (run.has_more)
		arm(maple, 1);
	return IRQ_HANDLED;
}

/* A fault that stays, round by round, is the device's failing. */
static void note_stuck(struct maple *maple, const struct run *run)
{
	maple->stuck_rounds = run->repeats ? maple->stuck_rounds + 1 : 0;
	if (maple->stuck_rounds == STUCK_ROUNDS)
		dev_warn_ratelimited(&maple->device->dev, "page fault %#llx does not resolve\n",
				     run->word & PAGE_MASK);
}

/*
 * On the artifact a fault that looks over (is_over) may be a new one on the same
 * bad page whose interrupt got lost. After a while RESOLVE lets a stalled source
 * go. If none was stalled, programs can no longer see the fault that is over.
 */
static void forget_bad(struct maple *maple, const struct run *run)
{
	struct fault fault;

	if (maple_is_paper(maple) || !maple->last_bad || run->served) {
		maple->bad_rounds = 0;
		return;
	}
	if (++maple->bad_rounds < STUCK_ROUNDS)
		return;
	decode(maple, maple->last_bad, &fault);
	resolve(maple, &fault, -EFAULT);
	maple->bad_rounds = 0;
	maple->last_bad = 0;
}

static void watch(struct work_struct *work)
{
	struct maple *maple = container_of(to_delayed_work(work), struct maple, watch);
	struct run run = { 0 };
	bool goes_on;

	mutex_lock(&maple->serving);
	/* It may have been turned off since this was armed. */
	if (READ_ONCE(watch_ms) || maple->has_more)
		serve(maple, &run);
	maple->has_more = run.has_more;
	if (run.served)
		maple->due_until = jiffies + DUE_JIFFIES;
	note_stuck(maple, &run);
	forget_bad(maple, &run);
	/* Else the next process that enters arms it again. */
	goes_on = maple->user && !READ_ONCE(maple->user->gone);
	mutex_unlock(&maple->serving);

	if (run.has_more)
		arm(maple, 1);
	else if (goes_on)
		maple_faults_watch(maple);
}

/* --- coming and going ----------------------------------------------------- */

int maple_faults_start(struct maple *maple)
{
	struct mimic_device *device = maple->device;

	INIT_DELAYED_WORK(&maple->watch, watch);
	maple->irq = mimic_device_interrupt(device, 0);
	if (maple->irq < 0)
		return maple->irq;
	/* Serving a fault sleeps, and needs nothing before that: no primary handler. */
	return request_threaded_irq(maple->irq, NULL, handle_interrupt, IRQF_ONESHOT,
				    dev_name(&device->dev), maple);
}

void maple_faults_stop(struct maple *maple)
{
	spin_lock(&maple->lock);
	maple->removed = true;
	spin_unlock(&maple->lock);
	free_irq(maple->irq, maple);
	cancel_delayed_work_sync(&maple->watch);
}

/* --- shootdowns ----------------------------------------------------------- */

/*
 * The device has one flush for all of its TLB, a load whose answer means
 * nothing: many that are due at once are as good as one. What it still hits
 * until then is no danger: the bus has taken the memory from it already.
 */
void maple_shootdown(struct mimic_binding *binding, unsigned long start, unsigned long end)
{
	struct maple *maple = mimic_binding_context(binding);

	trace_maple_shootdown(maple->device->index, start, end);
	atomic64_inc(&maple->shootdowns);
	spin_lock(&maple->lock);
	if (maple->user && maple->user->binding == binding)
		atomic64_inc(&maple->user->shootdowns);
	spin_unlock(&maple->lock);
	mimic_device_post(maple->device, false, MAPLE_PAGE_MMU,
			  MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH), sizeof(u64), 0);
}
