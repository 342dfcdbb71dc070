// SPDX-License-Identifier: GPL-2.0
/*
 * maple.ko: the driver of MAPLE. It gives programs /dev/maple0, /dev/maple1, ...
 * whose pages are the device's, and serves the device's page faults. Most of that is
 * accelerator.ko's (accelerator.h); here is the meaning of MAPLE's registers.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/module.h>

#include "accelerator.h"
#include "mimic/maple_ioctl.h"
#include "mimic/maple_registers.h"
#include "trace.h"
#include "version.h"

/* Rounds of the watch after which a bad address is forgotten. */
#define FORGET_ROUNDS 4

static unsigned int watch_ms = 250;
module_param(watch_ms, uint, 0644);
MODULE_PARM_DESC(watch_ms, "milliseconds between checks for faults whose interrupt got lost; 0: never. Turned on: from the next open");

struct maple {
	struct accelerator accelerator;	/* first */
	u64 last_bad;		/* under serving: the fault that was answered as bad last */
	unsigned int bad_rounds;	/* under serving: of the watch, with nothing after it */
};

#define to_maple(a) container_of(a, struct maple, accelerator)

static bool maple_is_paper(const struct accelerator *accelerator)
{
	return READ_ONCE(accelerator->identify);
}

/*
 * The artifact's hardware has no such register and answers 0, as to any
 * operation that it does not know.
 */
static int maple_identify(struct accelerator *accelerator)
{
	struct device *dev = &accelerator->device->dev;
	u64 value;
	int error;

	error = accelerator_read(accelerator, MAPLE_PAGE_MAPLE,
				 MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), &value);
	if (error)
		return error;
	if (value && value >> 32 != MAPLE_IDENTIFY_MAGIC) {
		dev_err(dev, "this is no MAPLE: IDENTIFY is %#llx\n", value);
		return -ENODEV;
	}
	if (value && (value >> 24 & 0xff) != MAPLE_IDENTIFY_VERSION) {
		dev_err(dev, "registers of version %llu, this driver knows version %u\n",
			value >> 24 & 0xff, MAPLE_IDENTIFY_VERSION);
		return -ENODEV;
	}
	WRITE_ONCE(accelerator->identify, value);
	return 0;
}

static void maple_reset(struct accelerator *accelerator)
{
	to_maple(accelerator)->last_bad = 0;
}

/* --- one process after the other --------------------------------------------- */

/* Queues, threads' roles, bases, the fault that shows, the TLB. A load whose answer is nothing. */
static int maple_clear(struct accelerator *accelerator)
{
	u64 answer;

	to_maple(accelerator)->last_bad = 0;
	return accelerator_read(accelerator, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_RESET, 0),
				&answer);
}

/* In silicon it is the page table's address; here the bus has that, by its number. */
static int maple_enter(struct accelerator *accelerator, u32 address_space)
{
	return accelerator_write(accelerator, MAPLE_PAGE_MMU,
				 MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_ROOT), address_space);
}

/* --- page faults ------------------------------------------------------------ */

/*
 * The artifact's register does not tell a stalled fault from one that is over
 * and stays visible for programs. A fault that was answered as bad a moment ago is
 * taken for the latter, unless an interrupt has just come for it.
 */
static bool maple_fault_is_over(struct accelerator *accelerator, bool is_fresh, u64 word)
{
	if (maple_is_paper(accelerator))
		return !(word & MAPLE_FAULT_STALLED);
	return word == to_maple(accelerator)->last_bad && !is_fresh;
}

static void maple_decode_fault(struct accelerator *accelerator, u64 word,
			       struct accelerator_fault *fault)
{
	bool is_known = maple_is_paper(accelerator);

	fault->word = word;
	fault->address = word & PAGE_MASK;
	fault->source = word & (MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA);
	/* The artifact does not say: a page that will be written must not be found read-only. */
	fault->writes = !is_known || word & MAPLE_FAULT_WRITES;
	fault->may_read_only = !is_known;
}

