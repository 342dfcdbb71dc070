// SPDX-License-Identifier: GPL-2.0
/*
 * virgo.ko: the driver of Virgo. A cluster belongs to one process: its registers,
 * with the control blocks of all units, and its shared memory. Nodes, files and the
 * service of page faults are accelerator.ko's (accelerator.h); this file knows the
 * meaning of the cluster's control page.
 *
 * The program has that page, too, and may store any value to the registers
 * that are used here. It can spoil nothing but its own commands.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/bits.h>
#include <linux/module.h>

#include "accelerator.h"
#include "mimic/virgo_ioctl.h"
#include "mimic/virgo_registers.h"
#include "trace.h"
#include "version.h"

#define FAULT_PAGE (~0xfffull)
#define NUMBER_MASK 0xff
#define POST_FLUSH 0
#define BARRIER_THREADS_MAX 255

#define EVENTS GENMASK(24, 0)	/* VIRGO_EVENT_*, of all units and of the barriers */

static unsigned int watch_ms = 250;
module_param(watch_ms, uint, 0644);
MODULE_PARM_DESC(watch_ms, "milliseconds between checks for faults and events whose interrupt got lost; 0: never. Turned on: from the next open");

struct virgo {
	struct accelerator accelerator;
	atomic64_t events;	/* times that some were taken */
};

static int virgo_identify(struct accelerator *accelerator)
{
	struct device *dev = &accelerator->device->dev;
	u64 value, shared;
	int error;

	error = accelerator_read(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_IDENTIFY, &value);
	if (!error)
		error = accelerator_read(accelerator, VIRGO_PAGE_CONTROL,
					 VIRGO_CONTROL_SHARED_SIZE, &shared);
	if (error)
		return error;
	if (value >> 32 != VIRGO_MAGIC) {
		dev_err(dev, "this is no Virgo: IDENTIFY is %#llx\n", value);
		return -ENODEV;
	}
	if ((value >> 24 & 0xff) != VIRGO_VERSION) {
		dev_err(dev, "registers of version %llu, this driver knows version %u\n",
			value >> 24 & 0xff, VIRGO_VERSION);
		return -ENODEV;
	}
	if (shared != accelerator->device->memory_size) {
		dev_err(dev, "%llu bytes of shared memory on a bus that has %u\n", shared,
			accelerator->device->memory_size);
		return -ENODEV;
	}
	WRITE_ONCE(accelerator->identify, value);
	return 0;
}

/*
 * Nothing that a process leaves is the next one's: queues, configuration, barriers, events. A
 * daemon does it by itself when a process gives its device back; a function of PCI has nobody but
 * the driver.
 */
static int virgo_clear(struct accelerator *accelerator)
{
	unsigned int unit, units = READ_ONCE(accelerator->identify) & NUMBER_MASK;
	unsigned int barrier;
	int error = accelerator_write(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_ENABLE,
				      0);

	for (unit = 0; unit < min_t(unsigned int, units, VIRGO_UNITS_MAX) && !error; unit++)
		error = accelerator_write(accelerator, VIRGO_PAGE_UNITS,
					  VIRGO_UNIT_OFFSET(unit, RESET), 0);
	for (barrier = 0; barrier < VIRGO_BARRIERS && !error; barrier++)
		error = accelerator_write(accelerator, VIRGO_PAGE_CONTROL,
					  VIRGO_BARRIER_PARTICIPANTS(barrier), 0);
	if (error)
		return error;
	return accelerator_write(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS,
				 EVENTS);
}

/*
 * Without the bit for one that waits it is a fault that is only remembered. Of a unit that
 * cannot be it is no fault that a thread could wait for.
 */
static int virgo_read_fault(struct accelerator *accelerator, bool is_fresh,
			    struct accelerator_fault *fault)
{
	u64 word;
	int error;

	error = accelerator_read(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS,
				 &word);
	if (error || !(word & VIRGO_FAULT_STALLED) || (word & NUMBER_MASK) >= VIRGO_UNITS_MAX)
		return error;
	fault->word = word;
	fault->address = word & FAULT_PAGE;
	fault->source = word & NUMBER_MASK;
	fault->writes = word & VIRGO_FAULT_WRITES;
	trace_virgo_page_fault(accelerator->device->index, fault->source, fault->address,
			       fault->writes);
	return 0;
}

static int virgo_resolve(struct accelerator *accelerator, const struct accelerator_fault *fault,
			 int result)
{
	u64 value = fault->source;

	if (!result)
		value |= VIRGO_RESOLVE_PRESENT;
	trace_virgo_resolve(accelerator->device->index, fault->source, fault->address, result);
	return accelerator_write(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE, value);
}