static int maple_read_fault(struct accelerator *accelerator, bool is_fresh,
			    struct accelerator_fault *fault)
{
	unsigned int offset = MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FAULT);
	u64 word;
	int error;

	if (maple_is_paper(accelerator))
		offset = MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0);
	error = accelerator_read(accelerator, MAPLE_PAGE_MMU, offset, &word);
	if (error || !(word & (MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA)) ||
	    maple_fault_is_over(accelerator, is_fresh, word))
		return error;
	maple_decode_fault(accelerator, word, fault);
	trace_maple_page_fault(accelerator->device->index, fault->address, fault->source,
			       fault->writes);
	return 0;
}

static int maple_resolve(struct accelerator *accelerator, const struct accelerator_fault *fault,
			 int result)
{
	unsigned int offset = MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE);
	u64 value = fault->source;

	to_maple(accelerator)->last_bad = result ? fault->word : 0;
	if (!result && maple_is_paper(accelerator))
		value |= MAPLE_RESOLVE_PRESENT;
	trace_maple_resolve(accelerator->device->index, fault->address, fault->source, result);
	return accelerator_write(accelerator, MAPLE_PAGE_MMU, offset, value);
}

/*
 * On the artifact a fault that looks over (is_over) may be a new one on the same
 * bad page whose interrupt got lost. After a while RESOLVE lets a stalled source
 * go. If none was stalled, programs can no longer see the fault that is over.
 */
static void maple_watched(struct accelerator *accelerator, bool has_served)
{
	struct maple *maple = to_maple(accelerator);
	struct accelerator_fault fault = { 0 };

	if (maple_is_paper(accelerator) || !maple->last_bad || has_served) {
		maple->bad_rounds = 0;
		return;
	}
	if (++maple->bad_rounds < FORGET_ROUNDS)
		return;
	maple_decode_fault(accelerator, maple->last_bad, &fault);
	maple_resolve(accelerator, &fault, -EFAULT);
	maple->bad_rounds = 0;
	maple->last_bad = 0;
}

/* One flush for all of the TLB: a load whose answer means nothing. */
static void maple_flush(struct accelerator *accelerator, unsigned int context,
			unsigned long start, unsigned long end)
{
	trace_maple_shootdown(accelerator->device->index, start, end);
	mimic_device_post(accelerator->device, context, false, MAPLE_PAGE_MMU,
			  MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH), sizeof(u64), 0);
}

/* --- attributes --------------------------------------------------------------- */

static void maple_opened(const struct accelerator_context *context)
{
	trace_maple_open(context->accelerator->device->index, pid_nr(context->process));
}

static void maple_released(const struct accelerator_context *context)
{
	trace_maple_release(context->accelerator->device->index, pid_nr(context->process));
}

static void maple_announce(const struct accelerator *accelerator)
{
	dev_info(&accelerator->device->dev, "%s profile\n",
		 maple_is_paper(accelerator) ? "paper" : "artifact");
}

static ssize_t profile_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%s\n",
			  maple_is_paper(dev_get_drvdata(dev)) ? "paper" : "artifact");
}
static DEVICE_ATTR_RO(profile);

static struct attribute *maple_attrs[] = {
	&dev_attr_profile.attr,
	NULL
};

static const struct attribute_group maple_group = {
	.attrs = maple_attrs,
};

/* --- the driver --------------------------------------------------------------- */

static struct accelerator_driver maple_driver = {
	.name = "maple",
	.pages = MAPLE_PAGE_COUNT,
	.ioctl_type = MAPLE_IOCTL,
	.abi_version = MAPLE_ABI_VERSION,
	.watch_ms = &watch_ms,
	.attributes = &maple_group,
	.harmless_register = MAPLE_PAGE_MAPLE * PAGE_SIZE + MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
	.size = sizeof(struct maple),
	.identify = maple_identify,
	.announce = maple_announce,
	.reset = maple_reset,
	.clear = maple_clear,
	.enter = maple_enter,
	.read_fault = maple_read_fault,
	.resolve = maple_resolve,
	.watched = maple_watched,
	.flush = maple_flush,
	.opened = maple_opened,
	.released = maple_released,
};

module_accelerator_driver(maple_driver);

MODULE_DESCRIPTION("MAPLE, a memory access engine with hardware queues");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
MODULE_ALIAS("mimic:maple");