static int virgo_postpone(struct accelerator *accelerator, const struct accelerator_fault *fault)
{
	return accelerator_write(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE,
				 fault->source | VIRGO_RESOLVE_LATER);
}

static int virgo_enable_events(struct accelerator *accelerator, u64 events)
{
	return accelerator_write(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_ENABLE,
				 events);
}

/* The others stay for the program, which may look at the register itself. */
static int virgo_take_events(struct accelerator *accelerator, u64 events, u64 *happened)
{
	struct virgo *virgo = container_of(accelerator, struct virgo, accelerator);
	u64 status;
	int error;

	error = accelerator_read(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS,
				 &status);
	*happened = error ? 0 : status & events;
	if (error || !*happened)
		return error;
	trace_virgo_events(accelerator->device->index, *happened);
	atomic64_inc(&virgo->events);
	return accelerator_write(accelerator, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_EVENT_STATUS,
				 *happened);
}

/* Of all translations: the device has no flush for less. */
static void virgo_flush(struct accelerator *accelerator, unsigned int context,
			unsigned long start, unsigned long end)
{
	trace_virgo_shootdown(accelerator->device->index, start, end);
	mimic_device_post(accelerator->device, POST_FLUSH, true, VIRGO_PAGE_CONTROL,
			  VIRGO_CONTROL_FLUSH, sizeof(u64), 0);
}

/* --- attributes --------------------------------------------------------------- */

static void virgo_opened(const struct accelerator_context *context)
{
	trace_virgo_open(context->accelerator->device->index, pid_nr(context->process));
}

static void virgo_released(const struct accelerator_context *context)
{
	trace_virgo_release(context->accelerator->device->index, pid_nr(context->process));
}

static void virgo_announce(const struct accelerator *accelerator)
{
	dev_info(&accelerator->device->dev, "%llu units, %u KB of shared memory\n",
		 READ_ONCE(accelerator->identify) & NUMBER_MASK,
		 accelerator->device->memory_size >> 10);
}

static ssize_t units_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct accelerator *accelerator = dev_get_drvdata(dev);

	return sysfs_emit(text, "%llu\n", READ_ONCE(accelerator->identify) & NUMBER_MASK);
}
static DEVICE_ATTR_RO(units);

static ssize_t shared_size_show(struct device *dev, struct device_attribute *attribute,
				char *text)
{
	const struct accelerator *accelerator = dev_get_drvdata(dev);

	return sysfs_emit(text, "%u\n", accelerator->device->memory_size);
}
static DEVICE_ATTR_RO(shared_size);

static ssize_t events_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct accelerator *accelerator = dev_get_drvdata(dev);
	const struct virgo *virgo = container_of(accelerator, struct virgo, accelerator);

	return sysfs_emit(text, "%lld\n", (long long)atomic64_read(&virgo->events));
}
static DEVICE_ATTR_RO(events);

static struct attribute *virgo_attrs[] = {
	&dev_attr_units.attr,
	&dev_attr_shared_size.attr,
	&dev_attr_events.attr,
	NULL
};

static const struct attribute_group virgo_group = {
	.attrs = virgo_attrs,
};

/* --- the driver --------------------------------------------------------------- */

static_assert(VIRGO_UNITS_MAX <= ACCELERATOR_SOURCES_MAX);
static_assert((EVENTS & VIRGO_EVENT_BARRIER) == VIRGO_EVENT_BARRIER);

static struct accelerator_driver virgo_driver = {
	.name = "virgo",
	.pages = VIRGO_PAGE_COUNT,
	.ioctl_type = VIRGO_IOCTL,
	.abi_version = VIRGO_ABI_VERSION,
	.waiters = BARRIER_THREADS_MAX + VIRGO_UNITS_MAX,
	.memory_page = VIRGO_SHARED_OFFSET >> PAGE_SHIFT,
	.events = EVENTS,
	.watch_ms = &watch_ms,
	.attributes = &virgo_group,
	.harmless_register = VIRGO_PAGE_CONTROL * PAGE_SIZE + VIRGO_CONTROL_IDENTIFY,
	.size = sizeof(struct virgo),
	.identify = virgo_identify,
	.announce = virgo_announce,
	.clear = virgo_clear,
	.read_fault = virgo_read_fault,
	.resolve = virgo_resolve,
	.postpone = virgo_postpone,
	.enable_events = virgo_enable_events,
	.take_events = virgo_take_events,
	.flush = virgo_flush,
	.opened = virgo_opened,
	.released = virgo_released,
};

module_accelerator_driver(virgo_driver);

MODULE_DESCRIPTION("Virgo, a cluster of matrix units");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
MODULE_ALIAS("mimic:virgo");
